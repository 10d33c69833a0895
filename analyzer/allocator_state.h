/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of the allocator model, shared by its parts: allocator_model (calls), allocator_search
 * (best fit), allocator_expandable (mapping), allocator_release (giving back).
 *
 * Threads: one model belongs to one thread.
 */
#ifndef GA_ALLOCATOR_STATE_H
#define GA_ALLOCATOR_STATE_H

#include "analyzer/allocator_blocks.h"
#include "analyzer/allocator_model.h"

/* What PyTorch keeps apart: one size class of one pool on one stream. */
struct ga_alloc_queue {
	uint64_t stream;
	uint32_t side; /* index in ga_allocator.sides */
	struct ga_free_list free;
	uint32_t *unmapped; /* numbers of unmapped blocks by address */
	size_t unmapped_count, unmapped_capacity;
};

/* The small or the large half of a pool. */
struct ga_alloc_side {
	bool is_small;
	uint32_t
	    searches;	  /* counted only while garbage collection is possible: the clock of ages */
	uint32_t *queues; /* by stream handle */
	size_t count, capacity;
};

/* Sides 2 * i (large) and 2 * i + 1 (small) belong to pool i; pool 0 is the default pool. */
struct ga_alloc_pool {
	uint32_t id;
	uint32_t uses; /* graphs, and captures under way */
};

struct ga_allocator {
	struct ga_allocator_settings settings;
	struct ga_alloc_driver *driver;
	ga_history_sink *sink;
	void *sink_self;
	uint64_t device_bytes;
	bool has_fraction;
	uint64_t allowed_bytes;
	unsigned captures; /* under way */
	struct ga_allocator_counts counts;
	struct ga_cached_block *blocks;
	size_t block_count, block_capacity;
	uint32_t unused_block;
	struct ga_cached_segment *segments;
	size_t segment_count, segment_capacity;
	uint32_t unused_segment;
	uint32_t segments_made, records_made; /* numbers for ties */
	struct ga_alloc_queue *queues;
	size_t queue_count, queue_capacity;
	struct ga_alloc_side *sides;
	size_t side_count, side_capacity;
	struct ga_alloc_pool *pools;
	size_t pool_count, pool_capacity;
	uint32_t *waiting; /* blocks that wait, in no order */
	size_t waiting_count, waiting_capacity;
	size_t ready_count;
};

/* One allocation on its way. */
struct ga_alloc_request {
	uint64_t bytes, block_bytes, segment_bytes; /* asked for; rounded; behind it */
	uint32_t queue;
};

static inline struct ga_cached_block *ga_cached_block_of(
    const struct ga_allocator *model, uint32_t block)
{
	return &model->blocks[block];
}

static inline struct ga_cached_segment *ga_cached_segment_of(
    const struct ga_allocator *model, uint32_t block)
{
	return &model->segments[model->blocks[block].segment];
}

static inline bool ga_alloc_is_expandable(const struct ga_allocator *model, uint32_t block)
{
	return ga_cached_segment_of(model, block)->page_bytes != 0;
}

static inline struct ga_alloc_side *ga_alloc_side_of(
    const struct ga_allocator *model, uint32_t queue)
{
	return &model->sides[model->queues[queue].side];
}

/** Whether garbage collection can happen at all now. */
static inline bool ga_alloc_collects(const struct ga_allocator *model)
{
	return model->has_fraction && model->settings.gc_threshold > 0;
}

/**
 * A new block record between `prev` and what follows it in its segment; invalidates pointers to
 * blocks.
 *
 * @param prev  0: the block is the first of its segment
 * @param next  0: the last
 */
uint32_t ga_cached_block_new(struct ga_allocator *model, uint32_t segment, uint32_t queue,
    uint64_t address, uint64_t size, uint32_t prev, uint32_t next);

/** Move the start of a block; it must not be in a free list. */
void ga_cached_block_move(
    struct ga_allocator *model, uint32_t block, uint64_t address, uint64_t size);

/** Forget a block record that is in no list; its neighbours become each other's. */
void ga_cached_block_drop(struct ga_allocator *model, uint32_t block);

/** A new segment record.  @param page_bytes  0: classic */
uint32_t ga_cached_segment_new(
    struct ga_allocator *model, uint64_t address, uint64_t size, uint64_t page_bytes);

/** Forget a segment record. */
void ga_cached_segment_drop(struct ga_allocator *model, uint32_t segment);

/** Put a block into the free list of its queue: its age begins. */
void ga_cached_block_insert(struct ga_allocator *model, uint32_t block);

/** Take a block out of its free list. */
void ga_cached_block_remove(struct ga_allocator *model, uint32_t block);

/** Put a block among the unmapped ranges of its queue, or take it out. */
void ga_alloc_unmapped_insert(struct ga_allocator *model, uint32_t block);
void ga_alloc_unmapped_remove(struct ga_allocator *model, uint32_t block);

/**
 * Let a block absorb its free neighbours (of an unmapped block: its unmapped ones); it must be in
 * no list.
 */
void ga_cached_block_merge(struct ga_allocator *model, uint32_t block);

/** A block in the state that its queue's list will hold is complete: history, counts, merge, list.
 */
void ga_cached_block_complete(struct ga_allocator *model, uint32_t block);

/** Complete waiting blocks: `all`, or those whose events are done. */
void ga_alloc_complete_waiting(struct ga_allocator *model, bool all);

/** Tell the history. */
static inline void ga_alloc_emit(const struct ga_allocator *model, enum ga_history_action action,
    uint64_t address, uint64_t size, uint64_t stream)
{
	if (model->sink)
		model->sink(
		    model->sink_self, &(struct ga_history_entry){action, address, size, stream});
}

/** Bytes of a segment or of pages came from the driver. */
void ga_alloc_count_reserved(struct ga_allocator *model, uint64_t bytes);

#endif
