/* SPDX-License-Identifier: Apache-2.0 */
/* Frames composed byte by byte from FORMAT.md: what other versions write, and what nobody should.
 */
#include "tests/test.h"

#define XXH_INLINE_ALL
#include <xxhash.h>
#include <zstd.h>

#include "formats/frame.h"
#include "formats/wire.h"

#define ROOM 65536u

struct frame {
	unsigned char directory[ROOM], payload[ROOM], bytes[3 * ROOM];
	size_t directory_bytes, payload_bytes, section_at, section_payload_at;
	unsigned sections, sources;
	uint32_t records;
	uint64_t types;
	uint8_t required;
};

static void put(unsigned char *to, size_t *at, const void *from, size_t bytes)
{
	REQUIRE(*at + bytes <= ROOM);
	memcpy(to + *at, from, bytes);
	*at += bytes;
}

/* Begin a section; columns and payload follow, then end_section(). */
static void section(struct frame *frame, unsigned tag, uint32_t rows)
{
	unsigned char entry[16] = {(unsigned char)tag};
	gf_put32(entry + 4, rows);
	frame->section_at = frame->directory_bytes;
	frame->section_payload_at = frame->payload_bytes;
	put(frame->directory, &frame->directory_bytes, entry, sizeof(entry));
	frame->sections++;
	if (tag)
		frame->types |= UINT64_C(1) << tag;
}

static void end_section(struct frame *frame)
{
	gf_put32(frame->directory + frame->section_at + 8,
	    (uint32_t)(frame->payload_bytes - frame->section_payload_at));
}

/* A column's entry, as it is in the file, and its stored bytes. */
static void column(struct frame *frame, const char *entry, size_t entry_bytes, const char *stored,
    size_t stored_bytes)
{
	frame->directory[frame->section_at + 1]++;
	put(frame->directory, &frame->directory_bytes, entry, entry_bytes);
	put(frame->payload, &frame->payload_bytes, stored, stored_bytes);
}
#define COLUMN(frame, entry, stored) \
	column(frame, entry, sizeof(entry) - 1, stored, sizeof(stored) - 1)

/* The order section of three records: wait, type 50, wait, at 1000, 1020 and 1008. */
static void order_of_three(struct frame *frame)
{
	memset(frame, 0, sizeof(*frame));
	frame->records = 3;
	section(frame, 0, 3);
	COLUMN(frame, "\x01\x00\x00", "\x08\x32\x08");	       /* one plane, width 1 */
	COLUMN(frame, "\x21\x31\x02\xe8\x03", "\x00\x0a\x05"); /* delta, shift 2, base 1000 */
	end_section(frame);
}

static void unknown_type(struct frame *frame)
{
	section(frame, 50, 1);
	COLUMN(frame, "\x10\x10\x63", ""); /* u16, 0x63 in every row */
	COLUMN(frame, "\x01\x20\x00", "\x09");
	end_section(frame);
}

/* Header and checksums.  Returns the frame's length. */
static size_t seal(struct frame *frame)
{
	unsigned char *header = frame->bytes, *body = header + 64;
	size_t body_bytes = frame->directory_bytes + frame->payload_bytes;
	memset(header, 0, 64);
	memcpy(body, frame->directory, frame->directory_bytes);
	memcpy(body + frame->directory_bytes, frame->payload, frame->payload_bytes);
	memcpy(header,
	    "\x93"
	    "FRM",
	    4);
	gf_put64(header + 8, XXH3_64bits(body, body_bytes));
	gf_put32(header + 16, (uint32_t)body_bytes);
	gf_put32(header + 20, (uint32_t)frame->directory_bytes);
	gf_put32(header + 24, (uint32_t)XXH3_64bits(body, frame->directory_bytes));
	gf_put32(header + 28, 5);
	gf_put32(header + 32, frame->records);
	header[36] = (unsigned char)frame->sources;
	header[37] = (unsigned char)frame->sections;
	header[39] = frame->required;
	gf_put64(header + 40, 1000);
	gf_put64(header + 48, 1020);
	gf_put64(header + 56, frame->types);
	gf_put32(header + 4, (uint32_t)XXH3_64bits(header + 8, 56));
	return 64 + body_bytes;
}

static struct gf_batch batch;

static enum gf_status decode(struct frame *frame)
{
	static struct gf_decoder *decoder;
	struct gf_frame_info info;
	struct gf_error error = {.text = ""};
	decoder = decoder ? decoder : gf_decoder_new(NULL);
	size_t bytes = seal(frame);
	unsigned char *exact = malloc(bytes); /* for the sanitizer */
	REQUIRE(exact);
	memcpy(exact, frame->bytes, bytes);
	enum gf_status status = gf_frame_parse(exact, bytes, 0, &info, &error);
	if (!status)
		status = gf_decode(decoder, &info, exact, ~UINT64_C(0), &batch, &error);
	EXPECT((status == GF_OK) == (error.text[0] == 0));
	free(exact);
	return status;
}

/* What a writer of fewer columns made, with a table and constants. */
static void older_frame(struct frame *frame)
{
	order_of_three(frame);
	section(frame, GF_TAG_wait, 2);
	COLUMN(frame, "\x10\x20\x07", ""); /* stack_id 7 */
	COLUMN(frame, "\x00\x30", "");	   /* time: elsewhere */
	COLUMN(frame, "\x11\x34\x01\x01\x10",
	    "\x00\x02"
	    "\x01\x00"); /* duration: a table */
	end_section(frame);
	unknown_type(frame);
}

TEST(columns_of_an_older_writer)
{
	static struct frame frame;
	struct gf_wait wait;
	older_frame(&frame);
	REQUIRE(decode(&frame) == GF_OK);
	EXPECT_EQ(batch.thread_id, 5);
	EXPECT_EQ(batch.count, 3);
	EXPECT_EQ(batch.types[1], 50);
	EXPECT_EQ(batch.times[1], 1020);
	EXPECT_EQ(batch.rows[GF_TAG_wait].count, 2);
	EXPECT_EQ(batch.rows[50].count, 0);
	EXPECT(batch.rows[GF_TAG_wait].columns[3] == NULL);
	gf_get_wait(&batch, 0, &wait);
	EXPECT_EQ(wait.time, 1000);
	EXPECT_EQ(wait.stack_id, 7);
	EXPECT_EQ(wait.duration, 0x14);
	EXPECT_EQ(wait.object, 0);
	gf_get_wait(&batch, 1, &wait);
	EXPECT_EQ(wait.time, 1008);
	EXPECT_EQ(wait.duration, 0x10);
}

TEST(columns_of_a_newer_writer)
{
	static struct frame frame;
	struct gf_wait wait;
	order_of_three(&frame);
	section(&frame, GF_TAG_wait, 2);
	COLUMN(&frame, "\x00\x20", "");
	COLUMN(&frame, "\x00\x30", "");
	COLUMN(&frame, "\x12\x30\x00\x01", "\x05\x06\x01\x02"); /* 1 + 0x105, 1 + 0x206 */
	COLUMN(&frame, "\x80\x30\x01\x02\x03\x04\x05\x06\x07\x08", "");
	COLUMN(&frame, "\x10\x10\x02", "");
	COLUMN(&frame, "\x01\x10\x00", "\x0a\x0b");
	COLUMN(&frame, "\x20\x10\x34\x12", "");
	COLUMN(&frame, "\x00\x10", "");
	COLUMN(&frame, "\x00\x20", "");
	COLUMN(&frame, "\x00\x20", "");
	COLUMN(&frame, "\x04\x20\x00", "12345678"); /* two that we do not know */
	COLUMN(&frame, "\x01\x00\x00", "90");
	end_section(&frame);
	unknown_type(&frame);
	REQUIRE(decode(&frame) == GF_OK);
	gf_get_wait(&batch, 1, &wait);
	EXPECT_EQ(wait.duration, 0x207);
	EXPECT_EQ(wait.object, 0x0807060504030201);
	EXPECT_EQ(wait.kind, 2);
	EXPECT_EQ(wait.api, 0x0b);
	EXPECT_EQ(wait.status, 0x1234);
}

static unsigned char *byte_of(struct frame *frame, size_t behind_section)
{
	return frame->directory + frame->section_at + behind_section;
}

/* Records of the bytes from `begin` to `end` of a chunk. */
static void add_source(struct frame *frame, uint32_t begin, uint32_t end)
{
	memmove(frame->directory + 16, frame->directory, frame->directory_bytes);
	gf_put64(frame->directory, 3);
	gf_put32(frame->directory + 8, begin);
	gf_put32(frame->directory + 12, end);
	frame->directory_bytes += 16;
	frame->sources = 1;
}

TEST(sources_lie_in_their_chunk)
{
	static struct frame frame;
	older_frame(&frame);
	add_source(&frame, 64, 65536);
	EXPECT_EQ(decode(&frame), GF_OK);
	older_frame(&frame);
	add_source(&frame, 64, 65537);
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	add_source(&frame, 64, UINT32_MAX);
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
}

TEST(what_nobody_may_write)
{
	static struct frame frame;
	older_frame(&frame);
	frame.payload[6 + 2] = 2; /* a table index behind the table */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	frame.records = 4;
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	frame.payload[0] = 50; /* types that are not as many as the sections' rows */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	frame.payload[0] = 200; /* a tag that cannot be */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	frame.types |= 2;
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	frame.sections--;
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	unknown_type(&frame); /* twice */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	frame.payload_bytes++;
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	*byte_of(&frame, 0) = 64; /* tag */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	*byte_of(&frame, 17) |= 0x40; /* reserved bit of a column */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	*byte_of(&frame, 17) |= 3; /* code */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	*byte_of(&frame, 16) = 0x35; /* more planes and base bytes than the width */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	older_frame(&frame);
	memset(byte_of(&frame, 12), 0xff, 4); /* extra bytes */
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
}

TEST(what_only_a_newer_writer_would_write)
{
	static struct frame frame;
	older_frame(&frame);
	*byte_of(&frame, 2) = 2; /* form of a section */
	EXPECT_EQ(decode(&frame), GF_TOO_NEW);
	older_frame(&frame);
	*byte_of(&frame, 3) = 1; /* reserved byte of a section */
	EXPECT_EQ(decode(&frame), GF_TOO_NEW);
	older_frame(&frame);
	frame.required = 1;
	EXPECT_EQ(decode(&frame), GF_TOO_NEW);
}

/* One text of `length` bytes, and as many behind the columns. */
static enum gf_status decode_text(uint32_t length)
{
	static struct frame frame;
	static char text[GF_TEXT_MAX_BYTES + 1];
	char entry[] = "\x40\x20????";
	memset(&frame, 0, sizeof(frame));
	frame.records = 1;
	section(&frame, 0, 1);
	COLUMN(&frame, "\x10\x00\x20", "");
	COLUMN(&frame, "\x00\x30", "");
	end_section(&frame);
	section(&frame, GF_TAG_text, 1);
	COLUMN(&frame, "\x10\x20\x07", ""); /* id 7 */
	COLUMN(&frame, "\x00\x30", "");
	COLUMN(&frame, "\x10\x20\x05", ""); /* kind */
	gf_put32((unsigned char *)entry + 2, length);
	column(&frame, entry, sizeof(entry) - 1, text, length);
	gf_put32(frame.directory + frame.section_at + 12, length);
	end_section(&frame);
	return decode(&frame);
}

TEST(texts_of_frames_have_a_limit)
{
	EXPECT_EQ(decode_text(GF_TEXT_MAX_BYTES), GF_OK);
	EXPECT_EQ(decode_text(GF_TEXT_MAX_BYTES + 1), GF_BAD_FRAME);
}

/* An order section whose zstd frame holds `bytes` zeros instead of the six bytes it should. */
static enum gf_status decode_compressed(size_t bytes, bool tell_size)
{
	static struct frame frame;
	void *zeros = calloc(1, bytes + 1);
	unsigned char stored[8192];
	ZSTD_CCtx *context = ZSTD_createCCtx();
	REQUIRE(zeros && context);
	ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, tell_size);
	size_t stored_bytes = ZSTD_compress2(context, stored, sizeof(stored), zeros, bytes);
	REQUIRE(!ZSTD_isError(stored_bytes));
	ZSTD_freeCCtx(context);
	free(zeros);
	memset(&frame, 0, sizeof(frame));
	frame.records = 3;
	section(&frame, 0, 3);
	frame.directory[frame.section_at + 2] = 1;
	column(&frame, "\x01\x00\x00", 3, (const char *)stored, stored_bytes);
	COLUMN(&frame, "\x21\x31\x02\xe8\x03", "");
	end_section(&frame);
	section(&frame, 50, 3);
	COLUMN(&frame, "\x10\x10\x63", "");
	end_section(&frame);
	return decode(&frame);
}

TEST(bombs)
{
	EXPECT_EQ(decode_compressed(6, true), GF_BAD_FRAME); /* sound, but type 0 is none */
	EXPECT_EQ(decode_compressed(6, false), GF_BAD_FRAME);
	EXPECT_EQ(decode_compressed(5, true), GF_BAD_FRAME);
	EXPECT_EQ(decode_compressed(7, true), GF_BAD_FRAME);
	EXPECT_EQ(decode_compressed(50000000, true), GF_BAD_FRAME);
}

/* Claims that would need gigabytes are refused before any memory is taken. */
TEST(boundless_claims)
{
	static struct frame frame;
	memset(&frame, 0, sizeof(frame));
	frame.records = GF_FRAME_RECORDS_LIMIT + 1;
	section(&frame, 0, frame.records);
	COLUMN(&frame, "\x10\x00\x32", "");
	COLUMN(&frame, "\x00\x31", "");
	end_section(&frame);
	section(&frame, 50, frame.records);
	end_section(&frame);
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
	frame.records = GF_FRAME_RECORDS_LIMIT;
	gf_put32(frame.directory + 4, frame.records);
	gf_put32(frame.directory + frame.section_at + 4, frame.records);
	EXPECT_EQ(decode(&frame), GF_OK);
	for (unsigned i = 0; i < 64; i++)
		COLUMN(&frame, "\x08\x30\x00", "");
	frame.directory[frame.section_at + 2] = 1;
	EXPECT_EQ(decode(&frame), GF_BAD_FRAME);
}
