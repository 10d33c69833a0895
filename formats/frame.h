/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The trace file: a file header and frames.  A frame holds the records of one thread in columns,
 * compressed by zstd, one section a record type, so that a reader decodes only what it asks for.
 *
 * The bytes are specified in FORMAT.md; frame_encode.c, frame_parse.c and frame_decode.c implement it.
 * Encoding never allocates (the caller gives a workspace) because it runs inside the host; decoding
 * trusts nothing.
 */
#ifndef GF_FRAME_H
#define GF_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/journal.h"
#include "formats/records.h"
#include "formats/status.h"

#define GF_TRACE_MAGIC "GSTRACE1"
#define GF_TRACE_VERSION 1u
#define GF_TRACE_HEADER_BYTES 64u
#define GF_FRAME_HEADER_BYTES 64u
#define GF_FRAME_SOURCE_LIMIT 64u              /* chunks in one frame */
#define GF_FRAME_RECORDS_LIMIT (1u << 18)      /* records in one frame; 64 chunks hold fewer */
#define GF_FRAME_BODY_LIMIT (64u << 20)        /* compressed bytes of one frame */
#define GF_FRAME_DIRECTORY_LIMIT 65536u        /* of them, sources and sections */

/* A run of records in a chunk: [begin, end) bytes from the chunk's start. */
struct gf_source {
	const struct gf_chunk *chunk;
	uint32_t begin, end;
};

/* Sequence of a source that is no chunk: the closing records of a fold (journal_fold.h), which tell
 * what the journal's header counts as lost. */
#define GF_SOURCE_FOLD UINT64_MAX

struct gf_encoder; /* workspace of one encoding thread: zstd context, column and output buffers */

/**
 * Bytes of memory an encoder needs for frames of up to `source_limit` full chunks.
 */
size_t gf_encoder_bytes(uint32_t source_limit);

/**
 * Make an encoder inside `memory` (gf_encoder_bytes(source_limit) bytes, 64-byte aligned, e.g. an
 * anonymous mapping; touched lazily).
 *
 * @param tick_shift  times and durations are stored in units of 2^tick_shift ticks, 0..20
 * @return the encoder, which is `memory`; NULL if it is too small
 */
struct gf_encoder *gf_encoder_init(void *memory, size_t bytes, uint32_t source_limit,
    unsigned tick_shift);

/**
 * Encode records of one thread as one frame.
 *
 * @param sources, count  runs in record order, all of one thread, 1..source_limit; every run must
 *                        be well-formed (gf_chunk_extent)
 * @param frame_out       the frame's bytes, inside the encoder, valid until the next call
 * @param bytes_out       their number
 * @param error           may be NULL
 * @return GF_OK; GF_USAGE if there are no records; GF_BAD_RECORD
 *
 * Threads: one per encoder.  Cost: 50 to 60 ns a record, half of it zstd.  Never allocates.
 */
enum gf_status gf_encode(struct gf_encoder *encoder, const struct gf_source *sources, uint32_t count,
    const void **frame_out, size_t *bytes_out, struct gf_error *error);

/** Fill the 64 bytes that begin a trace file. */
void gf_trace_header(unsigned char out[GF_TRACE_HEADER_BYTES], const uint64_t trace_id[2]);

/** Check them.  @return GF_OK, GF_BAD_FILE, GF_TOO_NEW, GF_TRUNCATED */
enum gf_status gf_trace_header_check(const void *data, size_t bytes, uint64_t trace_id_out[2],
    struct gf_error *error);

/** What a frame says of itself; all of it is covered by the header checksum. */
struct gf_frame_info {
	uint64_t offset;      /* in the file */
	uint64_t bytes;       /* header and body */
	uint64_t time_first;  /* ticks, smallest of the frame */
	uint64_t time_last;   /* ticks, largest */
	uint64_t type_mask;   /* bit t: has records of tag t (tags < 64) */
	uint32_t thread_id;
	uint32_t record_count;
	uint32_t directory_bytes; /* behind the header: sources and sections */
	uint8_t source_count;
	uint8_t section_count;
	uint8_t tick_shift;
};

/**
 * Parse and check a frame header.
 *
 * @param data, bytes  what is there from the frame's offset on
 * @return GF_OK; GF_BAD_FRAME if magic, checksum or limits are wrong; GF_TRUNCATED if fewer bytes
 *         are there than the header needs; GF_TOO_NEW
 */
enum gf_status gf_frame_parse(const void *data, size_t bytes, uint64_t offset,
    struct gf_frame_info *info_out, struct gf_error *error);

/**
 * Where the next frame magic is in `data` at or after `from`; `bytes` if nowhere.  Whoever reads
 * in pieces lets them overlap by 3 bytes.
 */
size_t gf_frame_search(const void *data, size_t bytes, size_t from);

/* The chunk range that a frame was made from; tells the reader what of a journal is already here. */
struct gf_frame_source {
	uint64_t sequence;
	uint32_t begin, end;
};

/* Rows of one record type of a batch: one array a column, in the order of the type's field list,
 * element width = field width; NULL column = not in this trace, reads as 0. */
struct gf_rows {
	uint32_t count;
	const void *columns[GF_COLUMNS_LIMIT];
};

/*
 * Decoded records of one frame.  `types` and `times` have one entry a record in the thread's order;
 * the k-th record of type t is row k of rows[t].  rows[t].count is 0 for types not asked for, but
 * types[] and times[] are always complete.  Texts: rows[text] plus text_bytes: row k's bytes begin
 * at text_offsets[k].
 */
struct gf_batch {
	uint32_t thread_id;
	uint32_t count;
	const uint8_t *types;
	const uint64_t *times; /* ticks */
	const uint64_t *text_offsets;
	const char *text_bytes;
	struct gf_rows rows[GF_TAG_LIMIT];
};

struct gf_decoder; /* grows on the heap; reused from frame to frame */

/**
 * Make a decoder.
 *
 * @param shared  NULL, or a decoder whose decompressor is used as well and which must live longer;
 *                makes many decoders cheap.  All that share belong to one thread.
 * @return NULL when out of memory
 */
struct gf_decoder *gf_decoder_new(struct gf_decoder *shared);
void gf_decoder_free(struct gf_decoder *decoder); /* NULL is allowed */

/**
 * Decode a frame.
 *
 * @param decoder    owns *batch_out until its next call
 * @param frame      the whole frame, info->bytes long
 * @param type_mask  bit t set: decode records of tag t
 * @return GF_OK; GF_BAD_FRAME; GF_NO_MEMORY; GF_TOO_NEW
 *
 * Checks the body checksum first; sizes are bounded by the limits above whatever the bytes say.
 */
enum gf_status gf_decode(struct gf_decoder *decoder, const struct gf_frame_info *info,
    const void *frame, uint64_t type_mask, struct gf_batch *batch_out, struct gf_error *error);

/**
 * Check and read a frame's directory: where its records came from and how many of each type.
 *
 * @param frame        header and directory: GF_FRAME_HEADER_BYTES + info->directory_bytes bytes
 * @param sources_out  info->source_count entries; may be NULL
 * @param rows_out     GF_TAG_LIMIT counts, tags that this version does not know included; may be
 *                     NULL
 * @return GF_OK, GF_BAD_FRAME
 */
enum gf_status gf_frame_directory(const struct gf_frame_info *info, const void *frame,
    struct gf_frame_source *sources_out, uint32_t *rows_out, struct gf_error *error);

/**
 * Check the body of a frame against its checksum without decoding it.
 *
 * @param frame  the whole frame, info->bytes long
 * @return GF_OK, GF_BAD_FRAME
 */
enum gf_status gf_frame_verify(const struct gf_frame_info *info, const void *frame,
    struct gf_error *error);

/**
 * Batch from raw journal records (a leftover chunk); same rules as gf_decode.
 *
 * @param data, bytes  records as gf_chunk_extent found them; 8-byte aligned
 * @return GF_OK, GF_BAD_RECORD, GF_NO_MEMORY
 */
enum gf_status gf_decode_records(struct gf_decoder *decoder, uint32_t thread_id, const void *data,
    size_t bytes, uint64_t type_mask, struct gf_batch *batch_out, struct gf_error *error);

/*
 * gf_get_<record>(batch, row, out): one row as the journal struct; head is that of this version.
 * For code that is not hot; hot loops read the columns.
 */
#define RECORD(tag, name, first) \
	void gf_get_##name(const struct gf_batch *batch, uint32_t row, struct gf_##name *out);
GF_RECORDS(RECORD)
#undef RECORD

#endif
