/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/questions.h"
#include "shim/recorders.h"
#include "shim/stack_parts.h"

/* What the calls differ in.  `stream` counts only with GF_FLAG_ASYNC. */
struct gs_copy_facts {
	uint64_t target, source, bytes;
	CUstream stream;
	uint32_t flags;
};

static void gs_copy_at(const struct gs_call *call, struct gs_copy_facts facts)
{
	uint16_t device = gs_device(call->thread);
	uint32_t captured = facts.flags & GF_FLAG_ASYNC ? gs_captured_flag(call, facts.stream) : 0;
	uint32_t stack = gs_stack_of(call, GS_STACK_TRANSFER);
	struct gf_copy *record = GS_RECORD(call->thread, copy);
	if (!record)
		return;
	record->stack_id = stack;
	record->time = call->start;
	record->duration = call->end - call->start;
	record->target = facts.target;
	record->source = facts.source;
	record->bytes = facts.bytes;
	record->stream = GS_HANDLE(facts.stream);
	record->flags = call->flags | facts.flags | captured;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	record->target_device = GF_DEVICE_UNKNOWN; /* the addresses tell */
	GS_PUBLISH(record, copy);
}

#define GS_COPY(call, to, from, count) \
	gs_copy_at((call), (struct gs_copy_facts){.target = GS_HANDLE(to), \
	    .source = GS_HANDLE(from), .bytes = (count)})
#define GS_COPY_ASYNC(call, to, from, count, on) \
	gs_copy_at((call), (struct gs_copy_facts){.target = GS_HANDLE(to), \
	    .source = GS_HANDLE(from), .bytes = (count), .stream = (on), .flags = GF_FLAG_ASYNC})

void gs_rec_copy(const struct gs_call *call, CUdeviceptr target, CUdeviceptr source, size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_to_device(const struct gs_call *call, CUdeviceptr target, const void *source,
    size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_to_host(const struct gs_call *call, void *target, CUdeviceptr source,
    size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_device_to_array(const struct gs_call *call, CUarray target, size_t offset,
    CUdeviceptr source, size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_array_to_device(const struct gs_call *call, CUdeviceptr target, CUarray source,
    size_t offset, size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_host_to_array(const struct gs_call *call, CUarray target, size_t offset,
    const void *source, size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_array_to_host(const struct gs_call *call, void *target, CUarray source,
    size_t offset, size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_array_to_array(const struct gs_call *call, CUarray target, size_t target_offset,
    CUarray source, size_t source_offset, size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_peer(const struct gs_call *call, CUdeviceptr target, CUcontext target_context,
    CUdeviceptr source, CUcontext source_context, size_t bytes)
{
	GS_COPY(call, target, source, bytes);
}

void gs_rec_copy_async(const struct gs_call *call, CUdeviceptr target, CUdeviceptr source,
    size_t bytes, CUstream stream)
{
	GS_COPY_ASYNC(call, target, source, bytes, stream);
}

void gs_rec_copy_to_device_async(const struct gs_call *call, CUdeviceptr target,
    const void *source, size_t bytes, CUstream stream)
{
	GS_COPY_ASYNC(call, target, source, bytes, stream);
}

void gs_rec_copy_to_host_async(const struct gs_call *call, void *target, CUdeviceptr source,
    size_t bytes, CUstream stream)
{
	GS_COPY_ASYNC(call, target, source, bytes, stream);
}

void gs_rec_copy_host_to_array_async(const struct gs_call *call, CUarray target, size_t offset,
    const void *source, size_t bytes, CUstream stream)
{
	GS_COPY_ASYNC(call, target, source, bytes, stream);
}

void gs_rec_copy_array_to_host_async(const struct gs_call *call, void *target, CUarray source,
    size_t offset, size_t bytes, CUstream stream)
{
	GS_COPY_ASYNC(call, target, source, bytes, stream);
}

void gs_rec_copy_peer_async(const struct gs_call *call, CUdeviceptr target,
    CUcontext target_context, CUdeviceptr source, CUcontext source_context, size_t bytes,
    CUstream stream)
{
	GS_COPY_ASYNC(call, target, source, bytes, stream);
}

/* ---- copies that a struct describes ---- */

static uint64_t gs_place(CUmemorytype type, const void *host, CUdeviceptr device, CUarray array)
{
	switch (type) {
	case CU_MEMORYTYPE_HOST:
		return GS_HANDLE(host);
	case CU_MEMORYTYPE_ARRAY:
		return GS_HANDLE(array);
	default:
		return device;
	}
}

#define GS_TARGET(c) gs_place((c)->dstMemoryType, (c)->dstHost, (c)->dstDevice, (c)->dstArray)
#define GS_SOURCE(c) gs_place((c)->srcMemoryType, (c)->srcHost, (c)->srcDevice, (c)->srcArray)

#define GS_COPY_BY_STRUCT(name, type, count) \
	void gs_rec_copy_##name(const struct gs_call *call, const type *c) \
	{ \
		if (c) \
			GS_COPY(call, GS_TARGET(c), GS_SOURCE(c), count); \
	} \
	void gs_rec_copy_##name##_async(const struct gs_call *call, const type *c, CUstream stream) \
	{ \
		if (c) \
			GS_COPY_ASYNC(call, GS_TARGET(c), GS_SOURCE(c), count, stream); \
	}
#define GS_AREA ((size_t)c->WidthInBytes * c->Height)
#define GS_VOLUME (GS_AREA * c->Depth)
GS_COPY_BY_STRUCT(2d, CUDA_MEMCPY2D, GS_AREA)
GS_COPY_BY_STRUCT(2d_v1, CUDA_MEMCPY2D_v1, GS_AREA)
GS_COPY_BY_STRUCT(3d, CUDA_MEMCPY3D, GS_VOLUME)
GS_COPY_BY_STRUCT(3d_v1, CUDA_MEMCPY3D_v1, GS_VOLUME)
GS_COPY_BY_STRUCT(3d_peer, CUDA_MEMCPY3D_PEER, GS_VOLUME)

/* ---- many copies in one call: a record an entry, all of the same time ---- */

void gs_rec_copy_batch(const struct gs_call *call, CUdeviceptr *targets, CUdeviceptr *sources,
    size_t *bytes, size_t count, CUmemcpyAttributes *attributes, size_t *indexes,
    size_t attribute_count, CUstream stream)
{
	for (size_t i = 0; targets && sources && bytes && i < count; i++)
		gs_copy_at(call, (struct gs_copy_facts){.target = targets[i], .source = sources[i],
		    .bytes = bytes[i], .stream = stream,
		    .flags = GF_FLAG_ASYNC | GF_FLAG_BATCH_ENTRY});
}

void gs_rec_copy_batch_v1(const struct gs_call *call, CUdeviceptr *targets, CUdeviceptr *sources,
    size_t *bytes, size_t count, CUmemcpyAttributes *attributes, size_t *indexes,
    size_t attribute_count, size_t *failed, CUstream stream)
{
	gs_rec_copy_batch(call, targets, sources, bytes, count, attributes, indexes,
	    attribute_count, stream);
}

void gs_rec_copy_3d_batch(const struct gs_call *call, size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
    unsigned long long flags, CUstream stream)
{
	/* Extents are in elements, which are bytes unless an array says otherwise. */
	for (size_t i = 0; copies && i < count; i++)
		gs_copy_at(call, (struct gs_copy_facts){.target = copies[i].dst.op.pointer,
		    .source = copies[i].src.op.pointer,
		    .bytes = copies[i].extent.width * copies[i].extent.height *
			copies[i].extent.depth,
		    .stream = stream, .flags = GF_FLAG_ASYNC | GF_FLAG_BATCH_ENTRY});
}

void gs_rec_copy_3d_batch_v1(const struct gs_call *call, size_t count,
    CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed, unsigned long long flags, CUstream stream)
{
	gs_rec_copy_3d_batch(call, count, copies, flags, stream);
}

/* ---- memory sets ---- */

static void gs_memset_at(const struct gs_call *call, struct gs_copy_facts facts, uint32_t value)
{
	uint16_t device = gs_device(call->thread);
	uint32_t captured = facts.flags & GF_FLAG_ASYNC ? gs_captured_flag(call, facts.stream) : 0;
	struct gf_memset *record = GS_RECORD(call->thread, memset);
	if (!record)
		return;
	record->time = call->start;
	record->duration = call->end - call->start;
	record->address = facts.target;
	record->bytes = facts.bytes;
	record->stream = GS_HANDLE(facts.stream);
	record->value = value;
	record->flags = call->flags | facts.flags | captured;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	GS_PUBLISH(record, memset);
}

#define GS_MEMSETS(width, type) \
	void gs_rec_memset_d##width(const struct gs_call *call, CUdeviceptr target, type value, \
	    size_t count) \
	{ \
		gs_memset_at(call, \
		    (struct gs_copy_facts){.target = target, .bytes = count * sizeof(type)}, value); \
	} \
	void gs_rec_memset_d##width##_async(const struct gs_call *call, CUdeviceptr target, \
	    type value, size_t count, CUstream stream) \
	{ \
		gs_memset_at(call, \
		    (struct gs_copy_facts){.target = target, .bytes = count * sizeof(type), \
			.stream = stream, .flags = GF_FLAG_ASYNC}, \
		    value); \
	} \
	void gs_rec_memset_2d_d##width(const struct gs_call *call, CUdeviceptr target, \
	    size_t pitch, type value, size_t columns, size_t rows) \
	{ \
		gs_rec_memset_d##width(call, target, value, columns * rows); \
	} \
	void gs_rec_memset_2d_d##width##_async(const struct gs_call *call, CUdeviceptr target, \
	    size_t pitch, type value, size_t columns, size_t rows, CUstream stream) \
	{ \
		gs_rec_memset_d##width##_async(call, target, value, columns * rows, stream); \
	}
GS_MEMSETS(8, unsigned char)
GS_MEMSETS(16, unsigned short)
GS_MEMSETS(32, unsigned)
