/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stream capture: between begin and end the calls on a stream become nodes of a graph.
 *
 * While no capture is alive anywhere, every question here is one load.  Otherwise one lock (in
 * capture.c) guards all captures and graphs being made.  A call that capture forbids answers a
 * CUDA_ERROR_STREAM_CAPTURE_* code and breaks the capture, as documented for the driver.
 */
#ifndef GD_CAPTURE_H
#define GD_CAPTURE_H

#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/streams.h"

struct gd_event;
struct gd_work;

extern uint32_t gd_captures_alive; /* atomic */

static inline bool gd_capture_none(void)
{
	return __builtin_expect(__atomic_load_n(&gd_captures_alive, __ATOMIC_ACQUIRE) == 0, 1);
}

/** @return whether a call on the stream must be handed to gd_capture_add or one of its kin */
static inline bool gd_capture_touches(const struct gd_stream *stream)
{
	return !gd_capture_none() &&
	       (gd_stream_captured(stream) || stream->kind == GD_STREAM_LEGACY);
}

/** Slow half of gd_capture_refuse_stream. */
CUresult gd_capture_refuse_stream_slow(struct gd_stream *stream);

/** @return what a call has to answer that may not be made on a capturing stream, else success */
static inline CUresult gd_capture_refuse_stream(struct gd_stream *stream)
{
	return gd_capture_none() ? CUDA_SUCCESS : gd_capture_refuse_stream_slow(stream);
}

/** Slow half of gd_capture_refuse_unsafe. */
CUresult gd_capture_refuse_unsafe_slow(void);

/** @return what a call has to answer that is unsafe during captures of this thread's mode */
static inline CUresult gd_capture_refuse_unsafe(void)
{
	return gd_capture_none() ? CUDA_SUCCESS : gd_capture_refuse_unsafe_slow();
}

/**
 * @return what querying or awaiting an event has to answer when its record was captured: 907 in the
 *         capture, which breaks, CUDA_ERROR_INVALID_VALUE after it; else success
 */
CUresult gd_capture_refuse_event(struct gd_event *event);

/** The same for asking its time, which breaks no capture. */
CUresult gd_capture_refuse_time(struct gd_event *event);

/**
 * Make a node of a call on a stream that gd_capture_touches.
 *
 * @param work  what the node does; taken over on success
 * @return CUDA_SUCCESS: the call is done; 906 on the legacy stream; 901 when the capture is broken;
 *         CUDA_ERROR_NOT_READY when the stream turns out not to be captured: go on as usual
 */
CUresult gd_capture_add(struct gd_stream *stream, const struct gd_work *work);

/** @return 906 when work on the legacy stream would break a capture (it is broken), else
 *          CUDA_ERROR_NOT_READY: go on as usual */
CUresult gd_capture_refuse_legacy(struct gd_stream *stream);

/** cuEventRecord and cuStreamWaitEvent where a capture may be concerned. */
CUresult gd_capture_record(struct gd_event *event, struct gd_stream *stream, unsigned flags);
CUresult gd_capture_await(struct gd_event *event, struct gd_stream *stream, unsigned flags);

/** A stream or event ends: captures forget it (and break if the stream was part of one). */
void gd_capture_stream_ends(struct gd_stream *stream);
void gd_capture_event_ends(struct gd_event *event);

#endif
