/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the reserved memory of a device went, and how much of it any change could have given back.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_FRAGMENTATION_H
#define GA_FRAGMENTATION_H

#include "analyzer/allocator_split.h"
#include "analyzer/packing.h"
#include "analyzer/settings_grid.h"

struct ga_fragmentation_options {
	struct ga_grid_options grid; /* preallocate is set to the lower bound if 0 */
	size_t packing_blocks;	     /* blocks around the peak that are packed; 0: a default */
};

struct ga_fragmentation {
	uint64_t peak_reserved;
	struct ga_reserved_split at_peak; /* after the event that first reached it; the parts add
					     up to peak_reserved */
	uint64_t lower_bound;		  /* live and waiting bytes at their highest, at 512 bytes
					     granularity: no allocator that leaves blocks in place
					     needs less */
	uint64_t packing;	/* with the future known; 0: not found in the time given */
	bool packing_is_window; /* only blocks around the peak of the load were packed */
	uint64_t harm;		/* bytes that a setting would have made usable when the
				   driver had refused, at most what was asked for */
	uint64_t retries, ooms;
	struct ga_fidelity fidelity;
	struct ga_grid grid; /* no rows if the replay does not match the recording */
};

/**
 * Measure one device.
 *
 * @param segments  recorded segment events, as for ga_replay_verify
 * @param out       ga_fragmentation_clear it
 *
 * Cost: some 25 replays of the trace, and the packing.
 */
void ga_fragmentation_measure(const struct ga_alloc_trace *trace,
    const struct ga_history_entry *segments, size_t segment_count,
    const struct ga_fragmentation_options *options, struct ga_fragmentation *out);

/** Free what a result owns. */
void ga_fragmentation_clear(struct ga_fragmentation *fragmentation);

/**
 * Lifetimes of the blocks of a trace at 512-byte granularity, for ga_pack: all, or those alive in
 * the window around the highest load that holds `blocks_max` of them.
 *
 * @param lifetimes_out  free() it
 * @param whole_out      whether these are all
 * @return how many
 */
size_t ga_alloc_trace_lifetimes(const struct ga_alloc_trace *trace, size_t blocks_max,
    struct ga_lifetime **lifetimes_out, bool *whole_out);

#endif
