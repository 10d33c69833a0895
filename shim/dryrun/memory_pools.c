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

struct gd_pool {
	struct gd_object object;
	uint32_t device;
	bool standard; /* the device's default pool: never destroyed */
	bool destroyed; /* ends with its last allocation */
	pthread_mutex_t lock; /* everything below; the budget's lock nests in it */
	uint64_t threshold_bytes;
	uint64_t reserved_bytes, reserved_high_bytes;
	uint64_t used_bytes, used_high_bytes;
	uint64_t allocations;
	uint64_t most_bytes; /* of CUmemPoolProps.maxSize; 0: none */
	int reuse[3]; /* attributes 1 to 3, kept for the caller */
	uint64_t access; /* devices that may use it, besides its own */
};
_Static_assert(sizeof(struct gd_pool) <= GD_CELL_BYTES, "a pool fits in a cell");

static struct gd_pool *standard[GD_MAX_DEVICES];
static struct gd_pool *chosen[GD_MAX_DEVICES]; /* cuDeviceSetMemPool; atomic */

static struct gd_pool *new_pool(unsigned device)
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
	for (unsigned d = 0; d < gd_facts.count; d++) {
		standard[d] = chosen[d] = new_pool(d);
		if (!standard[d])
			return false;
		standard[d]->standard = true;
	}
	return true;
}

static struct gd_pool *get(CUmemoryPool handle)
{
	return gd_object_get(handle, GD_TYPE_POOL);
}

static void raise_high(uint64_t *high, uint64_t value)
{
	if (value > *high)
		*high = value;
}

/* Give back what the pool holds above `keep`; the lock is held. */
static void trim(struct gd_pool *pool, uint64_t keep)
{
	if (keep < pool->used_bytes)
		keep = pool->used_bytes;
	if (pool->reserved_bytes <= keep)
		return;
	gd_budget_give(pool->device, pool->reserved_bytes - keep, false);
	pool->reserved_bytes = keep;
}

static void delete_pool(struct gd_pool *pool)
{
	pthread_mutex_destroy(&pool->lock);
	gd_object_free(pool, GD_TYPE_POOL);
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
	trim(pool, pool->destroyed ? 0 : pool->threshold_bytes);
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
		delete_pool(pool);
}

void gd_pool_free(struct gd_block *block)
{
	if (!__atomic_load_n(&block->graph_memory, __ATOMIC_ACQUIRE)) {
		gd_pool_give_block(block);
		return;
	}
	pthread_mutex_lock(&gd_graph_lock);
	gd_graph_memory_free(block->graph_memory);
	pthread_mutex_unlock(&gd_graph_lock);
}

void gd_pools_trim(unsigned device)
{
	struct gd_pool *pool = standard[device];
	pthread_mutex_lock(&pool->lock);
	trim(pool, pool->threshold_bytes);
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
		pool = __atomic_load_n(&chosen[stream->device], __ATOMIC_ACQUIRE);
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
	if (!get(pool))
		return CUDA_ERROR_INVALID_VALUE;
	return allocate_in(address_out, bytes, get(pool), stream, per_thread);
}

struct release {
	struct gd_block *block;
	uint32_t generation;
};

static void release_effect(const void *argument)
{
	const struct release *release = argument;
	if (release->block->object.generation != release->generation)
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
	struct release release = {block, block->object.generation};
	GD_COUNT(block->device, frees, 1);
	/* The clock does not delay it, a host function in front of it does. */
	if (gd_operations_simple() || gd_stream_idle(stream)) {
		release_effect(&release);
		return CUDA_SUCCESS;
	}
	struct gd_operation operation = {.kind = 0};
	gd_enqueue(stream, &operation, release_effect, &release, sizeof(release));
	return CUDA_SUCCESS;
}

/* ---- the pools themselves ---- */

GD_API(cuMemPoolTrimTo, (CUmemoryPool handle, size_t keep), (handle, keep))
{
	struct gd_pool *pool = get(handle);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pool->lock);
	trim(pool, keep);
	pthread_mutex_unlock(&pool->lock);
	return CUDA_SUCCESS;
}

/* The only value that a high mark can be set to is 0: it starts again from the current one. */
static CUresult reset_high(uint64_t *high, uint64_t current, const void *value)
{
	uint64_t to;
	memcpy(&to, value, sizeof(to));
	if (to)
		return CUDA_ERROR_INVALID_VALUE;
	*high = current;
	return CUDA_SUCCESS;
}

static CUresult set_attribute(struct gd_pool *pool, CUmemPool_attribute attribute, const void *value)
{
	switch (attribute) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		memcpy(&pool->reuse[attribute - 1], value, sizeof(int));
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		memcpy(&pool->threshold_bytes, value, sizeof(pool->threshold_bytes));
		return CUDA_SUCCESS;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		return reset_high(&pool->reserved_high_bytes, pool->reserved_bytes, value);
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return reset_high(&pool->used_high_bytes, pool->used_bytes, value);
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

static CUresult get_attribute(const struct gd_pool *pool, CUmemPool_attribute attribute, void *out)
{
	switch (attribute) {
	case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
	case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
		memcpy(out, &pool->reuse[attribute - 1], sizeof(int));
		return CUDA_SUCCESS;
#define POOL_FIGURE(name, field) \
	case CU_MEMPOOL_ATTR_##name: \
		memcpy(out, &pool->field, sizeof(pool->field)); \
		return CUDA_SUCCESS;
		POOL_FIGURE(RELEASE_THRESHOLD, threshold_bytes)
		POOL_FIGURE(RESERVED_MEM_CURRENT, reserved_bytes)
		POOL_FIGURE(RESERVED_MEM_HIGH, reserved_high_bytes)
		POOL_FIGURE(USED_MEM_CURRENT, used_bytes)
		POOL_FIGURE(USED_MEM_HIGH, used_high_bytes)
#undef POOL_FIGURE
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

GD_API(cuMemPoolSetAttribute, (CUmemoryPool handle, CUmemPool_attribute attribute, void *value),
    (handle, attribute, value))
{
	struct gd_pool *pool = get(handle);
	if (!pool || !value)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pool->lock);
	CUresult result = set_attribute(pool, attribute, value);
	pthread_mutex_unlock(&pool->lock);
	return result;
}

GD_API(cuMemPoolGetAttribute, (CUmemoryPool handle, CUmemPool_attribute attribute, void *value_out),
    (handle, attribute, value_out))
{
	struct gd_pool *pool = get(handle);
	if (!pool || !value_out)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pool->lock);
	CUresult result = get_attribute(pool, attribute, value_out);
	pthread_mutex_unlock(&pool->lock);
	return result;
}

static bool valid_location(const CUmemLocation *location)
{
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE && location->id >= 0 &&
	    (unsigned)location->id < gd_facts.count;
}

GD_API(cuMemPoolSetAccess, (CUmemoryPool handle, const CUmemAccessDesc *list, size_t count),
    (handle, list, count))
{
	struct gd_pool *pool = get(handle);
	if (!pool || (count && !list))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		if (!valid_location(&list[i].location))
			return CUDA_ERROR_INVALID_DEVICE;
		if (list[i].location.id == (int)pool->device &&
		    list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
			return CUDA_ERROR_INVALID_VALUE;
	}
	pthread_mutex_lock(&pool->lock);
	for (size_t i = 0; i < count; i++) {
		uint64_t bit = UINT64_C(1) << list[i].location.id;
		pool->access = list[i].flags ? pool->access | bit : pool->access & ~bit;
	}
	pthread_mutex_unlock(&pool->lock);
	return CUDA_SUCCESS;
}

GD_API(cuMemPoolGetAccess, (CUmemAccess_flags * flags_out, CUmemoryPool handle, CUmemLocation *location),
    (flags_out, handle, location))
{
	struct gd_pool *pool = get(handle);
	if (!pool || !flags_out || !location)
		return CUDA_ERROR_INVALID_VALUE;
	if (!valid_location(location))
		return CUDA_ERROR_INVALID_DEVICE;
	pthread_mutex_lock(&pool->lock);
	bool reachable = location->id == (int)pool->device || pool->access >> location->id & 1;
	pthread_mutex_unlock(&pool->lock);
	*flags_out = reachable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

GD_API(cuMemPoolCreate, (CUmemoryPool * pool_out, const CUmemPoolProps *properties),
    (pool_out, properties))
{
	if (!pool_out || !properties || properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (!valid_location(&properties->location))
		return properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE
		    ? CUDA_ERROR_INVALID_DEVICE
		    : CUDA_ERROR_NOT_SUPPORTED;
	if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
		return CUDA_ERROR_NOT_SUPPORTED;
	struct gd_pool *pool = new_pool((unsigned)properties->location.id);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->most_bytes = properties->maxSize;
	*pool_out = (CUmemoryPool)pool;
	return CUDA_SUCCESS;
}

GD_API(cuMemPoolDestroy, (CUmemoryPool handle), (handle))
{
	struct gd_pool *pool = get(handle);
	if (!pool || pool->standard)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_pool *own = pool;
	__atomic_compare_exchange_n(&chosen[pool->device], &own, standard[pool->device], false,
	    __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	pthread_mutex_lock(&pool->lock);
	pool->destroyed = true;
	__atomic_store_n(&pool->object.tag, 0, __ATOMIC_RELEASE);
	trim(pool, 0);
	bool last = !pool->allocations;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		delete_pool(pool);
	return CUDA_SUCCESS;
}

static bool valid_device(CUdevice device)
{
	return device >= 0 && (unsigned)device < gd_facts.count;
}

GD_API(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool_out, CUdevice device), (pool_out, device))
{
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!valid_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)standard[device];
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetMemPool, (CUmemoryPool * pool_out, CUdevice device), (pool_out, device))
{
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!valid_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)__atomic_load_n(&chosen[device], __ATOMIC_ACQUIRE);
	return CUDA_SUCCESS;
}

static CUresult choose(CUdevice device, CUmemoryPool handle)
{
	struct gd_pool *pool = get(handle);
	if (!valid_device(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!pool || pool->device != (unsigned)device)
		return CUDA_ERROR_INVALID_VALUE;
	__atomic_store_n(&chosen[device], pool, __ATOMIC_RELEASE);
	return CUDA_SUCCESS;
}

GD_API(cuDeviceSetMemPool, (CUdevice device, CUmemoryPool pool), (device, pool))
{
	return choose(device, pool);
}

static CUresult pool_at(
    CUmemoryPool *pool_out, const CUmemLocation *location, CUmemAllocationType type, bool current)
{
	if (!pool_out || !location)
		return CUDA_ERROR_INVALID_VALUE;
	if (type != CU_MEM_ALLOCATION_TYPE_PINNED || location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!valid_location(location))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)(current
		? __atomic_load_n(&chosen[location->id], __ATOMIC_ACQUIRE)
		: standard[location->id]);
	return CUDA_SUCCESS;
}

GD_API(cuMemGetDefaultMemPool,
    (CUmemoryPool * pool_out, CUmemLocation *location, CUmemAllocationType type),
    (pool_out, location, type))
{
	return pool_at(pool_out, location, type, false);
}

GD_API(cuMemGetMemPool, (CUmemoryPool * pool_out, CUmemLocation *location, CUmemAllocationType type),
    (pool_out, location, type))
{
	return pool_at(pool_out, location, type, true);
}

GD_API(cuMemSetMemPool, (CUmemLocation * location, CUmemAllocationType type, CUmemoryPool pool),
    (location, type, pool))
{
	if (!location || type != CU_MEM_ALLOCATION_TYPE_PINNED ||
	    location->type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	return choose(location->id, pool);
}
