/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the driver: streams, events, what waits for what, capture. */
#include <pthread.h>
#include <stdatomic.h>

#include "tests/dryrun/driver_test.h"

static atomic_int opened, passed;

/* Holds its stream up until the test opens the gate. */
static void CUDA_CB gate(void *unused)
{
	while (!atomic_load(&opened))
		usleep(100);
	atomic_store(&passed, 1);
}

static void CUDA_CB note_passed(void *seen)
{
	*(int *)seen = atomic_load(&passed);
}

static CUstream new_stream(unsigned flags)
{
	CUstream stream;
	OK(cuStreamCreate(&stream, flags));
	return stream;
}

static CUevent new_event(unsigned flags)
{
	CUevent event;
	OK(cuEventCreate(&event, flags));
	return event;
}

RULE(stream_creation,
    "cuStreamCreateWithPriority: flags are known ones, priorities are clamped to the range")
{
	CUstream stream;
	int least, greatest, priority;
	unsigned flags;
	use_device();
	EXPECT_EQ(cuStreamCreate(&stream, 0x80), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuStreamCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxGetStreamPriorityRange(&least, &greatest));
	OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1000));
	OK(cuStreamGetPriority(stream, &priority));
	EXPECT_EQ(priority, greatest);
	OK(cuStreamGetFlags(stream, &flags));
	EXPECT_EQ(flags, CU_STREAM_NON_BLOCKING);
	OK(cuStreamDestroy_v2(stream));
	OK(cuStreamCreateWithPriority(&stream, 0, 1000));
	OK(cuStreamGetPriority(stream, &priority));
	EXPECT_EQ(priority, least);
	EXPECT_EQ(cuStreamGetPriority(stream, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamDestroy_v2(stream));
}

RULE(stream_queries, "cuStreamQuery: CUDA_ERROR_NOT_READY until all work is done")
{
	CUstream stream;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuStreamQuery(stream));
	OK(cuLaunchHostFunc(stream, gate, NULL));
	EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	atomic_store(&opened, 1);
	OK(cuStreamSynchronize(stream));
	OK(cuStreamQuery(stream));
}

/* What a host function behind `second` sees while `first` is held up, then let go. */
static int order_of(CUstream first, CUstream second)
{
	int seen = -1;
	OK(cuLaunchHostFunc(first, gate, NULL));
	OK(cuLaunchHostFunc(second, note_passed, &seen));
	usleep(20000);
	atomic_store(&opened, 1);
	OK(cuCtxSynchronize());
	return seen;
}

RULE(legacy_after_blocking, "the legacy default stream waits for blocking streams")
{
	use_device();
	EXPECT_EQ(order_of(new_stream(0), CU_STREAM_LEGACY), 1);
}

RULE(blocking_after_legacy, "blocking streams wait for the legacy default stream")
{
	use_device();
	EXPECT_EQ(order_of(CU_STREAM_LEGACY, new_stream(0)), 1);
}

RULE(non_blocking, "streams with CU_STREAM_NON_BLOCKING do not wait for the legacy default stream, "
		   "nor it for them")
{
	use_device();
	EXPECT_EQ(order_of(CU_STREAM_LEGACY, new_stream(CU_STREAM_NON_BLOCKING)), 0);
}

RULE(per_thread, "a per-thread default stream waits like a blocking one")
{
	use_device();
	EXPECT_EQ(order_of(CU_STREAM_LEGACY, CU_STREAM_PER_THREAD), 1);
}

RULE(host_functions, "cuLaunchHostFunc: there must be a function")
{
	use_device();
	EXPECT_EQ(cuLaunchHostFunc(NULL, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
}

static void CUDA_CB count_call(CUstream stream, CUresult status, void *count)
{
	*(int *)count += status == CUDA_SUCCESS;
}

RULE(callbacks, "cuStreamAddCallback: called once with the stream's status, behind the work in "
		"front; flags are 0")
{
	CUstream stream;
	int count = 0;
	use_device();
	stream = new_stream(0);
	EXPECT_EQ(cuStreamAddCallback(stream, count_call, &count, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamAddCallback(stream, count_call, &count, 0));
	OK(cuStreamSynchronize(stream));
	EXPECT_EQ(count, 1);
}

RULE(event_flags, "cuEventCreate: known flags; an event for other processes has no time")
{
	CUevent event;
	use_device();
	EXPECT_EQ(cuEventCreate(&event, 0x100), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuEventCreate(&event, CU_EVENT_INTERPROCESS), CUDA_ERROR_INVALID_VALUE);
	OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	EXPECT_EQ(cuEventRecordWithFlags(event, NULL, 0x100), CUDA_ERROR_INVALID_VALUE);
	OK(cuEventDestroy_v2(event));
}

RULE(event_times, "cuEventElapsedTime: both recorded, with times, and done")
{
	CUevent first, second, silent;
	CUstream stream;
	float ms = -1;
	use_device();
	first = new_event(0);
	second = new_event(0);
	silent = new_event(CU_EVENT_DISABLE_TIMING);
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuEventQuery(first)); /* never recorded */
	OK(cuEventSynchronize(first));
	EXPECT_EQ(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventRecord(first, stream));
	OK(cuEventRecord(silent, stream));
	OK(cuStreamSynchronize(stream));
	EXPECT_EQ(cuEventElapsedTime(&ms, first, silent), CUDA_ERROR_INVALID_HANDLE);
	OK(cuLaunchHostFunc(stream, gate, NULL));
	OK(cuEventRecord(second, stream));
	EXPECT_EQ(cuEventQuery(second), CUDA_ERROR_NOT_READY);
	EXPECT_EQ(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_NOT_READY);
	atomic_store(&opened, 1);
	OK(cuEventSynchronize(second));
	OK(cuEventElapsedTime(&ms, first, second));
	EXPECT(ms >= 0);
}

RULE(event_owner, "cuEventRecord: event and stream are of one context")
{
	CUcontext other;
	CUevent event;
	use_device();
	event = new_event(0);
	OK(cuCtxCreate_v2(&other, 0, 0));
	EXPECT_EQ(cuEventRecord(event, new_stream(0)), CUDA_ERROR_INVALID_HANDLE);
	OK(cuCtxDestroy_v2(other));
}

RULE(later_records,
    "cuStreamWaitEvent: waits for the last record before the call, not for later ones")
{
	CUstream held, free_one;
	CUevent event;
	use_device();
	held = new_stream(CU_STREAM_NON_BLOCKING);
	free_one = new_stream(CU_STREAM_NON_BLOCKING);
	event = new_event(CU_EVENT_DISABLE_TIMING);
	OK(cuStreamWaitEvent(free_one, event, 0)); /* never recorded: nothing to wait for */
	OK(cuEventRecord(event, held));
	OK(cuStreamWaitEvent(free_one, event, 0));
	OK(cuLaunchHostFunc(held, gate, NULL));
	OK(cuEventRecord(event, held));
	OK(cuStreamSynchronize(free_one));
	EXPECT_EQ(cuStreamQuery(held), CUDA_ERROR_NOT_READY);
	EXPECT_EQ(cuStreamWaitEvent(free_one, event, 0x100), CUDA_ERROR_INVALID_VALUE);
	atomic_store(&opened, 1);
	OK(cuStreamSynchronize(held));
}

RULE(stream_attributes,
    "cuStreamSetAttribute: told by cuStreamGetAttribute, copied by cuStreamCopyAttributes")
{
	CUstreamAttrValue value = {.syncPolicy = CU_SYNC_POLICY_YIELD}, told;
	CUstream first, second;
	use_device();
	first = new_stream(0);
	second = new_stream(0);
	OK(cuStreamSetAttribute(first, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &value));
	OK(cuStreamCopyAttributes(second, first));
	OK(cuStreamGetAttribute(second, CU_STREAM_ATTRIBUTE_SYNCHRONIZATION_POLICY, &told));
	EXPECT_EQ(told.syncPolicy, CU_SYNC_POLICY_YIELD);
}

RULE(memory_operations,
    "cuStreamBatchMemOp: at most 256 operations, flags 0; cuStreamWriteValue32: aligned addresses")
{
	CUstreamBatchMemOpParams operation = {
	    .writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .value = 5}};
	unsigned out = 0;
	CUdeviceptr a;
	CUstream stream;
	use_device();
	stream = new_stream(0);
	OK(cuMemAlloc_v2(&a, 64));
	OK(cuMemsetD32_v2(a, 0, 16));
	operation.writeValue.address = a;
	OK(cuStreamBatchMemOp_v2(stream, 1, &operation, 0));
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 5);
	EXPECT_EQ(cuStreamBatchMemOp_v2(stream, 257, &operation, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuStreamBatchMemOp_v2(stream, 1, &operation, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuStreamBatchMemOp_v2(stream, 1, NULL, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuStreamWriteValue32_v2(stream, a + 2, 1, 0), CUDA_ERROR_INVALID_VALUE);
}

RULE(attached_memory, "cuStreamAttachMemAsync: known flags, managed memory")
{
	CUdeviceptr a, device;
	CUstream stream;
	use_device();
	stream = new_stream(0);
	OK(cuMemAlloc_v2(&device, 64));
	OK(cuMemAllocManaged(&a, 4096, CU_MEM_ATTACH_GLOBAL));
	OK(cuStreamAttachMemAsync(stream, a, 0, CU_MEM_ATTACH_SINGLE));
	EXPECT_EQ(cuStreamAttachMemAsync(stream, a, 0, 9), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuStreamAttachMemAsync(stream, device, 0, CU_MEM_ATTACH_GLOBAL),
	    CUDA_ERROR_INVALID_VALUE);
}

/* ---- capture ---- */

RULE(capture_start,
    "cuStreamBeginCapture: not on the legacy stream, not twice; cuStreamEndCapture: of a capture")
{
	CUstream stream;
	CUgraph graph = NULL;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	EXPECT_EQ(cuStreamBeginCapture_v2(CU_STREAM_LEGACY, CU_STREAM_CAPTURE_MODE_RELAXED),
	    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT_EQ(
	    cuStreamBeginCapture_v2(stream, (CUstreamCaptureMode)9), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED),
	    CUDA_ERROR_ILLEGAL_STATE);
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphDestroy(graph));
}

RULE(capture_waits, "waiting for a stream that captures breaks the capture")
{
	CUstream stream;
	CUgraph graph = (CUgraph)&stream;
	CUstreamCaptureStatus status;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuStreamIsCapturing(stream, &status));
	EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	OK(cuStreamIsCapturing(stream, &status));
	EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EXPECT(!graph);
	OK(cuStreamIsCapturing(stream, &status));
	EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
}

RULE(capture_modes,
    "a call that may wait is forbidden in a global capture's thread and allowed in a relaxed one")
{
	CUstream stream;
	CUgraph graph;
	CUdeviceptr a;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_EQ(cuMemAlloc_v2(&a, 64), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuMemAlloc_v2(&a, 64));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphDestroy(graph));
}

RULE(capture_exchange,
    "cuThreadExchangeStreamCaptureMode: swaps, so that a library can allow itself what it needs")
{
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUstream stream;
	CUgraph graph;
	CUdeviceptr a;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
	OK(cuMemAlloc_v2(&a, 64));
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphDestroy(graph));
}

RULE(capture_isolation, "a capture may not depend on work that is not captured")
{
	CUstream stream, outside;
	CUgraph graph;
	CUevent event;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	outside = new_stream(CU_STREAM_NON_BLOCKING);
	event = new_event(CU_EVENT_DISABLE_TIMING);
	OK(cuEventRecord(event, outside));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_EQ(cuStreamWaitEvent(stream, event, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
}

RULE(capture_joins, "streams that a capture spread to must be joined before its end")
{
	CUstream stream, side;
	CUgraph graph = NULL;
	CUevent event;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	side = new_stream(CU_STREAM_NON_BLOCKING);
	event = new_event(CU_EVENT_DISABLE_TIMING);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuEventRecord(event, stream));
	OK(cuStreamWaitEvent(side, event, 0));
	OK(launch(load_kernel("nothing"), side));
	EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
	EXPECT(cuStreamEndCapture(stream, &graph) != CUDA_SUCCESS);
}

static void *end_capture(void *stream)
{
	CUgraph graph;
	return (void *)(intptr_t)cuStreamEndCapture(stream, &graph);
}

RULE(capture_thread,
    "cuStreamEndCapture: a capture that is not relaxed ends in the thread where it began")
{
	pthread_t thread;
	void *result;
	CUstream stream;
	CUgraph graph;
	use_device();
	stream = new_stream(CU_STREAM_NON_BLOCKING);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	REQUIRE(pthread_create(&thread, NULL, end_capture, stream) == 0);
	pthread_join(thread, &result);
	EXPECT_EQ((intptr_t)result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	cuStreamEndCapture(stream, &graph);
}
