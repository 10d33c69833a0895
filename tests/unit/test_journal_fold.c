/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "formats/journal_fold.h"
#include "formats/reader.h"
#include "tests/trace_builder.h"
#include "tests/trace_dump.h"

#define KILLS 50

static char path[96], journal[112], target[112];

static void name_files(void)
{
	const char *folder = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(path, sizeof(path), "%s/test_fold.%d.gst", folder, (int)getpid());
	snprintf(journal, sizeof(journal), "%s.journal", path);
	snprintf(target, sizeof(target), "%s.elsewhere", path);
}

static void remove_files(void)
{
	unlink(path);
	unlink(journal);
	unlink(target);
}

/* ---- a killed recording ---- */

static void add_blocks(struct trace_builder *t, uint32_t thread, uint64_t time, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		struct gf_block block = {.time = time + 3 * i,
		    .address = 0x7f0000000000 + i * 512,
		    .size = 512 * (i + 1),
		    .allocated = 1000 + i,
		    .stack_id = thread,
		    .device = 1};
		trace_add(t, thread, GF_TAG_block, &block);
	}
}

/* Frames and leftover chunks of three threads; the second one has both in turns. */
static void record(unsigned blocks)
{
	struct trace_builder *t = trace_begin(path);
	trace_property(t, "pid", "1");
	trace_clock(t, 1, 1000, 5000);
	add_blocks(t, 1, 1001, blocks / 2);
	trace_frame(t, 1);
	add_blocks(t, 2, 1005, blocks);
	trace_frame(t, 2);
	add_blocks(t, 1, 500000, blocks);
	add_blocks(t, 2, 500007, blocks / 3);
	add_blocks(t, 3, 700001, blocks);
	trace_text(t, 3, 900000, GF_TEXT_NAME, 7, "seven", 5);
	trace_clock(t, 1, 10000000, 10005000);
	trace_kill(t);
}

/* A process of its own makes it: a journal whose process lives is not to be touched. */
static void make_killed(unsigned blocks)
{
	remove_files();
	pid_t child = fork();
	if (child == 0) {
		record(blocks);
		kill(getpid(), SIGKILL);
	}
	int status;
	REQUIRE(waitpid(child, &status, 0) == child && WIFSIGNALED(status));
	REQUIRE(access(journal, F_OK) == 0);
}

static char *load(const char *file, size_t *bytes_out)
{
	struct stat status;
	int fd = open(file, O_RDONLY);
	REQUIRE(fd >= 0 && fstat(fd, &status) == 0);
	*bytes_out = (size_t)status.st_size;
	char *bytes = malloc(*bytes_out + 1);
	REQUIRE(bytes && read(fd, bytes, *bytes_out) == status.st_size);
	close(fd);
	return bytes;
}

static void store(const char *file, const char *bytes, size_t count)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	REQUIRE(fd >= 0 && write(fd, bytes, count) == (ssize_t)count);
	close(fd);
}

static bool exists(const char *file)
{
	struct stat status;
	return lstat(file, &status) == 0;
}

/* ---- what is in it ---- */

/* All events, without what a fold adds and what it is there to change. */
static char *events(void)
{
	char *text, *line, *rest, *kept;
	size_t bytes, used = 0;
	FILE *out = open_memstream(&text, &bytes);
	trace_dump(path, out);
	fclose(out);
	kept = calloc(1, bytes + 1);
	REQUIRE(kept);
	for (line = text; (rest = strchr(line, '\n')); line = rest + 1) {
		*rest = 0;
		if (strncmp(line, "frames ", 7) == 0 || strstr(line, "journal_folded") ||
		    strncmp(line, "records of type ", 16) == 0)
			continue;
		used += (size_t)sprintf(kept + used, "%s\n", line);
	}
	free(text);
	return kept;
}

static void expect_events(const char *wanted)
{
	char *got = events();
	EXPECT(strcmp(got, wanted) == 0);
	free(got);
}

static unsigned closings(void)
{
	char *text;
	size_t bytes;
	unsigned count = 0;
	FILE *out = open_memstream(&text, &bytes);
	trace_dump(path, out);
	fclose(out);
	for (const char *at = text; (at = strstr(at, "journal_folded")); at++)
		count++;
	free(text);
	return count;
}

static void expect_fold(enum gf_status wanted)
{
	struct gf_error error = {.text = ""};
	enum gf_status got = gf_journal_fold(path, &error);
	EXPECT_EQ(got, wanted);
	if (got != wanted)
		printf("# %s\n", error.text);
}

static void expect_folded(const char *wanted)
{
	expect_fold(GF_OK);
	EXPECT(!exists(journal));
	expect_events(wanted);
	EXPECT_EQ(closings(), 1);
}

/* ---- tests ---- */

TEST(everything_is_in_one_file)
{
	name_files();
	make_killed(20000);
	char *before = events();
	REQUIRE(strstr(before, "seven"));
	expect_folded(before);
	struct gf_reader *reader;
	REQUIRE(gf_reader_open(path, &reader, NULL) == GF_OK);
	EXPECT(!gf_reader_summary(reader)->ended);
	EXPECT(!gf_reader_summary(reader)->has_journal);
	EXPECT_EQ(gf_reader_summary(reader)->record_count[GF_TAG_block],
	    20000 / 2 + 3 * 20000 + 20000 / 3);
	EXPECT_EQ(gf_reader_damage(reader)->damaged_frames, 0);
	EXPECT_STR(gf_reader_property(reader, "journal_folded"), "1");
	gf_reader_close(reader);
	expect_fold(GF_END); /* there is nothing to do any more */
	expect_events(before);
	free(before);
	remove_files();
}

TEST(a_running_recording_is_left_alone)
{
	size_t before_bytes, after_bytes;
	name_files();
	remove_files();
	record(100);
	char *before = load(path, &before_bytes);
	expect_fold(GF_USAGE);
	EXPECT(exists(journal));
	char *after = load(path, &after_bytes);
	EXPECT(before_bytes == after_bytes && memcmp(before, after, before_bytes) == 0);
	free(before);
	free(after);
	remove_files();
}

/* Dying at some byte of a fold: the trace ends there, the journal is whole. */
TEST(interrupted_between_bytes)
{
	size_t bytes, journal_bytes, folded_bytes;
	name_files();
	make_killed(1500);
	char *before = events();
	char *whole = load(path, &bytes), *leftover = load(journal, &journal_bytes);
	expect_folded(before);
	char *folded = load(path, &folded_bytes);
	REQUIRE(folded_bytes > bytes && memcmp(folded, whole, bytes) == 0);
	for (size_t cut = bytes; cut <= folded_bytes; cut += cut < bytes + 80 ? 1 : 211) {
		store(path, folded, cut);
		store(journal, leftover, journal_bytes);
		expect_events(before);
		expect_folded(before);
		if (test_failures) {
			printf("# cut at %zu of %zu to %zu\n", cut, bytes, folded_bytes);
			break;
		}
	}
	free(before);
	free(whole);
	free(leftover);
	free(folded);
	remove_files();
}

static uint64_t now_us(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000;
}

TEST(killed_while_folding)
{
	size_t bytes, journal_bytes;
	unsigned unfinished = 0;
	name_files();
	make_killed(5000);
	char *before = events();
	char *whole = load(path, &bytes), *leftover = load(journal, &journal_bytes);
	uint64_t start_us = now_us();
	expect_fold(GF_OK);
	uint64_t most_us = now_us() - start_us + 1;
	srand(1);
	for (unsigned i = 0; i < KILLS && !test_failures; i++) {
		store(path, whole, bytes);
		store(journal, leftover, journal_bytes);
		pid_t child = fork();
		if (child == 0)
			_exit(gf_journal_fold(path, NULL) != GF_OK);
		usleep((useconds_t)((uint64_t)rand() % most_us));
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		expect_events(before);
		unfinished += exists(journal);
		if (exists(journal))
			expect_fold(GF_OK);
		expect_events(before);
		EXPECT(!exists(journal));
		EXPECT_EQ(closings(), 1);
	}
	EXPECT(unfinished > 0);
	free(before);
	free(whole);
	free(leftover);
	remove_files();
}

TEST(torn_last_frame)
{
	size_t bytes, journal_bytes, folded_bytes;
	name_files();
	make_killed(500);
	char *before = events();
	char *whole = load(path, &bytes), *leftover = load(journal, &journal_bytes);
	expect_folded(before);
	char *folded = load(path, &folded_bytes);
	store(path, folded, bytes + (folded_bytes - bytes) / 3);
	store(journal, leftover, journal_bytes);
	expect_folded(before);
	char *again = load(path, &bytes);
	EXPECT(bytes == folded_bytes && memcmp(again, folded, bytes) == 0);
	free(before);
	free(whole);
	free(leftover);
	free(folded);
	free(again);
	remove_files();
}

TEST(trace_without_header)
{
	name_files();
	for (int cut = 0; cut < 3; cut++) { /* missing, empty, half a header */
		make_killed(0);
		size_t bytes;
		char *whole = load(path, &bytes);
		unlink(path);
		if (cut)
			store(path, whole, cut == 1 ? 0 : 30);
		char *before = events();
		REQUIRE(strstr(before, "seven"));
		expect_folded(before);
		free(before);
		free(whole);
	}
	remove_files();
}

TEST(losses_of_the_header)
{
	size_t bytes;
	name_files();
	make_killed(100);
	char *leftover = load(journal, &bytes), *trace;
	struct gf_journal_header *header = (struct gf_journal_header *)leftover;
	header->lost[1] = 7;
	header->lost[2] = 9;
	store(journal, leftover, bytes);
	expect_fold(GF_OK);
	for (int again = 0; again < 2; again++) {
		struct gf_reader *reader;
		REQUIRE(gf_reader_open(path, &reader, NULL) == GF_OK);
		EXPECT_EQ(gf_reader_summary(reader)->lost[1], 7);
		EXPECT_EQ(gf_reader_summary(reader)->lost[2], 9);
		EXPECT_EQ(gf_reader_summary(reader)->record_count[GF_TAG_lost], 2);
		gf_reader_close(reader);
		store(journal, leftover, bytes); /* as if it had not been removed any more */
	}
	size_t before_bytes, after_bytes;
	trace = load(path, &before_bytes);
	expect_fold(GF_OK);
	EXPECT(!exists(journal));
	char *after = load(path, &after_bytes);
	EXPECT(before_bytes == after_bytes && memcmp(trace, after, after_bytes) == 0);
	free(leftover);
	free(trace);
	free(after);
	remove_files();
}

static void expect_untouched(const char *bytes, size_t count, const char *wanted)
{
	size_t now_bytes;
	expect_fold(GF_BAD_FILE);
	char *now = load(path, &now_bytes);
	EXPECT(now_bytes == count && memcmp(now, bytes, count) == 0);
	EXPECT(exists(journal));
	if (wanted)
		expect_events(wanted);
	free(now);
}

TEST(damage_stays_as_it_is)
{
	size_t bytes, journal_bytes;
	name_files();
	make_killed(5000);
	char *trace = load(path, &bytes), *leftover = load(journal, &journal_bytes);
	uint32_t *head = NULL;
	for (size_t at = GF_JOURNAL_HEADER_BYTES; !head && at < journal_bytes; at += GF_CHUNK_BYTES)
		if (((struct gf_chunk *)(leftover + at))->sequence)
			head = (uint32_t *)(leftover + at + GF_CHUNK_HEADER_BYTES);
	REQUIRE(head);
	*head ^= 0x80u; /* no record is as long */
	*head |= 0xffff0000u;
	store(journal, leftover, journal_bytes);
	char *damaged = events();
	expect_untouched(trace, bytes, damaged);
	store(journal, leftover, journal_bytes - 2 * GF_CHUNK_BYTES);
	expect_untouched(trace, bytes, NULL);
	store(journal, leftover, 100);
	expect_untouched(trace, bytes, NULL);
	free(damaged);
	free(leftover);
	make_killed(5000);
	leftover = load(journal, &journal_bytes);
	free(trace);
	trace = load(path, &bytes);
	trace[GF_TRACE_HEADER_BYTES + 8] ^= 1;
	store(path, trace, bytes);
	expect_untouched(trace, bytes, NULL);
	((struct gf_journal_header *)leftover)->trace_id[0]++;
	trace[GF_TRACE_HEADER_BYTES + 8] ^= 1;
	store(path, trace, bytes);
	store(journal, leftover, journal_bytes);
	expect_untouched(trace, bytes, NULL);
	free(trace);
	free(leftover);
	remove_files();
}

/* As on a network file system. */
TEST(journal_behind_a_link)
{
	name_files();
	make_killed(1000);
	char *before = events();
	REQUIRE(rename(journal, target) == 0 && symlink(target, journal) == 0);
	expect_folded(before);
	EXPECT(!exists(target));
	REQUIRE(symlink(target, journal) == 0);
	expect_fold(GF_END);
	free(before);
	remove_files();
}

TEST(full_disk)
{
	size_t bytes;
	struct rlimit limit, old;
	name_files();
	make_killed(20000);
	char *before = events(), *trace = load(path, &bytes);
	REQUIRE(getrlimit(RLIMIT_FSIZE, &old) == 0);
	limit = (struct rlimit){bytes + 1000, old.rlim_max};
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	expect_fold(GF_NO_SPACE);
	REQUIRE(setrlimit(RLIMIT_FSIZE, &old) == 0);
	EXPECT(exists(journal));
	expect_events(before);
	expect_folded(before);
	free(before);
	free(trace);
	remove_files();
}

/* Chunks whose frame is in the trace already, between others of their thread. */
TEST(frame_between_leftovers)
{
	size_t bytes, journal_bytes, encoder_bytes = (gf_encoder_bytes(1) + 63) & ~(size_t)63;
	unsigned framed = 0;
	name_files();
	make_killed(5000);
	char *before = events(), *trace = load(path, &bytes), *copy = load(journal, &journal_bytes);
	void *memory = aligned_alloc(64, encoder_bytes);
	struct gf_encoder *encoder = gf_encoder_init(memory, encoder_bytes, 1, 0);
	trace = realloc(trace, bytes + journal_bytes);
	REQUIRE(encoder && trace);
	for (size_t at = GF_JOURNAL_HEADER_BYTES; at < journal_bytes; at += GF_CHUNK_BYTES) {
		const struct gf_chunk *chunk = (const void *)(copy + at);
		const void *frame;
		size_t frame_bytes;
		bool damaged;
		if (chunk->sequence == 0 || chunk->sequence % 3)
			continue;
		struct gf_source source = {chunk, GF_CHUNK_HEADER_BYTES,
		    gf_chunk_extent(chunk, GF_CHUNK_HEADER_BYTES, GF_CHUNK_BYTES, &damaged)};
		REQUIRE(gf_encode(encoder, &source, 1, &frame, &frame_bytes, NULL) == GF_OK);
		memcpy(trace + bytes, frame, frame_bytes);
		bytes += frame_bytes;
		framed++;
	}
	EXPECT(framed > 2);
	store(path, trace, bytes);
	expect_events(before);
	expect_folded(before);
	free(before);
	free(trace);
	free(copy);
	free(memory);
	remove_files();
}

static void record_longer_block(void)
{
	struct trace_builder *t = trace_begin(path);
	struct {
		struct gf_block block;
		uint64_t added;
	} longer = {.block = {.head = GF_HEAD(GF_TAG_block, sizeof(longer)), .size = 512}};
	trace_add_raw(t, 1, &longer, sizeof(longer));
	trace_kill(t);
}

/* Frames of this version would lose what it does not know. */
TEST(records_of_another_version)
{
	name_files();
	remove_files();
	pid_t child = fork();
	if (child == 0) {
		record_longer_block();
		_exit(0);
	}
	waitpid(child, NULL, 0);
	expect_fold(GF_UNSUPPORTED);
	EXPECT(exists(journal));
	remove_files();
}

TEST(nothing_there)
{
	name_files();
	remove_files();
	expect_fold(GF_END);
	EXPECT(!exists(path));
}
