/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules and their functions; libraries and their kernels.
 *
 * A module belongs to a context.  A library belongs to the process and is loaded into a context as
 * a module when a kernel of it is first used there.  Functions and variables are made when they are
 * first asked for.  Threads: any; one lock guards making and unloading.
 */
#ifndef GD_MODULES_H
#define GD_MODULES_H

#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/device_image.h"
#include "shim/dryrun/handles.h"
#include "shim/dryrun/kernel_models.h"

struct gd_block;
struct gd_context;
struct gd_kernel;
struct gd_kernel_setting;
struct gd_library;
struct gd_module;

struct gd_function {
	struct gd_object object;
	struct gd_module *module;
	struct gd_kernel *kernel; /* NULL for one of a plain module */
	struct gd_function *next; /* of the module */
	char *name;
	uint32_t device;
	uint64_t context_id;
	struct gd_code_facts facts;
	/* Settable by cuFuncSetAttribute. */
	int max_dynamic_shared_bytes;
	int shared_carveout;
	int cluster[3], non_portable_cluster;
	int scheduling_policy;
	uint32_t launched; /* lazily loaded: 0 until the first launch; atomic */
	uint16_t author;   /* among kernels that are not executed; 0: not entered yet; atomic */
	struct gd_model_match match;
	bool timed; /* the program's user says how long it takes */
	uint64_t time_ns;
};

struct gd_variable {
	struct gd_variable *next;
	char *name;
	uint64_t address;
	size_t bytes;
	struct gd_block *block; /* NULL: managed memory */
};

struct gd_module {
	struct gd_object object;
	uint32_t device;
	uint64_t context_id;
	struct gd_context *context;
	const struct gd_image *image; /* own_image or that of the library */
	struct gd_image own_image;
	struct gd_library *library;
	struct gd_function *functions;
	struct gd_variable *variables;
	struct gd_module *next, **link; /* all modules */
};

#define GD_KERNEL_CONTEXTS 8

struct gd_kernel {
	struct gd_object object;
	struct gd_library *library;
	struct gd_kernel *next;
	char *name;
	/* Its functions by context index, as far as known; atomic.  One may be stale: compare. */
	struct gd_function *functions[GD_KERNEL_CONTEXTS];
	struct gd_kernel_setting *settings; /* guarded by the lock of modules */
};

struct gd_library {
	struct gd_object object;
	struct gd_image image;
	struct gd_kernel *kernels;
	struct gd_module **modules; /* one for each context that it was loaded into */
	uint32_t module_count, module_room;
};

/**
 * @param handle  a CUfunction, or a CUkernel, which stands for its function in the current context
 * @return the function, or NULL
 */
struct gd_function *gd_function_get(CUfunction handle);

/** @return the function of a kernel in a context, loading its library there; NULL without memory */
struct gd_function *gd_kernel_function(struct gd_kernel *kernel, struct gd_context *context);

/** Unload the modules of a context. */
void gd_modules_drop_context(const struct gd_context *context);

#endif
