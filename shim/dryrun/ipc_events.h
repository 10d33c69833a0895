/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events that several processes use (CU_EVENT_INTERPROCESS).  From the first export on they also
 * count in a shared page what no queue has reached yet.  A stream that waits for another process's
 * record blocks the caller until that is reached: queues do not reach across processes.
 */
#ifndef GD_IPC_EVENTS_H
#define GD_IPC_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

struct gd_event;

/** A record was queued (+1) or reached (-1); the event's lock is held. */
void gd_event_share_pending(struct gd_event *event, int change);

/** The latest record is complete at this time (0: now); the event's lock is held. */
void gd_event_share_ready(struct gd_event *event, uint64_t ready_ns);

/** @return whether no record of another process is open */
bool gd_event_share_complete(struct gd_event *event);

/** Block until others' records are reached. @return when the latest is complete, 0: it is */
uint64_t gd_event_share_wait(struct gd_event *event);

/** The event ends in this process. */
void gd_event_share_end(struct gd_event *event);

#endif
