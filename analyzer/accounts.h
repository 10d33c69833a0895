/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The running account of each device's memory: what is allocated and reserved now, peaks, counts,
 * course over time, and how far our sums and PyTorch's own totals differ.
 *
 * Threads: one at a time.
 */
#ifndef GA_ACCOUNTS_H
#define GA_ACCOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/timeline.h"

#define GA_DEVICE_LIMIT 256 /* device numbers from here on are damage */

/** A block that is or was handed out; `address` is the key of a ga_map. */
struct ga_block {
	uint64_t address, size_bytes;
	uint64_t order; /* number of its allocation, over all devices, from 1 */
	uint32_t stack_id;
	uint16_t device;
	uint16_t reserved_zero;
};

/** How often and how far our sum differed from PyTorch's total; the total wins each time. */
struct ga_difference {
	uint64_t count, most_bytes, first_ticks;
};

struct ga_account {
	uint16_t device;
	bool totals_known;			 /* block records carry PyTorch's own totals */
	uint64_t allocated, reserved, non_torch; /* now; bytes */

	struct ga_point peak;	       /* first instant of the highest allocated bytes */
	uint64_t peak_order;	       /* last allocation number then */
	uint64_t peak_non_torch;       /* other device memory then */
	struct ga_point peak_reserved; /* first instant of the highest reserved bytes */
	struct ga_block *departed;     /* live at the peak, freed since */
	size_t departed_count, departed_capacity;

	uint64_t alloc_count, free_count;
	uint64_t segment_alloc_count, segment_free_count, segment_map_count, segment_unmap_count;
	uint64_t retry_count, oom_count;
	uint64_t unknown_retries; /* requests of which it is not known whether they took a retry */
	uint64_t unknown_frees; /* frees of addresses that were never seen allocated */
	struct ga_difference allocated_difference, reserved_difference;
	struct ga_timeline *timeline;
};

struct ga_accounts {
	struct ga_account *by_device[GA_DEVICE_LIMIT]; /* NULL: the process did not use it */
	uint64_t first_ticks, last_ticks;	       /* of the recording */
	uint64_t misplaced;			       /* events without a usable device number */
};

/**
 * The account of a device, opened at its first use.
 *
 * @return NULL if the number is no device's; the event is then counted as misplaced
 */
struct ga_account *ga_account_open(struct ga_accounts *accounts, unsigned device);

/** Free all accounts. */
void ga_accounts_free(struct ga_accounts *accounts);

/** Subtract without going below zero: what was lost cannot be given back twice. */
static inline void ga_decrease(uint64_t *bytes, uint64_t by)
{
	*bytes -= by < *bytes ? by : *bytes;
}

/**
 * Note the state after an event: timeline and both peaks.
 *
 * @param order  number of the last block allocation, over all devices
 */
void ga_account_note(struct ga_account *account, uint64_t ticks, uint64_t order);

/** Replace a sum by PyTorch's total if they differ, and remember by how much. */
void ga_account_correct(
    uint64_t *sum, uint64_t total, uint64_t ticks, struct ga_difference *difference);

/** A block was given back: keep it if the peak's list of blocks needs it. */
void ga_account_depart(struct ga_account *account, const struct ga_block *block);

#endif
