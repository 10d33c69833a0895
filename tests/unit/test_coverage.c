/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/coverage.h"
#include "tests/memory_trace.h"

static struct ga_model model;
static struct ga_memory memory;

static const char *path_of_test(void)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/test_coverage.%d.gst", (int)getpid());
	return path;
}

static void analyse(void)
{
	struct gf_error error = {0};
	REQUIRE(ga_model_open(path_of_test(), &model, &error) == GF_OK);
	REQUIRE(ga_memory_analyse(&model, &memory, &error) == GF_OK);
}

static void done(void)
{
	char journal[80];
	ga_memory_free(&memory);
	ga_model_close(&model);
	snprintf(journal, sizeof(journal), "%s.journal", path_of_test());
	unlink(journal);
	unlink(path_of_test());
}

static void expect_headline(const char *expected)
{
	char *line = ga_coverage_headline(&memory, "no out-of-memory");
	EXPECT_STR(line, expected);
	free(line);
}

TEST(whole)
{
	mt_begin(path_of_test());
	mt_alloc(0x1000, 512);
	mt_end();
	analyse();
	EXPECT_EQ(ga_coverage_of(&memory), GA_COVERS_ALL);
	EXPECT(ga_coverage_gap(&memory) == NULL);
	expect_headline("No out-of-memory.");
	done();
}

TEST(killed)
{
	struct trace_builder *t = mt_begin(path_of_test());
	mt_alloc(0x1000, 512);
	trace_kill(t);
	analyse();
	EXPECT_EQ(ga_coverage_of(&memory), GA_COVERS_CUT);
	EXPECT(ga_coverage_whole(&memory));
	expect_headline(
	    "The recording stops after 2.0 us: the process was killed, called exec, or still runs. Until "
	    "then no out-of-memory.");
	done();
}

TEST(events_missing)
{
	struct trace_builder *t = mt_begin(path_of_test());
	struct gf_lost lost = {.reason = GF_LOST_NO_THREAD, .time = 5, .count = 1};
	mt_alloc(0x1000, 512);
	trace_add(t, 1, GF_TAG_lost, &lost);
	mt_end();
	analyse();
	EXPECT_EQ(ga_coverage_of(&memory), GA_COVERS_PART);
	expect_headline(
	    "Incomplete: 1 event is missing. Figures are lower limits. What was recorded: no "
	    "out-of-memory.");
	done();
}

/* The recorder counts on behind the limit, and tells the count at the end, which never came. */
TEST(stopped_and_then_killed)
{
	struct trace_builder *t = mt_begin(path_of_test());
	mt_alloc(0x1000, 512);
	trace_mark(t, 1, mt_now(), GF_MARK_STOPPED, 0);
	trace_kill(t);
	analyse();
	EXPECT_EQ(ga_model_lost(&model), 0);
	EXPECT_EQ(ga_coverage_of(&memory), GA_COVERS_PART);
	char *gap = ga_coverage_gap(&memory);
	EXPECT_STR(gap, "recording stopped before the program ended");
	free(gap);
	done();
}

TEST(beginning_missing)
{
	struct trace_builder *t = trace_begin(path_of_test());
	struct gf_block block = {.time = 5, .address = 0x1000, .size = 512, .allocated = 512};
	trace_add(t, 1, GF_TAG_block, &block);
	trace_mark(t, 1, 9, GF_MARK_END, 0);
	trace_end(t);
	analyse();
	EXPECT_EQ(ga_coverage_of(&memory), GA_COVERS_PART);
	done();
}

/* A first request that is refused leaves no block either, but the hooks saw it. */
TEST(no_block_but_out_of_memory)
{
	mt_begin(path_of_test());
	mt_oom(4 * MT_MIB, 0, 0);
	mt_end();
	analyse();
	EXPECT_EQ(ga_coverage_of(&memory), GA_COVERS_ALL);
	done();
}

TEST(classes_of_events)
{
	struct trace_builder *t = mt_begin(path_of_test());
	trace_property(t, "record", "copies,api");
	mt_end();
	analyse();
	EXPECT(ga_model_records(&model, "copies"));
	EXPECT(ga_model_records(&model, "api"));
	EXPECT(!ga_model_records(&model, "memory"));
	EXPECT(!ga_model_records(&model, "cop"));
	EXPECT(!ga_model_records(&model, ""));
	EXPECT_EQ(ga_coverage_of(&memory), GA_COVERS_NONE);
	EXPECT(!ga_coverage_whole(&memory));
	done();
	t = trace_begin(path_of_test());
	trace_property(t, "record", "");
	trace_end(t);
	analyse();
	EXPECT(ga_model_records(&model, "memory"));
	done();
}
