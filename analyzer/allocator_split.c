/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_split.h"

#include "analyzer/allocator_expandable.h"
#include "analyzer/allocator_release.h"
#include "analyzer/allocator_state.h"

/* Bytes of a free block that would go back to the driver. */
static uint64_t releasable_of(const struct ga_allocator *model, uint32_t block)
{
	const struct ga_alloc_queue *queue =
	    &model->queues[ga_cached_block_of(model, block)->queue];
	uint32_t pool = queue->side / 2;
	uint64_t start;
	if (pool && model->pools[pool].uses)
		return 0;
	if (ga_alloc_is_expandable(model, block))
		return ga_alloc_whole_pages(model, block, &start);
	return ga_alloc_is_whole_segment(model, block) ? ga_cached_block_of(model, block)->size : 0;
}

struct ga_reserved_split ga_allocator_split(const struct ga_allocator *model)
{
	const struct ga_allocator_counts *counts = &model->counts;
	struct ga_reserved_split split = {.requested = counts->requested};
	for (size_t i = 0; i < model->waiting_count; i++)
		split.requested -= ga_cached_block_of(model, model->waiting[i])->requested;
	split.rounding = counts->allocated - split.requested;
	split.pending = counts->active - counts->allocated;
	for (size_t i = 0; i < model->queue_count; i++) {
		const struct ga_free_list *list = &model->queues[i].free;
		struct ga_free_place place = {0, 0};
		for (uint32_t block; (block = ga_free_list_at(list, place));
		     place = ga_free_list_next(list, place))
			split.releasable += releasable_of(model, block);
	}
	split.stuck = counts->reserved - counts->active - split.releasable;
	return split;
}

static const char *check_block(const struct ga_allocator *model, uint32_t number)
{
	const struct ga_cached_block *block = ga_cached_block_of(model, number);
	const struct ga_cached_block *next = ga_cached_block_of(model, block->next);
	if (block->state == GA_CACHED_UNUSED)
		return NULL;
	if (!block->size || block->size % 512)
		return "a block's size is no multiple of 512";
	if (!block->next)
		return NULL;
	if (next->prev != number || next->address != block->address + block->size)
		return "neighbours do not touch";
	if (next->segment != block->segment || next->queue != block->queue)
		return "neighbours belong to different segments or queues";
	if (next->state == block->state &&
	    (block->state == GA_CACHED_FREE || block->state == GA_CACHED_UNMAPPED))
		return "two free neighbours are not one block";
	return NULL;
}

static const char *check_list(const struct ga_allocator *model, const struct ga_free_list *list)
{
	const struct ga_cached_block *before = NULL;
	struct ga_free_place place = {0, 0};
	size_t count = 0;
	for (uint32_t number; (number = ga_free_list_at(list, place)); count++) {
		const struct ga_cached_block *block = ga_cached_block_of(model, number);
		if (block->state != GA_CACHED_FREE)
			return "a block in a free list is not free";
		if (before && (before->size > block->size ||
				  (before->size == block->size && before->tie >= block->tie)))
			return "a free list is not in order";
		before = block;
		place = ga_free_list_next(list, place);
	}
	return count == list->blocks ? NULL : "a free list has lost blocks";
}

const char *ga_allocator_check(const struct ga_allocator *model)
{
	uint64_t held = 0, free_blocks = 0, listed = 0;
	const char *wrong = NULL;
	for (size_t i = 1; i < model->block_count && !wrong; i++) {
		const struct ga_cached_block *block = &model->blocks[i];
		wrong = check_block(model, (uint32_t)i);
		free_blocks += block->state == GA_CACHED_FREE;
		if (block->state != GA_CACHED_UNUSED && block->state != GA_CACHED_UNMAPPED)
			held += block->size;
	}
	for (size_t i = 0; i < model->queue_count && !wrong; i++) {
		wrong = check_list(model, &model->queues[i].free);
		listed += model->queues[i].free.blocks;
	}
	if (!wrong && listed != free_blocks)
		wrong = "a free block is in no list";
	if (!wrong && held != model->counts.reserved)
		wrong = "the reserved bytes are not those of the blocks";
	return wrong;
}
