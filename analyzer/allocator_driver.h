/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver under the allocator model: what it grants and at which addresses.  It answers from a
 * recording, as far as that goes, or by itself from a budget with fresh addresses.
 *
 * Threads: one model belongs to one thread.
 */
#ifndef GA_ALLOCATOR_DRIVER_H
#define GA_ALLOCATOR_DRIVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GA_ALLOC_DRIVER_MOST \
	(UINT64_C(1) << 40) /* larger pieces are refused: no device has them \
			     */

/* Where fresh addresses come from. */
enum ga_address_order {
	GA_ADDRESS_UP,	     /* each above the one before */
	GA_ADDRESS_DOWN,     /* each below */
	GA_ADDRESS_SHUFFLED, /* in no order, the same for the same seed */
};

/* One recorded answer; address 0 = refused. */
struct ga_alloc_driver_answer {
	uint64_t size, address;
};

struct ga_alloc_driver {
	uint64_t budget_bytes; /* device memory that this allocator can have at most */
	uint64_t used_bytes;
	const struct ga_alloc_driver_answer
	    *segments; /* recorded answers in order; borrowed; may be NULL */
	size_t segment_count, segment_next;
	const struct ga_alloc_driver_answer *reservations;
	size_t reservation_count, reservation_next;
	const struct ga_alloc_driver_answer
	    *maps;		    /* of mappings: 0 as address = refused, whatever size */
	size_t map_count, map_next; /* without any the budget decides */
	uint64_t next_address; /* of fresh answers: lowest not given, or end of the lowest given */
	uint32_t fresh_count, seed;
	enum ga_address_order order;
};

/**
 * A driver without recording.
 *
 * @param budget_bytes  device memory it grants
 * @param seed          of shuffled addresses; those are distinct for the first 2^24 calls
 */
void ga_alloc_driver_fresh(struct ga_alloc_driver *driver, uint64_t budget_bytes,
    enum ga_address_order order, uint32_t seed);

/** cudaMalloc.  @return false if it refuses; the address is then not set */
bool ga_alloc_driver_allocate(struct ga_alloc_driver *driver, uint64_t size, uint64_t *address_out);

/** Reservation of address space; never refused.  @return its address */
uint64_t ga_alloc_driver_reserve(struct ga_alloc_driver *driver, uint64_t size);

/** Memory for expandable pages.  @return false, and nothing taken, if not all can be had */
bool ga_alloc_driver_map(struct ga_alloc_driver *driver, uint64_t size);

/** Memory given back by cudaFree or by unmapping. */
void ga_alloc_driver_release(struct ga_alloc_driver *driver, uint64_t size);

/** What cudaMemGetInfo would name as free. */
uint64_t ga_alloc_driver_free_bytes(const struct ga_alloc_driver *driver);

#endif
