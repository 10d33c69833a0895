/* SPDX-License-Identifier: Apache-2.0 */
/* Adding nodes to graphs by hand, reading and changing what they do. */
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/graph_memory.h"
#include "shim/dryrun/graph_work.h"

/* @param built  what making the work said: an error ends it here */
static CUresult add(CUgraphNode *node_out, CUgraph handle, const CUgraphNode *dependencies,
    size_t count, CUresult built, struct gd_work *work)
{
	struct gd_graph *graph = gd_graph_get(handle);
	if (built != CUDA_SUCCESS)
		return built;
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct gd_node *node = NULL;
	pthread_mutex_lock(&gd_graph_lock);
	if (node_out && graph && gd_graph_has(graph, dependencies, count)) {
		node = gd_node_new(
		    graph, work, (struct gd_node *const *)(uintptr_t)dependencies, count);
		result = node ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (node)
		*node_out = (CUgraphNode)node;
	else
		gd_work_drop(work);
	gd_graph_unlock();
	return result;
}

GD_API(cuGraphAddKernelNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	const CUDA_KERNEL_NODE_PARAMS_v1 *parameters),
    (node_out, graph, dependencies, count, parameters))
{
	struct gd_work work;
	CUresult built = gd_work_kernel_v1(parameters, &work);
	return add(node_out, graph, dependencies, count, built, &work);
}

GD_API(cuGraphAddKernelNode_v2,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	const CUDA_KERNEL_NODE_PARAMS *parameters),
    (node_out, graph, dependencies, count, parameters))
{
	struct gd_work work;
	return add(node_out, graph, dependencies, count, gd_work_kernel(parameters, &work), &work);
}

GD_API(cuGraphAddMemcpyNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	const CUDA_MEMCPY3D *parameters, CUcontext context),
    (node_out, graph, dependencies, count, parameters, context))
{
	struct gd_work work;
	return add(node_out, graph, dependencies, count, gd_work_copy3d(parameters, &work), &work);
}

GD_API(cuGraphAddMemsetNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	const CUDA_MEMSET_NODE_PARAMS *parameters, CUcontext context),
    (node_out, graph, dependencies, count, parameters, context))
{
	struct gd_work work;
	return add(node_out, graph, dependencies, count, gd_work_memset(parameters, &work), &work);
}

GD_API(cuGraphAddHostNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	const CUDA_HOST_NODE_PARAMS *parameters),
    (node_out, graph, dependencies, count, parameters))
{
	struct gd_work work;
	return add(node_out, graph, dependencies, count, gd_work_host(parameters, &work), &work);
}

GD_API(cuGraphAddChildGraphNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	CUgraph child),
    (node_out, graph, dependencies, count, child))
{
	struct gd_work work;
	pthread_mutex_lock(&gd_graph_lock);
	CUresult built = gd_work_child(child, false, &work);
	pthread_mutex_unlock(&gd_graph_lock);
	return add(node_out, graph, dependencies, count, built, &work);
}

GD_API(cuGraphAddEmptyNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count),
    (node_out, graph, dependencies, count))
{
	struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_EMPTY};
	return add(node_out, graph, dependencies, count, CUDA_SUCCESS, &work);
}

GD_API(cuGraphAddEventRecordNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	CUevent event),
    (node_out, graph, dependencies, count, event))
{
	struct gd_work work;
	CUresult built = gd_work_event(event, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &work);
	return add(node_out, graph, dependencies, count, built, &work);
}

GD_API(cuGraphAddEventWaitNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	CUevent event),
    (node_out, graph, dependencies, count, event))
{
	struct gd_work work;
	CUresult built = gd_work_event(event, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &work);
	return add(node_out, graph, dependencies, count, built, &work);
}

GD_API(cuGraphAddMemAllocNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	CUDA_MEM_ALLOC_NODE_PARAMS *parameters),
    (node_out, graph, dependencies, count, parameters))
{
	struct gd_work work;
	pthread_mutex_lock(&gd_graph_lock);
	CUresult built = gd_work_allocation(parameters, &work);
	pthread_mutex_unlock(&gd_graph_lock);
	return add(node_out, graph, dependencies, count, built, &work);
}

GD_API(cuGraphAddMemFreeNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	CUdeviceptr address),
    (node_out, graph, dependencies, count, address))
{
	struct gd_work work;
	return add(node_out, graph, dependencies, count, gd_work_free(address, &work), &work);
}

static CUresult add_any(CUgraphNode *node_out, CUgraph graph, const CUgraphNode *dependencies,
    size_t count, CUgraphNodeParams *parameters)
{
	struct gd_work work;
	if (!parameters)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	CUresult built = gd_work_any(parameters, &work);
	pthread_mutex_unlock(&gd_graph_lock);
	return add(node_out, graph, dependencies, count, built, &work);
}

GD_API(cuGraphAddNode,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies, size_t count,
	CUgraphNodeParams *parameters),
    (node_out, graph, dependencies, count, parameters))
{
	return add_any(node_out, graph, dependencies, count, parameters);
}

GD_API(cuGraphAddNode_v2,
    (CUgraphNode * node_out, CUgraph graph, const CUgraphNode *dependencies,
	const CUgraphEdgeData *data, size_t count, CUgraphNodeParams *parameters),
    (node_out, graph, dependencies, data, count, parameters))
{
	return add_any(node_out, graph, dependencies, count, parameters);
}

/* ---- reading ---- */

/* The work of a node if it is of the type; NULL makes the call invalid. */
static const struct gd_work *work_of(CUgraphNode handle, CUgraphNodeType type, const void *out)
{
	const struct gd_node *node = gd_node_get(handle);
	return node && out && node->work.type == type ? &node->work : NULL;
}

GD_API(cuGraphKernelNodeGetParams, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS_v1 *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_KERNEL, out);
	CUDA_KERNEL_NODE_PARAMS wide;
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	gd_work_to_kernel(work, &wide);
	memcpy(out, &wide, sizeof(*out));
	return CUDA_SUCCESS;
}

GD_API(cuGraphKernelNodeGetParams_v2, (CUgraphNode node, CUDA_KERNEL_NODE_PARAMS *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_KERNEL, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	gd_work_to_kernel(work, out);
	return CUDA_SUCCESS;
}

GD_API(cuGraphMemcpyNodeGetParams, (CUgraphNode node, CUDA_MEMCPY3D *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEMCPY, out);
	return work ? gd_work_to_copy3d(work, out) : CUDA_ERROR_INVALID_VALUE;
}

GD_API(cuGraphMemsetNodeGetParams, (CUgraphNode node, CUDA_MEMSET_NODE_PARAMS *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEMSET, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	gd_work_to_memset(work, out);
	return CUDA_SUCCESS;
}

GD_API(cuGraphHostNodeGetParams, (CUgraphNode node, CUDA_HOST_NODE_PARAMS *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_HOST, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	*out = work->host;
	return CUDA_SUCCESS;
}

GD_API(cuGraphChildGraphNodeGetGraph, (CUgraphNode node, CUgraph *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_GRAPH, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	*out = (CUgraph)work->child;
	return CUDA_SUCCESS;
}

GD_API(cuGraphEventRecordNodeGetEvent, (CUgraphNode node, CUevent *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	*out = work->event;
	return CUDA_SUCCESS;
}

GD_API(cuGraphEventWaitNodeGetEvent, (CUgraphNode node, CUevent *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	*out = work->event;
	return CUDA_SUCCESS;
}

GD_API(
    cuGraphMemAllocNodeGetParams, (CUgraphNode node, CUDA_MEM_ALLOC_NODE_PARAMS *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	*out = work->memory->parameters;
	return CUDA_SUCCESS;
}

GD_API(cuGraphMemFreeNodeGetParams, (CUgraphNode node, CUdeviceptr *out), (node, out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_MEM_FREE, out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	*out = work->address;
	return CUDA_SUCCESS;
}

/* ---- changing ---- */

static CUresult change(
    CUgraphNode handle, CUgraphNodeType type, CUresult built, struct gd_work *work)
{
	struct gd_node *node = gd_node_get(handle);
	if (built != CUDA_SUCCESS)
		return built;
	pthread_mutex_lock(&gd_graph_lock);
	CUresult result = gd_work_replace(node ? &node->work : NULL, type, work);
	gd_graph_unlock();
	return result;
}

GD_API(
    cuGraphKernelNodeSetParams, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p), (node, p))
{
	struct gd_work work;
	return change(node, CU_GRAPH_NODE_TYPE_KERNEL, gd_work_kernel_v1(p, &work), &work);
}

GD_API(
    cuGraphKernelNodeSetParams_v2, (CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p), (node, p))
{
	struct gd_work work;
	return change(node, CU_GRAPH_NODE_TYPE_KERNEL, gd_work_kernel(p, &work), &work);
}

GD_API(cuGraphMemcpyNodeSetParams, (CUgraphNode node, const CUDA_MEMCPY3D *p), (node, p))
{
	struct gd_work work;
	return change(node, CU_GRAPH_NODE_TYPE_MEMCPY, gd_work_copy3d(p, &work), &work);
}

GD_API(cuGraphMemsetNodeSetParams, (CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p), (node, p))
{
	struct gd_work work;
	return change(node, CU_GRAPH_NODE_TYPE_MEMSET, gd_work_memset(p, &work), &work);
}

GD_API(cuGraphHostNodeSetParams, (CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p), (node, p))
{
	struct gd_work work;
	return change(node, CU_GRAPH_NODE_TYPE_HOST, gd_work_host(p, &work), &work);
}

GD_API(cuGraphEventRecordNodeSetEvent, (CUgraphNode node, CUevent event), (node, event))
{
	struct gd_work work;
	const CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
	return change(node, type, gd_work_event(event, type, &work), &work);
}

GD_API(cuGraphEventWaitNodeSetEvent, (CUgraphNode node, CUevent event), (node, event))
{
	struct gd_work work;
	const CUgraphNodeType type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
	return change(node, type, gd_work_event(event, type, &work), &work);
}

GD_API(cuGraphNodeSetParams, (CUgraphNode node, CUgraphNodeParams *parameters), (node, parameters))
{
	struct gd_work work;
	if (!parameters)
		return CUDA_ERROR_INVALID_VALUE;
	if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
		return CUDA_ERROR_NOT_SUPPORTED;
	pthread_mutex_lock(&gd_graph_lock);
	CUresult built = gd_work_any(parameters, &work);
	pthread_mutex_unlock(&gd_graph_lock);
	return change(node, parameters->type, built, &work);
}

/* Attributes of kernel nodes steer caches and scheduling, which do not exist here. */
GD_API(cuGraphKernelNodeCopyAttributes, (CUgraphNode to, CUgraphNode from), (to, from))
{
	return gd_node_get(to) && gd_node_get(from) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

GD_API(cuGraphKernelNodeGetAttribute,
    (CUgraphNode node, CUkernelNodeAttrID attribute, CUkernelNodeAttrValue *value_out),
    (node, attribute, value_out))
{
	const struct gd_work *work = work_of(node, CU_GRAPH_NODE_TYPE_KERNEL, value_out);
	if (!work)
		return CUDA_ERROR_INVALID_VALUE;
	memset(value_out, 0, sizeof(*value_out));
	if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
		value_out->cooperative = work->kernel.cooperative;
	return CUDA_SUCCESS;
}

GD_API(cuGraphKernelNodeSetAttribute,
    (CUgraphNode node, CUkernelNodeAttrID attribute, const CUkernelNodeAttrValue *value),
    (node, attribute, value))
{
	struct gd_node *target = gd_node_get(node);
	if (!target || !value || target->work.type != CU_GRAPH_NODE_TYPE_KERNEL)
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
		target->work.kernel.cooperative = value->cooperative != 0;
	return CUDA_SUCCESS;
}
