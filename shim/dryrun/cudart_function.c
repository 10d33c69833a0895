/* SPDX-License-Identifier: Apache-2.0 */
/* Launch configuration of the <<<>>> syntax, attributes and occupancy of kernels. */
#include <string.h>

#include "cudart.h"

GD_EXPORT unsigned __cudaPushCallConfiguration(
    dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream);
GD_EXPORT cudaError_t __cudaPopCallConfiguration(
    dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream);
GD_EXPORT cudaError_t __cudaGetKernel(void **kernel, const void *symbol);

unsigned __cudaPushCallConfiguration(
    dim3 grid, dim3 block, size_t shared_bytes, cudaStream_t stream)
{
	gd_rt_thread.grid = grid;
	gd_rt_thread.block = block;
	gd_rt_thread.shared_bytes = shared_bytes;
	gd_rt_thread.stream = stream;
	return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared_bytes, void *stream)
{
	*grid = gd_rt_thread.grid;
	*block = gd_rt_thread.block;
	*shared_bytes = gd_rt_thread.shared_bytes;
	*(cudaStream_t *)stream = gd_rt_thread.stream;
	return cudaSuccess;
}

cudaError_t __cudaGetKernel(void **kernel, const void *symbol)
{
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error) {
		/* Compiled code does not look at the result; its launch finds out again. */
		*kernel = (void *)symbol;
		return gd_rt_note(error);
	}
	*kernel = function;
	return cudaSuccess;
}

/* Reports the architecture by which CUB picks its tuning; one that was not compiled is fatal. */
static int kernel_arch(const void *symbol, int otherwise)
{
	CUdevice device;
	int major, minor, arch;

	if (gd_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS ||
	    gd_driver.cuDeviceGetAttribute(
		&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) != CUDA_SUCCESS ||
	    gd_driver.cuDeviceGetAttribute(
		&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device) != CUDA_SUCCESS)
		return otherwise;
	arch = gd_rt_kernel_arch(symbol, 10 * major + minor);
	return arch ? arch : otherwise;
}

GD_EXPORT cudaError_t cudaFuncGetAttributes(
    struct cudaFuncAttributes *attributes, const void *symbol)
{
	static const CUfunction_attribute wanted[] = {CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
	    CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
	    CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, CU_FUNC_ATTRIBUTE_NUM_REGS,
	    CU_FUNC_ATTRIBUTE_PTX_VERSION, CU_FUNC_ATTRIBUTE_BINARY_VERSION,
	    CU_FUNC_ATTRIBUTE_CACHE_MODE_CA, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	    CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
	int values[CU_FUNC_ATTRIBUTE_MAX] = {0};
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
		CUresult result =
		    gd_driver.cuFuncGetAttribute(&values[wanted[i]], wanted[i], function);

		if (result != CUDA_SUCCESS)
			return gd_rt_result(result);
	}
	memset(attributes, 0, sizeof(*attributes));
	attributes->sharedSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
	attributes->constSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES];
	attributes->localSizeBytes = (size_t)values[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES];
	attributes->maxThreadsPerBlock = values[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK];
	attributes->numRegs = values[CU_FUNC_ATTRIBUTE_NUM_REGS];
	attributes->ptxVersion = kernel_arch(symbol, values[CU_FUNC_ATTRIBUTE_PTX_VERSION]);
	attributes->binaryVersion = kernel_arch(symbol, values[CU_FUNC_ATTRIBUTE_BINARY_VERSION]);
	attributes->cacheModeCA = values[CU_FUNC_ATTRIBUTE_CACHE_MODE_CA];
	attributes->maxDynamicSharedSizeBytes =
	    values[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
	attributes->preferredShmemCarveout =
	    values[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
	return cudaSuccess;
}

/* The runtime's numbers of settable attributes are the driver's. */
GD_EXPORT cudaError_t cudaFuncSetAttribute(
    const void *symbol, enum cudaFuncAttribute attribute, int value)
{
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	return gd_rt_result(
	    gd_driver.cuFuncSetAttribute(function, (CUfunction_attribute)attribute, value));
}

GD_EXPORT cudaError_t cudaFuncSetCacheConfig(const void *symbol, enum cudaFuncCache config)
{
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	return gd_rt_result(gd_driver.cuFuncSetCacheConfig(function, (CUfunc_cache)config));
}

GD_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *symbol, int block_size, size_t shared_bytes, unsigned flags)
{
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	return gd_rt_result(gd_driver.cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	    blocks, function, block_size, shared_bytes, flags));
}

GD_EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(
    int *blocks, const void *symbol, int block_size, size_t shared_bytes)
{
	GD_WATCH();
	return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
	    blocks, symbol, block_size, shared_bytes, 0);
}

GD_EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(
    size_t *bytes, const void *symbol, int blocks, int block_size)
{
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	return gd_rt_result(
	    gd_driver.cuOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_size));
}

GD_EXPORT cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
	CUdeviceptr found;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_symbol(symbol, &found, NULL);
	if (!error)
		*address = (void *)(uintptr_t)found;
	return gd_rt_note(error);
}

GD_EXPORT cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
	GD_BIND();
	return gd_rt_note(gd_rt_symbol(symbol, NULL, size));
}
