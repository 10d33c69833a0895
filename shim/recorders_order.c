/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/questions.h"
#include "shim/recorders.h"
#include "shim/stack_parts.h"

/* ---- calls that wait ---- */

static void gs_wait_at(const struct gs_call *call, enum gf_wait_kind kind, uint64_t object)
{
	uint16_t device = gs_device(call->thread);
	uint32_t stack = gs_stack_of(call, GS_STACK_TRANSFER);
	struct gf_wait *record = GS_RECORD(call->thread, wait);
	if (!record)
		return;
	record->stack_id = stack;
	record->time = call->start;
	record->duration = call->end - call->start;
	record->object = object;
	record->kind = kind;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	record->flags = call->flags | (gs_tls.in_allocator ? GF_FLAG_IN_ALLOCATOR : 0);
	GS_PUBLISH(record, wait);
}

void gs_rec_wait_device(const struct gs_call *call)
{
	gs_wait_at(call, GF_WAIT_DEVICE, 0);
}

void gs_rec_wait_context(const struct gs_call *call, CUcontext context)
{
	gs_wait_at(call, GF_WAIT_DEVICE, GS_HANDLE(context));
}

void gs_rec_wait_stream(const struct gs_call *call, CUstream stream)
{
	gs_wait_at(call, GF_WAIT_STREAM, GS_HANDLE(stream));
}

void gs_rec_wait_event(const struct gs_call *call, CUevent event)
{
	gs_wait_at(call, GF_WAIT_EVENT, GS_HANDLE(event));
}

/* ---- order and questions ---- */

static void gs_event_at(const struct gs_call *call, enum gf_event_kind kind, uint64_t time,
    uint64_t object, CUstream stream)
{
	uint16_t device = gs_device(call->thread);
	struct gf_event *record = GS_RECORD(call->thread, event);
	if (!record)
		return;
	record->time = time;
	record->duration = call->end - call->start;
	record->object = object;
	record->stream = GS_HANDLE(stream);
	record->kind = kind;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	record->flags = call->flags | (gs_tls.in_allocator ? GF_FLAG_IN_ALLOCATOR : 0);
	GS_PUBLISH(record, event);
}

void gs_rec_event_record(const struct gs_call *call, CUevent event, CUstream stream, ...)
{
	gs_event_at(call, GF_EVENT_RECORD, call->start, GS_HANDLE(event), stream);
}

void gs_rec_event_query(const struct gs_call *call, CUevent event)
{
	gs_event_at(call, GF_EVENT_QUERY, call->start, GS_HANDLE(event), NULL);
}

void gs_rec_stream_query(const struct gs_call *call, CUstream stream)
{
	gs_event_at(call, GF_EVENT_STREAM_QUERY, call->start, 0, stream);
}

void gs_rec_stream_wait(const struct gs_call *call, CUstream stream, CUevent event, unsigned flags)
{
	gs_event_at(call, GF_EVENT_STREAM_WAIT, call->start, GS_HANDLE(event), stream);
}

void gs_rec_host_function(const struct gs_call *call, CUstream stream, ...)
{
	gs_event_at(call, GF_EVENT_HOST_FUNCTION, call->start, 0, stream);
}

void gs_rec_event_create(const struct gs_call *call, CUevent *out, ...)
{
	gs_event_at(call, GF_EVENT_CREATE, call->end, GS_OK(call) ? GS_HANDLE(*out) : 0, NULL);
}

void gs_rec_event_destroy(const struct gs_call *call, CUevent event)
{
	gs_event_at(call, GF_EVENT_DESTROY, call->start, GS_HANDLE(event), NULL);
}

void gs_rec_event_elapsed(const struct gs_call *call, float *out, CUevent first, CUevent last)
{
	gs_event_at(call, GF_EVENT_ELAPSED, call->start, GS_HANDLE(last), NULL);
}

void gs_rec_stream_create(const struct gs_call *call, CUstream *out, ...)
{
	CUstream stream = GS_OK(call) ? *out : NULL;
	gs_event_at(call, GF_EVENT_STREAM_CREATE, call->end, GS_HANDLE(stream), stream);
}

void gs_rec_green_stream_create(const struct gs_call *call, CUstream *out, ...)
{
	gs_rec_stream_create(call, out);
}

void gs_rec_stream_destroy(const struct gs_call *call, CUstream stream)
{
	gs_event_at(call, GF_EVENT_STREAM_DESTROY, call->start, GS_HANDLE(stream), stream);
}

void gs_rec_wait_value(const struct gs_call *call, CUstream stream, CUdeviceptr address, ...)
{
	gs_event_at(call, GF_EVENT_WAIT_VALUE, call->start, address, stream);
}

void gs_rec_write_value(const struct gs_call *call, CUstream stream, CUdeviceptr address, ...)
{
	gs_event_at(call, GF_EVENT_WRITE_VALUE, call->start, address, stream);
}

void gs_rec_context_event_record(const struct gs_call *call, const void *context, CUevent event)
{
	gs_event_at(call, GF_EVENT_RECORD, call->start, GS_HANDLE(event), NULL);
}

void gs_rec_context_event_wait(const struct gs_call *call, const void *context, CUevent event)
{
	gs_event_at(call, GF_EVENT_STREAM_WAIT, call->start, GS_HANDLE(event), NULL);
}
