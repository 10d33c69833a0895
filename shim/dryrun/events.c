/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/events.h"

#include <stdlib.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/ipc_events.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/streams.h"

_Static_assert(sizeof(struct gd_event) <= GD_CELL_BYTES, "an event fits in a cell");

#define EVENT_FLAGS (CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS)

void gd_event_free(struct gd_event *event)
{
	gd_event_share_end(event);
	pthread_mutex_destroy(&event->lock);
	free(event->tips);
	gd_object_free(event, GD_TYPE_EVENT);
}

static void note(struct gd_event *event, uint64_t ticket, uint64_t time_ns, uint64_t ready_ns)
{
	if (ticket <= event->done)
		return; /* a later record was quicker */
	event->time_ns = time_ns;
	event->ready_ns = ready_ns;
	event->done = ticket;
	gd_event_share_ready(event, ready_ns);
}

void gd_event_reached(struct gd_event *event, uint64_t ticket, uint64_t time_ns, uint64_t ready_ns)
{
	pthread_mutex_lock(&event->lock);
	if (ticket) {
		note(event, ticket, ready_ns > time_ns ? ready_ns : time_ns, ready_ns);
		gd_event_share_pending(event, -1);
	}
	bool last = --event->queued == 0 && event->destroyed;
	pthread_mutex_unlock(&event->lock);
	if (last)
		gd_event_free(event);
}

uint64_t gd_event_ready_ns(struct gd_event *event)
{
	pthread_mutex_lock(&event->lock);
	uint64_t ready_ns = event->ready_ns;
	pthread_mutex_unlock(&event->lock);
	return ready_ns;
}

static void set_recorded(struct gd_event *event, uint64_t ticket)
{
	if (ticket > event->recorded)
		event->recorded = ticket;
}

/* Others see the record when it is in its stream: a stream that waited for one that comes later
 * could be what the later one waits for. */
CUresult gd_event_record(struct gd_event *event, struct gd_stream *stream)
{
	pthread_mutex_lock(&event->lock);
	uint64_t ticket = ++event->issued;
	gd_event_set_capture(event, 0);
	gd_event_share_pending(event, 1);
	pthread_mutex_unlock(&event->lock);
	if (!gd_operations_simple() && gd_queue_record(stream, event, ticket)) {
		pthread_mutex_lock(&event->lock);
		set_recorded(event, ticket);
		pthread_mutex_unlock(&event->lock);
		return CUDA_SUCCESS;
	}
	uint64_t now = gd_now_ns(), ready = gd_operations_simple() ? 0 : gd_stream_ready_ns(stream);
	pthread_mutex_lock(&event->lock);
	set_recorded(event, ticket);
	note(event, ticket, ready > now ? ready : now, ready);
	gd_event_share_pending(event, -1);
	pthread_mutex_unlock(&event->lock);
	return CUDA_SUCCESS;
}

void gd_event_await(struct gd_event *event, struct gd_stream *stream)
{
	pthread_mutex_lock(&event->lock);
	uint64_t ticket = event->recorded, ready_ns = event->ready_ns;
	bool known = event->done >= ticket;
	pthread_mutex_unlock(&event->lock);
	if (known)
		gd_stream_delay(stream, ready_ns);
	else
		gd_queue_wait(stream, event, ticket);
	if (event->share)
		gd_stream_delay(stream, gd_event_share_wait(event));
}

struct gd_event *gd_event_new(const struct gd_context *context, unsigned flags)
{
	struct gd_event *event = gd_object_new(GD_TYPE_EVENT);
	if (!event)
		return NULL;
	event->flags = flags;
	event->device = context->device;
	event->context_id = context->id;
	event->id = gd_next_id();
	pthread_mutex_init(&event->lock, NULL);
	return event;
}

GD_API(cuEventCreate, (CUevent * event_out, unsigned int flags), (event_out, flags))
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if (!event_out || flags & ~(unsigned)EVENT_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & CU_EVENT_INTERPROCESS && !(flags & CU_EVENT_DISABLE_TIMING))
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_event *event = gd_event_new(context, flags);
	if (!event)
		return CUDA_ERROR_OUT_OF_MEMORY;
	gd_object_publish(event, GD_TYPE_EVENT);
	*event_out = (CUevent)event;
	return CUDA_SUCCESS;
}

static CUresult destroy(CUevent handle)
{
	struct gd_event *event = gd_object_get(handle, GD_TYPE_EVENT);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	gd_capture_event_ends(event);
	pthread_mutex_lock(&event->lock);
	bool mentioned = event->queued != 0;
	event->destroyed = true;
	if (mentioned) /* no handle any more, but the cell stays */
		__atomic_store_n(&event->object.tag, 0, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&event->lock);
	if (!mentioned)
		gd_event_free(event);
	return CUDA_SUCCESS;
}

GD_API(cuEventDestroy, (CUevent event), (event))
{
	return destroy(event);
}

GD_API(cuEventDestroy_v2, (CUevent event), (event))
{
	return destroy(event);
}

/* Tell who watches calls of an event's last record; `stream` is NULL when the host waited. */
static void tell(struct gd_event *event, const struct gd_stream *stream, enum gd_notice_kind kind)
{
	struct gd_notice notice = {.kind = kind,
	    .device = stream ? stream->device : event->device,
	    .context_id = stream ? stream->context_id : event->context_id,
	    .stream_id = stream ? stream->id : 0,
	    .event_id = event->id};
	pthread_mutex_lock(&event->lock);
	if (event->recorded)
		notice.record_id = event->id << 32 | (uint32_t)event->recorded;
	notice.time_ns = event->done >= event->recorded ? event->time_ns : 0;
	pthread_mutex_unlock(&event->lock);
	gd_notice_send(&notice);
}

static CUresult record(CUevent handle, CUstream stream_handle, unsigned flags, bool per_thread)
{
	struct gd_event *event = gd_object_get(handle, GD_TYPE_EVENT);
	struct gd_stream *stream;
	CUresult result = gd_stream_get(stream_handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!event || event->context_id != stream->context_id)
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags & ~(unsigned)CU_EVENT_RECORD_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_capture_touches(stream))
		return gd_capture_record(event, stream, flags);
	result = gd_event_record(event, stream);
	if (gd_watched())
		tell(event, stream, GD_NOTICE_EVENT_RECORDED);
	return result;
}

GD_API_PTSZ(cuEventRecord, (CUevent event, CUstream stream), (event, stream))
{
	return record(event, stream, 0, per_thread);
}

GD_API_PTSZ(cuEventRecordWithFlags, (CUevent event, CUstream stream, unsigned int flags),
    (event, stream, flags))
{
	return record(event, stream, flags, per_thread);
}

GD_API_PTSZ(cuStreamWaitEvent, (CUstream stream_handle, CUevent handle, unsigned int flags),
    (stream_handle, handle, flags))
{
	struct gd_event *event = gd_object_get(handle, GD_TYPE_EVENT);
	struct gd_stream *stream;
	CUresult result = gd_stream_get(stream_handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (flags & ~(unsigned)CU_EVENT_WAIT_EXTERNAL)
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_capture_touches(stream) || gd_event_capture(event))
		return gd_capture_await(event, stream, flags);
	gd_event_await(event, stream);
	if (gd_watched())
		tell(event, stream, GD_NOTICE_EVENT_AWAITED);
	return CUDA_SUCCESS;
}

/* Snapshot of the last record: CUDA_SUCCESS complete, NOT_READY with what to wait for. */
static CUresult state_of(struct gd_event *event, uint64_t *ticket_out, uint64_t *ready_ns_out)
{
	pthread_mutex_lock(&event->lock);
	*ticket_out = event->recorded;
	*ready_ns_out = event->ready_ns;
	bool known = event->done >= event->recorded;
	pthread_mutex_unlock(&event->lock);
	if (!known)
		return CUDA_ERROR_NOT_READY;
	if (!gd_event_share_complete(event))
		return CUDA_ERROR_NOT_READY;
	return *ready_ns_out && *ready_ns_out > gd_now_ns() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

GD_API(cuEventQuery, (CUevent handle), (handle))
{
	uint64_t ticket, ready_ns;
	struct gd_event *event = gd_object_get(handle, GD_TYPE_EVENT);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	CUresult result = gd_capture_refuse_event(event);
	return result == CUDA_SUCCESS ? state_of(event, &ticket, &ready_ns) : result;
}

GD_API(cuEventSynchronize, (CUevent handle), (handle))
{
	uint64_t ticket, ready_ns;
	struct gd_event *event = gd_object_get(handle, GD_TYPE_EVENT);
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	CUresult result = gd_capture_refuse_event(event);
	if (result != CUDA_SUCCESS)
		return result;
	if (state_of(event, &ticket, &ready_ns) != CUDA_SUCCESS) {
		gd_queue_await_event(event, ticket);
		uint64_t others_ns = gd_event_share_wait(event);
		state_of(event, &ticket, &ready_ns);
		gd_sleep_until(ready_ns > others_ns ? ready_ns : others_ns);
	}
	GD_COUNT(event->device, synchronizations, 1);
	if (gd_watched())
		tell(event, NULL, GD_NOTICE_EVENT_WAITED);
	return CUDA_SUCCESS;
}

static CUresult elapsed(float *milliseconds_out, CUevent from_handle, CUevent to_handle)
{
	uint64_t ticket, ready_ns;
	struct gd_event *from = gd_object_get(from_handle, GD_TYPE_EVENT);
	struct gd_event *to = gd_object_get(to_handle, GD_TYPE_EVENT);
	if (!milliseconds_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!from || !to || (from->flags | to->flags) & CU_EVENT_DISABLE_TIMING)
		return CUDA_ERROR_INVALID_HANDLE;
	CUresult result = gd_capture_refuse_time(from);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_time(to);
	if (result != CUDA_SUCCESS)
		return result;
	if (!from->recorded || !to->recorded)
		return CUDA_ERROR_INVALID_HANDLE;
	if (state_of(from, &ticket, &ready_ns) != CUDA_SUCCESS ||
	    state_of(to, &ticket, &ready_ns) != CUDA_SUCCESS)
		return CUDA_ERROR_NOT_READY;
	*milliseconds_out = (float)((double)(int64_t)(to->time_ns - from->time_ns) / 1e6);
	return CUDA_SUCCESS;
}

GD_API(cuEventElapsedTime, (float *milliseconds_out, CUevent from, CUevent to),
    (milliseconds_out, from, to))
{
	return elapsed(milliseconds_out, from, to);
}

GD_API(cuEventElapsedTime_v2, (float *milliseconds_out, CUevent from, CUevent to),
    (milliseconds_out, from, to))
{
	return elapsed(milliseconds_out, from, to);
}
