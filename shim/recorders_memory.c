/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/questions.h"
#include "shim/recorders.h"
#include "shim/stack_parts.h"

/* What differs between the calls; the rest comes from the call itself. */
struct gs_memory_facts {
	uint64_t address, size, handle;
	CUstream stream;
	uint32_t flags;
	uint32_t device_plus_one; /* 0: the current context's */
};

static void gs_memory_at(const struct gs_call *call, enum gf_memory_kind kind, uint64_t time,
    struct gs_memory_facts facts)
{
	uint16_t device = facts.device_plus_one ? (uint16_t)(facts.device_plus_one - 1)
						: gs_device(call->thread);
	uint32_t stack =
	    time == call->end ? gs_stack_of(call, GS_STACK_ALLOCATION) : 0;
	struct gf_memory *record = GS_RECORD(call->thread, memory);
	if (!record)
		return;
	record->stack_id = stack; /* of what acquires something */
	record->time = time;
	record->duration = call->end - call->start;
	record->address = facts.address;
	record->size = facts.size;
	record->handle = facts.handle;
	record->stream = GS_HANDLE(facts.stream);
	record->kind = kind;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	record->flags = call->flags | facts.flags |
	    (gs_tls.in_allocator ? GF_FLAG_IN_ALLOCATOR : 0);
	GS_PUBLISH(record, memory);
}

#define GS_ACQUIRED(call, kind, ...) \
	gs_memory_at((call), GF_MEMORY_##kind, (call)->end, \
	    (struct gs_memory_facts){__VA_ARGS__})
#define GS_RELEASED(call, kind, ...) \
	gs_memory_at((call), GF_MEMORY_##kind, (call)->start, \
	    (struct gs_memory_facts){__VA_ARGS__})

/* ---- device memory ---- */

void gs_rec_alloc(const struct gs_call *call, CUdeviceptr *out, size_t bytes)
{
	GS_ACQUIRED(call, ALLOC, .address = GS_OK(call) ? *out : 0, .size = bytes);
}

void gs_rec_alloc_v1(const struct gs_call *call, CUdeviceptr_v1 *out, unsigned bytes)
{
	GS_ACQUIRED(call, ALLOC, .address = GS_OK(call) ? *out : 0, .size = bytes);
}

void gs_rec_alloc_pitch(const struct gs_call *call, CUdeviceptr *out, size_t *pitch, size_t width,
    size_t height, unsigned element)
{
	if (GS_OK(call))
		GS_ACQUIRED(call, ALLOC, .address = *out, .size = *pitch * height, .handle = *pitch);
	else
		GS_ACQUIRED(call, ALLOC, .size = width * height);
}

void gs_rec_alloc_pitch_v1(const struct gs_call *call, CUdeviceptr_v1 *out, unsigned *pitch,
    unsigned width, unsigned height, unsigned element)
{
	bool ok = GS_OK(call);
	CUdeviceptr address = ok ? *out : 0;
	size_t wide = ok ? *pitch : 0;
	gs_rec_alloc_pitch(call, &address, &wide, width, height, element);
}

void gs_rec_alloc_managed(const struct gs_call *call, CUdeviceptr *out, size_t bytes,
    unsigned flags)
{
	GS_ACQUIRED(call, MANAGED, .address = GS_OK(call) ? *out : 0, .size = bytes);
}

void gs_rec_free(const struct gs_call *call, CUdeviceptr address)
{
	GS_RELEASED(call, FREE, .address = address);
}

/* ---- host memory ---- */

void gs_rec_host_alloc(const struct gs_call *call, void **out, size_t bytes, ...)
{
	GS_ACQUIRED(call, HOST_ALLOC, .address = GS_OK(call) ? GS_HANDLE(*out) : 0, .size = bytes);
}

void gs_rec_host_free(const struct gs_call *call, void *address)
{
	GS_RELEASED(call, HOST_FREE, .address = GS_HANDLE(address));
}

void gs_rec_host_register(const struct gs_call *call, void *address, size_t bytes, unsigned flags)
{
	GS_ACQUIRED(call, HOST_REGISTER, .address = GS_HANDLE(address), .size = bytes);
}

void gs_rec_host_unregister(const struct gs_call *call, void *address)
{
	GS_RELEASED(call, HOST_UNREGISTER, .address = GS_HANDLE(address));
}

/* ---- in stream order ---- */

void gs_rec_alloc_async(const struct gs_call *call, CUdeviceptr *out, size_t bytes,
    CUstream stream)
{
	GS_ACQUIRED(call, ALLOC_ASYNC, .address = GS_OK(call) ? *out : 0, .size = bytes,
	    .stream = stream, .flags = GF_FLAG_ASYNC | gs_captured_flag(call, stream));
}

void gs_rec_alloc_from_pool(const struct gs_call *call, CUdeviceptr *out, size_t bytes,
    CUmemoryPool pool, CUstream stream)
{
	GS_ACQUIRED(call, ALLOC_ASYNC, .address = GS_OK(call) ? *out : 0, .size = bytes,
	    .handle = GS_HANDLE(pool), .stream = stream,
	    .flags = GF_FLAG_ASYNC | gs_captured_flag(call, stream));
}

void gs_rec_free_async(const struct gs_call *call, CUdeviceptr address, CUstream stream)
{
	GS_RELEASED(call, FREE_ASYNC, .address = address, .stream = stream,
	    .flags = GF_FLAG_ASYNC | gs_captured_flag(call, stream));
}

void gs_rec_pool_create(const struct gs_call *call, CUmemoryPool *out, ...)
{
	GS_ACQUIRED(call, POOL_CREATE, .handle = GS_OK(call) ? GS_HANDLE(*out) : 0);
}

void gs_rec_pool_destroy(const struct gs_call *call, CUmemoryPool pool)
{
	GS_RELEASED(call, POOL_DESTROY, .handle = GS_HANDLE(pool));
}

void gs_rec_pool_trim(const struct gs_call *call, CUmemoryPool pool, size_t keep)
{
	GS_RELEASED(call, POOL_TRIM, .handle = GS_HANDLE(pool), .size = keep);
}

void gs_rec_pool_import(const struct gs_call *call, CUmemoryPool *out, ...)
{
	GS_ACQUIRED(call, POOL_CREATE, .handle = GS_OK(call) ? GS_HANDLE(*out) : 0);
}

void gs_rec_pool_import_pointer(const struct gs_call *call, CUdeviceptr *out, CUmemoryPool pool,
    ...)
{
	GS_ACQUIRED(call, IPC_OPEN, .address = GS_OK(call) ? *out : 0, .handle = GS_HANDLE(pool));
}

/* ---- virtual memory management ---- */

void gs_rec_reserve(const struct gs_call *call, CUdeviceptr *out, size_t bytes, ...)
{
	GS_ACQUIRED(call, RESERVE, .address = GS_OK(call) ? *out : 0, .size = bytes);
}

void gs_rec_unreserve(const struct gs_call *call, CUdeviceptr address, size_t bytes)
{
	GS_RELEASED(call, UNRESERVE, .address = address, .size = bytes);
}

void gs_rec_create(const struct gs_call *call, CUmemGenericAllocationHandle *out, size_t bytes,
    const CUmemAllocationProp *properties, unsigned long long flags)
{
	uint32_t device_plus_one = 0;
	if (properties && properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE)
		device_plus_one = (uint32_t)properties->location.id + 1;
	GS_ACQUIRED(call, CREATE, .handle = GS_OK(call) ? *out : 0, .size = bytes,
	    .device_plus_one = device_plus_one);
}

void gs_rec_release(const struct gs_call *call, CUmemGenericAllocationHandle handle)
{
	GS_RELEASED(call, RELEASE, .handle = handle);
}

void gs_rec_map(const struct gs_call *call, CUdeviceptr address, size_t bytes, size_t offset,
    CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	GS_ACQUIRED(call, MAP, .address = address, .size = bytes, .handle = handle);
}

void gs_rec_unmap(const struct gs_call *call, CUdeviceptr address, size_t bytes)
{
	GS_RELEASED(call, UNMAP, .address = address, .size = bytes);
}

void gs_rec_access(const struct gs_call *call, CUdeviceptr address, size_t bytes, ...)
{
	GS_ACQUIRED(call, ACCESS, .address = address, .size = bytes);
}

void gs_rec_retain(const struct gs_call *call, CUmemGenericAllocationHandle *out, void *address)
{
	GS_ACQUIRED(call, RETAIN, .address = GS_HANDLE(address), .handle = GS_OK(call) ? *out : 0);
}

void gs_rec_export(const struct gs_call *call, void *out, CUmemGenericAllocationHandle handle, ...)
{
	GS_ACQUIRED(call, EXPORT, .handle = handle);
}

void gs_rec_import(const struct gs_call *call, CUmemGenericAllocationHandle *out, ...)
{
	GS_ACQUIRED(call, IMPORT, .handle = GS_OK(call) ? *out : 0);
}

void gs_rec_ipc_open(const struct gs_call *call, CUdeviceptr *out, ...)
{
	GS_ACQUIRED(call, IPC_OPEN, .address = GS_OK(call) ? *out : 0);
}

void gs_rec_ipc_close(const struct gs_call *call, CUdeviceptr address)
{
	GS_RELEASED(call, IPC_CLOSE, .address = address);
}

/* ---- multicast objects ---- */

void gs_rec_multicast_create(const struct gs_call *call, CUmemGenericAllocationHandle *out,
    const CUmulticastObjectProp *properties)
{
	GS_ACQUIRED(call, MULTICAST, .handle = GS_OK(call) ? *out : 0,
	    .size = properties ? properties->size : 0);
}

void gs_rec_multicast_device(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    CUdevice device)
{
	GS_ACQUIRED(call, MULTICAST, .handle = handle, .device_plus_one = (uint32_t)device + 1);
}

void gs_rec_multicast_bind(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    size_t offset, CUmemGenericAllocationHandle memory, size_t memory_offset, size_t bytes, ...)
{
	GS_ACQUIRED(call, MULTICAST, .handle = handle, .size = bytes);
}

void gs_rec_multicast_bind_address(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    size_t offset, CUdeviceptr address, size_t bytes, ...)
{
	GS_ACQUIRED(call, MULTICAST, .handle = handle, .address = address, .size = bytes);
}

void gs_rec_multicast_unbind(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    CUdevice device, size_t offset, size_t bytes)
{
	GS_RELEASED(call, MULTICAST, .handle = handle, .size = bytes, .device_plus_one = (uint32_t)device + 1);
}

/* ---- arrays ---- */

/* Bytes of an element's channel by CUarray_format, 0 for packed and compressed formats. */
static size_t gs_format_bytes(unsigned format)
{
	switch (format) {
	case 0x01: /* 8-bit integers */
	case 0x08:
		return 1;
	case 0x02: /* 16-bit integers and half precision */
	case 0x09:
	case 0x10:
		return 2;
	case 0x03: /* 32-bit integers and single precision */
	case 0x0a:
	case 0x20:
		return 4;
	default:
		return 0;
	}
}

static size_t gs_or_one(size_t extent)
{
	return extent ? extent : 1; /* an extent of 0 means fewer dimensions */
}

void gs_rec_array_create(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY_DESCRIPTOR *shape)
{
	size_t bytes = !shape ? 0
			      : shape->Width * gs_or_one(shape->Height) * shape->NumChannels *
		gs_format_bytes(shape->Format);
	GS_ACQUIRED(call, ARRAY_CREATE, .handle = GS_OK(call) ? GS_HANDLE(*out) : 0, .size = bytes);
}

static size_t gs_shape_bytes(const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	return !shape ? 0
		      : shape->Width * gs_or_one(shape->Height) * gs_or_one(shape->Depth) *
		shape->NumChannels * gs_format_bytes(shape->Format);
}

void gs_rec_array_3d_create(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY3D_DESCRIPTOR *shape)
{
	GS_ACQUIRED(call, ARRAY_CREATE, .handle = GS_OK(call) ? GS_HANDLE(*out) : 0,
	    .size = gs_shape_bytes(shape));
}

void gs_rec_array_create_v1(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY_DESCRIPTOR_v1 *s)
{
	CUDA_ARRAY_DESCRIPTOR shape = {0};
	if (s)
		shape = (CUDA_ARRAY_DESCRIPTOR){s->Width, s->Height, s->Format, s->NumChannels};
	gs_rec_array_create(call, out, s ? &shape : NULL);
}

void gs_rec_array_3d_create_v1(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY3D_DESCRIPTOR_v1 *s)
{
	CUDA_ARRAY3D_DESCRIPTOR shape = {0};
	if (s)
		shape = (CUDA_ARRAY3D_DESCRIPTOR){s->Width, s->Height, s->Depth, s->Format,
		    s->NumChannels, s->Flags};
	gs_rec_array_3d_create(call, out, s ? &shape : NULL);
}

void gs_rec_mipmapped_create(const struct gs_call *call, CUmipmappedArray *out,
    const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels)
{
	/* The size is that of the largest level. */
	GS_ACQUIRED(call, ARRAY_CREATE, .handle = GS_OK(call) ? GS_HANDLE(*out) : 0,
	    .size = gs_shape_bytes(shape));
}

void gs_rec_array_destroy(const struct gs_call *call, void *array)
{
	GS_RELEASED(call, ARRAY_DESTROY, .handle = GS_HANDLE(array));
}

/* ---- how much there is ---- */

static void gs_mem_info_at(const struct gs_call *call, uint64_t free_bytes, uint64_t total_bytes)
{
	uint16_t device = gs_device(call->thread);
	struct gf_mem_info *record = GS_RECORD(call->thread, mem_info);
	if (!record)
		return;
	record->time = call->start;
	record->duration = call->end - call->start;
	record->free_bytes = free_bytes;
	record->total_bytes = total_bytes;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	GS_PUBLISH(record, mem_info);
}

void gs_rec_mem_info(const struct gs_call *call, size_t *free_bytes, size_t *total_bytes)
{
	bool ok = GS_OK(call);
	gs_mem_info_at(call, ok && free_bytes ? *free_bytes : 0,
	    ok && total_bytes ? *total_bytes : 0);
}

void gs_rec_mem_info_v1(const struct gs_call *call, unsigned *free_bytes, unsigned *total_bytes)
{
	bool ok = GS_OK(call);
	gs_mem_info_at(call, ok && free_bytes ? *free_bytes : 0,
	    ok && total_bytes ? *total_bytes : 0);
}
