/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered memory and hints about managed memory. */
#include "cudart.h"

GD_EXPORT cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
	CUdeviceptr address = 0;
	cudaError_t error;

	GD_BIND();
	if (!out)
		return gd_rt_note(cudaErrorInvalidValue);
	if (bytes == 0) {
		*out = NULL;
		return cudaSuccess;
	}
	error = gd_rt_result(GD_ORDERED.cuMemAllocAsync(&address, bytes, stream));
	*out = (void *)(uintptr_t)address;
	return error;
}

GD_EXPORT cudaError_t cudaMallocFromPoolAsync(
    void **out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream)
{
	CUdeviceptr address = 0;
	cudaError_t error;

	GD_BIND();
	if (!out)
		return gd_rt_note(cudaErrorInvalidValue);
	error = gd_rt_result(GD_ORDERED.cuMemAllocFromPoolAsync(&address, bytes, pool, stream));
	*out = (void *)(uintptr_t)address;
	return error;
}

GD_EXPORT cudaError_t cudaFreeAsync(void *address, cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuMemFreeAsync((CUdeviceptr)(uintptr_t)address, stream));
}

#if CUDART_VERSION >= 13000
GD_EXPORT cudaError_t cudaMemPrefetchAsync(const void *address, size_t bytes,
    struct cudaMemLocation location, unsigned flags, cudaStream_t stream)
{
	CUmemLocation to = {.type = (CUmemLocationType)location.type, .id = location.id};

	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuMemPrefetchAsync(
	    (CUdeviceptr)(uintptr_t)address, bytes, to, flags, stream));
}
#else
GD_EXPORT cudaError_t cudaMemPrefetchAsync(
    const void *address, size_t bytes, int to_device, cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuMemPrefetchAsync(
	    (CUdeviceptr)(uintptr_t)address, bytes, to_device, stream));
}
#endif
