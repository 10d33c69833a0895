/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's memset functions: elements of 1, 2, 4 bytes, one row or many, at once or in a
 * stream. */
#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"

static CUresult set(CUstream handle, bool per_thread, CUdeviceptr address, size_t pitch,
    uint32_t value, unsigned element, size_t width, size_t height, bool wait)
{
	struct gd_stream *stream;
	if (!gd_context_current())
		return gd_context_error();
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	struct gd_memset memset_call = {.address = address,
	    .pitch = pitch,
	    .value = value,
	    .element = element,
	    .width = width,
	    .height = height,
	    .in_space = gd_space_holds(address)};
	return gd_memset_enqueue(stream, &memset_call, wait);
}

/* R(bits, type of the value) */
#define WIDTHS(R) \
	R(8, unsigned char) \
	R(16, unsigned short) \
	R(32, unsigned int)

#define MEMSETS(bits, type) \
	GD_API_PTDS( \
	    cuMemsetD##bits##_v2, (CUdeviceptr to, type value, size_t count), (to, value, count)) \
	{ \
		return set(NULL, per_thread, to, 0, value, bits / 8, count, 1, true); \
	} \
	GD_API_PTSZ(cuMemsetD##bits##Async, \
	    (CUdeviceptr to, type value, size_t count, CUstream stream), \
	    (to, value, count, stream)) \
	{ \
		return set(stream, per_thread, to, 0, value, bits / 8, count, 1, false); \
	} \
	GD_API_PTDS(cuMemsetD2D##bits##_v2, \
	    (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height), \
	    (to, pitch, value, width, height)) \
	{ \
		return set(NULL, per_thread, to, pitch, value, bits / 8, width, height, true); \
	} \
	GD_API_PTSZ(cuMemsetD2D##bits##Async, \
	    (CUdeviceptr to, size_t pitch, type value, size_t width, size_t height, \
		CUstream stream), \
	    (to, pitch, value, width, height, stream)) \
	{ \
		return set(stream, per_thread, to, pitch, value, bits / 8, width, height, false); \
	}
WIDTHS(MEMSETS)
