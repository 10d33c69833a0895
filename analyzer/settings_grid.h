/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What other allocator settings would have made of the same program: a grid of replays.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_SETTINGS_GRID_H
#define GA_SETTINGS_GRID_H

#include "analyzer/allocator_replay.h"

/* A limit that only serves to switch garbage collection on.  Less than the driver keeps for itself
 * is out of reach then; a fraction of 1 is no limit from PyTorch 2.10 on and switches nothing on.
 */
#define GA_GRID_FRACTION 0.999
#define GA_GRID_FRACTION_TEXT "per_process_memory_fraction:0.999,"

/* The fixed part of the grid: R(text); the recorded settings are always in it. */
#define GA_GRID_SETTINGS(R) \
	R("") \
	R("expandable_segments:True") \
	R("expandable_segments:True,expandable_segments_page_size:2") \
	R("expandable_segments:True,large_segment_size_mb:12") \
	R("max_split_size_mb:32") \
	R("max_split_size_mb:64") \
	R("max_split_size_mb:128") \
	R("max_split_size_mb:256") \
	R("max_split_size_mb:512") \
	R("roundup_power2_divisions:2") \
	R("roundup_power2_divisions:4") \
	R("roundup_power2_divisions:8") \
	R(GA_GRID_FRACTION_TEXT "garbage_collection_threshold:0.6") \
	R(GA_GRID_FRACTION_TEXT "garbage_collection_threshold:0.8") \
	R("large_segment_size_mb:12") \
	R("large_segment_size_mb:20") \
	R("large_segment_size_mb:40")

struct ga_grid_options {
	uint64_t budget_bytes; /* 0: the recorded one */
	uint64_t device_bytes; /* 0: the recorded one */
	const size_t *borders; /* events before which the cache is emptied in one row of the */
	size_t border_count;   /* grid: step borders; rising; 0: no such row */
	uint64_t preallocate;  /* bytes allocated and freed at start in one row; 0: no such row */
	const char *recorded;  /* text of the recorded settings, which get no second row; or NULL */
	bool with_ranges;      /* replay more often where the result is a range */
	bool no_limit;	       /* the device's size is not known: no row that depends on it */
};

/* One setting. */
struct ga_grid_row {
	char text[128]; /* as in PYTORCH_CUDA_ALLOC_CONF; or preallocate:BYTES, empty_cache:steps */
	int needs_torch; /* first release that has it, perhaps GA_TORCH_LATER; 0: the recorded one
			  */
	double fraction; /* > 0: works only with torch.cuda.set_per_process_memory_fraction(this) */
	bool is_recorded; /* the settings of the recording */
	bool in_program;  /* no setting: the program would have to do it */
	uint64_t peak_reserved;
	uint64_t low,
	    high; /* of the peak, where the recording leaves it open; else both equal to it */
	uint64_t device_calls, retries, ooms;
	uint64_t parted_at; /* event that failed here but not when recorded, or only then; what the
			       program would have done after it is not known; UINT64_MAX: none */
	bool new_failure;   /* it failed here */
	bool is_whole; /* nothing was allocated after parted_at: the figures are the program's */
	struct ga_trouble *troubles;
	size_t trouble_count;
};

struct ga_grid {
	struct ga_grid_row *rows; /* in the order of the table, the recorded settings first */
	size_t count, capacity;
};

/**
 * Replay the grid.  Rows stop behind the first failure that is not in both recording and replay.
 *
 * @param grid_out  ga_grid_clear it
 *
 * Cost: some 20 replays, with ranges up to 9 times as many.
 */
void ga_grid_replay(const struct ga_alloc_trace *trace, const struct ga_grid_options *options,
    struct ga_grid *grid_out);

/**
 * One row for any settings text, as for `whatif --set`.
 *
 * @param text  settings; of a release that lacks an option the next one that has it is taken
 * @return GF_OK; GF_USAGE if no release takes the text
 */
enum gf_status ga_grid_try(const struct ga_alloc_trace *trace,
    const struct ga_grid_options *options, const char *text, struct ga_grid_row *row_out,
    struct gf_error *error);

/** Free what a grid owns. */
void ga_grid_clear(struct ga_grid *grid);

/** Whether a row's figures are the program's; its future behind another outcome is not known. */
static inline bool ga_grid_row_known(const struct ga_grid_row *row)
{
	return row->is_whole && !row->new_failure;
}

/** Row with the lowest peak among those whose figures are known; NULL if there is none. */
const struct ga_grid_row *ga_grid_best(const struct ga_grid *grid);

#endif
