/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/packing.h"

#include <stdbool.h>
#include <stdlib.h>

#include "analyzer/xalloc.h"

/* Placed blocks, found by time: a tree over all blocks in order of start holds the latest end of
 * what is placed below each node, 0 for nothing. */
struct plan {
	const struct ga_lifetime *blocks;
	size_t count, leaves;
	uint32_t *ends;	  /* node 1 is the root, leaf i is node leaves + i */
	uint64_t *starts; /* address by block */
	struct span {
		uint64_t from, to;
	} * spans; /* of the neighbours of the block under way */
	size_t span_count, span_capacity;
	uint64_t steps_left;
};

struct ranked {
	double rank;
	uint32_t block;
};

static int by_start(const void *a, const void *b)
{
	uint32_t left = ((const struct ga_lifetime *)a)->start;
	uint32_t right = ((const struct ga_lifetime *)b)->start;
	return left < right ? -1 : left > right;
}

/* Highest rank first; ties in order of start, so that results do not depend on qsort. */
static int by_rank(const void *a, const void *b)
{
	const struct ranked *left = a, *right = b;
	if (left->rank != right->rank)
		return left->rank > right->rank ? -1 : 1;
	return left->block < right->block ? -1 : left->block > right->block;
}

static int by_address(const void *a, const void *b)
{
	uint64_t left = ((const struct span *)a)->from, right = ((const struct span *)b)->from;
	return left < right ? -1 : left > right;
}

/* Blocks before leaf `limit` that are placed and end after `start`. */
static void find_neighbours(
    struct plan *plan, size_t node, size_t first, size_t width, size_t limit, uint32_t start)
{
	if (first >= limit || plan->ends[node] <= start || !plan->steps_left)
		return;
	plan->steps_left--;
	if (width > 1) {
		find_neighbours(plan, 2 * node, first, width / 2, limit, start);
		find_neighbours(plan, 2 * node + 1, first + width / 2, width / 2, limit, start);
		return;
	}
	plan->spans =
	    ga_xgrow(plan->spans, plan->span_count, &plan->span_capacity, sizeof(*plan->spans));
	plan->spans[plan->span_count++] =
	    (struct span){plan->starts[first], plan->starts[first] + plan->blocks[first].size};
}

/* Number of blocks that start before a moment. */
static size_t started_before(const struct plan *plan, uint32_t moment)
{
	size_t low = 0, high = plan->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (plan->blocks[middle].start < moment)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t lowest_gap(struct plan *plan, uint64_t size)
{
	uint64_t at = 0;
	if (plan->span_count)
		qsort(plan->spans, plan->span_count, sizeof(*plan->spans), by_address);
	for (size_t i = 0; i < plan->span_count; i++) {
		if (plan->spans[i].from >= at + size)
			break;
		if (plan->spans[i].to > at)
			at = plan->spans[i].to;
	}
	return at;
}

static void place(struct plan *plan, uint32_t block, uint64_t address)
{
	plan->starts[block] = address;
	uint32_t end = plan->blocks[block].end;
	for (size_t node = plan->leaves + block; node && plan->ends[node] < end; node /= 2)
		plan->ends[node] = end;
}

/* Height when blocks are placed in the given order, 0 if it takes too long. */
static uint64_t pack_in_order(struct plan *plan, const struct ranked *order)
{
	uint64_t height = 0;
	for (size_t i = 0; i < 2 * plan->leaves; i++)
		plan->ends[i] = 0;
	for (size_t i = 0; i < plan->count; i++) {
		const struct ga_lifetime *block = &plan->blocks[order[i].block];
		plan->span_count = 0;
		find_neighbours(
		    plan, 1, 0, plan->leaves, started_before(plan, block->end), block->start);
		if (!plan->steps_left)
			return 0;
		uint64_t address = lowest_gap(plan, block->size);
		place(plan, order[i].block, address);
		if (address + block->size > height)
			height = address + block->size;
	}
	return height;
}

uint64_t ga_pack(struct ga_lifetime *blocks, size_t count, uint64_t steps_max)
{
	struct plan plan = {.blocks = blocks, .count = count, .leaves = 1};
	uint64_t best = 0;
	if (!count)
		return 0;
	qsort(blocks, count, sizeof(*blocks), by_start);
	while (plan.leaves < count)
		plan.leaves *= 2;
	plan.ends = ga_xalloc(2 * plan.leaves, sizeof(*plan.ends));
	plan.starts = ga_xalloc(count, sizeof(*plan.starts));
	struct ranked *order = ga_xalloc(count, sizeof(*order));
	for (int by_life = 0; by_life < 2; by_life++) {
		for (size_t i = 0; i < count; i++) {
			double life = by_life ? (double)(blocks[i].end - blocks[i].start) : 1;
			order[i] = (struct ranked){(double)blocks[i].size * life, (uint32_t)i};
		}
		qsort(order, count, sizeof(*order), by_rank);
		plan.steps_left = steps_max;
		uint64_t height = pack_in_order(&plan, order);
		if (height && (!best || height < best))
			best = height;
	}
	free(order);
	free(plan.ends);
	free(plan.starts);
	free(plan.spans);
	return best;
}

struct edge {
	uint32_t moment;
	bool begins;
	uint64_t size;
};

static int by_moment(const void *a, const void *b)
{
	const struct edge *left = a, *right = b;
	if (left->moment != right->moment)
		return left->moment < right->moment ? -1 : 1;
	return left->begins - right->begins; /* what ends makes room first */
}

uint64_t ga_pack_floor(const struct ga_lifetime *blocks, size_t count)
{
	struct edge *edges = ga_xalloc(2 * count, sizeof(*edges));
	for (size_t i = 0; i < count; i++) {
		edges[2 * i] = (struct edge){blocks[i].start, true, blocks[i].size};
		edges[2 * i + 1] = (struct edge){blocks[i].end, false, blocks[i].size};
	}
	qsort(edges, 2 * count, sizeof(*edges), by_moment);
	uint64_t sum = 0, peak = 0;
	for (size_t i = 0; i < 2 * count; i++) {
		sum = edges[i].begins ? sum + edges[i].size : sum - edges[i].size;
		peak = sum > peak ? sum : peak;
	}
	free(edges);
	return peak;
}
