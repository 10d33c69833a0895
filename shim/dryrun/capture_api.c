/* SPDX-License-Identifier: Apache-2.0 */
/* cuStreamBeginCapture and its kin. */
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture_parts.h"
#include "shim/dryrun/contexts.h"

static bool valid_mode(CUstreamCaptureMode mode)
{
	return (unsigned)mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

static CUresult begin(CUstream handle, bool per_thread, CUstreamCaptureMode mode)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!valid_mode(mode))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->kind == GD_STREAM_LEGACY)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	pthread_mutex_lock(&gd_graph_lock);
	struct gd_graph *graph = stream->capture ? NULL : gd_graph_new();
	struct gd_capture *capture = graph ? gd_capture_new(stream, mode, graph) : NULL;
	if (capture)
		capture->own_graph = graph->owned = true;
	else if (graph)
		gd_graph_delete(graph);
	result = capture	   ? CUDA_SUCCESS
		 : stream->capture ? CUDA_ERROR_ILLEGAL_STATE
				   : CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

GD_API_PTSZ(cuStreamBeginCapture, (CUstream stream), (stream))
{
	return begin(stream, per_thread, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

GD_API_PTSZ(cuStreamBeginCapture_v2, (CUstream stream, CUstreamCaptureMode mode), (stream, mode))
{
	return begin(stream, per_thread, mode);
}

GD_API_PTSZ(cuStreamBeginCaptureToGraph,
    (CUstream handle, CUgraph graph_handle, const CUgraphNode *dependencies,
	const CUgraphEdgeData *data, size_t count, CUstreamCaptureMode mode),
    (handle, graph_handle, dependencies, data, count, mode))
{
	struct gd_graph *graph = gd_graph_get(graph_handle);
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!graph || !valid_mode(mode))
		return CUDA_ERROR_INVALID_VALUE;
	if (stream->kind == GD_STREAM_LEGACY)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	pthread_mutex_lock(&gd_graph_lock);
	if (stream->capture)
		result = CUDA_ERROR_ILLEGAL_STATE;
	else if (!gd_graph_has(graph, dependencies, count))
		result = CUDA_ERROR_INVALID_VALUE;
	else if (!gd_capture_new(stream, mode, graph) ||
		 !gd_tips_set(
		     stream, (struct gd_node *const *)(uintptr_t)dependencies, (uint32_t)count))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

/* Whether every node without dependents is what the origin stream waits for. */
static bool joined(const struct gd_capture *capture)
{
	const struct gd_stream *origin = capture->origin;
	for (struct gd_node *node = capture->graph->first; node; node = node->next)
		node->mark = 0;
	for (struct gd_node *node = capture->graph->first; node; node = node->next) {
		for (uint32_t i = 0; i < node->dependency_count; i++)
			node->dependencies[i]->mark = 1;
	}
	for (uint32_t i = 0; i < origin->tip_count; i++)
		origin->tips[i]->mark = 1;
	/* Nodes that other streams of this capture left behind; older ones of a given graph do not
	 * count. */
	for (const struct gd_stream *stream = capture->streams; stream;
	     stream = stream->next_captured) {
		for (uint32_t i = 0; i < stream->tip_count; i++) {
			if (!stream->tips[i]->mark)
				return false;
		}
	}
	return true;
}

/* @param graph_out  set to the graph, or to NULL when the capture failed */
static CUresult end(struct gd_stream *stream, struct gd_graph **graph_out)
{
	struct gd_capture *capture = stream->capture;
	CUresult result = CUDA_SUCCESS;
	*graph_out = NULL;
	if (!capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	if (capture->origin != stream)
		return CUDA_ERROR_STREAM_CAPTURE_UNMATCHED;
	if (capture->thread != gd_thread_state() && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
	if (capture->broken)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!joined(capture))
		result = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
	struct gd_graph *graph = capture->graph;
	if (result != CUDA_SUCCESS && capture->own_graph)
		gd_graph_delete(graph);
	else
		*graph_out = graph;
	if (*graph_out && capture->own_graph)
		graph->owned = false;
	gd_capture_end(capture);
	return result;
}

GD_API_PTSZ(cuStreamEndCapture, (CUstream handle, CUgraph *graph_out), (handle, graph_out))
{
	struct gd_stream *stream;
	struct gd_graph *graph;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&gd_graph_lock);
	result = end(stream, &graph);
	gd_graph_unlock();
	if (graph_out)
		*graph_out = result == CUDA_SUCCESS ? (CUgraph)graph : NULL;
	return result;
}

static CUstreamCaptureStatus status_of(const struct gd_stream *stream)
{
	if (!stream->capture)
		return CU_STREAM_CAPTURE_STATUS_NONE;
	return stream->capture->broken ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
				       : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

/* Asking for the legacy stream is an error while a blocking stream of the context is captured. */
static CUresult readable(struct gd_stream *stream)
{
	if (stream->kind != GD_STREAM_LEGACY)
		return CUDA_SUCCESS;
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&stream->context->streams_lock);
	for (const struct gd_stream *s = stream->context->streams; s; s = s->next) {
		if (gd_stream_blocking(s) && gd_stream_captured(s))
			result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	pthread_mutex_unlock(&stream->context->streams_lock);
	return result;
}

GD_API_PTSZ(
    cuStreamIsCapturing, (CUstream handle, CUstreamCaptureStatus *status_out), (handle, status_out))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!status_out)
		return CUDA_ERROR_INVALID_VALUE;
	*status_out = CU_STREAM_CAPTURE_STATUS_NONE;
	if (gd_capture_none())
		return CUDA_SUCCESS;
	result = readable(stream);
	pthread_mutex_lock(&gd_graph_lock);
	*status_out = status_of(stream);
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

struct answer {
	CUstreamCaptureStatus *status;
	cuuint64_t *id;
	CUgraph *graph;
	const CUgraphNode **dependencies;
	const CUgraphEdgeData **data;
	size_t *count;
};

static CUresult info(CUstream handle, bool per_thread, const struct answer *out)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!out->status)
		return CUDA_ERROR_INVALID_VALUE;
	*out->status = CU_STREAM_CAPTURE_STATUS_NONE;
	if (gd_capture_none())
		return CUDA_SUCCESS;
	result = readable(stream);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&gd_graph_lock);
	*out->status = status_of(stream);
	if (*out->status == CU_STREAM_CAPTURE_STATUS_ACTIVE) {
		if (out->id)
			*out->id = stream->capture->id;
		if (out->graph)
			*out->graph = (CUgraph)stream->capture->graph;
		if (out->dependencies)
			*out->dependencies = (const CUgraphNode *)stream->tips;
		if (out->data)
			*out->data = NULL; /* all edges are plain */
		if (out->count)
			*out->count = stream->tip_count;
	}
	pthread_mutex_unlock(&gd_graph_lock);
	return CUDA_SUCCESS;
}

GD_API_PTSZ(cuStreamGetCaptureInfo,
    (CUstream stream, CUstreamCaptureStatus *status_out, cuuint64_t *id_out),
    (stream, status_out, id_out))
{
	const struct answer out = {.status = status_out, .id = id_out};
	return info(stream, per_thread, &out);
}

GD_API_PTSZ(cuStreamGetCaptureInfo_v2,
    (CUstream stream, CUstreamCaptureStatus *status_out, cuuint64_t *id_out, CUgraph *graph_out,
	const CUgraphNode **dependencies_out, size_t *count_out),
    (stream, status_out, id_out, graph_out, dependencies_out, count_out))
{
	const struct answer out = {
	    status_out, id_out, graph_out, dependencies_out, NULL, count_out};
	return info(stream, per_thread, &out);
}

GD_API_PTSZ(cuStreamGetCaptureInfo_v3,
    (CUstream stream, CUstreamCaptureStatus *status_out, cuuint64_t *id_out, CUgraph *graph_out,
	const CUgraphNode **dependencies_out, const CUgraphEdgeData **data_out, size_t *count_out),
    (stream, status_out, id_out, graph_out, dependencies_out, data_out, count_out))
{
	const struct answer out = {
	    status_out, id_out, graph_out, dependencies_out, data_out, count_out};
	return info(stream, per_thread, &out);
}

static CUresult update(
    CUstream handle, bool per_thread, CUgraphNode *dependencies, size_t count, unsigned flags)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	struct gd_node **nodes = (struct gd_node **)dependencies;
	if (!stream->capture)
		result = CUDA_ERROR_ILLEGAL_STATE;
	else if (stream->capture->broken)
		result = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	else if (!gd_graph_has(stream->capture->graph, dependencies, count))
		result = CUDA_ERROR_INVALID_VALUE;
	else if (!(flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES
			 ? gd_tips_set(stream, nodes, (uint32_t)count)
			 : gd_tips_add(stream, nodes, (uint32_t)count)))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

GD_API_PTSZ(cuStreamUpdateCaptureDependencies,
    (CUstream stream, CUgraphNode *dependencies, size_t count, unsigned int flags),
    (stream, dependencies, count, flags))
{
	return update(stream, per_thread, dependencies, count, flags);
}

GD_API_PTSZ(cuStreamUpdateCaptureDependencies_v2,
    (CUstream stream, CUgraphNode *dependencies, const CUgraphEdgeData *data, size_t count,
	unsigned int flags),
    (stream, dependencies, data, count, flags))
{
	return update(stream, per_thread, dependencies, count, flags);
}

GD_API(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode), (mode))
{
	struct gd_thread *thread = gd_thread_state();
	if (!mode || !valid_mode(*mode))
		return CUDA_ERROR_INVALID_VALUE;
	if (!thread)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUstreamCaptureMode before = (CUstreamCaptureMode)thread->capture_mode;
	thread->capture_mode = *mode;
	*mode = before;
	return CUDA_SUCCESS;
}
