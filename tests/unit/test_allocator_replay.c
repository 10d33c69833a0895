/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_replay.h"
#include "tests/test.h"

static struct ga_alloc_trace trace;
static struct ga_alloc_trace_builder builder;

static void begin(int torch, const char *text)
{
	ga_alloc_trace_begin(&builder, &trace);
	REQUIRE(!ga_allocator_settings_parse(torch, text, &trace.settings, NULL));
	trace.device_bytes = trace.budget_bytes = 1000 * GA_MIB;
}

static void give(uint64_t mib, uint64_t address)
{
	ga_alloc_trace_alloc(&builder, mib * GA_MIB, 0, address);
}

/* A program that is hard on classic segments: many of 16 MiB, then some of 32 MiB. */
static void record_growth(void)
{
	uint64_t at = UINT64_C(0x7f0000000000);
	for (int i = 0; i < 8; i++) {
		ga_alloc_trace_segment(&builder, 16 * GA_MIB, at - (uint64_t)i * 16 * GA_MIB);
		give(16, at - (uint64_t)i * 16 * GA_MIB);
	}
	for (int i = 0; i < 8; i++)
		ga_alloc_trace_free(&builder, at - (uint64_t)i * 16 * GA_MIB);
	for (int i = 1; i < 5; i++) {
		ga_alloc_trace_segment(&builder, 32 * GA_MIB, at - (uint64_t)(i + 4) * 32 * GA_MIB);
		give(32, at - (uint64_t)(i + 4) * 32 * GA_MIB);
	}
}

static uint64_t peak_mib(const char *text, uint64_t budget_mib, uint64_t *oom_out)
{
	struct ga_allocator_settings settings;
	struct ga_replay_result result;
	REQUIRE(!ga_allocator_settings_parse(trace.settings.torch, text, &settings, NULL));
	struct ga_replay_options options = {
	    .settings = &settings, .budget_bytes = budget_mib * GA_MIB, .stop_when_parted = true};
	ga_replay_whole(&trace, &options, &result);
	if (oom_out)
		*oom_out = result.first_oom;
	return result.counts.peak_reserved / GA_MIB;
}

TEST(counterfactual_settings)
{
	begin(GA_TORCH(2, 15), "");
	record_growth();
	ga_alloc_trace_end(&builder);
	EXPECT_EQ(peak_mib("", 0, NULL), 256);
	EXPECT_EQ(peak_mib("expandable_segments:True", 0, NULL), 140);
	EXPECT_EQ(peak_mib("large_segment_size_mb:40,expandable_segments:True", 0, NULL), 160);
	EXPECT_EQ(ga_alloc_trace_order(&trace), GA_ADDRESS_DOWN);
	ga_alloc_trace_clear(&trace);
}

TEST(smaller_devices)
{
	uint64_t oom;
	begin(GA_TORCH(2, 15), "");
	record_growth();
	ga_alloc_trace_end(&builder);
	EXPECT_EQ(peak_mib("", 200, &oom), 192); /* a retry gives the cached segments back */
	EXPECT(oom == UINT64_MAX);
	peak_mib("", 126, &oom);
	EXPECT_EQ(oom, 7); /* the eighth block */
	peak_mib("expandable_segments:True", 140, &oom);
	EXPECT(oom == UINT64_MAX);
	ga_alloc_trace_clear(&trace);
}

TEST(verify_finds_the_first_mismatch)
{
	struct ga_history_entry segments[12];
	struct ga_fidelity fidelity;
	begin(GA_TORCH(2, 15), "");
	record_growth();
	ga_alloc_trace_end(&builder);
	for (size_t i = 0; i < 12; i++)
		segments[i] = (struct ga_history_entry){GA_HISTORY_SEGMENT_ALLOC,
		    trace.segments[i].address, trace.segments[i].size, UINT64_MAX};
	ga_replay_verify(&trace, segments, 12, &fidelity);
	EXPECT_EQ(fidelity.segments_matched, 12);
	EXPECT_EQ(fidelity.blocks_matched, 12);
	EXPECT(fidelity.first_mismatch == UINT64_MAX);
	segments[9].size++;
	ga_replay_verify(&trace, segments, 12, &fidelity);
	EXPECT_EQ(fidelity.segments_matched, 9);
	EXPECT_EQ(fidelity.first_mismatch, 9);
	EXPECT_EQ(fidelity.replayed.size, 32 * GA_MIB);
	/* An event that the recording lacks at its end, and one that the replay lacks. */
	segments[9].size--;
	ga_replay_verify(&trace, segments, 11, &fidelity);
	EXPECT_EQ(fidelity.first_mismatch, 11);
	ga_alloc_trace_clear(&trace);
}

/* One block used on another stream, freed, and seen to be done late or by force. */
static void record_waiting(bool forced)
{
	begin(GA_TORCH(2, 15), "");
	give(32, 0x1000);
	ga_alloc_trace_event_record(&builder, 77, 5);
	ga_alloc_trace_free(&builder, 0x1000);
	give(32, 0x2000);
	ga_alloc_trace_free(&builder, 0x2000);
	ga_alloc_trace_event_done(&builder, 77, forced);
	give(32, 0x3000);
	give(32, 0x4000);
	ga_alloc_trace_end(&builder);
}

static uint64_t peak_by_rule(enum ga_ready_rule rule)
{
	struct ga_replay_options options = {.ready = rule};
	struct ga_replay_result result;
	ga_replay_whole(&trace, &options, &result);
	return result.counts.peak_reserved / GA_MIB;
}

TEST(when_waiting_blocks_become_free)
{
	record_waiting(false);
	EXPECT_EQ(peak_by_rule(GA_READY_RECORDED), 64);
	EXPECT_EQ(peak_by_rule(GA_READY_AT_ONCE), 64);
	EXPECT_EQ(peak_by_rule(GA_READY_LATE), 96);
	ga_alloc_trace_clear(&trace);
	record_waiting(true);
	EXPECT_EQ(trace.events[5].kind, GA_CALL_READY); /* behind the call that waited */
	EXPECT_EQ(trace.events[5].flags, GA_CALL_FORCED);
	EXPECT_EQ(peak_by_rule(GA_READY_RECORDED), 64);
	EXPECT_EQ(peak_by_rule(GA_READY_NATURAL), 96);
	ga_alloc_trace_clear(&trace);
}

TEST(unknown_frees_are_counted)
{
	begin(GA_TORCH(2, 15), "");
	give(2, 0x1000);
	ga_alloc_trace_free(&builder, 0x9000);
	EXPECT_EQ(builder.lost, 1);
	ga_alloc_trace_free(&builder, 0x1000);
	ga_alloc_trace_event_done(&builder, 99, false);
	ga_alloc_trace_end(&builder);
	EXPECT_EQ(trace.event_count, 2);
	ga_alloc_trace_clear(&trace);
}

TEST(settings_change_where_they_did)
{
	begin(GA_TORCH(2, 15), "");
	give(2, 0x1000);
	ga_alloc_trace_settings(&builder, "expandable_segments:True");
	ga_alloc_trace_mark(&builder, GA_CALL_FRACTION, UINT64_C(1) << 59, 0);
	give(32, 0x2000);
	ga_alloc_trace_mark(&builder, GA_CALL_EMPTY_CACHE, 0, 0);
	ga_alloc_trace_end(&builder);
	struct ga_replay replay;
	struct ga_replay_options options = {.stop_when_parted = true};
	struct ga_replay_result result;
	ga_replay_begin(&replay, &trace, &options);
	EXPECT(ga_replay_run(&replay, 3));
	EXPECT_EQ(ga_allocator_allowed_bytes(replay.model), 500 * GA_MIB);
	EXPECT(ga_allocator_current(replay.model)->expandable);
	EXPECT(!ga_replay_run(&replay, SIZE_MAX));
	ga_replay_end(&replay, &result);
	EXPECT_EQ(result.counts.segment_allocs, 1);
	EXPECT_EQ(result.counts.maps, 1);
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

static void record_nonsense(void)
{
	static const uint64_t sizes[] = {2 * GA_MIB, 20 * GA_MIB, 16 * GA_MIB, UINT64_MAX, 0};
	static const char *const texts[] = {"expandable_segments:True", "max_split_size_mb:24",
	    "garbage_collection_threshold:0.1", "nonsense"};
	for (int i = 0; i < 3000; i++) {
		uint64_t address = 0x1000000 * (noise() % 64), kind = noise() % 16;
		if (kind < 6)
			ga_alloc_trace_alloc(
			    &builder, noise() >> (noise() % 64), noise() % 3, address);
		else if (kind < 10)
			ga_alloc_trace_free(&builder, address);
		else if (kind == 10)
			ga_alloc_trace_event_record(&builder, 1 + noise() % 8, noise() % 3);
		else if (kind == 11)
			ga_alloc_trace_event_done(&builder, 1 + noise() % 8, noise() % 2);
		else if (kind == 12)
			ga_alloc_trace_segment(&builder, sizes[noise() % 5], address);
		else if (kind == 13)
			ga_alloc_trace_reservation(&builder, (1150 - 10) * GA_MIB, address);
		else if (kind == 14)
			ga_alloc_trace_mark(&builder, (enum ga_alloc_trace_kind)(3 + noise() % 7),
			    noise() % 4, (uint32_t)(noise() % 4));
		else if (noise() % 4 == 0)
			ga_alloc_trace_settings(&builder, texts[noise() % 4]);
		else
			ga_alloc_trace_capture_begin(&builder, (uint32_t)(noise() % 4));
	}
}

/* What no allocator could have done must not end the program, only the fidelity. */
TEST(nonsense_is_survived)
{
	for (int round = 0; round < 100; round++) {
		begin(round % 2 ? GA_TORCH(2, 6) : GA_TORCH(2, 15), "");
		trace.settings.expandable = round % 3 == 0;
		if (round % 5 == 0)
			trace.device_bytes = trace.budget_bytes = UINT64_MAX;
		record_nonsense();
		ga_alloc_trace_end(&builder);
		for (int rule = GA_READY_RECORDED; rule <= GA_READY_LATE; rule++) {
			struct ga_replay_options options = {.recorded_driver = rule % 2 == 0,
			    .ready = (enum ga_ready_rule)rule,
			    .with_troubles = true};
			struct ga_replay_result result;
			ga_replay_whole(&trace, &options, &result);
			EXPECT(result.counts.reserved <= result.counts.peak_reserved);
			ga_replay_result_clear(&result);
		}
		ga_alloc_trace_clear(&trace);
	}
}
