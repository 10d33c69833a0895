/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_rounding.h"

#define FIRST_BUCKET 20 /* log2 of 1 MiB: smaller requests share the first bucket */

uint64_t ga_round_request(const struct ga_allocator_settings *settings, uint64_t request)
{
	if (request < GA_GRANULE_BYTES)
		return GA_GRANULE_BYTES;
	int log = 63 - __builtin_clzll(request), bucket = log - FIRST_BUCKET;
	bucket = bucket < 0 ? 0 : bucket >= GA_ROUNDUP_BUCKETS ? GA_ROUNDUP_BUCKETS - 1 : bucket;
	uint64_t divisions = settings->divisions[bucket];
	if (divisions < 2 || request <= GA_GRANULE_BYTES * divisions ||
	    request > settings->roundup_bypass_bytes)
		return ga_round_plain(request);
	uint64_t step = (UINT64_C(1) << log) / divisions;
	return (request + step - 1) & ~(step - 1); /* a power of two stays what it is */
}

uint64_t ga_round_segment(const struct ga_allocator_settings *settings, uint64_t block_bytes)
{
	if (block_bytes <= GA_SMALL_BYTES)
		return GA_SMALL_SEGMENT_BYTES;
	if (block_bytes < GA_LARGE_ALLOC_BYTES)
		return settings->large_segment_bytes;
	return (block_bytes + 2 * GA_MIB - 1) & ~(2 * GA_MIB - 1);
}
