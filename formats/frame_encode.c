/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of a thread to one frame.  Runs inside the host: no heap, no lock, no stdio.
 *
 * The records are walked once to sort their addresses by type and to take their types and times;
 * then each type becomes a section, column by column.  Most columns of a type never change within
 * a frame: they are found first, eight bytes at a time, and cost nothing more.
 */
#include "formats/frame.h"

#define ZSTD_STATIC_LINKING_ONLY /* a compression context in memory of our own */
#include <zstd.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/column_encode.h"
#include "formats/frame_layout.h"
#include "formats/record_gather.h"
#include "formats/wire.h"

#define DIRECTORY_LIMIT 16384u
#define ZSTD_LEVEL 1 /* negative ones save 2 ns a record and cost 10 % more bytes */
#define TABLE_RETRY 16 /* frames until a column is tried as a table again */

#define RECORD(tag, name, first) \
	_Static_assert(sizeof(struct gf_##name) <= 8 * GF_RECORD_WORDS_LIMIT, "too long: " #name);
GF_RECORDS(RECORD)
#undef RECORD
_Static_assert(GF_FRAME_SOURCE_LIMIT *GF_SOURCE_BYTES +
		       32 * (GF_SECTION_BYTES + GF_COLUMNS_LIMIT * GF_COLUMN_BYTES_LIMIT) <=
		   DIRECTORY_LIMIT,
    "room for 32 record types");

struct gf_encoder {
	size_t record_limit; /* of one frame */
	uint32_t source_limit;
	unsigned tick_shift;
	ZSTD_CCtx *zstd;
	const unsigned char **found;  /* every record, in order */
	const unsigned char **sorted; /* by type */
	uint64_t *times;
	uint64_t *values, *sizes, *work; /* a column */
	uint8_t *types;
	unsigned char *raw, *out;
	uint32_t heads[GF_TAG_LIMIT]; /* of records whose length is fixed; else 0 */
	struct gf_value_table table;
	uint8_t table_wait[GF_TAG_LIMIT][GF_COLUMNS_LIMIT];
	/* The frame being made. */
	uint32_t records;
	uint32_t counts[GF_TAG_LIMIT];
	size_t directory_bytes, payload_bytes;
	uint64_t time_first, time_last;
	unsigned sections;
	unsigned char directory[DIRECTORY_LIMIT];
};

/* ---- workspace ---- */

struct sizes {
	size_t records, raw, out, zstd;
};

static struct sizes sizes_for(uint32_t source_limit)
{
	struct sizes sizes;
	size_t bytes = (size_t)source_limit * (GF_CHUNK_BYTES - GF_CHUNK_HEADER_BYTES);
	sizes.records = bytes / sizeof(struct gf_text); /* the shortest record */
	/* A section is never longer than its records or than a type and 8 bytes of time for each;
	 * one more column and table are scratch behind it. */
	size_t order = sizes.records * 9;
	sizes.raw = (bytes > order ? bytes : order) + 8 * sizes.records + 16 * GF_TABLE_LIMIT;
	sizes.out = GF_FRAME_HEADER_BYTES + DIRECTORY_LIMIT + bytes + order;
	sizes.zstd = ZSTD_estimateCCtxSize(ZSTD_LEVEL);
	return sizes;
}

static size_t aligned(size_t bytes)
{
	return (bytes + 63) & ~(size_t)63;
}

size_t gf_encoder_bytes(uint32_t source_limit)
{
	struct sizes sizes = sizes_for(source_limit);
	return aligned(sizeof(struct gf_encoder)) + aligned(sizes.zstd) +
	       6 * aligned(sizes.records * sizeof(uint64_t)) + aligned(sizes.records) +
	       aligned(sizes.raw) + aligned(sizes.out);
}

static void *carve(char **at, size_t bytes)
{
	void *part = *at;
	*at += aligned(bytes);
	return part;
}

struct gf_encoder *gf_encoder_init(
    void *memory, size_t bytes, uint32_t source_limit, unsigned tick_shift)
{
	if (source_limit == 0 || source_limit > GF_FRAME_SOURCE_LIMIT ||
	    tick_shift > GF_TICK_SHIFT_LIMIT || ((uintptr_t)memory & 63) ||
	    bytes < gf_encoder_bytes(source_limit))
		return NULL;
	struct sizes sizes = sizes_for(source_limit);
	char *at = memory;
	struct gf_encoder *encoder = carve(&at, sizeof(*encoder));
	memset(encoder, 0, sizeof(*encoder));
	encoder->source_limit = source_limit;
	encoder->tick_shift = tick_shift;
	encoder->record_limit = sizes.records;
	encoder->zstd = ZSTD_initStaticCCtx(carve(&at, sizes.zstd), sizes.zstd);
	encoder->found = carve(&at, sizes.records * sizeof(*encoder->found));
	encoder->sorted = carve(&at, sizes.records * sizeof(*encoder->sorted));
	encoder->times = carve(&at, sizes.records * sizeof(*encoder->times));
	encoder->values = carve(&at, sizes.records * sizeof(*encoder->values));
	encoder->sizes = carve(&at, sizes.records * sizeof(*encoder->sizes));
	encoder->work = carve(&at, sizes.records * sizeof(*encoder->work));
	encoder->types = carve(&at, sizes.records);
	encoder->raw = carve(&at, sizes.raw);
	encoder->out = carve(&at, sizes.out);
	if (!encoder->zstd)
		return NULL;
#define RECORD(tag, name, first) \
	if (GF_TAG_##name != GF_TAG_text) \
		encoder->heads[tag] = GF_HEAD(tag, sizeof(struct gf_##name));
	GF_RECORDS(RECORD)
#undef RECORD
	/* A static context begins with all parameters 0, not with the defaults. */
	ZSTD_CCtx_reset(encoder->zstd, ZSTD_reset_session_and_parameters);
	ZSTD_CCtx_setParameter(encoder->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
	return encoder;
}

/* ---- the walk ---- */

static enum gf_status bad_record(
    const struct gf_source *source, uint32_t at, struct gf_error *error)
{
	const char *record = (const char *)source->chunk + at;
	return gf_fail(error, GF_BAD_RECORD, at,
	    "chunk %llu has no sound record at byte %u (head word %#x)",
	    (unsigned long long)source->chunk->sequence, at, *(const uint32_t *)record);
}

/* Fixed-length records of this version are known by their head word alone; others take longer. */
static bool record_fits(
    const struct gf_encoder *encoder, const unsigned char *record, uint32_t head, uint32_t left)
{
	uint32_t tag = GF_HEAD_TAG(head);
	if (tag < GF_TAG_LIMIT && head == encoder->heads[tag] && GF_HEAD_BYTES(head) <= left)
		return true;
	const struct gf_record_type *type = gf_record_type(tag);
	return type && GF_HEAD_BYTES(head) <= left && GF_HEAD_BYTES(head) >= type->bytes &&
	       gf_record_valid(record, head);
}

static enum gf_status walk_source(
    struct gf_encoder *encoder, const struct gf_source *source, struct gf_error *error)
{
	const unsigned char *bytes = (const unsigned char *)source->chunk;
	uint64_t rounding = ~(uint64_t)0 << encoder->tick_shift;
	uint64_t first = encoder->time_first, last = encoder->time_last;
	uint32_t index = encoder->records, at = source->begin, end = source->end;
	while (at < end) {
		const unsigned char *record = bytes + at;
		uint32_t head = __atomic_load_n((const uint32_t *)record, __ATOMIC_ACQUIRE);
		if (!record_fits(encoder, record, head, end - at) || index == encoder->record_limit)
			return bad_record(source, at, error);
		uint64_t time = *(const uint64_t *)(record + GF_TIME_OFFSET) & rounding;
		encoder->found[index] = record;
		encoder->types[index] = (uint8_t)GF_HEAD_TAG(head);
		encoder->times[index++] = time;
		first = time < first ? time : first;
		last = time > last ? time : last;
		at += GF_HEAD_BYTES(head);
	}
	encoder->records = index;
	encoder->time_first = first;
	encoder->time_last = last;
	return GF_OK;
}

static void sort_by_type(struct gf_encoder *encoder)
{
	uint32_t next[GF_TAG_LIMIT], start = 0;
	memset(encoder->counts, 0, sizeof(encoder->counts));
	for (uint32_t i = 0; i < encoder->records; i++)
		encoder->counts[encoder->types[i]]++;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		next[tag] = start;
		start += encoder->counts[tag];
	}
	for (uint32_t i = 0; i < encoder->records; i++)
		encoder->sorted[next[encoder->types[i]]++] = encoder->found[i];
}

/* ---- sections ---- */

/* Compress (or copy) a section's bytes behind the payload and write its fixed directory part. */
static void close_section(struct gf_encoder *encoder, unsigned char *entry, unsigned tag,
    unsigned columns, uint32_t rows, size_t raw_bytes, size_t extra_bytes)
{
	unsigned char *to =
	    encoder->out + GF_FRAME_HEADER_BYTES + DIRECTORY_LIMIT + encoder->payload_bytes;
	size_t stored = raw_bytes;
	enum gf_section_form form = GF_FORM_STORED;
	if (raw_bytes > 16) {
		size_t got =
		    ZSTD_compress2(encoder->zstd, to, raw_bytes - 1, encoder->raw, raw_bytes);
		if (!ZSTD_isError(got)) {
			stored = got;
			form = GF_FORM_ZSTD;
		}
	}
	if (form == GF_FORM_STORED)
		memcpy(to, encoder->raw, raw_bytes);
	encoder->payload_bytes += stored;
	encoder->sections++;
	entry[0] = (unsigned char)tag;
	entry[1] = (unsigned char)columns;
	entry[2] = (unsigned char)form;
	entry[3] = 0;
	gf_put32(entry + 4, rows);
	gf_put32(entry + 8, (uint32_t)stored);
	gf_put32(entry + 12, (uint32_t)extra_bytes);
}

static size_t add_column(struct gf_encoder *encoder, const struct gf_column_form *form)
{
	size_t bytes = gf_column_entry_put(encoder->directory + encoder->directory_bytes, form);
	encoder->directory_bytes += bytes;
	return bytes;
}

static unsigned char *open_section(struct gf_encoder *encoder)
{
	unsigned char *entry = encoder->directory + encoder->directory_bytes;
	encoder->directory_bytes += GF_SECTION_BYTES;
	return entry;
}

/* Types and times of all records. */
static void encode_order(struct gf_encoder *encoder)
{
	unsigned char *entry = open_section(encoder);
	uint32_t rows = encoder->records, *numbers = (uint32_t *)encoder->values;
	struct gf_column_form types = {.code = GF_CODE_PLAIN, .width_log = 0};
	for (uint32_t i = 0; i < rows; i++)
		numbers[i] = encoder->types[i];
	size_t bytes = gf_column_encode_reduced(numbers, rows, &types, NULL, encoder->raw);
	add_column(encoder, &types);
	struct gf_column_form times = {.code = GF_CODE_DELTA, .width_log = 3};
	bytes += gf_column_encode(
	    encoder->times, NULL, encoder->work, rows, &times, encoder->raw + bytes);
	add_column(encoder, &times);
	close_section(encoder, entry, GF_SECTION_ORDER, 2, rows, bytes, 0);
}

static uint64_t load_field(const unsigned char *at, unsigned bytes)
{
	return bytes == 8   ? *(const uint64_t *)at
	       : bytes == 4 ? *(const uint32_t *)at
			    : *(const uint16_t *)at;
}

static enum gf_column_code code_of(const struct gf_column *column)
{
	switch (column->coding) {
	case GF_CODING_DELTA:
		return GF_CODE_DELTA;
	case GF_CODING_TOTAL:
		return GF_CODE_TOTAL;
	default:
		return GF_CODE_PLAIN;
	}
}

/* A column that differs somewhere, as few numbers of few bits as it takes. */
static size_t encode_varying(struct gf_encoder *encoder, const struct gf_column *column,
    const unsigned char *const *records, uint32_t rows, uint64_t rounding, uint64_t differs,
    struct gf_column_form *form, struct gf_value_table *table, unsigned char *out)
{
	uint64_t first = load_field(records[0] + column->offset, column->bytes) & rounding;
	if (form->code == GF_CODE_PLAIN && gf_column_reduce(first, differs, form)) {
		uint32_t *numbers = (uint32_t *)encoder->values;
		gf_gather_reduced(
		    records, rows, column, rounding, form->base, form->shift, numbers);
		return gf_column_encode_reduced(numbers, rows, form, table, out);
	}
	gf_gather(records, rows, column, rounding, encoder->values);
	return gf_column_encode(encoder->values,
	    form->code == GF_CODE_TOTAL ? encoder->sizes : NULL, encoder->work, rows, form, out);
}

/* A table is tried unless it was of no use for this column a few frames ago. */
static size_t encode_with_table(struct gf_encoder *encoder, const struct gf_record_type *type,
    unsigned index, const unsigned char *const *records, uint32_t rows, uint64_t rounding,
    uint64_t differs, struct gf_column_form *form, unsigned char *out)
{
	const struct gf_column *column = &type->columns[index];
	uint8_t *wait = &encoder->table_wait[type->tag][index];
	bool try_table = *wait == 0;
	*wait -= !try_table;
	form->code = code_of(column);
	if (form->code == GF_CODE_TOTAL)
		gf_gather(records, rows, &type->columns[gf_column_index(type, "size")], UINT64_MAX,
		    encoder->sizes);
	size_t bytes = encode_varying(encoder, column, records, rows, rounding, differs, form,
	    try_table ? &encoder->table : NULL, out);
	if (try_table && form->planes > 1 && !form->is_table)
		*wait = TABLE_RETRY;
	return bytes;
}

/* Time is in the order section: its place in the directory is a constant 0. */
static size_t encode_column(struct gf_encoder *encoder, const struct gf_record_type *type,
    unsigned index, const unsigned char *const *records, uint32_t rows, const uint64_t *differing,
    unsigned char *out)
{
	const struct gf_column *column = &type->columns[index];
	struct gf_column_form form = {
	    .width_log = (uint8_t)__builtin_ctz(column->bytes), .is_signed = column->is_signed};
	uint64_t rounding =
	    column->coding == GF_CODING_TICKS ? ~(uint64_t)0 << encoder->tick_shift : UINT64_MAX;
	uint64_t differs =
	    rounding & load_field((const unsigned char *)differing + column->offset, column->bytes);
	size_t bytes = 0;
	if (column->coding == GF_CODING_TIME)
		form.base = 0;
	else if (!differs && column->coding != GF_CODING_TOTAL)
		form.base = load_field(records[0] + column->offset, column->bytes) & rounding;
	else
		bytes = encode_with_table(
		    encoder, type, index, records, rows, rounding, differs, &form, out);
	add_column(encoder, &form);
	return bytes;
}

/* The bytes of all texts, one behind the other. */
static size_t append_texts(const unsigned char *const *records, uint32_t rows, unsigned char *out)
{
	size_t bytes = 0;
	for (uint32_t i = 0; i < rows; i++) {
		const struct gf_text *text = (const struct gf_text *)records[i];
		memcpy(out + bytes, gf_text_bytes(text), text->length);
		bytes += text->length;
	}
	return bytes;
}

static void encode_type(struct gf_encoder *encoder, const struct gf_record_type *type,
    const unsigned char *const *records, uint32_t rows)
{
	uint64_t differing[GF_RECORD_WORDS_LIMIT] = {0};
	unsigned char *entry = open_section(encoder);
	size_t raw_bytes = 0, extra_bytes = 0;
	gf_gather_differing(records, rows, type->bytes / 8, differing);
	for (unsigned i = 0; i < type->column_count; i++)
		raw_bytes += encode_column(
		    encoder, type, i, records, rows, differing, encoder->raw + raw_bytes);
	if (type->tag == GF_TAG_text)
		extra_bytes = append_texts(records, rows, encoder->raw + raw_bytes);
	close_section(encoder, entry, type->tag, type->column_count, rows, raw_bytes + extra_bytes,
	    extra_bytes);
}

/* ---- the frame ---- */

static void put_header(struct gf_encoder *encoder, unsigned char *frame, uint32_t thread_id,
    uint32_t source_count, size_t body_bytes)
{
	uint64_t type_mask = 0;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		type_mask |= (uint64_t)(encoder->counts[tag] != 0) << tag;
	const unsigned char *body = frame + GF_FRAME_HEADER_BYTES;
	memset(frame, 0, GF_FRAME_HEADER_BYTES);
	gf_put32(frame + GF_FRAME_MAGIC_AT, GF_FRAME_MAGIC);
	gf_put64(frame + GF_FRAME_BODY_CHECKSUM_AT, XXH3_64bits(body, body_bytes));
	gf_put32(frame + GF_FRAME_BODY_BYTES_AT, (uint32_t)body_bytes);
	gf_put32(frame + GF_FRAME_DIRECTORY_BYTES_AT, (uint32_t)encoder->directory_bytes);
	gf_put32(frame + GF_FRAME_DIRECTORY_CHECKSUM_AT,
	    (uint32_t)XXH3_64bits(body, encoder->directory_bytes));
	gf_put32(frame + GF_FRAME_THREAD_AT, thread_id);
	gf_put32(frame + GF_FRAME_RECORDS_AT, encoder->records);
	frame[GF_FRAME_SOURCES_AT] = (unsigned char)source_count;
	frame[GF_FRAME_SECTIONS_AT] = (unsigned char)encoder->sections;
	frame[GF_FRAME_TICK_SHIFT_AT] = (unsigned char)encoder->tick_shift;
	gf_put64(frame + GF_FRAME_TIME_FIRST_AT, encoder->time_first);
	gf_put64(frame + GF_FRAME_TIME_LAST_AT, encoder->time_last);
	gf_put64(frame + GF_FRAME_TYPES_AT, type_mask);
	gf_put32(frame + GF_FRAME_HEADER_CHECKSUM_AT,
	    (uint32_t)XXH3_64bits(frame + GF_FRAME_BODY_CHECKSUM_AT,
		GF_FRAME_HEADER_BYTES - GF_FRAME_BODY_CHECKSUM_AT));
}

static void put_sources(struct gf_encoder *encoder, const struct gf_source *sources, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++) {
		unsigned char *to = encoder->directory + (size_t)i * GF_SOURCE_BYTES;
		gf_put64(to, sources[i].chunk->sequence);
		gf_put32(to + 8, sources[i].begin);
		gf_put32(to + 12, sources[i].end);
	}
	encoder->directory_bytes = (size_t)count * GF_SOURCE_BYTES;
}

static enum gf_status walk(struct gf_encoder *encoder, const struct gf_source *sources,
    uint32_t count, struct gf_error *error)
{
	encoder->records = 0;
	encoder->time_first = UINT64_MAX;
	encoder->time_last = 0;
	for (uint32_t i = 0; i < count; i++) {
		if (sources[i].begin > sources[i].end || sources[i].begin % 8 ||
		    sources[i].end % 8 || sources[i].begin < GF_CHUNK_HEADER_BYTES ||
		    sources[i].end > GF_CHUNK_BYTES)
			return gf_fail(error, GF_USAGE, UINT64_MAX,
			    "records from byte %u to %u of a chunk", sources[i].begin,
			    sources[i].end);
		enum gf_status status = walk_source(encoder, &sources[i], error);
		if (status)
			return status;
	}
	if (encoder->records == 0)
		return gf_fail(error, GF_USAGE, UINT64_MAX, "no records for a frame");
	return GF_OK;
}

enum gf_status gf_encode(struct gf_encoder *encoder, const struct gf_source *sources,
    uint32_t count, const void **frame_out, size_t *bytes_out, struct gf_error *error)
{
	if (count == 0 || count > encoder->source_limit)
		return gf_fail(error, GF_USAGE, UINT64_MAX, "%u sources for a frame, at most %u",
		    count, encoder->source_limit);
	enum gf_status status = walk(encoder, sources, count, error);
	if (status)
		return status;
	sort_by_type(encoder);
	encoder->sections = 0;
	encoder->payload_bytes = 0;
	put_sources(encoder, sources, count);
	encode_order(encoder);
	uint32_t start = 0;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		if (encoder->counts[tag])
			encode_type(encoder, gf_record_type(tag), encoder->sorted + start,
			    encoder->counts[tag]);
		start += encoder->counts[tag];
	}
	/* The payload was written behind room for the longest directory: the two meet now. */
	unsigned char *body =
	    encoder->out + GF_FRAME_HEADER_BYTES + DIRECTORY_LIMIT - encoder->directory_bytes;
	unsigned char *frame = body - GF_FRAME_HEADER_BYTES;
	memcpy(body, encoder->directory, encoder->directory_bytes);
	size_t body_bytes = encoder->directory_bytes + encoder->payload_bytes;
	put_header(encoder, frame, sources[0].chunk->thread_id, count, body_bytes);
	*frame_out = frame;
	*bytes_out = GF_FRAME_HEADER_BYTES + body_bytes;
	return GF_OK;
}

void gf_trace_header(unsigned char out[GF_TRACE_HEADER_BYTES], const uint64_t trace_id[2])
{
	memset(out, 0, GF_TRACE_HEADER_BYTES);
	memcpy(out + GF_FILE_MAGIC_AT, GF_TRACE_MAGIC, 8);
	gf_put32(out + GF_FILE_VERSION_AT, GF_TRACE_VERSION);
	gf_put32(out + GF_FILE_HEADER_BYTES_AT, GF_TRACE_HEADER_BYTES);
	gf_put64(out + GF_FILE_TRACE_ID_AT, trace_id[0]);
	gf_put64(out + GF_FILE_TRACE_ID_AT + 8, trace_id[1]);
	gf_put64(out + GF_FILE_CHECKSUM_AT, XXH3_64bits(out, GF_FILE_CHECKSUM_AT));
}
