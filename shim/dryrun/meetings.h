/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that wait for others: what the collectives of the stand-in NCCL do when their stream
 * reaches them.
 *
 * The library describes a meeting (launcher_api.h) for the next launch of its thread.  The launch
 * takes it along, also into graphs, and the stream's own thread holds it: the caller never waits.
 * Threads: any.
 */
#ifndef GD_MEETINGS_H
#define GD_MEETINGS_H

#include "shim/dryrun/launcher_api.h"

/* A meeting and who still names it: queues, nodes of graphs, the launch that takes it. */
struct gd_held_meeting {
	struct gd_meeting what;
	uint32_t references; /* atomic */
};

/** @return the meeting of this launch of the thread, with a reference, or NULL */
struct gd_held_meeting *gd_meeting_take(void);

/** One reference more, or less; NULL is no meeting. */
void gd_meeting_hold(struct gd_held_meeting *meeting);
void gd_meeting_drop(struct gd_held_meeting *meeting);

#endif
