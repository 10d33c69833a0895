/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/capture.h"

#include "shim/dryrun/events.h"

uint32_t gd_captures_alive;

CUresult gd_capture_refuse_stream_slow(struct gd_stream *stream)
{
	return CUDA_SUCCESS;
}

CUresult gd_capture_refuse_unsafe_slow(void)
{
	return CUDA_SUCCESS;
}

CUresult gd_capture_refuse_event(struct gd_event *event)
{
	return CUDA_SUCCESS;
}

CUresult gd_capture_add(
    struct gd_stream *stream, CUgraphNodeType type, void *payload, struct gd_node **node_out)
{
	return CUDA_ERROR_NOT_READY;
}

CUresult gd_capture_record(struct gd_event *event, struct gd_stream *stream, unsigned flags)
{
	return gd_event_record(event, stream);
}

CUresult gd_capture_await(struct gd_event *event, struct gd_stream *stream, unsigned flags)
{
	gd_event_await(event, stream);
	return CUDA_SUCCESS;
}

void gd_capture_stream_ends(struct gd_stream *stream)
{
}

void gd_capture_event_ends(struct gd_event *event)
{
}

GD_API_PTSZ(cuStreamIsCapturing, (CUstream handle, CUstreamCaptureStatus *status_out),
    (handle, status_out))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result == CUDA_SUCCESS)
		*status_out = CU_STREAM_CAPTURE_STATUS_NONE;
	return result;
}

GD_API(cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode * mode), (mode))
{
	return CUDA_SUCCESS;
}
