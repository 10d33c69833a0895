/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an intercepted call to a record in this thread's chunk of the journal.
 *
 *   gs_enter   may this call be recorded?  The only place that decides it
 *   gs_returned  the real function is back: stamps, thread state; may start the recording
 *   gs_reserve / gs_publish  room for a record; make it visible
 *   gs_leave   end of the call
 *
 * Between enter and leave: no malloc, no lock, no system call, errno untouched.  Exceptions are an
 * event in the life of a process or thread: the call that starts the recording, the first event of
 * a thread, a burst that has used up every chunk in hand.  They keep errno too.
 *
 * Threads: any.  A thread's state is its own; the flusher reads published records only.
 */
#ifndef GS_PRODUCER_H
#define GS_PRODUCER_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/journal.h"
#include "formats/records.h"
#include "shim/clock.h"
#include "shim/hot.h"
#include "shim/settings.h"

#define GS_HIDDEN __attribute__((visibility("hidden")))

enum gs_phase {
	GS_PHASE_OFF,      /* before the constructor, GPUSHIM_ENABLE=0, or nothing may start any more */
	GS_PHASE_IDLE,     /* waits for the first event that counts */
	GS_PHASE_STARTING, /* one thread is starting the recording; others wait for it */
	GS_PHASE_RUNNING,
	GS_PHASE_OVER, /* stopped for good: exit, limit, disk */
};

#define GS_FUNCTION_CACHE 64 /* a power of two */
#define GS_THREAD_LIMIT 16384

/* Recording state of one thread; lives in a mapping that is never given back. */
struct gs_thread {
	char *cursor, *limit; /* free part of the chunk; both NULL without one */
	struct gf_chunk *chunk;
	uint32_t generation; /* recording this state belongs to */
	uint32_t thread_id;
	uint32_t in_use; /* slot is taken; atomic */
	uint32_t owner;	 /* of this slot, as the kernel counts; 0 while it changes hands; atomic */
	uint16_t device; /* of the current context, GF_DEVICE_UNKNOWN if not asked yet */
	uint16_t reserved;
	uint64_t next_try; /* ticks: no chunk was free, do not look before */
	uint64_t functions[GS_FUNCTION_CACHE]; /* handles whose name is in the trace */
};

#define GS_DEPTH_OURS 2 /* what this thread calls is our own doing */

/* The thread-local words; initial-exec, so that no access ever allocates. */
struct gs_tls {
	struct gs_thread *thread;
	uint32_t depth;        /* 0, or 1 inside an intercepted call, or GS_DEPTH_OURS */
	const uintptr_t *frame; /* of that call's wrapper: its caller's frame, its return address */
	uintptr_t return_to;
	uint32_t in_allocator; /* > 0: inside PyTorch's allocate() */
	uint64_t requested;    /* its argument */
};
extern __thread struct gs_tls gs_tls GS_HIDDEN;

/*
 * What every event looks at.  It fills pages of its own that the kernel wipes in any child that
 * shares no memory with us, be it made by fork() or by a raw clone(): a child never records by
 * accident.  64 KiB is the largest page size of the processors we build for.
 */
#define GS_LIVE_BYTES 65536
struct gs_live {
	uint32_t classes;    /* GS_CLASS_* bits while recording, else 0 */
	uint32_t generation; /* of the recording, never 0 while one is on */
	char page[GS_LIVE_BYTES - 8];
};
extern struct gs_live gs_live GS_HIDDEN;
extern uint32_t gs_phase GS_HIDDEN; /* enum gs_phase */

/* One intercepted call. */
struct gs_call {
	uint64_t start, end;
	struct gs_thread *thread;
	uint32_t flags; /* GF_FLAG_* */
	uint32_t class;
	uint16_t hook, status;
};

/** Cold half of gs_enter: not recording this class.  @return whether the call may start that */
bool gs_enter_cold(uint32_t class, bool uses) GS_HIDDEN __attribute__((cold));

/**
 * Whether the thread has left the call that it is inside of by a jump, as a signal handler does.
 *
 * @param frame  of the wrapper of the next call
 */
bool gs_jumped_out(const uintptr_t *frame) GS_HIDDEN __attribute__((cold));

/** Cold half of gs_attend: start the recording, or give the thread its state.  May be NULL. */
struct gs_thread *gs_thread_cold(const struct gs_call *call) GS_HIDDEN __attribute__((cold));

/* Both become part of the wrapper: its frame is asked for. */

/** As gs_enter, for what has no time of its own: `start` is not set. */
static inline __attribute__((always_inline)) bool gs_enter_untimed(struct gs_call *call,
    uint16_t hook, uint32_t class, bool uses, uint32_t flags)
{
	if (!GS_LIKELY(__atomic_load_n(&gs_live.classes, __ATOMIC_RELAXED) & class) &&
	    !gs_enter_cold(class, uses))
		return false;
	const uintptr_t *frame = __builtin_frame_address(0);
	if (!GS_LIKELY(gs_tls.depth == 0) && !gs_jumped_out(frame))
		return false;
	gs_tls.depth = 1;
	gs_tls.frame = frame;
	gs_tls.return_to = frame[1];
	call->hook = hook;
	call->class = class;
	call->flags = flags;
	return true;
}

/**
 * May this call be recorded?
 *
 * @param call   filled; only to be used if the answer is yes
 * @param hook   number of the function (`api` of records)
 * @param class  its GS_CLASS_* bit
 * @param uses   whether it counts as using CUDA
 * @param flags  GF_FLAG_* known from the function's name
 * @return yes: gs_returned and gs_leave must follow
 */
static inline __attribute__((always_inline)) bool gs_enter(struct gs_call *call, uint16_t hook,
    uint32_t class, bool uses, uint32_t flags)
{
	if (!gs_enter_untimed(call, hook, class, uses, flags))
		return false;
	call->start = gs_now();
	return true;
}

/** Find the thread's state for a call whose `status` is set.  @return whether to write records */
static inline bool gs_attend(struct gs_call *call)
{
	struct gs_thread *thread = gs_tls.thread;
	if (!GS_LIKELY(thread && thread->generation == gs_live.generation))
		thread = gs_thread_cold(call);
	call->thread = thread;
	return thread != NULL;
}

/** The real function returned `status`.  @return whether to write records */
static inline bool gs_returned(struct gs_call *call, int status)
{
	call->end = gs_now();
	call->status = (uint16_t)status;
	return gs_attend(call);
}

static inline void gs_leave(void)
{
	gs_tls.depth = 0;
}

/** Cold half of gs_reserve: next chunk.  NULL: `events` are counted as lost. */
void *gs_reserve_cold(struct gs_thread *thread, uint32_t bytes, uint32_t events) GS_HIDDEN
    __attribute__((cold));

/** Cold half of gs_has_room: no chunk.  @return whether it is time to look for one again */
bool gs_may_claim(const struct gs_thread *thread) GS_HIDDEN __attribute__((cold));

/** Whether it is worth to prepare what a record needs.  Without room that would be dropped too. */
static inline bool gs_has_room(const struct gs_thread *thread)
{
	return GS_LIKELY(thread->chunk != NULL) || gs_may_claim(thread);
}

/*
 * The helper wiped the chunk, so its lines are in another processor's cache.  Fetched one event
 * ahead nobody waits for them.  Beyond the end of a chunk, even of the mapping, it does nothing.
 */
#define GS_CACHE_LINE 64
static inline void gs_own_soon(const char *line)
{
#if defined(__x86_64__)
	__asm__ volatile("prefetchw %0" : : "m"(*line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/**
 * Room for a record.
 *
 * @param bytes   a multiple of 8
 * @param events  that are lost without it: 1, or 0 for definitions and marks
 * @return zeroed; NULL if there is none
 */
static inline void *gs_reserve(struct gs_thread *thread, uint32_t bytes, uint32_t events)
{
	char *record = thread->cursor;
	if (!GS_LIKELY((size_t)(thread->limit - record) >= bytes))
		return gs_reserve_cold(thread, bytes, events);
	thread->cursor = record + bytes;
	gs_own_soon(record + bytes + GS_CACHE_LINE);
	gs_own_soon(record + bytes + 2 * GS_CACHE_LINE);
	return record;
}

/* Room for an event, or for a definition or mark, of a type; its fields are zero. */
#define GS_RECORD(thread, name) ((struct gf_##name *)gs_reserve((thread), sizeof(struct gf_##name), 1))
#define GS_DEFINITION(thread, name) \
	((struct gf_##name *)gs_reserve((thread), sizeof(struct gf_##name), 0))
#define GS_PUBLISH(record, name) \
	gf_record_publish((record), GF_HEAD(GF_TAG_##name, sizeof(struct gf_##name)))

/** Append a definition; too long texts end in an ellipsis.  @return false if there was no room */
bool gs_append_text(struct gs_thread *thread, enum gf_text_kind kind, uint32_t id,
    const char *bytes, size_t length) GS_HIDDEN;

/** Append a mark of now. */
void gs_append_mark(struct gs_thread *thread, enum gf_mark_kind kind, uint64_t value) GS_HIDDEN;

/** Count events that are not in the trace. */
void gs_count_lost(enum gf_lost_reason reason, uint64_t count) GS_HIDDEN;

/**
 * This thread's state in the running recording, made if needed.
 *
 * @return NULL if nothing is being recorded or there are too many threads
 */
struct gs_thread *gs_thread_attach(void) GS_HIDDEN;

/** The thread ends or stops recording: its chunk goes to the flusher, its slot to others. */
void gs_thread_detach(struct gs_thread *thread) GS_HIDDEN;

/**
 * Detach threads that ended without doing so, if others came since the last time.
 *
 * Threads: the helper.
 */
void gs_threads_reclaim(void) GS_HIDDEN;

/** The journal of the running recording. */
extern struct gf_journal gs_journal GS_HIDDEN;

/**
 * Who looks after free chunks.  `ring` is called by threads that find that they run short, or gone.
 */
struct gs_supply {
	const struct gs_thread *keeper; /* of the helper, which must not wait for itself */
	uint64_t ring_at; /* sequence of a claimed chunk from which on to ring; UINT64_MAX: not now */
	void (*ring)(void);
	bool exhausted;	  /* no more can be had: waiting is of no use */
	bool ending;	  /* the end waits for those who wait */
	uint32_t waiting; /* threads that do */
	uint32_t given;	  /* grows when chunks become free; futex */
};
extern struct gs_supply gs_supply GS_HIDDEN;

/**
 * Constructor.
 *
 * @param start   called by the first event that counts, in its thread
 * @param forget  called when this turns out to be a child that no fork handler has seen
 */
void gs_producer_init(void (*start)(void), void (*forget)(void)) GS_HIDDEN;

/**
 * A journal is ready: begin a generation.  Recording is not on before gs_producer_switch.
 *
 * @return false if there is no memory for thread states
 *
 * Threads: the helper thread, before any event can be recorded.
 */
bool gs_producer_begin(void) GS_HIDDEN;

/** Switch classes on (a mask) or all off (0). */
void gs_producer_switch(uint32_t classes) GS_HIDDEN;

/** Recording ends early: calls that would have been recorded from now on count as lost. */
void gs_producer_stop(enum gf_lost_reason reason) GS_HIDDEN;

/** The end: nothing is counted any more. */
void gs_producer_end(void) GS_HIDDEN;

/** In a fork child: forget everything; nothing is freed, no lock is taken. */
void gs_producer_forget(void) GS_HIDDEN;

#endif
