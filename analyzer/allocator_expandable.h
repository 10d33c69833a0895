/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Allocator model: expandable segments, which reserve address space once and map memory into it
 * page by page.
 *
 * Threads: one model belongs to one thread.
 */
#ifndef GA_ALLOCATOR_EXPANDABLE_H
#define GA_ALLOCATOR_EXPANDABLE_H

#include "analyzer/allocator_state.h"

/**
 * Map what the request lacks, in the first place where it fits, else in a new reservation.
 *
 * @return a block of at least the rounded size that is in no list; 0 if the driver refused
 */
uint32_t ga_alloc_expand(struct ga_allocator *model, const struct ga_alloc_request *request);

/** Unmap the whole pages within a free block, and drop the reservation once nothing is mapped. */
void ga_alloc_unmap_block(struct ga_allocator *model, uint32_t block);

/** Bytes of the whole pages within a block of an expandable segment. */
uint64_t ga_alloc_whole_pages(
    const struct ga_allocator *model, uint32_t block, uint64_t *start_out);

#endif
