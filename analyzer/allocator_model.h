/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A model of PyTorch's CUDA caching allocator for one device: the same calls in the same order give
 * the same blocks at the same addresses, the same segments, retries and refusals.
 *
 * How it works.  Requests are rounded and served by best fit from the free blocks of their pool
 * (small or large, default or private) and stream; else by growing an expandable segment or by a
 * segment from the driver, if need be after giving cached memory back: first old segments when a
 * memory fraction and a collection threshold are set, then one or some oversized blocks of the
 * stream, then everything that can be released.  Blocks that other streams used wait until the
 * caller says that their events are done.
 *
 * Source: the behaviour of c10/cuda/CUDACachingAllocator.cpp, PyTorch 1.13 to 2.15, written down
 * from its recorded histories; the differences between releases are fields of struct
 * ga_allocator_settings.  It differs from PyTorch in this:
 *  - the order of blocks that one call completes together is the caller's;
 *  - a block that other streams used and that is freed during a capture waits from its free on only
 *    if the caller knows so (in a trace its events show up after the capture);
 *  - pools with an allocator of their own (MemPool), free-memory callbacks and overflow pools are
 *    not modelled, nor is backend:cudaMallocAsync;
 *  - releases of several unused private pools happen in order of their ids.
 *
 * It does no input or output, keeps no global state, and allocates memory only to grow.
 * Threads: one model belongs to one thread.
 * Cost: O(log free blocks) per call; O(free blocks) for a release; O(all blocks at once) memory.
 */
#ifndef GA_ALLOCATOR_MODEL_H
#define GA_ALLOCATOR_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/allocator_driver.h"
#include "analyzer/allocator_settings.h"

/* What PyTorch's own history calls its entries. */
#define GA_HISTORY_ACTIONS(A) \
	A(ALLOC, alloc) \
	A(FREE_REQUESTED, free_requested) \
	A(FREE_COMPLETED, free_completed) \
	A(SEGMENT_ALLOC, segment_alloc) \
	A(SEGMENT_FREE, segment_free) \
	A(SEGMENT_MAP, segment_map) \
	A(SEGMENT_UNMAP, segment_unmap) \
	A(OOM, oom)

enum ga_history_action {
#define A(name, word) GA_HISTORY_##name,
	GA_HISTORY_ACTIONS(A)
#undef A
	    GA_HISTORY_ACTION_COUNT
};

/* Word of an action as PyTorch writes it. */
const char *ga_history_word(enum ga_history_action action);

/* One entry.  Of block entries `size` is the request, of OOM `address` is the device's free bytes
 * and `size` the rounded request. */
struct ga_history_entry {
	enum ga_history_action action;
	uint64_t address, size, stream;
};

/* Called during a call of the model; must not call it back. */
typedef void ga_history_sink(void *self, const struct ga_history_entry *entry);

struct ga_allocator_counts {
	uint64_t requested; /* bytes asked for by live and waiting blocks */
	uint64_t allocated; /* bytes of live blocks */
	uint64_t active;    /* the same and those of waiting blocks */
	uint64_t plain;	    /* active, had every request been rounded to 512 bytes only */
	uint64_t reserved;  /* bytes held from the driver */
	uint64_t peak_allocated, peak_active, peak_plain, peak_reserved;
	uint64_t allocs, retries, ooms;
	uint64_t segment_allocs, segment_frees, maps, unmaps;
	uint64_t refusals;    /* driver allocations or mappings refused */
	uint64_t collections; /* garbage collections that freed something */
};

struct ga_allocator;

/**
 * A new, empty allocator.
 *
 * @param settings      copied
 * @param device_bytes  total memory of the device: base of fractions and reservations
 * @param driver        borrowed until the model is destroyed
 * @param sink          history goes here; NULL: nowhere
 * @return never NULL; ga_allocator_destroy it
 */
struct ga_allocator *ga_allocator_new(const struct ga_allocator_settings *settings,
    uint64_t device_bytes, struct ga_alloc_driver *driver, ga_history_sink *sink, void *sink_self);

/** Free the model.  @param model  may be NULL */
void ga_allocator_destroy(struct ga_allocator *model);

/**
 * Hand out a block.
 *
 * @param request  bytes, not 0
 * @param stream   handle of the stream; handles order the releases
 * @param pool     0: default pool; else the private pool of the capture that this stream is part of
 * @param tag      the caller's own name of the block, for ga_allocator_ready
 * @return number of the block, valid until it is freed and complete; 0: out of memory
 */
uint32_t ga_allocator_allocate(
    struct ga_allocator *model, uint64_t request, uint64_t stream, uint32_t pool, uint32_t tag);

/**
 * The program frees a block.
 *
 * @param waits  other streams used it: it completes after ga_allocator_ready, or when the model
 * itself waits for all events
 */
void ga_allocator_free(struct ga_allocator *model, uint32_t block, bool waits);

/**
 * The last event of a waiting block is done; the block becomes free at the next allocation outside
 * captures.  Nothing happens if the model has completed it already, even if the number stands for
 * another block by now: the tag tells.
 */
void ga_allocator_ready(struct ga_allocator *model, uint32_t block, uint32_t tag);

/** torch.cuda.empty_cache(). */
void ga_allocator_empty_cache(struct ga_allocator *model);

/** torch.cuda.set_per_process_memory_fraction().  @param fraction  0 to 1; from 2.10 on 1 lifts the
 * limit, and without one nothing is collected */
void ga_allocator_set_fraction(struct ga_allocator *model, double fraction);

/** New settings at run time.  @param settings  of the same release */
void ga_allocator_change(struct ga_allocator *model, const struct ga_allocator_settings *settings);

/** Settings in force.  @return borrowed, valid until the next call */
const struct ga_allocator_settings *ga_allocator_current(const struct ga_allocator *model);

/** A capture into a private pool begins.  @param pool  its id, not 0; made if it is new */
void ga_allocator_capture_begin(struct ga_allocator *model, uint32_t pool);

/** A capture ended; its pool stays in use until its graph is gone. */
void ga_allocator_capture_end(struct ga_allocator *model);

/** A graph that used the pool is gone; after the last one the pool's memory can be released. */
void ga_allocator_pool_release(struct ga_allocator *model, uint32_t pool);

/** Figures since the beginning.  @return borrowed, changes with each call */
const struct ga_allocator_counts *ga_allocator_counts(const struct ga_allocator *model);

/** Address and size of a live or waiting block. */
uint64_t ga_allocator_block_address(const struct ga_allocator *model, uint32_t block);
uint64_t ga_allocator_block_size(const struct ga_allocator *model, uint32_t block);

/** Bytes that the memory fraction allows, UINT64_MAX if none is set. */
uint64_t ga_allocator_allowed_bytes(const struct ga_allocator *model);

#endif
