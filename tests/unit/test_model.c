/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include <sys/stat.h>

#include "analyzer/counts.h"
#include "analyzer/model.h"
#include "tests/memory_trace.h"

static struct ga_model model;

static const char *path_of_test(void)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/test_model.%d.gst", (int)getpid());
	return path;
}

static void open_model(void)
{
	struct gf_error error = {0};
	enum gf_status status = ga_model_open(path_of_test(), &model, &error);
	if (status != GF_OK)
		printf("# %s\n", error.text);
	REQUIRE(status == GF_OK);
	unlink(path_of_test());
}

static bool noticed(const char *words)
{
	struct ga_strings notices = {0};
	bool found = false;
	ga_model_notices(&model, &notices);
	for (size_t i = 0; i < notices.count; i++)
		found |= strstr(notices.items[i], words) != NULL;
	ga_strings_clear(&notices);
	return found;
}

TEST(facts)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "rank", "3");
	trace_property(t, "world_size", "many");
	mt_end();
	open_model();
	EXPECT_EQ(ga_model_number(&model, "rank"), 3);
	EXPECT_EQ(ga_model_number(&model, "world_size"), GA_UNKNOWN);
	EXPECT_EQ(ga_model_number(&model, "local_rank"), GA_UNKNOWN);
	EXPECT_EQ(ga_model_device_number(&model, 0, "total_bytes"), 1073741824);
	EXPECT_STR(ga_model_device(&model, 0, "name"), "Test GPU");
	EXPECT(ga_model_device(&model, 1, "name") == NULL);
	EXPECT(!model.dryrun);
	EXPECT_EQ(model.backend, GA_BACKEND_NATIVE);
	EXPECT_EQ(ga_model_lost(&model), 0);
	EXPECT(!ga_model_damaged(&model));
	EXPECT(!noticed(""));
	ga_model_close(&model);
}

TEST(program_line)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "program", "[\"python\" , \"a \\\"b\\\".py\",\"\\u00e9\\n\",\"\"]");
	mt_end();
	open_model();
	struct ga_strings arguments = {0};
	ga_model_program(&model, &arguments);
	EXPECT_EQ(arguments.count, 4);
	EXPECT_STR(arguments.items[1], "a \"b\".py");
	EXPECT_STR(arguments.items[2], "\xc3\xa9\n");
	ga_strings_clear(&arguments);
	ga_model_close(&model);
}

TEST(program_line_of_several_lines)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(
	    t, "program", "[\"python\",\"-c\",\"\\n\\nimport a\\nb()\",\"\\n\",\"x\\n\"]");
	mt_end();
	open_model();
	char *line = ga_model_program_line(&model, "...");
	EXPECT_STR(line, "python -c import a...  x");
	free(line);
	ga_model_close(&model);
}

TEST(odd_program_lines_do_no_harm)
{
	static const char *const odd[] = {"", "x", "[", "[]", "[1]", "[\"", "[\"a", "[\"a\\",
	    "[\"a\\u12", "[\"a\",", "[\"a\"\"b\"]", "[\"\\ud800\"]"};
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		struct trace_builder *t = mt_begin(path_of_test());
		trace_property(t, "program", odd[i]);
		mt_end();
		open_model();
		char *line = ga_model_program_line(&model, "...");
		EXPECT(line != NULL);
		free(line);
		ga_model_close(&model);
	}
}

TEST(allocator_settings)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "allocator_settings",
	    "max_split_size_mb:64, "
	    "roundup_power2_divisions:[256:1,512:2,>:8],expandable_segments:True");
	mt_end();
	open_model();
	char *value = ga_model_setting(&model, "max_split_size_mb");
	EXPECT_STR(value, "64");
	free(value);
	value = ga_model_setting(&model, "roundup_power2_divisions");
	EXPECT_STR(value, "[256:1,512:2,>:8]");
	free(value);
	value = ga_model_setting(&model, "expandable_segments");
	EXPECT_STR(value, "True");
	free(value);
	EXPECT(ga_model_setting(&model, "split") == NULL);
	EXPECT_EQ(model.backend, GA_BACKEND_NATIVE);
	EXPECT(ga_model_setting(&model, "512") == NULL);
	ga_model_close(&model);
}

/* PYTORCH_ALLOC_CONF is read from PyTorch 2.10 on; older releases have their defaults. */
TEST(settings_from_a_variable_that_the_release_does_not_read)
{
	static const char *const releases[] = {"2.9.1+cu130", "2.10.0", ""};
	for (int i = 0; i < 3; i++) {
		struct trace_builder *t = mt_begin(path_of_test());
		struct ga_strings notices = {0};
		trace_property(t, "torch_version", releases[i]);
		trace_property(t, "allocator_settings", "backend:cudaMallocAsync");
		trace_property(t, "allocator_variable", "PYTORCH_ALLOC_CONF");
		mt_end();
		open_model();
		EXPECT_STR(ga_model_allocator_settings(&model), i ? "backend:cudaMallocAsync" : "");
		EXPECT_EQ(model.backend, i ? GA_BACKEND_ASYNC : GA_BACKEND_NATIVE);
		ga_model_notices(&model, &notices);
		EXPECT_EQ(notices.count, i == 0);
		ga_strings_clear(&notices);
		ga_model_close(&model);
	}
}

/* Blanks vanish, as PyTorch reads them. */
TEST(allocator_settings_with_blanks)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "allocator_settings",
	    " backend : cudaMallocAsync , roundup_power2_divisions : [256 : 1, > : 8] ,none,, a: 1,a:2");
	mt_end();
	open_model();
	EXPECT_EQ(model.backend, GA_BACKEND_ASYNC);
	char *value = ga_model_setting(&model, "backend");
	EXPECT_STR(value, "cudaMallocAsync");
	free(value);
	value = ga_model_setting(&model, "roundup_power2_divisions");
	EXPECT_STR(value, "[256:1,>:8]");
	free(value);
	value = ga_model_setting(&model, "a");
	EXPECT_STR(value, "2");
	free(value);
	EXPECT(ga_model_setting(&model, "none") == NULL);
	ga_model_close(&model);
}

TEST(notices_of_a_killed_process)
{
	struct trace_builder *t = mt_begin(path_of_test());
	struct gf_lost lost = {.reason = GF_LOST_DISK, .time = 5, .count = 1234};
	trace_property(t, "dryrun", "1");
	trace_text(t, 1, 5, GF_TEXT_NOTICE, 0, "stacks are off", 14);
	trace_add(t, 1, GF_TAG_lost, &lost);
	mt_alloc(0x1000, 512);
	trace_kill(t);
	char journal[100];
	open_model();
	snprintf(journal, sizeof(journal), "%s.journal", path_of_test());
	unlink(journal);
	EXPECT(model.dryrun);
	EXPECT_EQ(ga_model_lost(&model), 1234);
	EXPECT(noticed("no end mark"));
	EXPECT(noticed("missing because the trace could not be written: 1 234"));
	EXPECT(noticed("stacks are off"));
	EXPECT(noticed("stand-in GPU"));
	ga_model_close(&model);
}

TEST(notice_of_damaged_stacks)
{
	struct ga_strings notices = {0};
	struct trace_builder *t = mt_begin(path_of_test());
	trace_text(t, 1, 5, GF_TEXT_STACK, 7, "short", 5);
	mt_end();
	open_model();
	ga_model_notices(&model, &notices);
	REQUIRE(notices.count == 1);
	EXPECT(strstr(notices.items[0], "damaged and left out") != NULL);
	EXPECT_EQ(notices.items[0][strlen(notices.items[0]) - 1], '1');
	ga_strings_clear(&notices);
	ga_model_close(&model);
}

TEST(journal_left_behind)
{
	struct trace_builder *t = mt_begin(path_of_test());
	char journal[100];
	mt_alloc(0x1000, 512);
	trace_frame(t, 1);
	mt_alloc(0x2000, 512);
	trace_kill(t);
	snprintf(journal, sizeof(journal), "%s.journal", path_of_test());
	unlink(journal);
	open_model();
	EXPECT(ga_model_journal_missing(&model));
	EXPECT(ga_model_incomplete(&model));
	EXPECT(!ga_model_damaged(&model));
	EXPECT(noticed("is not beside the trace"));
	EXPECT(!noticed("is here"));
	ga_model_close(&model);
}

/* By the rules of `info`: successful calls, more than 0 bytes, captured launches included. */
TEST(counts)
{
	struct ga_memory memory;
	struct ga_counts counts;
	struct gf_error error = {0};
	mt_begin(path_of_test());
	mt_copy(100, 0);
	mt_copy(0, 0);
	mt_copy(100, 700);
	mt_memset(8, 0);
	mt_memset(0, 0);
	mt_launch(0);
	mt_launch(1);
	mt_flags(GF_FLAG_CAPTURED);
	mt_launch(0);
	mt_flags(0);
	mt_graph(GF_GRAPH_LAUNCH);
	mt_graph(GF_GRAPH_INSTANTIATE);
	mt_sync(GF_WAIT_DEVICE);
	mt_sync(GF_WAIT_EVENT);
	mt_block(0x1000, 512, 512, 0);
	mt_block(0x1000, -512, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x8000, 512, 0, 0);
	mt_driver(GF_MEMORY_FREE, 0x8000, 0, 0, 0);
	mt_driver(GF_MEMORY_RELEASE_FAILED, 0, 0, 0, 1);
	mt_end();
	open_model();
	REQUIRE(ga_memory_analyse(&model, &memory, &error) == GF_OK);
	REQUIRE(ga_counts_collect(&model, &memory, &counts, &error) == GF_OK);
	EXPECT_EQ(counts.copy, 1);
	EXPECT_EQ(counts.copy_bytes, 100);
	EXPECT_EQ(counts.memset, 1);
	EXPECT_EQ(counts.launch, 2);
	EXPECT_EQ(counts.graph_launch, 1);
	EXPECT_EQ(counts.synchronization, 2);
	EXPECT_EQ(counts.block_alloc, 1);
	EXPECT_EQ(counts.block_free, 1);
	EXPECT_EQ(counts.oom, 0);
	EXPECT_EQ(counts.total, 3 + 2 + 3 + 2 + 2 + 2 + 2);
	ga_memory_free(&memory);
	ga_model_close(&model);
}

static void flip_byte(const char *path, off_t at)
{
	FILE *file = fopen(path, "r+b");
	REQUIRE(file && fseek(file, at, SEEK_SET) == 0);
	int byte = fgetc(file);
	REQUIRE(fseek(file, at, SEEK_SET) == 0 && fputc(byte ^ 1, file) >= 0 && fclose(file) == 0);
}

/* A frame of nothing but calls whose last byte is wrong: found, and not in the total. */
TEST(damaged_frames_are_not_counted)
{
	struct ga_memory memory;
	struct ga_counts counts;
	struct gf_error error = {0};
	struct gf_call call = {.time = 9};
	struct stat file;
	struct trace_builder *t = trace_begin(path_of_test());
	struct gf_block block = {.time = 5, .address = 0x1000, .size = 512, .allocated = 512};
	trace_add(t, 1, GF_TAG_block, &block);
	trace_frame(t, 1);
	for (unsigned i = 0; i < 100; i++, call.object += 12345 * i) /* bytes behind the directory */
		trace_add(t, 1, GF_TAG_call, &call);
	trace_frame(t, 1);
	REQUIRE(stat(path_of_test(), &file) == 0);
	trace_add(t, 1, GF_TAG_block, &block); /* the last frame is looked at anyway */
	trace_end(t);
	flip_byte(path_of_test(), file.st_size - 1);
	open_model();
	REQUIRE(ga_memory_analyse(&model, &memory, &error) == GF_OK);
	REQUIRE(ga_counts_collect(&model, &memory, &counts, &error) == GF_OK);
	EXPECT(ga_model_damaged(&model));
	EXPECT_EQ(counts.total, 2);
	EXPECT_EQ(counts.other, 0);
	ga_memory_free(&memory);
	ga_model_close(&model);
}
