/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_model.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/allocator_expandable.h"
#include "analyzer/allocator_release.h"
#include "analyzer/allocator_rounding.h"
#include "analyzer/allocator_search.h"
#include "analyzer/allocator_state.h"
#include "analyzer/xalloc.h"

const char *ga_history_word(enum ga_history_action action)
{
	static const char *const words[] = {
#define A(name, word) #word,
	    GA_HISTORY_ACTIONS(A)
#undef A
	};
	return action < GA_HISTORY_ACTION_COUNT ? words[action] : "unknown";
}

/* Number of a private pool in the model; made if it is new. */
static uint32_t pool_number(struct ga_allocator *model, uint32_t id)
{
	for (uint32_t i = 0; i < model->pool_count; i++)
		if (model->pools[i].id == id)
			return i;
	model->pools =
	    ga_xgrow(model->pools, model->pool_count, &model->pool_capacity, sizeof(*model->pools));
	model->pools[model->pool_count] = (struct ga_alloc_pool){.id = id};
	for (int is_small = 0; is_small < 2; is_small++) {
		model->sides = ga_xgrow(
		    model->sides, model->side_count, &model->side_capacity, sizeof(*model->sides));
		model->sides[model->side_count++] = (struct ga_alloc_side){.is_small = is_small};
	}
	return (uint32_t)model->pool_count++;
}

struct ga_allocator *ga_allocator_new(const struct ga_allocator_settings *settings,
    uint64_t device_bytes, struct ga_alloc_driver *driver, ga_history_sink *sink, void *sink_self)
{
	struct ga_allocator *model = ga_xalloc(1, sizeof(*model));
	model->settings = *settings;
	model->driver = driver;
	model->sink = sink;
	model->sink_self = sink_self;
	model->device_bytes =
	    device_bytes < GA_ALLOC_DRIVER_MOST / 2 ? device_bytes : GA_ALLOC_DRIVER_MOST / 2;
	model->allowed_bytes = UINT64_MAX;
	pool_number(model, 0);
	/* Number 0 of blocks and segments means none; its state is that of no list. */
	uint32_t none = ga_cached_segment_new(model, 0, 0, 0);
	ga_cached_block_new(model, none, 0, 0, 0, 0, 0);
	if (settings->fraction >= 0)
		ga_allocator_set_fraction(model, settings->fraction);
	return model;
}

void ga_allocator_destroy(struct ga_allocator *model)
{
	if (!model)
		return;
	for (size_t i = 0; i < model->queue_count; i++) {
		ga_free_list_clear(&model->queues[i].free);
		free(model->queues[i].unmapped);
	}
	for (size_t i = 0; i < model->side_count; i++)
		free(model->sides[i].queues);
	free(model->queues);
	free(model->sides);
	free(model->pools);
	free(model->blocks);
	free(model->segments);
	free(model->waiting);
	free(model);
}

/* Queue of one side and stream, made if it is new. */
static uint32_t queue_of(struct ga_allocator *model, uint32_t side_number, uint64_t stream)
{
	struct ga_alloc_side *side = &model->sides[side_number];
	size_t low = 0, high = side->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (model->queues[side->queues[middle]].stream < stream)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < side->count && model->queues[side->queues[low]].stream == stream)
		return side->queues[low];
	model->queues = ga_xgrow(
	    model->queues, model->queue_count, &model->queue_capacity, sizeof(*model->queues));
	uint32_t number = (uint32_t)model->queue_count++;
	model->queues[number] = (struct ga_alloc_queue){.stream = stream, .side = side_number};
	side->queues = ga_xgrow(side->queues, side->count, &side->capacity, sizeof(*side->queues));
	memmove(side->queues + low + 1, side->queues + low,
	    (side->count - low) * sizeof(*side->queues));
	side->queues[low] = number;
	side->count++;
	return number;
}

/* A new segment for the request, or more pages: the driver is asked. */
static uint32_t ask_driver(struct ga_allocator *model, const struct ga_alloc_request *request)
{
	uint64_t size = request->segment_bytes, address;
	if (model->has_fraction && model->counts.reserved + size > model->allowed_bytes)
		return 0;
	if (model->settings.expandable)
		return ga_alloc_expand(model, request);
	if (!ga_alloc_driver_allocate(model->driver, size, &address)) {
		model->counts.refusals++;
		return 0;
	}
	uint64_t stream = model->queues[request->queue].stream;
	uint32_t segment = ga_cached_segment_new(model, address, size, 0);
	uint32_t block = ga_cached_block_new(model, segment, request->queue, address, size, 0, 0);
	model->counts.segment_allocs++;
	ga_alloc_count_reserved(model, size);
	ga_alloc_emit(model, GA_HISTORY_SEGMENT_ALLOC, address, size, stream);
	return block;
}

/* Steps 4 to 8: no free block serves. */
static uint32_t make_room(struct ga_allocator *model, const struct ga_alloc_request *request)
{
	if (ga_alloc_collects(model))
		ga_alloc_collect(model);
	uint32_t block = ask_driver(model, request);
	if (!block && ga_alloc_release_oversized(model, request))
		block = ask_driver(model, request);
	if (!block && !model->captures) {
		ga_alloc_release_cached(model);
		model->counts.retries++;
		block = ask_driver(model, request);
	}
	if (block)
		return block;
	model->counts.ooms++;
	ga_alloc_emit(model, GA_HISTORY_OOM, ga_alloc_driver_free_bytes(model->driver),
	    request->block_bytes, model->queues[request->queue].stream);
	return 0;
}

/* Cut the request off the front of a block; the rest, which keeps its record, is free again. */
static uint32_t split(
    struct ga_allocator *model, const struct ga_alloc_request *request, uint32_t block)
{
	struct ga_cached_block rest = *ga_cached_block_of(model, block);
	uint32_t front = ga_cached_block_new(
	    model, rest.segment, rest.queue, rest.address, request->block_bytes, rest.prev, block);
	ga_cached_block_move(
	    model, block, rest.address + request->block_bytes, rest.size - request->block_bytes);
	ga_cached_block_insert(model, block);
	return front;
}

static void count_alloc(struct ga_allocator_counts *counts, const struct ga_cached_block *block)
{
	counts->allocs++;
	counts->requested += block->requested;
	counts->allocated += block->size;
	counts->active += block->size;
	counts->plain += ga_round_plain(block->requested);
	if (counts->allocated > counts->peak_allocated)
		counts->peak_allocated = counts->allocated;
	if (counts->active > counts->peak_active)
		counts->peak_active = counts->active;
	if (counts->plain > counts->peak_plain)
		counts->peak_plain = counts->plain;
}

uint32_t ga_allocator_allocate(
    struct ga_allocator *model, uint64_t bytes, uint64_t stream, uint32_t pool, uint32_t tag)
{
	if (!model->captures && model->ready_count)
		ga_alloc_complete_waiting(model, false);
	struct ga_alloc_request request = {.bytes = bytes};
	request.block_bytes = ga_round_request(&model->settings, bytes);
	request.segment_bytes = ga_round_segment(&model->settings, request.block_bytes);
	uint32_t side = 2 * (pool ? pool_number(model, pool) : 0);
	side += request.block_bytes <= GA_SMALL_BYTES;
	request.queue = queue_of(model, side, stream);
	uint32_t block = ga_alloc_search(model, &request);
	if (!block)
		block = make_room(model, &request);
	if (!block)
		return 0;
	if (ga_alloc_splits(model, &request, block))
		block = split(model, &request, block);
	struct ga_cached_block *given = ga_cached_block_of(model, block);
	given->state = GA_CACHED_LIVE;
	given->requested = bytes;
	given->tag = tag;
	count_alloc(&model->counts, given);
	ga_alloc_emit(model, GA_HISTORY_ALLOC, given->address, bytes, stream);
	return block;
}

void ga_allocator_free(struct ga_allocator *model, uint32_t block, bool waits)
{
	struct ga_cached_block *freed = ga_cached_block_of(model, block);
	ga_alloc_emit(model, GA_HISTORY_FREE_REQUESTED, freed->address, freed->requested,
	    model->queues[freed->queue].stream);
	model->counts.allocated -= freed->size;
	if (!waits) {
		ga_cached_block_complete(model, block);
		return;
	}
	model->waiting = ga_xgrow(model->waiting, model->waiting_count, &model->waiting_capacity,
	    sizeof(*model->waiting));
	freed->state = GA_CACHED_WAITING;
	freed->ready = false;
	model->waiting[model->waiting_count++] = block;
}

void ga_allocator_ready(struct ga_allocator *model, uint32_t block, uint32_t tag)
{
	struct ga_cached_block *waiting = ga_cached_block_of(model, block);
	if (waiting->state != GA_CACHED_WAITING || waiting->tag != tag || waiting->ready)
		return;
	waiting->ready = true;
	model->ready_count++;
}

void ga_allocator_empty_cache(struct ga_allocator *model)
{
	ga_alloc_release_cached(model);
}

void ga_allocator_set_fraction(struct ga_allocator *model, double fraction)
{
	model->has_fraction = fraction < 1 || !model->settings.whole_is_no_limit;
	model->allowed_bytes =
	    model->has_fraction ? (uint64_t)(fraction * (double)model->device_bytes) : UINT64_MAX;
}

void ga_allocator_change(struct ga_allocator *model, const struct ga_allocator_settings *settings)
{
	model->settings = *settings;
}

const struct ga_allocator_settings *ga_allocator_current(const struct ga_allocator *model)
{
	return &model->settings;
}

void ga_allocator_capture_begin(struct ga_allocator *model, uint32_t pool)
{
	model->pools[pool_number(model, pool)].uses++;
	model->captures++;
}

void ga_allocator_capture_end(struct ga_allocator *model)
{
	model->captures -= model->captures > 0;
}

void ga_allocator_pool_release(struct ga_allocator *model, uint32_t pool)
{
	struct ga_alloc_pool *released = &model->pools[pool_number(model, pool)];
	released->uses -= released->uses > 0;
}

const struct ga_allocator_counts *ga_allocator_counts(const struct ga_allocator *model)
{
	return &model->counts;
}

uint64_t ga_allocator_block_address(const struct ga_allocator *model, uint32_t block)
{
	return ga_cached_block_of(model, block)->address;
}

uint64_t ga_allocator_block_size(const struct ga_allocator *model, uint32_t block)
{
	return ga_cached_block_of(model, block)->size;
}

uint64_t ga_allocator_allowed_bytes(const struct ga_allocator *model)
{
	return model->allowed_bytes;
}
