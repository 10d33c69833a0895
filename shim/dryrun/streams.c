/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/streams.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/thread_state.h"

_Static_assert(sizeof(struct gd_stream) <= GD_CELL_BYTES, "a stream fits in a cell");

struct gd_stream *gd_stream_new(
    struct gd_context *context, enum gd_stream_kind kind, unsigned flags, int priority)
{
	struct gd_stream *stream = gd_object_new(GD_TYPE_STREAM);
	if (!stream)
		return NULL;
	stream->kind = kind;
	stream->flags = flags;
	stream->priority = priority;
	stream->device = context->device;
	stream->context = context;
	stream->context_id = context->id;
	stream->id = gd_next_id();
	pthread_mutex_init(&stream->lock, NULL);
	pthread_mutex_lock(&context->streams_lock);
	bool ending = context->ending;
	if (!ending) {
		stream->next = context->streams;
		stream->link = &context->streams;
		if (stream->next)
			stream->next->link = &stream->next;
		__atomic_store_n(&context->streams, stream, __ATOMIC_RELEASE);
		gd_object_publish(stream, GD_TYPE_STREAM);
	}
	pthread_mutex_unlock(&context->streams_lock);
	if (!ending)
		return stream;
	pthread_mutex_destroy(&stream->lock);
	gd_object_free(stream, GD_TYPE_STREAM);
	return NULL;
}

bool gd_stream_delete(struct gd_stream *stream)
{
	if (!gd_object_withdraw(stream, GD_TYPE_STREAM))
		return false;
	gd_capture_stream_ends(stream);
	gd_queue_end(stream);
	return true;
}

void gd_streams_end(struct gd_context *context)
{
	struct gd_stream *stream;
	do {
		pthread_mutex_lock(&context->streams_lock);
		stream = context->streams;
		while (stream && !gd_object_get(stream, GD_TYPE_STREAM))
			stream = stream->next;
		pthread_mutex_unlock(&context->streams_lock);
		if (stream)
			gd_stream_delete(stream);
	} while (stream);
}

void gd_stream_free(struct gd_stream *stream)
{
	struct gd_context *context = stream->context;
	pthread_mutex_lock(&context->streams_lock);
	__atomic_store_n(stream->link, stream->next, __ATOMIC_RELEASE);
	if (stream->next)
		stream->next->link = stream->link;
	pthread_mutex_unlock(&context->streams_lock);
	pthread_mutex_destroy(&stream->lock);
	free(stream->attributes);
	free(stream->tips);
	gd_object_free(stream, GD_TYPE_STREAM);
}

void gd_stream_end_of_thread(struct gd_stream *stream, uint64_t context_id)
{
	pthread_mutex_lock(&gd_contexts_lock); /* the context may be ending in another thread */
	if (gd_object_get(stream, GD_TYPE_STREAM) && stream->context_id == context_id &&
	    stream->kind == GD_STREAM_PER_THREAD && stream->context->id == context_id)
		gd_stream_delete(stream);
	pthread_mutex_unlock(&gd_contexts_lock);
}

static CUresult own_default(struct gd_context *context, struct gd_stream **stream_out)
{
	struct gd_thread *thread = gd_thread_state();
	struct gd_stream *stream = thread ? thread->streams[context->index] : NULL;
	if (!stream || thread->context_ids[context->index] != context->id) {
		stream = thread ? gd_stream_new(context, GD_STREAM_PER_THREAD, 0, 0) : NULL;
		if (!stream)
			return CUDA_ERROR_OUT_OF_MEMORY;
		thread->streams[context->index] = stream;
		thread->context_ids[context->index] = context->id;
	}
	*stream_out = stream;
	return CUDA_SUCCESS;
}

CUresult gd_stream_get(CUstream handle, bool per_thread, struct gd_stream **stream_out)
{
	if (!handle)
		handle = per_thread ? CU_STREAM_PER_THREAD : CU_STREAM_LEGACY;
	if (handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
		struct gd_stream *stream = gd_object_get(handle, GD_TYPE_STREAM);
		if (!stream)
			return CUDA_ERROR_INVALID_HANDLE;
		*stream_out = stream;
		return CUDA_SUCCESS;
	}
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if (handle == CU_STREAM_PER_THREAD)
		return own_default(context, stream_out);
	*stream_out = context->legacy;
	return CUDA_SUCCESS;
}

void gd_stream_notice(const struct gd_stream *stream, enum gd_notice_kind kind)
{
	gd_notice_send(&(struct gd_notice){.kind = kind,
	    .device = stream->device,
	    .context_id = stream->context_id,
	    .stream_id = stream->id,
	    .context = stream->context,
	    .stream = (void *)(uintptr_t)stream,
	    .priority = stream->priority,
	    .flags = stream->flags});
}

static CUresult create(CUstream *stream_out, unsigned flags, int priority)
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if (!stream_out || flags & ~(unsigned)CU_STREAM_NON_BLOCKING)
		return CUDA_ERROR_INVALID_VALUE;
	if (priority > GD_LEAST_PRIORITY)
		priority = GD_LEAST_PRIORITY;
	if (priority < GD_GREATEST_PRIORITY)
		priority = GD_GREATEST_PRIORITY;
	struct gd_stream *stream = gd_stream_new(context, GD_STREAM_CREATED, flags, priority);
	if (!stream)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*stream_out = (CUstream)stream;
	if (gd_watched())
		gd_stream_notice(stream, GD_NOTICE_STREAM_MADE);
	return CUDA_SUCCESS;
}

GD_API(cuStreamCreate, (CUstream * stream_out, unsigned int flags), (stream_out, flags))
{
	return create(stream_out, flags, 0);
}

GD_API(cuStreamCreateWithPriority, (CUstream * stream_out, unsigned int flags, int priority),
    (stream_out, flags, priority))
{
	return create(stream_out, flags, priority);
}

static CUresult destroy(CUstream handle)
{
	struct gd_stream *stream = gd_object_get(handle, GD_TYPE_STREAM);
	if (!stream || stream->kind != GD_STREAM_CREATED)
		return CUDA_ERROR_INVALID_HANDLE;
	if (gd_watched())
		gd_stream_notice(stream, GD_NOTICE_STREAM_ENDS);
	return gd_stream_delete(stream) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

GD_API(cuStreamDestroy, (CUstream stream), (stream))
{
	return destroy(stream);
}

GD_API(cuStreamDestroy_v2, (CUstream stream), (stream))
{
	return destroy(stream);
}

GD_API(cuCtxGetStreamPriorityRange, (int *least_out, int *greatest_out), (least_out, greatest_out))
{
	if (!gd_context_current())
		return gd_context_error();
	if (least_out)
		*least_out = GD_LEAST_PRIORITY;
	if (greatest_out)
		*greatest_out = GD_GREATEST_PRIORITY;
	return CUDA_SUCCESS;
}

/* The stream that a call asks about. */
static CUresult asked(
    CUstream handle, bool per_thread, const void *out, struct gd_stream **stream_out)
{
	CUresult result = gd_stream_get(handle, per_thread, stream_out);
	return result == CUDA_SUCCESS && !out ? CUDA_ERROR_INVALID_VALUE : result;
}

GD_API_PTSZ(cuStreamGetPriority, (CUstream handle, int *priority_out), (handle, priority_out))
{
	struct gd_stream *stream;
	CUresult result = asked(handle, per_thread, priority_out, &stream);
	if (result == CUDA_SUCCESS)
		*priority_out = stream->priority;
	return result;
}

GD_API_PTSZ(cuStreamGetFlags, (CUstream handle, unsigned int *flags_out), (handle, flags_out))
{
	struct gd_stream *stream;
	CUresult result = asked(handle, per_thread, flags_out, &stream);
	if (result == CUDA_SUCCESS)
		*flags_out = stream->flags;
	return result;
}

GD_API_PTSZ(cuStreamGetId, (CUstream handle, unsigned long long *id_out), (handle, id_out))
{
	struct gd_stream *stream;
	CUresult result = asked(handle, per_thread, id_out, &stream);
	if (result == CUDA_SUCCESS)
		*id_out = stream->id;
	return result;
}

CUresult CUDAAPI cuStreamGetDevice(CUstream handle, CUdevice *device_out);
GD_API_PTSZ(cuStreamGetDevice, (CUstream handle, CUdevice *device_out), (handle, device_out))
{
	struct gd_stream *stream;
	CUresult result = asked(handle, per_thread, device_out, &stream);
	if (result == CUDA_SUCCESS)
		*device_out = (CUdevice)stream->device;
	return result;
}

static CUresult context_of(CUstream handle, bool per_thread, CUcontext *context_out)
{
	struct gd_stream *stream;
	CUresult result = asked(handle, per_thread, context_out, &stream);
	if (result == CUDA_SUCCESS)
		*context_out = (CUcontext)stream->context;
	return result;
}

GD_API_PTSZ(cuStreamGetCtx, (CUstream handle, CUcontext *context_out), (handle, context_out))
{
	return context_of(handle, per_thread, context_out);
}

/* There are no green contexts. */
GD_API_PTSZ(cuStreamGetCtx_v2, (CUstream handle, CUcontext *context_out, CUgreenCtx *green_out),
    (handle, context_out, green_out))
{
	CUresult result = context_of(handle, per_thread, context_out);
	if (result == CUDA_SUCCESS && green_out)
		*green_out = NULL;
	return result;
}

GD_API(cuStreamGetGreenCtx, (CUstream handle, CUgreenCtx *green_out), (handle, green_out))
{
	struct gd_stream *stream;
	CUresult result = asked(handle, false, green_out, &stream);
	if (result == CUDA_SUCCESS)
		*green_out = NULL;
	return result;
}

GD_API_PTSZ(cuStreamQuery, (CUstream handle), (handle))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_stream(stream);
	if (result != CUDA_SUCCESS)
		return result;
	return gd_stream_idle(stream) ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

GD_API_PTSZ(cuStreamSynchronize, (CUstream handle), (handle))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_stream(stream);
	if (result != CUDA_SUCCESS)
		return result;
	gd_stream_wait(stream);
	GD_COUNT(stream->device, synchronizations, 1);
	if (gd_watched())
		gd_stream_notice(stream, GD_NOTICE_STREAM_WAITED);
	return CUDA_SUCCESS;
}
