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

/* N(name, class): members of ga_counts and of JSON `events`, in order, and the class of
 * GPUSHIM_RECORD that has them.  NOT_RECORDED(name): no record type has them yet.  Numbers that are
 * not recorded are not known: null in JSON. */
#define GA_COUNT_NAMES(N, NOT_RECORDED) \
	N(block_alloc, "memory") \
	N(block_free, "memory") \
	N(segment_alloc, "memory") \
	N(segment_free, "memory") \
	N(segment_map, "memory") \
	N(segment_unmap, "memory") \
	N(copy, "copies") \
	N(memset, "copies") \
	N(launch, "kernels") \
	NOT_RECORDED(kernel) \
	N(graph_launch, "kernels") \
	N(synchronization, "api") \
	N(oom, "memory") \
	N(other, NULL) \
	N(total, NULL)

struct ga_counts {
#define N(name, class) uint64_t name;
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

/** Whether a count is known.  @param class_name  of GA_COUNT_NAMES */
static inline bool ga_count_known(const struct ga_model *model, const char *class_name)
{
	return !class_name || ga_model_records(model, class_name);
}

/** Write them as the object `events`. */
void ga_counts_json(
    const struct ga_counts *counts, const struct ga_model *model, struct ga_json *json);

#endif
