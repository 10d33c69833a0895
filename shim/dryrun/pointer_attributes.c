/* SPDX-License-Identifier: Apache-2.0 */
/* cuPointer*: what kind of memory an address is. */
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/host_memory.h"
#include "shim/dryrun/ipc_memory.h"

/* What is known of an address, whatever its kind. */
struct pointer {
	CUdeviceptr address;
	bool known;
	CUmemorytype type;
	bool managed, mapped;
	bool pooled, sync_memops;
	bool ipc_capable, exportable;
	uint32_t device;
	uint64_t base, bytes, id;
	uint64_t mapping_base, mapping_bytes; /* 0: leads nowhere */
	struct gd_context *context;
	CUmemoryPool pool;
};

/* The context of an allocation: its device's primary one, unless it was made in another. */
static struct gd_context *context_of(unsigned device, uint64_t context_id)
{
	struct gd_context *current = gd_context_current();
	return current && current->id == context_id ? current : gd_context_primary(device);
}

/* Of reserved addresses the part that one cuMemMap made. */
static void describe_mapping(struct pointer *p, const struct gd_block *block)
{
	struct gd_mapping mapping;
	if (block->kind != GD_BLOCK_RESERVED) {
		p->mapping_base = block->base;
		p->mapping_bytes = block->bytes;
	} else if (gd_memory_mapping(block, p->address, &mapping)) {
		p->mapping_base = mapping.address;
		p->mapping_bytes = mapping.bytes;
	}
}

static struct pointer look_up(CUdeviceptr address)
{
	struct gd_host_range range;
	struct pointer p = {.address = address};
	const struct gd_block *block = gd_memory_at(address), *memory = gd_memory_behind(address);
	if (block) {
		p.known = true;
		p.type = CU_MEMORYTYPE_DEVICE;
		p.mapped = memory != NULL;
		p.device = memory ? memory->device : block->device;
		p.base = block->base;
		p.bytes = block->bytes;
		p.id = memory ? memory->id : block->id;
		p.pooled = block->kind == GD_BLOCK_POOLED;
		p.pool = (CUmemoryPool)block->pool;
		p.sync_memops = block->sync_memops;
		p.ipc_capable = gd_ipc_memory_capable(block);
		p.exportable = memory && memory->exportable;
		describe_mapping(&p, block);
		p.context = block->context_id ? context_of(p.device, block->context_id) : NULL;
	} else if (gd_host_find(address, &range)) {
		p.known = p.mapped = true;
		p.managed = range.kind == GD_HOST_MANAGED;
		p.type = p.managed ? CU_MEMORYTYPE_UNIFIED : CU_MEMORYTYPE_HOST;
		p.device = range.device;
		p.base = p.mapping_base = range.start;
		p.bytes = p.mapping_bytes = range.bytes;
		p.id = range.id;
		p.context = context_of(p.device, range.context_id);
	}
	return p;
}

#define ANSWER(type, value) \
	do { \
		type answer = (value); \
		memcpy(out, &answer, sizeof(answer)); \
		return CUDA_SUCCESS; \
	} while (0)

static CUresult answer_place(const struct pointer *p, CUpointer_attribute attribute, void *out)
{
	bool host = p->type == CU_MEMORYTYPE_HOST || p->managed;
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_CONTEXT:
		ANSWER(CUcontext, (CUcontext)p->context);
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		ANSWER(CUmemorytype, p->managed ? CU_MEMORYTYPE_DEVICE : p->type);
	case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
		ANSWER(CUdeviceptr, p->address);
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		if (!host)
			return CUDA_ERROR_INVALID_VALUE;
		ANSWER(void *, (void *)(uintptr_t)p->address);
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		ANSWER(int, (int)p->device);
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		ANSWER(CUdeviceptr, p->base);
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		ANSWER(size_t, p->bytes);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

static CUresult answer(const struct pointer *p, CUpointer_attribute attribute, void *out)
{
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
		ANSWER(unsigned, p->sync_memops);
	case CU_POINTER_ATTRIBUTE_BUFFER_ID:
		ANSWER(unsigned long long, p->id);
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		ANSWER(unsigned, p->managed);
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
		ANSWER(int, p->ipc_capable);
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		ANSWER(int, 0);
	case CU_POINTER_ATTRIBUTE_MAPPED:
		ANSWER(int, p->mapped);
	case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
		ANSWER(unsigned long long,
		    p->exportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0);
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
		ANSWER(unsigned, CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE);
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		ANSWER(CUmemoryPool, p->pooled ? p->pool : NULL);
	case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
		ANSWER(size_t, p->mapping_bytes);
	case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
		ANSWER(void *, (void *)(uintptr_t)p->mapping_base);
	case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
		ANSWER(unsigned long long, p->id);
	default:
		return answer_place(p, attribute, out);
	}
}

GD_API(cuPointerGetAttribute, (void *out, CUpointer_attribute attribute, CUdeviceptr address),
    (out, attribute, address))
{
	if (!gd_context_current())
		return gd_context_error();
	if (!out)
		return CUDA_ERROR_INVALID_VALUE;
	struct pointer p = look_up(address);
	return p.known ? answer(&p, attribute, out) : CUDA_ERROR_INVALID_VALUE;
}

/* Nothing is known: the values that the driver documents for such an address. */
static void answer_unknown(CUpointer_attribute attribute, void *out)
{
	const int none = -2;
	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		memcpy(out, &none, sizeof(none));
		break;
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
	case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
	case CU_POINTER_ATTRIBUTE_MAPPED:
	case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
	case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
	case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
		memset(out, 0, sizeof(int));
		break;
	default:
		memset(out, 0, sizeof(uint64_t));
	}
}

GD_API(cuPointerGetAttributes,
    (unsigned int count, CUpointer_attribute *attributes, void **outs, CUdeviceptr address),
    (count, attributes, outs, address))
{
	if (!gd_context_current())
		return gd_context_error();
	if (!count || !attributes || !outs)
		return CUDA_ERROR_INVALID_VALUE;
	struct pointer p = look_up(address);
	for (unsigned i = 0; i < count; i++) {
		if (!outs[i])
			return CUDA_ERROR_INVALID_VALUE;
		if (!p.known || answer(&p, attributes[i], outs[i]) != CUDA_SUCCESS)
			answer_unknown(attributes[i], outs[i]);
	}
	return CUDA_SUCCESS;
}

GD_API(cuPointerSetAttribute,
    (const void *value, CUpointer_attribute attribute, CUdeviceptr address),
    (value, attribute, address))
{
	struct gd_block *block = gd_memory_at(address);
	unsigned on;
	if (!value || attribute != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS || !block)
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(&on, value, sizeof(on));
	block->sync_memops = on != 0;
	return CUDA_SUCCESS;
}
