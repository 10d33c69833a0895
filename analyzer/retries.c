/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/retries.h"

void ga_attempts_refused(struct ga_attempts *attempts, uint64_t bytes)
{
	if (!attempts->refused_count++) {
		attempts->early_bytes = attempts->freed_bytes;
		attempts->freed_bytes = attempts->last_freed_bytes = 0;
	}
	attempts->refused_bytes = bytes;
}

void ga_attempts_freed(struct ga_attempts *attempts, uint64_t bytes, uint64_t reserved)
{
	if (!ga_attempts_any(attempts))
		attempts->early_reserved = reserved;
	attempts->freed_bytes += bytes;
	attempts->last_freed_bytes = bytes;
}

/* Whether the fraction refused the first attempt: only then memory goes back before the driver is
 * asked, unless it was collected. */
static enum ga_retried refused_by_fraction(const struct ga_attempts *attempts,
    const struct ga_allocator_settings *settings, const struct ga_attempt_request *request)
{
	uint64_t early = attempts->refused_count ? attempts->early_bytes : attempts->freed_bytes;
	uint64_t held = attempts->early_reserved, allowed = request->allowed_bytes;
	if (!early)
		return GA_RETRIED_NO;
	if (settings->gc_threshold <= 0)
		return GA_RETRIED_YES;
	if (allowed == UINT64_MAX)
		return GA_RETRIED_UNKNOWN;
	if (held + request->segment_bytes <= allowed)
		return GA_RETRIED_NO; /* all of it was collected */
	return held <= (uint64_t)(settings->gc_threshold * (double)allowed) ? GA_RETRIED_YES
									    : GA_RETRIED_UNKNOWN;
}

/*
 * With a split limit the allocator first gives back only as many large blocks as the request needs;
 * an attempt that succeeds after that is no retry.  None of them is below the limit, and it stops
 * as soon as it has the larger of request and limit; a retry stops at nothing.  But the blocks are
 * those of one stream, and a retry that finds only one large block of another stream frees the
 * same.
 *
 * @return whether what was given back last was given back by a retry
 */
static enum ga_retried freed_by_retry(const struct ga_attempts *attempts,
    const struct ga_allocator_settings *settings, const struct ga_attempt_request *request)
{
	uint64_t limit = settings->max_split_bytes;
	uint64_t needed = request->block_bytes > limit ? request->block_bytes : limit;
	if (limit == UINT64_MAX || attempts->last_freed_bytes < limit ||
	    attempts->freed_bytes < needed ||
	    attempts->freed_bytes - attempts->last_freed_bytes >= needed)
		return GA_RETRIED_YES;
	return request->several_streams ? GA_RETRIED_UNKNOWN : GA_RETRIED_NO;
}

/* Out of memory: both attempts failed, unless a stream capture forbade the second. */
static enum ga_retried judge_failed(const struct ga_attempts *attempts, enum ga_retried by_fraction)
{
	return attempts->refused_count == 1 ? by_fraction : GA_RETRIED_YES;
}

enum ga_retried ga_attempts_judge(const struct ga_attempts *attempts,
    const struct ga_allocator_settings *settings, const struct ga_attempt_request *request)
{
	enum ga_retried by_fraction = refused_by_fraction(attempts, settings, request);
	enum ga_retried by_split = freed_by_retry(attempts, settings, request);
	if (request->failed)
		return judge_failed(attempts, by_fraction);
	if (!attempts->refused_count)
		return by_fraction == GA_RETRIED_YES ? by_split : by_fraction;
	/* What the driver refused after a refusal by the fraction was the second attempt already.
	 */
	if (attempts->refused_count > 1 || by_fraction == GA_RETRIED_YES)
		return GA_RETRIED_YES;
	return by_split == GA_RETRIED_NO ? by_fraction : by_split;
}
