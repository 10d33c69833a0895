/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/recorded_allocator.h"
#include "tests/memory_trace.h"

#define M MT_MIB

static struct ga_recorded_allocator input;

static const char *path_of_test(void)
{
	static char path[64];
	snprintf(path, sizeof(path), "/tmp/test_recorded.%d.gst", (int)getpid());
	return path;
}

static void begin(void)
{
	mt_begin(path_of_test());
	mt_requested(512);
	mt_flags(GF_FLAG_IN_ALLOCATOR);
}

static void read_trace(void)
{
	struct ga_model model;
	struct gf_error error = {0};
	mt_end();
	REQUIRE(ga_model_open(path_of_test(), &model, &error) == GF_OK);
	unlink(path_of_test());
	enum gf_status status = ga_recorded_allocator_read(&model, 0, &input, &error);
	if (status)
		printf("# %s\n", error.text);
	REQUIRE(status == GF_OK);
	ga_model_close(&model);
}

static void expect_segments(size_t count, const enum ga_history_action *actions)
{
	REQUIRE(input.segment_count == count);
	for (size_t i = 0; i < count; i++)
		EXPECT_EQ(input.segments[i].action, actions[i]);
	ga_recorded_allocator_clear(&input);
}

/* A refused cuMemFree leaves the segment where it is; the next one gives it back. */
TEST(refused_free_of_a_segment)
{
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_block(0x10000000, 512, 512, 2 * M);
	mt_block(0x10000000, -512, 0, 2 * M);
	mt_driver(GF_MEMORY_FREE, 0x10000000, 0, 0, 700);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 2 * M, 0, 0);
	mt_driver(GF_MEMORY_FREE, 0x10000000, 0, 0, 0);
	read_trace();
	expect_segments(3, (const enum ga_history_action[]){GA_HISTORY_SEGMENT_ALLOC,
	    GA_HISTORY_SEGMENT_ALLOC, GA_HISTORY_SEGMENT_FREE});
}

TEST(refused_unmapping_of_pages)
{
	begin();
	mt_driver(GF_MEMORY_RESERVE, 0x10000000, 64 * M, 0, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 2 * M, 9, 0);
	mt_driver(GF_MEMORY_MAP, 0x10000000, 2 * M, 9, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x10000000, 2 * M, 0, 0);
	mt_block(0x10000000, 512, 512, 2 * M);
	mt_block(0x10000000, -512, 0, 2 * M);
	mt_driver(GF_MEMORY_UNMAP, 0x10000000, 2 * M, 0, 700);
	read_trace();
	expect_segments(1, (const enum ga_history_action[]){GA_HISTORY_SEGMENT_MAP});
}
