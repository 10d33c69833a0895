/* SPDX-License-Identifier: Apache-2.0 */
/* A frame back to columns.  Nothing in the file is trusted: sizes are checked before use, and a
 * section is decompressed only into the room that its directory entry accounts for. */
#include "formats/frame.h"

#include <stdlib.h>

#include <zstd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/column_decode.h"
#include "formats/decoder.h"
#include "formats/frame_layout.h"
#include "formats/journal.h"
#include "formats/wire.h"

/* ---- directory ---- */

struct section {
	uint8_t tag;
	uint8_t column_count;
	uint8_t form;
	uint32_t rows;
	uint32_t stored_bytes;
	uint32_t extra_bytes;
	size_t raw_bytes; /* columns and extra */
	struct gf_column_layout columns[GF_SECTION_COLUMNS_LIMIT];
};

static enum gf_status bad_directory(
    const struct gf_frame_info *info, const char *what, struct gf_error *error)
{
	return gf_fail(
	    error, GF_BAD_FRAME, info->offset, "the directory of a frame is wrong: %s", what);
}

static enum gf_status read_section(const struct gf_frame_info *info, struct gf_cursor *cursor,
    struct section *section, struct gf_error *error)
{
	section->tag = gf_take8(cursor);
	section->column_count = gf_take8(cursor);
	section->form = gf_take8(cursor);
	unsigned reserved = gf_take8(cursor);
	section->rows = gf_take32(cursor);
	section->stored_bytes = gf_take32(cursor);
	section->extra_bytes = gf_take32(cursor);
	if (cursor->failed || section->rows == 0 || section->rows > info->record_count ||
	    section->column_count > GF_SECTION_COLUMNS_LIMIT ||
	    section->extra_bytes > GF_SECTION_RAW_LIMIT)
		return bad_directory(info, "a section is out of limits", error);
	if (section->form > GF_FORM_ZSTD || reserved != 0)
		return gf_fail(error, GF_TOO_NEW, info->offset,
		    "a section is stored in a form (%u, %u) that this program does not know: use a "
		    "newer "
		    "gpushim",
		    section->form, reserved);
	section->raw_bytes = section->extra_bytes;
	for (unsigned i = 0; i < section->column_count; i++) {
		if (!gf_column_entry_get(cursor, &section->columns[i]))
			return bad_directory(info, "a column is out of limits", error);
		section->raw_bytes += gf_column_stored_bytes(&section->columns[i], section->rows);
	}
	if (section->raw_bytes > GF_SECTION_RAW_LIMIT ||
	    (section->form == GF_FORM_STORED && section->stored_bytes != section->raw_bytes))
		return bad_directory(info, "the size of a section", error);
	return GF_OK;
}

/* The sections in turn, with the check of what they must add up to. */
struct directory {
	const struct gf_frame_info *info;
	struct gf_cursor cursor;
	uint64_t seen;		/* tags; bit 0 is the order section */
	uint64_t records;	/* rows of all types so far */
	uint64_t payload_bytes; /* of all sections so far */
	unsigned left;
};

static enum gf_status next_section(
    struct directory *directory, struct section *section, struct gf_error *error)
{
	const struct gf_frame_info *info = directory->info;
	enum gf_status status = read_section(info, &directory->cursor, section, error);
	if (status)
		return status;
	bool first = directory->seen == 0;
	if (section->tag >= GF_TAG_LIMIT || first != (section->tag == GF_SECTION_ORDER) ||
	    (directory->seen >> section->tag & 1) || (first && section->rows != info->record_count))
		return bad_directory(info, "the order of sections", error);
	directory->seen |= UINT64_C(1) << section->tag;
	directory->records += first ? 0 : section->rows;
	directory->payload_bytes += section->stored_bytes;
	if (--directory->left > 0)
		return GF_OK;
	if (directory->records != info->record_count || directory->seen != (info->type_mask | 1) ||
	    gf_cursor_left(&directory->cursor) != 0 ||
	    directory->payload_bytes != info->bytes - GF_FRAME_HEADER_BYTES - info->directory_bytes)
		return bad_directory(info, "its sums do not agree with the frame header", error);
	return GF_OK;
}

static enum gf_status open_directory(struct directory *directory, const struct gf_frame_info *info,
    const void *frame, struct gf_frame_source *sources_out, struct gf_error *error)
{
	const unsigned char *header = frame, *body = header + GF_FRAME_HEADER_BYTES;
	if (gf_get32(header + GF_FRAME_DIRECTORY_CHECKSUM_AT) !=
	    (uint32_t)XXH3_64bits(body, info->directory_bytes))
		return gf_fail(error, GF_BAD_FRAME, info->offset,
		    "the directory of a frame does not match its checksum");
	*directory = (struct directory){
	    info, gf_cursor_over(body, info->directory_bytes), 0, 0, 0, info->section_count};
	for (unsigned i = 0; i < info->source_count; i++) {
		struct gf_frame_source source;
		source.sequence = gf_take64(&directory->cursor);
		source.begin = gf_take32(&directory->cursor);
		source.end = gf_take32(&directory->cursor);
		if (source.begin > source.end || source.end > GF_CHUNK_BYTES)
			return bad_directory(info, "a source range", error);
		if (sources_out)
			sources_out[i] = source;
	}
	return directory->cursor.failed ? bad_directory(info, "too short", error) : GF_OK;
}

enum gf_status gf_frame_directory(const struct gf_frame_info *info, const void *frame,
    struct gf_frame_source *sources_out, uint32_t *rows_out, struct gf_error *error)
{
	struct directory directory;
	struct section section;
	enum gf_status status = open_directory(&directory, info, frame, sources_out, error);
	if (rows_out)
		memset(rows_out, 0, GF_TAG_LIMIT * sizeof(*rows_out));
	while (!status && directory.left > 0) {
		status = next_section(&directory, &section, error);
		if (!status && rows_out && section.tag != GF_SECTION_ORDER)
			rows_out[section.tag] = section.rows;
	}
	return status;
}

enum gf_status gf_frame_verify(
    const struct gf_frame_info *info, const void *frame, struct gf_error *error)
{
	const unsigned char *header = frame;
	uint64_t sum =
	    XXH3_64bits(header + GF_FRAME_HEADER_BYTES, info->bytes - GF_FRAME_HEADER_BYTES);
	if (gf_get64(header + GF_FRAME_BODY_CHECKSUM_AT) != sum)
		return gf_fail(error, GF_BAD_FRAME, info->offset,
		    "a frame of %llu bytes does not match its checksum",
		    (unsigned long long)info->bytes);
	return GF_OK;
}

/* ---- sections ---- */

static enum gf_status bad_section(
    const struct gf_frame_info *info, const struct section *section, struct gf_error *error)
{
	return gf_fail(error, GF_BAD_FRAME, info->offset, "section %u of a frame cannot be decoded",
	    section->tag);
}

static enum gf_status no_memory(size_t bytes, struct gf_error *error)
{
	return gf_fail(
	    error, GF_NO_MEMORY, UINT64_MAX, "out of memory for %zu bytes of a frame", bytes);
}

/* A section's bytes, decompressed if need be; they live until the next call. */
static enum gf_status unpack(struct gf_scratch *scratch, const struct gf_frame_info *info,
    const struct section *section, const unsigned char *stored, const unsigned char **raw_out,
    struct gf_error *error)
{
	*raw_out = stored;
	if (section->form == GF_FORM_STORED)
		return GF_OK;
	if (ZSTD_getFrameContentSize(stored, section->stored_bytes) != section->raw_bytes)
		return bad_section(info, section, error);
	void *raw = gf_buffer_room(&scratch->raw, section->raw_bytes);
	if (!raw)
		return no_memory(section->raw_bytes, error);
	size_t got = ZSTD_decompressDCtx(
	    scratch->zstd, raw, section->raw_bytes, stored, section->stored_bytes);
	if (ZSTD_isError(got) || got != section->raw_bytes)
		return bad_section(info, section, error);
	*raw_out = raw;
	return GF_OK;
}

static enum gf_status decode_order(struct gf_decoder *decoder, const struct gf_frame_info *info,
    const struct section *section, const unsigned char *raw, struct gf_batch *batch,
    struct gf_error *error)
{
	const struct gf_column_layout *types = &section->columns[0], *times = &section->columns[1];
	uint32_t rows = section->rows;
	if (section->column_count < 2 || types->bytes != 1 || times->bytes != 8 ||
	    types->code != GF_CODE_PLAIN || times->code == GF_CODE_TOTAL)
		return bad_section(info, section, error);
	void *types_out = gf_buffer_room(&decoder->types, rows);
	void *times_out = gf_buffer_room(&decoder->times, (size_t)rows * 8);
	if (!types_out || !times_out)
		return no_memory((size_t)rows * 9, error);
	if (!gf_column_decode(types, rows, raw, NULL, types_out) ||
	    !gf_column_decode(
		times, rows, raw + gf_column_stored_bytes(types, rows), NULL, times_out))
		return bad_section(info, section, error);
	batch->count = rows;
	batch->types = types_out;
	batch->times = times_out;
	return GF_OK;
}

/* All columns that both sides know, running totals or the others: totals come second, they need the
 * column of sizes. */
static enum gf_status decode_columns(struct gf_decoder *decoder, const struct gf_frame_info *info,
    const struct section *section, const unsigned char *raw, bool totals, struct gf_rows *rows,
    struct gf_error *error)
{
	const struct gf_record_type *type = gf_record_type(section->tag);
	unsigned size_column = gf_column_index(type, "size");
	const uint64_t *sizes =
	    size_column < type->column_count ? rows->columns[size_column] : NULL;
	for (unsigned i = 0; i < section->column_count && i < type->column_count; i++) {
		const struct gf_column_layout *layout = &section->columns[i];
		const unsigned char *from = raw;
		raw += gf_column_stored_bytes(layout, section->rows);
		if (i == GF_TIME_COLUMN || totals != (layout->code == GF_CODE_TOTAL))
			continue;
		struct gf_buffer *buffer =
		    gf_decoder_column(decoder, section->tag, i, section->rows);
		if (!buffer)
			return no_memory((size_t)section->rows * layout->bytes, error);
		if (layout->bytes != type->columns[i].bytes)
			return bad_section(info, section, error);
		if (layout->planes == 0 && layout->code == GF_CODE_PLAIN) {
			gf_buffer_fill(buffer, section->rows, layout->bytes, layout->base);
		} else {
			buffer->constant_rows = 0;
			if (!gf_column_decode(layout, section->rows, from, sizes, buffer->data))
				return bad_section(info, section, error);
		}
		rows->columns[i] = buffer->data;
	}
	return GF_OK;
}

/* Copies the bytes of texts and finds where each begins; they must fill the extra bytes. */
static enum gf_status decode_texts(struct gf_decoder *decoder, const struct gf_frame_info *info,
    const struct section *section, const unsigned char *extra, struct gf_batch *batch,
    struct gf_error *error)
{
	unsigned length_column = gf_column_index(gf_record_type(GF_TAG_text), "length");
	const uint32_t *lengths = batch->rows[GF_TAG_text].columns[length_column];
	uint64_t *offsets = gf_buffer_room(&decoder->text_offsets, (size_t)section->rows * 8);
	char *bytes = gf_buffer_room(&decoder->text_bytes, (size_t)section->extra_bytes + 1);
	if (!offsets || !bytes)
		return no_memory((size_t)section->rows * 8 + section->extra_bytes, error);
	uint64_t at = 0;
	bool fit = lengths != NULL;
	for (uint32_t i = 0; fit && i < section->rows; i++) {
		offsets[i] = at;
		at += lengths[i];
		fit = lengths[i] <= GF_TEXT_MAX_BYTES;
	}
	if (!fit || at != section->extra_bytes)
		return bad_section(info, section, error);
	memcpy(bytes, extra, section->extra_bytes);
	bytes[section->extra_bytes] = 0;
	batch->text_offsets = offsets;
	batch->text_bytes = bytes;
	return GF_OK;
}

static enum gf_status decode_type(struct gf_decoder *decoder, const struct gf_frame_info *info,
    const struct section *section, const unsigned char *stored, struct gf_batch *batch,
    struct gf_error *error)
{
	const unsigned char *raw;
	struct gf_rows *rows = &batch->rows[section->tag];
	enum gf_status status = unpack(decoder->scratch, info, section, stored, &raw, error);
	if (!status)
		status = decode_columns(decoder, info, section, raw, false, rows, error);
	if (!status)
		status = decode_columns(decoder, info, section, raw, true, rows, error);
	if (!status && section->tag == GF_TAG_text)
		status = decode_texts(decoder, info, section,
		    raw + section->raw_bytes - section->extra_bytes, batch, error);
	rows->count = section->rows;
	return status;
}

/* Whether the types in order are as many of each as the sections have rows.  Four counters each:
 * one alone would wait for its own last store. */
static bool types_agree(const struct gf_batch *batch, const uint32_t *rows)
{
	uint32_t counts[4][256] = {{0}};
	const uint8_t *types = batch->types;
	uint32_t i = 0;
	for (; i + 4 <= batch->count; i += 4)
		for (unsigned lane = 0; lane < 4; lane++)
			counts[lane][types[i + lane]]++;
	for (; i < batch->count; i++)
		counts[0][types[i]]++;
	for (unsigned tag = 0; tag < 256; tag++)
		if (counts[0][tag] + counts[1][tag] + counts[2][tag] + counts[3][tag] !=
		    (tag < GF_TAG_LIMIT ? rows[tag] : 0))
			return false;
	return true;
}

static enum gf_status decode_sections(struct gf_decoder *decoder, const struct gf_frame_info *info,
    const void *frame, uint64_t type_mask, struct gf_batch *batch, struct gf_error *error)
{
	struct directory directory;
	struct section section;
	uint32_t counts[GF_TAG_LIMIT] = {0};
	const unsigned char *stored =
	    (const unsigned char *)frame + GF_FRAME_HEADER_BYTES + info->directory_bytes;
	const unsigned char *end = (const unsigned char *)frame + info->bytes, *raw;
	enum gf_status status = open_directory(&directory, info, frame, NULL, error);
	while (!status && directory.left > 0) {
		status = next_section(&directory, &section, error);
		if (status)
			break;
		if (section.stored_bytes > (size_t)(end - stored))
			return bad_section(info, &section, error);
		if (section.tag == GF_SECTION_ORDER) {
			status = unpack(decoder->scratch, info, &section, stored, &raw, error);
			if (!status)
				status = decode_order(decoder, info, &section, raw, batch, error);
		} else {
			counts[section.tag] = section.rows;
			if ((type_mask >> section.tag & 1) && gf_record_type(section.tag))
				status = decode_type(decoder, info, &section, stored, batch, error);
		}
		stored += section.stored_bytes;
	}
	if (!status && !types_agree(batch, counts))
		return gf_fail(error, GF_BAD_FRAME, info->offset,
		    "a frame's list of types does not agree with its sections");
	return status;
}

enum gf_status gf_decode(struct gf_decoder *decoder, const struct gf_frame_info *info,
    const void *frame, uint64_t type_mask, struct gf_batch *batch_out, struct gf_error *error)
{
	struct gf_batch batch;
	memset(&batch, 0, sizeof(batch));
	batch.thread_id = info->thread_id;
	enum gf_status status = gf_frame_verify(info, frame, error);
	if (!status)
		status = decode_sections(decoder, info, frame, type_mask, &batch, error);
	if (!status)
		status = gf_decoder_split_times(decoder, &batch, error);
	if (!status)
		*batch_out = batch;
	return status;
}

/* ---- decoders ---- */

static struct gf_scratch *scratch_new(void)
{
	struct gf_scratch *scratch = calloc(1, sizeof(*scratch));
	if (scratch && !(scratch->zstd = ZSTD_createDCtx())) {
		free(scratch);
		scratch = NULL;
	}
	return scratch;
}

static void scratch_free(struct gf_scratch *scratch)
{
	if (!scratch)
		return;
	ZSTD_freeDCtx(scratch->zstd);
	free(scratch->raw.data);
	free(scratch);
}

struct gf_decoder *gf_decoder_new(struct gf_decoder *shared)
{
	struct gf_decoder *decoder = calloc(1, sizeof(*decoder));
	if (!decoder)
		return NULL;
	decoder->owns_scratch = !shared;
	decoder->scratch = shared ? shared->scratch : scratch_new();
	if (!decoder->scratch) {
		gf_decoder_free(decoder);
		return NULL;
	}
	return decoder;
}

void gf_decoder_free(struct gf_decoder *decoder)
{
	if (!decoder)
		return;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		for (unsigned i = 0; decoder->stores[tag] && i < GF_COLUMNS_LIMIT; i++)
			free(decoder->stores[tag]->columns[i].data);
		free(decoder->stores[tag]);
	}
	free(decoder->types.data);
	free(decoder->times.data);
	free(decoder->text_offsets.data);
	free(decoder->text_bytes.data);
	if (decoder->owns_scratch)
		scratch_free(decoder->scratch);
	free(decoder);
}
