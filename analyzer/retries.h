/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a request to the caching allocator took a retry, which is what PyTorch's
 * num_alloc_retries counts: an attempt after the allocator has given its whole cache back.
 *
 * The recording has the driver's calls within the request, no attempts.  Each attempt fails by a
 * refused call, or without any where a memory fraction forbids it; between attempts cached memory
 * goes back. Three things give memory back: garbage collection before the first attempt (with a
 * fraction and a threshold); with a split limit, just enough large blocks before the second one;
 * and the retry.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_RETRIES_H
#define GA_RETRIES_H

#include "analyzer/allocator_settings.h"

enum ga_retried { GA_RETRIED_NO, GA_RETRIED_YES, GA_RETRIED_UNKNOWN };

/* What was seen within one request. */
struct ga_attempts {
	uint32_t refused_count;	   /* calls that the driver refused */
	uint64_t refused_bytes;	   /* of the last one */
	uint64_t early_bytes;	   /* given back before the first refusal */
	uint64_t early_reserved;   /* held from the driver when that began */
	uint64_t freed_bytes;	   /* given back since the first refusal or, without one, at all */
	uint64_t last_freed_bytes; /* by the last of these calls */
};

struct ga_attempt_request {
	uint64_t block_bytes;	/* rounded request, or the least that it can be */
	uint64_t segment_bytes; /* what is asked of the driver for it */
	uint64_t allowed_bytes; /* by a memory fraction; UINT64_MAX: none is known */
	bool failed;		/* out of memory was reported; else the block was handed out */
	bool
	    several_streams; /* the program uses more than one: a retry may look like just enough */
};

/** A driver call of the allocator was refused. */
void ga_attempts_refused(struct ga_attempts *attempts, uint64_t bytes);

/** The allocator gave memory back.  @param reserved  what it held before */
void ga_attempts_freed(struct ga_attempts *attempts, uint64_t bytes, uint64_t reserved);

/** Whether anything was seen: a request that got its block at once leaves nothing. */
static inline bool ga_attempts_any(const struct ga_attempts *attempts)
{
	return attempts->refused_count || attempts->freed_bytes;
}

/** The request ended. */
enum ga_retried ga_attempts_judge(const struct ga_attempts *attempts,
    const struct ga_allocator_settings *settings, const struct ga_attempt_request *request);

#endif
