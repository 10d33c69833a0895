/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts of events by the rules of `gpushim info`: successful driver calls, copies and memsets of
 * more than 0 bytes, captured launches included.
 *
 * Threads: one at a time.
 */
#ifndef GA_COUNTS_H
#define GA_COUNTS_H

#include "analyzer/blocks.h"
#include "analyzer/model.h"

/* N(name): members of ga_counts and of JSON `events`, in order.  NOT_RECORDED(name): no record type
 * has them yet, so their number is not known: null in JSON. */
#define GA_COUNT_NAMES(N, NOT_RECORDED) \
	N(block_alloc) \
	N(block_free) \
	N(segment_alloc) \
	N(segment_free) \
	N(segment_map) N(segment_unmap) N(copy) N(memset) N(launch) NOT_RECORDED(kernel) \
	    N(graph_launch) \
	    N(synchronization) N(oom) N(other) N(total)

struct ga_counts {
#define N(name) uint64_t name;
#define NOT_RECORDED(name)
	GA_COUNT_NAMES(N, NOT_RECORDED)
#undef NOT_RECORDED
#undef N
	uint64_t copy_bytes;
};

/**
 * Count the events of a recording.
 *
 * @param memory  analysis of the same model: gives the counts of blocks and segments
 * @return GF_OK also for damaged traces; GF_NO_MEMORY
 *
 * Cost: decodes every frame with events once.
 */
enum gf_status ga_counts_collect(struct ga_model *model, const struct ga_memory *memory,
    struct ga_counts *counts_out, struct gf_error *error);

/** Write them as the object `events`. */
void ga_counts_json(const struct ga_counts *counts, struct ga_json *json);

#endif
