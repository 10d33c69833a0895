/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for queued work, and who does not: freeing memory, ending streams and contexts; what
 * cannot be waited for. */
#include <pthread.h>

#include "tests/dryrun/driver_test.h"

static int gate_open; /* atomic */

static void open_gate(void)
{
	__atomic_store_n(&gate_open, 1, __ATOMIC_SEQ_CST);
}

/* Host functions. */
static void wait_for_gate(void *unused)
{
	while (!__atomic_load_n(&gate_open, __ATOMIC_SEQ_CST))
		usleep(1000);
}

static void wait_a_little(void *unused)
{
	usleep(20000);
}

static void count_up(void *counter)
{
	__atomic_fetch_add((int *)counter, 1, __ATOMIC_SEQ_CST);
}

/* 7 goes from page-locked memory to the device, but not at once. */
static void queue_late_copy(CUstream *stream, CUdeviceptr *to, int **from)
{
	OK(cuMemAlloc_v2(to, 100));
	OK(cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemHostAlloc((void **)from, 4096, 0));
	**from = 7;
	OK(cuLaunchHostFunc(*stream, wait_a_little, NULL));
	OK(cuMemcpyHtoDAsync_v2(*to, *from, 4, *stream));
}

TEST(host_memory_is_freed_behind_queued_copies)
{
	CUstream stream;
	CUdeviceptr a;
	int *pinned, out = 0;
	static int registered[4096 / sizeof(int)];
	start_small();
	queue_late_copy(&stream, &a, &pinned);
	OK(cuMemFreeHost(pinned));
	OK(cuStreamQuery(stream));
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 7);
	OK(cuMemHostRegister_v2(registered, sizeof(registered), 0));
	OK(cuLaunchHostFunc(stream, wait_a_little, NULL));
	OK(cuMemcpyDtoHAsync_v2(registered, a, 4, stream));
	OK(cuMemHostUnregister(registered));
	EXPECT_EQ(registered[0], 7);
}

TEST(device_memory_is_freed_behind_queued_work)
{
	CUstream stream;
	CUdeviceptr a, b;
	int *pinned, out = 0;
	start_small();
	queue_late_copy(&stream, &a, &pinned);
	OK(cuMemFree_v2(a));
	OK(cuMemAlloc_v2(&b, 100));
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH_v2(&out, b, 4));
	EXPECT_EQ(out, 0);
}

TEST(freeing_waits_for_the_clock)
{
	CUstream stream;
	CUdeviceptr a;
	setenv("GPUSHIM_DRYRUN_CLOCK", "20000000", 1);
	start_small();
	OK(cuMemAlloc_v2(&a, 100));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(launch(load_kernel("nothing"), stream));
	EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	OK(cuMemFree_v2(a));
	OK(cuStreamQuery(stream));
}

struct attempt {
	CUcontext context;
	CUdeviceptr memory;
	CUresult freed, synchronized, destroyed;
};

static void try_to_wait(void *pointer)
{
	struct attempt *attempt = pointer;
	OK(cuCtxSetCurrent(attempt->context));
	attempt->freed = cuMemFree_v2(attempt->memory);
	attempt->synchronized = cuCtxSynchronize();
	attempt->destroyed = cuDevicePrimaryCtxReset_v2(0);
}

TEST(host_functions_cannot_wait_for_themselves)
{
	struct attempt attempt = {.context = start_small()};
	CUstream stream;
	OK(cuMemAlloc_v2(&attempt.memory, 100));
	OK(cuStreamCreate(&stream, 0));
	OK(cuLaunchHostFunc(stream, try_to_wait, &attempt));
	OK(cuStreamSynchronize(stream));
	EXPECT_EQ(attempt.freed, CUDA_ERROR_NOT_PERMITTED);
	EXPECT_EQ(attempt.synchronized, CUDA_ERROR_NOT_PERMITTED);
	EXPECT_EQ(attempt.destroyed, CUDA_ERROR_NOT_PERMITTED);
	OK(cuMemFree_v2(attempt.memory));
}

TEST(memory_is_freed_once_even_behind_queued_work)
{
	CUstream stream;
	CUdeviceptr pooled, plain, a, b;
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAllocAsync(&pooled, 1000, stream));
	OK(cuMemAlloc_v2(&plain, 1000));
	OK(cuLaunchHostFunc(stream, wait_for_gate, NULL));
	OK(cuMemFreeAsync(pooled, stream));
	EXPECT_EQ(cuMemFreeAsync(pooled, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemFreeAsync(plain, stream));
	EXPECT_EQ(cuMemFreeAsync(plain, NULL), CUDA_ERROR_INVALID_VALUE);
	open_gate();
	EXPECT_EQ(cuMemFree_v2(plain), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAlloc_v2(&a, 1000));
	OK(cuMemAlloc_v2(&b, 1000));
	EXPECT(a != b);
}

TEST(a_stream_is_destroyed_without_waiting)
{
	CUstream stream, other;
	static int done;
	start_small();
	OK(cuStreamCreate(&stream, 0));
	OK(cuLaunchHostFunc(stream, wait_for_gate, NULL));
	OK(cuLaunchHostFunc(stream, count_up, &done));
	OK(cuStreamDestroy_v2(stream));
	EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_INVALID_HANDLE);
	OK(cuStreamCreate(&other, 0));
	EXPECT(other != stream);
	EXPECT_EQ(cuStreamQuery(CU_STREAM_LEGACY), CUDA_ERROR_NOT_READY);
	EXPECT_EQ(done, 0);
	open_gate();
	OK(cuCtxSynchronize()); /* what it left is still the context's */
	EXPECT_EQ(done, 1);
}

static void *use_own_stream(void *context)
{
	OK(cuCtxSetCurrent(context));
	OK(cuLaunchHostFunc(CU_STREAM_PER_THREAD, wait_for_gate, NULL));
	return NULL;
}

TEST(a_thread_ends_without_waiting)
{
	pthread_t thread;
	CUcontext context = start_small(), other;
	REQUIRE(pthread_create(&thread, NULL, use_own_stream, context) == 0);
	pthread_join(thread, NULL);
	OK(cuCtxCreate_v2(&other, 0, 0)); /* takes the lock of contexts */
	open_gate();
	OK(cuCtxSetCurrent(context));
	OK(cuCtxSynchronize());
}

static void retain_late(void *result)
{
	CUcontext context;
	usleep(50000);
	*(CUresult *)result = cuDevicePrimaryCtxRetain(&context, 0);
}

TEST(host_functions_do_not_wait_for_the_end_of_their_context)
{
	CUresult result = CUDA_SUCCESS;
	start_small();
	OK(cuLaunchHostFunc(CU_STREAM_LEGACY, retain_late, &result));
	OK(cuDevicePrimaryCtxReset_v2(0));
	EXPECT_EQ(result, CUDA_ERROR_NOT_PERMITTED);
}

static void *make_contexts(void *unused)
{
	CUcontext context;
	usleep(20000);
	OK(cuCtxCreate_v2(&context, 0, 0));
	OK(cuCtxDestroy_v2(context));
	open_gate();
	return NULL;
}

/* The work of a context that ends may depend on a thread that makes or ends another one. */
TEST(others_use_contexts_while_one_ends)
{
	pthread_t thread;
	CUcontext primary = start_small(), context;
	CUstream stream;
	unsigned flags;
	int active;
	static int done;
	OK(cuCtxCreate_v2(&context, 0, 0));
	OK(cuStreamCreate(&stream, 0));
	OK(cuLaunchHostFunc(stream, wait_for_gate, NULL));
	OK(cuLaunchHostFunc(stream, count_up, &done));
	REQUIRE(pthread_create(&thread, NULL, make_contexts, NULL) == 0);
	OK(cuCtxDestroy_v2(context));
	EXPECT_EQ(done, 1);
	pthread_join(thread, NULL);
	gate_open = 0;
	OK(cuCtxSetCurrent(primary));
	OK(cuStreamCreate(&stream, 0));
	OK(cuLaunchHostFunc(stream, wait_for_gate, NULL));
	OK(cuLaunchHostFunc(stream, count_up, &done));
	REQUIRE(pthread_create(&thread, NULL, make_contexts, NULL) == 0);
	OK(cuDevicePrimaryCtxReset_v2(0));
	EXPECT_EQ(done, 2);
	pthread_join(thread, NULL);
	OK(cuDevicePrimaryCtxGetState(0, &flags, &active));
	EXPECT_EQ(active, 1);
}

TEST(events_of_whole_contexts_are_not_provided)
{
	CUcontext context = start_small();
	CUevent event;
	OK(cuEventCreate(&event, 0));
	EXPECT_EQ(cuCtxRecordEvent(context, event), CUDA_ERROR_NOT_SUPPORTED);
	EXPECT_EQ(cuCtxWaitEvent(context, event), CUDA_ERROR_NOT_SUPPORTED);
}

TEST(captured_records_of_events_have_no_time)
{
	CUevent event, plain;
	CUstream stream;
	CUgraph graph;
	float ms;
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, 0));
	OK(cuEventCreate(&plain, 0));
	OK(cuEventRecord(plain, stream));
	OK(cuEventRecord(event, stream));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuEventRecord(event, stream));
	EXPECT_EQ(cuEventElapsedTime(&ms, plain, event), CUDA_ERROR_CAPTURED_EVENT);
	OK(cuStreamEndCapture(stream, &graph));
	EXPECT_EQ(cuEventElapsedTime(&ms, event, plain), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuEventSynchronize(event), CUDA_ERROR_INVALID_VALUE);
	OK(cuEventRecord(event, stream));
	OK(cuEventQuery(event));
	OK(cuEventElapsedTime(&ms, plain, event));
	OK(cuGraphDestroy(graph));
}

static const char variable_ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
				   ".visible .global .align 4 .b8 table[64];\n";

TEST(a_module_is_unloaded_behind_queued_work)
{
	CUmodule module;
	CUstream stream;
	CUdeviceptr table, a;
	int *pinned, out = 1;
	start_small();
	OK(cuModuleLoadData(&module, variable_ptx));
	OK(cuModuleGetGlobal_v2(&table, NULL, module, "table"));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemHostAlloc((void **)&pinned, 4096, 0));
	*pinned = 7;
	OK(cuLaunchHostFunc(stream, wait_a_little, NULL));
	OK(cuMemcpyHtoDAsync_v2(table, pinned, 4, stream));
	OK(cuModuleUnload(module));
	OK(cuMemAlloc_v2(&a, 64));
	OK(cuCtxSynchronize());
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 0);
}
