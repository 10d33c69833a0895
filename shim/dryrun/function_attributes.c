/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/function_attributes.h"

#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_table.h"

CUresult gd_function_attribute(
    const struct gd_function *function, CUfunction_attribute attribute, int *value_out)
{
	const struct gd_code_facts *facts = &function->facts;
	if (!value_out)
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
#define FUNCTION_ATTRIBUTE(name, value) \
	case CU_FUNC_ATTRIBUTE_##name: \
		*value_out = (value); \
		return CUDA_SUCCESS;
		FUNCTION_ATTRIBUTE(MAX_THREADS_PER_BLOCK, facts->max_threads)
		FUNCTION_ATTRIBUTE(SHARED_SIZE_BYTES, facts->static_shared_bytes)
		FUNCTION_ATTRIBUTE(CONST_SIZE_BYTES, 0)
		FUNCTION_ATTRIBUTE(LOCAL_SIZE_BYTES, 0)
		FUNCTION_ATTRIBUTE(NUM_REGS, facts->registers)
		FUNCTION_ATTRIBUTE(PTX_VERSION, function->module->image->ptx_version)
		FUNCTION_ATTRIBUTE(BINARY_VERSION, function->module->image->binary_version)
		FUNCTION_ATTRIBUTE(CACHE_MODE_CA, 0)
		FUNCTION_ATTRIBUTE(
		    MAX_DYNAMIC_SHARED_SIZE_BYTES, function->max_dynamic_shared_bytes)
		FUNCTION_ATTRIBUTE(PREFERRED_SHARED_MEMORY_CARVEOUT, function->shared_carveout)
		FUNCTION_ATTRIBUTE(CLUSTER_SIZE_MUST_BE_SET, 0)
		FUNCTION_ATTRIBUTE(REQUIRED_CLUSTER_WIDTH, function->cluster[0])
		FUNCTION_ATTRIBUTE(REQUIRED_CLUSTER_HEIGHT, function->cluster[1])
		FUNCTION_ATTRIBUTE(REQUIRED_CLUSTER_DEPTH, function->cluster[2])
		FUNCTION_ATTRIBUTE(
		    NON_PORTABLE_CLUSTER_SIZE_ALLOWED, function->non_portable_cluster)
		FUNCTION_ATTRIBUTE(
		    CLUSTER_SCHEDULING_POLICY_PREFERENCE, function->scheduling_policy)
#undef FUNCTION_ATTRIBUTE
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult set_within(int *field, int value, int least, int most)
{
	if (value < least || value > most)
		return CUDA_ERROR_INVALID_VALUE;
	*field = value;
	return CUDA_SUCCESS;
}

CUresult gd_function_set_attribute(
    struct gd_function *function, CUfunction_attribute attribute, int value)
{
	int most_shared = gd_facts.shared_per_block_optin - function->facts.static_shared_bytes;
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		return set_within(&function->max_dynamic_shared_bytes, value, 0, most_shared);
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		return set_within(&function->shared_carveout, value, -1, 100);
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
		return set_within(&function->cluster[0], value, 0, 16);
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
		return set_within(&function->cluster[1], value, 0, 16);
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
		return set_within(&function->cluster[2], value, 0, 16);
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		return set_within(&function->non_portable_cluster, value, 0, 1);
	case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
		return set_within(&function->scheduling_policy, value, 0, 2);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

GD_API(cuFuncGetAttribute, (int *value_out, CUfunction_attribute attribute, CUfunction handle),
    (value_out, attribute, handle))
{
	const struct gd_function *function = gd_function_get(handle);
	return function ? gd_function_attribute(function, attribute, value_out)
			: CUDA_ERROR_INVALID_HANDLE;
}

GD_API(cuFuncSetAttribute, (CUfunction handle, CUfunction_attribute attribute, int value),
    (handle, attribute, value))
{
	struct gd_function *function = gd_function_get(handle);
	return function ? gd_function_set_attribute(function, attribute, value)
			: CUDA_ERROR_INVALID_HANDLE;
}

GD_API(cuFuncSetCacheConfig, (CUfunction function, CUfunc_cache config), (function, config))
{
	if ((unsigned)config > CU_FUNC_CACHE_PREFER_EQUAL)
		return CUDA_ERROR_INVALID_VALUE;
	return gd_function_get(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

GD_API(cuFuncSetSharedMemConfig, (CUfunction function, CUsharedconfig config), (function, config))
{
	if ((unsigned)config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE)
		return CUDA_ERROR_INVALID_VALUE;
	return gd_function_get(function) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

GD_API(cuFuncGetName, (const char **name_out, CUfunction handle), (name_out, handle))
{
	const struct gd_function *function = gd_function_get(handle);
	if (!name_out || !function)
		return name_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*name_out = function->name;
	return CUDA_SUCCESS;
}

GD_API(cuFuncGetModule, (CUmodule * module_out, CUfunction handle), (module_out, handle))
{
	const struct gd_function *function = gd_function_get(handle);
	if (!module_out || !function)
		return module_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*module_out = (CUmodule)function->module;
	return CUDA_SUCCESS;
}

CUresult gd_function_parameter(const struct gd_image *image, const char *name, size_t index,
    size_t *offset_out, size_t *bytes_out)
{
	size_t offset, bytes;
	if (!offset_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!image->text)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!gd_image_parameter(image, name, (unsigned)index, &offset, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	*offset_out = offset;
	if (bytes_out)
		*bytes_out = bytes;
	return CUDA_SUCCESS;
}

GD_API(cuFuncGetParamInfo, (CUfunction handle, size_t index, size_t *offset_out, size_t *bytes_out),
    (handle, index, offset_out, bytes_out))
{
	const struct gd_function *function = gd_function_get(handle);
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	return gd_function_parameter(
	    function->module->image, function->name, index, offset_out, bytes_out);
}

GD_API(cuFuncIsLoaded, (CUfunctionLoadingState * state_out, CUfunction handle), (state_out, handle))
{
	struct gd_function *function = gd_function_get(handle);
	if (!state_out || !function)
		return state_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*state_out = __atomic_load_n(&function->launched, __ATOMIC_RELAXED)
			 ? CU_FUNCTION_LOADING_STATE_LOADED
			 : CU_FUNCTION_LOADING_STATE_UNLOADED;
	return CUDA_SUCCESS;
}

GD_API(cuFuncLoad, (CUfunction handle), (handle))
{
	struct gd_function *function = gd_function_get(handle);
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	__atomic_store_n(&function->launched, 1, __ATOMIC_RELAXED);
	return CUDA_SUCCESS;
}
