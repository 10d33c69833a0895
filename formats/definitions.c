/* SPDX-License-Identifier: Apache-2.0 */
/* Texts, marks, clocks and losses of a trace: what a reader knows from the moment it is open. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/reader_state.h"

static enum gf_status no_memory(struct gf_error *error)
{
	return gf_fail(error, GF_NO_MEMORY, UINT64_MAX, "out of memory for the texts of the trace");
}

static bool add_texts(struct gf_definitions *all, const struct gf_batch *batch)
{
	uint32_t rows = batch->rows[GF_TAG_text].count;
	if (!gf_array_room(
		(void **)&all->texts, &all->text_room, all->text_count, rows, sizeof(*all->texts)))
		return false;
	for (uint32_t row = 0; row < rows; row++) {
		struct gf_text text;
		gf_get_text(batch, row, &text);
		char *bytes = gf_arena_take(&all->arena, (size_t)text.length + 1);
		if (!bytes)
			return false;
		memcpy(bytes, batch->text_bytes + batch->text_offsets[row], text.length);
		bytes[text.length] = 0;
		all->texts[all->text_count++] = (struct gf_text_entry){
		    text.kind, text.id, text.length, batch->thread_id, text.time, bytes};
	}
	return true;
}

static void add_losses(struct gf_summary *summary, const struct gf_batch *batch)
{
	for (uint32_t row = 0; row < batch->rows[GF_TAG_lost].count; row++) {
		struct gf_lost lost;
		gf_get_lost(batch, row, &lost);
		if (lost.reason < GF_LOST_REASON_COUNT)
			summary->lost[lost.reason] += lost.count;
	}
}

/* Count the definitions of a batch; false if they are more than the file may have. */
static bool count_bytes(struct gf_definitions *all, const struct gf_batch *batch)
{
	const struct gf_rows *rows = batch->rows;
	uint32_t texts = rows[GF_TAG_text].count;
	uint64_t bytes = GF_DEFINITION_BYTES *
			 ((uint64_t)texts + rows[GF_TAG_mark].count + rows[GF_TAG_clock].count);
	for (uint32_t row = 0; row < texts; row++) {
		struct gf_text text;
		gf_get_text(batch, row, &text);
		bytes += text.length;
	}
	if (all->bytes + bytes > all->bytes_limit)
		return false;
	all->bytes += bytes;
	return true;
}

enum gf_status gf_definitions_add(
    struct gf_reader *reader, const struct gf_batch *batch, struct gf_error *error)
{
	struct gf_definitions *all = &reader->definitions;
	uint32_t marks = batch->rows[GF_TAG_mark].count, clocks = batch->rows[GF_TAG_clock].count;
	if (!count_bytes(all, batch))
		return gf_fail(error, GF_BAD_FRAME, UINT64_MAX,
		    "the texts of the trace are larger than a file of its size can mean");
	if (!add_texts(all, batch) ||
	    !gf_array_room((void **)&all->marks, &all->mark_room, all->mark_count, marks,
		sizeof(*all->marks)) ||
	    !gf_array_room((void **)&all->clocks, &all->clock_room, all->clock_count, clocks,
		sizeof(*all->clocks)))
		return no_memory(error);
	for (uint32_t row = 0; row < marks; row++) {
		struct gf_mark *mark = &all->marks[all->mark_count++];
		gf_get_mark(batch, row, mark);
		reader->summary.ended |= mark->kind == GF_MARK_END;
	}
	for (uint32_t row = 0; row < clocks; row++)
		gf_get_clock(batch, row, &all->clocks[all->clock_count++]);
	add_losses(&reader->summary, batch);
	return GF_OK;
}

static int by_name(const void *left, const void *right, void *context)
{
	const struct gf_text_entry *texts = context;
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
	if (texts[a].kind != texts[b].kind)
		return texts[a].kind < texts[b].kind ? -1 : 1;
	if (texts[a].id != texts[b].id)
		return texts[a].id < texts[b].id ? -1 : 1;
	if (texts[a].time != texts[b].time)
		return texts[a].time < texts[b].time ? -1 : 1;
	return a < b ? -1 : a > b;
}

static uint64_t ticks_per_second(const struct gf_reader *reader)
{
	const char *text = gf_reader_property(reader, "ticks_per_second");
	char *end;
	if (!text || *text < '0' || *text > '9')
		return 0;
	errno = 0;
	uint64_t value = strtoull(text, &end, 10);
	return *end || errno ? 0 : value;
}

enum gf_status gf_definitions_finish(struct gf_reader *reader, struct gf_error *error)
{
	struct gf_definitions *all = &reader->definitions;
	all->text_order = malloc((all->text_count + 1) * sizeof(*all->text_order));
	if (!all->text_order)
		return no_memory(error);
	for (size_t i = 0; i < all->text_count; i++)
		all->text_order[i] = (uint32_t)i;
	qsort_r(all->text_order, all->text_count, sizeof(*all->text_order), by_name, all->texts);
	if (!gf_clock_map_build(&reader->clock, all->clocks, all->clock_count,
		ticks_per_second(reader), reader->summary.first_ticks))
		return no_memory(error);
	return GF_OK;
}

void gf_definitions_free(struct gf_definitions *definitions)
{
	gf_arena_free(&definitions->arena);
	free(definitions->texts);
	free(definitions->text_order);
	free(definitions->marks);
	free(definitions->clocks);
}

/* ---- answers ---- */

const char *gf_reader_property(const struct gf_reader *reader, const char *name)
{
	const struct gf_definitions *all = &reader->definitions;
	const struct gf_text_entry *last = NULL;
	size_t length = strlen(name);
	for (size_t i = 0; i < all->text_count; i++) {
		const struct gf_text_entry *text = &all->texts[i];
		if (text->kind == GF_TEXT_PROPERTY && text->length > length &&
		    memcmp(text->bytes, name, length + 1) == 0 &&
		    (!last || text->time >= last->time))
			last = text;
	}
	return last ? last->bytes + length + 1 : NULL;
}

const struct gf_text_entry *gf_reader_texts(const struct gf_reader *reader, uint32_t *count_out)
{
	*count_out = (uint32_t)reader->definitions.text_count;
	return reader->definitions.texts;
}

const char *gf_reader_text(const struct gf_reader *reader, enum gf_text_kind kind, uint32_t id)
{
	const struct gf_definitions *all = &reader->definitions;
	size_t low = 0, high = all->text_count; /* the first one behind (kind, id) */
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct gf_text_entry *text = &all->texts[all->text_order[middle]];
		if (text->kind < (uint32_t)kind || (text->kind == (uint32_t)kind && text->id <= id))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	const struct gf_text_entry *text = &all->texts[all->text_order[low - 1]];
	return text->kind == (uint32_t)kind && text->id == id ? text->bytes : NULL;
}

const struct gf_mark *gf_reader_marks(const struct gf_reader *reader, uint32_t *count_out)
{
	*count_out = (uint32_t)reader->definitions.mark_count;
	return reader->definitions.marks;
}

uint64_t gf_reader_ns(struct gf_reader *reader, uint64_t ticks)
{
	return gf_clock_map_ns(&reader->clock, ticks);
}

uint64_t gf_reader_span_ns(const struct gf_reader *reader, uint64_t ticks)
{
	return gf_clock_map_span_ns(&reader->clock, ticks);
}

uint64_t gf_reader_start_realtime_ns(const struct gf_reader *reader)
{
	return reader->clock.origin_realtime;
}
