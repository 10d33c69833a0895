/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Graphs: nodes that say what to do, edges that say in which order, and their executable form.
 *
 * Everything here is guarded by gd_graph_lock, which capture uses too.  Edges carry no data: ports
 * and types of dependencies make no difference to this device.  Threads: any; lock order: the graph
 * lock first, then locks of streams, queues, events, memory.
 */
#ifndef GD_GRAPHS_H
#define GD_GRAPHS_H

#include <pthread.h>

#include "shim/dryrun/copies.h"
#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/handles.h"
#include "shim/dryrun/launches.h"
#include "shim/dryrun/user_objects.h"

struct gd_graph;
struct gd_graph_memory;

/* What a node does. */
struct gd_work {
	CUgraphNodeType type;
	union {
		struct gd_launch kernel;
		struct gd_copy copy;
		struct gd_memset set;
		CUDA_HOST_NODE_PARAMS host;
		struct gd_graph *child;		/* owned */
		CUevent event;			/* recorded or awaited */
		struct gd_graph_memory *memory; /* one reference owned */
		CUdeviceptr address;		/* to free */
	};
};

struct gd_node {
	struct gd_object object;
	struct gd_graph *graph;
	struct gd_node *next, **link; /* in order of creation */
	uint64_t id;
	struct gd_node *original; /* in a clone: the node it was made from */
	struct gd_node **dependencies;
	uint32_t dependency_count, dependency_room;
	uint32_t mark; /* scratch of walks; its place after gd_graph_order, from 1 */
	struct gd_work work;
};

struct gd_graph {
	struct gd_object object;
	uint64_t id;
	struct gd_node *first, **end;
	uint32_t node_count;
	bool owned; /* by a node or a capture: not the program's to destroy */
	struct gd_references held;
};

extern pthread_mutex_t gd_graph_lock;

/** @return a new empty graph, or NULL */
struct gd_graph *gd_graph_new(void);

/** End a graph with its nodes; gd_graph_unlock runs the destructors of what it held. */
void gd_graph_delete(struct gd_graph *graph);

/** Copy a graph, its child graphs included. @return NULL without memory */
struct gd_graph *gd_graph_clone(const struct gd_graph *graph);

/**
 * Add a node.
 *
 * @param work          taken over on success
 * @param dependencies  nodes of the same graph; copied, doubles removed
 * @return NULL without memory
 */
struct gd_node *gd_node_new(struct gd_graph *graph, const struct gd_work *work,
    struct gd_node *const *dependencies, size_t count);

/** @return whether handles are those of nodes of a graph; none at all are */
bool gd_graph_has(const struct gd_graph *graph, const CUgraphNode *nodes, size_t count);

/** Take a node that no other depends on out of its graph and end it. */
void gd_node_delete(struct gd_node *node);

/** Add one dependency. @return false without memory */
bool gd_node_depend(struct gd_node *node, struct gd_node *on);

/** @return whether it depends on it directly */
bool gd_node_depends(const struct gd_node *node, const struct gd_node *on);

/** Copy what a node does, with references of its own. @return false without memory */
bool gd_work_copy(struct gd_work *to, const struct gd_work *from);

/** Drop what it owns. */
void gd_work_drop(struct gd_work *work);

/**
 * Give a node or a step other work of its type.
 *
 * @param target  NULL makes the call invalid
 * @param work    taken over or dropped
 * @return CUDA_SUCCESS; CUDA_ERROR_INVALID_VALUE when the types differ
 */
CUresult gd_work_replace(struct gd_work *target, CUgraphNodeType type, struct gd_work *work);

/**
 * Put the nodes in an order that respects the edges; of equals the older first.
 *
 * @param order_out  room for node_count
 * @return false when the edges form a circle
 */
bool gd_graph_order(struct gd_graph *graph, struct gd_node **order_out);

static inline struct gd_graph *gd_graph_get(CUgraph handle)
{
	return gd_object_get(handle, GD_TYPE_GRAPH);
}

static inline struct gd_node *gd_node_get(CUgraphNode handle)
{
	return gd_object_get(handle, GD_TYPE_NODE);
}

#endif
