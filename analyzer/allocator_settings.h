/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Settings of PyTorch's CUDA caching allocator (PYTORCH_CUDA_ALLOC_CONF, PYTORCH_ALLOC_CONF) as the
 * release that reads them understands them: names, limits, defaults, and what a change at run time
 * keeps.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_ALLOCATOR_SETTINGS_H
#define GA_ALLOCATOR_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/status.h"

/* Variables that settings are read from: the first one by every release, and it wins. */
#define GA_FIRST_VARIABLE "PYTORCH_CUDA_ALLOC_CONF"
#define GA_SECOND_VARIABLE "PYTORCH_ALLOC_CONF"
#define GA_TORCH_SECOND_VARIABLE GA_TORCH(2, 10) /* from here on the second one is read, too */

#define GA_MIB (UINT64_C(1) << 20)
#define GA_ROUNDUP_BUCKETS 16 /* 1 MiB, 2 MiB, ... 32 GiB and above, by floor(log2 size) */

/* A release of PyTorch as one number that sorts: GA_TORCH(2, 6) < GA_TORCH(2, 15). */
#define GA_TORCH(major, minor) ((major)*1000 + (minor))
#define GA_TORCH_NEWEST GA_TORCH(2, 15) /* what an unknown release is taken for */
#define GA_TORCH_LATER GA_TORCH(999, 0) /* has options that no release up to the newest has */

/* What decides between two free blocks of one size and stream. */
enum ga_tie {
	GA_TIE_ADDRESS, /* up to 2.11: the lower address */
	GA_TIE_RECORD,	/* 2.12: the older block record */
	GA_TIE_SEGMENT, /* from 2.13: the older segment, then the lower address */
};

/* Everything that the policy depends on.  Sizes in bytes. */
struct ga_allocator_settings {
	int torch;				/* GA_TORCH(...) */
	enum ga_tie tie;			/* by release */
	bool expandable;			/* expandable_segments */
	bool drops_short_reservation;		/* by release, from 2.15 */
	bool whole_is_no_limit;			/* by release, from 2.10: a fraction of 1 is none */
	bool driver_pool;			/* backend:cudaMallocAsync: nothing here applies */
	uint64_t max_split_bytes;		/* UINT64_MAX: no limit */
	uint64_t slack_bytes;			/* max_non_split_rounding_mb */
	bool slack_is_set;			/* else it follows large_segment_bytes */
	double gc_threshold;			/* 0: off */
	uint32_t divisions[GA_ROUNDUP_BUCKETS]; /* roundup_power2_divisions; 0, 1: off */
	uint64_t roundup_bypass_bytes;		/* 1.13: larger requests are not rounded up */
	uint64_t large_segment_bytes;		/* segment of a request of 1 MiB to 10 MiB */
	uint64_t small_page_bytes, large_page_bytes; /* expandable pages */
	double fraction;	 /* per_process_memory_fraction; negative: not set */
	double reserve_fraction; /* expandable reservation / device memory */
	uint64_t reserve_bytes;	 /* the same as a size; 0: reserve_fraction counts */
};

/**
 * Number of a release.
 *
 * @param text  "2.6.0+cu124", "2.15.0a0+git12"; may be NULL
 * @return GA_TORCH(major, minor); GA_TORCH_NEWEST if the text names none
 */
int ga_torch_number(const char *text);

/**
 * The next NAME:VALUE of a settings text, split as PyTorch splits it: blanks vanish, a list in
 * brackets is one value.  What is no such pair is passed over.
 *
 * @param at         where to go on; moved behind the pair
 * @param name_out   free() it; set only if there is a pair
 * @param value_out  likewise
 * @return whether there is one
 */
bool ga_allocator_setting_next(const char **at, char **name_out, char **value_out);

/** Defaults of a release.  @param torch  GA_TORCH(...) */
void ga_allocator_settings_default(int torch, struct ga_allocator_settings *settings_out);

/**
 * Read the text that the environment gave at start.
 *
 * @param torch         release that reads it
 * @param text          "max_split_size_mb:128,expandable_segments:True"; NULL or "": defaults
 * @param settings_out  set only on success
 * @param error         may be NULL; says which option is wrong or which release first knows it
 * @return GF_OK; GF_USAGE for an option that this release refuses
 */
enum gf_status ga_allocator_settings_parse(int torch, const char *text,
    struct ga_allocator_settings *settings_out, struct gf_error *error);

/**
 * Apply a text set at run time: the split limit, the round-up divisions and the collection
 * threshold fall back to their defaults unless it names them, the rest keeps its value.
 *
 * @param settings  changed only on success
 */
enum gf_status ga_allocator_settings_change(
    struct ga_allocator_settings *settings, const char *text, struct gf_error *error);

#endif
