/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/slot_allocator.h"

#include <stdlib.h>

#define BINS 64

struct run {
	uint64_t first, count;
	struct run *next, *previous;
};

static struct run *bins[BINS]; /* bin b: runs of 2^b to 2^(b+1)-1 slots */
static struct run **edges;     /* a free run is entered at its first and its last slot */
static uint64_t slot_count;
_Static_assert(sizeof(*edges) == GD_SLOT_ENTRY_BYTES, "an entry of the table");

static unsigned bin_of(uint64_t count)
{
	return 63u - (unsigned)__builtin_clzll(count);
}

static void insert(struct run *run)
{
	struct run **bin = &bins[bin_of(run->count)];
	run->previous = NULL;
	run->next = *bin;
	if (*bin)
		(*bin)->previous = run;
	*bin = run;
	edges[run->first] = edges[run->first + run->count - 1] = run;
}

static void withdraw(struct run *run)
{
	if (run->previous)
		run->previous->next = run->next;
	else
		bins[bin_of(run->count)] = run->next;
	if (run->next)
		run->next->previous = run->previous;
	edges[run->first] = edges[run->first + run->count - 1] = NULL;
}

bool gd_slots_start(uint64_t slots, void *table)
{
	struct run *all = malloc(sizeof(*all));
	if (!all)
		return false;
	edges = table;
	slot_count = slots;
	*all = (struct run){.first = 0, .count = slots};
	insert(all);
	return true;
}

/* The smallest run that fits among a few of the own bin, else any of the next bin that has one. */
static struct run *find(uint64_t count)
{
	struct run *best = NULL;
	unsigned tries = 32;
	for (struct run *run = bins[bin_of(count)]; run && tries; run = run->next, tries--) {
		if (run->count >= count && (!best || run->count < best->count))
			best = run;
	}
	for (unsigned bin = bin_of(count) + 1; !best && bin < BINS; bin++)
		best = bins[bin];
	for (struct run *run = best ? NULL : bins[bin_of(count)]; run && !best; run = run->next)
		best = run->count >= count ? run : NULL;
	return best;
}

uint64_t gd_slots_take(uint64_t count)
{
	struct run *run = find(count);
	if (!run)
		return GD_NO_SLOT;
	withdraw(run);
	uint64_t first = run->first;
	if (run->count == count) {
		free(run);
		return first;
	}
	run->first += count;
	run->count -= count;
	insert(run);
	return first;
}

void gd_slots_give(uint64_t first, uint64_t count)
{
	struct run *left = first > 0 ? edges[first - 1] : NULL;
	struct run *right = first + count < slot_count ? edges[first + count] : NULL;
	struct run *run = left;
	if (left) {
		withdraw(left);
		left->count += count;
	} else {
		run = malloc(sizeof(*run));
		if (!run)
			return; /* loses address space, nothing else */
		*run = (struct run){.first = first, .count = count};
	}
	if (right) {
		withdraw(right);
		run->count += right->count;
		free(right);
	}
	insert(run);
}
