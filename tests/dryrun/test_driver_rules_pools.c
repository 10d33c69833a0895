/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the driver: memory in stream order and its pools, virtual memory. */
#include "tests/dryrun/driver_test.h"

static uint64_t figure(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	uint64_t value = 0;
	OK(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

static CUmemoryPool own_pool(uint64_t threshold)
{
	CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool pool;
	OK(cuMemPoolCreate(&pool, &properties));
	OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
	return pool;
}

RULE(pool_trimming, "cuMemPoolTrimTo: keeps at least what was asked for and all that is in use; no "
		    "more is no error")
{
	CUdeviceptr a, b;
	CUmemoryPool pool;
	use_device();
	pool = own_pool(UINT64_MAX);
	OK(cuMemAllocFromPoolAsync(&a, 64 * MIB, pool, NULL));
	OK(cuMemAllocFromPoolAsync(&b, 64 * MIB, pool, NULL));
	OK(cuMemFreeAsync(a, NULL));
	OK(cuCtxSynchronize());
	EXPECT(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 128 * MIB); /* the threshold */
	OK(cuMemPoolTrimTo(pool, 1024 * MIB));
	EXPECT(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 128 * MIB);
	OK(cuMemPoolTrimTo(pool, 0));
	EXPECT(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT) >= 64 * MIB);
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 64 * MIB);
	OK(cuMemFreeAsync(b, NULL));
	OK(cuCtxSynchronize());
	OK(cuMemPoolTrimTo(pool, 0));
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	OK(cuMemPoolDestroy(pool));
}

RULE(pool_threshold,
    "CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: at 0 a synchronization gives all unused memory back")
{
	CUdeviceptr a;
	CUmemoryPool pool;
	use_device();
	pool = own_pool(0);
	OK(cuMemAllocFromPoolAsync(&a, 64 * MIB, pool, NULL));
	OK(cuMemFreeAsync(a, NULL));
	OK(cuStreamSynchronize(NULL));
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 0);
	EXPECT(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH) >= 64 * MIB);
	OK(cuMemPoolDestroy(pool));
}

RULE(pool_marks, "CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: the only value to set is 0, and current "
		 "figures cannot be set")
{
	uint64_t zero = 0, one = 1;
	CUmemoryPool pool;
	CUdeviceptr a;
	use_device();
	pool = own_pool(0);
	OK(cuMemAllocFromPoolAsync(&a, MIB, pool, NULL));
	EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &one),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &zero),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH, &zero));
	EXPECT_EQ(
	    cuMemPoolGetAttribute(pool, (CUmemPool_attribute)1000, &one), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeAsync(a, NULL));
	OK(cuCtxSynchronize());
	OK(cuMemPoolDestroy(pool));
}

RULE(device_pools,
    "cuDeviceSetMemPool: what cuMemAllocAsync takes from then on; the default pool stays")
{
	CUmemoryPool first, now, pool;
	CUdeviceptr a;
	use_device();
	OK(cuDeviceGetDefaultMemPool(&first, 0));
	OK(cuDeviceGetMemPool(&now, 0));
	EXPECT(now == first);
	pool = own_pool(0);
	OK(cuDeviceSetMemPool(0, pool));
	OK(cuDeviceGetMemPool(&now, 0));
	EXPECT(now == pool);
	OK(cuDeviceGetDefaultMemPool(&now, 0));
	EXPECT(now == first);
	OK(cuMemAllocAsync(&a, MIB, NULL));
	EXPECT(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT) >= MIB);
	OK(cuMemFreeAsync(a, NULL));
	OK(cuCtxSynchronize());
	OK(cuMemPoolDestroy(pool)); /* the default one is the current one again */
	OK(cuDeviceGetMemPool(&now, 0));
	EXPECT(now == first);
	EXPECT_EQ(cuMemPoolDestroy(first), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuDeviceGetMemPool(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuDeviceGetMemPool(&now, -1), CUDA_ERROR_INVALID_DEVICE);
}

RULE(pool_access, "cuMemPoolGetAccess: the device of a pool may always read and write it")
{
	CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
	CUmemAccess_flags access = 0;
	CUmemoryPool pool;
	use_device();
	pool = own_pool(0);
	OK(cuMemPoolGetAccess(&access, pool, &location));
	EXPECT_EQ(access, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	EXPECT_EQ(cuMemPoolGetAccess(NULL, pool, &location), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemPoolDestroy(pool));
}

/* ---- virtual memory ---- */

static CUmemAllocationProp on_device(void)
{
	CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	return properties;
}

static size_t granularity(void)
{
	CUmemAllocationProp properties = on_device();
	size_t bytes;
	OK(cuMemGetAllocationGranularity(
	    &bytes, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	return bytes;
}

static CUmemGenericAllocationHandle create(size_t bytes)
{
	CUmemAllocationProp properties = on_device();
	CUmemGenericAllocationHandle handle;
	OK(cuMemCreate(&handle, bytes, &properties, 0));
	return handle;
}

RULE(created_sizes, "cuMemCreate: whole granules, flags 0, known kinds of memory and places")
{
	CUmemAllocationProp properties = on_device();
	CUmemGenericAllocationHandle handle;
	use_device();
	size_t g = granularity();
	EXPECT_EQ(cuMemCreate(&handle, 0, &properties, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemCreate(&handle, g + 1, &properties, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemCreate(&handle, g, &properties, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemCreate(&handle, g, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	properties.location.id = 100;
	EXPECT_EQ(cuMemCreate(&handle, g, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
	properties = on_device();
	properties.type = CU_MEM_ALLOCATION_TYPE_INVALID;
	EXPECT_EQ(cuMemCreate(&handle, g, &properties, 0), CUDA_ERROR_INVALID_VALUE);
}

RULE(reserved_sizes,
    "cuMemAddressReserve: whole granules, flags 0; cuMemAddressFree: the whole of it")
{
	CUdeviceptr a;
	use_device();
	size_t g = granularity();
	EXPECT_EQ(cuMemAddressReserve(&a, 0, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAddressReserve(&a, g + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAddressReserve(&a, g, 0, 0, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAddressReserve(&a, 2 * g, 0, 0, 0));
	EXPECT_EQ(cuMemAddressFree(a, g), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAddressFree(a, 2 * g));
}

RULE(mapping, "cuMemMap: inside a reservation, at offset 0, where nothing is mapped; flags 0")
{
	CUmemGenericAllocationHandle handle;
	CUdeviceptr a;
	use_device();
	size_t g = granularity();
	OK(cuMemAddressReserve(&a, 4 * g, 0, 0, 0));
	handle = create(2 * g);
	EXPECT_EQ(cuMemMap(a, 2 * g, 0, handle, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemMap(a, g, g, handle, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemMap(a + 3 * g, 2 * g, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(a + g, 2 * g, 0, handle, 0));
	EXPECT_EQ(cuMemMap(a, 2 * g, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemUnmap(a + g, g), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(a + g, 2 * g));
	OK(cuMemRelease(handle));
	OK(cuMemAddressFree(a, 4 * g));
}

RULE(mapped_access,
    "cuMemSetAccess: of what is mapped; cuMemGetAccess tells it; before, nobody may touch it")
{
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	unsigned long long flags = 9;
	CUmemGenericAllocationHandle handle;
	CUdeviceptr a;
	use_device();
	size_t g = granularity();
	OK(cuMemAddressReserve(&a, 2 * g, 0, 0, 0));
	handle = create(g);
	EXPECT_EQ(cuMemSetAccess(a, g, &access, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(a, g, 0, handle, 0));
	OK(cuMemGetAccess(&flags, &access.location, a));
	EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_NONE);
	EXPECT_EQ(cuMemSetAccess(a, 2 * g, &access, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemSetAccess(a, g, &access, 1));
	OK(cuMemGetAccess(&flags, &access.location, a));
	EXPECT_EQ(flags, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
	OK(cuMemsetD8_v2(a, 1, g));
	OK(cuMemUnmap(a, g));
	OK(cuMemRelease(handle));
	OK(cuMemAddressFree(a, 2 * g));
}

RULE(released_while_mapped, "cuMemRelease: memory lives on while it is mapped")
{
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle, again;
	unsigned in = 77, out = 0;
	CUdeviceptr a;
	use_device();
	size_t g = granularity();
	OK(cuMemAddressReserve(&a, g, 0, 0, 0));
	handle = create(g);
	OK(cuMemMap(a, g, 0, handle, 0));
	OK(cuMemSetAccess(a, g, &access, 1));
	OK(cuMemRelease(handle));
	OK(cuMemcpyHtoD_v2(a, &in, 4));
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 77);
	OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)a));
	OK(cuMemRelease(again));
	OK(cuMemUnmap(a, g));
	OK(cuMemAddressFree(a, g));
}
