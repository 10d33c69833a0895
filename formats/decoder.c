/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/decoder.h"

#include <stdlib.h>

#include "formats/column_decode.h"

void *gf_buffer_room(struct gf_buffer *buffer, size_t bytes)
{
	buffer->constant_rows = 0;
	if (bytes <= buffer->bytes && buffer->data)
		return buffer->data;
	/* Some slack: the next frame is often a little longer.  64: loops may be vectorised. */
	size_t rounded = (bytes + bytes / 8 + 64) & ~(size_t)63;
	void *data = aligned_alloc(64, rounded);
	if (!data)
		return NULL;
	free(buffer->data);
	buffer->data = data;
	buffer->bytes = rounded;
	return data;
}

void gf_buffer_fill(struct gf_buffer *buffer, uint32_t rows, unsigned bytes, uint64_t value)
{
	if (buffer->constant_rows >= rows && buffer->constant == value)
		return;
	gf_column_fill(buffer->data, rows, bytes, value);
	buffer->constant = value;
	buffer->constant_rows = rows;
}

struct gf_buffer *gf_decoder_column(
    struct gf_decoder *decoder, unsigned tag, unsigned column, uint32_t rows)
{
	struct gf_type_store **store = &decoder->stores[tag];
	if (!*store && !(*store = calloc(1, sizeof(**store))))
		return NULL;
	struct gf_buffer *buffer = &(*store)->columns[column];
	size_t bytes = (size_t)rows * gf_record_type(tag)->columns[column].bytes;
	if (buffer->data && bytes <= buffer->bytes)
		return buffer; /* keeps what is known of its content */
	return gf_buffer_room(buffer, bytes) ? buffer : NULL;
}

enum gf_status gf_decoder_split_times(
    struct gf_decoder *decoder, struct gf_batch *batch, struct gf_error *error)
{
	uint64_t *next[GF_TAG_LIMIT];
	uint64_t unwanted; /* where times of other types go, one upon the other */
	size_t step[GF_TAG_LIMIT];
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		next[tag] = &unwanted;
		step[tag] = 0;
		if (batch->rows[tag].count == 0)
			continue;
		struct gf_buffer *buffer =
		    gf_decoder_column(decoder, tag, GF_TIME_COLUMN, batch->rows[tag].count);
		if (!buffer)
			return gf_fail(error, GF_NO_MEMORY, UINT64_MAX,
			    "out of memory for %u times", batch->rows[tag].count);
		batch->rows[tag].columns[GF_TIME_COLUMN] = next[tag] = buffer->data;
		step[tag] = 1;
	}
	for (uint32_t i = 0; i < batch->count; i++) {
		unsigned tag = batch->types[i];
		*next[tag] = batch->times[i];
		next[tag] += step[tag];
	}
	return GF_OK;
}
