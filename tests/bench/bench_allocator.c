/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of the allocator replay on two synthetic programs: training steps (activations that live
 * until the backward pass, temporaries in between) and random frees among 4000 live blocks, which
 * leaves many free blocks of many sizes.
 *
 * usage: bench_allocator [MILLIONS OF EVENTS]; exit 1 if the training steps are below the floor
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "analyzer/allocator_replay.h"

#define LIVE 4000
#define LAYERS 600
#define RUNS 3
#define FLOOR 5e6 /* events a second */

static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static uint64_t noise(void)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

/* The builder wants addresses; any that differ among live blocks do. */
static uint64_t address_of(uint64_t slot)
{
	return UINT64_C(0x7f0000000000) + slot * 4096;
}

static void training(struct ga_alloc_trace_builder *builder, uint64_t events)
{
	static const uint64_t sizes[] = {4194304, 12582912, 524288, 1048576 + 512, 8192, 33554432};
	for (uint64_t done = 0; done < events; done += 6 * LAYERS) {
		for (uint64_t layer = 0; layer < LAYERS; layer++) {
			ga_alloc_trace_alloc(builder, sizes[layer % 6], 0, address_of(layer));
			ga_alloc_trace_alloc(builder, sizes[layer * 5 % 6], 0, address_of(LAYERS));
			ga_alloc_trace_free(builder, address_of(LAYERS));
		}
		for (uint64_t layer = LAYERS; layer-- > 0;) {
			ga_alloc_trace_alloc(builder, sizes[layer % 6], 0, address_of(LAYERS));
			ga_alloc_trace_free(builder, address_of(layer));
			ga_alloc_trace_free(builder, address_of(LAYERS));
		}
	}
}

static void random_load(struct ga_alloc_trace_builder *builder, uint64_t events)
{
	static bool live[LIVE];
	memset(live, 0, sizeof(live));
	for (uint64_t i = 0; i < events; i++) {
		uint64_t slot = noise() % LIVE;
		if (live[slot])
			ga_alloc_trace_free(builder, address_of(slot));
		else
			ga_alloc_trace_alloc(builder,
			    1 + noise() % (UINT64_C(1) << (8 + noise() % 16)), noise() % 8 ? 0 : 7,
			    address_of(slot));
		live[slot] = !live[slot];
	}
}

static double measure(const char *name, void (*make)(struct ga_alloc_trace_builder *, uint64_t),
    uint64_t events, const char *text)
{
	struct ga_alloc_trace trace;
	struct ga_alloc_trace_builder builder;
	ga_alloc_trace_begin(&builder, &trace);
	ga_allocator_settings_parse(GA_TORCH_NEWEST, text, &trace.settings, NULL);
	trace.device_bytes = trace.budget_bytes = UINT64_C(80) << 30;
	make(&builder, events);
	ga_alloc_trace_end(&builder);
	double best = 0, worst = 0;
	struct ga_replay_result result = {.first_oom = 0};
	for (int run = 0; run < RUNS; run++) {
		struct ga_replay_options options = {.stop_when_parted = true};
		double start = seconds();
		ga_replay_whole(&trace, &options, &result);
		double rate = (double)trace.event_count / (seconds() - start);
		best = rate > best ? rate : best;
		worst = !worst || rate < worst ? rate : worst;
	}
	printf(
	    "allocator replay, %s, %s: %.1f to %.1f M events/s, %.0f bytes an event, peak %" PRIu64
	    " MiB\n",
	    name, *text ? text : "default", worst / 1e6, best / 1e6,
	    (double)sizeof(struct ga_alloc_trace_event) +
		12.0 * (double)trace.block_count / (double)trace.event_count,
	    result.counts.peak_reserved >> 20);
	ga_alloc_trace_clear(&trace);
	return best;
}

int main(int argc, char **argv)
{
	uint64_t events = (argc > 1 ? strtoull(argv[1], NULL, 10) : 4) * 1000000;
	double steps = measure("training steps", training, events, "");
	double pages = measure("training steps", training, events, "expandable_segments:True");
	measure("random load", random_load, events, "");
	measure("random load", random_load, events, "expandable_segments:True");
	return steps < FLOOR || pages < FLOOR;
}
