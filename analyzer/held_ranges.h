/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The address ranges that a recorded allocator holds: segments and reservations, with the private
 * pool that they were made for.
 *
 * Threads: one at a time.
 */
#ifndef GA_HELD_RANGES_H
#define GA_HELD_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ga_held_range {
	uint64_t address, size;
	uint32_t pool;	     /* 0: the default pool, or not known */
	bool is_reservation; /* of address space; else a segment */
	bool is_fresh;	     /* no block of it was seen: whose it is, is not known yet */
};

/* Zero-initialise. */
struct ga_held_ranges {
	struct ga_held_range *items; /* by address */
	size_t count, capacity;
};

/** Add a range; one that begins at the same address is replaced.  Cost: O(ranges). */
void ga_held_ranges_add(struct ga_held_ranges *ranges, const struct ga_held_range *range);

/** The range that holds an address, NULL if none does; valid until ranges change. */
struct ga_held_range *ga_held_ranges_find(const struct ga_held_ranges *ranges, uint64_t address);

/** Remove a range that ga_held_ranges_find returned. */
void ga_held_ranges_remove(struct ga_held_ranges *ranges, struct ga_held_range *range);

/** Free its memory. */
void ga_held_ranges_clear(struct ga_held_ranges *ranges);

#endif
