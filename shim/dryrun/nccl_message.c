/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sends and receives: all of a group make progress together, those between the same two ranks in
 * order.  A message that is really exchanged waits in its channel for the receiver, one that is too
 * large for that keeps its sender waiting, as NCCL's buffers would.
 */
#include <string.h>

#include "nccl_driver.h"
#include "nccl_plan.h"

enum progress { WAITING, SENT, DONE };

struct messages {
	struct ncclComm *comm;
	const struct gd_nccl_task *tasks;
	uint32_t count;
	unsigned char *progress;
	uint64_t start_ns, met_ns;
	uint64_t late; /* peers that something waits for */
};

static struct gd_nccl_channel *channel(const struct messages *m, const struct gd_nccl_task *task)
{
	struct gd_nccl_shared *shared = m->comm->segment.shared;

	return task->call == GD_NCCL_SEND ? &shared->channel[m->comm->rank][task->root]
					  : &shared->channel[task->root][m->comm->rank];
}

static uint64_t bytes_of(const struct gd_nccl_task *task)
{
	return task->count * gd_nccl_type_bytes(task->type);
}

static void met(struct messages *m, uint64_t time_ns)
{
	if (time_ns > m->met_ns)
		m->met_ns = time_ns;
}

static bool small(const struct messages *m, uint64_t bytes)
{
	return bytes <= m->comm->segment.area_bytes;
}

static enum progress try_send(
    struct messages *m, const struct gd_nccl_task *task, enum progress before)
{
	struct gd_nccl_channel *to = channel(m, task);
	uint64_t bytes = bytes_of(task), sent = atomic_load(&to->sent);
	char *room = gd_nccl_message(&m->comm->segment, m->comm->rank, task->root);

	if (atomic_load(&to->taken) != sent)
		return before;
	if (before == SENT) {
		met(m, to->taken_ns);
		return DONE;
	}
	to->bytes = bytes;
	to->type = task->type;
	to->sent_ns = m->start_ns;
	if (small(m, bytes) && gd_nccl_driver()->read(room, task->send, bytes) != 0)
		memset(room, 0, bytes);
	to->unknown =
	    small(m, bytes) &&
	    gd_nccl_driver()->unknown(gd_nccl_unknown(&m->comm->segment, room), task->send, bytes);
	atomic_store(&to->sent, sent + 1);
	gd_nccl_ring(&m->comm->segment);
	return small(m, bytes) ? DONE : SENT;
}

static void deliver(const struct messages *m, const struct gd_nccl_task *task, bool unknown)
{
	uint64_t bytes = bytes_of(task);
	char *room = gd_nccl_message(&m->comm->segment, task->root, m->comm->rank);

	gd_nccl_driver()->write(task->receive, small(m, bytes) ? room : NULL, bytes);
	if (unknown)
		gd_nccl_driver()->forget(
		    task->receive, gd_nccl_unknown(&m->comm->segment, room), bytes);
}

static enum progress try_receive(struct messages *m, const struct gd_nccl_task *task)
{
	struct gd_nccl_channel *from = channel(m, task);
	uint64_t taken = atomic_load(&from->taken);

	if (atomic_load(&from->sent) == taken)
		return WAITING;
	if (from->bytes != bytes_of(task))
		gd_nccl_mismatch(m->comm, task->root, "the size of a message");
	else
		deliver(m, task, from->unknown);
	met(m, from->sent_ns);
	from->taken_ns = m->start_ns;
	atomic_store(&from->taken, taken + 1);
	gd_nccl_ring(&m->comm->segment);
	return DONE;
}

/* @return whether all are done.  Behind one that waits, no other with the same peer and direction.
 */
static bool advance(struct messages *m)
{
	uint64_t stuck[2] = {0, 0};

	for (uint32_t i = 0; i < m->count; i++) {
		const struct gd_nccl_task *task = &m->tasks[i];
		bool sends = task->call == GD_NCCL_SEND;
		uint64_t peer = UINT64_C(1) << task->root;

		if (m->progress[i] == DONE || stuck[sends] & peer)
			continue;
		m->progress[i] =
		    (unsigned char)(sends ? try_send(m, task, (enum progress)m->progress[i])
					  : try_receive(m, task));
		if (m->progress[i] != DONE)
			stuck[sends] |= peer;
	}
	m->late = stuck[0] | stuck[1];
	return !m->late;
}

uint64_t gd_nccl_run_messages(
    struct ncclComm *comm, const struct gd_nccl_task *tasks, uint32_t count, uint64_t start_ns)
{
	unsigned char progress[count];
	struct messages m = {.comm = comm,
	    .tasks = tasks,
	    .count = count,
	    .progress = progress,
	    .start_ns = start_ns,
	    .met_ns = start_ns};

	memset(progress, WAITING, count);
	for (;;) {
		uint32_t seen = gd_nccl_bell(&comm->segment);

		if (advance(&m) || !gd_nccl_wait(comm, seen, m.late))
			return m.met_ns;
	}
}
