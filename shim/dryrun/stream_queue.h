/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work that cannot be done when it is enqueued: host functions, which run on a thread of their
 * stream because the caller may hold locks they need, meetings, which wait for others, and
 * everything behind them.
 *
 * Each stream that ever got one of these has a queue and a thread.  An entry may wait for
 * entries of other queues (legacy default stream rule) and for events whose record is still queued.
 * All of these were enqueued before it, so no circle can arise.  A stream that was destroyed stays
 * among those of its context until its queue is done.  One lock for all queues: nothing here is on
 * a fast path.  Threads: any.
 */
#ifndef GD_STREAM_QUEUE_H
#define GD_STREAM_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/dryrun/operations.h"

struct gd_context;
struct gd_event;
struct gd_held_meeting;
struct gd_stream;

/**
 * Queue an operation if its stream, or one that it has to wait for, has work in a queue.
 *
 * @param operation  complete but for its times; copied
 * @param argument   copied
 * @return false when there is no reason to wait: the caller does it at once
 */
bool gd_queue_defer(struct gd_stream *stream, const struct gd_operation *operation,
    gd_effect effect, const void *argument, size_t argument_bytes);

/**
 * Queue a host function.
 *
 * @return false without memory or when no thread can be made
 */
bool gd_queue_host_function(struct gd_stream *stream, void (*function)(void *), void *user);

/**
 * Queue a meeting (meetings.h) and what it looks like as an operation.
 *
 * @param operation  complete but for its place and times; copied
 * @param meeting    gets a reference
 * @return false as gd_queue_host_function
 */
bool gd_queue_meeting(struct gd_stream *stream, const struct gd_operation *operation,
    struct gd_held_meeting *meeting);

/**
 * Queue the record of an event if needed.
 *
 * @param ticket  number of this record of the event
 * @return false when the caller can record at once
 */
bool gd_queue_record(struct gd_stream *stream, struct gd_event *event, uint64_t ticket);

/** Queue the wait for a record of an event that is still queued; call only then. */
bool gd_queue_wait(struct gd_stream *stream, struct gd_event *event, uint64_t ticket);

/** Wait until all entries of the stream's queue, and of those it waits for, are done. */
void gd_queue_drain(struct gd_stream *stream);

/** @return whether nothing is left in it */
bool gd_queue_empty(struct gd_stream *stream);

/** Wait until a record of an event is done. */
void gd_queue_await_event(struct gd_event *event, uint64_t ticket);

/** @return whether anything is queued in any stream */
bool gd_queue_any(void);

/** @return whether this thread is a queue's: it cannot wait for itself */
bool gd_queue_serving(void);

/**
 * Wait until what is queued now is done.
 *
 * @param context  of which streams; NULL: of all
 * @param device   on which device; -1: on all
 */
void gd_queue_drain_all(const struct gd_context *context, int device);

/** Free the stream, at once or, when it has a queue, on its thread behind the last entry. */
void gd_queue_end(struct gd_stream *stream);

/** Wait until no stream of a context is left; all have been ended and none is made any more. */
void gd_queue_await_ends(const struct gd_context *context);

#endif
