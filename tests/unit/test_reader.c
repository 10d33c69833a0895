/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "formats/frame_layout.h"
#include "formats/reader.h"
#include "formats/trace_index.h"
#include "formats/wire.h"
#include "tests/trace_builder.h"

/* In memory where possible: thousands of small files are written. */
static const char *path_of_test(void)
{
	static char path[64];
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(path, sizeof(path), "%s/test_reader.%d.gst", folder, (int)getpid());
	return path;
}

static void remove_trace(const char *path)
{
	char journal[128];
	snprintf(journal, sizeof(journal), "%s.journal", path);
	unlink(path);
	unlink(journal);
}

static struct gf_reader *open_reader(const char *path)
{
	struct gf_reader *reader;
	struct gf_error error;
	enum gf_status status = gf_reader_open(path, &reader, &error);
	if (status)
		printf("# %s\n", error.text);
	REQUIRE(status == GF_OK);
	return reader;
}

static void add_blocks(
    struct trace_builder *t, uint32_t thread, uint64_t time, uint64_t step, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct gf_block block = {.time = time + i * step,
		    .address = 0x7f0000000000 + i * 512,
		    .size = 512 * (i + 1),
		    .allocated = 1000 + i,
		    .stack_id = thread,
		    .device = 1};
		trace_add(t, thread, GF_TAG_block, &block);
	}
}

static uint64_t merged(struct gf_reader *reader, uint64_t mask)
{
	struct gf_event_ref event;
	struct gf_error error;
	uint64_t count = 0, last = 0;
	uint32_t last_thread = 0;
	enum gf_status status;
	struct gf_merge *merge = gf_merge_open(reader, mask);
	REQUIRE(merge);
	while ((status = gf_merge_next(merge, &event, &error)) == GF_OK) {
		EXPECT(event.ticks > last ||
		       (event.ticks == last && event.thread_id >= last_thread) || count == 0);
		last = event.ticks;
		last_thread = event.thread_id;
		if (event.type == GF_TAG_block) {
			struct gf_block block;
			gf_get_block(event.batch, event.row, &block);
			EXPECT_EQ(block.time, event.ticks);
			EXPECT_EQ(block.stack_id, event.thread_id);
		}
		count++;
	}
	EXPECT_EQ(status, GF_END);
	EXPECT_EQ(gf_merge_next(merge, &event, &error), GF_END);
	gf_merge_close(merge);
	return count;
}

TEST(whole_trace)
{
	const char *path = path_of_test();
	struct trace_builder *t = trace_begin(path);
	trace_property(t, "pid", "1");
	trace_text(t, 1, 1, GF_TEXT_NAME, 7, "first", 5);
	trace_text(t, 1, 2, GF_TEXT_NAME, 7, "second", 6);
	trace_text(t, 1, 2, GF_TEXT_NAME, 8, "", 0);
	trace_text(t, 2, 5, GF_TEXT_PROPERTY, 0, "pid\0002", 5);
	trace_clock(t, 1, 1000, 5000);
	add_blocks(t, 1, 1000, 10, 5000);
	add_blocks(t, 2, 1005, 7, 3000);
	trace_clock(t, 1, 101000, 105000);
	trace_mark(t, 1, 200000, GF_MARK_END, 0);
	trace_end(t);
	struct gf_reader *reader = open_reader(path);
	const struct gf_summary *summary = gf_reader_summary(reader);
	EXPECT_EQ(summary->record_count[GF_TAG_block], 8000);
	EXPECT_EQ(summary->record_count[GF_TAG_text], 5);
	EXPECT(summary->ended);
	EXPECT(!summary->has_journal);
	EXPECT_EQ(summary->first_ticks, 0);
	EXPECT_EQ(summary->last_ticks, 200000);
	EXPECT_STR(gf_reader_property(reader, "pid"), "2");
	EXPECT(gf_reader_property(reader, "pi") == NULL);
	EXPECT_STR(gf_reader_text(reader, GF_TEXT_NAME, 7), "second");
	EXPECT_STR(gf_reader_text(reader, GF_TEXT_NAME, 8), "");
	EXPECT(gf_reader_text(reader, GF_TEXT_NAME, 9) == NULL);
	EXPECT(gf_reader_text(reader, GF_TEXT_API, 7) == NULL);
	EXPECT_EQ(merged(reader, ~0ull), 8000 + 5 + 2 + 1);
	EXPECT_EQ(merged(reader, 1u << GF_TAG_block), 8000);
	EXPECT_EQ(merged(reader, 1u << GF_TAG_oom), 0);
	EXPECT_EQ(gf_reader_verify(reader, NULL), GF_OK);
	EXPECT_EQ(gf_reader_damage(reader)->damaged_frames, 0);
	gf_reader_close(reader);
	remove_trace(path);
}

TEST(leftover_journal)
{
	const char *path = path_of_test();
	struct trace_builder *t = trace_begin(path);
	trace_property(t, "late", "yes");
	add_blocks(t, 1, 1000, 10, 20000);
	add_blocks(t, 2, 1005, 7, 3000);
	trace_kill(t);
	struct gf_reader *reader = open_reader(path);
	const struct gf_summary *summary = gf_reader_summary(reader);
	EXPECT(summary->has_journal);
	EXPECT(summary->frame_count == 1);
	EXPECT_EQ(summary->record_count[GF_TAG_block], 23000);
	EXPECT(summary->journal_bytes > 0 && summary->file_bytes > summary->journal_bytes);
	EXPECT_STR(gf_reader_property(reader, "late"), "yes");
	EXPECT_EQ(merged(reader, ~0ull), 23001);
	EXPECT_EQ(gf_reader_damage(reader)->damaged_frames, 0);
	gf_reader_close(reader);
	remove_trace(path);
}

/* A recorder on a network file system keeps its journal elsewhere and leaves a link. */
TEST(journal_behind_a_link)
{
	const char *path = path_of_test();
	char link[128], elsewhere[128];
	snprintf(link, sizeof(link), "%s.journal", path);
	snprintf(elsewhere, sizeof(elsewhere), "%s.elsewhere", path);
	struct trace_builder *t = trace_begin(path);
	add_blocks(t, 1, 1000, 10, 3000);
	trace_kill(t);
	REQUIRE(rename(link, elsewhere) == 0 && symlink(elsewhere, link) == 0);
	struct gf_reader *reader = open_reader(path);
	EXPECT(gf_reader_summary(reader)->has_journal);
	EXPECT_EQ(gf_reader_summary(reader)->record_count[GF_TAG_block], 3000);
	EXPECT(!gf_reader_damage(reader)->journal_damaged);
	gf_reader_close(reader);
	unlink(elsewhere);
	reader = open_reader(path);
	EXPECT(gf_reader_damage(reader)->journal_damaged);
	EXPECT(strstr(gf_reader_damage(reader)->first_text, "is a link") != NULL);
	gf_reader_close(reader);
	remove_trace(path);
}

/* ---- files that are wrong ---- */

static unsigned char *load(const char *path, size_t *bytes_out)
{
	FILE *file = fopen(path, "rb");
	REQUIRE(file && fseek(file, 0, SEEK_END) == 0);
	*bytes_out = (size_t)ftell(file);
	unsigned char *data = malloc(*bytes_out + 1);
	rewind(file);
	REQUIRE(data && fread(data, 1, *bytes_out, file) == *bytes_out);
	fclose(file);
	return data;
}

static void store(const char *path, const void *data, size_t bytes)
{
	FILE *file = fopen(path, "wb");
	REQUIRE(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

/* Events that can be read; `damage_out` is what was said of the rest. */
static uint64_t readable(const char *path, struct gf_damage *damage_out)
{
	struct gf_reader *reader;
	struct gf_error error;
	uint64_t count = 0, summed = 0;
	memset(damage_out, 0, sizeof(*damage_out));
	if (gf_reader_open(path, &reader, &error)) {
		damage_out->damaged_frames = 1;
		EXPECT(error.text[0]);
		return 0;
	}
	struct gf_batch batch;
	while (gf_reader_next_batch(reader, ~UINT64_C(0), &batch, &error) == GF_OK)
		count += batch.count;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++)
		summed += gf_reader_summary(reader)->record_count[tag];
	EXPECT_EQ(summed, count);
	EXPECT_EQ(merged(reader, ~UINT64_C(0)), count);
	*damage_out = *gf_reader_damage(reader);
	gf_reader_close(reader);
	return count;
}

#define FRAMES 4
#define FRAME_RECORDS 5

/* Four frames of five records.  Returns the file; `starts` are the offsets of the frames. */
static unsigned char *small_trace(const char *path, size_t *bytes_out, size_t starts[FRAMES + 1])
{
	struct trace_builder *t = trace_begin(path);
	for (unsigned i = 0; i < FRAMES; i++) {
		add_blocks(t, 1 + i % 2, 1000 * (i + 1), 10, FRAME_RECORDS - 1);
		trace_mark(t, 1 + i % 2, 1000 * (i + 1) + 500, GF_MARK_EMPTY_CACHE, i);
		trace_frame(t, 1 + i % 2);
	}
	trace_end(t);
	unsigned char *data = load(path, bytes_out);
	size_t at = GF_TRACE_HEADER_BYTES;
	for (unsigned i = 0; i < FRAMES; i++) {
		struct gf_frame_info info;
		starts[i] = at;
		REQUIRE(gf_frame_parse(data + at, *bytes_out - at, at, &info, NULL) == GF_OK);
		at += info.bytes;
	}
	starts[FRAMES] = at;
	REQUIRE(at == *bytes_out);
	return data;
}

TEST(every_flipped_byte_costs_one_frame)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	unsigned char *data = small_trace(path, &bytes, starts);
	EXPECT_EQ(readable(path, &damage), FRAMES * FRAME_RECORDS);
	EXPECT_EQ(damage.damaged_frames, 0);
	for (size_t at = 0; at < bytes; at++) {
		data[at] ^= (unsigned char)(1u << at % 8);
		store(path, data, bytes);
		uint64_t want = (FRAMES - (at >= GF_TRACE_HEADER_BYTES)) * FRAME_RECORDS;
		EXPECT_EQ(readable(path, &damage), want);
		EXPECT_EQ(damage.damaged_frames, 1);
		EXPECT(damage.first_text[0] && damage.first_bad_offset <= at);
		data[at] ^= (unsigned char)(1u << at % 8);
	}
	free(data);
	remove_trace(path);
}

TEST(every_cut_keeps_the_frames_before)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	unsigned char *data = small_trace(path, &bytes, starts);
	for (size_t cut = 0; cut < bytes; cut++) {
		unsigned whole = 0;
		store(path, data, cut);
		while (whole < FRAMES && starts[whole + 1] <= cut)
			whole++;
		EXPECT_EQ(readable(path, &damage), whole * FRAME_RECORDS);
		bool border = cut >= GF_TRACE_HEADER_BYTES && cut == starts[whole];
		EXPECT_EQ(damage.damaged_frames, border ? 0 : 1);
		EXPECT(border || cut < GF_TRACE_HEADER_BYTES || damage.truncated);
		if (!border && cut > GF_TRACE_HEADER_BYTES)
			EXPECT_EQ(damage.unreadable_bytes, cut - starts[whole]);
	}
	free(data);
	remove_trace(path);
}

/* A frame that lost its end, with whole ones behind it: as after a full disk that got room again.
 */
TEST(frame_cut_in_the_middle)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	unsigned char *data = small_trace(path, &bytes, starts);
	for (size_t cut = starts[1] + 1; cut < starts[2]; cut += 3) {
		unsigned char *copy = malloc(bytes);
		memcpy(copy, data, cut);
		memcpy(copy + cut, data + starts[2], bytes - starts[2]);
		store(path, copy, cut + bytes - starts[2]);
		EXPECT_EQ(readable(path, &damage), (FRAMES - 1) * FRAME_RECORDS);
		EXPECT_EQ(damage.damaged_frames, 1);
		EXPECT_EQ(damage.unreadable_bytes, cut - starts[1]);
		free(copy);
	}
	free(data);
	remove_trace(path);
}

static void expect_refused(const char *path, const char *words)
{
	struct gf_reader *reader = NULL;
	struct gf_error error;
	EXPECT_EQ(gf_reader_open(path, &reader, &error), GF_BAD_FILE);
	EXPECT(reader == NULL);
	EXPECT(strstr(error.text, words) != NULL);
	if (!strstr(error.text, words))
		printf("# %s\n", error.text);
}

TEST(no_trace_at_all)
{
	const char *path = path_of_test();
	static unsigned char zeros[100000];
	struct gf_reader *reader;
	struct gf_error error;
	store(path, "", 0);
	expect_refused(path, "is empty");
	store(path, zeros, sizeof(zeros));
	expect_refused(path, "zero bytes");
	store(path, "{\"a\": 1}\n", 9);
	expect_refused(path, "not GSTRACE1");
	store(path, GF_JOURNAL_MAGIC "....", 12);
	expect_refused(path, "is a journal");
	store(path, GF_TRACE_MAGIC "....", 12);
	expect_refused(path, "ends inside its 64-byte header");
	srandom(3);
	for (size_t i = 0; i < sizeof(zeros); i++)
		zeros[i] = (unsigned char)random();
	store(path, zeros, sizeof(zeros));
	expect_refused(path, "not GSTRACE1");
	remove_trace(path);
	EXPECT_EQ(gf_reader_open(path, &reader, &error), GF_IO);
	EXPECT(strstr(error.text, "cannot open") != NULL);
	expect_refused("/tmp", "is a folder");
}

TEST(newer_format_is_refused)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_reader *reader;
	struct gf_error error;
	unsigned char *data = small_trace(path, &bytes, starts);
	static const uint64_t id[2] = {1, 2};
	gf_trace_header(data, id);
	store(path, data, bytes);
	EXPECT_EQ(gf_reader_open(path, &reader, &error), GF_OK);
	gf_reader_close(reader);
	data[8] = 2; /* a version, with the checksum that belongs to it */
	gf_put64(data + 56, XXH3_64bits(data, 56));
	store(path, data, bytes);
	EXPECT_EQ(gf_reader_open(path, &reader, &error), GF_TOO_NEW);
	EXPECT(strstr(error.text, "version 2") != NULL);
	free(data);
	remove_trace(path);
}

TEST(rubbish_between_and_behind_frames)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	unsigned char *data = small_trace(path, &bytes, starts);
	for (size_t extra = 1; extra < 700000; extra = extra * 7 + 3)
		for (unsigned zero = 0; zero < 2; zero++) {
			unsigned char *copy = calloc(1, bytes + 2 * extra);
			for (size_t i = 0; i < bytes + 2 * extra && !zero; i++)
				copy[i] = (unsigned char)random();
			memcpy(copy, data, starts[2]);
			memcpy(copy + starts[2] + extra, data + starts[2], bytes - starts[2]);
			store(path, copy, bytes + 2 * extra);
			EXPECT_EQ(readable(path, &damage), FRAMES * FRAME_RECORDS);
			EXPECT_EQ(damage.damaged_frames, 2);
			EXPECT_EQ(damage.unreadable_bytes, 2 * extra);
			EXPECT_EQ(damage.first_bad_offset, starts[2]);
			EXPECT(strstr(
			    damage.first_text, zero ? "zero bytes" : "no frame begins here"));
			free(copy);
		}
	free(data);
	remove_trace(path);
}

/* As a copy that was broken off leaves it, where the room was taken before. */
TEST(terabytes_of_holes_are_not_read)
{
	const char *path = path_of_test();
	const uint64_t hole = UINT64_C(2) << 40;
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	unsigned char *data = small_trace(path, &bytes, starts);
	int fd = open(path, O_RDWR);
	REQUIRE(fd >= 0 && ftruncate(fd, (off_t)(hole + bytes)) == 0);
	EXPECT_EQ(readable(path, &damage), FRAMES * FRAME_RECORDS);
	EXPECT_EQ(damage.damaged_frames, 1);
	EXPECT_EQ(damage.unreadable_bytes, hole);
	EXPECT_EQ(damage.first_bad_offset, bytes);
	EXPECT(strstr(damage.first_text, "zero bytes") != NULL);
	/* A frame behind it is found. */
	size_t start = starts[FRAMES - 1], last = bytes - start;
	REQUIRE(ftruncate(fd, (off_t)start) == 0);
	REQUIRE(pwrite(fd, data + start, last, (off_t)hole) == (ssize_t)last);
	EXPECT_EQ(readable(path, &damage), FRAMES * FRAME_RECORDS);
	EXPECT_EQ(damage.unreadable_bytes, hole - start);
	close(fd);
	free(data);
	remove_trace(path);
}

/* ---- headers that claim what is not theirs ---- */

#define CLAIM_DIRECTORY 45u
#define CLAIM_BYTES (GF_FRAME_HEADER_BYTES + CLAIM_DIRECTORY)

/* Header and directory of a frame of one text, both right; its body is whatever stands there. */
static void put_claim(unsigned char *to, uint32_t body_bytes, bool sound_directory)
{
	unsigned char *directory = to + GF_FRAME_HEADER_BYTES, *section = directory + 21;
	static const unsigned char order[] = {
	    0, 2, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 0, GF_TAG_text, 0, 0x30};
	static const unsigned char text[] = {GF_TAG_text, 4, 1, 0, 1, 0, 0, 0};
	static const unsigned char columns[] = {0, 0x20, 0, 0x30, 0, 0x20, 0, 0x20};
	memset(to, 0, CLAIM_BYTES);
	memcpy(directory, order, sizeof(order));
	memcpy(section, text, sizeof(text));
	gf_put32(section + 8, body_bytes - CLAIM_DIRECTORY);
	gf_put32(section + 12, 8);
	memcpy(section + 16, columns, sizeof(columns));
	gf_put32(to + GF_FRAME_MAGIC_AT, GF_FRAME_MAGIC);
	gf_put64(to + GF_FRAME_BODY_CHECKSUM_AT, 1);
	gf_put32(to + GF_FRAME_BODY_BYTES_AT, body_bytes);
	gf_put32(to + GF_FRAME_DIRECTORY_BYTES_AT, CLAIM_DIRECTORY);
	gf_put32(to + GF_FRAME_DIRECTORY_CHECKSUM_AT,
	    (uint32_t)XXH3_64bits(directory, CLAIM_DIRECTORY) + !sound_directory);
	gf_put32(to + GF_FRAME_THREAD_AT, 1);
	gf_put32(to + GF_FRAME_RECORDS_AT, 1);
	to[GF_FRAME_SECTIONS_AT] = 2;
	gf_put64(to + GF_FRAME_TYPES_AT, UINT64_C(1) << GF_TAG_text);
	gf_put32(to + GF_FRAME_HEADER_CHECKSUM_AT,
	    (uint32_t)XXH3_64bits(
		to + GF_FRAME_BODY_CHECKSUM_AT, GF_FRAME_HEADER_BYTES - GF_FRAME_BODY_CHECKSUM_AT));
}

/* Bytes that this process has read from files. */
static uint64_t bytes_read(void)
{
	unsigned long long bytes = 0;
	FILE *file = fopen("/proc/self/io", "re");
	if (file && fscanf(file, "rchar: %llu", &bytes) != 1)
		bytes = 0;
	if (file)
		fclose(file);
	return bytes;
}

/* A million frames that all claim the same bytes cost no more than a few readings of them. */
TEST(forged_headers_cost_no_more_than_their_bytes)
{
	enum { BYTES = 40 << 20, CLAIMS = 20000, ROOM = CLAIMS * CLAIM_BYTES };
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	unsigned char *data = small_trace(path, &bytes, starts);
	unsigned char *forged = calloc(1, BYTES + 8);
	REQUIRE(forged && bytes < ROOM);
	for (int sound = 0; sound < 2; sound++) {
		memset(forged + BYTES, 'x', 8);
		memcpy(forged, data, bytes);
		for (size_t i = 0; i < CLAIMS; i++) {
			size_t at = bytes + i * CLAIM_BYTES;
			put_claim(
			    forged + at, (uint32_t)(BYTES - at - GF_FRAME_HEADER_BYTES), sound);
		}
		store(path, forged, BYTES + 8);
		uint64_t before = bytes_read();
		EXPECT_EQ(readable(path, &damage), FRAMES * FRAME_RECORDS);
		EXPECT(bytes_read() - before < 4 * BYTES + 5ull * GF_FRAME_BODY_LIMIT);
		EXPECT(damage.damaged_frames > 1);
		EXPECT_EQ(damage.unreadable_bytes, BYTES + 8 - bytes);
	}
	free(forged);
	free(data);
	remove_trace(path);
}

/* ---- files that end or break off meanwhile ---- */

/* A file whose end got lost meanwhile, and one that the disk does not give back: behind the frames
 * there is unmapped memory of ours. */
TEST(part_that_cannot_be_read)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1], room = 1 << 20;
	unsigned char *data = small_trace(path, &bytes, starts), *map;
	map = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(map != MAP_FAILED && munmap(map + 65536, room - 65536) == 0);
	for (size_t cut = starts[2]; cut <= bytes; cut += cut + 1 < bytes ? bytes - cut - 1 : 1) {
		uint64_t at = (uintptr_t)map + 65536 - cut, end = (uintptr_t)map + room;
		struct gf_trace_index index = {.count = 0};
		struct gf_damage damage = {.damaged_frames = 0};
		int fd = open("/proc/self/mem", O_RDONLY);
		unsigned whole = cut == bytes ? FRAMES : cut == starts[2] ? 2 : FRAMES - 1;
		memcpy(map + 65536 - cut, data, cut);
		EXPECT_EQ(gf_trace_index_build(fd, end, at + GF_TRACE_HEADER_BYTES, NULL, &damage,
			      &index, NULL),
		    GF_OK);
		EXPECT_EQ(index.count, whole);
		EXPECT_EQ(damage.damaged_frames, whole == FRAMES - 1 ? 2 : 1);
		EXPECT_EQ(damage.unreadable_bytes, end - at - starts[whole]);
		EXPECT(strstr(damage.first_text, "cannot be read: Input/output error") != NULL);
		gf_trace_index_free(&index);
		close(fd);
	}
	struct gf_trace_index index = {.count = 0};
	struct gf_damage damage = {.damaged_frames = 0};
	int fd = open(path, O_RDONLY);
	EXPECT_EQ(
	    gf_trace_index_build(fd, bytes + 99, starts[0], NULL, &damage, &index, NULL), GF_OK);
	EXPECT_EQ(index.count, FRAMES);
	EXPECT_EQ(damage.unreadable_bytes, 99);
	EXPECT(strstr(damage.first_text, "got shorter") != NULL);
	gf_trace_index_free(&index);
	close(fd);
	free(data);
	remove_trace(path);
}

/* ---- trace and journal ---- */

TEST(journal_without_trace)
{
	const char *path = path_of_test();
	struct trace_builder *t = trace_begin(path);
	add_blocks(t, 1, 1000, 10, 100);
	trace_kill(t);
	struct gf_damage damage;
	EXPECT_EQ(readable(path, &damage), 100);
	store(path, "", 0);
	EXPECT_EQ(readable(path, &damage), 100);
	EXPECT_EQ(damage.damaged_frames, 0);
	store(path, GF_TRACE_MAGIC, 8); /* killed in its first write */
	EXPECT_EQ(readable(path, &damage), 100);
	EXPECT_EQ(damage.damaged_frames, 0);
	unlink(path);
	EXPECT_EQ(readable(path, &damage), 100);
	EXPECT_EQ(damage.damaged_frames, 0);
	remove_trace(path);
}

TEST(useless_journal_without_trace)
{
	static unsigned char rubbish[8192];
	const char *path = path_of_test();
	char journal[512];
	memset(rubbish, 'x', sizeof(rubbish));
	snprintf(journal, sizeof(journal), "%s" GF_JOURNAL_SUFFIX, path);
	store(journal, rubbish, sizeof(rubbish));
	expect_refused(path, "its journal is of no use: ");
	store(path, "", 0);
	expect_refused(path, "is empty, and its journal is of no use: ");
	remove_trace(path);
}

/* 100 blocks in the trace, 50 in its journal. */
static void begin_killed(const char *path)
{
	struct gf_damage damage;
	struct trace_builder *t = trace_begin(path);
	add_blocks(t, 1, 1000, 10, 100);
	trace_frame(t, 1);
	add_blocks(t, 1, 9000, 10, 50);
	trace_kill(t);
	EXPECT_EQ(readable(path, &damage), 150);
}

/* Terabytes of holes, and more chunks than a journal can have: nobody looks at each of them. */
TEST(journal_with_more_chunks_than_there_can_be)
{
	const char *path = path_of_test();
	char journal_path[128];
	struct gf_damage damage;
	snprintf(journal_path, sizeof(journal_path), "%s" GF_JOURNAL_SUFFIX, path);
	begin_killed(path);
	int fd = open(journal_path, O_RDWR);
	struct gf_journal_header header;
	REQUIRE(fd >= 0 && pread(fd, &header, sizeof(header), 0) == sizeof(header));
	REQUIRE(ftruncate(fd, (off_t)8 << 40) == 0);
	const uint32_t wrong[][2] = {{header.chunk_limit, header.chunk_limit + 1},
	    {header.chunk_limit, UINT32_MAX}, {0, 0}, {UINT32_MAX, UINT32_MAX},
	    {GF_JOURNAL_CHUNKS_MOST + 1, 1}};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		header.chunk_limit = wrong[i][0];
		header.chunk_count = wrong[i][1];
		REQUIRE(pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
		EXPECT_EQ(readable(path, &damage), 100);
		EXPECT(damage.journal_damaged);
		EXPECT(strstr(damage.first_text, "journal's header is damaged") != NULL);
		EXPECT(strstr(damage.first_text, "(byte 2") != NULL);
	}
	header.chunk_limit = header.chunk_count = GF_JOURNAL_CHUNKS_MOST;
	REQUIRE(pwrite(fd, &header, sizeof(header), 0) == sizeof(header));
	EXPECT_EQ(readable(path, &damage), 150);
	close(fd);
	remove_trace(path);
}

TEST(journal_of_another_recording)
{
	const char *path = path_of_test();
	static const uint64_t id[2] = {1, 2};
	size_t bytes;
	struct gf_damage damage;
	begin_killed(path);
	unsigned char *data = load(path, &bytes);
	data[40] ^= 1; /* the file header is damaged, its identity is not */
	store(path, data, bytes);
	EXPECT_EQ(readable(path, &damage), 150);
	EXPECT_EQ(damage.damaged_frames, 1);
	EXPECT(!damage.journal_damaged);
	gf_trace_header(data, id);
	store(path, data, bytes);
	EXPECT_EQ(readable(path, &damage), 100);
	EXPECT(damage.journal_damaged);
	EXPECT(strstr(damage.first_text, "another recording"));
	free(data);
	remove_trace(path);
}

/* Killed between writing a frame and telling the journal so: its records are in both. */
TEST(what_frame_and_journal_both_have)
{
	const char *path = path_of_test();
	char journal_path[128];
	size_t bytes, journal_bytes, cut;
	struct gf_damage damage;
	snprintf(journal_path, sizeof(journal_path), "%s.journal", path);
	struct trace_builder *t = trace_begin(path);
	add_blocks(t, 1, 1000, 10, 100);
	trace_kill(t);
	unsigned char *journal = load(journal_path, &journal_bytes);
	t = trace_begin(path); /* the same again, framed */
	add_blocks(t, 1, 1000, 10, 100);
	trace_end(t);
	store(journal_path, journal, journal_bytes);
	unsigned char *data = load(path, &bytes);
	EXPECT_EQ(readable(path, &damage), 100);
	EXPECT_EQ(damage.damaged_frames, 0);
	/* Killed while the frame was written: nothing is lost, so nothing is damaged. */
	for (cut = GF_TRACE_HEADER_BYTES + 1; cut < bytes; cut++) {
		store(path, data, cut);
		EXPECT_EQ(readable(path, &damage), 100);
		EXPECT_EQ(damage.damaged_frames, 0);
		EXPECT(!damage.truncated);
	}
	/* Only the beginning of the chunk was framed. */
	t = trace_begin(path);
	add_blocks(t, 1, 1000, 10, 60);
	trace_end(t);
	store(journal_path, journal, journal_bytes);
	EXPECT_EQ(readable(path, &damage), 100);
	EXPECT_EQ(damage.damaged_frames, 0);
	free(journal);
	free(data);
	remove_trace(path);
}

TEST(journal_cut_and_flipped)
{
	const char *path = path_of_test();
	char journal_path[128];
	size_t bytes;
	struct gf_damage damage;
	snprintf(journal_path, sizeof(journal_path), "%s.journal", path);
	struct trace_builder *t = trace_begin(path);
	trace_text(t, 1, 5, GF_TEXT_NAME, 1, "name", 4);
	add_blocks(t, 1, 1000, 10, 100);
	trace_kill(t);
	unsigned char *journal = load(journal_path, &bytes);
	((struct gf_journal_header *)journal)->chunk_count = 1; /* without the free chunks */
	bytes = GF_JOURNAL_HEADER_BYTES + GF_CHUNK_BYTES;
	for (size_t cut = 1; cut < bytes; cut += cut < 5000 ? 13 : 1009) {
		store(journal_path, journal, cut);
		EXPECT(readable(path, &damage) == 0);
		EXPECT(damage.journal_damaged);
	}
	/* Only heads are checked: no crash, and nothing behind a wrong one is made up. */
	for (size_t at = 0; at < 6000; at += at == 127 ? 3900 : 1) {
		journal[at] ^= (unsigned char)(1u << at % 8);
		store(journal_path, journal, bytes);
		struct gf_reader *reader;
		struct gf_error error;
		if (gf_reader_open(path, &reader, &error) == GF_OK) {
			EXPECT(gf_reader_summary(reader)->record_count[GF_TAG_block] <= 101);
			EXPECT_EQ(gf_reader_verify(reader, NULL), GF_OK);
			gf_reader_close(reader);
		}
		journal[at] ^= (unsigned char)(1u << at % 8);
	}
	/* Its maker was killed before it stored the magic: nothing was recorded, nothing is damaged. */
	memset(journal, 0, 8);
	store(journal_path, journal, bytes);
	EXPECT_EQ(readable(path, &damage), 0);
	EXPECT_EQ(damage.damaged_frames, 0);
	store(journal_path, "", 0);
	EXPECT_EQ(readable(path, &damage), 0);
	EXPECT_EQ(damage.damaged_frames, 0);
	/* Nothing waits for a pipe, and a folder is not taken for an empty file. */
	for (int folder = 0; folder < 2; folder++) {
		unlink(journal_path);
		REQUIRE((folder ? mkdir(journal_path, 0700) : mkfifo(journal_path, 0600)) == 0);
		EXPECT_EQ(readable(path, &damage), 0);
		EXPECT(damage.journal_damaged && strstr(damage.first_text, "no plain file"));
	}
	rmdir(journal_path);
	free(journal);
	remove_trace(path);
}

/* ---- the rest ---- */

TEST(unknown_types_are_carried)
{
	const char *path = path_of_test();
	struct trace_builder *t = trace_begin(path);
	uint64_t unknown[4] = {GF_HEAD(50, 32), 1500, 1, 2};
	add_blocks(t, 1, 1000, 10, 10);
	trace_add_raw(t, 1, unknown, sizeof(unknown));
	add_blocks(t, 1, 2000, 10, 10);
	trace_kill(t);
	struct gf_reader *reader = open_reader(path);
	EXPECT_EQ(gf_reader_summary(reader)->record_count[50], 1);
	EXPECT_EQ(gf_reader_summary(reader)->record_count[GF_TAG_block], 20);
	EXPECT_EQ(merged(reader, ~UINT64_C(0)), 21);
	gf_reader_close(reader);
	remove_trace(path);
}

TEST(many_threads)
{
	const char *path = path_of_test();
	struct trace_builder *t = trace_begin(path);
	for (uint32_t thread = 1; thread <= 1000; thread++)
		for (unsigned part = 0; part < 3; part++) {
			add_blocks(t, thread, 10 * thread + 100000 * part, 3, 3);
			if (part < 2)
				trace_frame(t, thread);
		}
	trace_kill(t);
	struct gf_reader *reader = open_reader(path);
	EXPECT_EQ(gf_reader_summary(reader)->frame_count, 2000);
	EXPECT_EQ(merged(reader, ~UINT64_C(0)), 9000);
	gf_reader_close(reader);
	remove_trace(path);
}

TEST(order_within_a_thread_is_kept)
{
	const char *path = path_of_test();
	struct trace_builder *t = trace_begin(path);
	static const uint64_t times[] = {100, 90, 110, 80, 120};
	for (unsigned i = 0; i < 5; i++)
		add_blocks(t, 1, times[i], 1, 1);
	add_blocks(t, 2, 85, 10, 4);
	trace_end(t);
	struct gf_reader *reader = open_reader(path);
	struct gf_merge *merge = gf_merge_open(reader, ~UINT64_C(0));
	struct gf_event_ref event;
	unsigned next = 0, count = 0;
	while (gf_merge_next(merge, &event, NULL) == GF_OK) {
		count++;
		if (event.thread_id == 1)
			EXPECT_EQ(event.ticks, times[next++]);
	}
	EXPECT_EQ(count, 9);
	gf_merge_close(merge);
	gf_reader_close(reader);
	remove_trace(path);
}

/* One frame of 160 long texts again and again: a hundred thousand times larger in memory. */
TEST(texts_beyond_any_meaning_are_damage)
{
	const char *path = path_of_test();
	static char text[GF_TEXT_MAX_BYTES];
	struct trace_builder *t = trace_begin(path);
	size_t bytes;
	memset(text, 'x', sizeof(text));
	for (uint32_t i = 0; i < 160; i++)
		trace_text(t, 1, 10, GF_TEXT_NOTICE, i, text, sizeof(text));
	trace_end(t);
	unsigned char *data = load(path, &bytes);
	FILE *file = fopen(path, "ab");
	REQUIRE(file);
	for (unsigned i = 1; i < 200; i++)
		fwrite(data + GF_TRACE_HEADER_BYTES, 1, bytes - GF_TRACE_HEADER_BYTES, file);
	fclose(file);
	struct gf_reader *reader = open_reader(path);
	uint32_t count;
	gf_reader_texts(reader, &count);
	const struct gf_damage *damage = gf_reader_damage(reader);
	EXPECT(count >= 160 * 100 && count < 160 * 120);
	EXPECT(damage->damaged_frames > 0);
	EXPECT(strstr(damage->first_text, "texts of the trace") != NULL);
	EXPECT_EQ(gf_reader_summary(reader)->record_count[GF_TAG_text], count);
	gf_reader_close(reader);
	free(data);
	remove_trace(path);
}

TEST(standard_input)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	free(small_trace(path, &bytes, starts));
	char command[128];
	snprintf(command, sizeof(command), "cat %s", path);
	FILE *pipe = popen(command, "r");
	REQUIRE(pipe && dup2(fileno(pipe), 0) == 0);
	EXPECT_EQ(readable("-", &damage), FRAMES * FRAME_RECORDS);
	pclose(pipe);
	pipe = popen(command, "r");
	REQUIRE(pipe);
	snprintf(command, sizeof(command), "/dev/fd/%d", fileno(pipe));
	EXPECT_EQ(readable(command, &damage), FRAMES * FRAME_RECORDS);
	pclose(pipe);
	REQUIRE(freopen(path, "r", stdin));
	EXPECT_EQ(readable("-", &damage), FRAMES * FRAME_RECORDS);
	REQUIRE(lseek(0, 1, SEEK_SET) == 1); /* a part was read already */
	EXPECT_EQ(readable("-", &damage), FRAMES * FRAME_RECORDS);
	EXPECT_EQ(damage.damaged_frames, 1);
	remove_trace(path);
}

/* Neither fills the folder for temporary files. */
TEST(input_without_an_end)
{
	const char *path = path_of_test();
	size_t bytes, starts[FRAMES + 1];
	struct gf_damage damage;
	free(small_trace(path, &bytes, starts));
	expect_refused("/dev/zero", "zero bytes");
	char command[128];
	snprintf(command, sizeof(command), "cat %s /dev/zero 2>/dev/null", path);
	FILE *pipe = popen(command, "r");
	REQUIRE(pipe && dup2(fileno(pipe), 0) == 0);
	EXPECT_EQ(readable("-", &damage), FRAMES * FRAME_RECORDS);
	EXPECT_EQ(damage.damaged_frames, 1);
	EXPECT_EQ(damage.first_bad_offset, bytes);
	close(0);
	pclose(pipe);
	remove_trace(path);
}

TEST(no_room_for_a_copy)
{
	const char *path = path_of_test();
	struct gf_reader *reader;
	struct gf_error error;
	struct rlimit limit = {1 << 20, RLIM_INFINITY};
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	EXPECT_EQ(gf_reader_open("/dev/zero", &reader, &error), GF_NO_SPACE);
	EXPECT(strstr(error.text, "TMPDIR") != NULL);
	setenv("TMPDIR", path, 1); /* there is no such folder */
	EXPECT_EQ(gf_reader_open("/dev/zero", &reader, &error), GF_IO);
	EXPECT(strstr(error.text, "TMPDIR") != NULL);
}

TEST(losses)
{
	const char *path = path_of_test();
	struct trace_builder *t = trace_begin(path);
	struct gf_lost lost = {.reason = GF_LOST_LIMIT, .time = 5, .count = 7};
	trace_add(t, 1, GF_TAG_lost, &lost);
	trace_add(t, 2, GF_TAG_lost, &lost);
	lost.reason = 1000; /* of a later version */
	trace_add(t, 2, GF_TAG_lost, &lost);
	trace_end(t);
	struct gf_reader *reader = open_reader(path);
	EXPECT_EQ(gf_reader_summary(reader)->lost[GF_LOST_LIMIT], 14);
	gf_reader_close(reader);
	remove_trace(path);
}

/* ---- the clock ---- */

static struct gf_reader *trace_with_clocks(
    const char *path, const uint64_t (*clocks)[2], unsigned count, const char *rate)
{
	struct trace_builder *t = trace_begin(path);
	add_blocks(t, 1, 1000, 1000, 11); /* 1000 .. 11000 */
	for (unsigned i = 0; i < count; i++)
		trace_clock(t, 2, clocks[i][0], clocks[i][1]);
	if (rate)
		trace_text(
		    t, 1, 11000, GF_TEXT_PROPERTY, 0, rate, 16 + 1 + (uint32_t)strlen(rate + 17));
	trace_end(t);
	return open_reader(path);
}

TEST(clock)
{
	const char *path = path_of_test();
	struct gf_reader *reader = trace_with_clocks(path, NULL, 0, NULL);
	EXPECT_EQ(gf_reader_ns(reader, 3000), 2000); /* a tick is taken for 1 ns */
	EXPECT_EQ(gf_reader_start_realtime_ns(reader), 0);
	gf_reader_close(reader);

	static const uint64_t one[1][2] = {{2000, 500000}};
	reader = trace_with_clocks(path, one, 1, "ticks_per_second\0002000000000");
	EXPECT_EQ(gf_reader_ns(reader, 3000), 1000);
	EXPECT_EQ(gf_reader_span_ns(reader, 5000), 2500);
	EXPECT_EQ(gf_reader_start_realtime_ns(reader), UINT64_C(1767225600000000000) + 499500);
	gf_reader_close(reader);

	static const uint64_t three[3][2] = {{11000, 9000}, {1000, 1000}, {6000, 2000}};
	reader = trace_with_clocks(path, three, 3, NULL);
	EXPECT_EQ(gf_reader_ns(reader, 1000), 0);
	EXPECT_EQ(gf_reader_ns(reader, 500), 0);
	EXPECT_EQ(gf_reader_ns(reader, 3500), 500);
	EXPECT_EQ(gf_reader_ns(reader, 6000), 1000);
	EXPECT_EQ(gf_reader_ns(reader, 11000), 8000);
	EXPECT_EQ(gf_reader_ns(reader, 12000), 9400); /* the last line goes on */
	EXPECT_EQ(gf_reader_span_ns(reader, 10000), 8000);
	gf_reader_close(reader);

	static const uint64_t back[4][2] = {
	    {1000, 5000}, {2000, 4000}, {2000, 7000}, {11000, 15000}};
	reader = trace_with_clocks(path, back, 4, NULL);
	uint64_t last = 0;
	for (uint64_t ticks = 1000; ticks < 20000; ticks++) {
		EXPECT(gf_reader_ns(reader, ticks) >= last);
		last = gf_reader_ns(reader, ticks);
	}
	gf_reader_close(reader);
	remove_trace(path);
}
