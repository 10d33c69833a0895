/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_search.h"

#include "analyzer/allocator_rounding.h"

/* What a free block could become: with the unmapped range right behind it. */
static uint64_t reach_of(const struct ga_allocator *model, uint32_t block)
{
	const struct ga_cached_block *next =
	    ga_cached_block_of(model, ga_cached_block_of(model, block)->next);
	uint64_t size = ga_cached_block_of(model, block)->size;
	return next->state == GA_CACHED_UNMAPPED ? size + next->size : size;
}

/* Walk on while the next block reaches less far: it leaves large unmapped ranges to others.  This
 * is a local descent, not a minimum over all blocks that follow. */
static struct ga_free_place descend(
    const struct ga_allocator *model, const struct ga_free_list *list, struct ga_free_place place)
{
	for (;;) {
		uint32_t block = ga_free_list_at(list, place);
		struct ga_free_place after = ga_free_list_next(list, place);
		uint32_t next = ga_free_list_at(list, after);
		if (!ga_alloc_is_expandable(model, block) || !next ||
		    reach_of(model, next) >= reach_of(model, block))
			return place;
		place = after;
	}
}

uint32_t ga_alloc_search(struct ga_allocator *model, const struct ga_alloc_request *request)
{
	const struct ga_allocator_settings *settings = &model->settings;
	struct ga_free_list *list = &model->queues[request->queue].free;
	if (ga_alloc_collects(model))
		ga_alloc_side_of(model, request->queue)->searches++;
	struct ga_free_place place = ga_free_list_find(list, request->block_bytes);
	uint32_t block = ga_free_list_at(list, place);
	if (block && ga_alloc_is_expandable(model, block)) {
		if (settings->expandable) {
			place = descend(model, list, place);
			block = ga_free_list_at(list, place);
		} else {
			while (block && ga_alloc_is_expandable(model, block)) {
				place = ga_free_list_next(list, place);
				block = ga_free_list_at(list, place);
			}
		}
	}
	if (!block)
		return 0;
	uint64_t size = ga_cached_block_of(model, block)->size;
	if (request->block_bytes < settings->max_split_bytes) {
		if (size >= settings->max_split_bytes)
			return 0;
	} else if (size >= request->block_bytes + settings->slack_bytes) {
		return 0;
	}
	ga_free_list_remove_at(list, place);
	return block;
}

bool ga_alloc_splits(
    const struct ga_allocator *model, const struct ga_alloc_request *request, uint32_t block)
{
	uint64_t rest = ga_cached_block_of(model, block)->size - request->block_bytes;
	if (ga_alloc_side_of(model, request->queue)->is_small || model->settings.expandable)
		return rest >= GA_GRANULE_BYTES;
	return request->block_bytes < model->settings.max_split_bytes && rest > GA_SMALL_BYTES;
}
