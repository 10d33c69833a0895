/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The accounting engine that memory, oom, report and info share: one pass over the block and memory
 * records of a trace in time order, with live state only.
 *
 * PyTorch's caching allocator reports each block with its own totals.  We keep our own sums and
 * compare; where they differ PyTorch's totals win and the difference is kept for a notice.
 *
 * Threads: one at a time.   Cost: O(events); memory O(live blocks and allocations).
 */
#ifndef GA_BLOCKS_H
#define GA_BLOCKS_H

#include "analyzer/accounts.h"
#include "analyzer/driver_memory.h"
#include "analyzer/model.h"
#include "analyzer/refusals.h"
#include "analyzer/sites.h"

struct ga_memory {
	struct ga_model *model;
	enum ga_backend backend;
	struct ga_accounts accounts;
	struct ga_driver driver;
	struct ga_map live; /* address -> struct ga_block */
	uint64_t order;	    /* of the last block allocation */
	uint64_t overlaps;  /* blocks handed out where one was still live: a lost free */
	size_t holders;	    /* sites kept of each refusal, 0: none */
	size_t site_room;   /* sites that whole lists may still take */
	uint64_t top_work;  /* slots looked at for the holders of memory at refusals */
	struct ga_account *unnoted; /* has a new segment that is not noted yet, or NULL */
	uint64_t unnoted_ticks;	    /* of that segment */
	uint64_t graph_allocs, graph_bytes; /* captured from the driver's pools into graphs */
	uint64_t unlisted;  /* refusals whose holders would have been too much work */
	struct ga_refusals refusals;
};

/**
 * Go through the whole recording.
 *
 * @param model       open trace; borrowed until ga_memory_free
 * @param memory_out  set only on success
 * @return GF_OK also if the trace is damaged or lossy; GF_NO_MEMORY
 */
enum gf_status ga_memory_analyse(
    struct ga_model *model, struct ga_memory *memory_out, struct gf_error *error);

/**
 * The same with the holders of memory at each refusal (`top` of ga_oom).  Lists are whole up to a
 * million sites of all refusals together.
 *
 * @param holders  largest sites that the lists behind that keep, at least 1
 */
enum gf_status ga_memory_analyse_holders(struct ga_model *model, size_t holders,
    struct ga_memory *memory_out, struct gf_error *error);
void ga_memory_free(struct ga_memory *memory);

/** Next account of a used device behind `device` (-1 to begin); NULL at the end. */
const struct ga_account *ga_memory_next(const struct ga_memory *memory, int device);

/**
 * Who holds the bytes at the peak of a device, largest first; adds up to the peak's allocated bytes
 * if the recording is whole (what is missing then is one site without a stack).
 *
 * @param sites_out  free with ga_sites_free
 */
void ga_memory_peak_sites(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_sites *sites_out);

/** Everything that limits these figures, in sentences. */
void ga_memory_notices(const struct ga_memory *memory, struct ga_strings *notices);

#endif
