/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contexts, and which one is current in a thread.
 *
 * A device has one primary context, kept for the life of the process and active while it is
 * retained; more can be made.  While a context is active its reserve (device facts) is charged to
 * the device.  A context that was destroyed or reset loses its tag or grows its generation, so that
 * stale handles and stale current contexts are noticed.  Threads: any.
 */
#ifndef GD_CONTEXTS_H
#define GD_CONTEXTS_H

#include <pthread.h>

#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/handles.h"

struct gd_stream;

/* L(limit, value): what cuCtxGetLimit answers before anybody set it. */
#define GD_LIMITS(L) \
	L(STACK_SIZE, 1024) \
	L(PRINTF_FIFO_SIZE, 7340032) \
	L(MALLOC_HEAP_SIZE, 8388608) \
	L(DEV_RUNTIME_SYNC_DEPTH, 2) \
	L(DEV_RUNTIME_PENDING_LAUNCH_COUNT, 2048) \
	L(MAX_L2_FETCH_GRANULARITY, 64) \
	L(PERSISTING_L2_CACHE_SIZE, 0)

struct gd_context {
	struct gd_object object;
	uint32_t device;
	uint32_t index; /* small, unique among live contexts: for tables by thread */
	uint64_t id;	/* unique in the process */
	uint32_t flags;
	uint32_t cache_config;
	bool primary, active;
	bool ending;		   /* its streams are waited for; changes under gd_contexts_lock */
	uint32_t retained;	   /* primary only */
	struct gd_stream *legacy;  /* its default stream, made with it */
	struct gd_stream *streams; /* all live ones; guarded by streams_lock */
	pthread_mutex_t streams_lock;
	/* Ends of the work of all blocking streams and of all streams; atomic. */
	uint64_t blocking_ready_ns, ready_ns;
	size_t limits[CU_LIMIT_MAX];
};

/** A context ends: nobody reaches its memory, or is reached from it, any more. */
void gd_peers_drop_context(const struct gd_context *context);

/* Frees what was made in a context and is still there; the context's streams are gone already. */
typedef void (*gd_context_drop)(const struct gd_context *context);

/**
 * Make the primary contexts (inactive) of all devices; once.
 *
 * @param drops  what a context's end calls, in this order, NULL behind the last; kept
 * @return false without memory
 */
bool gd_contexts_start(const gd_context_drop *drops);

/* Making, retaining, ending contexts, and ending the default stream of a thread; the locks of
 * captures, queues and a context's streams nest in it.  Nobody waits for work under it. */
extern pthread_mutex_t gd_contexts_lock;

/** @return the context behind a handle if it is alive and active, else NULL */
struct gd_context *gd_context_get(CUcontext handle);

/** @return the current context of this thread, or NULL when there is none or it is gone */
struct gd_context *gd_context_current(void);

/** @return the active context that `handle` or, when it is NULL, this thread means */
struct gd_context *gd_context_or_current(CUcontext handle);

/** Tell the watcher of calls about a context; only when gd_watched() and without a lock. */
void gd_context_notice(const struct gd_context *context, enum gd_notice_kind kind);

/** @return primary context of a device, active or not */
struct gd_context *gd_context_primary(unsigned device);

/** What a body returns when gd_context_current() gave NULL: none, or a destroyed one. */
CUresult gd_context_error(void);

/** Ids of contexts, streams, buffers: one sequence for all, never 0. */
uint64_t gd_next_id(void);

#endif
