/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory pools and stream-ordered allocation.
 *
 * A pool reserves what its allocations need at their highest and keeps it up to its release
 * threshold: an allocation first uses what the pool holds free, whatever its place, as the driver
 * does by mapping pages anew.  Reserved is therefore exact, without the chunks of a real driver.
 */
#include "shim/dryrun/memory_pools.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/graph_memory.h"
#include "shim/dryrun/graphs.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/streams.h"
#include "shim/dryrun/visible_devices.h"

_Static_assert(sizeof(struct gd_pool) <= GD_CELL_BYTES, "a pool fits in a cell");

struct gd_pool *gd_pools_standard[GD_MAX_DEVICES];
struct gd_pool *gd_pools_chosen[GD_MAX_DEVICES];

struct gd_pool *gd_pool_new(unsigned device)
{
	struct gd_pool *pool = gd_object_new(GD_TYPE_POOL);
	if (!pool)
		return NULL;
	pool->device = device;
	pool->reuse[0] = pool->reuse[1] = pool->reuse[2] = 1;
	pthread_mutex_init(&pool->lock, NULL);
	gd_object_publish(pool, GD_TYPE_POOL);
	return pool;
}

bool gd_pools_start(void)
{
	for (unsigned d = 0; d < gd_visible_count; d++) {
		gd_pools_standard[d] = gd_pools_chosen[d] = gd_pool_new(d);
		if (!gd_pools_standard[d])
			return false;
		gd_pools_standard[d]->standard = true;
	}
	return true;
}

static void raise_high(uint64_t *high, uint64_t value)
{
	if (value > *high)
		*high = value;
}

/* Give back what the pool holds above `keep`; the lock is held. */
void gd_pool_trim(struct gd_pool *pool, uint64_t keep)
{
	if (keep < pool->used_bytes)
		keep = pool->used_bytes;
	if (pool->reserved_bytes <= keep)
		return;
	gd_budget_give(pool->device, pool->reserved_bytes - keep, false);
	pool->reserved_bytes = keep;
}

void gd_pool_delete(struct gd_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
	gd_object_free(pool, GD_TYPE_POOL);
}

struct gd_notice_pool gd_pool_figures(struct gd_pool *pool)
{
	pthread_mutex_lock(&pool->lock);
	struct gd_notice_pool figures = {.address = (uint64_t)(uintptr_t)pool,
	    .threshold_bytes = pool->threshold_bytes,
	    .reserved_bytes = pool->reserved_bytes,
	    .used_bytes = pool->used_bytes};
	pthread_mutex_unlock(&pool->lock);
	return figures;
}

/* Take bytes of the pool, growing it as needed; the lock is held. */
static bool take(struct gd_pool *pool, uint64_t bytes)
{
	uint64_t free_bytes = pool->reserved_bytes - pool->used_bytes;
	if (free_bytes < bytes) {
		uint64_t more = bytes - free_bytes;
		if (pool->most_bytes && pool->reserved_bytes + more > pool->most_bytes)
			return false;
		if (!gd_budget_take(pool->device, more, gd_facts.total_bytes, false))
			return false;
		pool->reserved_bytes += more;
	}
	pool->used_bytes += bytes;
	pool->allocations++;
	raise_high(&pool->reserved_high_bytes, pool->reserved_bytes);
	raise_high(&pool->used_high_bytes, pool->used_bytes);
	return true;
}

/* @return whether the pool ends with this allocation */
static bool give(struct gd_pool *pool, uint64_t bytes)
{
	pthread_mutex_lock(&pool->lock);
	pool->used_bytes -= bytes;
	pool->allocations--;
	gd_pool_trim(pool, pool->destroyed ? 0 : pool->threshold_bytes);
	bool last = pool->destroyed && !pool->allocations;
	pthread_mutex_unlock(&pool->lock);
	return last;
}

void gd_pool_give_block(struct gd_block *block)
{
	struct gd_pool *pool = block->pool;
	uint64_t bytes = gd_memory_rounded(block->bytes);
	gd_memory_delete(block);
	if (give(pool, bytes))
		gd_pool_delete(pool);
}

void gd_pool_free(struct gd_block *block)
{
	if (!__atomic_load_n(&block->graph_memory, __ATOMIC_ACQUIRE)) {
		gd_pool_give_block(block);
		return;
	}
	pthread_mutex_lock(&gd_graph_lock);
	/* The next launch of the graph brings it back. */
	__atomic_store_n(&block->leaving, false, __ATOMIC_RELEASE);
	gd_graph_memory_free(block->graph_memory);
	pthread_mutex_unlock(&gd_graph_lock);
}

void gd_pools_trim(unsigned device)
{
	struct gd_pool *pool = gd_pools_standard[device];
	pthread_mutex_lock(&pool->lock);
	gd_pool_trim(pool, pool->threshold_bytes);
	pthread_mutex_unlock(&pool->lock);
}

static CUresult take_block(struct gd_pool *pool, size_t bytes, struct gd_block **block_out)
{
	if (bytes > gd_facts.total_bytes)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&pool->lock);
	bool taken = take(pool, gd_memory_rounded(bytes));
	pthread_mutex_unlock(&pool->lock);
	if (!taken)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = gd_memory_new(NULL, pool->device, GD_BLOCK_POOLED, bytes, 0, block_out);
	if (result == CUDA_SUCCESS)
		(*block_out)->pool = pool;
	else
		give(pool, gd_memory_rounded(bytes));
	return result;
}

/* In a capture the memory is the graph's. @return CUDA_ERROR_NOT_READY: nothing is captured */
static CUresult allocate_captured(
    CUdeviceptr *address_out, size_t bytes, unsigned device, struct gd_stream *stream)
{
	CUDA_MEM_ALLOC_NODE_PARAMS parameters = {.bytesize = bytes};
	parameters.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
	parameters.poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	parameters.poolProps.location.id = (int)device;
	struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
	if (!gd_stream_captured(stream))
		return gd_capture_refuse_legacy(stream);
	pthread_mutex_lock(&gd_graph_lock);
	CUresult result = gd_graph_memory_new(&parameters, &work.memory);
	pthread_mutex_unlock(&gd_graph_lock);
	if (result != CUDA_SUCCESS)
		return result;
	result = gd_capture_add(stream, &work);
	if (result == CUDA_SUCCESS) {
		*address_out = parameters.dptr;
		return CUDA_SUCCESS;
	}
	pthread_mutex_lock(&gd_graph_lock);
	gd_graph_memory_drop(work.memory);
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

static CUresult allocate_in(
    CUdeviceptr *address_out, size_t bytes, struct gd_pool *pool, CUstream handle, bool per_thread)
{
	struct gd_stream *stream;
	struct gd_block *block;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!address_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!bytes) {
		*address_out = 0;
		return CUDA_SUCCESS;
	}
	if (!pool)
		pool = __atomic_load_n(&gd_pools_chosen[stream->device], __ATOMIC_ACQUIRE);
	result = gd_gate_size(bytes);
	if (result != CUDA_SUCCESS)
		return result;
	result = CUDA_ERROR_NOT_READY;
	if (gd_capture_touches(stream))
		result = allocate_captured(address_out, bytes, pool->device, stream);
	if (result == CUDA_ERROR_NOT_READY) {
		result = take_block(pool, bytes, &block);
		if (result == CUDA_SUCCESS)
			*address_out = block->base;
		if (result == CUDA_SUCCESS && gd_watched())
			gd_memory_notice(block, GD_NOTICE_ALLOCATED, stream);
	}
	if (result == CUDA_SUCCESS)
		GD_COUNT(pool->device, mallocs, 1);
	return result;
}

GD_API_PTSZ(cuMemAllocAsync, (CUdeviceptr * address_out, size_t bytes, CUstream stream),
    (address_out, bytes, stream))
{
	return allocate_in(address_out, bytes, NULL, stream, per_thread);
}

GD_API_PTSZ(cuMemAllocFromPoolAsync,
    (CUdeviceptr * address_out, size_t bytes, CUmemoryPool pool, CUstream stream),
    (address_out, bytes, pool, stream))
{
	if (!gd_pool_get(pool))
		return CUDA_ERROR_INVALID_VALUE;
	return allocate_in(address_out, bytes, gd_pool_get(pool), stream, per_thread);
}

struct release {
	struct gd_block *block;
	uint32_t generation;
};

static void release_effect(const void *argument)
{
	const struct release *release = argument;
	if (!gd_object_get(release->block, GD_TYPE_BLOCK) ||
	    release->block->object.generation != release->generation)
		return;
	if (release->block->kind == GD_BLOCK_POOLED)
		gd_pool_free(release->block);
	else
		gd_memory_delete(release->block);
}

GD_API_PTSZ(cuMemFreeAsync, (CUdeviceptr address, CUstream handle), (address, handle))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!address)
		return CUDA_SUCCESS;
	struct gd_block *block = gd_space_block(address);
	if (!block || block->base != address || block->internal ||
	    (block->kind != GD_BLOCK_POOLED && block->kind != GD_BLOCK_PLAIN))
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_capture_touches(stream)) {
		struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .address = address};
		result = gd_capture_add(stream, &work);
		if (result == CUDA_SUCCESS)
			GD_COUNT(stream->device, frees, 1);
		if (result != CUDA_ERROR_NOT_READY)
			return result;
	}
	if (!gd_memory_leaves(block))
		return CUDA_ERROR_INVALID_VALUE;
	struct release release = {block, block->object.generation};
	GD_COUNT(block->device, frees, 1);
	if (gd_watched())
		gd_memory_notice(block, GD_NOTICE_FREED, stream);
	/* The clock does not delay it, a host function in front of it does. */
	struct gd_operation operation = {.kind = GD_OPERATION_SILENT};
	gd_enqueue(stream, &operation, release_effect, &release, sizeof(release));
	return CUDA_SUCCESS;
}
