/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refused allocations: which were cured by a retry of the caching allocator, which ended as an
 * out-of-memory error of the program, and which happened outside the allocator.
 *
 * A thread's allocation attempts inside the allocator belong together until a block is handed out
 * (cured) or PyTorch reports an out-of-memory; retries.h tells whether there was a retry among
 * them.
 *
 * Threads: one at a time.
 */
#ifndef GA_REFUSALS_H
#define GA_REFUSALS_H

#include "analyzer/accounts.h"
#include "analyzer/model.h"
#include "analyzer/retries.h"
#include "analyzer/sites.h"

/* Causes, a closed list; the words in JSON are these.  More are told apart as analyses arrive. */
#define GA_VERDICTS(V) \
	V(unknown, "the recording alone does not prove a cause") \
	V(not_device_allocator, \
	    "the refused allocation was made outside PyTorch's caching allocator") \
	V(impossible_request, "more was asked for than the device has in all") \
	V(fraction_limit, "a memory fraction forbade what the device still had")

enum ga_verdict {
#define V(name, words) GA_VERDICT_##name,
	GA_VERDICTS(V)
#undef V
};

/** One out-of-memory.  Bytes are GA_UNKNOWN where the recording does not tell them. */
struct ga_oom {
	uint16_t device; /* GF_DEVICE_UNKNOWN if not known */
	bool outside;	 /* not a request to the caching allocator */
	uint64_t ticks;
	uint32_t thread_id, stack_id;
	uint16_t api, code; /* refused call of the driver and its error; 0 if there was none */
	uint16_t kind;	    /* gf_memory_kind of that call */
	uint64_t requested, rounded, segment;
	uint64_t allocated, reserved, device_free, device_total;
	uint64_t non_torch; /* other device memory of the process then */
	uint64_t allowed;   /* that the memory fraction of the program lets the allocator reserve */
	enum ga_verdict verdict;
	bool cured;	 /* an equal request succeeded later; dropped at the end */
	size_t previous; /* refusal outside the allocator before it on the thread, + 1; 0 = none */
	struct ga_sites top;
};

struct ga_refusals {
	const struct ga_model *model;
	struct ga_map threads;	/* thread -> its row of attempts */
	size_t open_rows;	/* threads whose row has a refusal or a release */
	size_t open_trims;	/* threads that trimmed a pool after a refusal and did not ask again */
	size_t open_outside;	/* threads with a refusal outside the allocator that may be cured */
	uint64_t first_stream;	/* that of the first block */
	bool any_stream, several_streams; /* blocks were handed out on one, on more than one */
	bool flags_seen;	/* the recorder tells calls inside the allocator */
	struct ga_allocator_settings settings;
	double fractions[GA_DEVICE_LIMIT]; /* of memory, in force now; negative: none is known */
	struct ga_oom *ooms;	/* in order of time */
	size_t count, capacity;
};

void ga_refusals_init(struct ga_refusals *refusals, const struct ga_model *model);
void ga_refusals_free(struct ga_refusals *refusals);

/**
 * A call of the driver that allocates, refused or not.
 *
 * @param block  whether the call is itself how the program gets blocks (async back end, no caching)
 * @return the out-of-memory that this call shows at once, NULL if none; its `allocated`,
 *         `reserved` and `top` are the caller's to fill; valid until the next call
 */
struct ga_oom *ga_refusals_call(struct ga_refusals *refusals, const struct gf_memory *record,
    uint32_t thread_id, uint64_t ticks, bool block);

/** What the driver said of free and total memory. */
void ga_refusals_mem_info(
    struct ga_refusals *refusals, const struct gf_mem_info *record, uint32_t thread_id);

/** The caching allocator, asked for a block, freed a segment on this thread.  @param reserved
 * before */
void ga_refusals_freed(
    struct ga_refusals *refusals, uint32_t thread_id, uint64_t bytes, uint64_t reserved);

/** A mark; those of memory fractions are kept. */
void ga_refusals_fraction(struct ga_refusals *refusals, const struct gf_mark *mark);

/** Cold half of ga_refusals_block. */
enum ga_retried ga_refusals_close_row(
    struct ga_refusals *refusals, uint32_t thread_id, const struct gf_block *block);

/** A block was handed out on a stream, PyTorch's id. */
static inline void ga_refusals_stream(struct ga_refusals *refusals, uint64_t stream)
{
	if (!refusals->any_stream)
		refusals->first_stream = stream;
	refusals->any_stream = true;
	refusals->several_streams |= stream != refusals->first_stream;
}

/** A block was handed out on this thread.  @return whether a retry cured refusals */
static inline enum ga_retried ga_refusals_block(
    struct ga_refusals *refusals, uint32_t thread_id, const struct gf_event_ref *event)
{
	struct gf_block block;
	if (!refusals->open_rows)
		return GA_RETRIED_NO;
	gf_get_block(event->batch, event->row, &block);
	return ga_refusals_close_row(refusals, thread_id, &block);
}

/** PyTorch gave up.  @return the new entry, `top` for the caller to fill; *retried_out as above */
struct ga_oom *ga_refusals_oom(struct ga_refusals *refusals, const struct gf_oom *record,
    uint32_t thread_id, uint64_t ticks, enum ga_retried *retried_out);

/** The recording ended: refusals outside the allocator that nothing cured become entries. */
void ga_refusals_end(struct ga_refusals *refusals);

/** Whether page-locked host memory was asked for. */
static inline bool ga_oom_is_host(const struct ga_oom *oom)
{
	return oom->kind == GF_MEMORY_HOST_ALLOC || oom->kind == GF_MEMORY_HOST_REGISTER;
}

/**
 * Memory of the device that is neither free nor in the recording: the driver's own, other
 * processes'.
 *
 * @return GA_UNKNOWN if a part of the sum is
 */
uint64_t ga_oom_unseen(const struct ga_oom *oom);

const char *ga_verdict_name(enum ga_verdict verdict);
const char *ga_verdict_words(enum ga_verdict verdict);

#endif
