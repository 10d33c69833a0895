/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the driver: device, host and managed memory, what pointers are, copies, memsets. */
#include "tests/dryrun/driver_test.h"

static CUdeviceptr allocate(size_t bytes)
{
	CUdeviceptr address;
	OK(cuMemAlloc_v2(&address, bytes));
	return address;
}

RULE(allocation_sizes,
    "cuMemAlloc: 0 bytes and a place for no answer are invalid; too much is out of memory")
{
	CUdeviceptr a = 7;
	use_device();
	EXPECT_EQ(cuMemAlloc_v2(&a, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAlloc_v2(NULL, 16), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAlloc_v2(&a, (size_t)1 << 50), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT_EQ(a, 7);
	a = allocate(1);
	EXPECT_EQ(a % 256, 0); /* aligned for any kind of variable */
	OK(cuMemFree_v2(a));
	EXPECT_EQ(cuMemFree_v2(a + 1), CUDA_ERROR_INVALID_VALUE);
}

RULE(pitched, "cuMemAllocPitch: elements have 4, 8 or 16 bytes; the pitch holds a row")
{
	CUdeviceptr a;
	size_t pitch = 0;
	use_device();
	EXPECT_EQ(cuMemAllocPitch_v2(&a, &pitch, 100, 10, 3), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocPitch_v2(&a, &pitch, 100, 10, 16));
	EXPECT(pitch >= 100 && pitch % 16 == 0);
	OK(cuMemFree_v2(a));
}

RULE(address_range,
    "cuMemGetAddressRange: the whole allocation around an address; either answer may be left out")
{
	CUdeviceptr base = 0, a;
	size_t bytes = 0;
	int own;
	use_device();
	a = allocate(1000);
	OK(cuMemGetAddressRange_v2(&base, &bytes, a + 500));
	EXPECT_EQ(base, a);
	EXPECT_EQ(bytes, 1000);
	OK(cuMemGetAddressRange_v2(NULL, &bytes, a));
	OK(cuMemGetAddressRange_v2(&base, NULL, a));
	EXPECT_EQ(cuMemGetAddressRange_v2(&base, &bytes, (CUdeviceptr)(uintptr_t)&own),
	    CUDA_ERROR_NOT_FOUND);
}

RULE(host_allocation,
    "cuMemHostAlloc: known flags only; cuMemHostGetFlags tells them, for such memory alone")
{
	unsigned flags = 0;
	void *memory = NULL;
	int own;
	use_device();
	EXPECT_EQ(cuMemHostAlloc(&memory, 4096, 0x100), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemHostAlloc(NULL, 4096, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostAlloc(&memory, 4096, CU_MEMHOSTALLOC_WRITECOMBINED | CU_MEMHOSTALLOC_PORTABLE));
	OK(cuMemHostGetFlags(&flags, memory));
	EXPECT(flags & CU_MEMHOSTALLOC_WRITECOMBINED && flags & CU_MEMHOSTALLOC_PORTABLE);
	EXPECT_EQ(cuMemHostGetFlags(&flags, &own), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeHost(memory));
	EXPECT_EQ(cuMemFreeHost(&own), CUDA_ERROR_INVALID_VALUE);
}

RULE(host_pointers, "cuMemHostGetDevicePointer: flags are 0, the memory is pinned")
{
	CUdeviceptr a = 0;
	void *memory;
	int own;
	use_device();
	OK(cuMemAllocHost_v2(&memory, 4096));
	OK(cuMemHostGetDevicePointer_v2(&a, memory, 0));
	EXPECT(a != 0);
	EXPECT_EQ(cuMemHostGetDevicePointer_v2(&a, memory, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemHostGetDevicePointer_v2(&a, &own, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeHost(memory));
}

RULE(registration, "cuMemHostRegister: once; cuMemHostUnregister: what is registered, by its start")
{
	static char memory[1 << 16] __attribute__((aligned(4096)));
	use_device();
	EXPECT_EQ(cuMemHostRegister_v2(NULL, 4096, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemHostRegister_v2(memory, 0, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemHostRegister_v2(memory, 4096, 0x1000), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemHostRegister_v2(memory, sizeof(memory), CU_MEMHOSTREGISTER_PORTABLE));
	EXPECT_EQ(cuMemHostRegister_v2(memory, sizeof(memory), 0),
	    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
	OK(cuMemHostUnregister(memory));
	EXPECT_EQ(cuMemHostUnregister(memory), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
}

RULE(managed, "cuMemAllocManaged: attached to all or to the host, more than 0 bytes")
{
	CUdeviceptr a;
	use_device();
	EXPECT_EQ(cuMemAllocManaged(&a, 0, CU_MEM_ATTACH_GLOBAL), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAllocManaged(&a, 4096, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_SINGLE), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_HOST));
	OK(cuMemFree_v2(a));
}

static int range_attribute(CUmem_range_attribute attribute, CUdeviceptr a, size_t bytes)
{
	int value = -77;
	OK(cuMemRangeGetAttribute(&value, sizeof(value), attribute, a, bytes));
	return value;
}

RULE(advice, "cuMemAdvise: what was set is told by cuMemRangeGetAttribute until it is unset")
{
	CUdeviceptr a;
	size_t bytes = 4 * MIB;
	use_device();
	OK(cuMemAllocManaged(&a, bytes, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, bytes), 0);
	EXPECT_EQ(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, a, bytes),
	    CU_DEVICE_INVALID);
	OK(cuMemAdvise(a, bytes, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
	OK(cuMemAdvise(a, bytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, 0));
	EXPECT_EQ(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, bytes), 1);
	EXPECT_EQ(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, a, bytes), 0);
	OK(cuMemAdvise(a, bytes, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, CU_DEVICE_CPU));
	EXPECT_EQ(
	    range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, a, bytes), CU_DEVICE_CPU);
	OK(cuMemAdvise(a, bytes, CU_MEM_ADVISE_UNSET_READ_MOSTLY, 0));
	OK(cuMemAdvise(a, bytes, CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION, 0));
	EXPECT_EQ(range_attribute(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, a, bytes), 0);
	EXPECT_EQ(range_attribute(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, a, bytes),
	    CU_DEVICE_INVALID);
}

RULE(advised_accessors,
    "cuMemRangeGetAttribute: ACCESSED_BY fills the rest of the list with CU_DEVICE_INVALID")
{
	int list[3] = {7, 7, 7};
	CUdeviceptr a;
	use_device();
	OK(cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemAdvise(a, 4096, CU_MEM_ADVISE_SET_ACCESSED_BY, CU_DEVICE_CPU));
	OK(cuMemRangeGetAttribute(list, sizeof(list), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, a, 4096));
	EXPECT_EQ(list[0], CU_DEVICE_CPU);
	EXPECT_EQ(list[1], CU_DEVICE_INVALID);
	EXPECT_EQ(list[2], CU_DEVICE_INVALID);
	OK(cuMemAdvise(a, 4096, CU_MEM_ADVISE_UNSET_ACCESSED_BY, CU_DEVICE_CPU));
	OK(cuMemRangeGetAttribute(list, sizeof(list), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, a, 4096));
	EXPECT_EQ(list[0], CU_DEVICE_INVALID);
}

RULE(several_attributes, "cuMemRangeGetAttributes: each in its own room, of the right size")
{
	CUmem_range_attribute ask[2] = {
	    CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION};
	int mostly = 7, place = 7;
	void *answers[2] = {&mostly, &place};
	size_t rooms[2] = {4, 4};
	CUdeviceptr a;
	use_device();
	OK(cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_GLOBAL));
	OK(cuMemAdvise(a, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 0));
	OK(cuMemRangeGetAttributes(answers, rooms, ask, 2, a, 4096));
	EXPECT_EQ(mostly, 1);
	EXPECT_EQ(place, CU_DEVICE_INVALID);
	EXPECT_EQ(
	    cuMemRangeGetAttributes(answers, rooms, ask, 0, a, 4096), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemRangeGetAttribute(&mostly, 3, ask[0], a, 4096), CUDA_ERROR_INVALID_VALUE);
}

RULE(last_prefetch, "cuMemPrefetchAsync: managed memory only; the last place is told")
{
	CUdeviceptr a, device;
	use_device();
	device = allocate(4096);
	OK(cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_GLOBAL));
	EXPECT_EQ(range_attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, a, 4096),
	    CU_DEVICE_INVALID);
	OK(cuMemPrefetchAsync(a, 4096, CU_DEVICE_CPU, NULL));
	OK(cuCtxSynchronize());
	EXPECT_EQ(
	    range_attribute(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, a, 4096), CU_DEVICE_CPU);
	EXPECT_EQ(cuMemPrefetchAsync(device, 4096, CU_DEVICE_CPU, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemPrefetchAsync(a, 4096, 100, NULL), CUDA_ERROR_INVALID_DEVICE);
	EXPECT_EQ(
	    cuMemAdvise(device, 4096, CU_MEM_ADVISE_SET_READ_MOSTLY, 0), CUDA_ERROR_INVALID_VALUE);
}

RULE(pointer_settings,
    "cuPointerSetAttribute: CU_POINTER_ATTRIBUTE_SYNC_MEMOPS alone, of device memory")
{
	unsigned one = 1, value = 0;
	CUdeviceptr a;
	use_device();
	a = allocate(4096);
	OK(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
	OK(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a));
	EXPECT_EQ(value, 1);
	EXPECT_EQ(cuPointerSetAttribute(&one, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuPointerSetAttribute(NULL, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, a),
	    CUDA_ERROR_INVALID_VALUE);
}

RULE(pointer_identity, "cuPointerGetAttribute: ids of allocations are never used again")
{
	unsigned long long first = 0, second = 0;
	CUdeviceptr a;
	use_device();
	a = allocate(4096);
	OK(cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_BUFFER_ID, a + 100));
	OK(cuMemFree_v2(a));
	a = allocate(4096);
	OK(cuPointerGetAttribute(&second, CU_POINTER_ATTRIBUTE_BUFFER_ID, a));
	EXPECT(first != second);
}

RULE(fill_alignment, "cuMemsetD16, cuMemsetD32: the target is aligned to the element; "
		     "cuMemsetD2D8: rows fit in the pitch")
{
	CUdeviceptr a;
	use_device();
	a = allocate(4096);
	EXPECT_EQ(cuMemsetD16_v2(a + 1, 1, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemsetD32_v2(a + 2, 1, 4), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemsetD2D32_v2(a, 8, 1, 4, 2), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemsetD8_v2(a, 1, 0));
	OK(cuMemsetD8Async(a, 1, 4096, NULL));
}

RULE(copied_bytes, "cuMemcpy: infers the places of both sides; nothing to copy is no error")
{
	char in[16] = "fifteen letters", out[16] = "";
	CUdeviceptr a, b;
	use_device();
	a = allocate(4096);
	b = allocate(4096);
	OK(cuMemcpy(a, (CUdeviceptr)(uintptr_t)in, 16));
	OK(cuMemcpyDtoDAsync_v2(b, a, 16, NULL));
	OK(cuMemcpyAsync((CUdeviceptr)(uintptr_t)out, b, 16, NULL));
	OK(cuCtxSynchronize());
	EXPECT_STR(out, in);
	OK(cuMemcpyHtoD_v2(a, in, 0));
	EXPECT_EQ(cuMemcpyDtoD_v2(a, 16, 4), CUDA_ERROR_INVALID_VALUE);
}

RULE(peer_copies, "cuMemcpyPeer: the contexts of both sides are named, and may be the same one")
{
	char in[8] = "letters", out[8] = "";
	CUcontext own = use_device();
	CUdeviceptr a = allocate(64), b = allocate(64);
	OK(cuMemcpyHtoD_v2(a, in, 8));
	OK(cuMemcpyPeer(b, own, a, own, 8));
	OK(cuMemcpyDtoH_v2(out, b, 8));
	EXPECT_STR(out, in);
	OK(cuMemcpyPeerAsync(a, own, b, own, 8, NULL));
	CUDA_MEMCPY3D_PEER rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
	    .srcDevice = a,
	    .srcContext = own,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstDevice = b,
	    .dstContext = own,
	    .WidthInBytes = 4,
	    .Height = 1,
	    .Depth = 1};
	OK(cuMemcpy3DPeer(&rows));
	OK(cuMemcpy3DPeerAsync(&rows, NULL));
	EXPECT_EQ(cuMemcpy3DPeer(NULL), CUDA_ERROR_INVALID_VALUE);
}

RULE(copied_rows, "cuMemcpy2D: a pitch shorter than the row is invalid, also in the unaligned and "
		  "the queued form")
{
	char host[64] = "";
	CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	    .srcHost = host,
	    .srcPitch = 8,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstPitch = 16,
	    .WidthInBytes = 8,
	    .Height = 2};
	use_device();
	up.dstDevice = allocate(64);
	OK(cuMemcpy2D_v2(&up));
	OK(cuMemcpy2DUnaligned_v2(&up));
	OK(cuMemcpy2DAsync_v2(&up, NULL));
	OK(cuCtxSynchronize());
	up.srcPitch = 7;
	EXPECT_EQ(cuMemcpy2D_v2(&up), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemcpy2DUnaligned_v2(&up), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemcpy2DAsync_v2(&up, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuMemcpy2D_v2(NULL), CUDA_ERROR_INVALID_VALUE);
}

RULE(array_copies,
    "cuMemcpyAtoD, cuMemcpyDtoA, cuMemcpyAtoA: offsets and lengths in bytes of one row")
{
	CUDA_ARRAY_DESCRIPTOR row = {
	    .Width = 16, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
	CUDA_ARRAY3D_DESCRIPTOR told;
	char in[16] = "fifteen letters", out[16] = "";
	CUarray first, second;
	CUdeviceptr a;
	use_device();
	a = allocate(64);
	OK(cuArrayCreate_v2(&first, &row));
	OK(cuArrayCreate_v2(&second, &row));
	OK(cuMemcpyHtoD_v2(a, in, 16));
	OK(cuMemcpyDtoA_v2(first, 0, a, 16));
	OK(cuMemcpyAtoA_v2(second, 0, first, 0, 16));
	OK(cuMemcpyAtoD_v2(a, second, 8, 8));
	OK(cuMemcpyDtoH_v2(out, a, 8));
	EXPECT_STR(out, "letters");
	OK(cuArray3DGetDescriptor_v2(&told, second));
	EXPECT(told.Width == 16 && told.Height == 0 && told.Depth == 0);
	OK(cuArrayDestroy(first));
	OK(cuArrayDestroy(second));
}

RULE(arrays, "cuArray3DCreate: 1, 2 or 4 channels; a depth needs a height unless it is layered")
{
	CUDA_ARRAY3D_DESCRIPTOR d = {
	    .Width = 8, .Height = 8, .Depth = 8, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 3};
	CUarray array;
	use_device();
	EXPECT_EQ(cuArray3DCreate_v2(&array, &d), CUDA_ERROR_INVALID_VALUE);
	d.NumChannels = 4;
	OK(cuArray3DCreate_v2(&array, &d));
	OK(cuArrayDestroy(array));
	d.Width = 0;
	EXPECT_EQ(cuArray3DCreate_v2(&array, &d), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuArray3DCreate_v2(&array, NULL), CUDA_ERROR_INVALID_VALUE);
}
