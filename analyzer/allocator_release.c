/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_release.h"

#include <stdlib.h>

#include "analyzer/allocator_expandable.h"
#include "analyzer/xalloc.h"

bool ga_alloc_is_whole_segment(const struct ga_allocator *model, uint32_t block)
{
	const struct ga_cached_block *free_block = ga_cached_block_of(model, block);
	return !free_block->prev && !free_block->next && !ga_alloc_is_expandable(model, block);
}

static void release_block(struct ga_allocator *model, uint32_t block)
{
	const struct ga_cached_block released = *ga_cached_block_of(model, block);
	ga_cached_block_remove(model, block);
	ga_cached_block_drop(model, block);
	ga_cached_segment_drop(model, released.segment);
	ga_alloc_driver_release(model->driver, released.size);
	model->counts.segment_frees++;
	model->counts.reserved -= released.size;
	ga_alloc_emit(model, GA_HISTORY_SEGMENT_FREE, released.address, released.size,
	    model->queues[released.queue].stream);
}

static uint32_t age_of(const struct ga_allocator *model, uint32_t block)
{
	const struct ga_cached_block *aged = ga_cached_block_of(model, block);
	return ga_alloc_side_of(model, aged->queue)->searches - aged->age_base;
}

/* Free blocks of one half of a pool that are whole classic segments or, if asked for, lie in
 * expandable ones; in list order.  free() them. */
static uint32_t *list_releasable(
    const struct ga_allocator *model, uint32_t side_number, bool with_expandable, size_t *count_out)
{
	const struct ga_alloc_side *side = &model->sides[side_number];
	uint32_t *found = NULL;
	size_t count = 0, capacity = 0;
	for (size_t i = 0; i < side->count; i++) {
		const struct ga_free_list *list = &model->queues[side->queues[i]].free;
		struct ga_free_place place = {0, 0};
		for (uint32_t block; (block = ga_free_list_at(list, place));
		     place = ga_free_list_next(list, place)) {
			bool expandable = ga_alloc_is_expandable(model, block);
			if (expandable ? !with_expandable
				       : !ga_alloc_is_whole_segment(model, block))
				continue;
			found = ga_xgrow(found, count, &capacity, sizeof(*found));
			found[count++] = block;
		}
	}
	*count_out = count;
	return found;
}

void ga_alloc_collect(struct ga_allocator *model)
{
	uint64_t limit = (uint64_t)(model->settings.gc_threshold * (double)model->allowed_bytes);
	if (model->counts.reserved <= limit)
		return;
	uint64_t target = model->counts.reserved - limit, released = 0;
	size_t count;
	uint32_t *candidates = list_releasable(model, 0, false, &count);
	double ages = 0;
	for (size_t i = 0; i < count; i++)
		ages += age_of(model, candidates[i]);
	bool any = true, ever = false;
	while (released < target && any && count) {
		double threshold = ages / (double)count;
		size_t kept = 0;
		for (size_t i = 0; i < count; i++) {
			uint32_t block = candidates[i], age = age_of(model, block);
			if (age < threshold) {
				candidates[kept++] = block;
				continue;
			}
			released += ga_cached_block_of(model, block)->size;
			ages -= age;
			release_block(model, block);
		}
		any = kept < count;
		ever |= any;
		count = kept;
	}
	model->counts.collections += ever;
	free(candidates);
}

/* From the block before `place` downwards, until the released bytes reach `wanted`. */
static bool release_downwards(
    struct ga_allocator *model, uint32_t queue, struct ga_free_place place, uint64_t wanted)
{
	const struct ga_free_list *list = &model->queues[queue].free;
	uint64_t released = 0;
	while (released < wanted && ga_free_list_back(list, &place)) {
		uint32_t block = ga_free_list_at(list, place);
		uint64_t size = ga_cached_block_of(model, block)->size;
		if (size < model->settings.max_split_bytes)
			break;
		if (!ga_alloc_is_whole_segment(model, block))
			continue;
		release_block(model, block);
		released += size;
	}
	return released >= wanted;
}

bool ga_alloc_release_oversized(struct ga_allocator *model, const struct ga_alloc_request *request)
{
	uint64_t limit = model->settings.max_split_bytes;
	if (limit == UINT64_MAX)
		return false;
	uint64_t wanted = request->block_bytes < limit ? limit : request->block_bytes;
	const struct ga_free_list *list = &model->queues[request->queue].free;
	struct ga_free_place place = ga_free_list_find(list, wanted);
	uint32_t block = ga_free_list_at(list, place);
	/* A lowered limit leaves parts of segments above it: those cannot go back to the driver. */
	if (!block || !ga_alloc_is_whole_segment(model, block))
		return release_downwards(model, request->queue, place, wanted);
	release_block(model, block);
	return true;
}

/* All of one half of a pool: classic segments in list order, then expandable pages likewise. */
static void release_side(struct ga_allocator *model, uint32_t number)
{
	size_t count, expandable = 0;
	uint32_t *found = list_releasable(model, number, true, &count);
	for (size_t i = 0; i < count; i++)
		if (ga_alloc_is_expandable(model, found[i]))
			found[expandable++] = found[i];
		else
			release_block(model, found[i]);
	for (size_t i = 0; i < expandable; i++)
		ga_alloc_unmap_block(model, found[i]);
	free(found);
}

void ga_alloc_release_cached(struct ga_allocator *model)
{
	ga_alloc_complete_waiting(model, true);
	release_side(model, 0);
	release_side(model, 1);
	for (size_t i = 1; i < model->pool_count; i++) {
		if (model->pools[i].uses)
			continue;
		release_side(model, (uint32_t)(2 * i + 1));
		release_side(model, (uint32_t)(2 * i));
	}
}
