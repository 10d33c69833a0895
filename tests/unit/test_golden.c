/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Golden traces: files of every format version, good and damaged, with what must be read from them.
 * They stay as they are for ever: yesterday's traces must be readable tomorrow.
 *
 * GOLDEN_UPDATE=1 rewrites the expected texts; GOLDEN_MAKE=FOLDER writes traces as the present
 * version makes them, for the folder of a new version.
 */
#include "tests/test.h"

#include <dirent.h>

#include "formats/frame.h"
#include "tests/trace_builder.h"
#include "tests/trace_dump.h"

#define FOLDER "tests/golden"

static char *dump_text(const char *path)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	REQUIRE(out);
	trace_dump(path, out);
	REQUIRE(fclose(out) == 0);
	return text;
}

static char *file_text(const char *path)
{
	FILE *file = fopen(path, "rb");
	char *text = calloc(1, 1 << 20);
	REQUIRE(text);
	if (file) {
		text[fread(text, 1, (1 << 20) - 1, file)] = 0;
		fclose(file);
	}
	return text;
}

static void compare(const char *path)
{
	char expected_path[600];
	snprintf(expected_path, sizeof(expected_path), "%.*s.txt", (int)strlen(path) - 4, path);
	char *got = dump_text(path);
	if (getenv("GOLDEN_UPDATE")) {
		FILE *file = fopen(expected_path, "wb");
		REQUIRE(file && fputs(got, file) >= 0 && fclose(file) == 0);
	}
	char *want = file_text(expected_path);
	EXPECT_STR(got, want);
	free(got);
	free(want);
}

static unsigned compare_folder(const char *folder)
{
	struct dirent **entries;
	unsigned compared = 0;
	int found = scandir(folder, &entries, NULL, alphasort);
	for (int i = 0; i < found; i++) {
		char path[512];
		const char *name = entries[i]->d_name;
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		if (entries[i]->d_type == DT_DIR && name[0] == 'v')
			compared += compare_folder(path);
		else if (strlen(name) > 4 && strcmp(name + strlen(name) - 4, ".gst") == 0) {
			compare(path);
			compared++;
		}
		free(entries[i]);
	}
	if (found >= 0)
		free(entries);
	return compared;
}

TEST(golden_traces)
{
	if (access(FOLDER, F_OK) != 0)
		exit(77); /* not started in the root of the tree */
	EXPECT(compare_folder(FOLDER) >= 6);
}

/* ---- making them ---- */

static void add_sample(struct trace_builder *t, unsigned tag, unsigned k)
{
	unsigned char record[256] = {0};
	const struct gf_record_type *type = gf_record_type(tag);
	for (unsigned i = 0; i < type->column_count; i++) {
		uint64_t value = 1000 * tag + 10 * i + k * (i % 3);
		if (i == GF_TIME_COLUMN)
			value = 100000 + 1000 * k + 10 * tag;
		else if (strcmp(type->columns[i].name, "size") == 0)
			value = k % 2 ? (uint64_t)-512 * k : 512 * (k + 1);
		else if (strcmp(type->columns[i].name, "kind") == 0)
			value = 1 + k % 2;
		memcpy(record + type->columns[i].offset, &value, type->columns[i].bytes);
	}
	trace_add(t, 1 + k % 2, tag, record);
}

static void add_all(struct trace_builder *t)
{
	trace_clock(t, 1, 100000, 5000000);
	trace_property(t, "program", "[\"python\", \"train.py\"]");
	trace_text(t, 1, 100001, GF_TEXT_NAME, 1, "kernel<float>", 13);
	trace_text(t, 2, 100002, GF_TEXT_NOTICE, 0, "\xff\"\\\n", 4);
	for (unsigned k = 0; k < 6; k++)
		for (unsigned tag = 1; tag < GF_TAG_LIMIT; tag++)
			if (gf_record_type(tag) && tag != GF_TAG_text && tag != GF_TAG_clock)
				add_sample(t, tag, k);
	trace_clock(t, 1, 200000, 5050000);
}

static const char *in_folder(const char *name)
{
	static char path[4096];
	snprintf(path, sizeof(path), "%s/%s", getenv("GOLDEN_MAKE"), name);
	return path;
}

static long file_bytes(const char *path)
{
	FILE *file = fopen(path, "rb");
	REQUIRE(file && fseek(file, 0, SEEK_END) == 0);
	long bytes = ftell(file);
	fclose(file);
	return bytes;
}

/* Three frames of thread 1 and two of thread 2; returns their end. */
static long make_frames(const char *name)
{
	struct trace_builder *t = trace_begin(in_folder(name));
	add_all(t);
	trace_frame(t, 1);
	trace_frame(t, 2);
	add_all(t);
	trace_frame(t, 1);
	trace_tick_shift(t, 4);
	add_all(t);
	trace_mark(t, 1, 300000, GF_MARK_END, 0);
	trace_end(t);
	return file_bytes(in_folder(name));
}

static void flip(const char *name, long at)
{
	FILE *file = fopen(in_folder(name), "r+b");
	REQUIRE(file && fseek(file, at, SEEK_SET) == 0);
	int byte = fgetc(file);
	REQUIRE(fseek(file, at, SEEK_SET) == 0 && fputc(byte ^ 0x10, file) != EOF);
	fclose(file);
}

/* Leave out the chunks behind the first ones: they are free, and golden files should be small. */
static void keep_chunks(const char *name, uint32_t count)
{
	FILE *file = fopen(in_folder(name), "r+b");
	REQUIRE(
	    file && fseek(file, offsetof(struct gf_journal_header, chunk_count), SEEK_SET) == 0);
	REQUIRE(fwrite(&count, sizeof(count), 1, file) == 1 && fclose(file) == 0);
	REQUIRE(truncate(
		    in_folder(name), GF_JOURNAL_HEADER_BYTES + count * (off_t)GF_CHUNK_BYTES) == 0);
}

TEST(make_golden_traces)
{
	if (!getenv("GOLDEN_MAKE"))
		exit(77);
	long bytes = make_frames("whole.gst");
	make_frames("flipped.gst");
	flip("flipped.gst", GF_TRACE_HEADER_BYTES + 200);
	make_frames("payload.gst");
	flip("payload.gst", GF_TRACE_HEADER_BYTES + 1200);
	make_frames("header.gst");
	flip("header.gst", 20);
	make_frames("cut.gst");
	REQUIRE(truncate(in_folder("cut.gst"), bytes - 100) == 0);
	make_frames("zeros.gst");
	REQUIRE(truncate(in_folder("zeros.gst"), bytes + 4096) == 0);
	struct trace_builder *t = trace_begin(in_folder("empty.gst"));
	trace_end(t);
	t = trace_begin(in_folder("killed.gst"));
	add_all(t);
	trace_frame(t, 1);
	uint64_t unknown[4] = {GF_HEAD(60, 32), 250000, 1, 2};
	trace_add_raw(t, 1, unknown, sizeof(unknown));
	trace_mark(t, 1, 260000, GF_MARK_EMPTY_CACHE, 0);
	trace_kill(t);
	keep_chunks("killed.gst.journal", 3);
	t = trace_begin(in_folder("only_journal.gst"));
	trace_mark(t, 1, 1, GF_MARK_START, 7);
	trace_kill(t);
	REQUIRE(truncate(in_folder("only_journal.gst"), 0) == 0);
}
