/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a decoder is made of: shared by the decoding of frames (frame_decode.c, which makes decoders)
 * and of journal records (record_decode.c).
 *
 * Arrays grow on the heap and are used again; a column that holds one value in all rows is not
 * filled again while it stays so.  Threads: a decoder belongs to one.
 */
#ifndef GF_DECODER_H
#define GF_DECODER_H

#include "formats/frame.h"

struct gf_buffer {
	void *data;
	size_t bytes;
	uint64_t constant;      /* the value of the first constant_rows elements */
	uint32_t constant_rows; /* 0: anything may be in the array */
};

struct gf_type_store {
	struct gf_buffer columns[GF_COLUMNS_LIMIT];
};

struct ZSTD_DCtx_s;
struct gf_scratch {
	struct ZSTD_DCtx_s *zstd;
	struct gf_buffer raw; /* a section, decompressed */
};

struct gf_decoder {
	struct gf_scratch *scratch;
	bool owns_scratch;
	struct gf_buffer types, times, text_offsets, text_bytes;
	struct gf_type_store *stores[GF_TAG_LIMIT]; /* made at first use */
};

/**
 * Make room for `bytes` bytes; what the buffer held is lost.
 *
 * @return buffer->data, NULL when out of memory
 */
void *gf_buffer_room(struct gf_buffer *buffer, size_t bytes);

/** Array for a column of a known type.  @return NULL when out of memory */
struct gf_buffer *gf_decoder_column(struct gf_decoder *decoder, unsigned tag, unsigned column,
    uint32_t rows);

/** Make a column hold one value; cheap if it does already.  `buffer` has room for the rows. */
void gf_buffer_fill(struct gf_buffer *buffer, uint32_t rows, unsigned bytes, uint64_t value);

/**
 * Give each requested type its column of times, from the times of all records.
 *
 * @param batch  count, types, times, and rows[].count of the types wanted, which must agree with
 *               `types`; their time columns are set
 * @return GF_OK, GF_NO_MEMORY
 */
enum gf_status gf_decoder_split_times(struct gf_decoder *decoder, struct gf_batch *batch,
    struct gf_error *error);

#endif
