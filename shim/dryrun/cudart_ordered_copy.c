/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills.  A copy with a stated direction goes to the driver's function of that
 * direction. */
#include "cudart.h"
#include "cudart_copy_plan.h"

static inline CUdeviceptr device(const void *pointer)
{
	return (CUdeviceptr)(uintptr_t)pointer;
}

GD_EXPORT cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	GD_BIND();
	if (bytes == 0)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return gd_rt_result(GD_ORDERED.cuMemcpyHtoD(device(to), from, bytes));
	case cudaMemcpyDeviceToHost:
		return gd_rt_result(GD_ORDERED.cuMemcpyDtoH(to, device(from), bytes));
	case cudaMemcpyDeviceToDevice:
		return gd_rt_result(GD_ORDERED.cuMemcpyDtoD(device(to), device(from), bytes));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return gd_rt_result(GD_ORDERED.cuMemcpy(device(to), device(from), bytes));
	default:
		return gd_rt_note(cudaErrorInvalidMemcpyDirection);
	}
}

GD_EXPORT cudaError_t cudaMemcpyAsync(
    void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	GD_BIND();
	if (bytes == 0)
		return cudaSuccess;
	switch (kind) {
	case cudaMemcpyHostToDevice:
		return gd_rt_result(GD_ORDERED.cuMemcpyHtoDAsync(device(to), from, bytes, stream));
	case cudaMemcpyDeviceToHost:
		return gd_rt_result(GD_ORDERED.cuMemcpyDtoHAsync(to, device(from), bytes, stream));
	case cudaMemcpyDeviceToDevice:
		return gd_rt_result(
		    GD_ORDERED.cuMemcpyDtoDAsync(device(to), device(from), bytes, stream));
	case cudaMemcpyHostToHost:
	case cudaMemcpyDefault:
		return gd_rt_result(
		    GD_ORDERED.cuMemcpyAsync(device(to), device(from), bytes, stream));
	default:
		return gd_rt_note(cudaErrorInvalidMemcpyDirection);
	}
}

GD_EXPORT cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
    size_t width, size_t height, enum cudaMemcpyKind kind)
{
	CUDA_MEMCPY2D plan;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_plan_2d(&plan, to, to_pitch, from, from_pitch, width, height, kind);
	return error ? gd_rt_note(error) : gd_rt_result(GD_ORDERED.cuMemcpy2DUnaligned(&plan));
}

GD_EXPORT cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from,
    size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUDA_MEMCPY2D plan;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_plan_2d(&plan, to, to_pitch, from, from_pitch, width, height, kind);
	return error ? gd_rt_note(error) : gd_rt_result(GD_ORDERED.cuMemcpy2DAsync(&plan, stream));
}

GD_EXPORT cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
	CUDA_MEMCPY3D plan;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_plan_3d(&plan, p);
	return error ? gd_rt_note(error) : gd_rt_result(GD_ORDERED.cuMemcpy3D(&plan));
}

GD_EXPORT cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
	CUDA_MEMCPY3D plan;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_plan_3d(&plan, p);
	return error ? gd_rt_note(error) : gd_rt_result(GD_ORDERED.cuMemcpy3DAsync(&plan, stream));
}

/* Address of a part of a registered variable. */
static cudaError_t part_of(const void *symbol, size_t offset, size_t bytes, void **out)
{
	CUdeviceptr address;
	size_t size;
	cudaError_t error = gd_rt_symbol(symbol, &address, &size);

	if (error)
		return error;
	if (offset > size || bytes > size - offset)
		return cudaErrorInvalidValue;
	*out = (void *)(uintptr_t)(address + offset);
	return cudaSuccess;
}

GD_EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *from, size_t bytes,
    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error;
	void *to;

	GD_BIND();
	error = part_of(symbol, offset, bytes, &to);
	return error ? gd_rt_note(error) : cudaMemcpyAsync(to, from, bytes, kind, stream);
}

GD_EXPORT cudaError_t cudaMemcpyToSymbol(
    const void *symbol, const void *from, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	cudaError_t error;
	void *to;

	GD_BIND();
	error = part_of(symbol, offset, bytes, &to);
	return error ? gd_rt_note(error) : cudaMemcpy(to, from, bytes, kind);
}

GD_EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void *to, const void *symbol, size_t bytes,
    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	cudaError_t error;
	void *from;

	GD_BIND();
	error = part_of(symbol, offset, bytes, &from);
	return error ? gd_rt_note(error) : cudaMemcpyAsync(to, from, bytes, kind, stream);
}

GD_EXPORT cudaError_t cudaMemcpyFromSymbol(
    void *to, const void *symbol, size_t bytes, size_t offset, enum cudaMemcpyKind kind)
{
	cudaError_t error;
	void *from;

	GD_BIND();
	error = part_of(symbol, offset, bytes, &from);
	return error ? gd_rt_note(error) : cudaMemcpy(to, from, bytes, kind);
}

GD_EXPORT cudaError_t cudaMemset(void *to, int value, size_t bytes)
{
	GD_BIND();
	if (bytes == 0)
		return cudaSuccess;
	return gd_rt_result(GD_ORDERED.cuMemsetD8(device(to), (unsigned char)value, bytes));
}

GD_EXPORT cudaError_t cudaMemsetAsync(void *to, int value, size_t bytes, cudaStream_t stream)
{
	GD_BIND();
	if (bytes == 0)
		return cudaSuccess;
	return gd_rt_result(
	    GD_ORDERED.cuMemsetD8Async(device(to), (unsigned char)value, bytes, stream));
}

GD_EXPORT cudaError_t cudaMemset2D(void *to, size_t pitch, int value, size_t width, size_t height)
{
	GD_BIND();
	if (!gd_rt_pitch_fits(pitch, width, height))
		return gd_rt_note(cudaErrorInvalidPitchValue);
	return gd_rt_result(
	    GD_ORDERED.cuMemsetD2D8(device(to), pitch, (unsigned char)value, width, height));
}

GD_EXPORT cudaError_t cudaMemset2DAsync(
    void *to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream)
{
	GD_BIND();
	if (!gd_rt_pitch_fits(pitch, width, height))
		return gd_rt_note(cudaErrorInvalidPitchValue);
	return gd_rt_result(GD_ORDERED.cuMemsetD2D8Async(
	    device(to), pitch, (unsigned char)value, width, height, stream));
}
