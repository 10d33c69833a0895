/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's copy functions of consecutive bytes; copy_3d.c has the others. */
#include "shim/dryrun/copies.h"

static CUresult copy_bytes(
    CUstream handle, bool per_thread, CUdeviceptr to, CUdeviceptr from, size_t bytes, bool wait)
{
	struct gd_stream *stream;
	if (!gd_context_current())
		return gd_context_error();
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	struct gd_copy copy = gd_copy_linear(to, from, bytes);
	return gd_copy_enqueue(stream, &copy, wait);
}

static CUdeviceptr host(const void *pointer)
{
	return (CUdeviceptr)(uintptr_t)pointer;
}

/* What a direction demands: a device address that is none is refused, as by the driver. */
static bool on_device(CUdeviceptr address, size_t bytes)
{
	return !bytes || gd_side_of(address).kind != GD_MEMORY_PAGEABLE;
}

GD_API_PTDS(cuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes))
{
	return copy_bytes(NULL, per_thread, to, from, bytes, true);
}

GD_API_PTSZ(cuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
    (to, from, bytes, stream))
{
	return copy_bytes(stream, per_thread, to, from, bytes, false);
}

GD_API_PTDS(cuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes))
{
	if (!on_device(to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_bytes(NULL, per_thread, to, host(from), bytes, true);
}

GD_API_PTSZ(cuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t bytes, CUstream stream),
    (to, from, bytes, stream))
{
	if (!on_device(to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_bytes(stream, per_thread, to, host(from), bytes, false);
}

GD_API_PTDS(cuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes))
{
	if (!on_device(from, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_bytes(NULL, per_thread, host(to), from, bytes, true);
}

GD_API_PTSZ(cuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t bytes, CUstream stream),
    (to, from, bytes, stream))
{
	if (!on_device(from, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_bytes(stream, per_thread, host(to), from, bytes, false);
}

GD_API_PTDS(cuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes))
{
	if (!on_device(from, bytes) || !on_device(to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_bytes(NULL, per_thread, to, from, bytes, true);
}

GD_API_PTSZ(cuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream),
    (to, from, bytes, stream))
{
	if (!on_device(from, bytes) || !on_device(to, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return copy_bytes(stream, per_thread, to, from, bytes, false);
}

static bool live(CUcontext to, CUcontext from)
{
	return gd_context_get(to) && gd_context_get(from);
}

GD_API_PTDS(cuMemcpyPeer,
    (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes),
    (to, to_context, from, from_context, bytes))
{
	if (!live(to_context, from_context))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_bytes(NULL, per_thread, to, from, bytes, true);
}

GD_API_PTSZ(cuMemcpyPeerAsync,
    (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context, size_t bytes,
	CUstream stream),
    (to, to_context, from, from_context, bytes, stream))
{
	if (!live(to_context, from_context))
		return CUDA_ERROR_INVALID_CONTEXT;
	return copy_bytes(stream, per_thread, to, from, bytes, false);
}

/* The entries are checked before the first is enqueued: the call succeeds or does nothing. */
static CUresult copy_batch(CUstream handle, bool per_thread, CUdeviceptr *to, CUdeviceptr *from,
    size_t *bytes, size_t count, size_t attribute_count, size_t *failed_out)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (failed_out)
		*failed_out = SIZE_MAX;
	if (!to || !from || !bytes || !count || !attribute_count || attribute_count > count ||
	    stream->kind == GD_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		struct gd_copy copy = gd_copy_linear(to[i], from[i], bytes[i]);
		result = bytes[i] ? gd_copy_check(&copy) : CUDA_ERROR_INVALID_VALUE;
		if (result == CUDA_SUCCESS)
			continue;
		if (failed_out)
			*failed_out = i;
		return result;
	}
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		struct gd_copy copy = gd_copy_linear(to[i], from[i], bytes[i]);
		result = gd_copy_enqueue(stream, &copy, false);
		if (result != CUDA_SUCCESS && failed_out)
			*failed_out = i;
	}
	return result;
}

GD_API_PTSZ(cuMemcpyBatchAsync,
    (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
	CUmemcpyAttributes *attributes, size_t *indices, size_t attribute_count, size_t *failed_out,
	CUstream stream),
    (to, from, bytes, count, attributes, indices, attribute_count, failed_out, stream))
{
	return copy_batch(stream, per_thread, to, from, bytes, count, attribute_count, failed_out);
}

GD_API_PTSZ(cuMemcpyBatchAsync_v2,
    (CUdeviceptr * to, CUdeviceptr *from, size_t *bytes, size_t count,
	CUmemcpyAttributes *attributes, size_t *indices, size_t attribute_count, CUstream stream),
    (to, from, bytes, count, attributes, indices, attribute_count, stream))
{
	return copy_batch(stream, per_thread, to, from, bytes, count, attribute_count, NULL);
}
