/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_expandable.h"

#include "analyzer/allocator_rounding.h"

static bool is_usable(const struct ga_allocator *model, uint32_t block)
{
	uint8_t state = ga_cached_block_of(model, block)->state;
	return block && (state == GA_CACHED_FREE || state == GA_CACHED_UNMAPPED);
}

static bool has_room(const struct ga_allocator *model, uint32_t block, uint64_t bytes)
{
	uint64_t room = 0;
	for (; room < bytes && is_usable(model, block);
	     block = ga_cached_block_of(model, block)->next)
		room += ga_cached_block_of(model, block)->size;
	return room >= bytes;
}

static uint32_t reserve(struct ga_allocator *model, uint32_t queue)
{
	const struct ga_allocator_settings *settings = &model->settings;
	uint64_t page = ga_alloc_side_of(model, queue)->is_small ? settings->small_page_bytes
								 : settings->large_page_bytes;
	uint64_t wanted = settings->reserve_bytes;
	if (!wanted && settings->reserve_fraction == 1.125) /* exact for any size of a device */
		wanted = model->device_bytes + model->device_bytes / 8;
	else if (!wanted)
		wanted = (uint64_t)(settings->reserve_fraction * (double)model->device_bytes);
	if (wanted > GA_ALLOC_DRIVER_MOST)
		wanted = GA_ALLOC_DRIVER_MOST / page * page;
	uint64_t size = wanted ? (wanted + page - 1) / page * page : page;
	uint64_t address = ga_alloc_driver_reserve(model->driver, size);
	uint32_t segment = ga_cached_segment_new(model, address, size, page);
	uint32_t block = ga_cached_block_new(model, segment, queue, address, size, 0, 0);
	ga_alloc_unmapped_insert(model, block);
	return block;
}

/* A free or unmapped block from which usable neighbours reach the size. */
static uint32_t find_start(struct ga_allocator *model, const struct ga_alloc_request *request)
{
	const struct ga_alloc_queue *queue = &model->queues[request->queue];
	for (size_t i = 0; i < queue->unmapped_count; i++) {
		uint32_t block = queue->unmapped[i];
		uint32_t before = ga_cached_block_of(model, block)->prev;
		if (is_usable(model, before))
			block = before;
		if (has_room(model, block, request->block_bytes))
			return block;
	}
	return 0;
}

/* Map the beginning of an unmapped range; the block becomes free and takes in its neighbours. */
static bool map_start(struct ga_allocator *model, uint32_t block, uint64_t bytes)
{
	uint64_t page = ga_cached_segment_of(model, block)->page_bytes;
	uint64_t mapped = (bytes + page - 1) / page * page;
	if (!ga_alloc_driver_map(model->driver, mapped)) {
		model->counts.refusals++;
		return false;
	}
	ga_alloc_unmapped_remove(model, block);
	struct ga_cached_block *start = ga_cached_block_of(model, block);
	uint64_t address = start->address, rest = start->size - mapped;
	uint32_t queue = start->queue;
	start->state = GA_CACHED_FREE;
	start->size = mapped;
	if (rest) {
		uint32_t behind = ga_cached_block_new(
		    model, start->segment, queue, address + mapped, rest, block, start->next);
		ga_alloc_unmapped_insert(model, behind);
	}
	ga_cached_block_merge(model, block);
	ga_cached_block_insert(model, block);
	model->counts.maps++;
	ga_alloc_count_reserved(model, mapped);
	ga_alloc_emit(model, GA_HISTORY_SEGMENT_MAP, address, mapped, model->queues[queue].stream);
	return true;
}

static void drop_reservation(struct ga_allocator *model, uint32_t block)
{
	uint32_t segment = ga_cached_block_of(model, block)->segment;
	ga_alloc_unmapped_remove(model, block);
	ga_cached_block_drop(model, block);
	ga_cached_segment_drop(model, segment);
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint32_t ga_alloc_expand(struct ga_allocator *model, const struct ga_alloc_request *request)
{
	uint64_t wanted = request->block_bytes;
	uint32_t block = find_start(model, request);
	if (!block) {
		block = reserve(model, request->queue);
		if (ga_cached_block_of(model, block)->size < wanted) {
			model->counts.refusals++;
			if (model->settings.drops_short_reservation)
				drop_reservation(model, block);
			return 0;
		}
	}
	if (ga_cached_block_of(model, block)->state == GA_CACHED_UNMAPPED &&
	    !map_start(model, block, least(ga_cached_block_of(model, block)->size, wanted)))
		return 0;
	while (ga_cached_block_of(model, block)->size < wanted) {
		/* Whatever was mapped has taken in the free blocks around it, so that an unmapped
		 * range follows. */
		uint32_t next = ga_cached_block_of(model, block)->next;
		uint64_t missing = wanted - ga_cached_block_of(model, block)->size;
		if (!map_start(model, next, least(missing, ga_cached_block_of(model, next)->size)))
			return 0;
		block = next;
	}
	ga_cached_block_remove(model, block);
	return block;
}

uint64_t ga_alloc_whole_pages(const struct ga_allocator *model, uint32_t block, uint64_t *start_out)
{
	const struct ga_cached_block *within = ga_cached_block_of(model, block);
	const struct ga_cached_segment *segment = ga_cached_segment_of(model, block);
	uint64_t page = segment->page_bytes, offset = within->address - segment->address;
	uint64_t from = (offset + page - 1) / page * page;
	uint64_t to = (offset + within->size) / page * page;
	*start_out = segment->address + from;
	return to > from ? to - from : 0;
}

void ga_alloc_unmap_block(struct ga_allocator *model, uint32_t block)
{
	uint64_t start, bytes = ga_alloc_whole_pages(model, block, &start);
	if (!bytes)
		return;
	ga_cached_block_remove(model, block);
	struct ga_cached_block *unmapped = ga_cached_block_of(model, block);
	uint64_t address = unmapped->address, end = address + unmapped->size;
	uint32_t segment = unmapped->segment, queue = unmapped->queue;
	ga_cached_block_move(model, block, start, bytes);
	if (start > address)
		ga_cached_block_insert(
		    model, ga_cached_block_new(model, segment, queue, address, start - address,
			       ga_cached_block_of(model, block)->prev, block));
	if (end > start + bytes)
		ga_cached_block_insert(
		    model, ga_cached_block_new(model, segment, queue, start + bytes,
			       end - start - bytes, block, ga_cached_block_of(model, block)->next));
	ga_cached_block_of(model, block)->state = GA_CACHED_UNMAPPED;
	ga_cached_block_merge(model, block);
	ga_alloc_unmapped_insert(model, block);
	ga_alloc_driver_release(model->driver, bytes);
	model->counts.unmaps++;
	model->counts.reserved -= bytes;
	ga_alloc_emit(model, GA_HISTORY_SEGMENT_UNMAP, start, bytes, model->queues[queue].stream);
	unmapped = ga_cached_block_of(model, block);
	if (!unmapped->prev && !unmapped->next)
		drop_reservation(model, block);
}
