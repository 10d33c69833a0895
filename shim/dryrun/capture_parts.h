/* SPDX-License-Identifier: Apache-2.0 */
/* What capture.c and capture_api.c share.  All of it: gd_graph_lock is held. */
#ifndef GD_CAPTURE_PARTS_H
#define GD_CAPTURE_PARTS_H

#include "shim/dryrun/capture.h"
#include "shim/dryrun/graphs.h"
#include "shim/dryrun/thread_state.h"

struct gd_capture {
	struct gd_object object;
	uint64_t id;
	CUstreamCaptureMode mode;
	bool broken;	/* by a call that it forbids; only ending it helps */
	bool own_graph; /* made by it, not given by the program */
	struct gd_stream *origin;
	const struct gd_thread *thread; /* that began it */
	struct gd_graph *graph;
	struct gd_stream *streams; /* all that take part, the origin included */
	struct gd_capture *next;
};

/** Begin; the stream takes part at once. @return NULL without memory */
struct gd_capture *gd_capture_new(
    struct gd_stream *stream, CUstreamCaptureMode mode, struct gd_graph *graph);

/** End: its streams are free again. The graph is left alone. */
void gd_capture_end(struct gd_capture *capture);

/** Set or extend what the stream's next node depends on. @return false without memory */
bool gd_tips_set(struct gd_stream *stream, struct gd_node *const *nodes, uint32_t count);
bool gd_tips_add(struct gd_stream *stream, struct gd_node *const *nodes, uint32_t count);

#endif
