/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/trace_index.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/arena.h"
#include "formats/file_read.h"
#include "formats/frame_layout.h"
#include "formats/wire.h"

#define WINDOW_BYTES (256u * 1024u)
#define READ_BYTES 8192u /* header and directory of most frames */
/* Bytes that may be read to find frames that were cut short, beside those of the frames: forged
 * headers may claim the same bytes a million times. */
#define DOUBT_FLOOR (4ull * GF_FRAME_BODY_LIMIT)

struct scan {
	int fd;
	uint64_t bytes; /* of the file */
	const struct gf_journal_copy *journal;
	struct gf_damage *damage;
	struct gf_trace_index *index;
	struct gf_error *error;
	/* A piece of the file. */
	unsigned char *window;
	uint64_t window_at;
	size_t window_bytes;
	/* What the last frame added, to take it back if its body turns out to be damaged. */
	uint32_t last_rows[GF_TAG_LIMIT];
	size_t last_covered, last_folds;
	uint64_t framed;  /* bytes of the frames in the index */
	uint64_t doubted; /* bytes read to find out which of them are whole */
};

void gf_damage_note(struct gf_damage *damage, uint64_t offset, uint64_t bytes, const char *text)
{
	damage->damaged_frames++;
	damage->unreadable_bytes += bytes;
	if (damage->first_text[0])
		return;
	damage->first_bad_offset = offset;
	snprintf(damage->first_text, sizeof(damage->first_text), "%s", text);
}

/*
 * The file ends earlier than it should: it got shorter, or cannot be read.  What a recording that runs
 * takes back, because its disk is full, the journal has.
 */
static void lose_rest(struct scan *scan, uint64_t from, int cause)
{
	char text[512];
	uint64_t bytes = scan->bytes - from;
	scan->bytes = from;
	if (!scan->damage || (!cause && scan->journal))
		return;
	snprintf(text, sizeof(text), "the last %llu bytes of the file cannot be read: %s",
	    (unsigned long long)bytes, cause ? gf_errno_words(cause) : "it got shorter meanwhile");
	gf_damage_note(scan->damage, from, bytes, text);
}

/* Bytes of the file at `at`: at least `want` of them unless the file ends before.  NULL: cannot. */
static const unsigned char *peek(struct scan *scan, uint64_t at, size_t want, size_t *got_out)
{
	uint64_t left = at < scan->bytes ? scan->bytes - at : 0;
	want = want < left ? want : (size_t)left;
	if (at < scan->window_at || at - scan->window_at > scan->window_bytes ||
	    scan->window_bytes - (size_t)(at - scan->window_at) < want) {
		size_t load = want > READ_BYTES ? want : READ_BYTES;
		load = load < left ? load : (size_t)left;
		scan->window_at = at;
		errno = 0;
		scan->window_bytes = gf_read_at(scan->fd, scan->window, load, at);
		if (scan->window_bytes < load)
			lose_rest(scan, at + scan->window_bytes, errno);
	}
	size_t skip = (size_t)(at - scan->window_at);
	*got_out = scan->window_bytes - skip;
	return scan->window + skip;
}

/* The first byte from `at` on that the file system keeps: holes, of which a file may have terabytes,
 * are zeros that need not be read.  The position, which others may share, stays as it was. */
static uint64_t behind_hole(const struct scan *scan, uint64_t at)
{
	off_t position = lseek(scan->fd, 0, SEEK_CUR);
	off_t data = lseek(scan->fd, (off_t)at, SEEK_DATA);
	bool none = data < 0 && errno == ENXIO;
	lseek(scan->fd, position, SEEK_SET);
	if (none || (data >= 0 && (uint64_t)data > scan->bytes))
		return scan->bytes;
	return data < 0 ? at : (uint64_t)data;
}

/* ---- what a frame adds ---- */

static enum gf_status out_of_memory(struct scan *scan)
{
	return gf_fail(scan->error, GF_NO_MEMORY, UINT64_MAX,
	    "out of memory for the index of %zu frames", scan->index->count);
}

static const struct gf_leftover *find_leftover(
    const struct gf_journal_copy *journal, uint64_t sequence)
{
	size_t low = 0, high = journal ? journal->count : 0;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (journal->leftovers[middle].sequence < sequence)
			low = middle + 1;
		else
			high = middle;
	}
	if (!journal || low == journal->count || journal->leftovers[low].sequence != sequence)
		return NULL;
	return &journal->leftovers[low];
}

static enum gf_status add_frame(struct scan *scan, const struct gf_frame_info *info,
    const struct gf_frame_source *sources, const uint32_t *rows)
{
	struct gf_trace_index *index = scan->index;
	if (!gf_array_room((void **)&index->frames, &index->room, index->count, 1,
		sizeof(*index->frames)))
		return out_of_memory(scan);
	struct gf_frame_entry *entry = &index->frames[index->count++];
	*entry = (struct gf_frame_entry){.info = *info};
	if (info->source_count)
		entry->first_source = sources[0];
	scan->framed += info->bytes;
	scan->last_covered = index->covered_count;
	scan->last_folds = index->folds;
	for (unsigned i = 0; i < info->source_count; i++) {
		index->folds += sources[i].sequence == GF_SOURCE_FOLD;
		const struct gf_leftover *leftover =
		    find_leftover(scan->journal, sources[i].sequence);
		if (!leftover)
			continue;
		if (!gf_array_room((void **)&index->covered, &index->covered_room,
			index->covered_count, 1, sizeof(*index->covered)))
			return out_of_memory(scan);
		index->covered[index->covered_count++] =
		    (struct gf_covered){(size_t)(leftover - scan->journal->leftovers),
			sources[i].begin, sources[i].end};
	}
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		index->rows[tag] += rows[tag];
	memcpy(scan->last_rows, rows, sizeof(scan->last_rows));
	return GF_OK;
}

static void take_back_last(struct scan *scan)
{
	struct gf_trace_index *index = scan->index;
	scan->framed -= index->frames[--index->count].info.bytes;
	index->covered_count = scan->last_covered;
	index->folds = scan->last_folds;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		index->rows[tag] -= scan->last_rows[tag];
}

/* ---- losing and finding the way ---- */

/* What the window has from `at` on, unless that is too short for a frame's header: else all of it
 * would be read again for each header that turns out to be a wrong one. */
static const unsigned char *peek_on(struct scan *scan, uint64_t at, size_t *got_out)
{
	uint64_t skip = at - scan->window_at;
	bool here = at >= scan->window_at && skip < scan->window_bytes &&
		    scan->window_bytes - skip >= GF_FRAME_HEADER_BYTES;
	return peek(scan, at, here ? scan->window_bytes - (size_t)skip : WINDOW_BYTES, got_out);
}

/* Offset of the next sound frame header at or after `from`; the end of the file if there is none.
 */
static uint64_t find_frame(struct scan *scan, uint64_t from)
{
	struct gf_frame_info info;
	while ((from = behind_hole(scan, from)) < scan->bytes) {
		size_t got, at = 0;
		const unsigned char *bytes = peek_on(scan, from, &got);
		while ((at = gf_frame_search(bytes, got, at)) < got &&
		       got - at >= GF_FRAME_HEADER_BYTES) {
			if (gf_frame_parse(bytes + at, got - at, from + at, &info, NULL) == GF_OK)
				return from + at;
			at++;
		}
		if (from + got >= scan->bytes)
			break;
		from +=
		    at < got ? at : got - 3; /* a header or a magic may go on behind the window */
	}
	return scan->bytes;
}

/* Whether the last frame, which ends where the way was lost, is whole, as far as that may be asked.
 * A frame that was cut short and written on behind has swallowed the beginning of the next. */
static bool last_is_sound(struct scan *scan, uint64_t at)
{
	struct gf_trace_index *index = scan->index;
	if (index->count == 0)
		return true;
	const struct gf_frame_info *info = &index->frames[index->count - 1].info;
	if (info->offset + info->bytes != at ||
	    scan->doubted + info->bytes > DOUBT_FLOOR + scan->framed)
		return true;
	scan->doubted += info->bytes;
	unsigned char *frame = malloc(info->bytes);
	bool sound = !frame ||
		     gf_read_at(scan->fd, frame, info->bytes, info->offset) != info->bytes ||
		     gf_frame_verify(info, frame, NULL) == GF_OK;
	free(frame);
	return sound;
}

static bool all_zero(struct scan *scan, uint64_t from, uint64_t to)
{
	while ((from = behind_hole(scan, from)) < to) {
		size_t got, want = to - from < WINDOW_BYTES ? (size_t)(to - from) : WINDOW_BYTES;
		const unsigned char *bytes = peek(scan, from, want, &got);
		if (got == 0)
			return false;
		got = got < want ? got : want;
		for (size_t i = 0; i < got; i++)
			if (bytes[i])
				return false;
		from += got;
	}
	return true;
}

/* Whether everything that a torn frame at the end of the file should hold is in the journal. */
static bool journal_has(struct scan *scan, uint64_t at)
{
	struct gf_frame_info info;
	struct gf_frame_source sources[GF_FRAME_SOURCE_LIMIT];
	size_t got;
	if (!scan->journal)
		return false;
	const unsigned char *bytes = peek(scan, at, GF_FRAME_HEADER_BYTES, &got);
	if (gf_frame_parse(bytes, got, at, &info, NULL))
		return got < GF_FRAME_HEADER_BYTES;
	size_t want = GF_FRAME_HEADER_BYTES + info.directory_bytes;
	bytes = peek(scan, at, want, &got);
	if (got < want)
		return true; /* the writer empties no chunk before its frame is complete */
	if (gf_frame_directory(&info, bytes, sources, NULL, NULL))
		return false;
	/* A chunk claimed after the journal was copied: the recording runs, this is being written.
	 */
	for (unsigned i = 0; i < info.source_count; i++)
		if (sources[i].sequence < scan->journal->bound &&
		    !find_leftover(scan->journal, sources[i].sequence))
			return false;
	return true;
}

static bool begins_like_frame(struct scan *scan, uint64_t at)
{
	unsigned char magic[4];
	size_t got;
	const unsigned char *bytes = peek(scan, at, sizeof(magic), &got);
	gf_put32(magic, GF_FRAME_MAGIC);
	return got > 0 && memcmp(bytes, magic, got < sizeof(magic) ? got : sizeof(magic)) == 0;
}

static void note_gap(struct scan *scan, uint64_t from, uint64_t to, const char *cause)
{
	char text[512];
	uint64_t bytes = to - from;
	unsigned long long number = bytes, at = from;
	if (to == scan->bytes && begins_like_frame(scan, from)) {
		scan->damage->truncated = true;
		snprintf(text, sizeof(text),
		    "the file ends inside a frame that begins at byte %llu: its last %llu bytes "
		    "are of no "
		    "use; the copy is incomplete, or the disk was full",
		    at, number);
	} else if (all_zero(scan, from, to)) {
		snprintf(text, sizeof(text),
		    "%llu zero bytes at byte %llu: the machine stopped before they were written, "
		    "or the "
		    "copy has a hole; they are skipped",
		    number, at);
	} else {
		snprintf(text, sizeof(text), "%s (byte %llu): %llu bytes are skipped, %s", cause,
		    at, number,
		    to == scan->bytes ? "up to the end of the file" : "up to the next sound frame");
	}
	gf_damage_note(scan->damage, from, bytes, text);
}

/* Behind `at` nothing makes sense: count what is lost and return where to go on. */
static uint64_t resume(struct scan *scan, uint64_t at, const char *cause)
{
	uint64_t from = at;
	if (!last_is_sound(scan, at)) {
		from = scan->index->frames[scan->index->count - 1].info.offset;
		cause = "a frame is damaged";
		take_back_last(scan);
		scan->doubted += WINDOW_BYTES; /* the window goes back as well */
	}
	uint64_t next = find_frame(scan, from + 1);
	if (next == from)
		return next; /* nothing is here any more: that was told */
	if (next != scan->bytes || from != at || !begins_like_frame(scan, at) ||
	    !journal_has(scan, at))
		note_gap(scan, from, next, cause);
	return next;
}

/* ---- the pass ---- */

/* One frame, if there is one at `at`: `*next_out` is where to look for another. */
static enum gf_status scan_frame(struct scan *scan, uint64_t at, uint64_t *next_out)
{
	struct gf_frame_info info;
	struct gf_frame_source sources[GF_FRAME_SOURCE_LIMIT];
	struct gf_error cause;
	uint32_t rows[GF_TAG_LIMIT];
	size_t got;
	const unsigned char *bytes = peek(scan, at, GF_FRAME_HEADER_BYTES, &got);
	if (gf_frame_parse(bytes, got, at, &info, &cause)) {
		*next_out = resume(scan, at, cause.text);
		return GF_OK;
	}
	if (info.bytes > scan->bytes - at) {
		*next_out = resume(scan, at, "a frame is cut short");
		return GF_OK;
	}
	bytes = peek(scan, at, GF_FRAME_HEADER_BYTES + info.directory_bytes, &got);
	if (got < GF_FRAME_HEADER_BYTES + info.directory_bytes) {
		*next_out = resume(scan, at, "a frame cannot be read");
		return GF_OK;
	}
	*next_out = at + info.bytes;
	if (gf_frame_directory(&info, bytes, sources, rows, &cause)) {
		*next_out = resume(scan, at, cause.text);
		return GF_OK;
	}
	return add_frame(scan, &info, sources, rows);
}

static int by_leftover(const void *left, const void *right)
{
	const struct gf_covered *a = left, *b = right;
	if (a->leftover != b->leftover)
		return a->leftover < b->leftover ? -1 : 1;
	return a->begin < b->begin ? -1 : a->begin > b->begin;
}

enum gf_status gf_trace_index_build(int fd, uint64_t bytes, uint64_t from,
    const struct gf_journal_copy *journal, struct gf_damage *damage,
    struct gf_trace_index *index_out, struct gf_error *error)
{
	struct scan scan = {.fd = fd,
	    .bytes = bytes,
	    .journal = journal,
	    .damage = damage,
	    .index = index_out,
	    .error = error};
	_Static_assert(WINDOW_BYTES >= GF_FRAME_HEADER_BYTES + GF_FRAME_DIRECTORY_LIMIT, "window");
	scan.window = malloc(WINDOW_BYTES);
	enum gf_status status = scan.window ? GF_OK : out_of_memory(&scan);
	for (uint64_t at = from; !status && at < scan.bytes;)
		status = scan_frame(&scan, at, &at);
	free(scan.window);
	if (!status && index_out->covered_count)
		qsort(index_out->covered, index_out->covered_count, sizeof(*index_out->covered),
		    by_leftover);
	return status;
}

uint64_t gf_trace_find_frame(int fd, uint64_t from, uint64_t bytes)
{
	struct scan scan = {.fd = fd, .bytes = bytes, .window = malloc(WINDOW_BYTES)};
	uint64_t found = scan.window ? find_frame(&scan, from) : bytes;
	free(scan.window);
	return found < scan.bytes ? found : bytes;
}

void gf_trace_index_free(struct gf_trace_index *index)
{
	free(index->frames);
	free(index->covered);
	memset(index, 0, sizeof(*index));
}
