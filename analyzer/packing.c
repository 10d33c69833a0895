/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/packing.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/xalloc.h"

/* A placed block. */
struct placed {
	uint64_t from, to; /* addresses */
	uint32_t start, end;
};

struct plan {
	struct placed *placed; /* by address */
	size_t count;
	uint64_t steps_left;
};

struct ranked {
	double rank;
	uint32_t block;
};

/* Highest rank first; ties in the order given, so that results do not depend on qsort. */
static int by_rank(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	if (left->rank != right->rank)
		return left->rank > right->rank ? -1 : 1;
	return left->block < right->block ? -1 : left->block > right->block;
}

/* Lowest address at which the block meets none that lives at the same time. */
static uint64_t lowest_gap(struct plan *plan, const struct ga_lifetime *block)
{
	uint64_t at = 0;
	size_t i = 0;
	for (; i < plan->count; i++) {
		const struct placed *other = &plan->placed[i];
		if (other->end <= block->start || other->start >= block->end)
			continue;
		if (other->from >= at + block->size)
			break;
		at = other->to > at ? other->to : at;
	}
	plan->steps_left -= i < plan->steps_left ? i : plan->steps_left;
	return at;
}

static void place(struct plan *plan, const struct ga_lifetime *block, uint64_t address)
{
	size_t low = 0, high = plan->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (plan->placed[middle].from < address)
			low = middle + 1;
		else
			high = middle;
	}
	memmove(plan->placed + low + 1, plan->placed + low,
	    (plan->count - low) * sizeof(*plan->placed));
	plan->placed[low] =
	    (struct placed){address, address + block->size, block->start, block->end};
	plan->count++;
}

/* Height when blocks are placed in the given order, 0 if it takes too long. */
static uint64_t pack_in_order(
    struct plan *plan, const struct ga_lifetime *blocks, size_t count, const struct ranked *order)
{
	uint64_t height = 0;
	plan->count = 0;
	for (size_t i = 0; i < count; i++) {
		const struct ga_lifetime *block = &blocks[order[i].block];
		uint64_t address = lowest_gap(plan, block);
		if (!plan->steps_left)
			return 0;
		place(plan, block, address);
		if (address + block->size > height)
			height = address + block->size;
	}
	return height;
}

uint64_t ga_pack(const struct ga_lifetime *blocks, size_t count, uint64_t steps_max)
{
	struct plan plan = {.placed = ga_xalloc(count, sizeof(*plan.placed))};
	struct ranked *order = ga_xalloc(count, sizeof(*order));
	uint64_t best = 0;
	for (int by_life = 0; by_life < 2 && count; by_life++) {
		for (size_t i = 0; i < count; i++) {
			double life = by_life ? (double)(blocks[i].end - blocks[i].start) : 1;
			order[i] = (struct ranked){(double)blocks[i].size * life, (uint32_t)i};
		}
		qsort(order, count, sizeof(*order), by_rank);
		plan.steps_left = steps_max;
		uint64_t height = pack_in_order(&plan, blocks, count, order);
		if (height && (!best || height < best))
			best = height;
	}
	free(order);
	free(plan.placed);
	return best;
}
