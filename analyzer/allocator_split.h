/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the reserved bytes of a model are at this moment.
 *
 * Threads: any, while nobody changes the model.
 */
#ifndef GA_ALLOCATOR_SPLIT_H
#define GA_ALLOCATOR_SPLIT_H

#include "analyzer/allocator_model.h"

/* Reserved bytes = the sum of these five, at every moment. */
struct ga_reserved_split {
	uint64_t requested;  /* asked for by live blocks */
	uint64_t rounding;   /* added to that by rounding and by blocks handed out unsplit */
	uint64_t pending;    /* freed by the program, waiting for another stream's event */
	uint64_t releasable; /* cached, and the driver could have it back now */
	uint64_t stuck;	     /* cached, but held by what shares its segment or page */
};

/**
 * Split of the reserved bytes.  Releasable are classic segments that are one free block, whole
 * pages within free blocks of expandable ones, and of private pools only those that no graph uses.
 *
 * Cost: O(free blocks).
 */
struct ga_reserved_split ga_allocator_split(const struct ga_allocator *model);

/**
 * Check that the model's records fit together: lists, neighbours, counts.
 *
 * @return NULL, or what is wrong
 */
const char *ga_allocator_check(const struct ga_allocator *model);

#endif
