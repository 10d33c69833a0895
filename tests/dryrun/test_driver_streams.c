/* SPDX-License-Identifier: Apache-2.0 */
/* Order in the stand-in driver: streams, events, host functions, capture and graphs. */
#include <dlfcn.h>
#include <pthread.h>
#include <time.h>

#include "tests/dryrun/driver_test.h"

TEST(work_ends_at_once_by_default)
{
	CUevent first, second;
	CUstream stream;
	float ms;
	start_small();
	OK(cuStreamCreate(&stream, 0));
	OK(cuEventCreate(&first, 0));
	OK(cuEventCreate(&second, 0));
	EXPECT_EQ(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(cuEventQuery(first), CUDA_SUCCESS);
	OK(cuEventRecord(first, stream));
	OK(launch(load_kernel("nothing"), stream));
	OK(cuEventRecord(second, stream));
	OK(cuStreamQuery(stream));
	OK(cuEventQuery(second));
	OK(cuEventElapsedTime_v2(&ms, first, second));
	EXPECT(ms >= 0 && ms < 1000);
}

/* ---- host functions ---- */

struct journal {
	pthread_mutex_t lock;
	int steps[16], count;
	pthread_t thread;
};

static struct journal journal = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void note(void *number)
{
	struct timespec pause = {0, 20000000};
	nanosleep(&pause, NULL);
	pthread_mutex_lock(&journal.lock);
	journal.steps[journal.count++] = (int)(intptr_t)number;
	journal.thread = pthread_self();
	pthread_mutex_unlock(&journal.lock);
}

TEST(host_functions_run_in_order_on_another_thread)
{
	CUstream first, second;
	CUevent event;
	start_small();
	OK(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, 0));
	pthread_mutex_lock(&journal.lock); /* a caller may hold locks that the function takes */
	OK(cuLaunchHostFunc(first, note, (void *)1));
	OK(cuEventRecord(event, first));
	OK(cuLaunchHostFunc(first, note, (void *)3));
	EXPECT_EQ(cuStreamQuery(first), CUDA_ERROR_NOT_READY);
	EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery(second));
	OK(cuStreamWaitEvent(second, event, 0));
	OK(cuLaunchHostFunc(second, note, (void *)2));
	pthread_mutex_unlock(&journal.lock);
	OK(cuStreamSynchronize(second));
	OK(cuEventQuery(event));
	OK(cuStreamSynchronize(first));
	EXPECT_EQ(journal.count, 3);
	EXPECT_EQ(journal.steps[0], 1);
	EXPECT(!pthread_equal(journal.thread, pthread_self()));
	OK(cuStreamQuery(first));
	OK(cuEventDestroy_v2(event));
	OK(cuStreamDestroy_v2(first));
	OK(cuStreamDestroy_v2(second));
}

static void write_nine(void *pointer)
{
	struct timespec pause = {0, 20000000};
	nanosleep(&pause, NULL);
	*(int *)pointer = 9;
}

TEST(copies_behind_a_host_function_see_what_it_wrote)
{
	CUstream stream;
	CUdeviceptr a;
	int *pinned, pageable = 5, out = 0;
	start_small();
	OK(cuStreamCreate(&stream, 0));
	OK(cuMemAlloc_v2(&a, 100));
	OK(cuMemHostAlloc((void **)&pinned, 4096, 0));
	OK(cuLaunchHostFunc(stream, write_nine, pinned));
	OK(cuMemcpyHtoDAsync_v2(a, pinned, 4, stream));
	OK(cuMemcpyHtoDAsync_v2(a + 4, &pageable, 4, stream));
	pageable = 6;			 /* taken when the call was made */
	OK(cuMemcpyDtoH_v2(&out, a, 4)); /* the legacy stream waits for the blocking one */
	EXPECT_EQ(out, 9);
	OK(cuMemcpyDtoH_v2(&out, a + 4, 4));
	EXPECT_EQ(out, 5);
	OK(cuCtxSynchronize());
}

static void *the_stream(void *stream)
{
	return *(CUstream *)stream;
}

/* A block that is handed out again is cleared behind what its stream still reads from it. */
TEST(blocks_are_cleared_in_the_order_of_their_stream)
{
	CUstream stream;
	CUdeviceptr block, copy;
	int *pinned, value = 7, out = 0;
	void (*clear)(void *, size_t, void *(*)(void *), void *) = (void (*)(void *, size_t,
	    void *(*)(void *), void *))dlsym(RTLD_DEFAULT, "gpushim_dryrun_clear_in_order");

	REQUIRE(clear != NULL);
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&block, 512));
	OK(cuMemAlloc_v2(&copy, 512));
	OK(cuMemcpyHtoD_v2(block, &value, 4));
	OK(cuMemHostAlloc((void **)&pinned, 4096, 0));
	OK(cuLaunchHostFunc(stream, write_nine, pinned));
	OK(cuMemcpyDtoDAsync_v2(copy, block, 4, stream));
	clear((void *)(uintptr_t)block, 512, the_stream, &stream);
	OK(cuStreamSynchronize(stream));
	OK(cuMemcpyDtoH_v2(&out, copy, 4));
	EXPECT_EQ(out, 7);
	OK(cuMemcpyDtoH_v2(&out, block, 4));
	EXPECT_EQ(out, 0);
	OK(cuMemcpyHtoD_v2(block, &value, 4));
	clear((void *)(uintptr_t)block, 512, the_stream, &stream); /* nothing is queued: at once */
	OK(cuMemcpyDtoH_v2(&out, block, 4));
	EXPECT_EQ(out, 0);
}

TEST(memory_freed_behind_a_host_function_lives_until_then)
{
	CUstream stream;
	CUdeviceptr a;
	int *pinned;
	size_t left;
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemHostAlloc((void **)&pinned, 4096, 0));
	OK(cuMemAllocAsync(&a, MIB, stream));
	OK(cuLaunchHostFunc(stream, write_nine, pinned));
	OK(cuMemFreeAsync(a, stream));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB - MIB);
	OK(cuStreamSynchronize(stream));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
}

TEST(streams_write_and_wait_for_values)
{
	CUstream one, two;
	volatile unsigned *flag;
	start_small();
	OK(cuStreamCreate(&one, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&two, CU_STREAM_NON_BLOCKING));
	OK(cuMemHostAlloc((void **)(uintptr_t)&flag, 4096, 0));
	OK(cuStreamWaitValue32_v2(one, (CUdeviceptr)(uintptr_t)flag, 3, CU_STREAM_WAIT_VALUE_GEQ));
	EXPECT_EQ(cuStreamQuery(one), CUDA_ERROR_NOT_READY);
	OK(cuStreamWriteValue32_v2(two, (CUdeviceptr)(uintptr_t)flag, 4, 0));
	OK(cuStreamSynchronize(one));
	EXPECT_EQ(*flag, 4);
}

/* ---- capture ---- */

TEST(captured_calls_are_done_when_the_graph_is_launched)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	CUstreamCaptureStatus status;
	CUdeviceptr a;
	cuuint64_t id;
	size_t count;
	int in = 3, out = 0;
	start_small();
	CUfunction function = load_kernel("nothing");
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&a, 100));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_EQ(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL),
	    CUDA_ERROR_ILLEGAL_STATE);
	OK(launch(function, stream));
	OK(cuMemcpyHtoDAsync_v2(a, &in, 4, stream));
	OK(cuMemsetD8Async(a + 4, 7, 4, stream));
	const CUgraphNode *tips;
	OK(cuStreamGetCaptureInfo_v2(stream, &status, &id, &graph, &tips, &count));
	EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
	EXPECT_EQ(count, 1);
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuStreamIsCapturing(stream, &status));
	EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 0);
	OK(cuGraphGetNodes(graph, NULL, &count));
	EXPECT_EQ(count, 3);
	OK(cuGraphGetEdges(graph, NULL, NULL, &count));
	EXPECT_EQ(count, 2);
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuGraphLaunch(exec, stream));
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 3);
	in = 4;
	OK(cuGraphLaunch(exec, stream));
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 4);
	OK(cuMemcpyDtoH_v2(&out, a + 4, 4));
	EXPECT_EQ(out, 0x07070707);
	OK(cuGraphExecDestroy(exec));
	EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuGraphDestroy(graph), CUDA_ERROR_INVALID_VALUE);
}

TEST(capture_spreads_over_events_and_must_be_joined)
{
	CUstream main_one, side;
	CUevent fork_event, join_event, plain;
	CUgraph graph;
	size_t count;
	start_small();
	CUfunction function = load_kernel("nothing");
	OK(cuStreamCreate(&main_one, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&side, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&fork_event, 0));
	OK(cuEventCreate(&join_event, 0));
	OK(cuEventCreate(&plain, 0));
	OK(cuEventRecord(plain, side));
	for (int joined = 0; joined < 2; joined++) {
		OK(cuStreamBeginCapture_v2(main_one, CU_STREAM_CAPTURE_MODE_GLOBAL));
		OK(launch(function, main_one));
		OK(cuEventRecord(fork_event, main_one));
		OK(cuStreamWaitEvent(side, fork_event, 0));
		OK(launch(function, side));
		OK(launch(function, main_one));
		OK(cuEventRecord(join_event, side));
		if (joined)
			OK(cuStreamWaitEvent(main_one, join_event, 0));
		EXPECT_EQ(cuStreamEndCapture(side, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
		CUresult result = cuStreamEndCapture(main_one, &graph);
		EXPECT_EQ(result, joined ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
	}
	OK(cuGraphGetEdges(graph, NULL, NULL, &count));
	EXPECT_EQ(count, 2);	    /* both later kernels behind the first */
	OK(launch(function, side)); /* free again */
	OK(cuStreamSynchronize(side));
	OK(cuStreamBeginCapture_v2(main_one, CU_STREAM_CAPTURE_MODE_GLOBAL));
	EXPECT_EQ(cuStreamWaitEvent(main_one, plain, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
	EXPECT_EQ(cuStreamEndCapture(main_one, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EXPECT(graph == NULL);
}

TEST(forbidden_calls_break_a_capture)
{
	CUstream stream, blocking;
	CUevent event;
	CUgraph graph;
	CUdeviceptr a;
	CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
	CUstreamCaptureStatus status;
	start_small();
	CUfunction function = load_kernel("nothing");
	OK(cuEventCreate(&event, 0));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&blocking, 0));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	OK(cuMemAlloc_v2(&a, 100)); /* what PyTorch does in a capture */
	OK(cuThreadExchangeStreamCaptureMode(&mode));
	OK(launch(function, NULL)); /* the stream does not block the legacy one */
	EXPECT_EQ(cuMemAlloc_v2(&a, 100), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	OK(cuStreamIsCapturing(stream, &status));
	EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_INVALIDATED);
	EXPECT_EQ(launch(function, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuMemAlloc_v2(&a, 100));
	EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuStreamBeginCapture_v2(blocking, CU_STREAM_CAPTURE_MODE_RELAXED));
	EXPECT_EQ(launch(function, NULL), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
	EXPECT_EQ(cuStreamEndCapture(blocking, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(cuEventRecord(event, stream));
	EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_CAPTURED_EVENT);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
	EXPECT_EQ(cuStreamBeginCapture_v2(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL),
	    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
	EXPECT_EQ(cuStreamEndCapture(stream, &graph), CUDA_ERROR_ILLEGAL_STATE);
	OK(cuMemFree_v2(a));
}

static void *end_elsewhere(void *stream)
{
	CUgraph graph;
	return (void *)(uintptr_t)cuStreamEndCapture(stream, &graph);
}

TEST(a_capture_ends_in_its_thread)
{
	CUstream stream;
	CUgraph graph;
	pthread_t thread;
	void *result;
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	REQUIRE(pthread_create(&thread, NULL, end_elsewhere, stream) == 0);
	pthread_join(thread, &result);
	EXPECT_EQ((uintptr_t)result, CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
	OK(cuStreamEndCapture(stream, &graph));
}

TEST(memory_of_a_captured_allocation_is_the_graphs)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	CUdeviceptr a;
	size_t left;
	uint64_t used;
	start_small();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuMemAllocAsync(&a, 10 * MIB, stream));
	OK(cuMemsetD8Async(a, 1, 100, stream));
	OK(cuMemFreeAsync(a, stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB - 10 * MIB);
	OK(cuGraphExecDestroy(exec));
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuMemAllocAsync(&a, 10 * MIB, stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuGraphLaunch(exec, stream));
	OK(cuDeviceGetGraphMemAttribute(0, CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &used));
	EXPECT_EQ(used, 10 * MIB);
	EXPECT_EQ(cuGraphLaunch(exec, stream), CUDA_ERROR_INVALID_VALUE); /* not freed yet */
	OK(cuMemFreeAsync(a, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuGraphExecDestroy(exec));
	OK(cuMemsetD8Async(a, 1, 100, stream)); /* outlives the graph */
	OK(cuMemFreeAsync(a, stream));
	EXPECT_EQ(cuMemFreeAsync(a, stream), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
}

/* ---- graphs by hand ---- */

TEST(graphs_are_made_changed_and_updated)
{
	CUgraph graph, child, clone;
	CUgraphNode kernel, set, empty, embedded, found;
	CUgraphExec exec;
	CUgraphExecUpdateResultInfo info;
	CUdeviceptr a;
	unsigned out = 0;
	size_t count = 1;
	start_small();
	OK(cuMemAlloc_v2(&a, 1000));
	CUDA_KERNEL_NODE_PARAMS_v2 run = {.func = load_kernel("nothing"),
	    .gridDimX = 1,
	    .gridDimY = 1,
	    .gridDimZ = 1,
	    .blockDimX = 1,
	    .blockDimY = 1,
	    .blockDimZ = 1};
	CUDA_MEMSET_NODE_PARAMS fill = {
	    .dst = a, .value = 1, .elementSize = 4, .width = 10, .height = 1};
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphCreate(&child, 0));
	OK(cuGraphAddMemsetNode(&set, child, NULL, 0, &fill, NULL));
	OK(cuGraphAddKernelNode_v2(&kernel, graph, NULL, 0, &run));
	EXPECT_EQ(cuGraphAddEmptyNode(&empty, graph, &set, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphAddEmptyNode(&empty, graph, &kernel, 1));
	CUgraphNode listed[3] = {empty, empty, empty};
	size_t room = 3;
	OK(cuGraphGetNodes(graph, listed, &room));
	EXPECT(room == 2 && listed[0] == kernel && listed[1] == empty && !listed[2]);
	room = 1;
	OK(cuGraphGetNodes(graph, listed, &room));
	EXPECT_EQ(room, 1);
	OK(cuGraphGetRootNodes(graph, NULL, &room));
	EXPECT_EQ(room, 1);
	OK(cuGraphAddChildGraphNode(&embedded, graph, &empty, 1, child));
	fill.value = 2;
	OK(cuGraphMemsetNodeSetParams(set, &fill)); /* the copy in the node stays as it was */
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, NULL));
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT_EQ(out, 1);
	OK(cuGraphClone(&clone, graph));
	OK(cuGraphNodeFindInClone(&found, kernel, clone));
	OK(cuGraphNodeGetDependentNodes(found, &found, &count));
	EXPECT_EQ(count, 1);
	OK(cuGraphExecUpdate_v2(exec, clone, &info));
	EXPECT_EQ(cuGraphExecUpdate_v2(exec, child, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	OK(cuGraphAddDependencies(graph, &kernel, &embedded, 1));
	EXPECT_EQ(cuGraphAddDependencies(graph, &kernel, &embedded, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphAddDependencies(graph, &embedded, &kernel, 1)); /* a circle */
	CUgraphExec none;
	EXPECT_EQ(cuGraphInstantiateWithFlags(&none, graph, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphRemoveDependencies(graph, &embedded, &kernel, 1));
	OK(cuGraphDestroyNode(empty));
	OK(cuGraphNodeSetEnabled(exec, kernel, 0));
	EXPECT_EQ(cuGraphNodeSetEnabled(exec, empty, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphExecDestroy(exec));
	OK(cuGraphDestroy(clone));
	OK(cuGraphDestroy(child));
	OK(cuGraphDestroy(graph));
}

static int destroyed;
static void destroy(void *pointer)
{
	destroyed++;
}

TEST(user_objects_end_with_the_graph)
{
	CUuserObject object;
	CUgraph graph;
	start_small();
	OK(cuUserObjectCreate(&object, NULL, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	EXPECT_EQ(destroyed, 0);
	OK(cuGraphDestroy(graph));
	EXPECT_EQ(destroyed, 1);
}

static CUgraph graph_with_object(void)
{
	CUuserObject object;
	CUgraph graph;
	OK(cuUserObjectCreate(&object, NULL, destroy, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	return graph;
}

TEST(user_objects_live_as_long_as_copies_of_the_graph)
{
	CUgraph graph, clone, parent;
	CUgraphNode node;
	CUgraphExec exec, parents;
	CUgraphExecUpdateResultInfo info;
	start_small();
	graph = graph_with_object();
	OK(cuGraphClone(&clone, graph));
	OK(cuGraphCreate(&parent, 0));
	OK(cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphInstantiateWithFlags(&parents, parent, 0));
	OK(cuGraphDestroy(graph));
	OK(cuGraphDestroy(clone));
	OK(cuGraphDestroy(parent));
	OK(cuGraphExecDestroy(exec));
	EXPECT_EQ(destroyed, 0);
	OK(cuGraphExecDestroy(parents));
	EXPECT_EQ(destroyed, 1);
	/* An update takes over what the other graph holds. */
	OK(cuGraphInstantiateWithFlags(&exec, graph = graph_with_object(), 0));
	OK(cuGraphDestroy(graph));
	OK(cuGraphExecUpdate_v2(exec, graph = graph_with_object(), &info));
	EXPECT_EQ(destroyed, 2);
	OK(cuGraphDestroy(graph));
	EXPECT_EQ(destroyed, 2);
	OK(cuGraphExecDestroy(exec));
	EXPECT_EQ(destroyed, 3);
}

TEST(user_objects_live_as_long_as_a_graph_that_captured_them)
{
	CUgraph graph, captured;
	CUgraphExec exec;
	CUstream stream;
	start_small();
	graph = graph_with_object();
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	OK(cuGraphLaunch(exec, stream));
	OK(cuStreamEndCapture(stream, &captured));
	OK(cuGraphExecDestroy(exec));
	EXPECT_EQ(destroyed, 0);
	OK(cuGraphDestroy(captured));
	EXPECT_EQ(destroyed, 1);
}

static void use_graphs(void *pointer)
{
	CUgraph graph;
	destroyed++;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphDestroy(graph));
}

/* A destructor that waits for somebody who waits for graphs would never return. */
TEST(destructors_of_user_objects_run_without_locks)
{
	CUuserObject object;
	CUgraph graph, parent;
	CUgraphNode node;
	start_small();
	OK(cuUserObjectCreate(&object, NULL, use_graphs, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
	OK(cuGraphCreate(&parent, 0));
	OK(cuGraphAddChildGraphNode(&node, parent, NULL, 0, graph));
	OK(cuGraphDestroy(graph));
	OK(cuGraphDestroyNode(node));
	EXPECT_EQ(destroyed, 1);
}

/* Three nodes; the last depends on as many of the others. */
static CUgraph graph_with_edges(size_t count, bool turned)
{
	CUgraph graph;
	CUgraphNode ends[2], last;
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddEmptyNode(&ends[turned], graph, NULL, 0));
	OK(cuGraphAddEmptyNode(&ends[!turned], graph, NULL, 0));
	OK(cuGraphAddEmptyNode(&last, graph, ends, count));
	return graph;
}

TEST(an_update_may_not_change_what_waits_for_what)
{
	CUgraphExec exec;
	CUgraphExecUpdateResultInfo info;
	start_small();
	OK(cuGraphInstantiateWithFlags(&exec, graph_with_edges(2, false), 0));
	OK(cuGraphExecUpdate_v2(exec, graph_with_edges(2, true), &info));
	for (size_t count = 0; count < 2; count++) {
		EXPECT_EQ(cuGraphExecUpdate_v2(exec, graph_with_edges(count, false), &info),
		    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
		EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	}
	OK(cuGraphInstantiateWithFlags(&exec, graph_with_edges(1, false), 0));
	EXPECT_EQ(cuGraphExecUpdate_v2(exec, graph_with_edges(1, true), &info),
	    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
}

/* ---- many threads with host functions and graphs ---- */

static CUcontext shared_context;
static CUdeviceptr shared_memory;
static int calls;

static void count_call(void *pointer)
{
	__atomic_fetch_add(&calls, 1, __ATOMIC_RELAXED);
}

static void *mix(void *argument)
{
	CUstream stream;
	CUevent event;
	CUgraph graph;
	CUgraphNode node;
	CUgraphExec exec;
	CUDA_MEMSET_NODE_PARAMS fill = {.dst = shared_memory + 64 * (uintptr_t)argument,
	    .value = 1,
	    .elementSize = 1,
	    .width = 10,
	    .height = 1};
	OK(cuCtxSetCurrent(shared_context));
	OK(cuStreamCreate(&stream, (uintptr_t)argument % 2 ? CU_STREAM_NON_BLOCKING : 0));
	OK(cuEventCreate(&event, 0));
	OK(cuGraphCreate(&graph, 0));
	OK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill, NULL));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	for (int i = 0; i < 100; i++) {
		OK(cuLaunchHostFunc(stream, count_call, NULL));
		OK(cuGraphLaunch(exec, stream));
		OK(cuEventRecord(event, stream));
		OK(cuEventSynchronize(event));
		if (i % 10 == 0)
			OK(cuCtxSynchronize());
	}
	OK(cuEventDestroy_v2(event));
	OK(cuStreamDestroy_v2(stream));
	return NULL;
}

TEST(eight_threads_with_host_functions_and_graphs)
{
	pthread_t threads[8];
	shared_context = start_small();
	OK(cuMemAlloc_v2(&shared_memory, 1000));
	for (uintptr_t i = 0; i < 8; i++)
		REQUIRE(pthread_create(&threads[i], NULL, mix, (void *)i) == 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(calls, 800);
}
