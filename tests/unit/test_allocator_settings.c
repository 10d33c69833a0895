/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_rounding.h"
#include "tests/test.h"

static struct ga_allocator_settings settings;

static bool parse(int torch, const char *text)
{
	return ga_allocator_settings_parse(torch, text, &settings, NULL) == GF_OK;
}

TEST(releases_are_numbers)
{
	EXPECT_EQ(ga_torch_number("2.6.0+cu124"), GA_TORCH(2, 6));
	EXPECT_EQ(ga_torch_number("2.15.0a0+git12"), GA_TORCH(2, 15));
	EXPECT_EQ(ga_torch_number("1.13.1"), GA_TORCH(1, 13));
	EXPECT_EQ(ga_torch_number(NULL), GA_TORCH_NEWEST);
	EXPECT_EQ(ga_torch_number("nightly"), GA_TORCH_NEWEST);
	EXPECT(GA_TORCH(2, 9) < GA_TORCH(2, 10));
}

TEST(defaults)
{
	REQUIRE(parse(GA_TORCH(2, 6), NULL));
	EXPECT(!settings.expandable && !settings.driver_pool);
	EXPECT(settings.max_split_bytes == UINT64_MAX);
	EXPECT_EQ(settings.slack_bytes, 20 * GA_MIB);
	EXPECT_EQ(settings.large_segment_bytes, 20 * GA_MIB);
	EXPECT(settings.fraction < 0 && settings.gc_threshold == 0);
	EXPECT_EQ(settings.tie, GA_TIE_ADDRESS);
	REQUIRE(parse(GA_TORCH(2, 12), ""));
	EXPECT_EQ(settings.tie, GA_TIE_RECORD);
	REQUIRE(parse(GA_TORCH(2, 15), ""));
	EXPECT_EQ(settings.tie, GA_TIE_SEGMENT);
	EXPECT(settings.drops_short_reservation);
}

TEST(every_option_is_read)
{
	REQUIRE(parse(GA_TORCH(2, 15),
	    " expandable_segments:True, max_split_size_mb : 128,garbage_collection_threshold:0.8,"
	    "max_non_split_rounding_mb:64,per_process_memory_fraction:0.5,large_segment_size_mb:40,"
	    "pinned_use_cuda_host_register:True,backend:native,expandable_segments_reserve:0.5,"
	    "expandable_segments_reserve_by_class:[a:1,b:2],roundup_power2_divisions:8"));
	EXPECT(settings.expandable);
	EXPECT_EQ(settings.max_split_bytes, 128 * GA_MIB);
	EXPECT_EQ(settings.slack_bytes, 64 * GA_MIB);
	EXPECT(settings.gc_threshold == 0.8 && settings.fraction == 0.5);
	EXPECT_EQ(settings.large_segment_bytes, 40 * GA_MIB);
	EXPECT_EQ(settings.large_page_bytes, 40 * GA_MIB);
	EXPECT(settings.reserve_fraction == 0.5);
	EXPECT_EQ(settings.divisions[0], 8);
	EXPECT_EQ(settings.divisions[15], 8);
	REQUIRE(parse(GA_TORCH(2, 6), "backend:cudaMallocAsync"));
	EXPECT(settings.driver_pool);
}

TEST(what_a_release_refuses)
{
	EXPECT(!parse(GA_TORCH(2, 0), "expandable_segments:True"));
	EXPECT(parse(GA_TORCH(2, 1), "expandable_segments:True"));
	EXPECT(!parse(GA_TORCH(2, 15), "expandable_segments:true"));
	EXPECT(!parse(GA_TORCH(2, 9), "per_process_memory_fraction:0.5"));
	EXPECT(parse(GA_TORCH(2, 10), "per_process_memory_fraction:0.5"));
	EXPECT(!parse(GA_TORCH(2, 6), "max_split_size_mb:20"));
	EXPECT(parse(GA_TORCH(2, 6), "max_split_size_mb:21"));
	EXPECT(parse(GA_TORCH(2, 9), "max_split_size_mb:20"));
	EXPECT(!parse(GA_TORCH(2, 15), "max_split_size_mb:30,large_segment_size_mb:40"));
	EXPECT(!parse(GA_TORCH(2, 15), "large_segment_size_mb:10"));
	EXPECT(!parse(GA_TORCH(2, 6), "garbage_collection_threshold:1.5"));
	EXPECT(!parse(GA_TORCH(2, 6), "roundup_power2_divisions:3"));
	EXPECT(!parse(GA_TORCH(2, 6), "roundup_power2_divisions:[3:2]"));
	EXPECT(!parse(GA_TORCH(2, 6), "roundup_power2_divisions:[4:2"));
	EXPECT(!parse(GA_TORCH(2, 6), "nonsense:1"));
	EXPECT(!parse(GA_TORCH(2, 6), "max_split_size_mb"));
	EXPECT(!parse(GA_TORCH(2, 6), "max_split_size_mb:"));
	EXPECT(!parse(GA_TORCH(2, 6), "max_split_size_mb:1x"));
	EXPECT(!parse(GA_TORCH(1, 13), "roundup_power2_divisions:[4:2]"));
	EXPECT(parse(GA_TORCH(1, 13), "roundup_bypass_threshold_mb:64,roundup_power2_divisions:4"));
	EXPECT(!parse(GA_TORCH(2, 6), "roundup_bypass_threshold_mb:64"));
}

TEST(the_message_says_why)
{
	struct gf_error error;
	ga_allocator_settings_parse(GA_TORCH(2, 0), "expandable_segments:True", &settings, &error);
	EXPECT(strstr(error.text, "since 2.1") != NULL);
}

TEST(division_lists)
{
	REQUIRE(parse(GA_TORCH(2, 6), "roundup_power2_divisions:[4:2,16:4,>:8]"));
	/* Keys are MiB: the first fills all below it and its own, the others their own. */
	const uint32_t until_29[] = {2, 2, 2, 0, 8, 8, 8};
	for (int i = 0; i < 7; i++)
		EXPECT_EQ(settings.divisions[i], until_29[i]);
	REQUIRE(parse(GA_TORCH(2, 10), "roundup_power2_divisions:[4:2,16:4,>:8]"));
	EXPECT_EQ(settings.divisions[4], 4);
	EXPECT_EQ(settings.divisions[5], 8);
	EXPECT_EQ(settings.divisions[15], 8);
	REQUIRE(parse(GA_TORCH(2, 15), "roundup_power2_divisions:[]"));
	EXPECT_EQ(settings.divisions[0], 0);
}

TEST(changes_at_run_time)
{
	REQUIRE(parse(GA_TORCH(2, 10),
	    "max_split_size_mb:64,garbage_collection_threshold:0.5,max_non_split_rounding_mb:64,"
	    "roundup_power2_divisions:4,expandable_segments:True"));
	REQUIRE(!ga_allocator_settings_change(&settings, "roundup_power2_divisions:8", NULL));
	EXPECT(settings.expandable && settings.max_split_bytes == UINT64_MAX);
	EXPECT(settings.gc_threshold == 0 && settings.divisions[3] == 8);
	EXPECT_EQ(settings.slack_bytes, 64 * GA_MIB);
	REQUIRE(parse(GA_TORCH(2, 11), "max_split_size_mb:64,max_non_split_rounding_mb:64"));
	REQUIRE(!ga_allocator_settings_change(&settings, "max_split_size_mb:24", NULL));
	EXPECT_EQ(settings.slack_bytes, 20 * GA_MIB);
	EXPECT_EQ(settings.max_split_bytes, 24 * GA_MIB);
	REQUIRE(parse(GA_TORCH(2, 15), "max_split_size_mb:64,large_segment_size_mb:40"));
	EXPECT_EQ(settings.slack_bytes, 40 * GA_MIB);
	REQUIRE(!ga_allocator_settings_change(&settings, "max_split_size_mb:64", NULL));
	EXPECT_EQ(settings.slack_bytes, 40 * GA_MIB);
	struct ga_allocator_settings before = settings;
	EXPECT(ga_allocator_settings_change(&settings, "max_split_size_mb:1", NULL) != GF_OK);
	EXPECT_EQ(settings.max_split_bytes, before.max_split_bytes);
}

TEST(rounding)
{
	REQUIRE(parse(GA_TORCH(2, 15), ""));
	EXPECT_EQ(ga_round_request(&settings, 1), 512);
	EXPECT_EQ(ga_round_request(&settings, 512), 512);
	EXPECT_EQ(ga_round_request(&settings, 513), 1024);
	EXPECT_EQ(ga_round_request(&settings, 1048577), 1048576 + 512);
	REQUIRE(parse(GA_TORCH(2, 15), "roundup_power2_divisions:4"));
	EXPECT_EQ(ga_round_request(&settings, 2048), 2048); /* not above 4 * 512 */
	EXPECT_EQ(ga_round_request(&settings, 2049), 2560);
	EXPECT_EQ(ga_round_request(&settings, 1200), 1536);
	EXPECT_EQ(ga_round_request(&settings, 1 << 20), 1 << 20); /* a power of two stays */
	EXPECT_EQ(ga_round_request(&settings, (1 << 20) + 1), (1 << 20) + (1 << 18));
	EXPECT_EQ(ga_round_request(&settings, 1300 << 10), 1536 << 10);
	REQUIRE(parse(GA_TORCH(1, 13), "roundup_power2_divisions:4,roundup_bypass_threshold_mb:2"));
	EXPECT_EQ(ga_round_request(&settings, 1300 << 10), 1536 << 10);
	EXPECT_EQ(ga_round_request(&settings, 2500 << 10), 2500 << 10);
}

TEST(segments_behind_blocks)
{
	REQUIRE(parse(GA_TORCH(2, 15), ""));
	EXPECT_EQ(ga_round_segment(&settings, 512), 2 * GA_MIB);
	EXPECT_EQ(ga_round_segment(&settings, GA_MIB), 2 * GA_MIB);
	EXPECT_EQ(ga_round_segment(&settings, GA_MIB + 512), 20 * GA_MIB);
	EXPECT_EQ(ga_round_segment(&settings, 10 * GA_MIB - 512), 20 * GA_MIB);
	EXPECT_EQ(ga_round_segment(&settings, 10 * GA_MIB), 10 * GA_MIB);
	EXPECT_EQ(ga_round_segment(&settings, 11 * GA_MIB), 12 * GA_MIB);
	REQUIRE(parse(GA_TORCH(2, 15), "large_segment_size_mb:40"));
	EXPECT_EQ(ga_round_segment(&settings, 2 * GA_MIB), 40 * GA_MIB);
	EXPECT_EQ(ga_round_segment(&settings, 10 * GA_MIB), 10 * GA_MIB);
}
