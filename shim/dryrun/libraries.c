/* SPDX-License-Identifier: Apache-2.0 */
/* cuLibrary*, cuKernel*: device code of the process, loaded into contexts on use. */
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/function_attributes.h"
#include "shim/dryrun/module_parts.h"
#include "shim/dryrun/visible_devices.h"

_Static_assert(sizeof(struct gd_kernel) <= GD_CELL_BYTES, "a kernel fits in a cell");
_Static_assert(sizeof(struct gd_library) <= GD_CELL_BYTES, "a library fits in a cell");

/* The library's module in a context; the lock is held. */
static struct gd_module *module_in(struct gd_library *library, struct gd_context *context)
{
	for (uint32_t i = 0; i < library->module_count; i++) {
		if (library->modules[i]->context_id == context->id)
			return library->modules[i];
	}
	if (library->module_count == library->module_room) {
		uint32_t room = library->module_room ? library->module_room * 2 : 8;
		void *more = realloc(library->modules, room * sizeof(*library->modules));
		if (!more)
			return NULL;
		library->modules = more;
		library->module_room = room;
	}
	struct gd_module *module = gd_module_new(context, &library->image, library);
	if (module)
		library->modules[library->module_count++] = module;
	return module;
}

/* An attribute set for a device: it holds in contexts that the device gets later, too. */
struct gd_kernel_setting {
	struct gd_kernel_setting *next;
	CUdevice device;
	CUfunction_attribute attribute;
	int value;
};

/* The lock is held. @return false without memory */
static bool remember(
    struct gd_kernel *kernel, CUdevice device, CUfunction_attribute attribute, int value)
{
	struct gd_kernel_setting *setting = kernel->settings;
	while (setting && (setting->device != device || setting->attribute != attribute))
		setting = setting->next;
	if (!setting) {
		setting = malloc(sizeof(*setting));
		if (!setting)
			return false;
		setting->next = kernel->settings;
		kernel->settings = setting;
	}
	setting->device = device;
	setting->attribute = attribute;
	setting->value = value;
	return true;
}

/* The kernel's function in a module, a new one as the program set it; the lock is held. */
static struct gd_function *function_in(struct gd_module *module, struct gd_kernel *kernel)
{
	const struct gd_function *newest = module->functions;
	struct gd_function *function = gd_module_function(module, kernel->name, kernel);
	const struct gd_kernel_setting *setting = kernel->settings;
	if (module->functions == newest) /* it was there before */
		return function;
	for (; setting; setting = setting->next) {
		if (setting->device == (CUdevice)module->device)
			gd_function_set_attribute(function, setting->attribute, setting->value);
	}
	return function;
}

/* Launches by kernel come through here, so what was found before is found without the lock. */
struct gd_function *gd_kernel_function(struct gd_kernel *kernel, struct gd_context *context)
{
	struct gd_function **known = &kernel->functions[context->index % GD_KERNEL_CONTEXTS];
	struct gd_function *last =
	    gd_object_get(__atomic_load_n(known, __ATOMIC_ACQUIRE), GD_TYPE_FUNCTION);
	if (last && last->kernel == kernel && last->context_id == context->id)
		return last;
	pthread_mutex_lock(&gd_modules_lock);
	struct gd_module *module = module_in(kernel->library, context);
	struct gd_function *function = module ? function_in(module, kernel) : NULL;
	if (function)
		__atomic_store_n(known, function, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&gd_modules_lock);
	return function;
}

static CUresult load(CUlibrary *library_out, const void *data)
{
	if (!library_out)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_library *library = gd_object_new(GD_TYPE_LIBRARY);
	if (!library)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = (CUresult)gd_image_read(data, &library->image);
	if (result != CUDA_SUCCESS) {
		gd_object_free(library, GD_TYPE_LIBRARY);
		return result;
	}
	gd_object_publish(library, GD_TYPE_LIBRARY);
	*library_out = (CUlibrary)library;
	return CUDA_SUCCESS;
}

GD_API(cuLibraryLoadData,
    (CUlibrary * library_out, const void *code, CUjit_option *jit, void **jit_values,
	unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count),
    (library_out, code, jit, jit_values, jit_count, options, values, count))
{
	return load(library_out, code);
}

GD_API(cuLibraryLoadFromFile,
    (CUlibrary * library_out, const char *path, CUjit_option *jit, void **jit_values,
	unsigned int jit_count, CUlibraryOption *options, void **values, unsigned int count),
    (library_out, path, jit, jit_values, jit_count, options, values, count))
{
	size_t bytes;
	void *data = path ? gd_image_file(path, &bytes) : NULL;
	if (!path)
		return CUDA_ERROR_INVALID_VALUE;
	if (!data)
		return CUDA_ERROR_FILE_NOT_FOUND;
	CUresult result = bytes < 64 ? CUDA_ERROR_INVALID_IMAGE : load(library_out, data);
	free(data);
	return result;
}

GD_API(cuLibraryUnload, (CUlibrary handle), (handle))
{
	struct gd_library *library = gd_object_get(handle, GD_TYPE_LIBRARY);
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&gd_modules_lock);
	while (library->module_count)
		gd_module_delete(library->modules[0]);
	while (library->kernels) {
		struct gd_kernel *kernel = library->kernels;
		library->kernels = kernel->next;
		while (kernel->settings) {
			struct gd_kernel_setting *setting = kernel->settings;
			kernel->settings = setting->next;
			free(setting);
		}
		free(kernel->name);
		gd_object_free(kernel, GD_TYPE_KERNEL);
	}
	free(library->modules);
	gd_image_free(&library->image);
	gd_object_free(library, GD_TYPE_LIBRARY);
	pthread_mutex_unlock(&gd_modules_lock);
	return CUDA_SUCCESS;
}

/* The lock is held. */
static struct gd_kernel *kernel_of(struct gd_library *library, const char *name)
{
	struct gd_code_facts facts;
	struct gd_kernel *kernel = library->kernels;
	while (kernel && strcmp(kernel->name, name) != 0)
		kernel = kernel->next;
	if (kernel || !gd_image_kernel(&library->image, name, &facts))
		return kernel;
	kernel = gd_object_new(GD_TYPE_KERNEL);
	if (!kernel)
		return NULL;
	kernel->name = strdup(name);
	kernel->library = library;
	kernel->next = library->kernels;
	library->kernels = kernel;
	gd_object_publish(kernel, GD_TYPE_KERNEL);
	return kernel;
}

GD_API(cuLibraryGetKernel, (CUkernel * kernel_out, CUlibrary handle, const char *name),
    (kernel_out, handle, name))
{
	struct gd_library *library = gd_object_get(handle, GD_TYPE_LIBRARY);
	if (!kernel_out || !name)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	pthread_mutex_lock(&gd_modules_lock);
	struct gd_kernel *kernel = kernel_of(library, name);
	pthread_mutex_unlock(&gd_modules_lock);
	if (!kernel)
		return CUDA_ERROR_NOT_FOUND;
	*kernel_out = (CUkernel)kernel;
	return CUDA_SUCCESS;
}

GD_API(cuLibraryGetKernelCount, (unsigned int *count_out, CUlibrary handle), (count_out, handle))
{
	const struct gd_library *library = gd_object_get(handle, GD_TYPE_LIBRARY);
	if (!count_out || !library)
		return count_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	return gd_module_count(&library->image, count_out);
}

GD_API(cuLibraryEnumerateKernels, (CUkernel * kernels, unsigned int room, CUlibrary handle),
    (kernels, room, handle))
{
	struct gd_library *library = gd_object_get(handle, GD_TYPE_LIBRARY);
	const char *name;
	size_t length;
	if (!kernels || !room)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!library->image.text)
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&gd_modules_lock);
	for (unsigned i = 0; i < room && (name = gd_image_kernel_name(&library->image, i, &length));
	     i++) {
		char *copy = strndup(name, length);
		kernels[i] = copy ? (CUkernel)kernel_of(library, copy) : NULL;
		free(copy);
	}
	pthread_mutex_unlock(&gd_modules_lock);
	return CUDA_SUCCESS;
}

GD_API(cuLibraryGetModule, (CUmodule * module_out, CUlibrary handle), (module_out, handle))
{
	struct gd_library *library = gd_object_get(handle, GD_TYPE_LIBRARY);
	struct gd_context *context = gd_context_current();
	if (!module_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!context)
		return gd_context_error();
	pthread_mutex_lock(&gd_modules_lock);
	struct gd_module *module = module_in(library, context);
	pthread_mutex_unlock(&gd_modules_lock);
	if (!module)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*module_out = (CUmodule)module;
	return CUDA_SUCCESS;
}

static CUresult variable(
    CUdeviceptr *address_out, size_t *bytes_out, CUlibrary handle, const char *name, bool managed)
{
	struct gd_library *library = gd_object_get(handle, GD_TYPE_LIBRARY);
	struct gd_context *context = gd_context_current();
	if (!name || (!address_out && !bytes_out))
		return CUDA_ERROR_INVALID_VALUE;
	if (!library)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!context)
		return gd_context_error();
	pthread_mutex_lock(&gd_modules_lock);
	struct gd_module *module = module_in(library, context);
	CUresult result = module ? gd_module_variable(module, name, managed, address_out, bytes_out)
				 : CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_unlock(&gd_modules_lock);
	return result;
}

GD_API(cuLibraryGetGlobal,
    (CUdeviceptr * address_out, size_t *bytes_out, CUlibrary library, const char *name),
    (address_out, bytes_out, library, name))
{
	return variable(address_out, bytes_out, library, name, false);
}

GD_API(cuLibraryGetManaged,
    (CUdeviceptr * address_out, size_t *bytes_out, CUlibrary library, const char *name),
    (address_out, bytes_out, library, name))
{
	return variable(address_out, bytes_out, library, name, true);
}

GD_API(cuKernelGetFunction, (CUfunction * function_out, CUkernel handle), (function_out, handle))
{
	struct gd_kernel *kernel = gd_object_get(handle, GD_TYPE_KERNEL);
	struct gd_context *context = gd_context_current();
	if (!function_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!context)
		return gd_context_error();
	struct gd_function *function = gd_kernel_function(kernel, context);
	if (!function)
		return CUDA_ERROR_NOT_FOUND;
	*function_out = (CUfunction)function;
	return CUDA_SUCCESS;
}

GD_API(cuKernelGetLibrary, (CUlibrary * library_out, CUkernel handle), (library_out, handle))
{
	struct gd_kernel *kernel = gd_object_get(handle, GD_TYPE_KERNEL);
	if (!library_out || !kernel)
		return library_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*library_out = (CUlibrary)kernel->library;
	return CUDA_SUCCESS;
}

GD_API(cuKernelGetName, (const char **name_out, CUkernel handle), (name_out, handle))
{
	struct gd_kernel *kernel = gd_object_get(handle, GD_TYPE_KERNEL);
	if (!name_out || !kernel)
		return name_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*name_out = kernel->name;
	return CUDA_SUCCESS;
}

GD_API(cuKernelGetParamInfo, (CUkernel handle, size_t index, size_t *offset_out, size_t *bytes_out),
    (handle, index, offset_out, bytes_out))
{
	const struct gd_kernel *kernel = gd_object_get(handle, GD_TYPE_KERNEL);
	if (!kernel)
		return CUDA_ERROR_INVALID_HANDLE;
	return gd_function_parameter(
	    &kernel->library->image, kernel->name, index, offset_out, bytes_out);
}

/* Attributes of a kernel are those of its function in the primary context of the device. */
static struct gd_function *function_on(CUkernel handle, CUdevice device)
{
	struct gd_kernel *kernel = gd_object_get(handle, GD_TYPE_KERNEL);
	struct gd_context *current = gd_context_current();
	if (!kernel)
		return NULL;
	if (current && (CUdevice)current->device == device)
		return gd_kernel_function(kernel, current);
	return gd_kernel_function(kernel, gd_context_primary((unsigned)device));
}

GD_API(cuKernelGetAttribute,
    (int *value_out, CUfunction_attribute attribute, CUkernel kernel, CUdevice device),
    (value_out, attribute, kernel, device))
{
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	struct gd_function *function = function_on(kernel, device);
	return function ? gd_function_attribute(function, attribute, value_out)
			: CUDA_ERROR_INVALID_HANDLE;
}

GD_API(cuKernelSetAttribute,
    (CUfunction_attribute attribute, int value, CUkernel handle, CUdevice device),
    (attribute, value, handle, device))
{
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	struct gd_function *function = function_on(handle, device);
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	CUresult result = gd_function_set_attribute(function, attribute, value);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&gd_modules_lock);
	bool remembered = remember(gd_object_get(handle, GD_TYPE_KERNEL), device, attribute, value);
	pthread_mutex_unlock(&gd_modules_lock);
	return remembered ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

GD_API(cuKernelSetCacheConfig, (CUkernel kernel, CUfunc_cache config, CUdevice device),
    (kernel, config, device))
{
	return gd_object_get(kernel, GD_TYPE_KERNEL) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
