/* SPDX-License-Identifier: Apache-2.0 */
/* What records of the stand-in CUPTI say, kind by kind. */
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/dryrun/cupti_test.h"

#define LAUNCH CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000

static void enable(unsigned kind)
{
	CUPTI(cuptiActivityEnable((CUpti_ActivityKind)kind));
}

TEST(a_kernel_belongs_to_its_call)
{
	start("model");
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	enable(CUPTI_ACTIVITY_KIND_RUNTIME);
	CUPTI(cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM));
	uint64_t before = monotonic();
	OK(launch(NULL));
	uint64_t after = monotonic();
	OK(cudaDeviceSynchronize());
	flush();
	CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	CUpti_ActivityAPI *call = call_record(CUPTI_ACTIVITY_KIND_RUNTIME, LAUNCH);
	REQUIRE(call && count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) == 1);
	EXPECT(call->start >= before && call->start < call->end && call->end <= after);
	EXPECT(call->correlationId != 0);
	EXPECT_EQ(call->correlationId, k->correlationId);
	EXPECT_EQ(call->threadId, syscall(SYS_gettid));
	EXPECT_EQ(call->processId, getpid());
	EXPECT_EQ(call->returnValue, 0);
	EXPECT_STR(k->name, "nothing");
	EXPECT_EQ(k->gridX * 100 + k->gridY * 10 + k->gridZ, 321);
	EXPECT_EQ(k->blockX, 64);
	EXPECT_EQ(k->graphId, 0);
	EXPECT_EQ(k->queued, 0);
	EXPECT(k->start >= before);
	EXPECT_EQ(k->end - k->start, 5001); /* 5 us and 384 threads */
	EXPECT_EQ(k->completed, k->end);
}

TEST(kernels_of_a_stream_follow_each_other)
{
	cudaStream_t streams[2];

	start("model");
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	OK(cudaStreamCreateWithFlags(&streams[0], cudaStreamNonBlocking));
	OK(cudaStreamCreateWithFlags(&streams[1], cudaStreamNonBlocking));
	for (int i = 0; i < 20000; i++) /* long enough for the clocks to be read again */
		OK(launch(streams[i % 2]));
	OK(cudaDeviceSynchronize());
	flush();
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 20000);
	uint64_t end[2] = {0, 0};
	uint32_t first = ((CUpti_ActivityKernel7 *)seen[0].copy)->streamId, overlaps = 0, other = 0;
	for (size_t i = 0; i < seen_count; i++) {
		CUpti_ActivityKernel7 *k = (CUpti_ActivityKernel7 *)seen[i].copy;
		bool second = k->streamId != first;

		other += second;
		overlaps += k->start < end[second] || k->end <= k->start;
		end[second] = k->end;
	}
	EXPECT_EQ(overlaps, 0);
	EXPECT_EQ(other, 10000);
}

TEST(a_clock_of_another_unit)
{
	start("model");
	extern uint64_t tenths(void);
	CUPTI(cuptiActivityRegisterTimestampCallback(tenths));
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	uint64_t before = tenths(), now;
	for (int i = 0; i < 10000; i++)
		OK(launch(NULL));
	OK(cudaDeviceSynchronize());
	uint64_t after = tenths();
	CUPTI(cuptiGetTimestamp(&now));
	EXPECT(now >= after && now < after + 1000000);
	flush();
	CUpti_ActivityKernel7 *one = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	CUpti_ActivityKernel7 *last = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 9999);
	EXPECT(one->end - one->start >= 499 && one->end - one->start <= 502);
	EXPECT(one->start + 100 >= before && last->end <= after + 100);
}
uint64_t tenths(void);
uint64_t tenths(void)
{
	return monotonic() / 10 + 12345;
}

/* The copies of a direction, in the order of their ends. */
static CUpti_ActivityMemcpy5 *copy_of(unsigned direction, unsigned n)
{
	for (size_t i = 0; i < seen_count; i++) {
		CUpti_ActivityMemcpy5 *copy = (CUpti_ActivityMemcpy5 *)seen[i].copy;

		if (seen[i].kind == CUPTI_ACTIVITY_KIND_MEMCPY && copy->copyKind == direction &&
		    n-- == 0)
			return copy;
	}
	REQUIRE(!"a copy");
	return NULL;
}

TEST(an_engine_does_one_copy_at_a_time)
{
	const size_t bytes = (size_t)768 << 20; /* 32 ms */
	cudaStream_t streams[3];
	void *host, *device;

	start("model");
	enable(CUPTI_ACTIVITY_KIND_MEMCPY);
	OK(cudaMallocHost(&host, bytes));
	OK(cudaMalloc(&device, bytes));
	for (int i = 0; i < 3; i++)
		OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	OK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, streams[0]));
	OK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, streams[1]));
	OK(cudaMemcpyAsync(host, device, 4096, cudaMemcpyDeviceToHost, streams[2]));
	OK(cudaDeviceSynchronize());
	flush();
	CUpti_ActivityMemcpy5 *one = copy_of(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 0);
	CUpti_ActivityMemcpy5 *two = copy_of(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1);
	CUpti_ActivityMemcpy5 *back = copy_of(CUPTI_ACTIVITY_MEMCPY_KIND_DTOH, 0);
	EXPECT(two->start >= one->end);
	EXPECT(back->start < two->end && back->end < two->end);
}

/* A copy that waits for its stream leaves the engine to others until then. */
TEST(an_engine_is_idle_until_its_copy_can_start)
{
	dim3 grid = {40000, 4000, 1}, block = {64, 1, 1}; /* 51 ms */
	cudaStream_t streams[2];
	void *host, *device;

	start("model");
	enable(CUPTI_ACTIVITY_KIND_MEMCPY);
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	OK(cudaMallocHost(&host, 4096));
	OK(cudaMalloc(&device, 4096));
	for (int i = 0; i < 2; i++)
		OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	OK(cudaLaunchKernel((const void *)kernel, grid, block, NULL, 0, streams[0]));
	OK(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, streams[0]));
	OK(cudaMemcpyAsync(device, host, 4096, cudaMemcpyHostToDevice, streams[1]));
	OK(cudaDeviceSynchronize());
	flush();
	CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	CUpti_ActivityMemcpy5 *early = copy_of(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 0);
	CUpti_ActivityMemcpy5 *late = copy_of(CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, 1);
	EXPECT_EQ(late->streamId, k->streamId);
	EXPECT(late->start >= k->end);
	EXPECT(early->streamId != k->streamId && early->end < k->end);
}

TEST(latency_on_request)
{
	start("100000000");
	CUPTI(cuptiActivityEnableLatencyTimestamps(1));
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	OK(launch(NULL));
	OK(launch(NULL));
	OK(cudaDeviceSynchronize());
	flush();
	CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
	EXPECT(k->queued && k->queued <= k->submitted && k->submitted < k->start);
}

TEST(copies_and_memsets)
{
	char host[64] = "x", *pinned, *device, *peer;

	start("instant");
	OK(cudaSetDevice(1));
	OK(cudaMalloc((void **)&peer, 4096));
	OK(cudaSetDevice(0));
	OK(cudaMalloc((void **)&device, 4096));
	OK(cudaMallocHost((void **)&pinned, 4096));
	enable(CUPTI_ACTIVITY_KIND_MEMCPY);
	enable(CUPTI_ACTIVITY_KIND_MEMCPY2);
	enable(CUPTI_ACTIVITY_KIND_MEMSET);
	OK(cudaMemcpy(device, host, 64, cudaMemcpyHostToDevice));
	OK(cudaMemcpyAsync(pinned, device, 128, cudaMemcpyDeviceToHost, NULL));
	OK(cudaMemcpyPeer(peer, 1, device, 0, 256));
	OK(cudaMemset(device, 7, 512));
	flush();
	CUpti_ActivityMemcpy5 *to = nth(CUPTI_ACTIVITY_KIND_MEMCPY, 0);
	CUpti_ActivityMemcpy5 *back = nth(CUPTI_ACTIVITY_KIND_MEMCPY, 1);
	CUpti_ActivityMemcpyPtoP4 *across = nth(CUPTI_ACTIVITY_KIND_MEMCPY2, 0);
	CUpti_ActivityMemset4 *set = nth(CUPTI_ACTIVITY_KIND_MEMSET, 0);
	EXPECT_EQ(seen_count, 4);
	EXPECT_EQ(to->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD);
	EXPECT_EQ(to->srcKind, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE);
	EXPECT_EQ(to->flags, 0);
	EXPECT_EQ(to->bytes, 64);
	EXPECT_EQ(back->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH);
	EXPECT_EQ(back->dstKind, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	EXPECT_EQ(back->flags, CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC);
	EXPECT_EQ(across->copyKind, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP);
	EXPECT_EQ(across->srcDeviceId, 0);
	EXPECT_EQ(across->dstDeviceId, 1);
	EXPECT_EQ(across->bytes, 256);
	EXPECT_EQ(set->value, 7);
	EXPECT_EQ(set->bytes, 512);
	EXPECT_EQ(set->memoryKind, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	EXPECT_EQ(to->correlationId, 0); /* no calls are recorded */
}

TEST(allocations_of_every_sort)
{
	void *device, *host, *managed, *pooled;

	start("instant");
	enable(CUPTI_ACTIVITY_KIND_MEMORY2);
	enable(CUPTI_ACTIVITY_KIND_MEMORY);
	OK(cudaMalloc(&device, 1000));
	OK(cudaMallocHost(&host, 2000));
	OK(cudaMallocManaged(&managed, 3000, cudaMemAttachGlobal));
	OK(cudaMallocAsync(&pooled, 4000, NULL));
	OK(cudaFreeAsync(pooled, NULL));
	OK(cudaFree(device));
	OK(cudaFree(managed));
	OK(cudaFreeHost(host));
	EXPECT(cudaMalloc(&device, (size_t)1 << 40) == cudaErrorMemoryAllocation);
	flush();
	const unsigned kinds[] = {CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
	    CUPTI_ACTIVITY_MEMORY_KIND_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED,
	    CUPTI_ACTIVITY_MEMORY_KIND_DEVICE};
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_MEMORY2), 8);
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_MEMORY), 4);
	for (unsigned i = 0; i < 4; i++) {
		CUpti_ActivityMemory3 *m = nth(CUPTI_ACTIVITY_KIND_MEMORY2, i);

		EXPECT_EQ(m->memoryOperationType, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
		EXPECT_EQ(m->memoryKind, kinds[i]);
		EXPECT_EQ(m->bytes, 1000 * (i + 1));
		EXPECT_EQ(m->isAsync, i == 3);
		EXPECT_EQ(m->memoryPoolConfig.memoryPoolType, i == 3);
	}
	CUpti_ActivityMemory3 *gone = nth(CUPTI_ACTIVITY_KIND_MEMORY2, 4);
	CUpti_ActivityMemory *life = nth(CUPTI_ACTIVITY_KIND_MEMORY, 0);
	EXPECT_EQ(gone->memoryOperationType, CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
	EXPECT_EQ(gone->address, (uintptr_t)pooled);
	EXPECT_EQ(life->address, (uintptr_t)pooled);
	EXPECT(life->start < life->end);
}

TEST(pools_that_come_and_go)
{
	struct cudaMemPoolProps properties = {.allocType = cudaMemAllocationTypePinned};
	cudaMemPool_t pool;

	start("instant");
	properties.location.type = cudaMemLocationTypeDevice;
	enable(CUPTI_ACTIVITY_KIND_MEMORY_POOL);
	OK(cudaMemPoolCreate(&pool, &properties));
	OK(cudaMemPoolTrimTo(pool, 77));
	OK(cudaMemPoolDestroy(pool));
	flush();
	for (unsigned i = 0; i < 3; i++) {
		const unsigned types[] = {CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED,
		    CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED,
		    CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED};
		CUpti_ActivityMemoryPool2 *p = nth(CUPTI_ACTIVITY_KIND_MEMORY_POOL, i);

		EXPECT_EQ(p->memoryPoolOperationType, types[i]);
		EXPECT_EQ(p->address, (uintptr_t)pool);
		EXPECT_EQ(p->minBytesToKeep, i == 1 ? 77 : 0);
	}
}

TEST(waits_events_streams_contexts)
{
	cudaStream_t stream;
	cudaEvent_t event;
	uint32_t stream_id, context_id;
	CUcontext context;

	start("50000000"); /* 50 ms a kernel */
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
	enable(CUPTI_ACTIVITY_KIND_STREAM);
	enable(CUPTI_ACTIVITY_KIND_CONTEXT);
	OK(cudaStreamCreate(&stream));
	OK(cudaEventCreate(&event));
	OK(launch(stream));
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamWaitEvent(NULL, event, 0));
	OK(cudaEventSynchronize(event));
	OK(cudaStreamSynchronize(stream));
	OK(cudaDeviceSynchronize());
	OK(cuCtxGetCurrent(&context));
	CUPTI(cuptiGetContextId(context, &context_id));
	CUPTI(cuptiGetStreamId(context, (CUstream)stream, &stream_id));
	OK(cudaSetDevice(1));
	OK(cudaFree(NULL));
	flush();
	const unsigned types[] = {CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
	    CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE,
	    CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
	    CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE};
	CUpti_ActivityCudaEvent *recorded = nth(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 0);
	EXPECT_EQ(recorded->streamId, stream_id);
	for (unsigned i = 0; i < 4; i++) {
		CUpti_ActivitySynchronization *s = nth(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, i);

		EXPECT_EQ(s->type, types[i]);
		EXPECT_EQ(s->contextId, context_id);
		EXPECT_EQ(s->cudaEventId == recorded->eventId, i < 2);
		EXPECT_EQ(s->streamId == stream_id, i == 2);
		EXPECT(s->start < s->end);
	}
	CUpti_ActivitySynchronization *waited = nth(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 1);
	CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	EXPECT(waited->start < k->end && waited->end >= k->end);
	CUpti_ActivityStream *made = nth(CUPTI_ACTIVITY_KIND_STREAM, 0);
	EXPECT_EQ(made->streamId, stream_id);
	CUpti_ActivityContext *other = nth(CUPTI_ACTIVITY_KIND_CONTEXT, 0);
	EXPECT_EQ(other->deviceId, 1);
}

/* Three kernels in a graph, launched twice. */
static cudaGraph_t graph;
static cudaGraphExec_t launch_graph(void)
{
	cudaStream_t stream;
	cudaGraphExec_t exec;

	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	for (int i = 0; i < 3; i++)
		OK(launch(stream));
	OK(cudaStreamEndCapture(stream, &graph));
#if CUDART_VERSION >= 12000
	OK(cudaGraphInstantiate(&exec, graph, 0));
#else
	OK(cudaGraphInstantiate(&exec, graph, NULL, NULL, 0));
#endif
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaDeviceSynchronize());
	return exec;
}

TEST(graphs_node_by_node)
{
	uint64_t nodes[6];

	start("model");
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	enable(CUPTI_ACTIVITY_KIND_RUNTIME);
	cudaGraphExec_t exec = launch_graph();
	flush();
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 6);
	CUpti_ActivityKernel7 *first = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	for (unsigned i = 0; i < 6; i++) {
		CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, i);

		EXPECT(k->graphId && k->graphId == first->graphId);
		EXPECT_EQ(k->correlationId == first->correlationId, i < 3);
		nodes[i] = k->graphNodeId;
	}
	EXPECT(nodes[0] && nodes[0] != nodes[1] && nodes[0] == nodes[3] && nodes[2] == nodes[5]);
	CUpti_ActivityAPI *call = call_record(
	    CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000);
	REQUIRE(call);
	EXPECT_EQ(call->correlationId, first->correlationId);

	cudaGraphNode_t node;
	size_t one = 1;
	uint64_t node_id = 0;
	uint32_t id = 0;
	OK(cudaGraphGetRootNodes(graph, &node, &one));
	CUPTI(cuptiGetGraphNodeId(node, &node_id));
	EXPECT_EQ(node_id, nodes[0]);
	CUPTI(cuptiGetGraphId(graph, &id));
	EXPECT(id != 0 && id != first->graphId);
#if CUDART_VERSION >= 12000
	CUPTI(cuptiGetGraphExecId(exec, &id));
	EXPECT_EQ(id, first->graphId);
#endif
	EXPECT_EQ(cuptiGetGraphNodeId((CUgraphNode)exec, &node_id), CUPTI_ERROR_INVALID_PARAMETER);
	EXPECT_EQ(cuptiGetGraphId(NULL, &id), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST(graphs_as_a_whole)
{
	start("model");
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	enable(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	launch_graph();
	OK(launch(NULL));
	OK(cudaDeviceSynchronize());
	flush();
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_GRAPH_TRACE), 2);
	CUpti_ActivityGraphTrace *one = nth(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 0);
	CUpti_ActivityGraphTrace *two = nth(CUPTI_ACTIVITY_KIND_GRAPH_TRACE, 1);
	EXPECT(one->graphId && one->graphId == two->graphId);
	EXPECT_EQ(one->end - one->start, 3 * 5001);
	EXPECT(one->end <= two->start);
}

TEST(external_ids_precede_the_call)
{
	uint64_t id;

	start("instant");
	enable(CUPTI_ACTIVITY_KIND_RUNTIME);
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	enable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	EXPECT_EQ(
	    cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id),
	    CUPTI_ERROR_QUEUE_EMPTY);
	for (uint64_t i = 1; i <= 100; i++)
		CUPTI(cuptiActivityPushExternalCorrelationId(
		    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, i));
	CUPTI(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2, 7));
	OK(launch(NULL));
	CUPTI(cuptiActivityPopExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id));
	EXPECT_EQ(id, 100);
	EXPECT_EQ(
	    cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_INVALID, 1),
	    CUPTI_ERROR_INVALID_PARAMETER);
	flush();
	CUpti_ActivityExternalCorrelation *one = nth(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 0);
	CUpti_ActivityExternalCorrelation *two = nth(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, 1);
	CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), 2);
	EXPECT_EQ(one->externalId, 100);
	EXPECT_EQ(two->externalId, 7);
	EXPECT_EQ(two->externalKind, CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM2);
	EXPECT_EQ(one->correlationId, k->correlationId);
	EXPECT_EQ(two->correlationId, k->correlationId);
}

TEST(driver_calls_alone_and_inside_runtime_calls)
{
	start("instant");
	enable(CUPTI_ACTIVITY_KIND_DRIVER);
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	OK(launch(NULL));
	flush();
	CUpti_ActivityAPI *inside =
	    call_record(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	REQUIRE(inside);
	EXPECT_EQ(inside->correlationId, k->correlationId);
	enable(CUPTI_ACTIVITY_KIND_RUNTIME);
	seen_count = 0;
	OK(launch(NULL));
	OK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
	EXPECT_EQ(cuLaunchKernel(kernel, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	flush();
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_RUNTIME), 1);
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_DRIVER), 2);
	CUpti_ActivityAPI *refused = nth(CUPTI_ACTIVITY_KIND_DRIVER, 1);
	EXPECT_EQ(refused->returnValue, CUDA_ERROR_INVALID_VALUE);
}

TEST(results_of_runtime_calls)
{
	void *memory;

	start("instant");
	enable(CUPTI_ACTIVITY_KIND_RUNTIME);
	EXPECT_EQ(cudaMalloc(&memory, (size_t)1 << 40), cudaErrorMemoryAllocation);
	OK(cudaMalloc(&memory, 1));
	EXPECT_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
	flush();
	CUpti_ActivityAPI *one = nth(CUPTI_ACTIVITY_KIND_RUNTIME, 0);
	CUpti_ActivityAPI *two = nth(CUPTI_ACTIVITY_KIND_RUNTIME, 1);
	CUpti_ActivityAPI *three = nth(CUPTI_ACTIVITY_KIND_RUNTIME, 2);
	EXPECT_EQ(one->returnValue, cudaErrorMemoryAllocation);
	EXPECT_EQ(two->returnValue, 0);
	EXPECT_EQ(three->returnValue, cudaErrorMemoryAllocation);
	EXPECT(one->correlationId < two->correlationId);
}

#if CUDART_VERSION >= 13000
TEST(waits_name_the_record_that_they_waited_for)
{
	cudaEvent_t event;

	start("1000000");
	CUPTI(cuptiActivityEnableCudaEventDeviceTimestamps(1));
	enable(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	enable(CUPTI_ACTIVITY_KIND_CUDA_EVENT);
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	OK(cudaEventCreate(&event));
	for (int i = 0; i < 2; i++) {
		OK(launch(NULL));
		OK(cudaEventRecord(event, NULL));
	}
	OK(cudaEventSynchronize(event));
	OK(cudaDeviceSynchronize());
	CUPTI(cuptiActivityEnableCudaEventDeviceTimestamps(0));
	OK(cudaEventRecord(event, NULL));
	flush();
	CUpti_ActivityCudaEvent2 *one = nth(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 0);
	CUpti_ActivityCudaEvent2 *two = nth(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 1);
	CUpti_ActivityCudaEvent2 *three = nth(CUPTI_ACTIVITY_KIND_CUDA_EVENT, 2);
	CUpti_ActivitySynchronization2 *wait = nth(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 0);
	CUpti_ActivitySynchronization2 *all = nth(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, 1);
	CUpti_ActivityKernel10 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 1);
	EXPECT(one->eventId == two->eventId && one->cudaEventSyncId != two->cudaEventSyncId);
	EXPECT_EQ(wait->cudaEventSyncId, two->cudaEventSyncId);
	EXPECT_EQ(all->cudaEventSyncId, CUPTI_SYNCHRONIZATION_INVALID_VALUE);
	EXPECT(one->deviceTimestamp && one->deviceTimestamp < two->deviceTimestamp);
	EXPECT(two->deviceTimestamp + 1000 > k->end && two->deviceTimestamp < k->end + 1000);
	EXPECT_EQ(three->deviceTimestamp, 0);
}

TEST(single_calls)
{
	start("instant");
	enable(CUPTI_ACTIVITY_KIND_RUNTIME);
	CUPTI(cuptiActivityEnableRuntimeApi(LAUNCH, 0));
	OK(launch(NULL));
	OK(cudaDeviceSynchronize());
	CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_RUNTIME));
	OK(launch(NULL));
	CUPTI(cuptiActivityEnableRuntimeApi(LAUNCH, 1));
	OK(launch(NULL));
	OK(cudaDeviceSynchronize());
	flush();
	EXPECT_EQ(seen_count, 2);
	EXPECT_EQ(((CUpti_ActivityAPI *)seen[1].copy)->cbid, LAUNCH);
}
#endif

TEST(what_a_flush_costs_is_told)
{
	start("instant");
	enable(CUPTI_ACTIVITY_KIND_OVERHEAD);
	enable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	OK(launch(NULL));
	flush();
	flush();
	CUpti_ActivityOverhead *overhead = nth(CUPTI_ACTIVITY_KIND_OVERHEAD, 0);
	EXPECT_EQ(overhead->overheadKind, CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH);
	EXPECT(overhead->start < overhead->end);
}
