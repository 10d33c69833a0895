/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events.  A record has a ticket; it is done when its time is known (at once, or when the stream's
 * queue reaches it) and complete when that time has come.  Threads: any.
 */
#ifndef GD_EVENTS_H
#define GD_EVENTS_H

#include <pthread.h>

#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/handles.h"

struct gd_context;
struct gd_node;
struct gd_stream;

struct gd_event {
	struct gd_object object;
	uint32_t flags;
	uint32_t device;
	uint64_t context_id;
	uint64_t id;
	pthread_mutex_t lock; /* everything below */
	uint64_t issued;      /* tickets given */
	uint64_t recorded;    /* last ticket whose record is in its stream; 0: never recorded */
	uint64_t done;	      /* highest ticket whose time is known */
	uint64_t time_ns;     /* of `done` */
	uint64_t ready_ns;    /* when the awaited work ends; 0 with the instant clock */
	uint32_t queued;      /* entries of queues that still mention the event */
	bool destroyed;	      /* while `queued`: the last entry frees it */
	uint32_t own_pending; /* INTERPROCESS: records of this process that no queue has reached */
	int share_file;
	struct gd_event_share *share; /* ipc_events.h; NULL until exported, then constant */
	uint64_t capture_id;	      /* last recorded in this capture, dead or alive; atomic */
	struct gd_node **tips; /* nodes that stand for the record; guarded by the capture lock */
	uint32_t tip_count;
};

/** @return the capture of the last record, 0 for none.  Any thread. */
static inline uint64_t gd_event_capture(const struct gd_event *event)
{
	return __atomic_load_n(&event->capture_id, __ATOMIC_RELAXED);
}

/** Say in which capture the last record was, 0 for none. */
static inline void gd_event_set_capture(struct gd_event *event, uint64_t id)
{
	__atomic_store_n(&event->capture_id, id, __ATOMIC_RELAXED);
}

/** @return when the last record that is done was or will be complete.  Any thread. */
uint64_t gd_event_ready_ns(struct gd_event *event);

/** @return a new event, not published; NULL without memory */
struct gd_event *gd_event_new(const struct gd_context *context, unsigned flags);

/** Free an event that nothing mentions. */
void gd_event_free(struct gd_event *event);

/** A queue reached a record or wait: note the time (ticket 0: only drop the mention). */
void gd_event_reached(struct gd_event *event, uint64_t ticket, uint64_t time_ns, uint64_t ready_ns);

/** Record outside any capture. */
CUresult gd_event_record(struct gd_event *event, struct gd_stream *stream);

/** Let a stream wait for the event's last record, outside any capture. */
void gd_event_await(struct gd_event *event, struct gd_stream *stream);

#endif
