/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/capture.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture_parts.h"
#include "shim/dryrun/events.h"
#include "shim/dryrun/graphs.h"
#include "shim/dryrun/thread_state.h"

_Static_assert(sizeof(struct gd_capture) <= GD_CELL_BYTES, "a capture fits in a cell");

uint32_t gd_captures_alive;
static struct gd_capture *captures; /* guarded by gd_graph_lock */

static void count_alive(int change)
{
	__atomic_fetch_add(&gd_captures_alive, (uint32_t)change, __ATOMIC_SEQ_CST);
}

/* ---- tips: the nodes that the next one of a stream depends on ---- */

bool gd_tips_set(struct gd_stream *stream, struct gd_node *const *nodes, uint32_t count)
{
	if (count > stream->tip_room) {
		void *more = realloc(stream->tips, count * sizeof(*stream->tips));
		if (!more)
			return false;
		stream->tips = more;
		stream->tip_room = count;
	}
	if (count)
		memmove(stream->tips, nodes, count * sizeof(*stream->tips));
	stream->tip_count = count;
	return true;
}

bool gd_tips_add(struct gd_stream *stream, struct gd_node *const *nodes, uint32_t count)
{
	struct gd_node **both = malloc((stream->tip_count + count + 1) * sizeof(*both));
	uint32_t found = stream->tip_count;
	if (!both)
		return false;
	if (found)
		memcpy(both, stream->tips, found * sizeof(*both));
	for (uint32_t i = 0; i < count; i++) {
		uint32_t at = 0;
		while (at < found && both[at] != nodes[i])
			at++;
		if (at == found)
			both[found++] = nodes[i];
	}
	bool set = gd_tips_set(stream, both, found);
	free(both);
	return set;
}

/* ---- life of a capture ---- */

static void join(struct gd_capture *capture, struct gd_stream *stream)
{
	stream->next_captured = capture->streams;
	capture->streams = stream;
	stream->tip_count = 0;
	__atomic_store_n(&stream->capture, capture, __ATOMIC_RELEASE);
}

static void leave(struct gd_stream *stream)
{
	stream->tip_count = 0;
	stream->next_captured = NULL;
	__atomic_store_n(&stream->capture, NULL, __ATOMIC_RELEASE);
}

struct gd_capture *gd_capture_new(
    struct gd_stream *stream, CUstreamCaptureMode mode, struct gd_graph *graph)
{
	struct gd_capture *capture = gd_object_new(GD_TYPE_CAPTURE);
	if (!capture)
		return NULL;
	capture->id = gd_next_id();
	capture->mode = mode;
	capture->origin = stream;
	capture->thread = gd_thread_state();
	capture->graph = graph;
	capture->next = captures;
	captures = capture;
	gd_object_publish(capture, GD_TYPE_CAPTURE);
	join(capture, stream);
	count_alive(1);
	return capture;
}

void gd_capture_end(struct gd_capture *capture)
{
	while (capture->streams) {
		struct gd_stream *stream = capture->streams;
		capture->streams = stream->next_captured;
		leave(stream);
	}
	struct gd_capture **link = &captures;
	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	gd_object_free(capture, GD_TYPE_CAPTURE);
	count_alive(-1);
}

static void break_capture(struct gd_capture *capture)
{
	capture->broken = true;
}

void gd_capture_stream_ends(struct gd_stream *stream)
{
	if (gd_capture_none())
		return;
	pthread_mutex_lock(&gd_graph_lock);
	struct gd_capture *capture = stream->capture;
	if (capture && capture->origin == stream) {
		if (capture->own_graph)
			gd_graph_delete(capture->graph);
		gd_capture_end(capture);
	} else if (capture) {
		struct gd_stream **link = &capture->streams;
		while (*link != stream)
			link = &(*link)->next_captured;
		*link = stream->next_captured;
		leave(stream);
		break_capture(capture);
	}
	pthread_mutex_unlock(&gd_graph_lock);
}

/* ---- calls that capture forbids ---- */

CUresult gd_capture_refuse_unsafe_slow(void)
{
	const struct gd_thread *thread = gd_thread_state();
	bool refused = false;
	if (!thread || thread->capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&gd_graph_lock);
	for (struct gd_capture *capture = captures; capture; capture = capture->next) {
		bool own =
		    capture->thread == thread && capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
		bool global = capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
			      thread->capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
		if (!own && !global)
			continue;
		break_capture(capture);
		refused = true;
	}
	pthread_mutex_unlock(&gd_graph_lock);
	return refused ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : CUDA_SUCCESS;
}

/* The legacy stream would wait for every captured blocking stream of its context; the lock is held.
 */
static bool breaks_by_legacy(const struct gd_stream *legacy)
{
	bool found = false;
	for (struct gd_capture *capture = captures; capture; capture = capture->next) {
		for (struct gd_stream *stream = capture->streams; stream;
		     stream = stream->next_captured) {
			if (stream->context != legacy->context || !gd_stream_blocking(stream))
				continue;
			break_capture(capture);
			found = true;
			break;
		}
	}
	return found;
}

CUresult gd_capture_refuse_stream_slow(struct gd_stream *stream)
{
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&gd_graph_lock);
	if (stream->capture) {
		break_capture(stream->capture);
		result = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	} else if (stream->kind == GD_STREAM_LEGACY && breaks_by_legacy(stream)) {
		result = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	pthread_mutex_unlock(&gd_graph_lock);
	return result == CUDA_SUCCESS ? gd_capture_refuse_unsafe_slow() : result;
}

CUresult gd_capture_refuse_legacy(struct gd_stream *stream)
{
	bool broken = false;
	pthread_mutex_lock(&gd_graph_lock);
	if (!stream->capture && stream->kind == GD_STREAM_LEGACY)
		broken = breaks_by_legacy(stream);
	pthread_mutex_unlock(&gd_graph_lock);
	return broken ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_ERROR_NOT_READY;
}

/* The capture that the event was last recorded in, if it goes on; the lock is held. */
static struct gd_capture *capture_of(const struct gd_event *event)
{
	struct gd_capture *capture = gd_event_capture(event) ? captures : NULL;
	while (capture && capture->id != gd_event_capture(event))
		capture = capture->next;
	return capture;
}

/* Whether the last record is a node and no time; 907 while the capture goes on. */
static CUresult captured(struct gd_event *event, bool breaks)
{
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&gd_graph_lock);
	struct gd_capture *capture = capture_of(event);
	if (capture)
		result = CUDA_ERROR_CAPTURED_EVENT;
	else if (gd_event_capture(event))
		result = CUDA_ERROR_INVALID_VALUE;
	if (capture && breaks)
		break_capture(capture);
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

CUresult gd_capture_refuse_event(struct gd_event *event)
{
	if (gd_capture_none() && !gd_event_capture(event))
		return CUDA_SUCCESS;
	CUresult result = captured(event, true);
	return result == CUDA_SUCCESS ? gd_capture_refuse_unsafe() : result;
}

CUresult gd_capture_refuse_time(struct gd_event *event)
{
	return gd_event_capture(event) ? captured(event, false) : CUDA_SUCCESS;
}

/* ---- calls that become nodes ---- */

static CUresult add(struct gd_stream *stream, const struct gd_work *work)
{
	struct gd_capture *capture = stream->capture;
	if (!capture) {
		bool broken = stream->kind == GD_STREAM_LEGACY && breaks_by_legacy(stream);
		return broken ? CUDA_ERROR_STREAM_CAPTURE_IMPLICIT : CUDA_ERROR_NOT_READY;
	}
	if (capture->broken)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	struct gd_node *node = gd_node_new(capture->graph, work, stream->tips, stream->tip_count);
	if (!node || !gd_tips_set(stream, &node, 1)) {
		if (node)
			node->work.type =
			    CU_GRAPH_NODE_TYPE_EMPTY; /* the work stays the caller's */
		break_capture(capture);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	return CUDA_SUCCESS;
}

CUresult gd_capture_add(struct gd_stream *stream, const struct gd_work *work)
{
	pthread_mutex_lock(&gd_graph_lock);
	CUresult result = add(stream, work);
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

static CUresult record(struct gd_event *event, struct gd_stream *stream, unsigned flags)
{
	struct gd_capture *capture = stream->capture;
	if (!capture || flags & CU_EVENT_RECORD_EXTERNAL) {
		struct gd_work work = {
		    .type = CU_GRAPH_NODE_TYPE_EVENT_RECORD, .event = (CUevent)event};
		return add(stream, &work);
	}
	if (capture->broken)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	struct gd_node **tips = malloc((stream->tip_count + 1) * sizeof(*tips));
	if (!tips)
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (stream->tip_count)
		memcpy(tips, stream->tips, stream->tip_count * sizeof(*tips));
	free(event->tips);
	event->tips = tips;
	event->tip_count = stream->tip_count;
	gd_event_set_capture(event, capture->id);
	return CUDA_SUCCESS;
}

CUresult gd_capture_record(struct gd_event *event, struct gd_stream *stream, unsigned flags)
{
	pthread_mutex_lock(&gd_graph_lock);
	CUresult result = record(event, stream, flags);
	pthread_mutex_unlock(&gd_graph_lock);
	return result == CUDA_ERROR_NOT_READY ? gd_event_record(event, stream) : result;
}

/* A stream waits for work inside a capture: it becomes part of it. */
static CUresult await_captured(
    const struct gd_event *event, struct gd_capture *from, struct gd_stream *stream)
{
	if (from->broken)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (stream->kind == GD_STREAM_LEGACY) {
		break_capture(from);
		return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
	}
	if (stream->capture && stream->capture != from) {
		break_capture(from);
		break_capture(stream->capture);
		return CUDA_ERROR_STREAM_CAPTURE_MERGE;
	}
	if (!stream->capture)
		join(from, stream);
	return gd_tips_add(stream, event->tips, event->tip_count) ? CUDA_SUCCESS
								  : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult await(struct gd_event *event, struct gd_stream *stream, unsigned flags)
{
	struct gd_capture *from = capture_of(event);
	if (from)
		return await_captured(event, from, stream);
	if (!stream->capture)
		return CUDA_ERROR_NOT_READY;
	if (stream->capture->broken)
		return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
	if (flags & CU_EVENT_WAIT_EXTERNAL) {
		struct gd_work work = {
		    .type = CU_GRAPH_NODE_TYPE_WAIT_EVENT, .event = (CUevent)event};
		return add(stream, &work);
	}
	if (!event->recorded)
		return CUDA_SUCCESS; /* never recorded: nothing to wait for */
	break_capture(stream->capture);
	return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
}

CUresult gd_capture_await(struct gd_event *event, struct gd_stream *stream, unsigned flags)
{
	pthread_mutex_lock(&gd_graph_lock);
	CUresult result = await(event, stream, flags);
	pthread_mutex_unlock(&gd_graph_lock);
	if (result != CUDA_ERROR_NOT_READY)
		return result;
	gd_event_await(event, stream);
	return CUDA_SUCCESS;
}

void gd_capture_event_ends(struct gd_event *event)
{
	/* Its tips are freed with it; the capture that they are of does not know the event. */
	if (gd_capture_none())
		return;
	pthread_mutex_lock(&gd_graph_lock);
	gd_event_set_capture(event, 0);
	pthread_mutex_unlock(&gd_graph_lock);
}
