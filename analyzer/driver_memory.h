/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory at the level of the driver: allocations, reserved address ranges, physical memory and its
 * mappings, page-locked host memory.  Tells the segments of PyTorch's caching allocator from other
 * device memory: a segment is an allocation made inside the allocator, or one in whose range the
 * allocator handed out a block.
 *
 * Expandable segments: reserved are the physical bytes mapped in a range of the allocator.  One
 * call that makes a range accessible ends one growth (a map event), adjoining unmappings without
 * anything of the allocator between them are one unmap event, as PyTorch's own history counts them.
 *
 * Threads: one at a time.
 */
#ifndef GA_DRIVER_MEMORY_H
#define GA_DRIVER_MEMORY_H

#include "analyzer/accounts.h"
#include "analyzer/hash_map.h"
#include "formats/records.h"

struct ga_range; /* a reserved address range */

struct ga_driver {
	struct ga_accounts *accounts;
	struct ga_map segments;	 /* address -> allocation of the driver */
	struct ga_map arrays;	 /* handle -> array */
	struct ga_map handles;	 /* handle -> physical memory */
	struct ga_map mappings;	 /* address -> mapped physical memory */
	struct ga_map host;	 /* address -> page-locked host memory */
	struct ga_map undo;	 /* thread -> its last release, should the driver refuse it */
	struct ga_range *ranges; /* by address */
	size_t range_count, range_capacity;
	uint64_t epoch;		/* block events so far: what lies between two unmappings */
	uint64_t dropped_bytes; /* size of what the last call freed, 0 if it freed nothing */
	uint64_t host_bytes, host_peak_bytes;
	uint64_t untracked; /* ranges beyond what can be followed */
};

/** An empty state; `accounts` is borrowed. */
void ga_driver_init(struct ga_driver *driver, struct ga_accounts *accounts);
void ga_driver_free(struct ga_driver *driver);

/**
 * Take one successful driver call into account; failed ones change nothing here.
 *
 * @param thread_id  thread of the trace that called
 * @return the account it changed, NULL if none; the caller notes its new state
 */
struct ga_account *ga_driver_event(
    struct ga_driver *driver, const struct gf_memory *record, uint32_t thread_id);

/**
 * A block was handed out at `address` although its segment is not known as the allocator's: make
 * the allocation or range around it one.
 *
 * @return whether there was one; reserved bytes of `account` have grown then
 *
 * Cost: O(allocations), but only when sums and PyTorch's totals disagree.
 */
bool ga_driver_claim(struct ga_driver *driver, struct ga_account *account, uint64_t address);

/**
 * PyTorch's total of reserved bytes is lower than the sum: with its caching switched off at run
 * time the allocator handed segments of the driver out as they are and does not count them.  Those
 * are the ones since the last block event; they become memory outside the allocator if they explain
 * the difference.
 *
 * @param excess   bytes
 * @param address  of the block that was handed out or given back: its segment is none of them
 *
 * Cost: as ga_driver_claim.
 */
void ga_driver_disclaim(
    struct ga_driver *driver, struct ga_account *account, uint64_t excess, uint64_t address);

#endif
