/* SPDX-License-Identifier: Apache-2.0 */
/* What the driver keeps per thread: current contexts, default streams, capture mode. */
#ifndef GD_THREAD_STATE_H
#define GD_THREAD_STATE_H

#include <stdint.h>

#define GD_MAX_CONTEXTS 256
#define GD_CONTEXT_STACK 64

struct gd_context;
struct gd_stream;

struct gd_current {
	struct gd_context *context; /* NULL: none */
	uint32_t generation;	    /* of the context when it became current */
};

struct gd_thread {
	uint32_t depth;	       /* entries of stack in use */
	uint32_t capture_mode; /* CUstreamCaptureMode of new unsafe calls */
	struct gd_current stack[GD_CONTEXT_STACK];
	struct gd_stream *streams[GD_MAX_CONTEXTS]; /* default streams by context index */
	uint64_t context_ids[GD_MAX_CONTEXTS];	    /* the context that such a stream belongs to */
};

/** @return state of this thread, made at the first call; NULL without memory */
struct gd_thread *gd_thread_state(void);

#endif
