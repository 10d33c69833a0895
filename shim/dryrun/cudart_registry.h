/* SPDX-License-Identifier: Apache-2.0 */
/* What compiled programs hand to the runtime; the layouts are those of fatbinary_section.h. */
#ifndef GD_CUDART_REGISTRY_H
#define GD_CUDART_REGISTRY_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>
#include <vector_types.h>

#include "gd_export.h"

/*
 * How many handles a kernel has.  Since CUDA 12 the driver's libraries serve every context; the
 * modules before belong to one, so there is a handle for each device.
 */
#if CUDA_VERSION >= 12000
#define GD_RT_PLACES 1
#else
#define GD_RT_PLACES 16
#endif

struct binary;

/* One registered kernel or variable. */
struct gd_rt_entry {
	const void *symbol;		    /* on the host */
	const char *name;		    /* on the device; borrowed from the program */
	struct binary *binary;		    /* NULL: its library was closed */
	struct gd_rt_entry *next;	    /* of the binary */
	void *_Atomic loaded[GD_RT_PLACES]; /* the driver's handles, NULL before first use */
	size_t size_bytes;		    /* of a variable */
	void **managed; /* the host's pointer to a managed variable, set when it is loaded */
};

/* Argument of __cudaRegisterFatBinary. */
struct gd_fatbin_wrapper {
	uint32_t magic; /* 0x466243b1 */
	uint32_t version;
	const void *data;
	void *more;
};

/**
 * Newest architecture in a fat binary that a device can run.
 *
 * @param wrapper        as registered; borrowed
 * @param device_number  compute capability, e.g. 89
 * @return e.g. 86; 0 when the binary is of a form we do not know
 */
int gd_fatbin_arch(const struct gd_fatbin_wrapper *wrapper, int device_number);

/* Called by code that nvcc generates; crt/host_runtime.h, which declares them, is C++ for nvcc. */
GD_EXPORT void **__cudaRegisterFatBinary(void *wrapper);
GD_EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
GD_EXPORT void __cudaUnregisterFatBinary(void **handle);
GD_EXPORT char __cudaInitModule(void **handle);
GD_EXPORT void __cudaRegisterFunction(void **handle, const char *symbol, char *device_function,
    const char *name, int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
GD_EXPORT void __cudaRegisterVar(void **handle, char *symbol, char *device_address,
    const char *name, int external, size_t size, int constant, int global);
GD_EXPORT void __cudaRegisterManagedVar(void **handle, void **symbol, char *device_address,
    const char *name, int external, size_t size, int constant, int global);

#endif
