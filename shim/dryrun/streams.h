/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams and the work in them.
 *
 * Work ends at a time that the clock gives (operations.h); most streams have nothing but that time.
 * Host functions, and all that comes behind one, wait in the stream's queue for the stream's own
 * thread (stream_queue.h).  Threads: any; lock order: capture lock, then stream lock.
 */
#ifndef GD_STREAMS_H
#define GD_STREAMS_H

#include <pthread.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/handles.h"

struct gd_capture;
struct gd_node;
struct gd_queue;

/* PyTorch reads the range and makes one pool of streams for each priority in it. */
#define GD_LEAST_PRIORITY 0
#define GD_GREATEST_PRIORITY (-5)

/* Which default stream an object is. */
enum gd_stream_kind { GD_STREAM_CREATED, GD_STREAM_LEGACY, GD_STREAM_PER_THREAD };

struct gd_stream {
	struct gd_object object;
	enum gd_stream_kind kind;
	uint32_t flags;
	int32_t priority;
	uint32_t device;
	struct gd_context *context;
	uint64_t context_id;
	uint64_t id;
	struct gd_stream *next, **link; /* among the context's streams */
	pthread_mutex_t lock;		/* ready_ns, queue */
	uint64_t ready_ns;		/* when the work enqueued so far ends */
	struct gd_queue *queue;		/* NULL before the first host function; then kept */
	/* Guarded by the capture lock; `capture` is also read without it. */
	struct gd_capture *capture;
	struct gd_stream *next_captured;
	struct gd_node **tips; /* what the next captured node depends on */
	uint32_t tip_count, tip_room;
	CUlaunchAttributeValue *attributes; /* set by cuStreamSetAttribute; by id; NULL for none */
};

/**
 * Make a stream of a context.
 *
 * @return NULL without memory
 */
struct gd_stream *gd_stream_new(
    struct gd_context *context, enum gd_stream_kind kind, unsigned flags, int priority);

/**
 * End a stream: its handle is invalid from now on, its queued work is still done.
 *
 * @return false when another thread did that
 */
bool gd_stream_delete(struct gd_stream *stream);

/** Give back a stream without handle and work; the lock of the queues is held. */
void gd_stream_free(struct gd_stream *stream);

/** End all streams of a context. */
void gd_streams_end(struct gd_context *context);

/** A thread ends: end its default stream unless the context went before. */
void gd_stream_end_of_thread(struct gd_stream *stream, uint64_t context_id);

/**
 * Find the stream that a call means.
 *
 * @param handle      a stream, 0, CU_STREAM_LEGACY or CU_STREAM_PER_THREAD
 * @param per_thread  what 0 means
 * @param stream_out  set on success
 * @return CUDA_SUCCESS; CUDA_ERROR_INVALID_HANDLE; CUDA_ERROR_INVALID_CONTEXT
 */
CUresult gd_stream_get(CUstream handle, bool per_thread, struct gd_stream **stream_out);

/** Tell the watcher of calls about a stream; only when gd_watched(). */
void gd_stream_notice(const struct gd_stream *stream, enum gd_notice_kind kind);

/** @return whether work in it waits for the legacy default stream and the other way round */
static inline bool gd_stream_blocking(const struct gd_stream *stream)
{
	return stream->kind != GD_STREAM_LEGACY && !(stream->flags & CU_STREAM_NON_BLOCKING);
}

/** @return whether a capture (alive or broken) is going on in it; a hint without the capture lock
 */
static inline bool gd_stream_captured(const struct gd_stream *stream)
{
	return __atomic_load_n(&stream->capture, __ATOMIC_ACQUIRE) != NULL;
}

#endif
