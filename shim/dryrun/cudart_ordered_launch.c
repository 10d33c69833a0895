/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches. */
#include "cudart.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define __cudaLaunchKernel __cudaLaunchKernel_ptsz
#endif

/* Told by no header a C program can include: crt/device_functions.h is for nvcc. */
GD_EXPORT cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block,
    void **arguments, size_t shared_bytes, cudaStream_t stream);

static cudaError_t launch(CUfunction function, dim3 grid, dim3 block, void **arguments,
    size_t shared_bytes, cudaStream_t stream)
{
	return gd_rt_result(GD_ORDERED.cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x,
	    block.y, block.z, (unsigned)shared_bytes, stream, arguments, NULL));
}

GD_EXPORT cudaError_t cudaLaunchKernel(const void *symbol, dim3 grid, dim3 block, void **arguments,
    size_t shared_bytes, cudaStream_t stream)
{
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	return launch(function, grid, block, arguments, shared_bytes, stream);
}

/* What code compiled by nvcc 13 calls, with the handle that __cudaGetKernel gave. */
cudaError_t __cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
    size_t shared_bytes, cudaStream_t stream)
{
	CUfunction function;
	cudaError_t error, why = cudaSuccess;

	GD_BIND();
	error = launch((CUfunction)kernel, grid, block, arguments, shared_bytes, stream);
	/* A kernel that could not be loaded is still known by its symbol: say why it could not. */
	if (error == cudaErrorInvalidResourceHandle)
		why = gd_rt_kernel(kernel, &function);
	return why ? gd_rt_note(why) : error;
}

GD_EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *symbol, dim3 grid, dim3 block,
    void **arguments, size_t shared_bytes, cudaStream_t stream)
{
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	return gd_rt_result(GD_ORDERED.cuLaunchCooperativeKernel(function, grid.x, grid.y, grid.z,
	    block.x, block.y, block.z, (unsigned)shared_bytes, stream, arguments));
}

/* Launch attributes have the same layout and numbers on both sides. */
#if CUDA_VERSION >= 11080
_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "launch attribute");

GD_EXPORT cudaError_t cudaLaunchKernelExC(
    const cudaLaunchConfig_t *config, const void *symbol, void **arguments)
{
	CUlaunchConfig out = {0};
	CUfunction function;
	cudaError_t error;

	GD_BIND();
	if (!config)
		return gd_rt_note(cudaErrorInvalidValue);
	error = gd_rt_kernel(symbol, &function);
	if (error)
		return gd_rt_note(error);
	out.gridDimX = config->gridDim.x;
	out.gridDimY = config->gridDim.y;
	out.gridDimZ = config->gridDim.z;
	out.blockDimX = config->blockDim.x;
	out.blockDimY = config->blockDim.y;
	out.blockDimZ = config->blockDim.z;
	out.sharedMemBytes = (unsigned)config->dynamicSmemBytes;
	out.hStream = config->stream;
	out.attrs = (CUlaunchAttribute *)config->attrs;
	out.numAttrs = config->numAttrs;
	return gd_rt_result(GD_ORDERED.cuLaunchKernelEx(&out, function, arguments, NULL));
}
#endif

GD_EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuLaunchHostFunc(stream, function, data));
}
