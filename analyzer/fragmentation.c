/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/fragmentation.h"

#include <stdlib.h>

#include "analyzer/allocator_rounding.h"
#include "analyzer/xalloc.h"

#define PACKING_BLOCKS 20000
#define PACKING_BLOCKS_LEAST 500
#define PACKING_STEPS UINT64_C(1000000000) /* a second or two */

/* All lifetimes in order of block number; `end` 0 marks a block that never was. */
static struct ga_lifetime *all_lifetimes(const struct ga_alloc_trace *trace)
{
	struct ga_lifetime *lives = ga_xalloc(trace->block_count, sizeof(*lives));
	for (size_t i = 0; i < trace->event_count; i++) {
		const struct ga_alloc_trace_event *event = &trace->events[i];
		bool ends = event->kind == GA_CALL_READY ||
			    (event->kind == GA_CALL_FREE && !(event->flags & GA_CALL_WAITS));
		if (event->kind == GA_CALL_ALLOC && !(event->flags & GA_CALL_FAILED))
			lives[event->block] = (struct ga_lifetime){ga_round_plain(event->value),
			    (uint32_t)i, (uint32_t)trace->event_count};
		else if (ends && lives[event->block].end)
			lives[event->block].end = (uint32_t)i;
	}
	return lives;
}

/* Index of the event after which the load is highest for the first time. */
static size_t load_peak(const struct ga_alloc_trace *trace, const struct ga_lifetime *lives)
{
	uint64_t load = 0, peak = 0;
	size_t at = 0;
	for (size_t i = 0; i < trace->event_count; i++) {
		const struct ga_alloc_trace_event *event = &trace->events[i];
		if (event->kind > GA_CALL_READY || !lives[event->block].end)
			continue;
		const struct ga_lifetime *life = &lives[event->block];
		if (life->end == i)
			load -= life->size;
		else if (life->start == i)
			load += life->size;
		if (load > peak) {
			peak = load;
			at = i;
		}
	}
	return at;
}

size_t ga_alloc_trace_lifetimes(const struct ga_alloc_trace *trace, size_t blocks_max,
    struct ga_lifetime **lifetimes_out, bool *whole_out)
{
	struct ga_lifetime *lives = all_lifetimes(trace);
	uint32_t from = 0, to = UINT32_MAX;
	if (trace->block_count > blocks_max) {
		size_t peak = load_peak(trace, lives), half = blocks_max / 2;
		from = peak > half ? (uint32_t)(peak - half) : 0;
		to = (uint32_t)(peak + half);
	}
	size_t kept = 0;
	for (size_t i = 0; i < trace->block_count; i++)
		if (lives[i].end > from && lives[i].start <= to && lives[i].end > lives[i].start)
			lives[kept++] = lives[i];
	*whole_out = trace->block_count <= blocks_max;
	*lifetimes_out = lives;
	return kept;
}

/* Replay once more until the reserved bytes reach their peak for the first time, and split them. */
static void find_peak(const struct ga_alloc_trace *trace, struct ga_fragmentation *out)
{
	struct ga_replay_options options = {.recorded_driver = true};
	struct ga_replay replay;
	ga_replay_begin(&replay, trace, &options);
	while (ga_replay_run(&replay, replay.next + 1) &&
	       replay.counts->peak_reserved < out->peak_reserved)
		;
	out->at_peak = ga_allocator_split(replay.model);
	/* The call may have released more after the peak: that was cached and could go. */
	out->at_peak.releasable += out->peak_reserved - replay.counts->reserved;
	ga_replay_end(&replay, NULL);
}

/* What a row had at an event, NULL if its request was granted at once. */
static const struct ga_trouble *trouble_at(const struct ga_grid_row *row, uint64_t event)
{
	size_t low = 0, high = row->trouble_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (row->troubles[middle].event < event)
			low = middle + 1;
		else
			high = middle;
	}
	return low < row->trouble_count && row->troubles[low].event == event ? &row->troubles[low]
									     : NULL;
}

/* Whether some other setting makes a failure succeed, or a retry unnecessary. */
static bool is_avoidable(const struct ga_grid *grid, const struct ga_trouble *recorded)
{
	for (size_t i = 0; i < grid->count; i++) {
		const struct ga_grid_row *row = &grid->rows[i];
		const struct ga_trouble *trouble = trouble_at(row, recorded->event);
		if (!row->is_recorded && row->parted_at >= recorded->event &&
		    (!trouble || (recorded->failed && !trouble->failed)))
			return true;
	}
	return false;
}

static uint64_t harm_of(const struct ga_grid *grid)
{
	uint64_t harm = 0;
	const struct ga_grid_row *recorded = grid->rows;
	for (size_t i = 0; grid->count && i < recorded->trouble_count; i++) {
		const struct ga_trouble *trouble = &recorded->troubles[i];
		uint64_t bytes = trouble->stuck_bytes < trouble->segment_bytes
				     ? trouble->stuck_bytes
				     : trouble->segment_bytes;
		if (bytes > harm && is_avoidable(grid, trouble))
			harm = bytes;
	}
	return harm;
}

static void pack(
    const struct ga_alloc_trace *trace, size_t blocks_max, struct ga_fragmentation *out)
{
	/* What takes too long is tried again with fewer blocks around the peak. */
	for (; !out->packing && blocks_max >= PACKING_BLOCKS_LEAST; blocks_max /= 4) {
		struct ga_lifetime *lives;
		bool whole;
		size_t count = ga_alloc_trace_lifetimes(trace, blocks_max, &lives, &whole);
		out->packing = ga_pack(lives, count, PACKING_STEPS);
		out->packing_is_window = !whole;
		free(lives);
		if (!count)
			break;
	}
	/* Planning can always do what the best setting did. */
	const struct ga_grid_row *best = ga_grid_best(&out->grid);
	if (best && best->peak_reserved < out->packing)
		out->packing = best->peak_reserved;
}

void ga_fragmentation_measure(const struct ga_alloc_trace *trace,
    const struct ga_history_entry *segments, size_t segment_count,
    const struct ga_fragmentation_options *options, struct ga_fragmentation *out)
{
	struct ga_grid_options grid = options->grid;
	*out = (struct ga_fragmentation){0};
	const struct ga_allocator_counts *counts = &out->fidelity.counts;
	ga_replay_verify(trace, segments, segment_count, &out->fidelity);
	out->peak_reserved = counts->peak_reserved;
	out->lower_bound = counts->peak_plain;
	out->retries = counts->retries;
	out->ooms = counts->ooms;
	find_peak(trace, out);
	if (!grid.preallocate)
		grid.preallocate = out->lower_bound;
	if (out->fidelity.segments_matched == out->fidelity.segments &&
	    out->fidelity.first_mismatch == UINT64_MAX)
		ga_grid_replay(trace, &grid, &out->grid);
	out->harm = harm_of(&out->grid);
	pack(trace, options->packing_blocks ? options->packing_blocks : PACKING_BLOCKS, out);
}

void ga_fragmentation_clear(struct ga_fragmentation *fragmentation)
{
	ga_grid_clear(&fragmentation->grid);
}
