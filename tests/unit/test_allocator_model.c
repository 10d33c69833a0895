/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_split.h"
#include "tests/test.h"

#define BLOCKS 64

static struct ga_alloc_driver driver;
static struct ga_allocator *allocator;
static uint32_t blocks[BLOCKS];
static uint64_t entries[GA_HISTORY_ACTION_COUNT];

static void count_entry(void *self, const struct ga_history_entry *entry)
{
	entries[entry->action]++;
}

/* An allocator of 1000 MiB. */
static void begin(int torch, const char *text)
{
	struct ga_allocator_settings settings;
	REQUIRE(!ga_allocator_settings_parse(torch, text, &settings, NULL));
	ga_allocator_destroy(allocator); /* of a test that begins twice */
	ga_alloc_driver_fresh(&driver, 1000 * GA_MIB, GA_ADDRESS_UP, 0);
	allocator = ga_allocator_new(&settings, 1000 * GA_MIB, &driver, count_entry, NULL);
}

static uint32_t give(uint64_t bytes)
{
	return ga_allocator_allocate(allocator, bytes, 0, 0, 1);
}

static void give_many(int count, uint64_t bytes)
{
	for (int i = 0; i < count; i++)
		REQUIRE((blocks[i] = give(bytes)) != 0);
}

static void take_many(int count)
{
	for (int i = 0; i < count; i++)
		ga_allocator_free(allocator, blocks[i], false);
}

static uint64_t reserved_mib(void)
{
	const char *wrong = ga_allocator_check(allocator);
	if (wrong)
		printf("# %s\n", wrong);
	EXPECT(!wrong);
	return ga_allocator_counts(allocator)->reserved / GA_MIB;
}

TEST(classic_segments_do_not_join)
{
	begin(GA_TORCH(2, 15), "");
	give_many(8, 16 * GA_MIB);
	take_many(8);
	give_many(4, 32 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 256);
}

TEST(classic_segments_are_split)
{
	begin(GA_TORCH(2, 6), "");
	give_many(4, 32 * GA_MIB);
	take_many(4);
	give_many(8, 16 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 128);
}

TEST(expandable_segments_join)
{
	begin(GA_TORCH(2, 15), "expandable_segments:True");
	give_many(8, 16 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 140);
	take_many(8);
	give_many(4, 32 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 140);
}

TEST(small_and_large_pools_are_apart)
{
	begin(GA_TORCH(2, 15), "expandable_segments:True");
	give(2 * GA_MIB);
	give(GA_MIB / 2);
	EXPECT_EQ(reserved_mib(), 22);
	begin(GA_TORCH(2, 15), "");
	give(2 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 20);
	give(GA_MIB / 2);
	EXPECT_EQ(reserved_mib(), 22);
}

TEST(large_segment_size)
{
	begin(GA_TORCH(2, 15), "large_segment_size_mb:40");
	give(2 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 40);
}

TEST(streams_share_nothing)
{
	begin(GA_TORCH(2, 15), "");
	blocks[0] = give(32 * GA_MIB);
	ga_allocator_free(allocator, blocks[0], false);
	ga_allocator_allocate(allocator, 32 * GA_MIB, 7, 0, 1);
	EXPECT_EQ(reserved_mib(), 64);
}

TEST(the_rest_is_split_off_or_not)
{
	begin(GA_TORCH(2, 15), "");
	blocks[0] = give(32 * GA_MIB);
	ga_allocator_free(allocator, blocks[0], false);
	uint32_t whole = give(31 * GA_MIB); /* a rest of 1 MiB stays with the block */
	EXPECT_EQ(ga_allocator_block_size(allocator, whole), 32 * GA_MIB);
	ga_allocator_free(allocator, whole, false);
	uint32_t part = give(31 * GA_MIB - 512);
	EXPECT_EQ(ga_allocator_block_size(allocator, part), 31 * GA_MIB - 512);
}

TEST(split_limit)
{
	begin(GA_TORCH(2, 15), "max_split_size_mb:64");
	blocks[0] = give(100 * GA_MIB);
	ga_allocator_free(allocator, blocks[0], false);
	give(32 * GA_MIB); /* may not touch the oversized block */
	EXPECT_EQ(reserved_mib(), 132);
	give(79 * GA_MIB); /* 21 MiB of slack are too much */
	EXPECT_EQ(reserved_mib(), 212);
	uint32_t fits = give(81 * GA_MIB);
	EXPECT_EQ(ga_allocator_block_size(allocator, fits), 100 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 212);
}

TEST(waiting_blocks)
{
	begin(GA_TORCH(2, 15), "");
	blocks[0] = give(32 * GA_MIB);
	ga_allocator_free(allocator, blocks[0], true);
	struct ga_reserved_split split = ga_allocator_split(allocator);
	EXPECT_EQ(split.pending, 32 * GA_MIB);
	EXPECT_EQ(split.requested, 0);
	give(32 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 64);
	ga_allocator_ready(allocator, blocks[0], 2); /* another block's name */
	ga_allocator_ready(allocator, blocks[0], 1);
	give(32 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 64);
	EXPECT_EQ(ga_allocator_split(allocator).pending, 0);
}

TEST(retry_waits_for_pending_blocks)
{
	begin(GA_TORCH(2, 15), "");
	blocks[0] = give(600 * GA_MIB);
	ga_allocator_free(allocator, blocks[0], true);
	EXPECT(give(700 * GA_MIB) != 0);
	EXPECT_EQ(ga_allocator_counts(allocator)->retries, 1);
	EXPECT_EQ(ga_allocator_counts(allocator)->refusals, 1);
	EXPECT_EQ(reserved_mib(), 700);
}

/* The free lists are not searched again after a retry: a block of the right size that became free
 * within it serves only the next call. */
TEST(spurious_refusal)
{
	begin(GA_TORCH(2, 15), "");
	blocks[0] = give(600 * GA_MIB);
	ga_allocator_free(allocator, blocks[0], false);
	blocks[1] = give(2 * GA_MIB); /* splits the segment */
	blocks[2] = give(590 * GA_MIB);
	ga_allocator_free(allocator, blocks[2], true);
	EXPECT_EQ(give(590 * GA_MIB), 0);
	EXPECT(give(590 * GA_MIB) != 0);
	EXPECT_EQ(ga_allocator_counts(allocator)->ooms, 1);
	EXPECT_EQ(entries[GA_HISTORY_OOM], 1);
}

TEST(memory_fraction)
{
	begin(GA_TORCH(2, 15), "");
	ga_allocator_set_fraction(allocator, 0.5);
	EXPECT_EQ(ga_allocator_allowed_bytes(allocator), 500 * GA_MIB);
	give(300 * GA_MIB);
	EXPECT_EQ(give(300 * GA_MIB), 0);
	EXPECT_EQ(ga_allocator_counts(allocator)->refusals, 0); /* the driver was not asked */
	EXPECT(give(200 * GA_MIB) != 0);
}

TEST(garbage_collection_needs_a_fraction)
{
	begin(GA_TORCH(2, 15), "garbage_collection_threshold:0.2");
	give_many(2, 150 * GA_MIB);
	take_many(2);
	give(400 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 700);
	begin(GA_TORCH(2, 15), "garbage_collection_threshold:0.2");
	ga_allocator_set_fraction(allocator, 0.999);
	give_many(2, 150 * GA_MIB);
	take_many(2);
	give(400 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 400);
	EXPECT_EQ(ga_allocator_counts(allocator)->collections, 1);
}

/* Up to 2.9 the whole device is a limit like any other; since then it is none and lifts another. */
TEST(a_fraction_of_one)
{
	for (int minor = 9; minor <= 10; minor++) {
		begin(GA_TORCH(2, minor), "garbage_collection_threshold:0.2");
		ga_allocator_set_fraction(allocator, 0.1);
		EXPECT_EQ(give(150 * GA_MIB), 0);
		ga_allocator_set_fraction(allocator, 1);
		EXPECT_EQ(
		    ga_allocator_allowed_bytes(allocator), minor == 9 ? 1000 * GA_MIB : UINT64_MAX);
		give_many(2, 150 * GA_MIB);
		take_many(2);
		give(400 * GA_MIB);
		EXPECT_EQ(reserved_mib(), minor == 9 ? 400 : 700);
	}
}

TEST(empty_cache_and_split)
{
	begin(GA_TORCH(2, 15), "expandable_segments:True");
	blocks[0] = give(30 * GA_MIB);
	blocks[1] = give(30 * GA_MIB);
	ga_allocator_free(allocator, blocks[0], false);
	struct ga_reserved_split split = ga_allocator_split(allocator);
	EXPECT_EQ(split.releasable, 20 * GA_MIB); /* the page that both share stays */
	EXPECT_EQ(split.stuck, 10 * GA_MIB);
	EXPECT_EQ(split.requested, 30 * GA_MIB);
	ga_allocator_empty_cache(allocator);
	EXPECT_EQ(reserved_mib(), 40);
	EXPECT_EQ(entries[GA_HISTORY_SEGMENT_UNMAP], 1);
}

TEST(private_pools)
{
	begin(GA_TORCH(2, 15), "");
	ga_allocator_capture_begin(allocator, 5);
	blocks[0] = ga_allocator_allocate(allocator, 32 * GA_MIB, 3, 5, 1);
	ga_allocator_free(allocator, blocks[0], false);
	ga_allocator_capture_end(allocator);
	give(32 * GA_MIB);
	EXPECT_EQ(reserved_mib(), 64);
	ga_allocator_empty_cache(allocator);
	EXPECT_EQ(reserved_mib(), 64);
	EXPECT_EQ(ga_allocator_split(allocator).stuck, 32 * GA_MIB);
	ga_allocator_pool_release(allocator, 5);
	EXPECT_EQ(ga_allocator_split(allocator).releasable, 32 * GA_MIB);
	ga_allocator_empty_cache(allocator);
	EXPECT_EQ(reserved_mib(), 32);
}

TEST(many_free_blocks_stay_in_order)
{
	static uint32_t many[20000];
	begin(GA_TORCH(2, 6), "");
	for (int i = 0; i < 20000; i++)
		many[i] = give(512 + 512 * (uint64_t)(i % 7));
	for (int i = 0; i < 20000; i += 2)
		ga_allocator_free(allocator, many[i], false);
	EXPECT_EQ(ga_allocator_check(allocator) == NULL, 1);
	/* Of equal blocks the one at the lowest address comes first. */
	uint32_t first = give(512);
	EXPECT_EQ(ga_allocator_block_address(allocator, first), UINT64_C(0x100000000000));
	for (int i = 1; i < 20000; i += 2)
		ga_allocator_free(allocator, many[i], false);
	ga_allocator_free(allocator, first, false);
	EXPECT(ga_allocator_check(allocator) == NULL);
	EXPECT_EQ(ga_allocator_split(allocator).stuck, 0);
}
