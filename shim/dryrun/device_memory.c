/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/device_memory.h"

#include <stdlib.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/host_memory.h"
#include "shim/dryrun/ipc_memory.h"
#include "shim/dryrun/memory_pools.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/streams.h"

_Static_assert(sizeof(struct gd_block) <= GD_CELL_BYTES, "a block fits in a cell");

pthread_mutex_t gd_memory_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gd_block *all_blocks;

static struct gd_block *new_block(uint64_t bytes)
{
	struct gd_block *block = gd_object_new(GD_TYPE_BLOCK);
	if (!block)
		return NULL;
	block->slots = gd_slots(bytes);
	block->base = gd_space_take(block->slots);
	if (block->base)
		return block;
	gd_object_free(block, GD_TYPE_BLOCK);
	return NULL;
}

CUresult gd_memory_new(const struct gd_context *context, unsigned device, enum gd_block_kind kind,
    uint64_t bytes, uint64_t charged, struct gd_block **block_out)
{
	if (charged && (bytes > gd_space_bytes ||
			   !gd_budget_take(device, charged, gd_facts.total_bytes, false)))
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct gd_block *block = new_block(bytes);
	if (!block) {
		if (charged)
			gd_budget_give(device, charged, false);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	block->kind = kind;
	block->device = device;
	block->bytes = bytes;
	block->charged_bytes = charged;
	block->context_id = context ? context->id : 0;
	block->id = gd_next_id();
	if (kind != GD_BLOCK_RESERVED)
		gd_space_map(block->base, block->base, block->slots);
	pthread_mutex_lock(&gd_memory_lock);
	block->next = all_blocks;
	block->link = &all_blocks;
	if (all_blocks)
		all_blocks->link = &block->next;
	all_blocks = block;
	pthread_mutex_unlock(&gd_memory_lock);
	gd_object_publish(block, GD_TYPE_BLOCK);
	gd_space_set_block(block->base, block->slots, block);
	*block_out = block;
	return CUDA_SUCCESS;
}

void gd_memory_delete(struct gd_block *block)
{
	uint64_t base = block->base, slots = block->slots, charged = block->charged_bytes;
	unsigned device = block->device;
	gd_space_set_block(base, slots, NULL);
	gd_ipc_memory_ends(block);
	if (block->kind != GD_BLOCK_RESERVED)
		gd_space_clear(base, slots << GD_SLOT_SHIFT);
	gd_space_unmap(base, slots);
	pthread_mutex_lock(&gd_memory_lock);
	*block->link = block->next;
	if (block->next)
		block->next->link = block->link;
	pthread_mutex_unlock(&gd_memory_lock);
	free(block->mappings);
	gd_object_free(block, GD_TYPE_BLOCK);
	gd_space_give(base, slots);
	if (charged)
		gd_budget_give(device, charged, false);
}

struct gd_block *gd_memory_find(
    bool (*accept)(const struct gd_block *block, const void *argument), const void *argument)
{
	pthread_mutex_lock(&gd_memory_lock);
	struct gd_block *block = all_blocks;
	while (block && !accept(block, argument))
		block = block->next;
	pthread_mutex_unlock(&gd_memory_lock);
	return block;
}

struct gd_block *gd_memory_at(uint64_t address)
{
	struct gd_block *block = gd_space_block(address);
	if (!block || block->kind == GD_BLOCK_PHYSICAL || address - block->base >= block->bytes)
		return NULL;
	return block;
}

bool gd_memory_range(uint64_t address, uint64_t bytes)
{
	const struct gd_block *block = gd_memory_at(address);
	if (!block)
		return false;
	if (bytes > block->bytes - (address - block->base))
		return false;
	return block->kind != GD_BLOCK_RESERVED || gd_space_mapped(address, bytes);
}

static bool is_of_context(const struct gd_block *block, const void *context)
{
	return block->context_id == ((const struct gd_context *)context)->id;
}

void gd_memory_drop_context(const struct gd_context *context)
{
	struct gd_block *block;
	while ((block = gd_memory_find(is_of_context, context)))
		gd_memory_delete(block);
}

void gd_memory_notice(
    const struct gd_block *block, enum gd_notice_kind kind, const struct gd_stream *stream)
{
	struct gd_notice notice = {.kind = kind,
	    .device = block->device,
	    .context_id = stream ? stream->context_id : block->context_id,
	    .stream_id = stream ? stream->id : 0,
	    .memory = GD_MEMORY_DEVICE,
	    .asynchronous = stream != NULL,
	    .address = block->base,
	    .bytes = block->bytes};
	if (block->pool)
		notice.pool = gd_pool_figures(block->pool);
	gd_notice_send(&notice);
}

static CUresult allocate(CUdeviceptr *address_out, size_t bytes)
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if (!address_out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = gd_gate_size(bytes);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (bytes > gd_facts.total_bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct gd_block *block;
	result = gd_memory_new(
	    context, context->device, GD_BLOCK_PLAIN, bytes, gd_memory_rounded(bytes), &block);
	if (result != CUDA_SUCCESS)
		return result;
	GD_COUNT(context->device, mallocs, 1);
	*address_out = block->base;
	if (gd_watched())
		gd_memory_notice(block, GD_NOTICE_ALLOCATED, NULL);
	return CUDA_SUCCESS;
}

GD_API(cuMemAlloc_v2, (CUdeviceptr * address_out, size_t bytes), (address_out, bytes))
{
	return allocate(address_out, bytes);
}

GD_API(cuMemAllocPitch_v2,
    (CUdeviceptr * address_out, size_t *pitch_out, size_t width, size_t height,
	unsigned int element),
    (address_out, pitch_out, width, height, element))
{
	size_t pitch = (width + 511) & ~(size_t)511, bytes;
	if (!pitch_out || (element != 4 && element != 8 && element != 16) || !width || !height)
		return CUDA_ERROR_INVALID_VALUE;
	if (pitch < width || __builtin_mul_overflow(pitch, height, &bytes))
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = allocate(address_out, bytes);
	if (result == CUDA_SUCCESS)
		*pitch_out = pitch;
	return result;
}

GD_API(cuMemFree_v2, (CUdeviceptr address), (address))
{
	if (!address)
		return CUDA_SUCCESS;
	if (!gd_context_current())
		return gd_context_error();
	CUresult result = gd_capture_refuse_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	struct gd_block *block = gd_space_block(address);
	/* Queued work may still use the memory, or free it. */
	if (!gd_device_wait(block ? (int)block->device : -1))
		return CUDA_ERROR_NOT_PERMITTED;
	block = gd_space_block(address);
	if (!block)
		return gd_host_free_managed(address);
	if (block->base != address || block->internal || block->kind == GD_BLOCK_RESERVED ||
	    block->kind == GD_BLOCK_PHYSICAL || !gd_memory_leaves(block))
		return CUDA_ERROR_INVALID_VALUE;
	unsigned device = block->device;
	if (gd_watched())
		gd_memory_notice(block, GD_NOTICE_FREED, NULL);
	if (block->kind == GD_BLOCK_POOLED)
		gd_pool_free(block);
	else
		gd_memory_delete(block);
	GD_COUNT(device, frees, 1);
	return CUDA_SUCCESS;
}

GD_API(cuMemGetAddressRange_v2, (CUdeviceptr * base_out, size_t *bytes_out, CUdeviceptr address),
    (base_out, bytes_out, address))
{
	struct gd_host_range range;
	const struct gd_block *block = gd_memory_at(address);
	if (!gd_context_current())
		return gd_context_error();
	if (block) {
		range.start = block->base;
		range.bytes = block->bytes;
	} else if (!gd_host_find(address, &range)) {
		return CUDA_ERROR_NOT_FOUND;
	}
	if (base_out)
		*base_out = range.start;
	if (bytes_out)
		*bytes_out = range.bytes;
	return CUDA_SUCCESS;
}

GD_API(cuMemGetInfo_v2, (size_t * free_out, size_t *total_out), (free_out, total_out))
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	uint64_t used = gd_budget_used(context->device);
	if (free_out)
		*free_out = used < gd_facts.total_bytes ? gd_facts.total_bytes - used : 0;
	if (total_out)
		*total_out = gd_facts.total_bytes;
	return CUDA_SUCCESS;
}
