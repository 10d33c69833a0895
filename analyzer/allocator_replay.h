/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay a trace of allocator calls through the model: with the recorded settings and driver
 * answers to see whether the model is right about this program (fidelity), or with others to see
 * what would have happened (counterfactual).
 *
 * Threads: any number of replays of one trace at once; a replay belongs to one thread.
 */
#ifndef GA_ALLOCATOR_REPLAY_H
#define GA_ALLOCATOR_REPLAY_H

#include "analyzer/allocator_trace.h"

/* When blocks that other streams used become free in a counterfactual. */
enum ga_ready_rule {
	GA_READY_RECORDED, /* where it was seen */
	GA_READY_NATURAL,  /* the same, but what only a wait forced comes with the next one seen on
			      that stream without force */
	GA_READY_AT_ONCE,  /* at the free: nothing ever waits */
	GA_READY_LATE, /* at the next synchronization of the program, or a release of the cache */
};

struct ga_replay_options {
	const struct ga_allocator_settings *settings; /* NULL: the recorded ones, and its changes */
	uint64_t budget_bytes;			      /* 0: the recorded one */
	uint64_t device_bytes;			      /* 0: the recorded one */
	double fraction;			      /* > 0: set before the first event */
	enum ga_ready_rule ready;
	bool recorded_driver;	     /* answers of the recorded driver, as far as they go */
	enum ga_address_order order; /* of fresh addresses */
	uint32_t seed;		     /* if they are shuffled */
	bool with_troubles;	     /* note them: costs a walk over the free blocks for each */
	bool stop_when_parted; /* end behind the first allocation that fails in only one of replay
				  and recording: the program's future is not known then */
	ga_history_sink *sink; /* NULL: no history */
	void *sink_self;
};

/* An allocation that the driver or the memory fraction did not grant at first. */
struct ga_trouble {
	uint64_t event;		/* index in the trace */
	uint64_t segment_bytes; /* what was asked for */
	uint64_t stuck_bytes;	/* cached then, and of no use */
	bool failed;		/* out of memory; else the retry helped */
};

/* A replay under way. */
struct ga_replay {
	const struct ga_alloc_trace *trace;
	struct ga_replay_options options;
	struct ga_alloc_driver driver;
	struct ga_allocator *model;
	uint32_t *blocks;			/* trace's block -> model's block, 0: none */
	size_t next;				/* index of the event that comes next */
	uint32_t pool;				/* of the capture under way */
	struct ga_allocator_settings settings;	/* as changed so far */
	struct ga_alloc_trace_event *postponed; /* READY events held back */
	size_t postponed_count, postponed_capacity;
	uint64_t first_oom;	     /* index of the event, UINT64_MAX: none */
	uint64_t parted_at;	     /* where it stopped by stop_when_parted, UINT64_MAX: nowhere */
	struct ga_trouble *troubles; /* in order */
	size_t trouble_count, trouble_capacity;
	const struct ga_allocator_counts *counts; /* of the model */
	uint64_t retries;			  /* of them, those noted as troubles */
};

/* What a whole replay comes to.  Zero-initialise, ga_replay_result_clear it. */
struct ga_replay_result {
	struct ga_allocator_counts counts;
	uint64_t first_oom;	     /* index of the event, UINT64_MAX: none */
	uint64_t parted_at;	     /* where stop_when_parted ended it, UINT64_MAX: nowhere */
	struct ga_trouble *troubles; /* in order; NULL without with_troubles */
	size_t trouble_count;
};

/** Begin.  @param trace, options->settings  borrowed until the end */
void ga_replay_begin(struct ga_replay *replay, const struct ga_alloc_trace *trace,
    const struct ga_replay_options *options);

/**
 * Play events up to, not including, index `until`.
 *
 * @return whether there are events left; false too where stop_when_parted ends the replay
 */
bool ga_replay_run(struct ga_replay *replay, size_t until);

/** Free what the replay owns.  @param result_out  may be NULL */
void ga_replay_end(struct ga_replay *replay, struct ga_replay_result *result_out);

/** Free what a result owns. */
void ga_replay_result_clear(struct ga_replay_result *result);

/** Begin, run and end. */
void ga_replay_whole(const struct ga_alloc_trace *trace, const struct ga_replay_options *options,
    struct ga_replay_result *result_out);

/** Order of fresh addresses that is like the recorded segments': up or down. */
enum ga_address_order ga_alloc_trace_order(const struct ga_alloc_trace *trace);

/* Comparison of a replay with what was recorded. */
struct ga_fidelity {
	uint64_t segments, segments_matched; /* matched: before the first mismatch */
	uint64_t blocks, blocks_matched;     /* blocks with a recorded address */
	uint64_t first_mismatch;	     /* index among the segment events, UINT64_MAX: none */
	struct ga_history_entry recorded, replayed; /* the two that differ */
	struct ga_allocator_counts counts;	    /* of the whole replay */
};

/**
 * Replay with the recorded settings and driver answers, and compare.
 *
 * @param segments  recorded segment events (alloc, free, map, unmap) in order; stream may be
 *                  UINT64_MAX where it is not known
 */
void ga_replay_verify(const struct ga_alloc_trace *trace, const struct ga_history_entry *segments,
    size_t segment_count, struct ga_fidelity *fidelity_out);

#endif
