/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the stand-in driver: budget, contents, kinds, pools, virtual memory. */
#include <dlfcn.h>
#include <signal.h>

#include "tests/dryrun/driver_test.h"

static void (*clear)(void *, size_t);

static void find_clear(void)
{
	clear = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "gpushim_dryrun_clear");
	REQUIRE(clear != NULL);
}

TEST(all_of_the_device_can_be_allocated)
{
	CUdeviceptr a, b, c;
	size_t left, total;
	start_small();
	OK(cuMemAlloc_v2(&a, GIB / 2));
	OK(cuMemAlloc_v2(&b, GIB / 2));
	EXPECT_EQ(cuMemAlloc_v2(&c, 1), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemGetInfo_v2(&left, &total));
	EXPECT_EQ(left, 0);
	EXPECT_EQ(total, GIB);
	OK(cuMemFree_v2(a));
	OK(cuMemAlloc_v2(&c, GIB / 2));
	EXPECT_EQ(cuMemAlloc_v2(&c, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAlloc_v2(NULL, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAlloc_v2(&c, SIZE_MAX), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT_EQ(cuMemFree_v2(b + 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemFree_v2(0), CUDA_SUCCESS);
}

TEST(a_context_reserves_memory)
{
	size_t left;
	CUdeviceptr a;
	start("total=1073741824;context=268435456;cc=8.0");
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB - 256 * MIB);
	EXPECT_EQ(cuMemAlloc_v2(&a, 800 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemAlloc_v2(&a, 768 * MIB));
	OK(cuDevicePrimaryCtxRelease_v2(0));
	EXPECT_EQ(cuMemFree_v2(a), CUDA_ERROR_CONTEXT_IS_DESTROYED);
}

TEST(copies_keep_bytes_and_unwritten_memory_is_zero)
{
	static unsigned char in[100000], out[100000];
	CUdeviceptr a, b;
	start_small();
	OK(cuMemAlloc_v2(&a, 10 * MIB));
	OK(cuMemAlloc_v2(&b, 10 * MIB));
	for (size_t i = 0; i < sizeof(in); i++)
		in[i] = (unsigned char)(i * 7 + 1);
	memset(out, 0xee, sizeof(out));
	OK(cuMemcpyDtoH_v2(out, a + 12345, sizeof(out)));
	for (size_t i = 0; i < sizeof(out); i++)
		REQUIRE(out[i] == 0);
	OK(cuMemcpyHtoD_v2(a + 2 * MIB - 50000, in, sizeof(in))); /* over a border */
	OK(cuMemcpyDtoD_v2(b + 777, a + 2 * MIB - 50000, sizeof(in)));
	OK(cuMemcpyDtoH_v2(out, b + 777, sizeof(out)));
	EXPECT(memcmp(in, out, sizeof(in)) == 0);
	OK(cuMemcpy(b + 778, b + 777, sizeof(in) - 1)); /* overlapping */
	OK(cuMemcpyDtoH_v2(out, b + 778, sizeof(out) - 1));
	EXPECT(memcmp(in, out, sizeof(in) - 1) == 0);
	EXPECT_EQ(cuMemcpyHtoD_v2(a + 10 * MIB - 10, in, 11), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemcpyDtoH_v2(out, 64, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(a));
	EXPECT_EQ(cuMemcpyDtoH_v2(out, a, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAlloc_v2(&a, 10 * MIB));
	OK(cuMemcpyDtoH_v2(out, a + 2 * MIB - 50000, sizeof(out)));
	for (size_t i = 0; i < sizeof(out); i++)
		REQUIRE(out[i] == 0); /* a new block is clean */
}

TEST(large_copies_cost_no_memory_and_leave_zeros)
{
	CUdeviceptr a;
	size_t bytes = 64 * MIB;
	char *host = malloc(bytes);
	unsigned char byte = 7;
	start_small();
	memset(host, 1, bytes);
	OK(cuMemAlloc_v2(&a, bytes));
	OK(cuMemcpyHtoD_v2(a + 100, &byte, 1));
	OK(cuMemcpyHtoD_v2(a, host, bytes));
	OK(cuMemcpyDtoH_v2(&byte, a + 100, 1));
	EXPECT_EQ(byte, 0);
	OK(cuMemcpyDtoH_v2(host, a, bytes));
	EXPECT_EQ(host[bytes / 2], 0);
	free(host);
}

TEST(memsets_of_all_widths)
{
	unsigned out[64];
	CUdeviceptr a;
	start_small();
	OK(cuMemAlloc_v2(&a, MIB));
	OK(cuMemsetD32_v2(a, 0x01020304, 16));
	OK(cuMemsetD16_v2(a + 4, 0xabcd, 2));
	OK(cuMemsetD8_v2(a + 8, 0x55, 3));
	OK(cuMemcpyDtoH_v2(out, a, 64));
	EXPECT_EQ(out[0], 0x01020304);
	EXPECT_EQ(out[1], 0xabcdabcd);
	EXPECT_EQ(out[2], 0x01555555);
	EXPECT_EQ(cuMemsetD32_v2(a + 1, 1, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemsetD8_v2(a, 1, MIB + 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD2D32_v2(a, 256, 9, 2, 3));
	OK(cuMemcpyDtoH_v2(out, a + 512, 16));
	EXPECT_EQ(out[0], 9);
	EXPECT_EQ(out[1], 9);
	EXPECT_EQ(out[2], 0);
	OK(cuMemsetD8_v2(a, 0, MIB));
	OK(cuMemcpyDtoH_v2(out, a, 64));
	EXPECT_EQ(out[0], 0);
}

TEST(clearing_makes_zeros_of_any_range)
{
	static unsigned char out[3 * 4096];
	CUdeviceptr a;
	start_small();
	find_clear();
	OK(cuMemAlloc_v2(&a, 10 * MIB));
	OK(cuMemsetD8_v2(a, 0xff, MIB));
	clear((void *)(uintptr_t)(a + 100), 8192);
	OK(cuMemcpyDtoH_v2(out, a, sizeof(out)));
	EXPECT_EQ(out[99], 0xff);
	EXPECT_EQ(out[100], 0);
	EXPECT_EQ(out[4096], 0);
	EXPECT_EQ(out[100 + 8191], 0);
	EXPECT_EQ(out[100 + 8192], 0xff);
	clear((void *)(uintptr_t)a, 10 * MIB);
	OK(cuMemcpyDtoH_v2(out, a, sizeof(out)));
	EXPECT_EQ(out[0], 0);
	clear((void *)(uintptr_t)64, 100); /* no device memory: ignored */
	clear(out, 100);
}

TEST(copies_in_two_and_three_dimensions)
{
	unsigned char in[6][8], out[6][8] = {{0}};
	CUdeviceptr a;
	size_t pitch;
	start_small();
	for (int i = 0; i < 48; i++)
		in[i / 8][i % 8] = (unsigned char)(i + 1);
	OK(cuMemAllocPitch_v2(&a, &pitch, 8, 6, 4));
	EXPECT_EQ(pitch % 512, 0);
	CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	    .srcHost = in,
	    .srcPitch = 8,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstDevice = a,
	    .dstPitch = pitch,
	    .WidthInBytes = 8,
	    .Height = 6};
	OK(cuMemcpy2D_v2(&up));
	CUDA_MEMCPY3D down = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	    .srcDevice = a,
	    .srcPitch = pitch,
	    .srcHeight = 3,
	    .srcXInBytes = 1,
	    .dstMemoryType = CU_MEMORYTYPE_HOST,
	    .dstHost = out,
	    .dstPitch = 8,
	    .dstHeight = 3,
	    .WidthInBytes = 4,
	    .Height = 2,
	    .Depth = 2};
	OK(cuMemcpy3D_v2(&down));
	EXPECT_EQ(out[0][0], 2);
	EXPECT_EQ(out[0][3], 5);
	EXPECT_EQ(out[0][4], 0);
	EXPECT_EQ(out[3][0], 26);
	EXPECT_EQ(out[2][0], 0);
	up.dstPitch = 4;
	EXPECT_EQ(cuMemcpy2D_v2(&up), CUDA_ERROR_INVALID_VALUE);
}

TEST(rows_that_overlap_are_refused)
{
	char host[64];
	CUdeviceptr a;
	start_small();
	OK(cuMemAlloc_v2(&a, 64));
	CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	    .srcHost = host,
	    .srcPitch = 8,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstDevice = a,
	    .dstPitch = 8,
	    .WidthInBytes = 8,
	    .Height = 2};
	OK(cuMemcpy2D_v2(&up));
	up.dstXInBytes = 1;
	EXPECT_EQ(cuMemcpy2D_v2(&up), CUDA_ERROR_INVALID_VALUE);
	up.dstXInBytes = SIZE_MAX - 3;
	EXPECT_EQ(cuMemcpy2D_v2(&up), CUDA_ERROR_INVALID_VALUE);
	up.dstXInBytes = 0;
	up.dstY = SIZE_MAX / 8;
	EXPECT_EQ(cuMemcpy2D_v2(&up), CUDA_ERROR_INVALID_VALUE);
	up.dstY = up.dstPitch = 0;
	EXPECT_EQ(cuMemcpy2D_v2(&up), CUDA_ERROR_INVALID_VALUE);
	up.Height = 1;
	OK(cuMemcpy2D_v2(&up)); /* one row needs no pitch */
	OK(cuMemsetD2D8_v2(a, 8, 1, 8, 4));
	EXPECT_EQ(cuMemsetD2D8_v2(a, 7, 1, 8, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemsetD2D32_v2(a, 8, 1, 4, 2), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD2D8_v2(a, 0, 1, 8, 1));
}

TEST(batches_are_checked_before_they_run)
{
	unsigned in[2] = {3, 4}, out = 0;
	CUdeviceptr a, to[2], from[2];
	size_t bytes[2] = {4, 4}, none = 0, failed;
	CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	CUstream stream;
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&a, 1024));
	to[0] = a;
	to[1] = a + 1022;
	from[0] = (CUdeviceptr)(uintptr_t)&in[0];
	from[1] = (CUdeviceptr)(uintptr_t)&in[1];
	EXPECT_EQ(cuMemcpyBatchAsync(to, from, bytes, 2, &attributes, &none, 1, &failed, stream),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(failed, 1);
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 0);
	to[1] = a + 4;
	OK(cuMemcpyBatchAsync_v2(to, from, bytes, 2, &attributes, &none, 1, stream));
	OK(cuMemcpyDtoH_v2(&out, a + 4, 4));
	EXPECT_EQ(out, 4);
}

TEST(kinds_of_memory_are_told_apart)
{
	CUdeviceptr a, managed;
	void *pinned;
	CUmemorytype type;
	unsigned flag;
	static char own[8192];
	start_small();
	OK(cuMemAlloc_v2(&a, 1000));
	OK(cuMemHostAlloc(&pinned, 5000, 0));
	OK(cuMemAllocManaged(&managed, 5000, CU_MEM_ATTACH_GLOBAL));
	memset(pinned, 1, 5000);
	memset((void *)(uintptr_t)managed, 2, 5000);
	OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 999));
	EXPECT_EQ(type, CU_MEMORYTYPE_DEVICE);
	EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a + 1000),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuPointerGetAttribute(
	    &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)pinned + 4999));
	EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
	OK(cuPointerGetAttribute(&flag, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
	EXPECT_EQ(flag, 1);
	EXPECT_EQ(cuPointerGetAttribute(
		      &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)own),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostRegister_v2(own, sizeof(own), 0));
	EXPECT_EQ(cuMemHostRegister_v2(own + 10, 10, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuPointerGetAttribute(
	    &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)(uintptr_t)own));
	EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
	OK(cuMemHostUnregister(own));
	EXPECT_EQ(cuMemHostUnregister(own), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
	OK(cuMemFreeHost(pinned));
	EXPECT_EQ(cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFree_v2(managed));
	EXPECT_EQ(cuMemFree_v2(managed), CUDA_ERROR_INVALID_VALUE);
	CUpointer_attribute ask[2] = {
	    CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
	int ordinal;
	void *answers[2] = {&type, &ordinal};
	OK(cuPointerGetAttributes(2, ask, answers, (CUdeviceptr)(uintptr_t)own));
	EXPECT_EQ(type, 0);
	EXPECT_EQ(ordinal, -2);
}

TEST(the_host_cannot_touch_device_memory)
{
	CUdeviceptr a;
	start_small();
	OK(cuMemAlloc_v2(&a, 1000));
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		signal(SIGSEGV, SIG_DFL); /* a sanitizer would turn it into an exit */
		_exit(*(volatile char *)(uintptr_t)a);
	}
	int status;
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}

static uint64_t figure(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	uint64_t value = 0;
	OK(cuMemPoolGetAttribute(pool, attribute, &value));
	return value;
}

TEST(pools_keep_what_their_threshold_allows)
{
	CUmemoryPool pool;
	CUdeviceptr a, b;
	uint64_t keep = UINT64_MAX, zero = 0, one = 1;
	size_t left;
	start_small();
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	OK(cuMemAllocAsync(&a, 100 * MIB, NULL));
	OK(cuMemAllocAsync(&b, 50 * MIB, NULL));
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 150 * MIB);
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 150 * MIB);
	OK(cuMemFreeAsync(a, NULL));
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 50 * MIB);
	OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &keep));
	OK(cuMemFreeAsync(b, NULL));
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0);
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 50 * MIB);
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH), 150 * MIB);
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 150 * MIB);
	EXPECT_EQ(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &one),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH, &zero));
	EXPECT_EQ(figure(pool, CU_MEMPOOL_ATTR_USED_MEM_HIGH), 0);
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB - 50 * MIB);
	OK(cuMemPoolTrimTo(pool, 0));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
	EXPECT_EQ(cuMemAllocAsync(&a, GIB + 512, NULL), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
}

TEST(own_pools_end_with_their_last_allocation)
{
	CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemoryPool pool;
	CUdeviceptr a;
	size_t left;
	start_small();
	OK(cuMemPoolCreate(&pool, &properties));
	OK(cuMemAllocFromPoolAsync(&a, 10 * MIB, pool, NULL));
	OK(cuMemPoolDestroy(pool));
	EXPECT_EQ(cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB - 10 * MIB);
	OK(cuMemFree_v2(a));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
}

static CUmemAllocationProp on_device(void)
{
	CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	return properties;
}

TEST(virtual_memory_lives_until_released_and_unmapped)
{
	CUmemAllocationProp properties = on_device();
	CUmemAccessDesc access = {
	    .location = properties.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle, again;
	CUdeviceptr range, other;
	size_t granularity, left, size;
	void *base;
	unsigned out = 0, in = 77;
	start_small();
	OK(cuMemGetAllocationGranularity(
	    &granularity, &properties, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
	EXPECT_EQ(granularity, 2 * MIB);
	OK(cuMemAddressReserve(&range, 4 * GIB, 0, 0, 0));
	OK(cuMemAddressReserve(&other, 8 * MIB, 16 * MIB, 0, 0));
	EXPECT_EQ(other % (16 * MIB), 0);
	EXPECT_EQ(cuMemCreate(&handle, MIB, &properties, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemCreate(&handle, 2 * GIB, &properties, 0), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemCreate(&handle, 4 * MIB, &properties, 0));
	EXPECT_EQ(cuMemcpyHtoD_v2(range, &in, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemMap(range + 2 * MIB, 4 * MIB, 0, handle, 0));
	EXPECT_EQ(cuMemMap(range + 4 * MIB, 4 * MIB, 0, handle, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemcpyHtoD_v2(range + 2 * MIB, &in, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemSetAccess(range + 2 * MIB, 4 * MIB, &access, 1));
	OK(cuMemcpyHtoD_v2(range + 5 * MIB, &in, 4));
	OK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, range + 5 * MIB));
	EXPECT_EQ((uint64_t)(uintptr_t)base, range + 2 * MIB);
	OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, range + 5 * MIB));
	EXPECT_EQ(size, 4 * MIB);
	OK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_MAPPING_SIZE, range));
	EXPECT_EQ(size, 0);
	OK(cuMemMap(other, 4 * MIB, 0, handle, 0)); /* the same memory a second time */
	OK(cuMemSetAccess(other, 4 * MIB, &access, 1));
	OK(cuMemcpyDtoH_v2(&out, other + 3 * MIB, 4));
	EXPECT_EQ(out, 77);
	OK(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)(other + 100)));
	EXPECT_EQ(again, handle);
	OK(cuMemRelease(again));
	OK(cuMemRelease(handle));
	EXPECT_EQ(cuMemRelease(handle), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemUnmap(range + 2 * MIB, 2 * MIB), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(range + 2 * MIB, 4 * MIB));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB - 4 * MIB);
	EXPECT_EQ(cuMemAddressFree(other, 8 * MIB), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemUnmap(other, 4 * MIB));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
	OK(cuMemAddressFree(other, 8 * MIB));
	OK(cuMemAddressFree(range, 4 * GIB));
}

/* What PyTorch reserves for one stream.  The thread sanitizer leaves a process 1.5 TiB of addresses
 * in all, less than the streams of the test need. */
#if defined(__SANITIZE_THREAD__)
#define RESERVATION (4 * GIB)
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RESERVATION (4 * GIB)
#endif
#endif
#ifndef RESERVATION
#define RESERVATION (160 * GIB)
#endif

TEST(many_reservations_fit)
{
	CUdeviceptr ranges[64];
	start("total=151397597184;cc=9.0");
	for (int i = 0; i < 64; i++)
		OK(cuMemAddressReserve(&ranges[i], RESERVATION, 0, 0, 0));
	for (int i = 0; i < 64; i++)
		OK(cuMemAddressFree(ranges[i], RESERVATION));
}

TEST(addresses_are_found_again_after_random_use)
{
	enum { COUNT = 500 };
	CUdeviceptr blocks[COUNT] = {0}, base;
	size_t sizes[COUNT], size, left;
	unsigned seed = 1;
	start("total=274877906944;cc=8.0");
	for (int round = 0; round < 20000; round++) {
		seed = seed * 1103515245 + 12345;
		int i = (int)(seed >> 16) % COUNT;
		if (blocks[i]) {
			OK(cuMemGetAddressRange_v2(&base, &size, blocks[i] + sizes[i] - 1));
			REQUIRE(base == blocks[i] && size == sizes[i]);
			OK(cuMemFree_v2(blocks[i]));
			blocks[i] = 0;
			continue;
		}
		sizes[i] = 1 + (seed >> 8) % (64 * MIB);
		OK(cuMemAlloc_v2(&blocks[i], sizes[i]));
	}
	for (int i = 0; i < COUNT; i++)
		OK(cuMemFree_v2(blocks[i]));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, 256 * GIB);
}

TEST(arrays_are_device_memory)
{
	CUDA_ARRAY_DESCRIPTOR description = {
	    .Width = 16, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
	unsigned char in[16], out[16] = {0};
	CUarray array;
	start_small();
	memset(in, 5, sizeof(in));
	OK(cuArrayCreate_v2(&array, &description));
	OK(cuMemcpyHtoA_v2(array, 0, in, sizeof(in)));
	OK(cuMemcpyAtoH_v2(out, array, 0, sizeof(out)));
	EXPECT(memcmp(in, out, sizeof(in)) == 0);
	EXPECT_EQ(cuMemcpyHtoA_v2(array, 8, in, 16), CUDA_ERROR_INVALID_VALUE);
	OK(cuArrayDestroy(array));
	EXPECT_EQ(cuArrayDestroy(array), CUDA_ERROR_INVALID_HANDLE);
}

TEST(an_array_ends_with_its_context_and_leaves_others_alone)
{
	CUDA_ARRAY_DESCRIPTOR description = {
	    .Width = 16, .Height = 1, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
	CUcontext context;
	CUdeviceptr blocks[8];
	char bytes[16] = {0};
	CUarray array;
	start_small();
	OK(cuCtxCreate_v2(&context, 0, 0));
	OK(cuArrayCreate_v2(&array, &description));
	OK(cuCtxDestroy_v2(context));
	for (int i = 0; i < 8; i++) /* one of them where the array was */
		OK(cuMemAlloc_v2(&blocks[i], 16));
	EXPECT_EQ(cuMemcpyHtoA_v2(array, 0, bytes, 16), CUDA_ERROR_CONTEXT_IS_DESTROYED);
	OK(cuArrayDestroy(array));
	for (int i = 0; i < 8; i++)
		OK(cuMemFree_v2(blocks[i]));
}

TEST(batches_count_elements_of_arrays)
{
	CUDA_ARRAY_DESCRIPTOR description = {
	    .Width = 8, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 2};
	uint64_t in[2][3] = {{1, 2, 3}, {4, 5, 6}}, row[8] = {0};
	CUarray array, narrow;
	CUstream stream;
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuArrayCreate_v2(&array, &description));
	CUDA_MEMCPY3D_BATCH_OP entry = {.src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER},
	    .dst = {.type = CU_MEMCPY_OPERAND_TYPE_ARRAY},
	    .extent = {2, 2, 1}};
	entry.src.op.ptr.ptr = (CUdeviceptr)(uintptr_t)in;
	entry.src.op.ptr.rowLength = 3;
	entry.dst.op.array.array = array;
	entry.dst.op.array.offset = (CUoffset3D){.x = 6, .y = 0};
	OK(cuMemcpy3DBatchAsync_v2(1, &entry, 0, stream));
	OK(cuMemcpyAtoH_v2(row, array, 0, sizeof(row)));
	EXPECT(row[5] == 0 && row[6] == 1 && row[7] == 2);
	entry.dst.op.array.offset.x = 7;
	EXPECT_EQ(cuMemcpy3DBatchAsync_v2(1, &entry, 0, stream), CUDA_ERROR_INVALID_VALUE);
	description.NumChannels = 1;
	OK(cuArrayCreate_v2(&narrow, &description));
	entry.src = entry.dst;
	entry.src.op.array = (__typeof__(entry.src.op.array)){.array = narrow};
	entry.dst.op.array.offset.x = 0;
	EXPECT_EQ(cuMemcpy3DBatchAsync_v2(1, &entry, 0, stream), CUDA_ERROR_INVALID_VALUE);
}

TEST(mipmaps_keep_their_layers_and_end_with_one_element)
{
	CUDA_ARRAY3D_DESCRIPTOR description = {.Width = 8,
	    .Height = 4,
	    .Depth = 6,
	    .Format = CU_AD_FORMAT_UNSIGNED_INT8,
	    .NumChannels = 1,
	    .Flags = CUDA_ARRAY3D_LAYERED};
	CUDA_ARRAY3D_DESCRIPTOR level;
	CUmipmappedArray mipmap;
	CUarray array;
	start_small();
	OK(cuMipmappedArrayCreate(&mipmap, &description, 99));
	EXPECT_EQ(cuMipmappedArrayGetLevel(&array, mipmap, 4), CUDA_ERROR_INVALID_VALUE);
	OK(cuMipmappedArrayGetLevel(&array, mipmap, 3));
	OK(cuArray3DGetDescriptor_v2(&level, array));
	EXPECT(level.Width == 1 && level.Height == 1 && level.Depth == 6);
	description.Flags = 0;
	description.Depth = 16;
	OK(cuMipmappedArrayCreate(&mipmap, &description, 5));
	OK(cuMipmappedArrayGetLevel(&array, mipmap, 4));
	OK(cuArray3DGetDescriptor_v2(&level, array));
	EXPECT(level.Width == 1 && level.Depth == 1);
	OK(cuMipmappedArrayCreate(&mipmap, &description, 0));
	EXPECT_EQ(cuMipmappedArrayGetLevel(&array, mipmap, 1), CUDA_ERROR_INVALID_VALUE);
}
