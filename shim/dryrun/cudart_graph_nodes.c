/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes of graphs: listed, connected, added by hand. */
#include <string.h>

#include "cudart.h"
#include "cudart_copy_plan.h"

GD_EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphGetNodes(graph, nodes, count));
}

GD_EXPORT cudaError_t cudaGraphGetRootNodes(
    cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphGetRootNodes(graph, nodes, count));
}

GD_EXPORT cudaError_t cudaGraphAddEmptyNode(
    cudaGraphNode_t *node, cudaGraph_t graph, const cudaGraphNode_t *dependencies, size_t count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphAddEmptyNode(node, graph, dependencies, count));
}

GD_EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	CUgraphNodeType found;
	cudaError_t error;

	GD_BIND();
	if (!type)
		return gd_rt_note(cudaErrorInvalidValue);
	error = gd_rt_result(gd_driver.cuGraphNodeGetType(node, &found));
	if (!error)
		*type = (enum cudaGraphNodeType)found;
	return error;
}

/* Since CUDA 13 edges carry data, the same struct on both sides. */
#if CUDART_VERSION >= 13000
#define GD_EDGES cudaGraphEdgeData *edges,
#define GD_EDGES_PASSED (CUgraphEdgeData *)edges,
#else
#define GD_EDGES
#define GD_EDGES_PASSED
#endif

GD_EXPORT cudaError_t cudaGraphGetEdges(
    cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to, GD_EDGES size_t *count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphGetEdges(graph, from, to, GD_EDGES_PASSED count));
}

GD_EXPORT cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t node, cudaGraphNode_t *nodes, GD_EDGES size_t *count)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuGraphNodeGetDependencies(node, nodes, GD_EDGES_PASSED count));
}

GD_EXPORT cudaError_t cudaGraphNodeGetDependentNodes(
    cudaGraphNode_t node, cudaGraphNode_t *nodes, GD_EDGES size_t *count)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuGraphNodeGetDependentNodes(node, nodes, GD_EDGES_PASSED count));
}

#if CUDART_VERSION >= 12040
_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "node parameters");

/* All kinds of nodes have one layout on both sides, but for kernels, which the runtime knows by
 * their host symbols, and copies. */
static cudaError_t to_driver(const struct cudaGraphNodeParams *from, CUgraphNodeParams *to)
{
	memcpy(to, from, sizeof(*to));
	switch (from->type) {
	case cudaGraphNodeTypeKernel:
		return gd_rt_kernel(from->kernel.func, &to->kernel.func);
	case cudaGraphNodeTypeMemcpy:
		memset(&to->memcpy, 0, sizeof(to->memcpy));
		to->memcpy.flags = from->memcpy.flags;
		return gd_rt_plan_3d(&to->memcpy.copyParams, &from->memcpy.copyParams);
	default:
		return cudaSuccess;
	}
}

static cudaError_t add_node(cudaGraphNode_t *node, cudaGraph_t graph,
    const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t count,
    struct cudaGraphNodeParams *parameters)
{
	CUgraphNodeParams translated;
	cudaError_t error;

	GD_BIND_INSIDE();
	if (!parameters)
		return gd_rt_note(cudaErrorInvalidValue);
	error = to_driver(parameters, &translated);
	if (error)
		return gd_rt_note(error);
	error = gd_rt_result(gd_driver.cuGraphAddNode(
	    node, graph, dependencies, (const CUgraphEdgeData *)edges, count, &translated));
	if (!error && parameters->type == cudaGraphNodeTypeMemAlloc)
		parameters->alloc.dptr = (void *)(uintptr_t)translated.alloc.dptr;
	return error;
}

#if CUDART_VERSION >= 13000
GD_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
    const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t count,
    struct cudaGraphNodeParams *parameters)
{
	GD_WATCH();
	return add_node(node, graph, dependencies, edges, count, parameters);
}
#else
GD_EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
    const cudaGraphNode_t *dependencies, size_t count, struct cudaGraphNodeParams *parameters)
{
	GD_WATCH();
	return add_node(node, graph, dependencies, NULL, count, parameters);
}
#endif

GD_EXPORT cudaError_t cudaGraphConditionalHandleCreate(
    cudaGraphConditionalHandle *handle, cudaGraph_t graph, unsigned default_value, unsigned flags)
{
	CUgraphConditionalHandle found;
	CUcontext context;
	CUresult result;

	GD_BIND();
	result = gd_driver.cuCtxGetCurrent(&context);
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuGraphConditionalHandleCreate(
		    &found, graph, context, default_value, flags);
	if (result == CUDA_SUCCESS)
		*handle = found;
	return gd_rt_result(result);
}
#endif
