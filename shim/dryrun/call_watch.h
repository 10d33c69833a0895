/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the programming interfaces and what they did, shown to the stand-in CUPTI.
 *
 * The driver tells every call of its own on the way in and out (gate.h), the runtime every call of
 * its (cudart.h), and bodies tell what a record needs beside: which stream was waited for, what was
 * allocated.  Calls inside a call share its number, as the real ones share their correlation id.
 * While nobody watches, a call costs the loads that it costs without.  Threads: any.
 */
#ifndef GD_CALL_WATCH_H
#define GD_CALL_WATCH_H

#include <stdbool.h>
#include <stdint.h>

enum gd_call_domain { GD_CALL_DRIVER, GD_CALL_RUNTIME };

/* A call in progress, on the stack of who makes it. */
struct gd_call {
	const char *name;      /* exported name, a literal; NULL: not watched */
	struct gd_call *outer; /* the call of this thread that it is made in, or NULL */
	uint32_t domain;       /* enum gd_call_domain */
	uint32_t number;       /* of the outermost call; never 0 */
	int result;	       /* set on the way out */
	uint32_t known;	       /* from here: the watcher's own */
	uint64_t start, data[2];
	const char *kernel;
};

enum gd_notice_kind {
	GD_NOTICE_EVENT_WAITED, /* the host waited for an event, a stream, a context */
	GD_NOTICE_STREAM_WAITED,
	GD_NOTICE_CONTEXT_WAITED,
	GD_NOTICE_EVENT_AWAITED, /* a stream waits for an event */
	GD_NOTICE_EVENT_RECORDED,
	GD_NOTICE_ALLOCATED,
	GD_NOTICE_FREED,
	GD_NOTICE_CONTEXT_MADE,
	GD_NOTICE_CONTEXT_ENDS,
	GD_NOTICE_STREAM_MADE,
	GD_NOTICE_STREAM_ENDS,
	GD_NOTICE_POOL_MADE,
	GD_NOTICE_POOL_ENDS,
	GD_NOTICE_POOL_TRIMMED,
};

/* The pool of an allocation. */
struct gd_notice_pool {
	uint64_t address; /* its handle; 0: none */
	uint64_t threshold_bytes, reserved_bytes, used_bytes;
};

/* What a call did; fields that mean nothing for its kind are 0. */
struct gd_notice {
	uint32_t kind; /* enum gd_notice_kind */
	uint32_t device;
	uint64_t context_id, stream_id, event_id;
	uint64_t record_id;	/* of the event's last record: never used again; 0: none */
	uint64_t time_ns;	/* of that record, CLOCK_MONOTONIC; 0: not known yet */
	void *context, *stream; /* handles */
	int32_t priority;	/* of a stream */
	uint32_t flags;		/* of a stream */
	uint32_t memory;	/* enum gd_memory_kind */
	bool asynchronous;
	uint64_t address, bytes; /* a trim: what is to be kept */
	struct gd_notice_pool pool;
};

/* Called on the thread that makes the call, without a lock; may not call the driver, except that
 * `enter` and `leave` may. */
struct gd_watcher {
	void (*enter)(struct gd_call *call);
	void (*leave)(struct gd_call *call);
	void (*notice)(const struct gd_notice *notice);
};

/* What is watched; exported under this name, read by the runtime too. */
enum { GD_WATCH_NOTICES = 1, GD_WATCH_CALLS = 2 };
extern uint32_t gpushim_dryrun_watched;

static inline bool gd_watched(void)
{
	return __builtin_expect(__atomic_load_n(&gpushim_dryrun_watched, __ATOMIC_RELAXED) != 0, 0);
}

/**
 * Set who watches.
 *
 * @param watcher  kept; NULL ends it
 * @param calls    calls too, not only notices
 */
void gpushim_dryrun_watch(const struct gd_watcher *watcher, bool calls);

/**
 * A call begins.
 *
 * @param call    room for it, kept until gpushim_dryrun_call_end
 * @param name    literal
 * @param domain  enum gd_call_domain
 */
void gpushim_dryrun_call_begin(struct gd_call *call, const char *name, uint32_t domain);

/** It ends. @param call  one whose name is not NULL */
void gpushim_dryrun_call_end(struct gd_call *call, int result);

/** @return the innermost watched call of this thread, NULL outside of one */
struct gd_call *gpushim_dryrun_call(void);

/** Tell the watcher what happened; ask gd_watched() first. */
void gd_notice_send(const struct gd_notice *notice);

/** @return handle of this thread's current context or NULL; its id goes to *id_out */
void *gpushim_dryrun_context(uint64_t *id_out);

#endif
