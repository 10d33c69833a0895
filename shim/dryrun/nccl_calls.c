/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that enqueue operations, and the operators they reduce by. */
#include <string.h>

#include "nccl_driver.h"
#include "nccl_errors.h"
#include "nccl_group.h"

static int check(const struct ncclComm *comm, const struct gd_nccl_task *task, int op)
{
	const char *name = gd_nccl_call_word(task->call);

	if (!gd_nccl_ready(comm, name))
		return GD_NCCL_InvalidArgument;
	if (atomic_load(&comm->aborted) || comm->suspended)
		return gd_nccl_fail(GD_NCCL_InvalidUsage, "%s: the communicator was %s", name,
		    comm->suspended ? "suspended" : "aborted or revoked");
	if (task->type >= GD_NCCL_TYPE_COUNT)
		return gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "%s : invalid type %d", name, (int)task->type);
	if (task->root < -1 || task->root >= comm->ranks)
		return gd_nccl_fail(GD_NCCL_InvalidArgument,
		    "%s : invalid root %d (root should be in the 0..%d range)", name, task->root,
		    comm->ranks - 1);
	if (op < 0 || op >= GD_NCCL_BUILT_IN + GD_NCCL_MADE_OPERATORS ||
	    (op >= GD_NCCL_BUILT_IN && !comm->made[op - GD_NCCL_BUILT_IN].used))
		return gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "%s : invalid reduction operation %d", name, op);
	if (op >= GD_NCCL_BUILT_IN && comm->made[op - GD_NCCL_BUILT_IN].type != task->type)
		return gd_nccl_fail(GD_NCCL_InvalidArgument,
		    "%s : the reduction operation was made for another data type", name);
	return GD_NCCL_Success;
}

/* A rank's buffers: NULL where something would be read or written. */
static int check_buffers(const struct ncclComm *comm, const struct gd_nccl_task *task)
{
	if ((task->send || !gd_nccl_bytes_sent(task, comm->ranks, comm->rank)) &&
	    (task->receive || !gd_nccl_bytes_received(task, comm->ranks, comm->rank)))
		return GD_NCCL_Success;
	return gd_nccl_fail(
	    GD_NCCL_InvalidArgument, "%s : buffer is NULL", gd_nccl_call_word(task->call));
}

static int enqueue(struct ncclComm *comm, struct gd_nccl_task task, int op, CUstream stream)
{
	uint64_t most = UINT64_MAX / (8 * GD_NCCL_MAX_RANKS);
	int status = check(comm, &task, op);

	if (status == GD_NCCL_Success && task.count > most)
		status = gd_nccl_fail(GD_NCCL_InvalidArgument, "too many elements");
	if (status == GD_NCCL_Success)
		status = check_buffers(comm, &task);
	if (status != GD_NCCL_Success)
		return gd_nccl_group_status(status);
	if (!task.count)
		return GD_NCCL_Success;
	task.op = op < GD_NCCL_BUILT_IN ? (uint32_t)op : GD_NCCL_BUILT_IN;
	if (op >= GD_NCCL_BUILT_IN)
		task.premultiply = comm->made[op - GD_NCCL_BUILT_IN];
	return gd_nccl_group_add(comm, &task, stream);
}

static struct gd_nccl_task task_of(
    enum gd_nccl_call call, const void *send, void *receive, uint64_t count, int type, int root)
{
	return (struct gd_nccl_task){.call = call,
	    .send = send,
	    .receive = receive,
	    .count = count,
	    .type = (uint32_t)type,
	    .root = root};
}

int ncclAllReduce(const void *send, void *receive, size_t count, int type, int op,
    struct ncclComm *comm, CUstream stream)
{
	return enqueue(
	    comm, task_of(GD_NCCL_ALL_REDUCE, send, receive, count, type, -1), op, stream);
}

/* A call with a root or peer; -1 stands for none inside, so it is refused here. */
static int rooted(struct ncclComm *comm, struct gd_nccl_task task, int op, CUstream stream)
{
	if (task.root < 0)
		task.root = INT_MAX;
	return enqueue(comm, task, op, stream);
}

int ncclBroadcast(const void *send, void *receive, size_t count, int type, int root,
    struct ncclComm *comm, CUstream stream)
{
	return rooted(
	    comm, task_of(GD_NCCL_BROADCAST, send, receive, count, type, root), 0, stream);
}

int ncclBcast(
    void *buffer, size_t count, int type, int root, struct ncclComm *comm, CUstream stream)
{
	return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

int ncclReduce(const void *send, void *receive, size_t count, int type, int op, int root,
    struct ncclComm *comm, CUstream stream)
{
	return rooted(comm, task_of(GD_NCCL_REDUCE, send, receive, count, type, root), op, stream);
}

int ncclAllGather(
    const void *send, void *receive, size_t count, int type, struct ncclComm *comm, CUstream stream)
{
	return enqueue(
	    comm, task_of(GD_NCCL_ALL_GATHER, send, receive, count, type, -1), 0, stream);
}

int ncclReduceScatter(const void *send, void *receive, size_t count, int type, int op,
    struct ncclComm *comm, CUstream stream)
{
	return enqueue(
	    comm, task_of(GD_NCCL_REDUCE_SCATTER, send, receive, count, type, -1), op, stream);
}

int ncclAlltoAll(
    const void *send, void *receive, size_t count, int type, struct ncclComm *comm, CUstream stream)
{
	return enqueue(
	    comm, task_of(GD_NCCL_ALL_TO_ALL, send, receive, count, type, -1), 0, stream);
}

int ncclGather(const void *send, void *receive, size_t count, int type, int root,
    struct ncclComm *comm, CUstream stream)
{
	return rooted(comm, task_of(GD_NCCL_GATHER, send, receive, count, type, root), 0, stream);
}

int ncclScatter(const void *send, void *receive, size_t count, int type, int root,
    struct ncclComm *comm, CUstream stream)
{
	return rooted(comm, task_of(GD_NCCL_SCATTER, send, receive, count, type, root), 0, stream);
}

int ncclSend(
    const void *send, size_t count, int type, int peer, struct ncclComm *comm, CUstream stream)
{
	return rooted(comm, task_of(GD_NCCL_SEND, send, NULL, count, type, peer), 0, stream);
}

int ncclRecv(
    void *receive, size_t count, int type, int peer, struct ncclComm *comm, CUstream stream)
{
	return rooted(comm, task_of(GD_NCCL_RECEIVE, NULL, receive, count, type, peer), 0, stream);
}

int ncclRedOpCreatePreMulSum(int *op, void *scalar, int type, int residence, struct ncclComm *comm)
{
	struct gd_nccl_premultiply made = {.used = true, .type = (uint32_t)type};

	if (!gd_nccl_valid(comm, "ncclRedOpCreatePreMulSum"))
		return GD_NCCL_InvalidArgument;
	if (!op || !scalar || made.type >= GD_NCCL_TYPE_COUNT || residence < 0 || residence > 1)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclRedOpCreatePreMulSum");
	if (residence == 0) /* on the device */
		made.address = scalar;
	else
		memcpy(made.value, scalar, gd_nccl_type_bytes(made.type));
	pthread_mutex_lock(&comm->lock);
	for (int i = 0; i < GD_NCCL_MADE_OPERATORS; i++) {
		if (comm->made[i].used)
			continue;
		comm->made[i] = made;
		*op = GD_NCCL_BUILT_IN + i;
		pthread_mutex_unlock(&comm->lock);
		return GD_NCCL_Success;
	}
	pthread_mutex_unlock(&comm->lock);
	return gd_nccl_fail(GD_NCCL_SystemError, "the stand-in has %d made operators at most",
	    GD_NCCL_MADE_OPERATORS);
}

int ncclRedOpDestroy(int op, struct ncclComm *comm)
{
	int place = op - GD_NCCL_BUILT_IN, status = GD_NCCL_InvalidArgument;

	if (!gd_nccl_valid(comm, "ncclRedOpDestroy"))
		return GD_NCCL_InvalidArgument;
	if (place >= 0 && place < GD_NCCL_MADE_OPERATORS) {
		pthread_mutex_lock(&comm->lock);
		if (comm->made[place].used)
			status = GD_NCCL_Success;
		comm->made[place].used = false;
		pthread_mutex_unlock(&comm->lock);
	}
	return status == GD_NCCL_Success
		   ? status
		   : gd_nccl_fail(status, "ncclRedOpDestroy : operator unknown to communicator.");
}
