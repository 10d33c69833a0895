/* SPDX-License-Identifier: Apache-2.0 */
/* Life of graphs: made, instantiated, updated, given away. */
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
	GD_WATCH();
	return cudaGraphInstantiateWithFlags(out, graph, flags);
}
#else
GD_EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph,
    cudaGraphNode_t *error_node, char *log, size_t log_bytes)
{
	GD_WATCH();
	if (error_node)
		*error_node = NULL;
	if (log && log_bytes)
		*log = 0;
	return cudaGraphInstantiateWithFlags(out, graph, 0);
}
#endif

#if CUDART_VERSION >= 12000
_Static_assert(
    sizeof(cudaGraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo), "update result");

GD_EXPORT cudaError_t cudaGraphExecUpdate(
    cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo *result)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuGraphExecUpdate(exec, graph, (CUgraphExecUpdateResultInfo *)result));
}
#else
GD_EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
    cudaGraphNode_t *error_node, enum cudaGraphExecUpdateResult *result)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuGraphExecUpdate(
	    exec, graph, error_node, (CUgraphExecUpdateResult *)result));
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
