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

/* PyTorch 2.9 tries a kind of memory that can be shared by fabric before it takes what there is. */
TEST(memory_of_a_kind_that_is_not_supported)
{
	begin();
	mt_driver(GF_MEMORY_RESERVE, 0x10000000, 64 * M, 0, 0);
	mt_driver(GF_MEMORY_CREATE, 0, 2 * M, 0, 801);
	mt_driver(GF_MEMORY_CREATE, 0, 2 * M, 9, 0);
	mt_driver(GF_MEMORY_MAP, 0x10000000, 2 * M, 9, 0);
	mt_driver(GF_MEMORY_ACCESS, 0x10000000, 2 * M, 0, 0);
	mt_block(0x10000000, 512, 512, 2 * M);
	read_trace();
	EXPECT_EQ(input.trace.map_count, 1);
	EXPECT(input.trace.maps[0].address != 0);
	ga_recorded_allocator_clear(&input);
}

/* A segment is given back in the middle of an allocation, which nobody but a memory fraction asked
 * for. */
static void release_unasked(bool tells)
{
	begin();
	if (tells) {
		mt_device(1);
		mt_fraction(GF_FRACTION_ONE);
		mt_device(0);
		mt_fraction(GF_FRACTION_ONE / 4);
	}
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_block(0x10000000, 512, 512, 2 * M);
	mt_block(0x10000000, -512, 0, 2 * M);
	mt_driver(GF_MEMORY_FREE, 0x10000000, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 20 * M, 0, 0);
	mt_block(0x20000000, 4 * M, 4 * M, 20 * M);
	read_trace();
}

TEST(a_memory_fraction_that_the_program_sets)
{
	release_unasked(true);
	EXPECT_EQ(input.trace.events[0].kind, GA_CALL_FRACTION);
	EXPECT_EQ(input.trace.events[0].value, GF_FRACTION_ONE / 4);
	EXPECT_EQ(input.trace.events[1].kind, GA_CALL_ALLOC);
	EXPECT(!input.hidden_limit);
	ga_recorded_allocator_clear(&input);
}

TEST(a_memory_fraction_that_is_not_told)
{
	release_unasked(false);
	EXPECT(input.hidden_limit);
	ga_recorded_allocator_clear(&input);
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_block(0x10000000, 512, 512, 2 * M);
	mt_block(0x10000000, -512, 0, 2 * M);
	mt_driver(GF_MEMORY_ALLOC, 0, 20 * M, 0, 2);
	mt_driver(GF_MEMORY_FREE, 0x10000000, 0, 0, 0);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 20 * M, 0, 0);
	mt_block(0x20000000, 4 * M, 4 * M, 20 * M);
	read_trace();
	EXPECT(!input.hidden_limit);
	ga_recorded_allocator_clear(&input);
}

/* A block of 512 bytes that a thread asks for on a stream. */
static void ask(uint32_t thread, uint64_t stream, uint64_t address)
{
	mt_thread(thread);
	mt_stream(stream);
	mt_block(address, 512, 512, 2 * M);
}

static void expect_captured(size_t count, const bool *captured)
{
	size_t seen = 0;
	for (size_t i = 0; i < input.trace.event_count; i++)
		if (input.trace.events[i].kind == GA_CALL_ALLOC) {
			REQUIRE(seen < count);
			EXPECT_EQ(!!(input.trace.events[i].flags & GA_CALL_CAPTURED), captured[seen]);
			seen++;
		}
	EXPECT_EQ(seen, count);
	ga_recorded_allocator_clear(&input);
}

/* Autograd's threads ask too; blocks on other streams are not the capture's, whoever asks. */
TEST(a_capture_takes_its_streams_blocks_of_all_threads)
{
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	ask(1, 0, 0x10000000);
	mt_graph(GF_GRAPH_CAPTURE_BEGIN);
	mt_driver(GF_MEMORY_ALLOC, 0x20000000, 2 * M, 0, 0);
	ask(1, 3, 0x20000000);
	ask(2, 3, 0x20000200);
	ask(2, 0, 0x10000200);
	ask(1, 0, 0x10000400);
	ask(2, 9, 0x10000600);
	ask(1, 7, 0x20000400); /* joined */
	ask(2, 7, 0x20000600);
	mt_thread(1);
	mt_graph(GF_GRAPH_CAPTURE_END);
	ask(1, 3, 0x10000800);
	read_trace();
	EXPECT_EQ(input.captures, 1);
	expect_captured(9, (const bool[]){false, true, true, false, false, false, true, true, false});
}

/* The stream is known from the capture before: a thread of autograd may be the first to ask. */
TEST(a_later_capture_begins_with_another_thread)
{
	begin();
	mt_driver(GF_MEMORY_ALLOC, 0x10000000, 2 * M, 0, 0);
	mt_graph(GF_GRAPH_CAPTURE_BEGIN);
	ask(1, 3, 0x10000000);
	mt_graph(GF_GRAPH_CAPTURE_END);
	mt_graph(GF_GRAPH_CAPTURE_BEGIN);
	ask(2, 9, 0x20000000);
	ask(2, 3, 0x10000200);
	mt_thread(1);
	mt_graph(GF_GRAPH_CAPTURE_END);
	read_trace();
	EXPECT_EQ(input.captures, 2);
	/* Both captures in one pool, which the address of the first block tells. */
	uint32_t first = 0;
	for (size_t i = 0; i < input.trace.event_count; i++)
		if (input.trace.events[i].kind == GA_CALL_CAPTURE_BEGIN) {
			EXPECT_EQ(input.trace.events[i].block, first ? first : 1);
			first = input.trace.events[i].block;
		}
	expect_captured(3, (const bool[]){true, false, true});
}
