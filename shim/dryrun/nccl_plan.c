/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "nccl_errors.h"

unsigned gd_nccl_type_bytes(uint32_t type)
{
#define GD_NCCL_TYPE_BYTES(name, number, bytes, word) [number] = bytes,
	static const unsigned char sizes[] = {GD_NCCL_TYPES(GD_NCCL_TYPE_BYTES)};

	return sizes[type];
}

const char *gd_nccl_type_word(uint32_t type)
{
#define GD_NCCL_TYPE_WORD(name, number, bytes, word) [number] = word,
	static const char *const words[] = {GD_NCCL_TYPES(GD_NCCL_TYPE_WORD)};

	return words[type];
}

const char *gd_nccl_call_word(enum gd_nccl_call call)
{
#define GD_NCCL_CALL_WORD(name, word, reduces) [GD_NCCL_##name] = word,
	static const char *const words[] = {GD_NCCL_CALLS(GD_NCCL_CALL_WORD)};

	return words[call];
}

/* Blocks of `count` elements, for all ranks or for one. */
static uint64_t blocks(const struct gd_nccl_task *task, uint64_t number)
{
	return task->count * gd_nccl_type_bytes(task->type) * number;
}

uint64_t gd_nccl_bytes_sent(const struct gd_nccl_task *task, int ranks, int rank)
{
	switch (task->call) {
	case GD_NCCL_REDUCE_SCATTER:
	case GD_NCCL_ALL_TO_ALL:
		return blocks(task, (uint64_t)ranks);
	case GD_NCCL_BROADCAST:
		return rank == task->root ? blocks(task, 1) : 0;
	case GD_NCCL_SCATTER:
		return rank == task->root ? blocks(task, (uint64_t)ranks) : 0;
	case GD_NCCL_RECEIVE:
		return 0;
	default:
		return blocks(task, 1);
	}
}

uint64_t gd_nccl_bytes_received(const struct gd_nccl_task *task, int ranks, int rank)
{
	switch (task->call) {
	case GD_NCCL_ALL_GATHER:
	case GD_NCCL_ALL_TO_ALL:
		return blocks(task, (uint64_t)ranks);
	case GD_NCCL_REDUCE:
		return rank == task->root ? blocks(task, 1) : 0;
	case GD_NCCL_GATHER:
		return rank == task->root ? blocks(task, (uint64_t)ranks) : 0;
	case GD_NCCL_SEND:
		return 0;
	default:
		return blocks(task, 1);
	}
}

uint64_t gd_nccl_bytes_contributed(const struct gd_nccl_task *task, int ranks)
{
	switch (task->call) {
	case GD_NCCL_REDUCE_SCATTER:
	case GD_NCCL_ALL_TO_ALL:
	case GD_NCCL_SCATTER:
		return blocks(task, (uint64_t)ranks);
	default:
		return blocks(task, 1);
	}
}

/* ---- the model of time: a ring over all ranks, each link carries its part once a step ---- */

static void add_link_work(struct gd_meeting *meeting, const struct gd_nccl_task *task, int ranks)
{
	uint64_t one = blocks(task, 1), others = (uint64_t)ranks - 1;

	switch (task->call) {
	case GD_NCCL_ALL_REDUCE: /* reduce-scatter, then all-gather, of n-ths */
		meeting->link_bytes += 2 * others * one / (uint64_t)ranks;
		meeting->steps += 2 * (uint32_t)others;
		break;
	case GD_NCCL_SEND:
	case GD_NCCL_RECEIVE:
		meeting->link_bytes += one;
		meeting->steps = 1;
		break;
	case GD_NCCL_BROADCAST:
	case GD_NCCL_REDUCE: /* a pipeline */
		meeting->link_bytes += one;
		meeting->steps += (uint32_t)others;
		break;
	default: /* one block for or from each other rank */
		meeting->link_bytes += others * one;
		meeting->steps += (uint32_t)others;
		break;
	}
}

/* Both directions of a link work at once. */
static void describe_link(struct gd_meeting *meeting, const struct gd_nccl_plan *plan)
{
	struct gd_meeting out = {.steps = 0}, in = {.steps = 0};

	for (uint32_t i = 0; i < plan->task_count; i++) {
		const struct gd_nccl_task *task = &plan->tasks[i];

		add_link_work(task->call == GD_NCCL_RECEIVE ? &in : &out, task, plan->comm->ranks);
	}
	meeting->link_bytes = in.link_bytes > out.link_bytes ? in.link_bytes : out.link_bytes;
	meeting->steps = in.steps > out.steps ? in.steps : out.steps;
	if (!meeting->steps)
		meeting->steps = 1;
}

/* ---- turns ---- */

static uint64_t arrive(void *user)
{
	const struct gd_nccl_plan *plan = user;

	return atomic_fetch_add(&plan->comm->enqueued, 1);
}

/* Numbers are never skipped, so an aborted communicator only stops waiting. */
static void take_turn(struct ncclComm *comm, uint64_t number)
{
	pthread_mutex_lock(&comm->lock);
	while (comm->turn != number && !atomic_load(&comm->aborted))
		pthread_cond_wait(&comm->changed, &comm->lock);
	pthread_mutex_unlock(&comm->lock);
}

static void end_turn(struct ncclComm *comm)
{
	pthread_mutex_lock(&comm->lock);
	comm->turn++;
	pthread_cond_broadcast(&comm->changed);
	pthread_mutex_unlock(&comm->lock);
}

static uint64_t meet(void *user, uint64_t number, uint64_t start_ns)
{
	const struct gd_nccl_plan *plan = user;
	struct ncclComm *comm = plan->comm;
	uint64_t met_ns = start_ns;

	take_turn(comm, number);
	if (atomic_load(&comm->aborted))
		; /* what it would have written stays as it is */
	else if (gd_nccl_is_message(plan->tasks[0].call))
		met_ns = gd_nccl_run_messages(comm, plan->tasks, plan->task_count, start_ns);
	else
		met_ns = gd_nccl_run_collective(comm, plan->tasks, start_ns);
	end_turn(comm);
	return met_ns;
}

static void drop(void *user)
{
	struct gd_nccl_plan *plan = user;

	gd_nccl_drop(plan->comm);
	free(plan);
}

bool gd_nccl_plan_make(struct ncclComm *comm, const struct gd_nccl_task *tasks, uint32_t count,
    struct gd_meeting *meeting_out)
{
	struct gd_nccl_plan *plan = malloc(sizeof(*plan) + count * sizeof(*tasks));

	if (!plan)
		return false;
	gd_nccl_hold(comm);
	plan->comm = comm;
	plan->task_count = count;
	memcpy(plan->tasks, tasks, count * sizeof(*tasks));
	*meeting_out =
	    (struct gd_meeting){.arrive = arrive, .meet = meet, .drop = drop, .user = plan};
	describe_link(meeting_out, plan);
	return true;
}

/* ---- what both kinds of operations need while they wait ---- */

void gd_nccl_mismatch(struct ncclComm *comm, int other, const char *what)
{
	if (comm->told_mismatch)
		return;
	comm->told_mismatch = true;
	fprintf(stderr,
	    "gpushim dryrun: NCCL: ranks %d and %d of a communicator differ in %s; nothing was "
	    "exchanged\n",
	    comm->rank, other, what);
	gd_nccl_fail(GD_NCCL_InvalidUsage, "ranks %d and %d differ in %s", comm->rank, other, what);
	gd_nccl_failed(comm, GD_NCCL_InvalidUsage);
}

static void look_for_dead(struct ncclComm *comm, uint64_t needed)
{
	for (int r = 0; r < comm->ranks; r++) {
		if (!(needed >> r & 1) || !gd_nccl_gone(&comm->segment, r))
			continue;
		if (gd_nccl_failed(comm, GD_NCCL_RemoteError))
			gd_nccl_fail(GD_NCCL_RemoteError,
			    "rank %d waits for rank %d, which is gone", comm->rank, r);
	}
}

bool gd_nccl_wait(struct ncclComm *comm, uint32_t seen, uint64_t needed)
{
	if (atomic_load(&comm->aborted))
		return false;
	if (!gd_nccl_sleep(&comm->segment, seen))
		look_for_dead(comm, needed);
	return !atomic_load(&comm->aborted);
}
