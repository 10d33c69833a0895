/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a program asked of the caching allocator of one device, in the form that is replayed: events
 * of 16 bytes in order, blocks by number, and what the driver answered.  The builder turns what a
 * recorder sees (addresses, the allocator's own event records and queries) into it.
 *
 * Threads: a trace that is built belongs to one thread; afterwards any number may read it.
 */
#ifndef GA_ALLOCATOR_TRACE_H
#define GA_ALLOCATOR_TRACE_H

#include "analyzer/allocator_model.h"
#include "analyzer/hash_map.h"

#define GA_CALL_REQUEST_MOST (UINT64_C(1) << 60) /* larger requests are cut to this; both fail */

enum ga_alloc_trace_kind {
	GA_CALL_ALLOC, /* value = request; stream */
	GA_CALL_FREE,  /* WAITS if other streams used the block */
	GA_CALL_READY, /* the last event of a waiting block was seen to be done */
	GA_CALL_EMPTY_CACHE,
	GA_CALL_FRACTION,      /* value = fraction in units of 1 / GF_FRACTION_ONE */
	GA_CALL_SETTINGS,      /* value = index in ga_alloc_trace.settings_texts */
	GA_CALL_CAPTURE_BEGIN, /* block = pool */
	GA_CALL_CAPTURE_END,
	GA_CALL_POOL_RELEASE,
	GA_CALL_SYNCHRONIZE, /* the program waited for the device */
};

enum ga_alloc_trace_flag {
	GA_CALL_WAITS = 1,    /* FREE: not complete before its READY */
	GA_CALL_FORCED = 2,   /* READY: seen only because a retry or empty_cache waited for it */
	GA_CALL_FAILED = 4,   /* ALLOC: out of memory was reported */
	GA_CALL_CAPTURED = 8, /* ALLOC: from the private pool of the capture under way */
};

struct ga_alloc_trace_event {
	uint64_t value;
	uint32_t block;	 /* ALLOC, FREE, READY: number of the block from 0; or a pool */
	uint16_t stream; /* index in ga_alloc_trace.streams */
	uint8_t kind, flags;
};

struct ga_alloc_trace {
	struct ga_allocator_settings settings; /* at start */
	uint64_t device_bytes;		       /* total memory of the device */
	uint64_t budget_bytes;		       /* what this allocator can get of it */
	struct ga_alloc_trace_event *events;
	uint64_t *addresses; /* by block: where it was, 0 if not known or refused */
	size_t event_count, event_capacity, block_count, block_capacity;
	uint64_t *streams; /* handles */
	size_t stream_count, stream_capacity;
	struct ga_alloc_driver_answer *segments, *reservations, *maps;
	size_t segment_count, segment_capacity, reservation_count, reservation_capacity;
	size_t map_count, map_capacity;
	char **settings_texts; /* of changes at run time */
	size_t settings_count, settings_capacity;
};

/* Builds a trace.  Zero-initialise by ga_alloc_trace_begin. */
struct ga_alloc_trace_builder {
	struct ga_alloc_trace *trace;
	struct ga_map live;   /* address -> block */
	struct ga_map events; /* CUDA event -> block */
	uint64_t *open;	      /* events recorded since the last allocation or free */
	size_t open_count, open_capacity;
	struct ga_alloc_trace_event
	    *forced; /* READY events that belong behind the call under way */
	size_t forced_count, forced_capacity;
	uint32_t *event_counts; /* by block: events outstanding */
	size_t count_capacity;
	uint32_t pool; /* of the capture under way, 0 if none */
	uint64_t lost; /* frees of unknown addresses */
};

/** Begin a trace.  @param trace  zeroed here; settings, device and budget are the caller's to set
 */
void ga_alloc_trace_begin(struct ga_alloc_trace_builder *builder, struct ga_alloc_trace *trace);

/**
 * A block was handed out, or (address 0) out of memory was reported.  The calls that the allocator
 * made inside (queries, driver calls) come before.
 *
 * @param request  bytes
 * @param stream   handle
 */
void ga_alloc_trace_alloc(
    struct ga_alloc_trace_builder *builder, uint64_t request, uint64_t stream, uint64_t address);

/** The program freed the block at an address; the events recorded for it come before. */
void ga_alloc_trace_free(struct ga_alloc_trace_builder *builder, uint64_t address);

/** The allocator recorded a CUDA event (on a stream that used the block freed next). */
void ga_alloc_trace_event_record(
    struct ga_alloc_trace_builder *builder, uint64_t cuda_event, uint64_t stream);

/** A query found an event done, or (`forced`) the allocator waited for it. */
void ga_alloc_trace_event_done(
    struct ga_alloc_trace_builder *builder, uint64_t cuda_event, bool forced);

/** A driver allocation of the allocator; address 0 = refused. */
void ga_alloc_trace_segment(
    struct ga_alloc_trace_builder *builder, uint64_t size, uint64_t address);

/** A reservation of address space by the allocator. */
void ga_alloc_trace_reservation(
    struct ga_alloc_trace_builder *builder, uint64_t size, uint64_t address);

/** A mapping of pages of an expandable segment: whether it was granted. */
void ga_alloc_trace_map(struct ga_alloc_trace_builder *builder, uint64_t size, bool granted);

/** A capture into pool `pool` (not 0) began; allocations from now on come from it. */
void ga_alloc_trace_capture_begin(struct ga_alloc_trace_builder *builder, uint32_t pool);

/** An event without block: EMPTY_CACHE, FRACTION, CAPTURE_END, POOL_RELEASE, SYNCHRONIZE. */
void ga_alloc_trace_mark(struct ga_alloc_trace_builder *builder, enum ga_alloc_trace_kind kind,
    uint64_t value, uint32_t pool);

/** Settings changed at run time.  @param text  copied */
void ga_alloc_trace_settings(struct ga_alloc_trace_builder *builder, const char *text);

/** Forget the builder; the trace stays. */
void ga_alloc_trace_end(struct ga_alloc_trace_builder *builder);

/** Free what a trace owns. */
void ga_alloc_trace_clear(struct ga_alloc_trace *trace);

#endif
