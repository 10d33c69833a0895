/* SPDX-License-Identifier: Apache-2.0 */
/* Streams, their events and their capture, as far as stream 0 depends on the program's compilation.
 */
#include <string.h>

#include "cudart.h"

GD_EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamGetPriority(stream, priority));
}

GD_EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamGetFlags(stream, flags));
}

GD_EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamQuery(stream));
}

GD_EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamSynchronize(stream));
}

GD_EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamWaitEvent(stream, event, flags));
}

/* cudaError_t and CUresult are the same in a register, so the callback needs no translation. */
GD_EXPORT cudaError_t cudaStreamAddCallback(
    cudaStream_t stream, cudaStreamCallback_t callback, void *data, unsigned flags)
{
	CUstreamCallback forwarded;

	GD_BIND();
	memcpy(&forwarded, &callback, sizeof(forwarded));
	return gd_rt_result(GD_ORDERED.cuStreamAddCallback(stream, forwarded, data, flags));
}

GD_EXPORT cudaError_t cudaStreamAttachMemAsync(
    cudaStream_t stream, void *address, size_t bytes, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamAttachMemAsync(
	    stream, (CUdeviceptr)(uintptr_t)address, bytes, flags));
}

GD_EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuEventRecord(event, stream));
}

GD_EXPORT cudaError_t cudaEventRecordWithFlags(
    cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuEventRecordWithFlags(event, stream, flags));
}

GD_EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode));
}

GD_EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamEndCapture(stream, graph));
}

GD_EXPORT cudaError_t cudaStreamIsCapturing(
    cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
	CUstreamCaptureStatus found;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(GD_ORDERED.cuStreamIsCapturing(stream, &found));
	if (!error)
		*status = (enum cudaStreamCaptureStatus)found;
	return error;
}

/* What a capture is at: the status on both sides has the same numbers. */
#if CUDART_VERSION >= 13000
/* The edge data are the same struct under two names. */
GD_EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
    enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
    const cudaGraphNode_t **dependencies, const cudaGraphEdgeData **edges, size_t *count)
{
	CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
	cuuint64_t number = 0;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(GD_ORDERED.cuStreamGetCaptureInfo(
	    stream, &found, &number, graph, dependencies, (const CUgraphEdgeData **)edges, count));
	if (error)
		return error;
	*status = (enum cudaStreamCaptureStatus)found;
	if (id)
		*id = number;
	return cudaSuccess;
}

GD_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream,
    cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t count, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamUpdateCaptureDependencies(
	    stream, dependencies, (const CUgraphEdgeData *)edges, count, flags));
}
#else
static cudaError_t capture_info(cudaStream_t stream, enum cudaStreamCaptureStatus *status,
    unsigned long long *id, cudaGraph_t *graph, const cudaGraphNode_t **dependencies, size_t *count)
{
	CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
	cuuint64_t number = 0;
	cudaError_t error;

	GD_BIND_INSIDE();
	error = gd_rt_result(
	    GD_ORDERED.cuStreamGetCaptureInfo(stream, &found, &number, graph, dependencies, count));
	if (error)
		return error;
	*status = (enum cudaStreamCaptureStatus)found;
	if (id)
		*id = number;
	return cudaSuccess;
}

#if CUDART_VERSION >= 12000
#undef cudaStreamGetCaptureInfo_v2 /* the header gives the new function the old name */
#define cudaStreamGetCaptureInfo_v2 cudaStreamGetCaptureInfo
#else
GD_EXPORT cudaError_t cudaStreamGetCaptureInfo(
    cudaStream_t stream, enum cudaStreamCaptureStatus *status, unsigned long long *id)
{
	GD_WATCH();
	return capture_info(stream, status, id, NULL, NULL, NULL);
}
#endif

GD_EXPORT cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream,
    enum cudaStreamCaptureStatus *status, unsigned long long *id, cudaGraph_t *graph,
    const cudaGraphNode_t **dependencies, size_t *count)
{
	GD_WATCH();
	return capture_info(stream, status, id, graph, dependencies, count);
}

/* CUDA 11 has this one without a per-thread name. */
#if CUDART_VERSION >= 12000 || !defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
GD_EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(
    cudaStream_t stream, cudaGraphNode_t *dependencies, size_t count, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(
	    GD_ORDERED.cuStreamUpdateCaptureDependencies(stream, dependencies, count, flags));
}
#endif
#endif

#if CUDA_VERSION >= 12040
GD_EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
    const cudaGraphNode_t *dependencies, const cudaGraphEdgeData *edges, size_t count,
    enum cudaStreamCaptureMode mode)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuStreamBeginCaptureToGraph(stream, graph, dependencies,
	    (const CUgraphEdgeData *)edges, count, (CUstreamCaptureMode)mode));
}
#endif

GD_EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t graph, cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuGraphLaunch(graph, stream));
}

GD_EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t graph, cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(GD_ORDERED.cuGraphUpload(graph, stream));
}
