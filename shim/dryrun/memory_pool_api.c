/* SPDX-License-Identifier: Apache-2.0 */
/* Pools as programs make, choose, ask and trim them. */
#include <string.h>

#include "shim/dryrun/memory_pools.h"
#include "shim/dryrun/visible_devices.h"

static void tell(struct gd_pool *pool, enum gd_notice_kind kind, uint64_t keep)
{
	if (gd_watched())
		gd_notice_send(&(struct gd_notice){.kind = kind,
		    .device = pool->device,
		    .bytes = keep,
		    .pool = gd_pool_figures(pool)});
}

GD_API(cuMemPoolTrimTo, (CUmemoryPool handle, size_t keep), (handle, keep))
{
	struct gd_pool *pool = gd_pool_get(handle);
	if (!pool)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pool->lock);
	gd_pool_trim(pool, keep);
	pthread_mutex_unlock(&pool->lock);
	tell(pool, GD_NOTICE_POOL_TRIMMED, keep);
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

static CUresult set_attribute(
    struct gd_pool *pool, CUmemPool_attribute attribute, const void *value)
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
	struct gd_pool *pool = gd_pool_get(handle);
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
	struct gd_pool *pool = gd_pool_get(handle);
	if (!pool || !value_out)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&pool->lock);
	CUresult result = get_attribute(pool, attribute, value_out);
	pthread_mutex_unlock(&pool->lock);
	return result;
}

GD_API(cuMemPoolSetAccess, (CUmemoryPool handle, const CUmemAccessDesc *list, size_t count),
    (handle, list, count))
{
	struct gd_pool *pool = gd_pool_get(handle);
	if (!pool || (count && !list))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		if (!gd_location_visible(&list[i].location))
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

GD_API(cuMemPoolGetAccess,
    (CUmemAccess_flags * flags_out, CUmemoryPool handle, CUmemLocation *location),
    (flags_out, handle, location))
{
	struct gd_pool *pool = gd_pool_get(handle);
	if (!pool || !flags_out || !location)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_location_visible(location))
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
	if (!gd_location_visible(&properties->location))
		return properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE
			   ? CUDA_ERROR_INVALID_DEVICE
			   : CUDA_ERROR_NOT_SUPPORTED;
	if (properties->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
		return CUDA_ERROR_NOT_SUPPORTED;
	struct gd_pool *pool = gd_pool_new((unsigned)properties->location.id);
	if (!pool)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pool->most_bytes = properties->maxSize;
	tell(pool, GD_NOTICE_POOL_MADE, 0);
	*pool_out = (CUmemoryPool)pool;
	return CUDA_SUCCESS;
}

GD_API(cuMemPoolDestroy, (CUmemoryPool handle), (handle))
{
	struct gd_pool *pool = gd_pool_get(handle);
	if (!pool || pool->standard)
		return CUDA_ERROR_INVALID_VALUE;
	tell(pool, GD_NOTICE_POOL_ENDS, 0);
	struct gd_pool *own = pool;
	__atomic_compare_exchange_n(&gd_pools_chosen[pool->device], &own,
	    gd_pools_standard[pool->device], false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
	pthread_mutex_lock(&pool->lock);
	pool->destroyed = true;
	__atomic_store_n(&pool->object.tag, 0, __ATOMIC_RELEASE);
	gd_pool_trim(pool, 0);
	bool last = !pool->allocations;
	pthread_mutex_unlock(&pool->lock);
	if (last)
		gd_pool_delete(pool);
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetDefaultMemPool, (CUmemoryPool * pool_out, CUdevice device), (pool_out, device))
{
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)gd_pools_standard[device];
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetMemPool, (CUmemoryPool * pool_out, CUdevice device), (pool_out, device))
{
	if (!pool_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)__atomic_load_n(&gd_pools_chosen[device], __ATOMIC_ACQUIRE);
	return CUDA_SUCCESS;
}

static CUresult choose(CUdevice device, CUmemoryPool handle)
{
	struct gd_pool *pool = gd_pool_get(handle);
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	if (!pool || pool->device != (unsigned)device)
		return CUDA_ERROR_INVALID_VALUE;
	__atomic_store_n(&gd_pools_chosen[device], pool, __ATOMIC_RELEASE);
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
	if (!gd_location_visible(location))
		return CUDA_ERROR_INVALID_DEVICE;
	*pool_out = (CUmemoryPool)(current ? __atomic_load_n(
						 &gd_pools_chosen[location->id], __ATOMIC_ACQUIRE)
					   : gd_pools_standard[location->id]);
	return CUDA_SUCCESS;
}

GD_API(cuMemGetDefaultMemPool,
    (CUmemoryPool * pool_out, CUmemLocation *location, CUmemAllocationType type),
    (pool_out, location, type))
{
	return pool_at(pool_out, location, type, false);
}

GD_API(cuMemGetMemPool,
    (CUmemoryPool * pool_out, CUmemLocation *location, CUmemAllocationType type),
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
