/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_replay.h"

#include <stdlib.h>

#include "analyzer/allocator_rounding.h"
#include "analyzer/allocator_split.h"
#include "analyzer/xalloc.h"
#include "formats/records.h"

void ga_replay_begin(struct ga_replay *replay, const struct ga_alloc_trace *trace,
    const struct ga_replay_options *options)
{
	uint64_t budget = options->budget_bytes ? options->budget_bytes : trace->budget_bytes;
	uint64_t device = options->device_bytes ? options->device_bytes : trace->device_bytes;
	*replay = (struct ga_replay){
	    .trace = trace,
	    .options = *options,
	    .settings = options->settings ? *options->settings : trace->settings,
	    .blocks = ga_xalloc(trace->block_count, sizeof(uint32_t)),
	    .first_oom = UINT64_MAX,
	    .parted_at = UINT64_MAX,
	};
	ga_alloc_driver_fresh(&replay->driver, budget, options->order, options->seed);
	if (options->recorded_driver) {
		replay->driver.segments = trace->segments;
		replay->driver.segment_count = trace->segment_count;
		replay->driver.reservations = trace->reservations;
		replay->driver.reservation_count = trace->reservation_count;
		replay->driver.maps = trace->maps;
		replay->driver.map_count = trace->map_count;
	}
	replay->model = ga_allocator_new(
	    &replay->settings, device, &replay->driver, options->sink, options->sink_self);
	replay->counts = ga_allocator_counts(replay->model);
	if (options->fraction > 0)
		ga_allocator_set_fraction(replay->model, options->fraction);
}

static void ready(struct ga_replay *replay, uint32_t block)
{
	ga_allocator_ready(replay->model, replay->blocks[block], block);
}

static void postpone(struct ga_replay *replay, const struct ga_alloc_trace_event *event)
{
	replay->postponed = ga_xgrow(replay->postponed, replay->postponed_count,
	    &replay->postponed_capacity, sizeof(*event));
	replay->postponed[replay->postponed_count++] = *event;
}

/* READY events held back become due: all, or those of one stream. */
static void deliver(struct ga_replay *replay, bool all, uint16_t stream)
{
	size_t kept = 0;
	for (size_t i = 0; i < replay->postponed_count; i++)
		if (all || replay->postponed[i].stream == stream)
			ready(replay, replay->postponed[i].block);
		else
			replay->postponed[kept++] = replay->postponed[i];
	replay->postponed_count = kept;
}

static void play_ready(struct ga_replay *replay, const struct ga_alloc_trace_event *event)
{
	enum ga_ready_rule rule = replay->options.ready;
	bool forced = event->flags & GA_CALL_FORCED;
	if (rule == GA_READY_LATE || (rule == GA_READY_NATURAL && forced)) {
		postpone(replay, event);
		return;
	}
	if (replay->postponed_count)
		deliver(replay, false, event->stream);
	ready(replay, event->block);
}

static void play_settings(struct ga_replay *replay, uint64_t index)
{
	/* Settings under test stay in force: what the program sets is not known to mix with them.
	 */
	if (replay->options.settings || index >= replay->trace->settings_count)
		return;
	/* What the release refuses changed nothing. */
	if (!ga_allocator_settings_change(
		&replay->settings, replay->trace->settings_texts[index], NULL))
		ga_allocator_change(replay->model, &replay->settings);
}

/* What happens rarely. */
static void play_mark(struct ga_replay *replay, const struct ga_alloc_trace_event *event)
{
	switch ((enum ga_alloc_trace_kind)event->kind) {
	case GA_CALL_EMPTY_CACHE:
		ga_allocator_empty_cache(replay->model);
		break;
	case GA_CALL_FRACTION:
		ga_allocator_set_fraction(
		    replay->model, (double)event->value / (double)GF_FRACTION_ONE);
		break;
	case GA_CALL_SETTINGS:
		play_settings(replay, event->value);
		break;
	case GA_CALL_CAPTURE_BEGIN:
		ga_allocator_capture_begin(replay->model, event->block);
		replay->pool = event->block;
		break;
	case GA_CALL_CAPTURE_END:
		ga_allocator_capture_end(replay->model);
		replay->pool = 0;
		break;
	case GA_CALL_POOL_RELEASE:
		ga_allocator_pool_release(replay->model, event->block);
		break;
	case GA_CALL_SYNCHRONIZE:
		deliver(replay, true, 0);
		break;
	default:
		break;
	}
}

/* An allocation had to retry, or failed. */
static void note_trouble(
    struct ga_replay *replay, const struct ga_alloc_trace_event *event, bool failed)
{
	const struct ga_allocator_settings *settings = ga_allocator_current(replay->model);
	replay->retries = replay->counts->retries;
	if (failed && replay->first_oom == UINT64_MAX)
		replay->first_oom = replay->next - 1;
	if (!replay->options.with_troubles)
		return;
	replay->troubles = ga_xgrow(replay->troubles, replay->trouble_count,
	    &replay->trouble_capacity, sizeof(*replay->troubles));
	replay->troubles[replay->trouble_count++] = (struct ga_trouble){
	    .event = replay->next - 1,
	    .segment_bytes = ga_round_segment(settings, ga_round_request(settings, event->value)),
	    .stuck_bytes = ga_allocator_split(replay->model).stuck,
	    .failed = failed,
	};
}

bool ga_replay_run(struct ga_replay *replay, size_t until)
{
	const struct ga_alloc_trace *trace = replay->trace;
	size_t end = until < trace->event_count ? until : trace->event_count;
	while (replay->next < end) {
		const struct ga_alloc_trace_event *event = &trace->events[replay->next++];
		uint32_t block;
		switch (event->kind) {
		case GA_CALL_ALLOC:
			block = ga_allocator_allocate(replay->model, event->value,
			    trace->streams[event->stream],
			    event->flags & GA_CALL_CAPTURED ? replay->pool : 0, event->block);
			replay->blocks[event->block] = block;
			if (!block || replay->counts->retries != replay->retries)
				note_trouble(replay, event, !block);
			if (replay->options.stop_when_parted &&
			    !block != !!(event->flags & GA_CALL_FAILED)) {
				replay->parted_at = replay->next - 1;
				return false;
			}
			break;
		case GA_CALL_FREE:
			block = replay->blocks[event->block];
			if (block)
				ga_allocator_free(replay->model, block,
				    event->flags & GA_CALL_WAITS &&
					replay->options.ready != GA_READY_AT_ONCE);
			break;
		case GA_CALL_READY:
			if (replay->blocks[event->block])
				play_ready(replay, event);
			break;
		default:
			play_mark(replay, event);
			break;
		}
	}
	return replay->next < trace->event_count;
}

void ga_replay_end(struct ga_replay *replay, struct ga_replay_result *result_out)
{
	if (result_out) {
		result_out->counts = *replay->counts;
		result_out->first_oom = replay->first_oom;
		result_out->parted_at = replay->parted_at;
		result_out->troubles = replay->troubles;
		result_out->trouble_count = replay->trouble_count;
	} else {
		free(replay->troubles);
	}
	ga_allocator_destroy(replay->model);
	free(replay->blocks);
	free(replay->postponed);
	*replay = (struct ga_replay){0};
}

void ga_replay_result_clear(struct ga_replay_result *result)
{
	free(result->troubles);
	*result = (struct ga_replay_result){0};
}

void ga_replay_whole(const struct ga_alloc_trace *trace, const struct ga_replay_options *options,
    struct ga_replay_result *result_out)
{
	struct ga_replay replay;
	ga_replay_begin(&replay, trace, options);
	ga_replay_run(&replay, SIZE_MAX);
	ga_replay_end(&replay, result_out);
}

enum ga_address_order ga_alloc_trace_order(const struct ga_alloc_trace *trace)
{
	size_t down = 0, up = 0;
	uint64_t before = 0;
	for (size_t i = 0; i < trace->segment_count; i++) {
		uint64_t address = trace->segments[i].address;
		if (!address)
			continue;
		down += before && address < before;
		up += before && address > before;
		before = address;
	}
	return down > up ? GA_ADDRESS_DOWN : GA_ADDRESS_UP;
}

/* Compares entries as they come. */
struct comparison {
	const struct ga_history_entry *segments;
	size_t count, next;
	struct ga_fidelity *fidelity;
};

static bool is_same(const struct ga_history_entry *a, const struct ga_history_entry *b)
{
	return a->action == b->action && a->address == b->address && a->size == b->size &&
	       (a->stream == b->stream || a->stream == UINT64_MAX);
}

static void compare_entry(void *self, const struct ga_history_entry *entry)
{
	struct comparison *comparison = self;
	struct ga_fidelity *fidelity = comparison->fidelity;
	if (entry->action < GA_HISTORY_SEGMENT_ALLOC || entry->action == GA_HISTORY_OOM ||
	    fidelity->first_mismatch != UINT64_MAX)
		return;
	if (comparison->next < comparison->count &&
	    is_same(&comparison->segments[comparison->next], entry)) {
		comparison->next++;
		fidelity->segments_matched++;
		return;
	}
	fidelity->first_mismatch = comparison->next;
	fidelity->replayed = *entry;
	if (comparison->next < comparison->count)
		fidelity->recorded = comparison->segments[comparison->next];
}

void ga_replay_verify(const struct ga_alloc_trace *trace, const struct ga_history_entry *segments,
    size_t segment_count, struct ga_fidelity *fidelity_out)
{
	*fidelity_out =
	    (struct ga_fidelity){.segments = segment_count, .first_mismatch = UINT64_MAX};
	struct comparison comparison = {segments, segment_count, 0, fidelity_out};
	struct ga_replay_options options = {
	    .recorded_driver = true,
	    .sink = compare_entry,
	    .sink_self = &comparison,
	};
	struct ga_replay replay;
	ga_replay_begin(&replay, trace, &options);
	while (replay.next < trace->event_count) {
		const struct ga_alloc_trace_event *event = &trace->events[replay.next];
		ga_replay_run(&replay, replay.next + 1);
		if (event->kind != GA_CALL_ALLOC || !trace->addresses[event->block])
			continue;
		uint32_t block = replay.blocks[event->block];
		fidelity_out->blocks++;
		fidelity_out->blocks_matched +=
		    block && ga_allocator_block_address(replay.model, block) ==
				 trace->addresses[event->block];
	}
	if (comparison.next < segment_count && fidelity_out->first_mismatch == UINT64_MAX) {
		fidelity_out->first_mismatch = comparison.next;
		fidelity_out->recorded = segments[comparison.next];
	}
	fidelity_out->counts = *replay.counts;
	ga_replay_end(&replay, NULL);
}
