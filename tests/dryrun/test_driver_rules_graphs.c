/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the driver: graphs, their nodes and edges, what is launched of them. */
#include "tests/dryrun/driver_test.h"

static CUgraph new_graph(void)
{
	CUgraph graph;
	OK(cuGraphCreate(&graph, 0));
	return graph;
}

static CUgraphNode empty_node(CUgraph graph, const CUgraphNode *after, size_t count)
{
	CUgraphNode node;
	OK(cuGraphAddEmptyNode(&node, graph, after, count));
	return node;
}

static CUgraphExec instantiate(CUgraph graph)
{
	CUgraphExec exec;
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	return exec;
}

static CUDA_MEMSET_NODE_PARAMS words(CUdeviceptr to, unsigned value, size_t count)
{
	CUDA_MEMSET_NODE_PARAMS set = {0};
	set.dst = to;
	set.value = value;
	set.elementSize = 4;
	set.width = count;
	set.height = 1;
	return set;
}

static CUgraphNode set_node(
    CUgraph graph, const CUgraphNode *after, size_t count, CUdeviceptr to, unsigned value)
{
	CUgraphNode node;
	CUcontext context;
	CUDA_MEMSET_NODE_PARAMS set = words(to, value, 1);
	OK(cuCtxGetCurrent(&context));
	OK(cuGraphAddMemsetNode(&node, graph, after, count, &set, context));
	return node;
}

static unsigned word_at(CUdeviceptr at)
{
	unsigned word;
	OK(cuMemcpyDtoH_v2(&word, at, sizeof(word)));
	return word;
}

static void run(CUgraphExec exec)
{
	OK(cuGraphLaunch(exec, NULL));
	OK(cuStreamSynchronize(NULL));
}

static size_t node_count(CUgraph graph)
{
	size_t count;
	OK(cuGraphGetNodes(graph, NULL, &count));
	return count;
}

RULE(graph_flags, "cuGraphCreate: flags must be 0")
{
	CUgraph graph;
	use_device();
	EXPECT_EQ(cuGraphCreate(&graph, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuGraphCreate(NULL, 0), CUDA_ERROR_INVALID_VALUE);
}

RULE(graph_nodes, "cuGraphGetNodes: the number without a list, as many as fit with one")
{
	use_device();
	CUgraph graph = new_graph();
	CUgraphNode nodes[3] = {NULL}, first = empty_node(graph, NULL, 0);
	CUgraphNode second = empty_node(graph, &first, 1);
	size_t count = 3;
	EXPECT_EQ(node_count(graph), 2);
	OK(cuGraphGetNodes(graph, nodes, &count));
	EXPECT(count == 2 && !nodes[2]);
	count = 1;
	OK(cuGraphGetRootNodes(graph, nodes, &count));
	EXPECT(count == 1 && nodes[0] == first && second != first);
}

RULE(node_types, "cuGraphNodeGetType: as what the node was added")
{
	CUgraphNodeType type;
	CUdeviceptr memory;
	use_device();
	CUgraph graph = new_graph();
	OK(cuMemAlloc_v2(&memory, 4));
	OK(cuGraphNodeGetType(empty_node(graph, NULL, 0), &type));
	EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_EMPTY);
	OK(cuGraphNodeGetType(set_node(graph, NULL, 0, memory, 1), &type));
	EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);
}

RULE(graph_edges, "cuGraphAddDependencies: between nodes of the graph, each edge once")
{
	size_t count;
	use_device();
	CUgraph graph = new_graph(), other = new_graph();
	CUgraphNode a = empty_node(graph, NULL, 0), b = empty_node(graph, NULL, 0);
	CUgraphNode foreign = empty_node(other, NULL, 0);
	OK(cuGraphAddDependencies(graph, &a, &b, 1));
	EXPECT_EQ(cuGraphAddDependencies(graph, &a, &b, 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuGraphAddDependencies(graph, &a, &foreign, 1) != CUDA_SUCCESS);
	EXPECT_EQ(cuGraphAddDependencies(graph, &a, &a, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphGetEdges(graph, NULL, NULL, &count));
	EXPECT_EQ(count, 1);
	OK(cuGraphRemoveDependencies(graph, &a, &b, 1));
	EXPECT_EQ(cuGraphRemoveDependencies(graph, &a, &b, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuGraphGetEdges(graph, NULL, NULL, &count));
	EXPECT_EQ(count, 0);
}

RULE(destroyed_nodes, "cuGraphDestroyNode: its edges go with it")
{
	size_t count;
	use_device();
	CUgraph graph = new_graph();
	CUgraphNode a = empty_node(graph, NULL, 0), b = empty_node(graph, &a, 1);
	CUgraphNode c = empty_node(graph, &b, 1);
	OK(cuGraphDestroyNode(b));
	EXPECT_EQ(node_count(graph), 2);
	OK(cuGraphNodeGetDependencies(c, NULL, &count));
	EXPECT_EQ(count, 0);
	OK(cuGraphNodeGetDependentNodes(a, NULL, &count));
	EXPECT_EQ(count, 0);
}

RULE(circles, "cuGraphInstantiate: nodes that wait for each other are refused")
{
	CUgraphExec exec;
	use_device();
	CUgraph graph = new_graph();
	CUgraphNode a = empty_node(graph, NULL, 0), b = empty_node(graph, &a, 1);
	/* Either edge or instantiation is refused, by version. */
	CUresult result = cuGraphAddDependencies(graph, &b, &a, 1);
	if (result == CUDA_SUCCESS)
		result = cuGraphInstantiateWithFlags(&exec, graph, 0);
	EXPECT(result != CUDA_SUCCESS);
}

RULE(graph_order, "cuGraphLaunch: a node runs behind those it depends on")
{
	CUdeviceptr memory;
	use_device();
	OK(cuMemAlloc_v2(&memory, 4));
	for (int turn = 0; turn < 2; turn++) {
		CUgraph graph = new_graph();
		CUgraphNode one = set_node(graph, NULL, 0, memory, 1);
		CUgraphNode two = set_node(graph, NULL, 0, memory, 2);
		OK(cuGraphAddDependencies(graph, turn ? &one : &two, turn ? &two : &one, 1));
		run(instantiate(graph));
		EXPECT_EQ(word_at(memory), turn ? 2 : 1);
		OK(cuGraphDestroy(graph));
	}
}

RULE(instances, "cuGraphInstantiate: an instance does not change with its graph")
{
	CUdeviceptr memory;
	use_device();
	OK(cuMemAlloc_v2(&memory, 8));
	CUgraph graph = new_graph();
	CUgraphNode node = set_node(graph, NULL, 0, memory, 1);
	CUgraphExec exec = instantiate(graph);
	CUDA_MEMSET_NODE_PARAMS set = words(memory, 2, 1);
	OK(cuGraphMemsetNodeSetParams(node, &set));
	set_node(graph, &node, 1, memory, 3);
	run(exec);
	EXPECT_EQ(word_at(memory), 1);
	OK(cuGraphDestroy(graph));
	OK(cuMemsetD32_v2(memory, 0, 1));
	run(exec);
	EXPECT_EQ(word_at(memory), 1);
}

RULE(changed_nodes, "cuGraphExecMemsetNodeSetParams: later launches do what was set")
{
	CUdeviceptr memory;
	CUcontext context;
	use_device();
	OK(cuCtxGetCurrent(&context));
	OK(cuMemAlloc_v2(&memory, 4));
	CUgraph graph = new_graph();
	CUgraphNode node = set_node(graph, NULL, 0, memory, 1);
	CUgraphExec exec = instantiate(graph);
	CUDA_MEMSET_NODE_PARAMS set = words(memory, 5, 1);
	OK(cuGraphExecMemsetNodeSetParams(exec, node, &set, context));
	run(exec);
	EXPECT_EQ(word_at(memory), 5);
	/* The graph itself is as it was. */
	OK(cuGraphMemsetNodeGetParams(node, &set));
	EXPECT_EQ(set.value, 1);
}

RULE(graph_update,
    "cuGraphExecUpdate: an equal graph's settings are taken, another shape is refused")
{
	CUdeviceptr memory;
	CUgraphExecUpdateResultInfo info;
	use_device();
	OK(cuMemAlloc_v2(&memory, 4));
	CUgraph graph = new_graph(), equal = new_graph(), larger = new_graph();
	set_node(graph, NULL, 0, memory, 1);
	CUgraphExec exec = instantiate(graph);
	CUgraphNode node = set_node(larger, NULL, 0, memory, 7);
	set_node(equal, NULL, 0, memory, 6);
	empty_node(larger, &node, 1);
	EXPECT_EQ(cuGraphExecUpdate_v2(exec, larger, &info), CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE);
	EXPECT(info.result == CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED);
	OK(cuGraphExecUpdate_v2(exec, equal, &info));
	EXPECT_EQ(info.result, CU_GRAPH_EXEC_UPDATE_SUCCESS);
	run(exec);
	EXPECT_EQ(word_at(memory), 6);
}

RULE(child_graphs, "cuGraphAddChildGraphNode: the child is copied when it is added")
{
	CUdeviceptr memory;
	CUgraphNode node;
	CUgraph copy;
	use_device();
	OK(cuMemAlloc_v2(&memory, 4));
	CUgraph graph = new_graph(), child = new_graph();
	CUgraphNode inside = set_node(child, NULL, 0, memory, 3);
	OK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	CUDA_MEMSET_NODE_PARAMS set = words(memory, 4, 1);
	OK(cuGraphMemsetNodeSetParams(inside, &set));
	OK(cuGraphChildGraphNodeGetGraph(node, &copy));
	EXPECT(copy != child && node_count(copy) == 1);
	run(instantiate(graph));
	EXPECT_EQ(word_at(memory), 3);
}

RULE(clones, "cuGraphClone: an equal graph of its own; its nodes are found by their originals")
{
	CUgraph clone;
	CUgraphNode found;
	use_device();
	CUgraph graph = new_graph();
	CUgraphNode a = empty_node(graph, NULL, 0), b = empty_node(graph, &a, 1);
	OK(cuGraphClone(&clone, graph));
	OK(cuGraphNodeFindInClone(&found, b, clone));
	EXPECT(found != b);
	OK(cuGraphDestroyNode(found));
	EXPECT_EQ(node_count(graph), 2);
	EXPECT_EQ(node_count(clone), 1);
	EXPECT_EQ(cuGraphNodeFindInClone(&found, b, graph), CUDA_ERROR_INVALID_VALUE);
}

static void CUDA_CB count(void *number)
{
	++*(int *)number;
}

RULE(host_nodes, "host nodes run once in each launch; a disabled node does not run")
{
	CUgraphNode node;
	int calls = 0;
	CUdeviceptr memory;
	use_device();
	OK(cuMemAlloc_v2(&memory, 4));
	OK(cuMemsetD32_v2(memory, 0, 1));
	CUgraph graph = new_graph();
	CUDA_HOST_NODE_PARAMS host = {.fn = count, .userData = &calls};
	OK(cuGraphAddHostNode(&node, graph, NULL, 0, &host));
	CUgraphNode set = set_node(graph, &node, 1, memory, 9);
	CUgraphExec exec = instantiate(graph);
	OK(cuGraphNodeSetEnabled(exec, set, 0));
	run(exec);
	EXPECT(calls == 1 && word_at(memory) == 0);
	OK(cuGraphNodeSetEnabled(exec, set, 1));
	run(exec);
	EXPECT(calls == 2 && word_at(memory) == 9);
}

RULE(empty_graphs, "a graph without nodes can be launched")
{
	use_device();
	run(instantiate(new_graph()));
}
