/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/copy_3d.h"

#include <string.h>

#include "shim/dryrun/arrays.h"
#include "shim/dryrun/contexts.h"

/* One side as all of the driver's structs describe it. */
struct description {
	CUmemorytype type;
	const void *host;
	CUdeviceptr device;
	CUarray array;
	size_t x, y, z, pitch, height;
};

/* How far apart rows and slices are.  One row needs no pitch, one slice no height. */
static bool steps(const struct description *d, const struct gd_copy *copy, struct gd_side *side)
{
	uint64_t right, bottom, pitch = d->pitch, height = d->height;
	if (__builtin_add_overflow(d->x, copy->width, &right) ||
	    __builtin_add_overflow(d->y, copy->height, &bottom))
		return false;
	if (copy->height * copy->depth > 1 && pitch < right)
		return false;
	if (copy->depth > 1 && height < bottom)
		return false;
	side->pitch = pitch ? pitch : right;
	return !__builtin_mul_overflow(side->pitch, height ? height : bottom, &side->slice);
}

/* Address of the first byte. */
static bool first_byte(const struct description *d, uint64_t base, struct gd_side *side)
{
	uint64_t slices, rows;
	return !__builtin_mul_overflow(d->z, side->slice, &slices) &&
	       !__builtin_mul_overflow(d->y, side->pitch, &rows) &&
	       !__builtin_add_overflow(base, slices, &side->address) &&
	       !__builtin_add_overflow(side->address, rows, &side->address) &&
	       !__builtin_add_overflow(side->address, d->x, &side->address);
}

static bool within(size_t offset, uint64_t length, uint64_t room)
{
	return offset <= room && length <= room - offset;
}

/* An array says itself how long its rows are. */
static CUresult array_from(const struct description *d, const struct gd_copy *copy,
    struct description *out, uint64_t *base_out)
{
	const struct gd_array *array = gd_array_get(d->array);
	if (!array || !within(d->x, copy->width, array->pitch) ||
	    !within(d->y, copy->height, array->rows) || !within(d->z, copy->depth, array->slices))
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_array_lives(array))
		return CUDA_ERROR_CONTEXT_IS_DESTROYED;
	*out = *d;
	out->pitch = array->pitch;
	out->height = array->rows;
	*base_out = array->address;
	return CUDA_SUCCESS;
}

static CUresult side_from(
    const struct description *d, const struct gd_copy *copy, struct gd_side *side_out)
{
	struct description of_array;
	struct gd_side side;
	CUresult result;
	uint64_t base;
	switch (d->type) {
	case CU_MEMORYTYPE_HOST:
		base = (uint64_t)(uintptr_t)d->host;
		break;
	case CU_MEMORYTYPE_DEVICE:
	case CU_MEMORYTYPE_UNIFIED:
		base = d->device;
		break;
	case CU_MEMORYTYPE_ARRAY:
		result = array_from(d, copy, &of_array, &base);
		if (result != CUDA_SUCCESS)
			return result;
		d = &of_array;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	side = gd_side_of(base);
	if (d->type == CU_MEMORYTYPE_DEVICE && side.kind == GD_MEMORY_PAGEABLE && base)
		return CUDA_ERROR_INVALID_VALUE;
	if (d->type == CU_MEMORYTYPE_ARRAY)
		side.kind = GD_MEMORY_ARRAY;
	if (!steps(d, copy, &side) || !first_byte(d, base, &side))
		return CUDA_ERROR_INVALID_VALUE;
	*side_out = side;
	return CUDA_SUCCESS;
}

static CUresult build(const struct description *from, const struct description *to, size_t width,
    size_t height, size_t depth, struct gd_copy *copy_out)
{
	struct gd_copy copy = {.width = width, .height = height, .depth = depth};
	if (width && height && depth) {
		uint64_t rows, bytes;
		if (__builtin_mul_overflow(height, depth, &rows) ||
		    __builtin_mul_overflow(rows, width, &bytes))
			return CUDA_ERROR_INVALID_VALUE;
		CUresult result = side_from(from, &copy, &copy.from);
		if (result == CUDA_SUCCESS)
			result = side_from(to, &copy, &copy.to);
		if (result != CUDA_SUCCESS)
			return result;
	}
	*copy_out = copy;
	return CUDA_SUCCESS;
}

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER name their fields alike. */
#define SIDE(p, side) \
	(struct description) \
	{ \
		.type = (p)->side##MemoryType, .host = (p)->side##Host, \
		.device = (p)->side##Device, .array = (p)->side##Array, .x = (p)->side##XInBytes, \
		.y = (p)->side##Y, .z = (p)->side##Z, .pitch = (p)->side##Pitch, \
		.height = (p)->side##Height, \
	}

CUresult gd_copy_from_3d(const CUDA_MEMCPY3D *p, struct gd_copy *copy_out)
{
	struct description from = SIDE(p, src), to = SIDE(p, dst);
	return build(&from, &to, p->WidthInBytes, p->Height, p->Depth, copy_out);
}

static CUresult from_peer(const CUDA_MEMCPY3D_PEER *p, struct gd_copy *copy_out)
{
	struct description from = SIDE(p, src), to = SIDE(p, dst);
	if ((p->srcContext && !gd_context_get(p->srcContext)) ||
	    (p->dstContext && !gd_context_get(p->dstContext)))
		return CUDA_ERROR_INVALID_CONTEXT;
	return build(&from, &to, p->WidthInBytes, p->Height, p->Depth, copy_out);
}

CUresult gd_copy_from_2d(const CUDA_MEMCPY2D *p, struct gd_copy *copy_out)
{
	struct description from = {p->srcMemoryType, p->srcHost, p->srcDevice, p->srcArray,
	    p->srcXInBytes, p->srcY, 0, p->srcPitch, p->Height};
	struct description to = {p->dstMemoryType, p->dstHost, p->dstDevice, p->dstArray,
	    p->dstXInBytes, p->dstY, 0, p->dstPitch, p->Height};
	return build(&from, &to, p->WidthInBytes, p->Height, 1, copy_out);
}

static CUresult enqueue(
    CUstream handle, bool per_thread, CUresult built, const struct gd_copy *copy, bool wait)
{
	struct gd_stream *stream;
	if (!gd_context_current())
		return gd_context_error();
	if (built != CUDA_SUCCESS)
		return built;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	return result == CUDA_SUCCESS ? gd_copy_enqueue(stream, copy, wait) : result;
}

static CUresult copy_2d(CUstream stream, bool per_thread, const CUDA_MEMCPY2D *p, bool wait)
{
	struct gd_copy copy;
	CUresult built = p ? gd_copy_from_2d(p, &copy) : CUDA_ERROR_INVALID_VALUE;
	return enqueue(stream, per_thread, built, &copy, wait);
}

static CUresult copy_3d(CUstream stream, bool per_thread, const CUDA_MEMCPY3D *p, bool wait)
{
	struct gd_copy copy;
	CUresult built = p ? gd_copy_from_3d(p, &copy) : CUDA_ERROR_INVALID_VALUE;
	return enqueue(stream, per_thread, built, &copy, wait);
}

static CUresult copy_peer(CUstream stream, bool per_thread, const CUDA_MEMCPY3D_PEER *p, bool wait)
{
	struct gd_copy copy;
	CUresult built = p ? from_peer(p, &copy) : CUDA_ERROR_INVALID_VALUE;
	return enqueue(stream, per_thread, built, &copy, wait);
}

GD_API_PTDS(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *p), (p))
{
	return copy_2d(NULL, per_thread, p, true);
}

GD_API_PTDS(cuMemcpy2DUnaligned_v2, (const CUDA_MEMCPY2D *p), (p))
{
	return copy_2d(NULL, per_thread, p, true);
}

GD_API_PTSZ(cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *p, CUstream stream), (p, stream))
{
	return copy_2d(stream, per_thread, p, false);
}

GD_API_PTDS(cuMemcpy3D_v2, (const CUDA_MEMCPY3D *p), (p))
{
	return copy_3d(NULL, per_thread, p, true);
}

GD_API_PTSZ(cuMemcpy3DAsync_v2, (const CUDA_MEMCPY3D *p, CUstream stream), (p, stream))
{
	return copy_3d(stream, per_thread, p, false);
}

GD_API_PTDS(cuMemcpy3DPeer, (const CUDA_MEMCPY3D_PEER *p), (p))
{
	return copy_peer(NULL, per_thread, p, true);
}

GD_API_PTSZ(cuMemcpy3DPeerAsync, (const CUDA_MEMCPY3D_PEER *p, CUstream stream), (p, stream))
{
	return copy_peer(stream, per_thread, p, false);
}

/* ---- between arrays and consecutive bytes ---- */

static CUresult row_copy(CUstream stream, bool per_thread, const struct description *to,
    const struct description *from, size_t bytes, bool wait)
{
	struct gd_copy copy;
	CUresult built = build(from, to, bytes, 1, 1, &copy);
	return enqueue(stream, per_thread, built, &copy, wait);
}

static struct description in_array(CUarray array, size_t offset)
{
	return (struct description){.type = CU_MEMORYTYPE_ARRAY, .array = array, .x = offset};
}

static struct description on_device(CUdeviceptr address)
{
	return (struct description){.type = CU_MEMORYTYPE_DEVICE, .device = address};
}

static struct description on_host(const void *pointer)
{
	return (struct description){.type = CU_MEMORYTYPE_HOST, .host = pointer};
}

GD_API_PTDS(cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
    (to, offset, from, bytes))
{
	struct description target = in_array(to, offset), source = on_device(from);
	return row_copy(NULL, per_thread, &target, &source, bytes, true);
}

GD_API_PTDS(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
    (to, from, offset, bytes))
{
	struct description target = on_device(to), source = in_array(from, offset);
	return row_copy(NULL, per_thread, &target, &source, bytes, true);
}

GD_API_PTDS(cuMemcpyHtoA_v2, (CUarray to, size_t offset, const void *from, size_t bytes),
    (to, offset, from, bytes))
{
	struct description target = in_array(to, offset), source = on_host(from);
	return row_copy(NULL, per_thread, &target, &source, bytes, true);
}

GD_API_PTDS(cuMemcpyAtoH_v2, (void *to, CUarray from, size_t offset, size_t bytes),
    (to, from, offset, bytes))
{
	struct description target = on_host(to), source = in_array(from, offset);
	return row_copy(NULL, per_thread, &target, &source, bytes, true);
}

GD_API_PTDS(cuMemcpyAtoA_v2,
    (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes),
    (to, to_offset, from, from_offset, bytes))
{
	struct description target = in_array(to, to_offset), source = in_array(from, from_offset);
	return row_copy(NULL, per_thread, &target, &source, bytes, true);
}

GD_API_PTSZ(cuMemcpyHtoAAsync_v2,
    (CUarray to, size_t offset, const void *from, size_t bytes, CUstream stream),
    (to, offset, from, bytes, stream))
{
	struct description target = in_array(to, offset), source = on_host(from);
	return row_copy(stream, per_thread, &target, &source, bytes, false);
}

GD_API_PTSZ(cuMemcpyAtoHAsync_v2,
    (void *to, CUarray from, size_t offset, size_t bytes, CUstream stream),
    (to, from, offset, bytes, stream))
{
	struct description target = on_host(to), source = in_array(from, offset);
	return row_copy(stream, per_thread, &target, &source, bytes, false);
}

/* ---- batches ---- */

/* Bytes of an element, the unit of every width and offset: an array has its own, between pointers
 * it is a byte.  0 for two arrays that differ. */
static uint64_t element_of(const CUDA_MEMCPY3D_BATCH_OP *entry)
{
	const CUmemcpy3DOperand *both[] = {&entry->src, &entry->dst};
	uint64_t bytes = 0;
	for (int i = 0; i < 2; i++) {
		const struct gd_array *array = both[i]->type == CU_MEMCPY_OPERAND_TYPE_ARRAY
						   ? gd_array_get(both[i]->op.array.array)
						   : NULL;
		if (array && bytes && bytes != array->element)
			return 0;
		if (array)
			bytes = array->element;
	}
	return bytes ? bytes : 1;
}

/* A pointer's rows and layers are packed when it does not say how long they are. */
static CUresult operand(
    const CUmemcpy3DOperand *o, uint64_t element, const CUextent3D *extent, struct description *out)
{
	bool fits;
	if (o->type == CU_MEMCPY_OPERAND_TYPE_POINTER) {
		size_t row = o->op.ptr.rowLength, layer = o->op.ptr.layerHeight;
		*out = (struct description){.type = CU_MEMORYTYPE_UNIFIED,
		    .device = o->op.ptr.ptr,
		    .height = layer ? layer : extent->height};
		fits = !__builtin_mul_overflow(row ? row : extent->width, element, &out->pitch);
	} else if (o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
		*out = in_array(o->op.array.array, 0);
		out->y = o->op.array.offset.y;
		out->z = o->op.array.offset.z;
		fits = !__builtin_mul_overflow(o->op.array.offset.x, element, &out->x);
	} else {
		fits = false;
	}
	return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static CUresult batch_entry(const CUDA_MEMCPY3D_BATCH_OP *entry, struct gd_copy *copy_out)
{
	struct description from, to;
	uint64_t element = element_of(entry), width;
	if (!element || __builtin_mul_overflow(entry->extent.width, element, &width))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = operand(&entry->src, element, &entry->extent, &from);
	if (result == CUDA_SUCCESS)
		result = operand(&entry->dst, element, &entry->extent, &to);
	if (result == CUDA_SUCCESS)
		result =
		    build(&from, &to, width, entry->extent.height, entry->extent.depth, copy_out);
	return result == CUDA_SUCCESS ? gd_copy_check(copy_out) : result;
}

/* The entries are checked before the first is enqueued: the call succeeds or does nothing. */
static CUresult batch(CUstream handle, bool per_thread, size_t count,
    const CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed_out)
{
	struct gd_stream *stream;
	struct gd_copy copy;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (failed_out)
		*failed_out = SIZE_MAX;
	if (!count || !list || stream->kind == GD_STREAM_LEGACY)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < 2 * count; i++) {
		result = batch_entry(&list[i % count], &copy);
		if (result == CUDA_SUCCESS && i >= count)
			result = gd_copy_enqueue(stream, &copy, false);
		if (result == CUDA_SUCCESS)
			continue;
		if (failed_out)
			*failed_out = i % count;
		return result;
	}
	return CUDA_SUCCESS;
}

GD_API_PTSZ(cuMemcpy3DBatchAsync,
    (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed_out, unsigned long long flags,
	CUstream stream),
    (count, list, failed_out, flags, stream))
{
	return batch(stream, per_thread, count, list, failed_out);
}

GD_API_PTSZ(cuMemcpy3DBatchAsync_v2,
    (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, unsigned long long flags, CUstream stream),
    (count, list, flags, stream))
{
	return batch(stream, per_thread, count, list, NULL);
}
