/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/fragmentation.h"
#include "tests/test.h"

static struct ga_alloc_trace trace;
static struct ga_alloc_trace_builder builder;
static struct ga_fragmentation result;

static void begin(uint64_t budget_mib)
{
	ga_alloc_trace_begin(&builder, &trace);
	ga_allocator_settings_default(GA_TORCH(2, 15), &trace.settings);
	trace.device_bytes = trace.budget_bytes = budget_mib * GA_MIB;
}

static void give(uint64_t bytes, uint64_t address)
{
	ga_alloc_trace_alloc(&builder, bytes, 0, address);
}

/* What a recorder would have seen: the model's own history under the recorded settings. */
static struct ga_history_entry entries[4096];
static size_t entry_count;

static void keep(void *self, const struct ga_history_entry *entry)
{
	if (entry->action >= GA_HISTORY_SEGMENT_ALLOC && entry->action != GA_HISTORY_OOM &&
	    entry_count < 4096)
		entries[entry_count++] = *entry;
}

static void measure(void)
{
	struct ga_replay_options play = {.sink = keep};
	struct ga_fragmentation_options options = {.packing_blocks = 100000};
	struct ga_replay_result whole;
	ga_alloc_trace_end(&builder);
	entry_count = 0;
	ga_replay_whole(&trace, &play, &whole);
	ga_fragmentation_measure(&trace, entries, entry_count, &options, &result);
}

static const struct ga_grid_row *row_of(const char *text)
{
	for (size_t i = 0; i < result.grid.count; i++)
		if (strcmp(result.grid.rows[i].text, text) == 0 && !result.grid.rows[i].is_recorded)
			return &result.grid.rows[i];
	printf("# no row %s\n", text);
	exit(1);
}

static uint64_t split_sum(void)
{
	const struct ga_reserved_split *split = &result.at_peak;
	return split->requested + split->rounding + split->pending + split->releasable +
	       split->stuck;
}

TEST(figures_of_a_hand_made_program)
{
	begin(1000);
	for (uint64_t i = 0; i < 8; i++)
		give(16 * GA_MIB, 0x1000 + i);
	for (uint64_t i = 0; i < 8; i++)
		ga_alloc_trace_free(&builder, 0x1000 + i);
	for (uint64_t i = 0; i < 4; i++)
		give(32 * GA_MIB, 0x2000 + i);
	measure();
	EXPECT_EQ(result.peak_reserved, 256 * GA_MIB);
	EXPECT_EQ(result.at_peak.requested, 128 * GA_MIB);
	EXPECT_EQ(result.at_peak.releasable, 128 * GA_MIB);
	EXPECT_EQ(split_sum(), result.peak_reserved);
	EXPECT_EQ(result.lower_bound, 128 * GA_MIB);
	EXPECT_EQ(result.packing, 128 * GA_MIB);
	EXPECT_EQ(result.harm, 0);
	EXPECT_EQ(row_of("expandable_segments:True")->peak_reserved, 140 * GA_MIB);
	EXPECT_EQ(row_of("preallocate:134217728")->peak_reserved, 128 * GA_MIB);
	EXPECT_EQ(result.fidelity.segments, 12);
	EXPECT_EQ(result.fidelity.segments_matched, 12);
	ga_fragmentation_clear(&result);
	ga_alloc_trace_clear(&trace);
}

/* Every other block of 16 MiB is kept: half of the memory is free and none of it is of use. */
static void record_stuck(void)
{
	begin(320);
	for (uint64_t i = 0; i < 10; i++)
		give(32 * GA_MIB, 0x1000 + i); /* the whole device */
	for (uint64_t i = 0; i < 10; i++)
		ga_alloc_trace_free(&builder, 0x1000 + i);
	for (uint64_t i = 0; i < 20; i++)
		give(16 * GA_MIB, 0x2000 + i);
	for (uint64_t i = 0; i < 20; i += 2)
		ga_alloc_trace_free(&builder, 0x2000 + i);
	give(64 * GA_MIB, 0);
}

TEST(harm_is_what_a_setting_would_have_made_usable)
{
	record_stuck();
	measure();
	EXPECT_EQ(result.ooms, 1);
	EXPECT_EQ(result.harm, 64 * GA_MIB);
	EXPECT_EQ(split_sum(), result.peak_reserved);
	const struct ga_grid_row *pages =
	    row_of("expandable_segments:True,large_segment_size_mb:12");
	EXPECT(pages->retries + pages->ooms > 0);
	const struct ga_grid_row *best = ga_grid_best(&result.grid);
	REQUIRE(best != NULL);
	EXPECT(!best->new_failure);
	ga_fragmentation_clear(&result);
	ga_alloc_trace_clear(&trace);
}

TEST(no_counterfactual_without_fidelity)
{
	struct ga_fragmentation_options options = {.packing_blocks = 0};
	struct ga_history_entry wrong = {GA_HISTORY_SEGMENT_ALLOC, 1, 2, 3};
	begin(1000);
	give(16 * GA_MIB, 0x1000);
	ga_alloc_trace_end(&builder);
	ga_fragmentation_measure(&trace, &wrong, 1, &options, &result);
	EXPECT_EQ(result.grid.count, 0);
	EXPECT_EQ(result.fidelity.segments_matched, 0);
	EXPECT_EQ(result.lower_bound, 16 * GA_MIB);
	EXPECT(ga_grid_best(&result.grid) == NULL);
	ga_fragmentation_clear(&result);
	ga_alloc_trace_clear(&trace);
}

TEST(settings_of_other_releases_are_marked)
{
	struct ga_grid_options options = {.borders = NULL};
	struct ga_grid grid;
	int pages = 0, fraction = 0;
	begin(1000);
	trace.settings.torch = GA_TORCH(2, 0);
	trace.settings.tie = GA_TIE_ADDRESS;
	give(16 * GA_MIB, 0x1000);
	ga_alloc_trace_end(&builder);
	ga_grid_replay(&trace, &options, &grid);
	for (size_t i = 0; i < grid.count; i++) {
		if (strcmp(grid.rows[i].text, "expandable_segments:True") == 0)
			pages = grid.rows[i].needs_torch;
		if (strcmp(grid.rows[i].text, "garbage_collection_threshold:0.8") == 0)
			fraction = grid.rows[i].fraction == GA_GRID_FRACTION;
	}
	EXPECT_EQ(pages, GA_TORCH(2, 1));
	EXPECT_EQ(fraction, 1);
	struct ga_grid_row row;
	struct gf_error error;
	EXPECT_EQ(
	    ga_grid_try(&trace, &options, "backend:cudaMallocAsync", &row, &error), GF_UNSUPPORTED);
	EXPECT_EQ(ga_grid_try(&trace, &options, "nonsense:1", &row, &error), GF_USAGE);
	EXPECT_EQ(ga_grid_try(&trace, &options, "max_split_size_mb:64", &row, &error), GF_OK);
	EXPECT_EQ(row.peak_reserved, 16 * GA_MIB);
	free(row.troubles);
	ga_grid_clear(&grid);
	ga_alloc_trace_clear(&trace);
}

static bool has_row(const struct ga_grid *grid, const char *text, double fraction)
{
	for (size_t i = 0; i < grid->count; i++)
		if (strcmp(grid->rows[i].text, text) == 0 && grid->rows[i].fraction == fraction)
			return true;
	return false;
}

TEST(where_the_memory_fraction_of_a_row_comes_from)
{
	static const char whole[] = GA_GRID_FRACTION_TEXT "garbage_collection_threshold:0.6";
	static const char rest[] = "garbage_collection_threshold:0.6";
	struct ga_grid_options options = {.borders = NULL};
	for (int i = 0; i < 3; i++) {
		struct ga_grid grid;
		begin(1000);
		trace.settings.torch = i == 0 ? GA_TORCH(2, 9) : GA_TORCH(2, 10);
		if (i == 2)
			ga_alloc_trace_mark(&builder, GA_CALL_FRACTION, UINT64_C(1) << 59, 0);
		give(16 * GA_MIB, 0x1000);
		ga_alloc_trace_end(&builder);
		ga_grid_replay(&trace, &options, &grid);
		EXPECT_EQ(has_row(&grid, rest, GA_GRID_FRACTION), i == 0); /* a call */
		EXPECT_EQ(has_row(&grid, whole, 0), i == 1);
		EXPECT_EQ(has_row(&grid, rest, 0), i == 2); /* there already */
		ga_grid_clear(&grid);
		ga_alloc_trace_clear(&trace);
	}
}

/* What is recommended does something: 2.15 takes a fraction of 1 for none. */
TEST(collection_with_the_fraction_of_the_grid)
{
	begin(1000);
	for (uint64_t i = 0; i < 40; i++) {
		give((16 + 8 * i) * GA_MIB, 0x1000 + i);
		ga_alloc_trace_free(&builder, 0x1000 + i);
	}
	measure();
	EXPECT(result.retries > 0);
	EXPECT(row_of(GA_GRID_FRACTION_TEXT "garbage_collection_threshold:0.6")->retries <
	       result.retries);
	ga_fragmentation_clear(&result);
	ga_alloc_trace_clear(&trace);
}

TEST(emptying_the_cache_at_borders)
{
	struct ga_grid grid;
	begin(1000);
	for (uint64_t i = 0; i < 4; i++)
		give(16 * GA_MIB, 0x1000 + i);
	for (uint64_t i = 0; i < 4; i++)
		ga_alloc_trace_free(&builder, 0x1000 + i);
	size_t border = trace.event_count;
	struct ga_grid_options options = {.borders = &border, .border_count = 1};
	give(64 * GA_MIB, 0x2000);
	ga_alloc_trace_end(&builder);
	ga_grid_replay(&trace, &options, &grid);
	EXPECT_EQ(grid.rows[0].peak_reserved, 128 * GA_MIB);
	EXPECT_EQ(grid.rows[grid.count - 1].peak_reserved, 64 * GA_MIB);
	EXPECT_STR(grid.rows[grid.count - 1].text, "empty_cache:steps");
	ga_grid_clear(&grid);
	ga_alloc_trace_clear(&trace);
}

static uint64_t noise(void)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* Blocks of a few sizes come and go, so that many equal ones are free at once. */
static void record_equal_sizes(void)
{
	bool live[256] = {false};
	for (int i = 0; i < 4000; i++) {
		uint64_t slot = noise() % 256;
		if (live[slot])
			ga_alloc_trace_free(&builder, 0x1000 + slot);
		else
			give((2 + noise() % 3 * 3) * GA_MIB, 0x1000 + slot);
		live[slot] = !live[slot];
	}
}

/* Up to 2.11 addresses decide among equal blocks, whoever changed the program's course. */
TEST(address_ties_leave_a_range)
{
	static const int releases[] = {GA_TORCH(2, 6), GA_TORCH(2, 15)};
	for (int i = 0; i < 2; i++) {
		struct ga_grid grid;
		begin(4000);
		ga_allocator_settings_default(releases[i], &trace.settings);
		record_equal_sizes();
		size_t border = trace.event_count / 2;
		struct ga_grid_options options = {.borders = &border,
		    .border_count = 1,
		    .preallocate = 100 * GA_MIB,
		    .with_ranges = true};
		ga_alloc_trace_end(&builder);
		ga_grid_replay(&trace, &options, &grid);
		EXPECT(grid.rows[0].is_recorded && grid.rows[0].low == grid.rows[0].high);
		for (size_t j = grid.count - 2; j < grid.count; j++) {
			const struct ga_grid_row *row = &grid.rows[j];
			EXPECT(row->in_program);
			EXPECT_EQ(row->low < row->high, releases[i] == GA_TORCH(2, 6));
			EXPECT(row->low <= row->peak_reserved && row->peak_reserved <= row->high);
		}
		ga_grid_clear(&grid);
		ga_alloc_trace_clear(&trace);
	}
}

/* lower bound <= packing <= best setting <= recorded peak, and the split adds up. */
TEST(bounds_hold_for_random_programs)
{
	for (int program = 0; program < 60; program++) {
		bool live[64] = {false};
		begin(4000);
		for (int i = 0; i < 400; i++) {
			uint64_t slot = noise() % 64;
			if (live[slot])
				ga_alloc_trace_free(&builder, 0x1000 + slot);
			else
				give(1 + noise() % (UINT64_C(1) << (9 + noise() % 17)),
				    0x1000 + slot);
			live[slot] = !live[slot];
		}
		measure();
		const struct ga_grid_row *best = ga_grid_best(&result.grid);
		REQUIRE(best != NULL);
		EXPECT(result.lower_bound <= result.packing);
		EXPECT(result.packing <= best->peak_reserved);
		EXPECT(best->peak_reserved <= result.peak_reserved);
		EXPECT_EQ(split_sum(), result.peak_reserved);
		ga_fragmentation_clear(&result);
		ga_alloc_trace_clear(&trace);
	}
}

/* Highest sum of sizes alive at one moment: no placement needs less. */
static uint64_t pack_floor(const struct ga_lifetime *blocks, size_t count)
{
	uint64_t peak = 0;
	for (size_t i = 0; i < count; i++) { /* it is reached where some block begins */
		uint64_t sum = 0;
		for (size_t j = 0; j < count; j++)
			if (blocks[j].start <= blocks[i].start && blocks[j].end > blocks[i].start)
				sum += blocks[j].size;
		peak = sum > peak ? sum : peak;
	}
	return peak;
}

TEST(packing)
{
	struct ga_lifetime blocks[] = {{100, 0, 10}, {50, 0, 5}, {50, 5, 10}, {100, 10, 20}};
	EXPECT_EQ(pack_floor(blocks, 4), 150);
	EXPECT_EQ(ga_pack(blocks, 4, 1000), 150);
	EXPECT_EQ(ga_pack(blocks, 4, 1), 0); /* gives up */
	EXPECT_EQ(ga_pack(blocks, 0, 1000), 0);
}

TEST(packing_comes_near_its_floor)
{
	static struct ga_lifetime blocks[3000];
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 3000; i++) {
			uint32_t start = (uint32_t)(noise() % 3000);
			blocks[i] = (struct ga_lifetime){512 * (1 + noise() % 1000), start,
			    start + 1 + (uint32_t)(noise() % 100)};
		}
		uint64_t floor = pack_floor(blocks, 3000);
		uint64_t height = ga_pack(blocks, 3000, UINT64_C(100000000));
		EXPECT(height >= floor);
		EXPECT(height < floor + floor / 4);
	}
}

TEST(lifetimes_in_a_window)
{
	struct ga_lifetime *lives;
	bool whole;
	begin(1000);
	for (uint64_t i = 0; i < 100; i++) {
		give(512, 0x1000);
		ga_alloc_trace_free(&builder, 0x1000);
	}
	give(GA_MIB, 0x2000);
	ga_alloc_trace_end(&builder);
	EXPECT_EQ(ga_alloc_trace_lifetimes(&trace, 1000, &lives, &whole), 101);
	EXPECT(whole);
	free(lives);
	size_t count = ga_alloc_trace_lifetimes(&trace, 20, &lives, &whole);
	EXPECT(!whole && count > 0 && count < 20);
	EXPECT_EQ(pack_floor(lives, count), GA_MIB);
	free(lives);
	ga_alloc_trace_clear(&trace);
}
