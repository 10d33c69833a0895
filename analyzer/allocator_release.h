/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocator model: the three ways in which cached memory goes back to the driver.
 *
 * Threads: one model belongs to one thread.
 */
#ifndef GA_ALLOCATOR_RELEASE_H
#define GA_ALLOCATOR_RELEASE_H

#include "analyzer/allocator_state.h"

/** Release old unsplit segments while more is reserved than the threshold allows. */
void ga_alloc_collect(struct ga_allocator *model);

/**
 * With a split limit: release one oversized block of the request's stream that is large enough, or
 * several, from the largest down.
 *
 * @return whether that much was released
 */
bool ga_alloc_release_oversized(struct ga_allocator *model, const struct ga_alloc_request *request);

/** Wait for all events, then release whatever can be released. */
void ga_alloc_release_cached(struct ga_allocator *model);

/** Whether a free block is a whole classic segment. */
bool ga_alloc_is_whole_segment(const struct ga_allocator *model, uint32_t block);

#endif
