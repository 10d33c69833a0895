/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The allocator model against its slow twin: random programs under random settings of every
 * release; both must tell the same history, line by line, and hold the same bytes.
 *
 * usage: test_allocator_twin [--events N] [--seed N]; TAP
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/allocator_split.h"
#include "tests/oracle/slow_allocator.h"

#define ROUND_EVENTS 2000
#define LIVE 400
#define ENTRIES 4096
#define CHECK_EVERY 64

struct told {
	struct ga_history_entry entries[ENTRIES];
	size_t count;
};

/* A block of the program: the numbers that both models have for it. */
struct item {
	struct slow_block *slow;
	uint32_t fast, tag;
};

struct round {
	uint64_t random, event;
	int torch;
	char text[256];
	struct ga_allocator_settings settings;
	struct ga_alloc_driver fast_driver, slow_driver;
	struct ga_allocator *fast;
	struct slow *slow;
	struct told fast_told, slow_told;
	struct item live[LIVE], waiting[LIVE];
	size_t live_count, waiting_count;
	uint32_t tags, streams, capture, pools; /* capture: pool of the one under way */
	uint32_t released;			/* pools whose graphs are gone */
	uint64_t device, largest;
	struct ga_allocator_counts seen; /* of all rounds so far */
};

static uint64_t random_next(struct round *round)
{
	uint64_t x = round->random;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return round->random = x;
}

static uint64_t below(struct round *round, uint64_t limit)
{
	return random_next(round) % limit;
}

static void tell(void *self, const struct ga_history_entry *entry)
{
	struct told *told = self;
	if (told->count < ENTRIES)
		told->entries[told->count++] = *entry;
}

static void add_text(struct round *round, const char *format, int value)
{
	size_t used = strlen(round->text);
	if (used)
		round->text[used++] = ',';
	snprintf(round->text + used, sizeof(round->text) - used, format, value);
}

static void choose_text(struct round *round)
{
	bool list = round->torch >= GA_TORCH(2, 0);
	round->text[0] = 0;
	if (below(round, 3) == 0)
		add_text(round, "max_split_size_mb:%d",
		    (int)(below(round, 2) ? 30 + 10 * below(round, 8) : 21 + below(round, 100)));
	if (below(round, 4) == 0)
		add_text(round, "roundup_power2_divisions:%d", 2 << below(round, 4));
	else if (list && below(round, 4) == 0)
		add_text(
		    round, "roundup_power2_divisions:[2:2,16:4,64:%d,>:8]", 1 << below(round, 4));
	if (below(round, 3) == 0)
		add_text(round, "garbage_collection_threshold:0.%d", (int)(1 + below(round, 9)));
	if (round->torch >= GA_TORCH(2, 6) && below(round, 4) == 0)
		add_text(round, "max_non_split_rounding_mb:%d", (int)(21 + below(round, 60)));
	if (round->torch >= GA_TORCH(2, 11) && below(round, 4) == 0)
		add_text(round, "large_segment_size_mb:%d", (int)(11 + below(round, 10)));
}

static void begin(struct round *round)
{
	static const int releases[] = {GA_TORCH(1, 13), GA_TORCH(2, 0), GA_TORCH(2, 6),
	    GA_TORCH(2, 9), GA_TORCH(2, 10), GA_TORCH(2, 11), GA_TORCH(2, 12), GA_TORCH(2, 13),
	    GA_TORCH(2, 14), GA_TORCH(2, 15)};
	uint64_t device = (200 + below(round, 3000)) * GA_MIB;
	enum ga_address_order order = (enum ga_address_order)below(round, 3);
	uint32_t seed = (uint32_t)random_next(round);
	round->torch = releases[below(round, sizeof(releases) / sizeof(*releases))];
	do
		choose_text(round);
	while (ga_allocator_settings_parse(round->torch, round->text, &round->settings, NULL));
	round->settings.expandable = round->torch >= GA_TORCH(2, 1) && below(round, 2);
	round->live_count = round->waiting_count = 0;
	round->tags = round->capture = round->pools = round->released = 0;
	round->streams = 1 + (uint32_t)below(round, 4);
	round->device = device;
	round->largest = device / (8 + below(round, 40));
	ga_alloc_driver_fresh(&round->fast_driver, device - device / 10, order, seed);
	ga_alloc_driver_fresh(&round->slow_driver, device - device / 10, order, seed);
	round->fast = ga_allocator_new(
	    &round->settings, device, &round->fast_driver, tell, &round->fast_told);
	round->slow =
	    slow_new(&round->settings, device, &round->slow_driver, tell, &round->slow_told);
}

static uint64_t choose_size(struct round *round)
{
	switch (below(round, 8)) {
	case 0:
		return 1 + below(round, 2048);
	case 1:
		return 512 * (1 + below(round, 4));
	case 2:
	case 3:
		return 1 + below(round, 2 * GA_MIB);
	case 4:
		return GA_MIB * (1 + below(round, 12));
	case 5:
		if (below(round, 40) == 0) /* more than a reservation holds */
			return round->device + round->device / 8 + below(round, 64) * GA_MIB;
		return below(round, 2) ? 1 + below(round, round->largest)
				       : 10 * GA_MIB * (1 + below(round, 15));
	default:
		return 1 + below(round, (UINT64_C(1) << (8 + below(round, 18))));
	}
}

static void allocate(struct round *round)
{
	uint64_t size = choose_size(round);
	uint64_t stream = 1000 * below(round, round->streams);
	uint32_t pool = round->capture && below(round, 4) ? round->capture : 0;
	struct item item = {.tag = ++round->tags};
	item.fast = ga_allocator_allocate(round->fast, size, stream, pool, item.tag);
	item.slow = slow_allocate(round->slow, size, stream, pool);
	/* What waited may have been completed by the call. */
	for (size_t i = 0; i < round->waiting_count;)
		if (slow_waits(round->slow, round->waiting[i].slow) &&
		    round->waiting[i].slow != item.slow)
			i++;
		else
			round->waiting[i] = round->waiting[--round->waiting_count];
	if (item.fast && item.slow)
		round->live[round->live_count++] = item;
}

static void release(struct round *round)
{
	size_t index = below(round, round->live_count);
	struct item item = round->live[index];
	bool waits = round->waiting_count < LIVE && below(round, 10) == 0;
	round->live[index] = round->live[--round->live_count];
	ga_allocator_free(round->fast, item.fast, waits);
	slow_free(round->slow, item.slow, waits);
	if (waits)
		round->waiting[round->waiting_count++] = item;
}

static void make_ready(struct round *round)
{
	size_t index = below(round, round->waiting_count);
	struct item item = round->waiting[index];
	round->waiting[index] = round->waiting[--round->waiting_count];
	ga_allocator_ready(round->fast, item.fast, item.tag);
	slow_ready(round->slow, item.slow);
}

static void capture(struct round *round)
{
	if (round->capture) {
		ga_allocator_capture_end(round->fast);
		slow_capture_end(round->slow);
		round->capture = 0;
	} else if (round->released < round->pools && below(round, 2)) {
		uint32_t pool = ++round->released;
		ga_allocator_pool_release(round->fast, pool);
		slow_pool_release(round->slow, pool);
	} else if (round->pools < 20) {
		round->capture = ++round->pools;
		ga_allocator_capture_begin(round->fast, round->capture);
		slow_capture_begin(round->slow, round->capture);
	}
}

static void change_settings(struct round *round)
{
	if (below(round, 2)) {
		round->settings.expandable =
		    round->torch >= GA_TORCH(2, 1) && !round->settings.expandable;
	} else {
		choose_text(round);
		ga_allocator_settings_change(&round->settings, round->text, NULL);
	}
	ga_allocator_change(round->fast, &round->settings);
	slow_set_settings(round->slow, &round->settings);
}

static void rare(struct round *round)
{
	double fraction = (double)(3 + below(round, 8)) / 10;
	switch (below(round, 8)) {
	case 0:
		if (round->capture)
			break;
		ga_allocator_empty_cache(round->fast);
		slow_empty_cache(round->slow);
		round->waiting_count = 0;
		break;
	case 1:
		ga_allocator_set_fraction(round->fast, fraction);
		slow_set_fraction(round->slow, fraction);
		break;
	case 2:
		change_settings(round);
		break;
	default:
		capture(round);
		break;
	}
}

static bool same(struct round *round)
{
	bool equal = round->fast_told.count == round->slow_told.count;
	for (size_t i = 0; equal && i < round->fast_told.count; i++) {
		const struct ga_history_entry *fast = &round->fast_told.entries[i];
		const struct ga_history_entry *slow = &round->slow_told.entries[i];
		equal = fast->action == slow->action && fast->address == slow->address &&
			fast->size == slow->size && fast->stream == slow->stream;
	}
	return equal;
}

static bool same_state(struct round *round)
{
	struct ga_reserved_split fast = ga_allocator_split(round->fast),
				 slow = slow_split(round->slow);
	uint64_t reserved = ga_allocator_counts(round->fast)->reserved;
	const char *wrong = ga_allocator_check(round->fast);
	if (wrong)
		printf("# %s\n", wrong);
	return !wrong && memcmp(&fast, &slow, sizeof(fast)) == 0 &&
	       reserved == slow_reserved(round->slow) &&
	       reserved == round->fast_driver.used_bytes &&
	       reserved ==
		   fast.requested + fast.rounding + fast.pending + fast.releasable + fast.stuck;
}

static void print_told(const char *whose, const struct told *told)
{
	for (size_t i = 0; i < told->count; i++)
		printf("# %s: %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", whose,
		    ga_history_word(told->entries[i].action), told->entries[i].address,
		    told->entries[i].size, told->entries[i].stream);
}

static void add_counts(struct ga_allocator_counts *sum, const struct ga_allocator_counts *counts)
{
	sum->allocs += counts->allocs;
	sum->retries += counts->retries;
	sum->ooms += counts->ooms;
	sum->segment_allocs += counts->segment_allocs;
	sum->segment_frees += counts->segment_frees;
	sum->maps += counts->maps;
	sum->unmaps += counts->unmaps;
	sum->collections += counts->collections;
}

static bool play(struct round *round)
{
	begin(round);
	bool equal = true;
	uint64_t limit = 20 + below(round, LIVE - 20), bias = 0;
	for (round->event = 0; round->event < ROUND_EVENTS && equal; round->event++) {
		uint64_t choice = below(round, 200);
		if (round->event % 100 == 0) /* the program grows, shrinks, or stays */
			bias = 80 + below(round, 100);
		round->fast_told.count = round->slow_told.count = 0;
		if (choice == 0)
			rare(round);
		else if (choice < 12 && round->waiting_count)
			make_ready(round);
		else if (round->live_count < limit && choice < bias)
			allocate(round);
		else if (round->live_count)
			release(round);
		equal = same(round);
		if (equal && round->event % CHECK_EVERY == 0)
			equal = same_state(round);
	}
	if (!equal) {
		printf("# event %" PRIu64 ", PyTorch %d.%d, \"%s\"\n", round->event,
		    round->torch / 1000, round->torch % 1000, round->text);
		print_told("fast", &round->fast_told);
		print_told("slow", &round->slow_told);
	}
	add_counts(&round->seen, ga_allocator_counts(round->fast));
	ga_allocator_destroy(round->fast);
	slow_destroy(round->slow);
	return equal;
}

int main(int argc, char **argv)
{
	static struct round round;
	uint64_t events = 100000, seed = 1, played = 0;
	for (int i = 1; i + 1 < argc; i += 2)
		*(strcmp(argv[i], "--seed") == 0 ? &seed : &events) =
		    strtoull(argv[i + 1], NULL, 10);
	bool equal = true;
	for (uint64_t number = 0; played < events && equal; number++) {
		round.random = (seed + number) * UINT64_C(0x9e3779b97f4a7c15) | 1;
		equal = play(&round);
		played += round.event;
		if (!equal)
			printf("# --seed %" PRIu64 " shows it at once\n", seed + number);
	}
	printf("# %" PRIu64 " blocks, %" PRIu64 " retries, %" PRIu64 " refused, %" PRIu64
	       " collections; segments %" PRIu64 " made, %" PRIu64 " freed; pages %" PRIu64
	       " mapped, %" PRIu64 " unmapped\n",
	    round.seen.allocs, round.seen.retries, round.seen.ooms, round.seen.collections,
	    round.seen.segment_allocs, round.seen.segment_frees, round.seen.maps,
	    round.seen.unmaps);
	printf("%s 1 - the model agrees with its twin on %" PRIu64 " random events\n1..1\n",
	    equal ? "ok" : "not ok", played);
	return !equal;
}
