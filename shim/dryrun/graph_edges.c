/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes and edges of a graph as programs list and change them; the functions of edges with and
 * without edge data. */
#include <string.h>

#include "shim/dryrun/graphs.h"

/* One list of handles that is filled up to its room. */
struct list {
	CUgraphNode *nodes; /* NULL: only count */
	size_t room, found;
};

static void put(struct list *list, const struct gd_node *node)
{
	if (list->nodes && list->found < list->room)
		list->nodes[list->found] = (CUgraphNode)(uintptr_t)node;
	list->found++;
}

/* The entries behind the last are NULL, the count is what was written or, without a list, found. */
static void finish(struct list *list, CUgraphEdgeData *data, size_t *count)
{
	for (size_t i = list->found; list->nodes && i < list->room; i++)
		list->nodes[i] = NULL;
	*count = list->nodes && list->found > list->room ? list->room : list->found;
	if (data && list->nodes)
		memset(data, 0, *count * sizeof(*data));
}

static CUresult nodes_of(CUgraph handle, bool roots, CUgraphNode *nodes, size_t *count)
{
	const struct gd_graph *graph = gd_graph_get(handle);
	if (!graph || !count)
		return CUDA_ERROR_INVALID_VALUE;
	struct list list = {nodes, *count, 0};
	pthread_mutex_lock(&gd_graph_lock);
	for (const struct gd_node *node = graph->first; node; node = node->next) {
		if (!roots || !node->dependency_count)
			put(&list, node);
	}
	pthread_mutex_unlock(&gd_graph_lock);
	finish(&list, NULL, count);
	return CUDA_SUCCESS;
}

static CUresult edges(
    CUgraph handle, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count)
{
	const struct gd_graph *graph = gd_graph_get(handle);
	if (!graph || !count || !from != !to)
		return CUDA_ERROR_INVALID_VALUE;
	struct list froms = {from, *count, 0}, tos = {to, *count, 0};
	size_t same;
	pthread_mutex_lock(&gd_graph_lock);
	for (const struct gd_node *node = graph->first; node; node = node->next) {
		for (uint32_t i = 0; i < node->dependency_count; i++) {
			put(&froms, node->dependencies[i]);
			put(&tos, node);
		}
	}
	pthread_mutex_unlock(&gd_graph_lock);
	finish(&froms, data, count);
	finish(&tos, NULL, &same);
	return CUDA_SUCCESS;
}

static CUresult dependencies(
    CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count)
{
	const struct gd_node *node = gd_node_get(handle);
	if (!node || !count)
		return CUDA_ERROR_INVALID_VALUE;
	struct list list = {nodes, *count, 0};
	pthread_mutex_lock(&gd_graph_lock);
	for (uint32_t i = 0; i < node->dependency_count; i++)
		put(&list, node->dependencies[i]);
	pthread_mutex_unlock(&gd_graph_lock);
	finish(&list, data, count);
	return CUDA_SUCCESS;
}

static CUresult dependents(
    CUgraphNode handle, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count)
{
	const struct gd_node *node = gd_node_get(handle);
	if (!node || !count)
		return CUDA_ERROR_INVALID_VALUE;
	struct list list = {nodes, *count, 0};
	pthread_mutex_lock(&gd_graph_lock);
	for (const struct gd_node *other = node->graph->first; other; other = other->next) {
		if (gd_node_depends(other, node))
			put(&list, other);
	}
	pthread_mutex_unlock(&gd_graph_lock);
	finish(&list, data, count);
	return CUDA_SUCCESS;
}

static bool pair(const struct gd_graph *graph, CUgraphNode from, CUgraphNode to,
    struct gd_node **from_out, struct gd_node **to_out)
{
	*from_out = gd_node_get(from);
	*to_out = gd_node_get(to);
	return *from_out && *to_out && *from_out != *to_out && (*from_out)->graph == graph &&
	       (*to_out)->graph == graph;
}

static bool remove_dependency(struct gd_node *node, const struct gd_node *on)
{
	for (uint32_t i = 0; i < node->dependency_count; i++) {
		if (node->dependencies[i] != on)
			continue;
		node->dependency_count--;
		memmove(&node->dependencies[i], &node->dependencies[i + 1],
		    (node->dependency_count - i) * sizeof(*node->dependencies));
		return true;
	}
	return false;
}

static CUresult change(
    CUgraph handle, const CUgraphNode *from, const CUgraphNode *to, size_t count, bool add)
{
	const struct gd_graph *graph = gd_graph_get(handle);
	struct gd_node *source, *target;
	CUresult result = CUDA_SUCCESS;
	if (!graph || (count && (!from || !to)))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		/* Each edge must be new, or there, before anything is changed. */
		if (!pair(graph, from[i], to[i], &source, &target) ||
		    gd_node_depends(target, source) == add)
			result = CUDA_ERROR_INVALID_VALUE;
	}
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
		pair(graph, from[i], to[i], &source, &target);
		if (add && !gd_node_depend(target, source))
			result = CUDA_ERROR_OUT_OF_MEMORY;
		if (!add)
			remove_dependency(target, source);
	}
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

GD_API(cuGraphGetNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count), (graph, nodes, count))
{
	return nodes_of(graph, false, nodes, count);
}

GD_API(
    cuGraphGetRootNodes, (CUgraph graph, CUgraphNode *nodes, size_t *count), (graph, nodes, count))
{
	return nodes_of(graph, true, nodes, count);
}

GD_API(cuGraphGetEdges, (CUgraph graph, CUgraphNode *from, CUgraphNode *to, size_t *count),
    (graph, from, to, count))
{
	return edges(graph, from, to, NULL, count);
}

GD_API(cuGraphGetEdges_v2,
    (CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *data, size_t *count),
    (graph, from, to, data, count))
{
	return edges(graph, from, to, data, count);
}

GD_API(cuGraphNodeGetDependencies, (CUgraphNode node, CUgraphNode *nodes, size_t *count),
    (node, nodes, count))
{
	return dependencies(node, nodes, NULL, count);
}

GD_API(cuGraphNodeGetDependencies_v2,
    (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count),
    (node, nodes, data, count))
{
	return dependencies(node, nodes, data, count);
}

GD_API(cuGraphNodeGetDependentNodes, (CUgraphNode node, CUgraphNode *nodes, size_t *count),
    (node, nodes, count))
{
	return dependents(node, nodes, NULL, count);
}

GD_API(cuGraphNodeGetDependentNodes_v2,
    (CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *data, size_t *count),
    (node, nodes, data, count))
{
	return dependents(node, nodes, data, count);
}

GD_API(cuGraphAddDependencies,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
    (graph, from, to, count))
{
	return change(graph, from, to, count, true);
}

GD_API(cuGraphAddDependencies_v2,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
	size_t count),
    (graph, from, to, data, count))
{
	return change(graph, from, to, count, true);
}

GD_API(cuGraphRemoveDependencies,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, size_t count),
    (graph, from, to, count))
{
	return change(graph, from, to, count, false);
}

GD_API(cuGraphRemoveDependencies_v2,
    (CUgraph graph, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
	size_t count),
    (graph, from, to, data, count))
{
	return change(graph, from, to, count, false);
}

GD_API(cuGraphDestroyNode, (CUgraphNode handle), (handle))
{
	struct gd_node *node = gd_node_get(handle);
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	if (node->work.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
	    node->work.type == CU_GRAPH_NODE_TYPE_MEM_FREE)
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&gd_graph_lock);
	for (struct gd_node *other = node->graph->first; other; other = other->next)
		remove_dependency(other, node);
	gd_node_delete(node);
	gd_graph_unlock();
	return CUDA_SUCCESS;
}
