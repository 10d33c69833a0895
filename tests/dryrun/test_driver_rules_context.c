/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the driver: start, devices, contexts, peers. */
#include "tests/dryrun/driver_test.h"

/* Their header is not among those of the runtime's package. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

static void init(void)
{
	if (!on_real_driver())
		setenv("GPUSHIM_DRYRUN_DEVICE", "name=Test GPU;total=1073741824;cc=8.0;sm=108", 1);
	OK(cuInit(0));
}

RULE(init_flags, "cuInit: flags are 0")
{
	EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	OK(cuInit(0));
	OK(cuInit(0));
}

RULE(errors_have_texts,
    "cuGetErrorName, cuGetErrorString: an unknown code is invalid and has no text")
{
	const char *text = "";
	OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
	EXPECT_STR(text, "CUDA_ERROR_OUT_OF_MEMORY");
	OK(cuGetErrorString(CUDA_SUCCESS, &text));
	EXPECT_EQ(cuGetErrorName((CUresult)-1, &text), CUDA_ERROR_INVALID_VALUE);
	EXPECT(!text);
	text = "";
	EXPECT_EQ(cuGetErrorString((CUresult)-1, &text), CUDA_ERROR_INVALID_VALUE);
	EXPECT(!text);
}

RULE(version, "cuDriverGetVersion: may be called before cuInit, needs a place for the answer")
{
	int version = 0;
	OK(cuDriverGetVersion(&version));
	EXPECT(version >= 11000);
	EXPECT_EQ(cuDriverGetVersion(NULL), CUDA_ERROR_INVALID_VALUE);
}

RULE(device_ordinals, "cuDeviceGet: ordinals are 0 to the number of devices less one")
{
	CUdevice device;
	int count = 0;
	init();
	OK(cuDeviceGetCount(&count));
	OK(cuDeviceGet(&device, count - 1));
	EXPECT_EQ(cuDeviceGet(&device, count), CUDA_ERROR_INVALID_DEVICE);
	EXPECT_EQ(cuDeviceGet(&device, -1), CUDA_ERROR_INVALID_DEVICE);
	EXPECT_EQ(cuDeviceGetCount(NULL), CUDA_ERROR_INVALID_VALUE);
}

RULE(device_name, "cuDeviceGetName: the name ends within the room given")
{
	char name[8] = "zzzzzzz";
	init();
	OK(cuDeviceGetName(name, 4, 0));
	EXPECT_EQ(strlen(name), 3);
	EXPECT_EQ(name[4], 'z');
	EXPECT_EQ(cuDeviceGetName(NULL, 4, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuDeviceGetName(name, 4, -1), CUDA_ERROR_INVALID_DEVICE);
}

RULE(
    device_attributes, "cuDeviceGetAttribute: attributes and devices that do not exist are refused")
{
	int value = 0, major = 0, minor = -1;
	init();
	EXPECT_EQ(
	    cuDeviceGetAttribute(&value, (CUdevice_attribute)100000, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(
	    cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, -1),
	    CUDA_ERROR_INVALID_DEVICE);
	OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	OK(cuDeviceComputeCapability(&major, &minor, 0));
	EXPECT_EQ(major, value);
	EXPECT(minor >= 0);
}

RULE(device_identity,
    "cuDeviceGetUuid, cuDeviceGetByPCIBusId: a device is found again by its identity")
{
	CUuuid first, second;
	CUdevice device = -1;
	char address[64];
	init();
	OK(cuDeviceGetUuid(&first, 0));
	OK(cuDeviceGetUuid_v2(&second, 0));
	EXPECT(memcmp(&first, &second, sizeof(first)) == 0);
	EXPECT_EQ(cuDeviceGetUuid(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGetPCIBusId(address, sizeof(address), 0));
	OK(cuDeviceGetByPCIBusId(&device, address));
	EXPECT_EQ(device, 0);
	EXPECT_EQ(cuDeviceGetByPCIBusId(&device, "nonsense"), CUDA_ERROR_INVALID_VALUE);
}

RULE(peers_of_one_device,
    "cuDeviceCanAccessPeer, cuDeviceGetP2PAttribute: a device is not its own peer")
{
	int can = 1;
	init();
	OK(cuDeviceCanAccessPeer(&can, 0, 0));
	EXPECT_EQ(can, 0);
	EXPECT_EQ(cuDeviceGetP2PAttribute(&can, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
	    CUDA_ERROR_INVALID_DEVICE);
	EXPECT_EQ(cuDeviceGetP2PAttribute(NULL, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, -1), CUDA_ERROR_INVALID_DEVICE);
}

RULE(peer_access_arguments, "cuCtxEnablePeerAccess: the peer is another, valid context; "
			    "cuCtxDisablePeerAccess: only what is enabled")
{
	CUcontext own = use_device();
	EXPECT_EQ(cuCtxEnablePeerAccess(own, 0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxEnablePeerAccess(NULL, 0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxDisablePeerAccess(NULL), CUDA_ERROR_INVALID_CONTEXT);
}

RULE(primary_context_state,
    "cuDevicePrimaryCtxGetState: active from the first retain to the last release")
{
	CUcontext first, second;
	unsigned flags = 9;
	int active = 9;
	init();
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT_EQ(active, 0);
	OK(cuDevicePrimaryCtxRetain(&first, 0));
	OK(cuDevicePrimaryCtxRetain(&second, 0));
	EXPECT(first == second);
	OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT_EQ(active, 1);
	OK(cuDevicePrimaryCtxRelease_v2(0));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT_EQ(active, 0);
	EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuDevicePrimaryCtxRetain(&first, -1), CUDA_ERROR_INVALID_DEVICE);
}

RULE(primary_context_flags,
    "cuDevicePrimaryCtxSetFlags: known flags only, told by cuDevicePrimaryCtxGetState")
{
	unsigned flags = 0;
	int active;
	init();
	EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(0, 0x1000), CUDA_ERROR_INVALID_VALUE);
	OK(cuDevicePrimaryCtxSetFlags_v2(0, CU_CTX_SCHED_BLOCKING_SYNC));
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT_EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_BLOCKING_SYNC);
	EXPECT_EQ(cuDevicePrimaryCtxSetFlags_v2(-1, 0), CUDA_ERROR_INVALID_DEVICE);
}

RULE(primary_context_reset,
    "cuDevicePrimaryCtxReset: ends what was allocated in it, whoever retains it")
{
	CUdeviceptr a;
	use_device();
	OK(cuMemAlloc_v2(&a, MIB));
	OK(cuDevicePrimaryCtxReset_v2(0));
	EXPECT(cuMemFree_v2(a) != CUDA_SUCCESS);
}

RULE(context_stack,
    "cuCtxCreate pushes, cuCtxDestroy pops what is current, cuCtxPopCurrent tells what it popped")
{
	CUcontext first, second, now = NULL;
	init();
	OK(cuCtxGetCurrent(&now));
	EXPECT(!now);
	EXPECT_EQ(cuCtxPopCurrent_v2(&now), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuCtxCreate_v2(&first, 0, 0));
	OK(cuCtxCreate_v2(&second, 0, 0));
	OK(cuCtxGetCurrent(&now));
	EXPECT(now == second);
	OK(cuCtxDestroy_v2(second));
	OK(cuCtxGetCurrent(&now));
	EXPECT(now == first);
	OK(cuCtxPushCurrent_v2(first));
	OK(cuCtxPopCurrent_v2(&now));
	OK(cuCtxPopCurrent_v2(&now));
	EXPECT(now == first);
	OK(cuCtxGetCurrent(&now));
	EXPECT(!now);
	OK(cuCtxDestroy_v2(first));
}

RULE(set_current, "cuCtxSetCurrent: replaces the top of the stack, NULL pops it")
{
	CUcontext first, second, now;
	init();
	OK(cuCtxCreate_v2(&first, 0, 0));
	OK(cuCtxCreate_v2(&second, 0, 0));
	OK(cuCtxSetCurrent(first));
	OK(cuCtxSetCurrent(NULL));
	OK(cuCtxGetCurrent(&now));
	EXPECT(now == first); /* what lay below */
	OK(cuCtxDestroy_v2(second));
}

RULE(without_a_context, "calls that need a context answer CUDA_ERROR_INVALID_CONTEXT without one")
{
	CUdevice device;
	CUstream stream;
	CUevent event;
	CUdeviceptr a;
	unsigned flags;
	size_t value;
	void *memory;
	init();
	EXPECT_EQ(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxGetFlags(&flags), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 1024), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuEventCreate(&event, 0), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuMemAlloc_v2(&a, 4), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuMemAllocHost_v2(&memory, 4), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuMemGetInfo_v2(&value, &value), CUDA_ERROR_INVALID_CONTEXT);
}

RULE(context_flags, "cuCtxCreate: known flags only; cuCtxGetFlags tells them")
{
	CUcontext context;
	unsigned flags = 0;
	init();
	EXPECT_EQ(cuCtxCreate_v2(&context, 0x10000, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuCtxCreate_v2(&context, 0, -1), CUDA_ERROR_INVALID_DEVICE);
	OK(cuCtxCreate_v2(&context, CU_CTX_SCHED_YIELD, 0));
	OK(cuCtxGetFlags(&flags));
	EXPECT_EQ(flags & CU_CTX_SCHED_MASK, CU_CTX_SCHED_YIELD);
	EXPECT_EQ(cuCtxGetFlags(NULL), CUDA_ERROR_INVALID_VALUE);
}

RULE(limits, "cuCtxSetLimit, cuCtxGetLimit: a limit reads as at least what was set; unknown ones "
	     "are unsupported")
{
	size_t value = 0;
	use_device();
	OK(cuCtxSetLimit(CU_LIMIT_PRINTF_FIFO_SIZE, 2 * MIB));
	OK(cuCtxGetLimit(&value, CU_LIMIT_PRINTF_FIFO_SIZE));
	EXPECT(value >= 2 * MIB);
	OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	EXPECT(value > 0);
	OK(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
	OK(cuCtxGetLimit(&value, CU_LIMIT_STACK_SIZE));
	EXPECT(value >= 4096);
	EXPECT_EQ(cuCtxSetLimit((CUlimit)1000, 1), CUDA_ERROR_UNSUPPORTED_LIMIT);
	EXPECT_EQ(cuCtxGetLimit(&value, (CUlimit)1000), CUDA_ERROR_UNSUPPORTED_LIMIT);
	EXPECT_EQ(cuCtxGetLimit(NULL, CU_LIMIT_STACK_SIZE), CUDA_ERROR_INVALID_VALUE);
}

RULE(cache_settings, "cuCtxSetCacheConfig, cuCtxSetSharedMemConfig: known preferences only")
{
	CUfunc_cache cache;
	CUsharedconfig banks;
	use_device();
	OK(cuCtxSetCacheConfig(CU_FUNC_CACHE_PREFER_L1));
	OK(cuCtxGetCacheConfig(&cache));
	EXPECT((unsigned)cache <= CU_FUNC_CACHE_PREFER_EQUAL);
	EXPECT_EQ(cuCtxSetCacheConfig((CUfunc_cache)77), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxGetSharedMemConfig(&banks));
	EXPECT_EQ(cuCtxGetCacheConfig(NULL), CUDA_ERROR_INVALID_VALUE);
}

RULE(priorities, "cuCtxGetStreamPriorityRange: lower numbers are greater priorities; either answer "
		 "may be left out")
{
	int least = -9, greatest = 9;
	use_device();
	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	EXPECT_EQ(least, 0);
	EXPECT(greatest <= least);
	OK(cuCtxGetStreamPriorityRange(NULL, NULL));
}

RULE(context_identity,
    "cuCtxGetId, cuCtxGetDevice, cuCtxGetApiVersion: about the current context or a named one")
{
	unsigned long long first = 0, second = 0;
	CUcontext primary = use_device(), other;
	unsigned version = 0;
	CUdevice device = -1;
	OK(cuCtxGetId(NULL, &first));
	OK(cuCtxGetId(primary, &second));
	EXPECT_EQ(first, second);
	OK(cuCtxCreate_v2(&other, 0, 0));
	OK(cuCtxGetId(other, &second));
	EXPECT(first != second);
	OK(cuCtxGetApiVersion(other, &version));
	EXPECT(version >= 3010);
	OK(cuCtxGetDevice(&device));
	EXPECT_EQ(device, 0);
	OK(cuCtxDestroy_v2(other));
}

RULE(affinity,
    "cuDeviceGetExecAffinitySupport, cuCtxGetExecAffinity: unsupported kinds are told, not granted")
{
	CUexecAffinityParam affinity;
	int supported = 9;
	use_device();
	OK(cuDeviceGetExecAffinitySupport(&supported, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0));
	EXPECT(supported == 0 || supported == 1);
	if (!supported)
		EXPECT_EQ(cuCtxGetExecAffinity(&affinity, CU_EXEC_AFFINITY_TYPE_SM_COUNT),
		    CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY);
	EXPECT_EQ(cuDeviceGetExecAffinitySupport(NULL, CU_EXEC_AFFINITY_TYPE_SM_COUNT, 0),
	    CUDA_ERROR_INVALID_VALUE);
}

RULE(profiler_switches,
    "cuProfilerStart, cuProfilerStop: may be called in any order, any number of times")
{
	use_device();
	OK(cuProfilerStop());
	OK(cuProfilerStart());
	OK(cuProfilerStart());
	OK(cuProfilerStop());
}
