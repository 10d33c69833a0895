/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/file_read.h"
#include "formats/frame_layout.h"
#include "formats/reader_state.h"
#include "formats/trace_index.h"
#include "formats/wire.h"

/* Bytes among which a frame begins, if there are frames at all. */
#define SEARCH_LIMIT (2ull * GF_FRAME_BODY_LIMIT)

/* ---- opening: the files ---- */

/* Put a pipe's copy in its place.  Not all of one without an end: only as long as frames come. */
static enum gf_status spool(struct gf_reader *reader, struct gf_error *error)
{
	uint64_t copied;
	int from = reader->fd;
	enum gf_status status;
	reader->fd = gf_temporary_file();
	if (reader->fd < 0) {
		int cause = errno;
		close(from);
		return gf_fail(error, GF_IO, UINT64_MAX,
		    "cannot make a temporary file for a copy of the input: %s (errno %d); set TMPDIR",
		    gf_errno_words(cause), cause);
	}
	do {
		uint64_t at = reader->trace_bytes;
		status = gf_spool(from, reader->fd, at, SEARCH_LIMIT, &copied, error);
		if (status)
			break;
		reader->trace_bytes += copied;
		if (gf_trace_find_frame(reader->fd, at, reader->trace_bytes) == reader->trace_bytes)
			break;
	} while (copied == SEARCH_LIMIT);
	close(from);
	return status;
}

static enum gf_status open_trace(struct gf_reader *reader, const char *path, struct gf_error *error)
{
	struct stat stat;
	reader->fd = strcmp(path, "-") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					    : open(path, O_RDONLY | O_CLOEXEC);
	if (reader->fd < 0 && errno == ENOENT && reader->summary.has_journal)
		return GF_OK; /* killed before the first frame */
	if (reader->fd < 0 && errno == ENOENT && reader->damage.journal_damaged)
		return gf_fail(error, GF_BAD_FILE, UINT64_MAX,
		    "there is no %s, and its journal is of no use: %s", path,
		    reader->damage.first_text);
	if (reader->fd < 0 || fstat(reader->fd, &stat) != 0) {
		int cause = errno;
		return gf_fail(error, GF_IO, UINT64_MAX, "cannot open %s: %s (errno %d)", path,
		    gf_errno_words(cause), cause);
	}
	if (S_ISDIR(stat.st_mode))
		return gf_fail(error, GF_BAD_FILE, UINT64_MAX, "%s is a folder, not a trace", path);
	/* Standard input may be a file of which a part was read already. */
	if (!S_ISREG(stat.st_mode) || lseek(reader->fd, 0, SEEK_CUR) != 0)
		return spool(reader, error);
	reader->trace_bytes = (uint64_t)stat.st_size;
	return GF_OK;
}

/* The journal first, then the trace: what moves from one to the other meanwhile is seen twice, and
 * dropped once, but never missed. */
static enum gf_status open_journal(
    struct gf_reader *reader, const char *path, struct gf_error *error)
{
	char journal_path[PATH_MAX];
	struct gf_error cause;
	if (strcmp(path, "-") == 0 ||
	    snprintf(journal_path, sizeof(journal_path), "%s" GF_JOURNAL_SUFFIX, path) >=
		(int)sizeof(journal_path))
		return GF_OK;
	enum gf_status status = gf_journal_copy(journal_path, &reader->journal, &cause);
	reader->summary.has_journal = status == GF_OK;
	if (status == GF_END && readlink(journal_path, &cause.text[0], 1) > 0) {
		reader->damage.journal_damaged = true;
		gf_damage_note(&reader->damage, UINT64_MAX, 0,
		    "the journal is a link to a file that is not here: read the trace on the machine "
		    "that wrote it, or copy the journal beside the trace");
		return GF_OK;
	}
	if (status == GF_OK || status == GF_END)
		return GF_OK;
	if (status == GF_NO_MEMORY)
		return gf_fail(error, status, UINT64_MAX, "%s", cause.text);
	reader->damage.journal_damaged = true;
	gf_damage_note(&reader->damage, UINT64_MAX, 0, cause.text);
	return GF_OK;
}

static void drop_journal(struct gf_reader *reader, const char *why)
{
	gf_journal_copy_free(&reader->journal);
	memset(&reader->journal, 0, sizeof(reader->journal));
	reader->summary.has_journal = false;
	reader->damage.journal_damaged = true;
	gf_damage_note(&reader->damage, UINT64_MAX, 0, why);
}

/* What a file that is no trace seems to be. */
static enum gf_status refuse(const struct gf_reader *reader, const unsigned char *header,
    size_t got, const char *path, const char *cause, struct gf_error *error)
{
	size_t zeros = 0;
	while (zeros < got && header[zeros] == 0)
		zeros++;
	if (reader->trace_bytes == 0 && reader->damage.journal_damaged)
		return gf_fail(error, GF_BAD_FILE, 0,
		    "%s is empty, and its journal is of no use: %s", path,
		    reader->damage.first_text);
	if (reader->trace_bytes == 0)
		return gf_fail(error, GF_BAD_FILE, 0,
		    "%s is empty: the recording ended before it wrote anything", path);
	if (zeros == got)
		return gf_fail(error, GF_BAD_FILE, 0,
		    "%s begins with %zu zero bytes: the machine stopped before they were written, "
		    "or "
		    "the copy is not complete",
		    path, zeros);
	if (got >= 8 && memcmp(header, GF_JOURNAL_MAGIC, 8) == 0)
		return gf_fail(error, GF_BAD_FILE, 0,
		    "%s is a journal: give the name of its trace, without " GF_JOURNAL_SUFFIX,
		    path);
	return gf_fail(error, GF_BAD_FILE, 0, "%s is not a gpushim trace: %s", path, cause);
}

/* Whether the journal beside the trace is of the same recording.  Of a damaged header half of the
 * identity may have survived; where there is no header at all the name has to do. */
static bool same_recording(
    const struct gf_reader *reader, const unsigned char *header, size_t got, bool sound)
{
	static const unsigned char nothing[GF_TRACE_HEADER_BYTES];
	if (got < GF_TRACE_HEADER_BYTES || memcmp(header, nothing, sizeof(nothing)) == 0)
		return true;
	bool first = gf_get64(header + GF_FILE_TRACE_ID_AT) == reader->journal.trace_id[0];
	bool second = gf_get64(header + GF_FILE_TRACE_ID_AT + 8) == reader->journal.trace_id[1];
	return sound ? first && second : first || second;
}

/* Check the file header; behind a damaged one frames may still follow.  Sets where they begin. */
static enum gf_status read_header(
    struct gf_reader *reader, const char *path, uint64_t *from_out, struct gf_error *error)
{
	unsigned char header[GF_TRACE_HEADER_BYTES];
	uint64_t id[2];
	struct gf_error cause = {.text = ""};
	size_t got = reader->fd < 0 ? 0 : gf_read_at(reader->fd, header, sizeof(header), 0);
	enum gf_status status = gf_trace_header_check(header, got, id, &cause);
	if (status == GF_TOO_NEW)
		return gf_fail(error, status, 0, "%s: %s", path, cause.text);
	if (reader->summary.has_journal && !same_recording(reader, header, got, !status))
		drop_journal(reader, "the journal beside the trace belongs to another recording");
	*from_out = GF_TRACE_HEADER_BYTES;
	if (!status || (reader->summary.has_journal && got < sizeof(header)))
		return GF_OK;
	uint64_t limit = reader->trace_bytes < SEARCH_LIMIT ? reader->trace_bytes : SEARCH_LIMIT;
	*from_out = gf_trace_find_frame(reader->fd, 0, limit);
	if (*from_out == limit)
		*from_out = reader->trace_bytes;
	if (*from_out == reader->trace_bytes && !reader->summary.has_journal)
		return refuse(reader, header, got, path, cause.text, error);
	gf_damage_note(&reader->damage, 0, *from_out, cause.text);
	return GF_OK;
}

/* ---- opening: the units ---- */

static enum gf_status no_memory(struct gf_error *error)
{
	return gf_fail(error, GF_NO_MEMORY, UINT64_MAX, "out of memory for the index of the trace");
}

static void count_times(struct gf_summary *summary, const struct gf_frame_info *info)
{
	if (info->time_first < summary->first_ticks)
		summary->first_ticks = info->time_first;
	if (info->time_last > summary->last_ticks)
		summary->last_ticks = info->time_last;
}

/* A part of a chunk as a unit, described by a walk over its records.  False: nothing sound there.
 */
static bool describe_part(struct gf_reader *reader, const struct gf_leftover *leftover,
    uint32_t begin, uint32_t end, struct gf_unit *out)
{
	bool damaged;
	const char *bytes = (const char *)leftover->chunk;
	end = gf_chunk_extent(leftover->chunk, begin, end, &damaged);
	struct gf_frame_info info = {.offset = leftover->offset + begin,
	    .bytes = end - begin,
	    .time_first = UINT64_MAX,
	    .thread_id = leftover->thread_id};
	for (uint32_t at = begin; at < end;) {
		uint32_t head;
		uint64_t time;
		memcpy(&head, bytes + at, sizeof(head));
		memcpy(&time, bytes + at + GF_TIME_OFFSET, sizeof(time));
		info.type_mask |= UINT64_C(1) << GF_HEAD_TAG(head);
		info.record_count++;
		info.time_first = time < info.time_first ? time : info.time_first;
		info.time_last = time > info.time_last ? time : info.time_last;
		reader->summary.record_count[GF_HEAD_TAG(head)]++;
		at += GF_HEAD_BYTES(head);
	}
	*out = (struct gf_unit){.info = info,
	    .records = bytes + begin,
	    .first_source = {leftover->sequence, begin, end}};
	return info.record_count > 0;
}

/* What no frame has of the journal's chunks. */
static void add_parts(struct gf_reader *reader, const struct gf_trace_index *index)
{
	size_t next = 0;
	for (size_t i = 0; i < reader->journal.count; i++) {
		const struct gf_leftover *leftover = &reader->journal.leftovers[i];
		uint32_t at = GF_CHUNK_HEADER_BYTES;
		for (; next < index->covered_count && index->covered[next].leftover == i; next++) {
			const struct gf_covered *covered = &index->covered[next];
			uint32_t end =
			    covered->begin < leftover->end ? covered->begin : leftover->end;
			if (end > at && describe_part(reader, leftover, at, end,
					    &reader->units[reader->unit_count]))
				reader->unit_count++;
			if (covered->end > at)
				at = (covered->end + 7) & ~7u;
		}
		if (leftover->end > at && describe_part(reader, leftover, at, leftover->end,
					      &reader->units[reader->unit_count]))
			reader->unit_count++;
	}
}

static enum gf_status make_units(
    struct gf_reader *reader, const struct gf_trace_index *index, struct gf_error *error)
{
	struct gf_summary *summary = &reader->summary;
	size_t limit = index->count + reader->journal.count + index->covered_count + 1;
	reader->units = calloc(limit, sizeof(*reader->units));
	if (!reader->units)
		return no_memory(error);
	for (size_t i = 0; i < index->count; i++)
		reader->units[reader->unit_count++] = (struct gf_unit){
		    .info = index->frames[i].info, .first_source = index->frames[i].first_source};
	summary->frame_count = index->count;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		summary->record_count[tag] = index->rows[tag];
	add_parts(reader, index);
	if (index->folds)
		memset(reader->journal.lost, 0, sizeof(reader->journal.lost));
	summary->first_ticks = UINT64_MAX;
	for (size_t i = 0; i < reader->unit_count; i++)
		count_times(summary, &reader->units[i].info);
	if (reader->unit_count == 0)
		summary->first_ticks = 0;
	return GF_OK;
}

static void count_journal(struct gf_reader *reader)
{
	const struct gf_journal_copy *journal = &reader->journal;
	reader->summary.journal_bytes = reader->summary.has_journal ? journal->file_bytes : 0;
	reader->summary.file_bytes = reader->trace_bytes + reader->summary.journal_bytes;
	reader->summary.journal_left =
	    reader->summary.has_journal && (journal->flags & GF_JOURNAL_ENDED);
	reader->summary.ended |= reader->summary.journal_left;
	for (unsigned reason = 0; reason < GF_LOST_REASON_COUNT; reason++)
		reader->summary.lost[reason] += journal->lost[reason];
	if (journal->damaged_chunks == 0)
		return;
	char text[128];
	snprintf(text, sizeof(text), "%llu chunks of the journal are damaged",
	    (unsigned long long)journal->damaged_chunks);
	reader->damage.journal_damaged = true;
	gf_damage_note(&reader->damage, UINT64_MAX, 0, text);
	reader->damage.damaged_frames += journal->damaged_chunks - 1;
}

/* A unit turned out to be damaged: count it and take off what it was believed to hold. */
static void give_up(
    struct gf_reader *reader, struct gf_unit *unit, const void *frame, const char *why)
{
	uint32_t rows[GF_TAG_LIMIT];
	unit->bad = true;
	if (unit->records) {
		reader->damage.journal_damaged = true;
		gf_damage_note(&reader->damage, UINT64_MAX, unit->info.bytes, why);
		return;
	}
	gf_damage_note(&reader->damage, unit->info.offset, unit->info.bytes, why);
	reader->summary.frame_count--;
	if (!frame || gf_frame_directory(&unit->info, frame, NULL, rows, NULL))
		return;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		reader->summary.record_count[tag] -= rows[tag];
}

static enum gf_status read_definitions(struct gf_reader *reader, struct gf_error *error)
{
	struct gf_definitions *all = &reader->definitions;
	struct gf_batch batch;
	struct gf_error cause;
	all->bytes_limit = GF_DEFINITIONS_FLOOR;
	for (size_t i = 0; i < reader->unit_count; i++)
		all->bytes_limit += GF_DEFINITIONS_PER_FILE_BYTE * reader->units[i].info.bytes;
	for (size_t i = 0; i < reader->unit_count; i++) {
		struct gf_unit *unit = &reader->units[i];
		if (!(unit->info.type_mask & GF_DEFINITION_TYPES))
			continue;
		enum gf_status status = gf_reader_load(
		    reader, unit, GF_DEFINITION_TYPES, reader->decoder, &batch, error);
		if (status == GF_BAD_FRAME)
			continue;
		if (!status)
			status = gf_definitions_add(reader, &batch, &cause);
		if (status == GF_BAD_FRAME)
			give_up(reader, unit, reader->frame.data, cause.text);
		else if (status)
			return no_memory(error);
	}
	return gf_definitions_finish(reader, error);
}

static enum gf_status open_all(struct gf_reader *reader, const char *path, struct gf_error *error)
{
	struct gf_trace_index index;
	uint64_t from = 0;
	memset(&index, 0, sizeof(index));
	enum gf_status status = open_journal(reader, path, error);
	if (!status)
		status = open_trace(reader, path, error);
	if (!status)
		status = read_header(reader, path, &from, error);
	if (!status && reader->fd >= 0)
		status = gf_trace_index_build(reader->fd, reader->trace_bytes, from,
		    reader->summary.has_journal ? &reader->journal : NULL, &reader->damage, &index,
		    error);
	if (!status)
		status = make_units(reader, &index, error);
	gf_trace_index_free(&index);
	if (status)
		return status;
	count_journal(reader);
	return read_definitions(reader, error);
}

enum gf_status gf_reader_open(
    const char *path, struct gf_reader **reader_out, struct gf_error *error)
{
	struct gf_reader *reader = calloc(1, sizeof(*reader));
	if (!reader)
		return no_memory(error);
	reader->fd = -1;
	reader->damage.first_bad_offset = UINT64_MAX;
	reader->decoder = gf_decoder_new(NULL);
	enum gf_status status = reader->decoder ? open_all(reader, path, error) : no_memory(error);
	if (status)
		gf_reader_close(reader);
	else
		*reader_out = reader;
	return status;
}

void gf_reader_close(struct gf_reader *reader)
{
	if (!reader)
		return;
	if (reader->fd >= 0)
		close(reader->fd);
	gf_journal_copy_free(&reader->journal);
	gf_definitions_free(&reader->definitions);
	gf_clock_map_free(&reader->clock);
	gf_decoder_free(reader->decoder);
	free(reader->frame.data);
	free(reader->units);
	free(reader);
}

/* ---- reading ---- */

static enum gf_status read_frame(
    struct gf_reader *reader, const struct gf_frame_info *info, struct gf_error *error)
{
	void *to = gf_buffer_room(&reader->frame, info->bytes);
	if (!to)
		return gf_fail(error, GF_NO_MEMORY, info->offset,
		    "out of memory for a frame of %llu bytes", (unsigned long long)info->bytes);
	errno = 0;
	if (gf_read_at(reader->fd, to, info->bytes, info->offset) == info->bytes)
		return GF_OK;
	return gf_fail(error, GF_IO, info->offset, "a frame cannot be read any more: %s",
	    errno ? gf_errno_words(errno) : "the file got shorter");
}

enum gf_status gf_reader_load(struct gf_reader *reader, struct gf_unit *unit, uint64_t type_mask,
    struct gf_decoder *decoder, struct gf_batch *batch_out, struct gf_error *error)
{
	struct gf_error cause;
	const struct gf_frame_info *info = &unit->info;
	const void *frame = NULL;
	enum gf_status status;
	if (unit->bad)
		return GF_BAD_FRAME;
	if (unit->records) {
		status = gf_decode_records(decoder, info->thread_id, unit->records, info->bytes,
		    type_mask, batch_out, &cause);
	} else if (!(status = read_frame(reader, info, &cause))) {
		frame = reader->frame.data;
		status = gf_decode(decoder, info, frame, type_mask, batch_out, &cause);
	}
	if (status == GF_OK)
		return GF_OK;
	if (status == GF_NO_MEMORY)
		return gf_fail(error, status, cause.offset, "%s", cause.text);
	give_up(reader, unit, frame, cause.text);
	return GF_BAD_FRAME;
}

enum gf_status gf_reader_next_batch(struct gf_reader *reader, uint64_t type_mask,
    struct gf_batch *batch_out, struct gf_error *error)
{
	while (reader->next_unit < reader->unit_count) {
		struct gf_unit *unit = &reader->units[reader->next_unit++];
		if (unit->bad || !(unit->info.type_mask & type_mask))
			continue;
		enum gf_status status =
		    gf_reader_load(reader, unit, type_mask, reader->decoder, batch_out, error);
		if (status != GF_BAD_FRAME)
			return status;
	}
	return GF_END;
}

void gf_reader_rewind(struct gf_reader *reader)
{
	reader->next_unit = 0;
}

enum gf_status gf_reader_verify(struct gf_reader *reader, struct gf_error *error)
{
	struct gf_batch batch;
	enum gf_status status = GF_OK;
	for (size_t i = 0; i < reader->unit_count; i++) {
		status = gf_reader_load(
		    reader, &reader->units[i], ~UINT64_C(0), reader->decoder, &batch, error);
		if (status && status != GF_BAD_FRAME)
			return status;
	}
	return GF_OK;
}

const struct gf_damage *gf_reader_damage(const struct gf_reader *reader)
{
	return &reader->damage;
}

const struct gf_summary *gf_reader_summary(const struct gf_reader *reader)
{
	return &reader->summary;
}
