/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/modules.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/host_memory.h"
#include "shim/dryrun/kernel_times.h"
#include "shim/dryrun/module_parts.h"
#include "shim/dryrun/operations.h"

_Static_assert(sizeof(struct gd_function) <= GD_CELL_BYTES, "a function fits in a cell");
_Static_assert(sizeof(struct gd_module) <= GD_CELL_BYTES, "a module fits in a cell");

/* What a variable of an image that cannot be read is given: no program names one that is larger. */
#define UNKNOWN_VARIABLE_BYTES 65536

pthread_mutex_t gd_modules_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gd_module *all_modules;

struct gd_module *gd_module_new(
    struct gd_context *context, const struct gd_image *image, struct gd_library *library)
{
	struct gd_module *module = gd_object_new(GD_TYPE_MODULE);
	if (!module)
		return NULL;
	module->device = context->device;
	module->context_id = context->id;
	module->context = context;
	module->library = library;
	if (library) {
		module->image = image;
	} else {
		module->own_image = *image;
		module->image = &module->own_image;
	}
	module->next = all_modules;
	module->link = &all_modules;
	if (all_modules)
		all_modules->link = &module->next;
	all_modules = module;
	gd_object_publish(module, GD_TYPE_MODULE);
	return module;
}

static void delete_function(struct gd_function *function)
{
	free(function->name);
	gd_object_free(function, GD_TYPE_FUNCTION);
}

static void delete_variable(struct gd_variable *variable)
{
	if (variable->block)
		gd_memory_delete(variable->block);
	else
		gd_host_free_managed(variable->address);
	free(variable->name);
	free(variable);
}

void gd_module_delete(struct gd_module *module)
{
	while (module->functions) {
		struct gd_function *function = module->functions;
		module->functions = function->next;
		delete_function(function);
	}
	while (module->variables) {
		struct gd_variable *variable = module->variables;
		module->variables = variable->next;
		delete_variable(variable);
	}
	*module->link = module->next;
	if (module->next)
		module->next->link = module->link;
	for (uint32_t i = 0; module->library && i < module->library->module_count; i++) {
		if (module->library->modules[i] == module)
			module->library->modules[i] =
			    module->library->modules[--module->library->module_count];
	}
	gd_image_free(&module->own_image);
	gd_object_free(module, GD_TYPE_MODULE);
}

void gd_modules_drop_context(const struct gd_context *context)
{
	pthread_mutex_lock(&gd_modules_lock);
	for (struct gd_module *module = all_modules, *next; module; module = next) {
		next = module->next;
		if (module->context_id == context->id)
			gd_module_delete(module);
	}
	pthread_mutex_unlock(&gd_modules_lock);
}

struct gd_function *gd_module_function(
    struct gd_module *module, const char *name, struct gd_kernel *kernel)
{
	struct gd_code_facts facts;
	for (struct gd_function *old = module->functions; old; old = old->next) {
		if (strcmp(old->name, name) == 0)
			return old;
	}
	if (!gd_image_kernel(module->image, name, &facts))
		return NULL;
	struct gd_function *function = gd_object_new(GD_TYPE_FUNCTION);
	if (!function)
		return NULL;
	function->name = strdup(name);
	if (!function->name) {
		gd_object_free(function, GD_TYPE_FUNCTION);
		return NULL;
	}
	function->module = module;
	function->kernel = kernel;
	function->device = module->device;
	function->context_id = module->context_id;
	function->facts = facts;
	function->max_dynamic_shared_bytes = 49152 - facts.static_shared_bytes;
	function->shared_carveout = -1;
	gd_model_find(name, &function->match);
	function->timed = gd_kernel_time(name, &function->time_ns);
	function->next = module->functions;
	module->functions = function;
	gd_object_publish(function, GD_TYPE_FUNCTION);
	return function;
}

struct gd_function *gd_function_get(CUfunction handle)
{
	struct gd_function *function = gd_object_get(handle, GD_TYPE_FUNCTION);
	if (__builtin_expect(function != NULL, 1))
		return function;
	struct gd_kernel *kernel = gd_object_get(handle, GD_TYPE_KERNEL);
	struct gd_context *context = kernel ? gd_context_current() : NULL;
	return context ? gd_kernel_function(kernel, context) : NULL;
}

static CUresult load(CUmodule *module_out, const void *data)
{
	struct gd_image image;
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if (!module_out)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = (CUresult)gd_image_read(data, &image);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&gd_modules_lock);
	struct gd_module *module = gd_module_new(context, &image, NULL);
	pthread_mutex_unlock(&gd_modules_lock);
	if (!module) {
		gd_image_free(&image);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	*module_out = (CUmodule)module;
	return CUDA_SUCCESS;
}

GD_API(cuModuleLoadData, (CUmodule * module_out, const void *image), (module_out, image))
{
	return load(module_out, image);
}

GD_API(cuModuleLoadDataEx,
    (CUmodule * module_out, const void *image, unsigned int option_count, CUjit_option *options,
	void **values),
    (module_out, image, option_count, options, values))
{
	return load(module_out, image);
}

GD_API(cuModuleLoadFatBinary, (CUmodule * module_out, const void *image), (module_out, image))
{
	return load(module_out, image);
}

void *gd_image_file(const char *path, size_t *bytes_out)
{
	struct stat status;
	void *data = NULL;
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return NULL;
	/* One more than the file, so that PTX text ends with a zero. */
	if (fstat(file, &status) == 0 && status.st_size > 0)
		data = calloc(1, (size_t)status.st_size + 1);
	if (data && read(file, data, (size_t)status.st_size) != (ssize_t)status.st_size) {
		free(data);
		data = NULL;
	}
	close(file);
	*bytes_out = data ? (size_t)status.st_size : 0;
	return data;
}

GD_API(cuModuleLoad, (CUmodule * module_out, const char *path), (module_out, path))
{
	size_t bytes;
	void *data = path ? gd_image_file(path, &bytes) : NULL;
	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	if (!data)
		return CUDA_ERROR_FILE_NOT_FOUND;
	CUresult result = bytes < 64 ? CUDA_ERROR_INVALID_IMAGE : load(module_out, data);
	free(data);
	return result;
}

GD_API(cuModuleUnload, (CUmodule handle), (handle))
{
	CUresult result = gd_capture_refuse_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (!gd_device_wait(-1)) /* queued work may use its variables */
		return CUDA_ERROR_NOT_PERMITTED;
	pthread_mutex_lock(&gd_modules_lock);
	struct gd_module *module = gd_object_get(handle, GD_TYPE_MODULE);
	if (!module)
		result = CUDA_ERROR_INVALID_HANDLE;
	else if (module->library)
		result = CUDA_ERROR_NOT_PERMITTED;
	else
		gd_module_delete(module);
	pthread_mutex_unlock(&gd_modules_lock);
	return result;
}

GD_API(cuModuleGetFunction, (CUfunction * function_out, CUmodule handle, const char *name),
    (function_out, handle, name))
{
	struct gd_module *module = gd_object_get(handle, GD_TYPE_MODULE);
	if (!function_out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&gd_modules_lock);
	struct gd_function *function = gd_module_function(module, name, NULL);
	pthread_mutex_unlock(&gd_modules_lock);
	if (!function)
		return CUDA_ERROR_NOT_FOUND;
	*function_out = (CUfunction)function;
	return CUDA_SUCCESS;
}

GD_API(cuModuleGetLoadingMode, (CUmoduleLoadingMode * mode_out), (mode_out))
{
	const char *mode = getenv("CUDA_MODULE_LOADING");
	if (!mode_out)
		return CUDA_ERROR_INVALID_VALUE;
	*mode_out =
	    mode && strcmp(mode, "EAGER") == 0 ? CU_MODULE_EAGER_LOADING : CU_MODULE_LAZY_LOADING;
	return CUDA_SUCCESS;
}

/* ---- variables ---- */

static struct gd_variable *make_variable(
    struct gd_module *module, const char *name, size_t bytes, const void *data, bool managed)
{
	struct gd_variable *variable = calloc(1, sizeof(*variable));
	if (!variable)
		return NULL;
	variable->name = strdup(name);
	variable->bytes = bytes;
	if (managed) {
		void *memory = gd_host_new_managed(module->context, bytes);
		variable->address = (uint64_t)(uintptr_t)memory;
		if (memory && data)
			memcpy(memory, data, bytes);
	} else if (gd_memory_new(module->context, module->device, GD_BLOCK_PLAIN, bytes,
		       gd_memory_rounded(bytes), &variable->block) == CUDA_SUCCESS) {
		variable->block->internal = true;
		variable->block->context_id = 0; /* goes with the module */
		variable->address = variable->block->base;
		if (data)
			gd_space_store(variable->address, data, bytes);
	}
	if (!variable->address || !variable->name) {
		free(variable->name);
		free(variable);
		return NULL;
	}
	variable->next = module->variables;
	module->variables = variable;
	return variable;
}

CUresult gd_module_variable(struct gd_module *module, const char *name, bool managed,
    CUdeviceptr *address_out, size_t *bytes_out)
{
	size_t bytes = UNKNOWN_VARIABLE_BYTES;
	const void *data = NULL;
	struct gd_variable *variable = module->variables;
	while (variable && strcmp(variable->name, name) != 0)
		variable = variable->next;
	if (!variable) {
		if (module->image->text && !gd_image_variable(module->image, name, &bytes, &data))
			return CUDA_ERROR_NOT_FOUND;
		variable = make_variable(module, name, bytes, data, managed);
	}
	if (!variable)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (address_out)
		*address_out = variable->address;
	if (bytes_out)
		*bytes_out = variable->bytes;
	return CUDA_SUCCESS;
}

GD_API(cuModuleGetGlobal_v2,
    (CUdeviceptr * address_out, size_t *bytes_out, CUmodule handle, const char *name),
    (address_out, bytes_out, handle, name))
{
	struct gd_module *module = gd_object_get(handle, GD_TYPE_MODULE);
	if (!name || (!address_out && !bytes_out))
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&gd_modules_lock);
	CUresult result = gd_module_variable(module, name, false, address_out, bytes_out);
	pthread_mutex_unlock(&gd_modules_lock);
	return result;
}

/* ---- listing ---- */

CUresult gd_module_count(const struct gd_image *image, unsigned *count_out)
{
	size_t length;
	unsigned count = 0;
	if (!image->text)
		return CUDA_ERROR_NOT_SUPPORTED; /* a compressed fat binary: nobody knows */
	while (gd_image_kernel_name(image, count, &length))
		count++;
	*count_out = count;
	return CUDA_SUCCESS;
}

GD_API(cuModuleGetFunctionCount, (unsigned int *count_out, CUmodule handle), (count_out, handle))
{
	const struct gd_module *module = gd_object_get(handle, GD_TYPE_MODULE);
	if (!count_out || !module)
		return count_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	return gd_module_count(module->image, count_out);
}

GD_API(cuModuleEnumerateFunctions, (CUfunction * functions, unsigned int room, CUmodule handle),
    (functions, room, handle))
{
	struct gd_module *module = gd_object_get(handle, GD_TYPE_MODULE);
	size_t length;
	const char *name;
	if (!functions || !room)
		return CUDA_ERROR_INVALID_VALUE;
	if (!module)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!module->image->text)
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&gd_modules_lock);
	for (unsigned i = 0; i < room && (name = gd_image_kernel_name(module->image, i, &length));
	     i++) {
		char *copy = strndup(name, length);
		functions[i] = copy ? (CUfunction)gd_module_function(module, copy, NULL) : NULL;
		free(copy);
	}
	pthread_mutex_unlock(&gd_modules_lock);
	return CUDA_SUCCESS;
}
