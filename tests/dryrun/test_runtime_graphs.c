/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in runtime of each CUDA major: graphs made by hand, their edges and updates; advice on
 * managed memory.  Compiled once per major, with its headers and its library. */
#include "tests/dryrun/runtime_test.h"

#define BYTES 4096

/* Edges carry data since CUDA 13. */
#if CUDART_VERSION >= 13000
#define get_edges(graph, from, to, count) cudaGraphGetEdges(graph, from, to, NULL, count)
#define get_before(node, nodes, count) cudaGraphNodeGetDependencies(node, nodes, NULL, count)
#define get_after(node, nodes, count) cudaGraphNodeGetDependentNodes(node, nodes, NULL, count)
#define add_edges(graph, from, to, count) cuGraphAddDependencies(graph, from, to, NULL, count)
#define add_node(node, graph, before, count, p) \
	cudaGraphAddNode(node, graph, before, NULL, count, p)
#else
#define get_edges cudaGraphGetEdges
#define get_before cudaGraphNodeGetDependencies
#define get_after cudaGraphNodeGetDependentNodes
#define add_edges cuGraphAddDependencies
#define add_node cudaGraphAddNode
#endif

static void start(void)
{
	setenv("GPUSHIM_DRYRUN_DEVICE", "name=Test GPU;total=1073741824;cc=8.0;sm=108", 1);
	OK(cudaFree(NULL));
}

static cudaGraphNode_t *nodes_of(cudaGraph_t graph, size_t want)
{
	static cudaGraphNode_t nodes[16];
	size_t count = 16;
	OK(cudaGraphGetNodes(graph, nodes, &count));
	REQUIRE(count == want);
	return nodes;
}

/* memset, then two copies side by side, then another memset */
static cudaGraph_t capture_diamond(cudaStream_t stream, char *device)
{
	cudaStream_t side;
	cudaEvent_t fork, join;
	cudaGraph_t graph;
	OK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
	OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	OK(cudaMemsetAsync(device, 1, BYTES, stream));
	OK(cudaEventRecord(fork, stream));
	OK(cudaStreamWaitEvent(side, fork, 0));
	OK(cudaMemcpyAsync(device + BYTES, device, BYTES, cudaMemcpyDeviceToDevice, stream));
	OK(cudaMemcpyAsync(device + 2 * BYTES, device, BYTES, cudaMemcpyDeviceToDevice, side));
	OK(cudaEventRecord(join, side));
	OK(cudaStreamWaitEvent(stream, join, 0));
	OK(cudaMemsetAsync(device, 2, BYTES, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	OK(cudaStreamDestroy(side));
	OK(cudaEventDestroy(fork));
	OK(cudaEventDestroy(join));
	return graph;
}

static void expect_edge(const cudaGraphNode_t *from, const cudaGraphNode_t *to, size_t count,
    cudaGraphNode_t first, cudaGraphNode_t second)
{
	size_t found = 0;
	for (size_t i = 0; i < count; i++)
		found += from[i] == first && to[i] == second;
	EXPECT_EQ(found, 1);
}

TEST(edges_of_a_captured_graph_are_told)
{
	cudaStream_t stream;
	cudaGraphNode_t from[5], to[5], found[3];
	enum cudaGraphNodeType type;
	size_t count = 0;
	char *device;
	start();
	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc((void **)&device, 3 * BYTES));
	cudaGraph_t graph = capture_diamond(stream, device);
	cudaGraphNode_t *nodes = nodes_of(graph, 4);
	OK(cudaGraphNodeGetType(nodes[1], &type));
	EXPECT_EQ(type, cudaGraphNodeTypeMemcpy);
	EXPECT_EQ(cudaGraphNodeGetType(nodes[1], NULL), cudaErrorInvalidValue);
	OK(get_edges(graph, NULL, NULL, &count));
	EXPECT_EQ(count, 4);
	count = 5;
	OK(get_edges(graph, from, to, &count));
	EXPECT_EQ(count, 4);
	EXPECT(!from[4] && !to[4]);
	for (int i = 1; i <= 2; i++) {
		expect_edge(from, to, count, nodes[0], nodes[i]);
		expect_edge(from, to, count, nodes[i], nodes[3]);
	}
	count = 3;
	OK(get_after(nodes[0], found, &count));
	EXPECT_EQ(count, 2);
	EXPECT(found[0] == nodes[1] && found[1] == nodes[2] && !found[2]);
	count = 1;
	OK(get_before(nodes[3], found, &count));
	EXPECT_EQ(count, 1);
	OK(get_after(nodes[3], NULL, &count));
	EXPECT_EQ(count, 0);
	EXPECT_EQ(get_edges(graph, from, NULL, &count), cudaErrorInvalidValue);
	EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	EXPECT_EQ(get_after(NULL, NULL, &count), cudaErrorInvalidValue);
	OK(cudaGraphDestroy(graph));
}

#if CUDART_VERSION >= 13000
TEST(edges_without_ports_have_zero_data)
{
	cudaStream_t stream;
	cudaGraphNode_t from[4], to[4];
	cudaGraphEdgeData data[4];
	size_t count = 4;
	char *device;
	start();
	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc((void **)&device, 3 * BYTES));
	cudaGraph_t graph = capture_diamond(stream, device);
	memset(data, 0xff, sizeof(data));
	OK(cudaGraphGetEdges(graph, from, to, data, &count));
	for (int i = 0; i < 4; i++)
		EXPECT(!data[i].from_port && !data[i].to_port && !data[i].type);
	memset(data, 0xff, sizeof(data));
	count = 2;
	OK(cudaGraphNodeGetDependentNodes(nodes_of(graph, 4)[0], to, data, &count));
	EXPECT(count == 2 && !data[1].type && data[2].type == 0xff);
}
#endif

/* Graphs that differ in the number of their nodes, in their kinds, or only in what is written. */
static cudaGraph_t capture_set(cudaStream_t stream, char *device, int value, int times, bool copy)
{
	cudaGraph_t graph;
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (int i = 0; i < times; i++)
		OK(cudaMemsetAsync(device, value, BYTES, stream));
	if (copy)
		OK(cudaMemcpyAsync(
		    device, device + BYTES, BYTES, cudaMemcpyDeviceToDevice, stream));
	OK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static cudaError_t update(
    cudaGraphExec_t exec, cudaGraph_t graph, enum cudaGraphExecUpdateResult *why)
{
#if CUDART_VERSION >= 12000
	cudaGraphExecUpdateResultInfo info = {.result = (enum cudaGraphExecUpdateResult)99};
	cudaError_t error = cudaGraphExecUpdate(exec, graph, &info);
	*why = info.result;
	return error;
#else
	cudaGraphNode_t node;
	return cudaGraphExecUpdate(exec, graph, &node, why);
#endif
}

static cudaGraphExec_t instantiate(cudaGraph_t graph)
{
	cudaGraphExec_t exec;
	OK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

TEST(an_executable_graph_becomes_another_of_its_shape)
{
	enum cudaGraphExecUpdateResult why;
	cudaStream_t stream;
	char *device, host[BYTES];
	start();
	OK(cudaStreamCreate(&stream));
	OK(cudaMalloc((void **)&device, 2 * BYTES));
	cudaGraphExec_t exec = instantiate(capture_set(stream, device, 1, 2, false));
	OK(update(exec, capture_set(stream, device, 7, 2, false), &why));
	EXPECT_EQ(why, cudaGraphExecUpdateSuccess);
	OK(cudaGraphLaunch(exec, stream));
	OK(cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	EXPECT(host[0] == 7 && host[BYTES - 1] == 7);
	EXPECT_EQ(update(exec, capture_set(stream, device, 9, 3, false), &why),
	    cudaErrorGraphExecUpdateFailure);
	EXPECT_EQ(why, cudaGraphExecUpdateErrorTopologyChanged);
	EXPECT_EQ(update(exec, capture_set(stream, device, 9, 1, true), &why),
	    cudaErrorGraphExecUpdateFailure);
	EXPECT_EQ(why, cudaGraphExecUpdateErrorNodeTypeChanged);
	OK(cudaGraphLaunch(exec, stream)); /* goes on as it was */
	OK(cudaMemcpy(host, device, BYTES, cudaMemcpyDeviceToHost));
	EXPECT_EQ(host[0], 7);
	EXPECT_EQ(update(exec, NULL, &why), cudaErrorInvalidValue);
}

TEST(advice_needs_managed_memory_and_a_place_that_is_there)
{
	char *managed, *device;
	start();
	OK(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
	OK(cudaMalloc((void **)&device, BYTES));
#if CUDART_VERSION >= 13000
	const struct cudaMemLocation here = {.type = cudaMemLocationTypeDevice, .id = 0};
	const struct cudaMemLocation host = {.type = cudaMemLocationTypeHost};
	const struct cudaMemLocation nowhere = {.type = cudaMemLocationTypeDevice, .id = 5};
#else
	const int here = 0, host = cudaCpuDeviceId, nowhere = 5;
#endif
	OK(cudaMemAdvise(managed, BYTES, cudaMemAdviseSetReadMostly, nowhere));
	OK(cudaMemAdvise(managed, BYTES, cudaMemAdviseSetPreferredLocation, here));
	OK(cudaMemAdvise(managed, BYTES, cudaMemAdviseSetAccessedBy, host));
	EXPECT_EQ(cudaMemAdvise(managed, BYTES, cudaMemAdviseSetAccessedBy, nowhere),
	    cudaErrorInvalidDevice);
	EXPECT_EQ(
	    cudaMemAdvise(device, BYTES, cudaMemAdviseSetReadMostly, here), cudaErrorInvalidValue);
	EXPECT_EQ(cudaMemAdvise(managed, 2 * BYTES, cudaMemAdviseSetReadMostly, here),
	    cudaErrorInvalidValue);
	EXPECT_EQ(
	    cudaMemAdvise(managed, BYTES, (enum cudaMemoryAdvise)0, here), cudaErrorInvalidValue);
	OK(cudaFree(managed));
}

#if CUDART_VERSION >= 12040
static cudaGraphNode_t add(
    cudaGraph_t graph, const cudaGraphNode_t *before, size_t count, struct cudaGraphNodeParams *p)
{
	cudaGraphNode_t node;
	OK(add_node(&node, graph, before, count, p));
	return node;
}

static void *kernel(void)
{
	static const char text[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
				   ".visible .entry nothing() { ret; }\n";
	CUmodule module;
	CUfunction function;
	OK(cuModuleLoadData(&module, text));
	OK(cuModuleGetFunction(&function, module, "nothing"));
	return function;
}

static struct cudaGraphNodeParams run_kernel(void *function)
{
	struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeKernel};
	p.kernel.func = function;
	p.kernel.gridDim = (dim3){2, 3, 1};
	p.kernel.blockDim = (dim3){32, 1, 1};
	return p;
}

static struct cudaGraphNodeParams fill(char *device, unsigned value)
{
	struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeMemset};
	p.memset.dst = device;
	p.memset.value = value;
	p.memset.elementSize = 4;
	p.memset.width = BYTES / 4;
	p.memset.height = 1;
	return p;
}

static struct cudaGraphNodeParams copy(char *to, char *from, enum cudaMemcpyKind kind)
{
	struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeMemcpy};
	p.memcpy.copyParams.srcPtr = (struct cudaPitchedPtr){from, BYTES / 4, BYTES / 4, 4};
	p.memcpy.copyParams.dstPtr = (struct cudaPitchedPtr){to, BYTES / 4, BYTES / 4, 4};
	p.memcpy.copyParams.extent = (struct cudaExtent){BYTES / 4, 4, 1};
	p.memcpy.copyParams.kind = kind;
	return p;
}

static void CUDART_CB count_up(void *counter)
{
	++*(int *)counter;
}

TEST(nodes_of_every_kind_are_added_and_run_in_order)
{
	char *device, host[BYTES] = {0};
	int counter = 0;
	cudaGraph_t graph, inner;
	start();
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphCreate(&inner, 0));
	struct cudaGraphNodeParams p = copy(host, device, cudaMemcpyDeviceToHost);
	cudaGraphNode_t last = add(graph, NULL, 0, &p);
	p = run_kernel(kernel());
	cudaGraphNode_t middle = add(graph, NULL, 0, &p);
	p = fill(device, 0x01020304);
	cudaGraphNode_t first = add(graph, NULL, 0, &p);
	p = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeHost};
	p.host.fn = count_up;
	p.host.userData = &counter;
	add(graph, &last, 1, &p);
	add(inner, NULL, 0, &p);
	p = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeGraph};
	p.graph.graph = inner;
	add(graph, &last, 1, &p);
	OK(cudaGraphDestroy(inner)); /* the node has a copy */
	p = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeEmpty};
	cudaGraphNode_t both[] = {first, middle}, empty = add(graph, both, 2, &p);
	size_t edges;
	OK(get_edges(graph, NULL, NULL, &edges));
	EXPECT_EQ(edges, 4);
	/* The copy was added first; it must wait for what was added later. */
	OK(add_edges(graph, &empty, &last, 1));
	OK(cudaGraphLaunch(instantiate(graph), 0));
	OK(cudaDeviceSynchronize());
	EXPECT(host[0] == 4 && host[1] == 3 && host[BYTES - 1] == 1);
	EXPECT_EQ(counter, 2);
}

TEST(a_graph_that_allocates_tells_the_address)
{
	cudaGraph_t graph;
	size_t used = 0;
	start();
	OK(cudaGraphCreate(&graph, 0));
	struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeMemAlloc};
	p.alloc.poolProps.allocType = cudaMemAllocationTypePinned;
	p.alloc.poolProps.location.type = cudaMemLocationTypeDevice;
	p.alloc.bytesize = 8 << 20;
	cudaGraphNode_t made = add(graph, NULL, 0, &p);
	REQUIRE(p.alloc.dptr);
	char *address = p.alloc.dptr;
	p = fill(address, 5);
	cudaGraphNode_t set = add(graph, &made, 1, &p);
	p = (struct cudaGraphNodeParams){.type = cudaGraphNodeTypeMemFree};
	p.free.dptr = address;
	add(graph, &set, 1, &p);
	OK(cudaGraphLaunch(instantiate(graph), 0));
	OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &used));
	EXPECT_EQ(used, 0);
	OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemHigh, &used));
	EXPECT_EQ(used, 8 << 20);
}

TEST(nodes_that_cannot_be_are_refused)
{
	char *device, host[BYTES];
	cudaGraph_t graph, other;
	cudaGraphNode_t node = NULL;
	start();
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphCreate(&other, 0));
	EXPECT_EQ(add_node(&node, graph, NULL, 0, NULL), cudaErrorInvalidValue);
	EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
	struct cudaGraphNodeParams p = run_kernel(NULL);
	EXPECT_EQ(add_node(&node, graph, NULL, 0, &p), cudaErrorInvalidDeviceFunction);
	p = run_kernel(&graph); /* neither a host symbol nor a kernel of the driver */
	EXPECT_EQ(add_node(&node, graph, NULL, 0, &p), cudaErrorInvalidDeviceFunction);
	p = copy(host, device, (enum cudaMemcpyKind)9);
	EXPECT_EQ(add_node(&node, graph, NULL, 0, &p), cudaErrorInvalidMemcpyDirection);
	p = copy(host, device, cudaMemcpyDeviceToHost);
	p.memcpy.copyParams.srcArray = (cudaArray_t)device;
	EXPECT_EQ(add_node(&node, graph, NULL, 0, &p), cudaErrorNotSupported);
	p = fill(device, 1);
	p.memset.elementSize = 3;
	EXPECT_EQ(add_node(&node, graph, NULL, 0, &p), cudaErrorInvalidValue);
	p = fill(device, 1);
	cudaGraphNode_t foreign = add(other, NULL, 0, &p);
	EXPECT_EQ(add_node(&node, graph, &foreign, 1, &p), cudaErrorInvalidValue);
	EXPECT(!node);
	nodes_of(graph, 0);
}

/* Their bodies would be chosen by a kernel, and kernels compute nothing here. */
TEST(conditional_nodes_are_refused)
{
	cudaGraph_t graph;
	cudaGraphNode_t node;
	cudaGraphConditionalHandle handle = 7;
	start();
	OK(cudaGraphCreate(&graph, 0));
	EXPECT_EQ(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault),
	    cudaErrorNotSupported);
	EXPECT_EQ(handle, 7);
	struct cudaGraphNodeParams p = {.type = cudaGraphNodeTypeConditional};
	p.conditional.type = cudaGraphCondTypeIf;
	p.conditional.size = 1;
	EXPECT_EQ(add_node(&node, graph, NULL, 0, &p), cudaErrorNotSupported);
	EXPECT(!p.conditional.phGraph_out);
	nodes_of(graph, 0);
}
#endif

TEST(an_empty_node_waits_for_others)
{
	cudaGraph_t graph;
	cudaGraphNode_t first, last, before[2];
	enum cudaGraphNodeType type;
	size_t count = 2;
	start();
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphAddEmptyNode(&first, graph, NULL, 0));
	OK(cudaGraphAddEmptyNode(&last, graph, &first, 1));
	OK(cudaGraphNodeGetType(last, &type));
	EXPECT_EQ(type, cudaGraphNodeTypeEmpty);
	OK(get_before(last, before, &count));
	EXPECT(count == 1 && before[0] == first);
	EXPECT_EQ(cudaGraphAddEmptyNode(NULL, graph, NULL, 0), cudaErrorInvalidValue);
}
