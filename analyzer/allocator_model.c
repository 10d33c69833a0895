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
static uint32_t pool_number(struct ga_model *model, uint32_t id)
{
	for (uint32_t i = 0; i < model->pool_count; i++)
		if (model->pools[i].id == id)
			return i;
	model->pools = ga_xgrow(
	    model->pools, model->pool_count, &model->pool_capacity, sizeof(*model->pools));
	model->pools[model->pool_count] = (struct ga_pool){.id = id};
	for (int is_small = 0; is_small < 2; is_small++) {
		model->sides = ga_xgrow(
		    model->sides, model->side_count, &model->side_capacity, sizeof(*model->sides));
		model->sides[model->side_count++] = (struct ga_side){.is_small = is_small};
	}
	return (uint32_t)model->pool_count++;
}

struct ga_model *ga_model_new(const struct ga_allocator_settings *settings, uint64_t device_bytes,
    struct ga_driver *driver, ga_history_sink *sink, void *sink_self)
{
	struct ga_model *model = ga_xalloc(1, sizeof(*model));
	model->settings = *settings;
	model->driver = driver;
	model->sink = sink;
	model->sink_self = sink_self;
	model->device_bytes = device_bytes;
	model->allowed_bytes = UINT64_MAX;
	pool_number(model, 0);
	/* Number 0 of blocks and segments means none; its state is that of no list. */
	uint32_t none = ga_segment_new(model, 0, 0, 0);
	ga_block_new(model, none, 0, 0, 0, 0, 0);
	if (settings->fraction >= 0)
		ga_model_set_fraction(model, settings->fraction);
	return model;
}

void ga_model_destroy(struct ga_model *model)
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
static uint32_t queue_of(struct ga_model *model, uint32_t side_number, uint64_t stream)
{
	struct ga_side *side = &model->sides[side_number];
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
	model->queues[number] = (struct ga_queue){.stream = stream, .side = side_number};
	side->queues = ga_xgrow(side->queues, side->count, &side->capacity, sizeof(*side->queues));
	memmove(side->queues + low + 1, side->queues + low,
	    (side->count - low) * sizeof(*side->queues));
	side->queues[low] = number;
	side->count++;
	return number;
}

/* Complete the waiting blocks whose events are done. */
static void drain(struct ga_model *model)
{
	size_t kept = 0;
	for (size_t i = 0; i < model->waiting_count; i++) {
		uint32_t block = model->waiting[i];
		if (ga_block_of(model, block)->ready)
			ga_block_complete(model, block);
		else
			model->waiting[kept++] = block;
	}
	model->waiting_count = kept;
	model->ready_count = 0;
}

/* A new segment for the request, or more pages: the driver is asked. */
static uint32_t ask_driver(struct ga_model *model, const struct ga_request *request)
{
	uint64_t size = request->segment_bytes, address;
	if (model->has_fraction && model->counts.reserved + size > model->allowed_bytes)
		return 0;
	if (model->settings.expandable)
		return ga_expand(model, request);
	if (!ga_driver_allocate(model->driver, size, &address)) {
		model->counts.refusals++;
		return 0;
	}
	uint64_t stream = model->queues[request->queue].stream;
	uint32_t segment = ga_segment_new(model, address, size, 0);
	uint32_t block = ga_block_new(model, segment, request->queue, address, size, 0, 0);
	model->counts.segment_allocs++;
	ga_count_reserved(model, size);
	ga_emit(model, GA_HISTORY_SEGMENT_ALLOC, address, size, stream);
	return block;
}

/* Steps 4 to 8: no free block serves. */
static uint32_t make_room(struct ga_model *model, const struct ga_request *request)
{
	if (ga_collects(model))
		ga_collect(model);
	uint32_t block = ask_driver(model, request);
	if (!block && ga_release_oversized(model, request))
		block = ask_driver(model, request);
	if (!block && !model->captures) {
		ga_release_cached(model);
		model->counts.retries++;
		block = ask_driver(model, request);
	}
	if (block)
		return block;
	model->counts.ooms++;
	ga_emit(model, GA_HISTORY_OOM, ga_driver_free_bytes(model->driver), request->block_bytes,
	    model->queues[request->queue].stream);
	return 0;
}

/* Cut the request off the front of a block; the rest, which keeps its record, is free again. */
static uint32_t split(struct ga_model *model, const struct ga_request *request, uint32_t block)
{
	struct ga_block rest = *ga_block_of(model, block);
	uint32_t front = ga_block_new(model, rest.segment, rest.queue, rest.address,
	    request->block_bytes, rest.prev, block);
	ga_block_move(model, block, rest.address + request->block_bytes,
	    rest.size - request->block_bytes);
	ga_block_insert(model, block);
	return front;
}

static void count_alloc(struct ga_model_counts *counts, const struct ga_block *block)
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

uint32_t ga_model_allocate(
    struct ga_model *model, uint64_t bytes, uint64_t stream, uint32_t pool, uint32_t tag)
{
	if (!model->captures && model->ready_count)
		drain(model);
	struct ga_request request = {.bytes = bytes};
	request.block_bytes = ga_round_request(&model->settings, bytes);
	request.segment_bytes = ga_segment_bytes(&model->settings, request.block_bytes);
	uint32_t side = 2 * (pool ? pool_number(model, pool) : 0);
	side += request.block_bytes <= GA_SMALL_BYTES;
	request.queue = queue_of(model, side, stream);
	uint32_t block = ga_search(model, &request);
	if (!block)
		block = make_room(model, &request);
	if (!block)
		return 0;
	if (ga_splits(model, &request, block))
		block = split(model, &request, block);
	struct ga_block *given = ga_block_of(model, block);
	given->state = GA_BLOCK_LIVE;
	given->requested = bytes;
	given->tag = tag;
	count_alloc(&model->counts, given);
	ga_emit(model, GA_HISTORY_ALLOC, given->address, bytes, stream);
	return block;
}

void ga_model_free(struct ga_model *model, uint32_t block, bool waits)
{
	struct ga_block *freed = ga_block_of(model, block);
	ga_emit(model, GA_HISTORY_FREE_REQUESTED, freed->address, freed->requested,
	    model->queues[freed->queue].stream);
	model->counts.allocated -= freed->size;
	if (!waits) {
		ga_block_complete(model, block);
		return;
	}
	model->waiting = ga_xgrow(model->waiting, model->waiting_count, &model->waiting_capacity,
	    sizeof(*model->waiting));
	freed->state = GA_BLOCK_WAITING;
	freed->ready = false;
	model->waiting[model->waiting_count++] = block;
}

void ga_model_ready(struct ga_model *model, uint32_t block, uint32_t tag)
{
	struct ga_block *waiting = ga_block_of(model, block);
	if (waiting->state != GA_BLOCK_WAITING || waiting->tag != tag || waiting->ready)
		return;
	waiting->ready = true;
	model->ready_count++;
}

void ga_model_empty_cache(struct ga_model *model)
{
	ga_release_cached(model);
}

void ga_model_set_fraction(struct ga_model *model, double fraction)
{
	model->has_fraction = true;
	model->allowed_bytes = (uint64_t)(fraction * (double)model->device_bytes);
}

void ga_model_set_settings(struct ga_model *model, const struct ga_allocator_settings *settings)
{
	enum ga_tie tie = model->settings.tie;
	model->settings = *settings;
	model->settings.tie = tie;
}

const struct ga_allocator_settings *ga_model_settings(const struct ga_model *model)
{
	return &model->settings;
}

void ga_model_capture_begin(struct ga_model *model, uint32_t pool)
{
	model->pools[pool_number(model, pool)].uses++;
	model->captures++;
}

void ga_model_capture_end(struct ga_model *model, uint32_t pool)
{
	model->captures -= model->captures > 0;
}

void ga_model_pool_release(struct ga_model *model, uint32_t pool)
{
	struct ga_pool *released = &model->pools[pool_number(model, pool)];
	released->uses -= released->uses > 0;
}

const struct ga_model_counts *ga_model_counts(const struct ga_model *model)
{
	return &model->counts;
}

uint64_t ga_model_block_address(const struct ga_model *model, uint32_t block)
{
	return ga_block_of(model, block)->address;
}

uint64_t ga_model_block_size(const struct ga_model *model, uint32_t block)
{
	return ga_block_of(model, block)->size;
}

uint64_t ga_model_allowed_bytes(const struct ga_model *model)
{
	return model->allowed_bytes;
}
