/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <stdlib.h>

#include "formats/frame.h"

#define CHUNKS 4u

static uint64_t random_state = 88172645463325252u;

static uint64_t random_number(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state;
}

/* Chunks filled with records, an encoder and a decoder. */
struct bench {
	char *memory;
	struct gf_source sources[CHUNKS];
	uint32_t used[CHUNKS];
	struct gf_encoder *encoder;
	void *encoder_memory;
	struct gf_decoder *decoder;
	const unsigned char *frame;
	size_t frame_bytes;
	struct gf_frame_info info;
	struct gf_batch batch;
	struct gf_error error;
};

static struct gf_chunk *chunk_of(struct bench *bench, unsigned index)
{
	return (struct gf_chunk *)(bench->memory + (size_t)index * GF_CHUNK_BYTES);
}

static void make_bench(struct bench *bench, unsigned tick_shift)
{
	size_t bytes = (gf_encoder_bytes(CHUNKS) + 63) & ~(size_t)63;
	memset(bench, 0, sizeof(*bench));
	bench->memory = aligned_alloc(64, CHUNKS * (size_t)GF_CHUNK_BYTES);
	bench->encoder_memory = aligned_alloc(64, bytes);
	REQUIRE(bench->memory && bench->encoder_memory);
	memset(bench->memory, 0, CHUNKS * (size_t)GF_CHUNK_BYTES);
	bench->encoder = gf_encoder_init(bench->encoder_memory, bytes, CHUNKS, tick_shift);
	bench->decoder = gf_decoder_new(NULL);
	REQUIRE(bench->encoder && bench->decoder);
	for (unsigned i = 0; i < CHUNKS; i++) {
		chunk_of(bench, i)->sequence = 100 + i;
		chunk_of(bench, i)->thread_id = 7;
		bench->used[i] = GF_CHUNK_HEADER_BYTES;
	}
}

static void free_bench(struct bench *bench)
{
	gf_decoder_free(bench->decoder);
	free(bench->encoder_memory);
	free(bench->memory);
}

static bool append(struct bench *bench, unsigned chunk, const void *record, uint32_t bytes)
{
	if (bench->used[chunk] + bytes > GF_CHUNK_BYTES)
		return false;
	memcpy((char *)chunk_of(bench, chunk) + bench->used[chunk], record, bytes);
	bench->used[chunk] += bytes;
	return true;
}

static enum gf_status encode(struct bench *bench)
{
	uint32_t count = 0;
	for (unsigned i = 0; i < CHUNKS; i++)
		if (bench->used[i] > GF_CHUNK_HEADER_BYTES)
			bench->sources[count++] = (struct gf_source){
			    chunk_of(bench, i), GF_CHUNK_HEADER_BYTES, bench->used[i]};
	return gf_encode(bench->encoder, bench->sources, count, (const void **)&bench->frame,
	    &bench->frame_bytes, &bench->error);
}

static enum gf_status decode(struct bench *bench, uint64_t mask)
{
	enum gf_status status =
	    gf_frame_parse(bench->frame, bench->frame_bytes, 64, &bench->info, &bench->error);
	return status ? status
		      : gf_decode(bench->decoder, &bench->info, bench->frame, mask, &bench->batch,
			    &bench->error);
}

/* A record of random content; `wild`: any bits, else numbers as they come. */
static uint32_t make_record(unsigned char *out, const struct gf_record_type *type, bool wild)
{
	uint32_t bytes = type->bytes, length = 0;
	memset(out, 0, GF_RECORD_MAX_BYTES);
	for (unsigned i = 0; i < type->column_count; i++) {
		const struct gf_column *column = &type->columns[i];
		uint64_t value = random_number();
		if (!wild)
			value = i % 3 == 0 ? 42 : i % 3 == 1 ? value % 1000 * 512 : value % 7;
		else if (value % 8 == 0)
			value = value % 16 ? 0 : UINT64_MAX;
		memcpy(out + column->offset, &value, column->bytes);
	}
	if (type->tag == GF_TAG_text) {
		struct gf_text *text = (struct gf_text *)out;
		text->length = length = (uint32_t)(random_number() % (wild ? 3000 : 20));
		for (uint32_t i = 0; i < length; i++)
			out[bytes + i] = (unsigned char)random_number();
		bytes += (length + 7) & ~7u;
	}
	uint32_t head = GF_HEAD(type->tag, bytes);
	memcpy(out, &head, sizeof(head));
	return bytes;
}

static void fill(struct bench *bench, bool wild, unsigned only)
{
	unsigned char record[GF_RECORD_MAX_BYTES];
	for (unsigned chunk = 0; chunk < CHUNKS; chunk++)
		for (;;) {
			unsigned tag = only ? only : (unsigned)(random_number() % GF_TAG_LIMIT);
			const struct gf_record_type *type = gf_record_type(tag);
			if (type && !append(bench, chunk, record, make_record(record, type, wild)))
				break;
		}
}

/* Row `row` of the batch against the bytes of a record, times in units of 2^shift. */
static void compare(
    const struct gf_batch *batch, uint32_t row, const unsigned char *record, unsigned shift)
{
	const struct gf_record_type *type = gf_record_type(record[0]);
	const struct gf_rows *rows = &batch->rows[type->tag];
	for (unsigned i = 0; i < type->column_count; i++) {
		const struct gf_column *column = &type->columns[i];
		uint64_t want = 0, got = 0;
		memcpy(&want, record + column->offset, column->bytes);
		if (column->coding == GF_CODING_TIME || column->coding == GF_CODING_TICKS)
			want = want >> shift << shift;
		REQUIRE(rows->columns[i]);
		memcpy(&got, (const char *)rows->columns[i] + (size_t)row * column->bytes,
		    column->bytes);
		EXPECT_EQ(got, want);
	}
	if (type->tag == GF_TAG_text) {
		const struct gf_text *text = (const struct gf_text *)record;
		EXPECT(memcmp(batch->text_bytes + batch->text_offsets[row], gf_text_bytes(text),
			   text->length) == 0);
	}
}

static void compare_all(struct bench *bench, unsigned shift)
{
	uint32_t rows[GF_TAG_LIMIT] = {0}, index = 0;
	for (unsigned chunk = 0; chunk < CHUNKS; chunk++)
		for (uint32_t at = GF_CHUNK_HEADER_BYTES; at < bench->used[chunk];) {
			const unsigned char *record =
			    (const unsigned char *)chunk_of(bench, chunk) + at;
			uint32_t head;
			memcpy(&head, record, sizeof(head));
			REQUIRE(index < bench->batch.count);
			REQUIRE(bench->batch.types[index++] == GF_HEAD_TAG(head));
			compare(&bench->batch, rows[GF_HEAD_TAG(head)]++, record, shift);
			at += GF_HEAD_BYTES(head);
		}
	EXPECT_EQ(index, bench->batch.count);
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		EXPECT_EQ(bench->batch.rows[tag].count, rows[tag]);
}

static void round_trip(bool wild, unsigned only, unsigned shift)
{
	struct bench bench;
	make_bench(&bench, shift);
	fill(&bench, wild, only);
	REQUIRE(encode(&bench) == GF_OK);
	REQUIRE(decode(&bench, ~UINT64_C(0)) == GF_OK);
	EXPECT_EQ(bench.info.thread_id, 7);
	EXPECT_EQ(bench.info.source_count, CHUNKS);
	EXPECT_EQ(bench.batch.thread_id, 7);
	compare_all(&bench, shift);
	free_bench(&bench);
}

TEST(round_trip_of_all_types)
{
	for (unsigned shift = 0; shift <= 20; shift += 5) {
		round_trip(false, 0, shift);
		round_trip(true, 0, shift);
	}
}

TEST(round_trip_of_each_type)
{
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		if (gf_record_type(tag)) {
			round_trip(false, tag, 6);
			round_trip(true, tag, 0);
		}
}

TEST(one_record)
{
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		unsigned char record[GF_RECORD_MAX_BYTES];
		struct bench bench;
		if (!gf_record_type(tag))
			continue;
		make_bench(&bench, 0);
		append(&bench, 0, record, make_record(record, gf_record_type(tag), true));
		REQUIRE(encode(&bench) == GF_OK);
		REQUIRE(decode(&bench, ~UINT64_C(0)) == GF_OK);
		compare_all(&bench, 0);
		free_bench(&bench);
	}
}

/* Columns with few values are stored as tables: exactly 256 values, 257, and others in between. */
TEST(few_values)
{
	static const unsigned counts[] = {1, 2, 3, 255, 256, 257, 1000};
	for (unsigned i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct bench bench;
		make_bench(&bench, 0);
		for (unsigned k = 0; k < 3 * counts[i]; k++) {
			struct gf_launch launch = {.head = GF_HEAD(GF_TAG_launch, sizeof(launch)),
			    .time = k,
			    .function = 0x7f0000000000 + (k % counts[i]) * 0x1234567,
			    .grid_x = (k % counts[i]) << 12,
			    .block_x = (uint16_t)((k % counts[i]) << 6)};
			append(&bench, k % CHUNKS, &launch, sizeof(launch));
		}
		REQUIRE(encode(&bench) == GF_OK);
		REQUIRE(decode(&bench, ~UINT64_C(0)) == GF_OK);
		compare_all(&bench, 0);
		free_bench(&bench);
	}
}

TEST(running_totals_cost_nothing)
{
	struct bench bench;
	uint64_t total = 1 << 30;
	make_bench(&bench, 0);
	for (unsigned k = 0; k < 800; k++) {
		int64_t size = (int64_t)(random_number() % 1000) * (k % 2 ? 512 : -512);
		struct gf_block block = {.head = GF_HEAD(GF_TAG_block, sizeof(block)),
		    .time = k * 64,
		    .size = size,
		    .allocated = total += (uint64_t)size,
		    .reserved = UINT64_C(1) << 32};
		append(&bench, 0, &block, sizeof(block));
	}
	REQUIRE(encode(&bench) == GF_OK);
	REQUIRE(decode(&bench, ~UINT64_C(0)) == GF_OK);
	compare_all(&bench, 0);
	EXPECT(bench.frame_bytes < 800 * 3);
	free_bench(&bench);
}

TEST(only_wanted_types)
{
	struct bench bench;
	make_bench(&bench, 0);
	fill(&bench, false, 0);
	REQUIRE(encode(&bench) == GF_OK);
	REQUIRE(decode(&bench, UINT64_C(1) << GF_TAG_copy | UINT64_C(1) << GF_TAG_text) == GF_OK);
	uint32_t counts[GF_TAG_LIMIT] = {0}, rows[GF_TAG_LIMIT];
	for (uint32_t i = 0; i < bench.batch.count; i++)
		counts[bench.batch.types[i]]++;
	EXPECT(bench.batch.rows[GF_TAG_copy].count > 0);
	EXPECT_EQ(bench.batch.rows[GF_TAG_copy].count, counts[GF_TAG_copy]);
	EXPECT_EQ(bench.batch.rows[GF_TAG_text].count, counts[GF_TAG_text]);
	EXPECT_EQ(bench.batch.rows[GF_TAG_block].count, 0);
	EXPECT_EQ(bench.batch.count, bench.info.record_count);
	EXPECT_EQ(gf_frame_directory(&bench.info, bench.frame, NULL, rows, NULL), GF_OK);
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		EXPECT_EQ(rows[tag], counts[tag]);
	free_bench(&bench);
}

TEST(sources)
{
	struct bench bench;
	struct gf_frame_source sources[GF_FRAME_SOURCE_LIMIT];
	make_bench(&bench, 0);
	fill(&bench, false, GF_TAG_wait);
	REQUIRE(encode(&bench) == GF_OK);
	REQUIRE(decode(&bench, 0) == GF_OK);
	EXPECT_EQ(gf_frame_directory(&bench.info, bench.frame, sources, NULL, NULL), GF_OK);
	for (unsigned i = 0; i < CHUNKS; i++) {
		EXPECT_EQ(sources[i].sequence, 100 + i);
		EXPECT_EQ(sources[i].begin, GF_CHUNK_HEADER_BYTES);
		EXPECT_EQ(sources[i].end, bench.used[i]);
	}
	free_bench(&bench);
}

TEST(misuse_is_refused)
{
	struct bench bench;
	struct gf_wait wait = {.head = GF_HEAD(GF_TAG_wait, sizeof(wait))};
	make_bench(&bench, 0);
	EXPECT_EQ(encode(&bench), GF_USAGE);
	append(&bench, 0, &wait, sizeof(wait));
	wait.head = GF_HEAD(GF_TAG_wait, 40); /* shorter than this version writes */
	append(&bench, 0, &wait, 40);
	EXPECT_EQ(encode(&bench), GF_BAD_RECORD);
	bench.used[0] -= 40;
	wait.head = GF_HEAD(33, sizeof(wait));
	append(&bench, 0, &wait, sizeof(wait));
	EXPECT_EQ(encode(&bench), GF_BAD_RECORD);
	bench.used[0] -= (uint32_t)sizeof(wait);
	EXPECT_EQ(encode(&bench), GF_OK);
	EXPECT(gf_encoder_init(bench.encoder_memory, 1000, CHUNKS, 0) == NULL);
	EXPECT(gf_encoder_init(bench.encoder_memory, gf_encoder_bytes(CHUNKS), CHUNKS, 21) == NULL);
	free_bench(&bench);
}

/* A frame in memory of exactly its size, so that the sanitizer sees every step outside. */
static unsigned char *exact_copy(const struct bench *bench, size_t bytes)
{
	unsigned char *copy = malloc(bytes ? bytes : 1);
	REQUIRE(copy);
	memcpy(copy, bench->frame, bytes);
	return copy;
}

TEST(every_flipped_bit_is_noticed)
{
	struct bench bench;
	make_bench(&bench, 0);
	fill(&bench, false, 0);
	for (unsigned i = 0; i < CHUNKS; i++) /* a frame small enough to try them all */
		bench.used[i] = GF_CHUNK_HEADER_BYTES +
				GF_HEAD_BYTES(*(uint32_t *)((char *)chunk_of(&bench, i) +
							    GF_CHUNK_HEADER_BYTES));
	REQUIRE(encode(&bench) == GF_OK);
	unsigned char *copy = exact_copy(&bench, bench.frame_bytes);
	for (size_t bit = 0; bit < 8 * bench.frame_bytes; bit++) {
		copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
		struct gf_frame_info info;
		enum gf_status status =
		    gf_frame_parse(copy, bench.frame_bytes, 0, &info, &bench.error);
		if (!status && info.bytes == bench.frame_bytes)
			status = gf_decode(
			    bench.decoder, &info, copy, ~UINT64_C(0), &bench.batch, &bench.error);
		EXPECT(status == GF_BAD_FRAME);
		copy[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	free(copy);
	free_bench(&bench);
}

TEST(every_cut_is_noticed)
{
	struct bench bench;
	make_bench(&bench, 0);
	fill(&bench, false, 0);
	bench.used[1] = bench.used[2] = bench.used[3] = GF_CHUNK_HEADER_BYTES;
	REQUIRE(encode(&bench) == GF_OK);
	for (size_t bytes = 0; bytes < bench.frame_bytes; bytes += bytes < 100 ? 1 : 97) {
		unsigned char *copy = exact_copy(&bench, bytes);
		struct gf_frame_info info;
		enum gf_status status = gf_frame_parse(copy, bytes, 0, &info, &bench.error);
		EXPECT(status == GF_TRUNCATED || (status == GF_OK && info.bytes > bytes));
		free(copy);
	}
	free_bench(&bench);
}

static uint64_t time_of(uint64_t k)
{
	return UINT64_C(1) << 40 | k;
}

/* Records of other versions, as a leftover journal can have them. */
TEST(versions_of_journal_records)
{
	unsigned char data[1024] = {0}, *at = data;
	struct gf_wait wait = {.head = GF_HEAD(GF_TAG_wait, sizeof(wait) + 16),
	    .time = time_of(0),
	    .duration = 5,
	    .object = 6,
	    .kind = 1,
	    .flags = 9};
	memcpy(at, &wait, sizeof(wait)); /* a newer writer: 16 bytes more */
	memset(at + sizeof(wait), 0xee, 16);
	at += sizeof(wait) + 16;
	wait.head = GF_HEAD(GF_TAG_wait, sizeof(wait));
	memcpy(at, &wait, sizeof(wait));
	at += sizeof(wait);
	uint64_t unknown[3] = {GF_HEAD(50, 24), time_of(2), 99};
	memcpy(at, unknown, sizeof(unknown));
	at += sizeof(unknown);
	/* A text of a newer version: one field more, then the text at the end. */
	struct gf_text text = {GF_HEAD(GF_TAG_text, sizeof(text) + 8 + 8), 3, time_of(3), 2, 5};
	memcpy(at, &text, sizeof(text));
	memset(at + sizeof(text), 0xdd, 8);
	memcpy(at + sizeof(text) + 8, "hello", 5);
	at += sizeof(text) + 16;
	struct bench bench;
	make_bench(&bench, 0);
	size_t bytes = (size_t)(at - data);
	REQUIRE(gf_decode_records(bench.decoder, 4, data, bytes, ~UINT64_C(0), &bench.batch,
		    &bench.error) == GF_OK);
	EXPECT_EQ(bench.batch.count, 4);
	EXPECT_EQ(bench.batch.types[2], 50);
	EXPECT_EQ(bench.batch.times[2], time_of(2));
	struct gf_wait got;
	for (uint32_t row = 0; row < 2; row++) {
		gf_get_wait(&bench.batch, row, &got);
		EXPECT(memcmp(&got, &wait, sizeof(got)) == 0);
	}
	EXPECT_STR(bench.batch.text_bytes + bench.batch.text_offsets[0], "hello");
	/* Cut anywhere but between records it is refused. */
	for (size_t cut = 0; cut < bytes; cut += 8) {
		enum gf_status status = gf_decode_records(
		    bench.decoder, 4, data, cut, ~UINT64_C(0), &bench.batch, &bench.error);
		bool border = cut == 0 || cut == 64 || cut == 112 || cut == 136;
		EXPECT_EQ(status, border ? GF_OK : GF_BAD_RECORD);
	}
	free_bench(&bench);
}

TEST(trace_header)
{
	static const uint64_t id[2] = {UINT64_C(0x0123456789abcdef), 2};
	unsigned char header[GF_TRACE_HEADER_BYTES];
	uint64_t got[2];
	struct gf_error error;
	gf_trace_header(header, id);
	EXPECT_EQ(gf_trace_header_check(header, sizeof(header), got, &error), GF_OK);
	EXPECT(got[0] == id[0] && got[1] == id[1]);
	for (unsigned bit = 0; bit < 8 * sizeof(header); bit++) {
		header[bit / 8] ^= (unsigned char)(1u << bit % 8);
		EXPECT_EQ(gf_trace_header_check(header, sizeof(header), got, &error), GF_BAD_FILE);
		header[bit / 8] ^= (unsigned char)(1u << bit % 8);
	}
	for (unsigned bytes = 0; bytes < sizeof(header); bytes++)
		EXPECT_EQ(gf_trace_header_check(header, bytes, got, &error), GF_TRUNCATED);
}

TEST(search)
{
	static const char data[] = "xx\x93"
				   "FR\x93"
				   "FRMyy\x93"
				   "FR";
	size_t bytes = sizeof(data) - 1;
	EXPECT_EQ(gf_frame_search(data, bytes, 0), 5);
	EXPECT_EQ(gf_frame_search(data, bytes, 5), 5);
	EXPECT_EQ(gf_frame_search(data, bytes, 6), bytes);
	EXPECT_EQ(gf_frame_search(data, bytes, bytes + 9), bytes);
}
