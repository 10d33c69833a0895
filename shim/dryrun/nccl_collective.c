/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Collectives: each rank posts what it contributes, waits for those whose data it needs, and works
 * out its own result from their posts.
 */
#include <stdlib.h>
#include <string.h>

#include "nccl_driver.h"
#include "nccl_plan.h"
#include "nccl_reduce.h"

struct collective {
	struct ncclComm *comm;
	const struct gd_nccl_task *task;
	uint64_t number; /* from 1 */
	bool real;
};

/* Who has to come before the rank can end.  Like NCCL, who only gives goes on at once as long as
 * the message fits into a buffer. */
static uint64_t needed(const struct collective *c)
{
	const struct ncclComm *comm = c->comm;
	int32_t root = c->task->root;

	switch (c->task->call) {
	case GD_NCCL_BROADCAST:
	case GD_NCCL_SCATTER:
		if (c->real)
			return UINT64_C(1) << root;
		break;
	case GD_NCCL_REDUCE:
	case GD_NCCL_GATHER:
		if (c->real && comm->rank != root)
			return UINT64_C(1) << comm->rank;
		break;
	default:
		break;
	}
	return gd_nccl_everybody(comm);
}

/* Who of some ranks has not come to a collective yet (or, `taken`, still reads its posts). */
static uint64_t missing(const struct collective *c, uint64_t ranks, bool taken)
{
	const struct gd_nccl_rank *all = c->comm->segment.shared->rank;
	uint64_t late = 0;

	for (int r = 0; r < c->comm->ranks; r++) {
		const _Atomic uint64_t *counter = taken ? &all[r].taken : &all[r].posted;

		if (ranks >> r & 1 && atomic_load(counter) < c->number - taken)
			late |= UINT64_C(1) << r;
	}
	return late;
}

static bool await(const struct collective *c, uint64_t ranks, bool taken)
{
	for (;;) {
		uint32_t seen = gd_nccl_bell(&c->comm->segment);
		uint64_t late = missing(c, ranks, taken);

		if (!late)
			return true;
		if (!gd_nccl_wait(c->comm, seen, late))
			return false;
	}
}

static void post(const struct collective *c, uint64_t start_ns)
{
	const struct gd_nccl_task *task = c->task;
	struct ncclComm *comm = c->comm;
	struct gd_nccl_rank *own = &comm->segment.shared->rank[comm->rank];
	uint64_t bytes = gd_nccl_bytes_sent(task, comm->ranks, comm->rank);
	char *area = gd_nccl_area(&comm->segment, comm->rank);

	own->order = (struct gd_nccl_order){.count = task->count,
	    .call = task->call,
	    .type = task->type,
	    .op = task->op,
	    .root = task->root};
	own->start_ns = start_ns;
	own->unknown = false;
	if (c->real && bytes) {
		own->unknown = gd_nccl_driver()->unknown(
		    gd_nccl_unknown(&comm->segment, area), task->send, bytes);
		if (gd_nccl_driver()->read(area, task->send, bytes) != 0)
			memset(area, 0, bytes);
		gd_nccl_premultiply(task, area, comm->ranks);
	}
	atomic_store(&own->posted, c->number);
	gd_nccl_ring(&comm->segment);
}

static const char *difference(const struct gd_nccl_order *a, const struct gd_nccl_order *b)
{
	if (a->call != b->call)
		return "the operation";
	if (a->type != b->type)
		return "the data type";
	if (a->count != b->count)
		return "the number of elements";
	if (a->op != b->op)
		return "the reduction";
	return a->root != b->root ? "the root" : NULL;
}

static bool agree(const struct collective *c, uint64_t ranks)
{
	const struct gd_nccl_rank *all = c->comm->segment.shared->rank;

	for (int r = 0; r < c->comm->ranks; r++) {
		const char *what;

		if (!(ranks >> r & 1))
			continue;
		what = difference(&all[r].order, &all[c->comm->rank].order);
		if (!what)
			continue;
		gd_nccl_mismatch(c->comm, r, what);
		return false;
	}
	return true;
}

/* What a rank did not know, the result does not. */
static void forget(
    const struct collective *c, int rank, uint64_t offset, char *result, uint64_t bytes)
{
	const struct gd_nccl_segment *segment = &c->comm->segment;

	if (segment->shared->rank[rank].unknown)
		gd_nccl_driver()->forget(
		    result, gd_nccl_unknown(segment, gd_nccl_area(segment, rank)) + offset, bytes);
}

static void store_block(
    const struct collective *c, int rank, uint64_t offset, char *to, uint64_t bytes)
{
	gd_nccl_driver()->write(to, gd_nccl_area(&c->comm->segment, rank) + offset, bytes);
	forget(c, rank, offset, to, bytes);
}

/* What lies in the areas of the other ranks, from `offset` on, one block of each. */
static void store_blocks(const struct collective *c, uint64_t offset, uint64_t block)
{
	for (int r = 0; r < c->comm->ranks; r++)
		store_block(c, r, offset, (char *)c->task->receive + block * (uint64_t)r, block);
}

static void store_reduced(const struct collective *c, uint64_t offset, uint64_t block)
{
	const char *from[GD_NCCL_MAX_RANKS];
	char *result = malloc(block);

	for (int r = 0; r < c->comm->ranks; r++)
		from[r] = gd_nccl_area(&c->comm->segment, r) + offset;
	if (result)
		gd_nccl_reduce(
		    c->task->type, c->task->op, from, c->comm->ranks, c->task->count, result);
	gd_nccl_driver()->write(c->task->receive, result, block);
	for (int r = 0; r < c->comm->ranks; r++)
		forget(c, r, offset, c->task->receive, block);
	free(result);
}

static void store_result(const struct collective *c)
{
	const struct gd_nccl_task *task = c->task;
	const struct ncclComm *comm = c->comm;
	uint64_t block = task->count * gd_nccl_type_bytes(task->type);
	uint64_t own = block * (uint64_t)comm->rank;

	switch (task->call) {
	case GD_NCCL_ALL_REDUCE:
	case GD_NCCL_REDUCE:
		store_reduced(c, 0, block);
		break;
	case GD_NCCL_REDUCE_SCATTER:
		store_reduced(c, own, block);
		break;
	case GD_NCCL_ALL_TO_ALL:
		store_blocks(c, own, block);
		break;
	case GD_NCCL_BROADCAST:
	case GD_NCCL_SCATTER:
		store_block(
		    c, task->root, task->call == GD_NCCL_SCATTER ? own : 0, task->receive, block);
		break;
	default:
		store_blocks(c, 0, block);
		break;
	}
}

static void finish(const struct collective *c, bool same)
{
	const struct gd_nccl_task *task = c->task;
	uint64_t bytes = gd_nccl_bytes_received(task, c->comm->ranks, c->comm->rank);
	bool in_place_root = task->call == GD_NCCL_BROADCAST && task->root == c->comm->rank &&
			     task->send == task->receive;

	if (!same || !bytes || in_place_root)
		return;
	if (c->real)
		store_result(c);
	else
		gd_nccl_driver()->write(task->receive, NULL, bytes);
}

static uint64_t last_start(const struct collective *c, uint64_t ranks, uint64_t start_ns)
{
	for (int r = 0; r < c->comm->ranks; r++) {
		uint64_t other = c->comm->segment.shared->rank[r].start_ns;

		if (ranks >> r & 1 && other > start_ns)
			start_ns = other;
	}
	return start_ns;
}

uint64_t gd_nccl_run_collective(
    struct ncclComm *comm, const struct gd_nccl_task *task, uint64_t start_ns)
{
	struct collective c = {.comm = comm, .task = task, .number = comm->collectives + 1};
	struct gd_nccl_shared *shared = comm->segment.shared;
	uint64_t others;

	comm->collectives = c.number;
	c.real = gd_nccl_bytes_contributed(task, comm->ranks) <= comm->segment.area_bytes;
	others = needed(&c);
	if (!await(&c, gd_nccl_everybody(comm), true))
		return start_ns;
	post(&c, start_ns);
	if (!await(&c, others, false))
		return start_ns;
	finish(&c, agree(&c, others));
	start_ns = last_start(&c, others, start_ns);
	atomic_store(&shared->rank[comm->rank].taken, c.number);
	gd_nccl_ring(&comm->segment);
	return start_ns;
}
