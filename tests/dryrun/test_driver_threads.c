/* SPDX-License-Identifier: Apache-2.0 */
/* Everything at once from sixteen threads: for the thread sanitizer, and for what adds up
 * afterwards. */
#include <pthread.h>

#include "tests/dryrun/driver_test.h"

#define THREADS 16
#define ROUNDS 60

static CUcontext context;
static CUfunction kernel;
static CUevent shared_event; /* recorded and awaited by all */
static CUmemoryPool pool;
static int calls;

static void CUDA_CB count_call(void *unused)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void move_bytes(CUstream stream, unsigned value)
{
	CUdeviceptr a, b;
	unsigned out = 0;
	OK(cuMemAlloc_v2(&a, 4096));
	OK(cuMemAllocFromPoolAsync(&b, 4096, pool, stream));
	OK(cuMemsetD32Async(a, value, 16, stream));
	OK(cuMemcpyDtoDAsync_v2(b, a, 64, stream));
	OK(cuMemcpyDtoHAsync_v2(&out, b + 60, 4, stream));
	OK(cuStreamSynchronize(stream));
	EXPECT_EQ(out, value);
	OK(cuMemFreeAsync(b, stream));
	OK(cuMemFree_v2(a));
}

static void order(CUstream stream, CUevent own)
{
	OK(launch(kernel, stream));
	OK(cuEventRecord(own, stream));
	OK(cuEventRecord(shared_event, stream));
	OK(cuStreamWaitEvent(stream, shared_event, 0));
	OK(cuLaunchHostFunc(stream, count_call, NULL));
	OK(cuEventSynchronize(own));
}

static void use_graph(CUstream stream)
{
	CUgraph graph;
	CUgraphExec exec;
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(launch(kernel, stream));
	OK(cuLaunchHostFunc(stream, count_call, NULL));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(graph));
}

static void map_memory(void)
{
	CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemAccessDesc access = {
	    .location = properties.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr a;
	OK(cuMemAddressReserve(&a, 2 * MIB, 0, 0, 0));
	OK(cuMemCreate(&handle, 2 * MIB, &properties, 0));
	OK(cuMemMap(a, 2 * MIB, 0, handle, 0));
	OK(cuMemSetAccess(a, 2 * MIB, &access, 1));
	OK(cuMemsetD8_v2(a, 1, 100));
	OK(cuStreamSynchronize(NULL)); /* unmapping waits for nothing */
	OK(cuMemUnmap(a, 2 * MIB));
	OK(cuMemRelease(handle));
	OK(cuMemAddressFree(a, 2 * MIB));
}

static void *work(void *number)
{
	CUstream stream;
	CUevent own;
	OK(cuCtxSetCurrent(context));
	for (unsigned round = 0; round < ROUNDS; round++) {
		OK(cuStreamCreate(&stream, round % 2 ? CU_STREAM_NON_BLOCKING : 0));
		OK(cuEventCreate(&own, 0));
		move_bytes(stream, (unsigned)(uintptr_t)number * ROUNDS + round + 1);
		order(stream, own);
		if (round %
		    2) /* a blocking stream could be waited for by another thread's default one */
			use_graph(stream);
		map_memory();
		OK(cuEventDestroy_v2(own));
		OK(cuStreamDestroy_v2(stream));
	}
	return NULL;
}

TEST(everything_from_sixteen_threads)
{
	pthread_t threads[THREADS];
	size_t left;
	context = start_small();
	kernel = load_kernel("nothing");
	OK(cuEventCreate(&shared_event, CU_EVENT_DISABLE_TIMING));
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	OK(cuCtxSynchronize());
	EXPECT_EQ(calls, THREADS * ROUNDS * 2); /* one a round, and two graphs every second one */
	OK(cuMemPoolTrimTo(pool, 0));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
}
