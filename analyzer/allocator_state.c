/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_state.h"

#include <string.h>

#include "analyzer/allocator_rounding.h"
#include "analyzer/xalloc.h"

static uint64_t tie_of(const struct ga_allocator *model, uint32_t segment, uint64_t address)
{
	const struct ga_cached_segment *home = &model->segments[segment];
	if (model->settings.tie == GA_TIE_SEGMENT)
		return (uint64_t)home->number << 32 | (address - home->address) >> 9;
	return address;
}

uint32_t ga_cached_block_new(struct ga_allocator *model, uint32_t segment, uint32_t queue,
    uint64_t address, uint64_t size, uint32_t prev, uint32_t next)
{
	uint32_t number = model->unused_block;
	if (number) {
		model->unused_block = model->blocks[number].next_unused;
	} else {
		model->blocks = ga_xgrow(model->blocks, model->block_count, &model->block_capacity,
		    sizeof(*model->blocks));
		number = (uint32_t)model->block_count++;
	}
	struct ga_cached_block *block = &model->blocks[number];
	*block = (struct ga_cached_block){
	    .address = address,
	    .size = size,
	    .prev = prev,
	    .next = next,
	    .queue = queue,
	    .segment = segment,
	};
	block->tie = model->settings.tie == GA_TIE_RECORD ? model->records_made++
							  : tie_of(model, segment, address);
	if (prev)
		model->blocks[prev].next = number;
	if (next)
		model->blocks[next].prev = number;
	return number;
}

void ga_cached_block_move(
    struct ga_allocator *model, uint32_t block, uint64_t address, uint64_t size)
{
	struct ga_cached_block *moved = ga_cached_block_of(model, block);
	moved->address = address;
	moved->size = size;
	if (model->settings.tie != GA_TIE_RECORD)
		moved->tie = tie_of(model, moved->segment, address);
}

void ga_cached_block_drop(struct ga_allocator *model, uint32_t block)
{
	struct ga_cached_block *dropped = ga_cached_block_of(model, block);
	if (dropped->prev)
		model->blocks[dropped->prev].next = dropped->next;
	if (dropped->next)
		model->blocks[dropped->next].prev = dropped->prev;
	dropped->state = GA_CACHED_UNUSED;
	dropped->next_unused = model->unused_block;
	model->unused_block = block;
}

uint32_t ga_cached_segment_new(
    struct ga_allocator *model, uint64_t address, uint64_t size, uint64_t page_bytes)
{
	uint32_t number = model->unused_segment;
	if (number) {
		model->unused_segment = model->segments[number].next_unused;
	} else {
		model->segments = ga_xgrow(model->segments, model->segment_count,
		    &model->segment_capacity, sizeof(*model->segments));
		number = (uint32_t)model->segment_count++;
	}
	model->segments[number] = (struct ga_cached_segment){
	    .address = address,
	    .size = size,
	    .page_bytes = page_bytes,
	    .number = model->segments_made++,
	};
	return number;
}

void ga_cached_segment_drop(struct ga_allocator *model, uint32_t segment)
{
	model->segments[segment].next_unused = model->unused_segment;
	model->unused_segment = segment;
}

void ga_cached_block_insert(struct ga_allocator *model, uint32_t block)
{
	struct ga_cached_block *inserted = ga_cached_block_of(model, block);
	inserted->state = GA_CACHED_FREE;
	inserted->age_base = ga_alloc_side_of(model, inserted->queue)->searches;
	ga_free_list_add(&model->queues[inserted->queue].free, model->blocks, block);
}

void ga_cached_block_remove(struct ga_allocator *model, uint32_t block)
{
	ga_free_list_remove(
	    &model->queues[ga_cached_block_of(model, block)->queue].free, model->blocks, block);
}

/* Place of the first unmapped range of the queue that does not begin below `address`. */
static size_t unmapped_place(
    const struct ga_allocator *model, const struct ga_alloc_queue *queue, uint64_t address)
{
	size_t low = 0, high = queue->unmapped_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (ga_cached_block_of(model, queue->unmapped[middle])->address < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void ga_alloc_unmapped_insert(struct ga_allocator *model, uint32_t block)
{
	struct ga_alloc_queue *queue = &model->queues[ga_cached_block_of(model, block)->queue];
	size_t place = unmapped_place(model, queue, ga_cached_block_of(model, block)->address);
	queue->unmapped = ga_xgrow(queue->unmapped, queue->unmapped_count,
	    &queue->unmapped_capacity, sizeof(*queue->unmapped));
	memmove(queue->unmapped + place + 1, queue->unmapped + place,
	    (queue->unmapped_count - place) * sizeof(*queue->unmapped));
	queue->unmapped[place] = block;
	queue->unmapped_count++;
	ga_cached_block_of(model, block)->state = GA_CACHED_UNMAPPED;
}

void ga_alloc_unmapped_remove(struct ga_allocator *model, uint32_t block)
{
	struct ga_alloc_queue *queue = &model->queues[ga_cached_block_of(model, block)->queue];
	size_t place = unmapped_place(model, queue, ga_cached_block_of(model, block)->address);
	while (queue->unmapped[place] != block) /* a wrong recording may give an address twice */
		place++;
	queue->unmapped_count--;
	memmove(queue->unmapped + place, queue->unmapped + place + 1,
	    (queue->unmapped_count - place) * sizeof(*queue->unmapped));
}

static void absorb(struct ga_allocator *model, uint32_t block, uint32_t other, uint8_t state)
{
	if (!other || ga_cached_block_of(model, other)->state != state)
		return;
	if (state == GA_CACHED_FREE)
		ga_cached_block_remove(model, other);
	else
		ga_alloc_unmapped_remove(model, other);
	const struct ga_cached_block *taken = ga_cached_block_of(model, other);
	const struct ga_cached_block *kept = ga_cached_block_of(model, block);
	uint64_t address = taken->address < kept->address ? taken->address : kept->address;
	ga_cached_block_move(model, block, address, kept->size + taken->size);
	ga_cached_block_drop(model, other);
}

void ga_cached_block_merge(struct ga_allocator *model, uint32_t block)
{
	uint8_t state = ga_cached_block_of(model, block)->state;
	absorb(model, block, ga_cached_block_of(model, block)->prev, state);
	absorb(model, block, ga_cached_block_of(model, block)->next, state);
}

void ga_cached_block_complete(struct ga_allocator *model, uint32_t block)
{
	struct ga_cached_block *done = ga_cached_block_of(model, block);
	struct ga_allocator_counts *counts = &model->counts;
	ga_alloc_emit(model, GA_HISTORY_FREE_COMPLETED, done->address, done->requested,
	    model->queues[done->queue].stream);
	counts->requested -= done->requested;
	counts->active -= done->size;
	counts->plain -= ga_round_plain(done->requested);
	done->state = GA_CACHED_FREE;
	ga_cached_block_merge(model, block);
	ga_cached_block_insert(model, block);
}

void ga_alloc_complete_waiting(struct ga_allocator *model, bool all)
{
	size_t kept = 0;
	for (size_t i = 0; i < model->waiting_count; i++) {
		uint32_t block = model->waiting[i];
		if (all || ga_cached_block_of(model, block)->ready)
			ga_cached_block_complete(model, block);
		else
			model->waiting[kept++] = block;
	}
	model->waiting_count = kept;
	model->ready_count = 0;
}

void ga_alloc_count_reserved(struct ga_allocator *model, uint64_t bytes)
{
	model->counts.reserved += bytes;
	if (model->counts.reserved > model->counts.peak_reserved)
		model->counts.peak_reserved = model->counts.reserved;
}
