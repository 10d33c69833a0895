/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Speed of the memory analysis and of the counts of `info` on a synthetic trace: two threads, a
 * block event, a launch, another block event ... with 4000 live blocks, as a training step has
 * them.
 *
 * usage: bench_memory [MILLIONS OF EVENTS]; TMPDIR holds the trace.  Exit 1 below the floor.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "analyzer/counts.h"
#include "tests/trace_builder.h"

#define LIVE 4000
#define RUNS 5
#define FLOOR 10e6 /* events a second that must be reached on one core */

static double seconds(void)
{
	struct timespec time;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Sizes and gaps repeat with some noise, as in real programs. */
static uint64_t noise(void)
{
	static uint64_t state = 88172645463325252;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void make_trace(const char *path, uint64_t events)
{
	struct trace_builder *t = trace_begin(path);
	uint64_t allocated = 0, time = 0;
	static uint64_t sizes[LIVE];
	trace_clock(t, 1, 0, 0);
	trace_clock(t, 1, UINT64_C(1) << 40, UINT64_C(1) << 40);
	trace_mark(t, 1, 0, GF_MARK_START, 1);
	trace_property(t, "torch_version", "2.15.0");
	struct gf_memory segment = {.address = UINT64_C(0x7f0000000000),
	    .size = UINT64_C(1) << 33,
	    .kind = GF_MEMORY_ALLOC,
	    .flags = GF_FLAG_IN_ALLOCATOR};
	trace_add(t, 1, GF_TAG_memory, &segment);
	for (uint64_t i = 0; i < events; i++) {
		uint32_t thread = 1 + (uint32_t)(i / 50000 % 2);
		time += 900 + noise() % 200;
		if (i % 3 == 1) {
			struct gf_launch launch = {.time = time,
			    .duration = 4000 + noise() % 512,
			    .function = 0x5000 + i % 97 * 64,
			    .grid_x = (uint32_t)(i % 31)};
			trace_add(t, thread, GF_TAG_launch, &launch);
			continue;
		}
		uint64_t slot = noise() % LIVE;
		bool give = sizes[slot] == 0;
		uint64_t size = give ? 512 * (1 + i % 61) : sizes[slot];
		sizes[slot] = give ? size : 0;
		allocated = give ? allocated + size : allocated - size;
		struct gf_block block = {.time = time,
		    .address = UINT64_C(0x7f0000000000) + slot * 65536,
		    .size = give ? (int64_t)size : -(int64_t)size,
		    .requested = size - 4,
		    .allocated = allocated,
		    .reserved = UINT64_C(1) << 33,
		    .flags = GF_FLAG_REQUEST_KNOWN};
		trace_add(t, thread, GF_TAG_block, &block);
	}
	trace_mark(t, 1, time + 1, GF_MARK_END, 0);
	trace_end(t);
}

static void must(enum gf_status status, const struct gf_error *error)
{
	if (status == GF_OK)
		return;
	printf("bench_memory: %s\n", error->text);
	exit(1);
}

/* Seconds of one whole report: open, account, count. */
static double report(const char *path, double *memory_s, uint64_t *peak_out)
{
	struct ga_model model;
	struct ga_memory memory;
	struct ga_counts counts;
	struct gf_error error = {0};
	double start = seconds();
	must(ga_model_open(path, &model, &error), &error);
	must(ga_memory_analyse(&model, &memory, &error), &error);
	*memory_s = seconds() - start;
	must(ga_counts_collect(&model, &memory, &counts, &error), &error);
	double all = seconds() - start;
	*peak_out = memory.accounts.by_device[0]->peak.allocated;
	if (memory.accounts.by_device[0]->allocated_difference.count)
		printf("sums differ from totals: the analysis is wrong\n");
	ga_memory_free(&memory);
	ga_model_close(&model);
	return all;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return a < b ? -1 : a > b;
}

static double print_rate(const char *what, double events, double *times)
{
	qsort(times, RUNS, sizeof(*times), compare);
	double median = events / times[RUNS / 2] / 1e6;
	printf("%-38s %7.1f M events/s (%.1f to %.1f, %d runs, one core)\n", what, median,
	    events / times[RUNS - 1] / 1e6, events / times[0] / 1e6, RUNS);
	return median * 1e6;
}

int main(int argc, char **argv)
{
	uint64_t events = (argc > 1 ? strtoull(argv[1], NULL, 10) : 24) * 1000000;
	const char *folder = getenv("TMPDIR");
	double memory_s[RUNS], all_s[RUNS];
	uint64_t peak = 0;
	char path[256];
	snprintf(
	    path, sizeof(path), "%s/bench_memory.%d.gst", folder ? folder : "/tmp", (int)getpid());
	make_trace(path, events);
	for (int i = 0; i < RUNS; i++)
		all_s[i] = report(path, &memory_s[i], &peak);
	unlink(path);
	printf(
	    "%" PRIu64 " events, a third of them launches; peak %" PRIu64 " bytes\n", events, peak);
	print_rate("memory (all events of the trace)", (double)events, memory_s);
	double rate = print_rate("memory and counts, as report and info", (double)events, all_s);
	return rate < FLOOR;
}
