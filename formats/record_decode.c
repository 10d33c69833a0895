/* SPDX-License-Identifier: Apache-2.0 */
/* Journal records to columns, and single rows back to records. */
#include "formats/decoder.h"
#include "formats/frame.h"

static enum gf_status no_memory(size_t bytes, struct gf_error *error)
{
	return gf_fail(
	    error, GF_NO_MEMORY, UINT64_MAX, "out of memory for %zu bytes of records", bytes);
}

/* First pass: types and times of all records, numbers of each type, bytes of text. */
static enum gf_status list_records(struct gf_decoder *decoder, const char *data, size_t bytes,
    uint64_t type_mask, struct gf_batch *batch, size_t *text_bytes_out, struct gf_error *error)
{
	size_t limit = bytes / GF_RECORD_MIN_BYTES;
	uint8_t *types = gf_buffer_room(&decoder->types, limit);
	uint64_t *times = gf_buffer_room(&decoder->times, limit * sizeof(*times));
	if (!types || !times)
		return no_memory(bytes, error);
	*text_bytes_out = 0;
	uint32_t count = 0;
	for (size_t at = 0; at < bytes;) {
		uint32_t head =
		    bytes - at >= GF_RECORD_MIN_BYTES ? *(const uint32_t *)(data + at) : 0;
		if (head == 0 || GF_HEAD_BYTES(head) > bytes - at ||
		    !gf_record_valid(data + at, head))
			return gf_fail(error, GF_BAD_RECORD, UINT64_MAX,
			    "no sound record at byte %zu of %zu (head word %#x)", at, bytes, head);
		unsigned tag = GF_HEAD_TAG(head);
		types[count] = (uint8_t)tag;
		times[count++] = *(const uint64_t *)(data + at + GF_TIME_OFFSET);
		if ((type_mask >> tag & 1) && gf_record_type(tag)) {
			batch->rows[tag].count++;
			if (tag == GF_TAG_text)
				*text_bytes_out += ((const struct gf_text *)(data + at))->length;
		}
		at += GF_HEAD_BYTES(head);
	}
	batch->count = count;
	batch->types = types;
	batch->times = times;
	return GF_OK;
}

static enum gf_status make_columns(
    struct gf_decoder *decoder, struct gf_batch *batch, size_t text_bytes, struct gf_error *error)
{
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		struct gf_rows *rows = &batch->rows[tag];
		const struct gf_record_type *type = gf_record_type(tag);
		for (unsigned i = 0; rows->count && i < type->column_count; i++) {
			struct gf_buffer *buffer = gf_decoder_column(decoder, tag, i, rows->count);
			if (!buffer)
				return no_memory((size_t)rows->count * type->bytes, error);
			buffer->constant_rows = 0;
			rows->columns[i] = buffer->data;
		}
	}
	size_t texts = batch->rows[GF_TAG_text].count;
	if (texts == 0)
		return GF_OK;
	batch->text_offsets = gf_buffer_room(&decoder->text_offsets, texts * sizeof(uint64_t));
	batch->text_bytes = gf_buffer_room(&decoder->text_bytes, text_bytes + 1);
	return batch->text_offsets && batch->text_bytes ? GF_OK : no_memory(text_bytes, error);
}

/* Fields of an older writer end earlier, those of a newer one go on: both are on field borders. */
static void store_row(const struct gf_record_type *type, const char *record, uint32_t fixed,
    struct gf_rows *rows, uint32_t row)
{
	for (unsigned i = 0; i < type->column_count; i++) {
		const struct gf_column *column = &type->columns[i];
		char *to = (char *)rows->columns[i] + (size_t)row * column->bytes;
		if ((uint32_t)column->offset + column->bytes <= fixed)
			memcpy(to, record + column->offset, column->bytes);
		else
			memset(to, 0, column->bytes);
	}
}

/* Second pass: each wanted record to its row. */
static void store_records(
    struct gf_decoder *decoder, const char *data, size_t bytes, struct gf_batch *batch)
{
	uint32_t next[GF_TAG_LIMIT] = {0};
	uint64_t *offsets = decoder->text_offsets.data;
	char *text_bytes = decoder->text_bytes.data;
	uint64_t text_at = 0;
	for (size_t at = 0; at < bytes;) {
		const char *record = data + at;
		uint32_t head = *(const uint32_t *)record, tag = GF_HEAD_TAG(head);
		at += GF_HEAD_BYTES(head);
		if (batch->rows[tag].count == 0)
			continue;
		uint32_t row = next[tag]++;
		store_row(gf_record_type(tag), record, gf_record_fixed_bytes(record, head),
		    &batch->rows[tag], row);
		if (tag != GF_TAG_text)
			continue;
		const struct gf_text *text = (const struct gf_text *)record;
		offsets[row] = text_at;
		memcpy(text_bytes + text_at, gf_text_bytes(text), text->length);
		text_at += text->length;
	}
	if (batch->rows[GF_TAG_text].count)
		text_bytes[text_at] = 0;
}

enum gf_status gf_decode_records(struct gf_decoder *decoder, uint32_t thread_id, const void *data,
    size_t bytes, uint64_t type_mask, struct gf_batch *batch_out, struct gf_error *error)
{
	struct gf_batch batch;
	size_t text_bytes = 0;
	memset(&batch, 0, sizeof(batch));
	batch.thread_id = thread_id;
	enum gf_status status =
	    list_records(decoder, data, bytes, type_mask, &batch, &text_bytes, error);
	if (!status)
		status = make_columns(decoder, &batch, text_bytes, error);
	if (status)
		return status;
	store_records(decoder, data, bytes, &batch);
	*batch_out = batch;
	return GF_OK;
}

/* ---- rows as records ---- */

#define GET(type, field, coding) \
	out->field = rows->columns[column] ? ((const type *)rows->columns[column])[row] : 0; \
	column++;
#define RECORD(tag, name, first) \
	void gf_get_##name(const struct gf_batch *batch, uint32_t row, struct gf_##name *out) \
	{ \
		const struct gf_rows *rows = &batch->rows[tag]; \
		unsigned column = 0; \
		out->head = GF_HEAD(tag, sizeof(*out)); \
		GF_FIELDS_##name(GET) \
	}
GF_RECORDS(RECORD)
#undef RECORD
#undef GET
