/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/graphs.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/graph_memory.h"

_Static_assert(sizeof(struct gd_node) <= GD_CELL_BYTES, "a node fits in a cell");
_Static_assert(sizeof(struct gd_graph) <= GD_CELL_BYTES, "a graph fits in a cell");

pthread_mutex_t gd_graph_lock = PTHREAD_MUTEX_INITIALIZER;

struct gd_graph *gd_graph_new(void)
{
	struct gd_graph *graph = gd_object_new(GD_TYPE_GRAPH);
	if (!graph)
		return NULL;
	graph->id = gd_next_id();
	graph->end = &graph->first;
	gd_object_publish(graph, GD_TYPE_GRAPH);
	return graph;
}

bool gd_work_copy(struct gd_work *to, const struct gd_work *from)
{
	*to = *from;
	if (from->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		gd_graph_memory_hold(to->memory);
	if (from->type == CU_GRAPH_NODE_TYPE_KERNEL)
		return gd_launch_keep(&to->kernel);
	if (from->type != CU_GRAPH_NODE_TYPE_GRAPH)
		return true;
	to->child = gd_graph_clone(from->child);
	if (to->child)
		to->child->owned = true;
	return to->child != NULL;
}

void gd_work_drop(struct gd_work *work)
{
	if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
		gd_launch_drop(&work->kernel);
	if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		gd_graph_memory_drop(work->memory);
	if (work->type == CU_GRAPH_NODE_TYPE_GRAPH)
		gd_graph_delete(work->child);
	work->type = CU_GRAPH_NODE_TYPE_EMPTY;
}

CUresult gd_work_replace(struct gd_work *target, CUgraphNodeType type, struct gd_work *work)
{
	bool fits = target && target->type == type;
	if (fits) {
		struct gd_work before = *target;
		*target = *work;
		*work = before;
	}
	gd_work_drop(work);
	return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

bool gd_node_depends(const struct gd_node *node, const struct gd_node *on)
{
	for (uint32_t i = 0; i < node->dependency_count; i++) {
		if (node->dependencies[i] == on)
			return true;
	}
	return false;
}

bool gd_node_depend(struct gd_node *node, struct gd_node *on)
{
	if (gd_node_depends(node, on))
		return true;
	if (node->dependency_count == node->dependency_room) {
		uint32_t room = node->dependency_room ? node->dependency_room * 2 : 2;
		void *more = realloc(node->dependencies, room * sizeof(*node->dependencies));
		if (!more)
			return false;
		node->dependencies = more;
		node->dependency_room = room;
	}
	node->dependencies[node->dependency_count++] = on;
	return true;
}

bool gd_graph_has(const struct gd_graph *graph, const CUgraphNode *nodes, size_t count)
{
	if (count && !nodes)
		return false;
	for (size_t i = 0; i < count; i++) {
		const struct gd_node *node = gd_node_get(nodes[i]);
		if (!node || node->graph != graph)
			return false;
	}
	return true;
}

void gd_node_delete(struct gd_node *node)
{
	struct gd_graph *graph = node->graph;
	*node->link = node->next;
	if (node->next)
		node->next->link = node->link;
	else
		graph->end = node->link;
	graph->node_count--;
	gd_work_drop(&node->work);
	free(node->dependencies);
	gd_object_free(node, GD_TYPE_NODE);
}

struct gd_node *gd_node_new(struct gd_graph *graph, const struct gd_work *work,
    struct gd_node *const *dependencies, size_t count)
{
	struct gd_node *node = gd_object_new(GD_TYPE_NODE);
	if (!node)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (gd_node_depend(node, dependencies[i]))
			continue;
		free(node->dependencies);
		gd_object_free(node, GD_TYPE_NODE);
		return NULL;
	}
	node->graph = graph;
	node->id = gd_next_id();
	node->work = *work;
	node->link = graph->end;
	*graph->end = node;
	graph->end = &node->next;
	graph->node_count++;
	gd_object_publish(node, GD_TYPE_NODE);
	return node;
}

void gd_graph_delete(struct gd_graph *graph)
{
	while (graph->first)
		gd_node_delete(graph->first);
	gd_references_drop(&graph->held);
	gd_object_free(graph, GD_TYPE_GRAPH);
}

/* The clone of a node among the clones made so far. */
static struct gd_node *cloned(const struct gd_graph *clone, const struct gd_node *original)
{
	struct gd_node *node = clone->first;
	while (node && node->original != original)
		node = node->next;
	return node;
}

static bool clone_nodes(struct gd_graph *clone, const struct gd_graph *graph)
{
	for (struct gd_node *node = graph->first; node; node = node->next) {
		struct gd_work work;
		if (!gd_work_copy(&work, &node->work))
			return false;
		struct gd_node *copy = gd_node_new(clone, &work, NULL, 0);
		if (!copy) {
			gd_work_drop(&work);
			return false;
		}
		copy->original = node;
	}
	struct gd_node *copy = clone->first;
	for (const struct gd_node *node = graph->first; node;
	     node = node->next, copy = copy->next) {
		for (uint32_t i = 0; i < node->dependency_count; i++) {
			if (!gd_node_depend(copy, cloned(clone, node->dependencies[i])))
				return false;
		}
	}
	return true;
}

struct gd_graph *gd_graph_clone(const struct gd_graph *graph)
{
	struct gd_graph *clone = gd_graph_new();
	if (!clone || (gd_references_copy(&clone->held, &graph->held) && clone_nodes(clone, graph)))
		return clone;
	gd_graph_delete(clone);
	return NULL;
}

static bool ready(const struct gd_node *node)
{
	for (uint32_t i = 0; i < node->dependency_count; i++) {
		if (!node->dependencies[i]->mark)
			return false;
	}
	return true;
}

/* Captured nodes are in order already, so that one pass is the rule. */
bool gd_graph_order(struct gd_graph *graph, struct gd_node **order_out)
{
	uint32_t done = 0, before;
	for (struct gd_node *node = graph->first; node; node = node->next)
		node->mark = 0;
	do {
		before = done;
		for (struct gd_node *node = graph->first; node; node = node->next) {
			if (node->mark || !ready(node))
				continue;
			order_out[done++] = node;
			node->mark = done;
		}
	} while (done > before);
	return done == graph->node_count;
}

/* ---- the structure, as programs see it ---- */

GD_API(cuGraphCreate, (CUgraph * graph_out, unsigned int flags), (graph_out, flags))
{
	if (!graph_out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_graph *graph = gd_graph_new();
	if (!graph)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*graph_out = (CUgraph)graph;
	return CUDA_SUCCESS;
}

GD_API(cuGraphDestroy, (CUgraph handle), (handle))
{
	struct gd_graph *graph = gd_graph_get(handle);
	if (!graph || graph->owned)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	gd_graph_delete(graph);
	gd_graph_unlock();
	return CUDA_SUCCESS;
}

GD_API(cuGraphClone, (CUgraph * clone_out, CUgraph handle), (clone_out, handle))
{
	const struct gd_graph *graph = gd_graph_get(handle);
	if (!clone_out || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	struct gd_graph *clone = gd_graph_clone(graph);
	gd_graph_unlock();
	if (!clone)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*clone_out = (CUgraph)clone;
	return CUDA_SUCCESS;
}

GD_API(cuGraphNodeFindInClone, (CUgraphNode * node_out, CUgraphNode original, CUgraph clone),
    (node_out, original, clone))
{
	const struct gd_graph *graph = gd_graph_get(clone);
	if (!node_out || !graph || !gd_node_get(original))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	struct gd_node *node = cloned(graph, gd_node_get(original));
	pthread_mutex_unlock(&gd_graph_lock);
	if (!node)
		return CUDA_ERROR_INVALID_VALUE;
	*node_out = (CUgraphNode)node;
	return CUDA_SUCCESS;
}

GD_API(cuGraphNodeGetType, (CUgraphNode handle, CUgraphNodeType *type_out), (handle, type_out))
{
	const struct gd_node *node = gd_node_get(handle);
	if (!type_out || !node)
		return CUDA_ERROR_INVALID_VALUE;
	*type_out = node->work.type;
	return CUDA_SUCCESS;
}
