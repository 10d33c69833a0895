/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a requested size to the size of the block and of the segment behind it, as PyTorch's CUDA
 * caching allocator computes them.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_ALLOCATOR_ROUNDING_H
#define GA_ALLOCATOR_ROUNDING_H

#include <stdint.h>

#include "analyzer/allocator_settings.h"

#define GA_GRANULE_BYTES UINT64_C(512)	    /* granularity and least size of a block */
#define GA_SMALL_BYTES GA_MIB		    /* up to here a block lives in the small pool */
#define GA_SMALL_SEGMENT_BYTES (2 * GA_MIB) /* segment of the small pool */
#define GA_LARGE_ALLOC_BYTES (10 * GA_MIB)  /* from here a segment is made to measure */

/** Next multiple of 512 bytes, at least 512. */
static inline uint64_t ga_round_plain(uint64_t request)
{
	return request < GA_GRANULE_BYTES
		   ? GA_GRANULE_BYTES
		   : (request + GA_GRANULE_BYTES - 1) & ~(GA_GRANULE_BYTES - 1);
}

/**
 * Size of the block that serves a request; a block handed out unsplit may be larger.
 *
 * @param request  bytes, at most 2^62
 * @return bytes, at least 512; a multiple of 512
 */
uint64_t ga_round_request(const struct ga_allocator_settings *settings, uint64_t request);

/**
 * Size of the segment that would be asked of the driver, which is also what an out-of-memory
 * message names as "Tried to allocate".
 *
 * @param block_bytes  what ga_round_request returned
 */
uint64_t ga_round_segment(const struct ga_allocator_settings *settings, uint64_t block_bytes);

#endif
