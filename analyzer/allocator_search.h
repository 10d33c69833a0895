/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocator model: which free block serves a request, and whether its rest is split off.
 *
 * Threads: one model belongs to one thread.
 */
#ifndef GA_ALLOCATOR_SEARCH_H
#define GA_ALLOCATOR_SEARCH_H

#include "analyzer/allocator_state.h"

/**
 * Best fit among the free blocks of the request's queue; the block found leaves its list.
 *
 * @return 0 if none serves.   Cost: O(log free blocks), and the descent among expandable ones
 */
uint32_t ga_alloc_search(struct ga_allocator *model, const struct ga_alloc_request *request);

/** Whether the rest of `block` goes back to the free blocks when the request is cut off it. */
bool ga_alloc_splits(
    const struct ga_allocator *model, const struct ga_alloc_request *request, uint32_t block);

#endif
