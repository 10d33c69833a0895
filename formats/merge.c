/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of all threads in time order.
 *
 * A lane is a thread with its frames in order; a heap of lanes is ordered by the time of each one's
 * next event.  A lane whose next frame is not decoded yet stands at that frame's first time, so
 * that threads which end early or begin late cost nothing meanwhile.  The lane at the top goes on
 * without touching the heap as long as it stays before the second.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/reader_state.h"

struct lane {
	uint64_t ticks; /* of the next event, or the first time of the next frame */
	uint32_t thread_id;
	size_t unit, unit_end; /* next frame and the end of this thread's frames, in `order` */
	struct open_frame *open;
};

/* A decoded frame on its way; kept in a list for use again. */
struct open_frame {
	struct gf_decoder *decoder;
	struct open_frame *next_free;
	uint32_t at; /* of the next event in types[] */
	uint32_t rows[GF_TAG_LIMIT];
	struct gf_batch batch;
};

struct gf_merge {
	struct gf_reader *reader;
	uint64_t type_mask;
	struct gf_unit **order; /* wanted units by thread, then age */
	struct lane *lanes;
	size_t *heap; /* lane numbers */
	size_t heap_count;
	struct open_frame *free_frames;
	const struct lane *rival; /* the second in order, NULL if there is one lane only */
	bool given;		  /* the top lane's event was handed out: go on behind it */
};

/* ---- lanes ---- */

static bool before(const struct lane *left, const struct lane *right)
{
	return left->ticks != right->ticks ? left->ticks < right->ticks
					   : left->thread_id < right->thread_id;
}

static void sink(struct gf_merge *merge, size_t at)
{
	size_t *heap = merge->heap, moving = heap[at];
	for (;;) {
		size_t child = 2 * at + 1;
		if (child >= merge->heap_count)
			break;
		if (child + 1 < merge->heap_count &&
		    before(&merge->lanes[heap[child + 1]], &merge->lanes[heap[child]]))
			child++;
		if (!before(&merge->lanes[heap[child]], &merge->lanes[moving]))
			break;
		heap[at] = heap[child];
		at = child;
	}
	heap[at] = moving;
}

static struct open_frame *take_frame(struct gf_merge *merge)
{
	struct open_frame *open = merge->free_frames;
	if (open) {
		merge->free_frames = open->next_free;
		return open;
	}
	open = calloc(1, sizeof(*open));
	if (open && !(open->decoder = gf_decoder_new(merge->reader->decoder))) {
		free(open);
		open = NULL;
	}
	return open;
}

static void give_back_frame(struct gf_merge *merge, struct open_frame *open)
{
	open->next_free = merge->free_frames;
	merge->free_frames = open;
}

/* Move to the next wanted event of the open frame.  False: there is none. */
static bool find_event(const struct gf_merge *merge, struct lane *lane)
{
	struct open_frame *open = lane->open;
	const uint8_t *types = open->batch.types;
	uint32_t at = open->at, count = open->batch.count;
	while (at < count && !(merge->type_mask >> types[at] & 1))
		at++;
	open->at = at;
	if (at < count)
		lane->ticks = open->batch.times[at];
	return at < count;
}

/* Decode the lane's next frame that has something.  GF_END: the thread is finished. */
static enum gf_status open_next(struct gf_merge *merge, struct lane *lane, struct gf_error *error)
{
	if (!lane->open && !(lane->open = take_frame(merge)))
		return gf_fail(
		    error, GF_NO_MEMORY, UINT64_MAX, "out of memory for a decoded frame");
	while (lane->unit < lane->unit_end) {
		struct open_frame *open = lane->open;
		enum gf_status status = gf_reader_load(merge->reader, merge->order[lane->unit++],
		    merge->type_mask, open->decoder, &open->batch, error);
		if (status == GF_BAD_FRAME)
			continue;
		if (status)
			return status;
		open->at = 0;
		memset(open->rows, 0, sizeof(open->rows));
		if (find_event(merge, lane))
			return GF_OK;
	}
	return GF_END;
}

/* After the last event of a frame: the lane waits at the first time of its next one. */
static bool wait_for_next(struct gf_merge *merge, struct lane *lane)
{
	give_back_frame(merge, lane->open);
	lane->open = NULL;
	if (lane->unit == lane->unit_end)
		return false;
	lane->ticks = merge->order[lane->unit]->info.time_first;
	return true;
}

static void remove_top(struct gf_merge *merge)
{
	struct lane *lane = &merge->lanes[merge->heap[0]];
	if (lane->open)
		give_back_frame(merge, lane->open);
	lane->open = NULL;
	merge->heap[0] = merge->heap[--merge->heap_count];
}

/* ---- the stream ---- */

/* Bring the heap in order until the top lane stands at a decoded event. */
static enum gf_status settle(struct gf_merge *merge, struct gf_error *error)
{
	while (merge->heap_count) {
		sink(merge, 0);
		struct lane *lane = &merge->lanes[merge->heap[0]];
		if (lane->open)
			break;
		enum gf_status status = open_next(merge, lane, error);
		if (status == GF_END)
			remove_top(merge);
		else if (status)
			return status;
	}
	if (merge->heap_count == 0)
		return GF_END;
	const struct lane *lanes = merge->lanes;
	const size_t *heap = merge->heap;
	merge->rival = merge->heap_count > 1 ? &lanes[heap[1]] : NULL;
	if (merge->heap_count > 2 && before(&lanes[heap[2]], merge->rival))
		merge->rival = &lanes[heap[2]];
	return GF_OK;
}

/* Go behind the event handed out last.  True: the top lane stays at the top. */
static bool step(struct gf_merge *merge)
{
	struct lane *lane = &merge->lanes[merge->heap[0]];
	lane->open->at++;
	if (find_event(merge, lane))
		return !merge->rival || before(lane, merge->rival);
	if (!wait_for_next(merge, lane))
		remove_top(merge);
	return false;
}

enum gf_status gf_merge_next(
    struct gf_merge *merge, struct gf_event_ref *out, struct gf_error *error)
{
	/* Not before: the batch of the last event had to stay as it was until now. */
	bool ready = merge->given && step(merge);
	merge->given = false;
	if (!ready) {
		enum gf_status status = settle(merge, error);
		if (status)
			return status;
	}
	struct lane *lane = &merge->lanes[merge->heap[0]];
	struct open_frame *open = lane->open;
	unsigned type = open->batch.types[open->at];
	out->ticks = lane->ticks;
	out->thread_id = lane->thread_id;
	out->row = open->rows[type]++;
	out->type = (uint8_t)type;
	out->batch = &open->batch;
	merge->given = true;
	return GF_OK;
}

int gf_unit_compare(const struct gf_unit *a, const struct gf_unit *b)
{
	if (a->info.thread_id != b->info.thread_id)
		return a->info.thread_id < b->info.thread_id ? -1 : 1;
	if (a->first_source.sequence != b->first_source.sequence)
		return a->first_source.sequence < b->first_source.sequence ? -1 : 1;
	if (a->first_source.begin != b->first_source.begin)
		return a->first_source.begin < b->first_source.begin ? -1 : 1;
	return a < b ? -1 : a > b; /* place in the file */
}

static int by_thread(const void *left, const void *right)
{
	return gf_unit_compare(
	    *(const struct gf_unit *const *)left, *(const struct gf_unit *const *)right);
}

static void make_lanes(struct gf_merge *merge, size_t units)
{
	for (size_t i = 0; i < units;) {
		struct lane *lane = &merge->lanes[merge->heap_count];
		*lane = (struct lane){.ticks = merge->order[i]->info.time_first,
		    .thread_id = merge->order[i]->info.thread_id,
		    .unit = i};
		while (i < units && merge->order[i]->info.thread_id == lane->thread_id)
			i++;
		lane->unit_end = i;
		merge->heap[merge->heap_count] = merge->heap_count;
		merge->heap_count++;
	}
	for (size_t i = merge->heap_count / 2; i-- > 0;)
		sink(merge, i);
}

struct gf_merge *gf_merge_open(struct gf_reader *reader, uint64_t type_mask)
{
	struct gf_merge *merge = calloc(1, sizeof(*merge));
	size_t units = 0, room = reader->unit_count + 1;
	if (!merge)
		return NULL;
	merge->reader = reader;
	merge->type_mask = type_mask;
	merge->order = malloc(room * sizeof(*merge->order));
	merge->lanes = malloc(room * sizeof(*merge->lanes));
	merge->heap = malloc(room * sizeof(*merge->heap));
	if (!merge->order || !merge->lanes || !merge->heap) {
		gf_merge_close(merge);
		return NULL;
	}
	for (size_t i = 0; i < reader->unit_count; i++)
		if (!reader->units[i].bad && (reader->units[i].info.type_mask & type_mask))
			merge->order[units++] = &reader->units[i];
	qsort(merge->order, units, sizeof(*merge->order), by_thread);
	make_lanes(merge, units);
	return merge;
}

void gf_merge_close(struct gf_merge *merge)
{
	if (!merge)
		return;
	while (merge->heap_count)
		remove_top(merge);
	while (merge->free_frames) {
		struct open_frame *open = merge->free_frames;
		merge->free_frames = open->next_free;
		gf_decoder_free(open->decoder);
		free(open);
	}
	free(merge->order);
	free(merge->lanes);
	free(merge->heap);
	free(merge);
}
