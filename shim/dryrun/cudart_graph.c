/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: made by capture, looked at, instantiated. */
#include "cudart.h"

GD_EXPORT cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphCreate(graph, flags));
}

GD_EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphDestroy(graph));
}

GD_EXPORT cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphClone(clone, graph));
}

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

GD_EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
	CUgraphNodeType found;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(gd_driver.cuGraphNodeGetType(node, &found));
	if (!error)
		*type = (enum cudaGraphNodeType)found;
	return error;
}

#if CUDART_VERSION >= 13000
GD_EXPORT cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t node, cudaGraphNode_t *nodes, cudaGraphEdgeData *edges, size_t *count)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuGraphNodeGetDependencies(node, nodes, (CUgraphEdgeData *)edges, count));
}
#else
GD_EXPORT cudaError_t cudaGraphNodeGetDependencies(
    cudaGraphNode_t node, cudaGraphNode_t *nodes, size_t *count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphNodeGetDependencies(node, nodes, count));
}
#endif

GD_EXPORT cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char *path, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphDebugDotPrint(graph, path, flags));
}

GD_EXPORT cudaError_t cudaGraphInstantiateWithFlags(
    cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphInstantiateWithFlags(out, graph, flags));
}

#if CUDART_VERSION >= 12000
GD_EXPORT cudaError_t cudaGraphInstantiate(
    cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
	return cudaGraphInstantiateWithFlags(out, graph, flags);
}
#else
GD_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
    cudaGraphNode_t *error_node, char *log, size_t log_bytes)
{
	return cudaGraphInstantiateWithFlags(out, graph, 0);
}
#endif

GD_EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t graph)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphExecDestroy(graph));
}

GD_EXPORT cudaError_t cudaUserObjectCreate(
    cudaUserObject_t *object, void *data, cudaHostFn_t destroy, unsigned references, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuUserObjectCreate(object, data, destroy, references, flags));
}

GD_EXPORT cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuUserObjectRetain(object, count));
}

GD_EXPORT cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuUserObjectRelease(object, count));
}

GD_EXPORT cudaError_t cudaGraphRetainUserObject(
    cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphRetainUserObject(graph, object, count, flags));
}

GD_EXPORT cudaError_t cudaGraphReleaseUserObject(
    cudaGraph_t graph, cudaUserObject_t object, unsigned count)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphReleaseUserObject(graph, object, count));
}
