/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What one kernel launch of NCCL does: a collective, or all sends and receives of a group.
 *
 * Made by the call, then constant; a graph may run it many times.
 */
#ifndef GD_NCCL_PLAN_H
#define GD_NCCL_PLAN_H

#include "launcher_api.h"
#include "nccl_communicator.h"

/* C(name, word in kernel names, whether it reduces) */
#define GD_NCCL_CALLS(C) \
	C(ALL_REDUCE, "AllReduce", true) \
	C(BROADCAST, "Broadcast", false) \
	C(REDUCE, "Reduce", true) \
	C(ALL_GATHER, "AllGather", false) \
	C(REDUCE_SCATTER, "ReduceScatter", true) \
	C(ALL_TO_ALL, "AlltoAll", false) \
	C(GATHER, "Gather", false) \
	C(SCATTER, "Scatter", false) \
	C(SEND, "Send", false) \
	C(RECEIVE, "Recv", false)

#define GD_NCCL_CALL_ENUM(name, word, reduces) GD_NCCL_##name,
enum gd_nccl_call { GD_NCCL_CALLS(GD_NCCL_CALL_ENUM) };
#undef GD_NCCL_CALL_ENUM

struct gd_nccl_task {
	enum gd_nccl_call call;
	const void *send;
	void *receive;
	uint64_t count;
	uint32_t type; /* enum gd_nccl_type */
	uint32_t op;   /* enum gd_nccl_operator; of a made one GD_NCCL_BUILT_IN */
	int32_t root;  /* or peer; -1 for none */
	struct gd_nccl_premultiply premultiply;
};

struct gd_nccl_plan {
	struct ncclComm *comm; /* a reference */
	uint32_t task_count;   /* more than 1: only sends and receives */
	struct gd_nccl_task tasks[];
};

static inline bool gd_nccl_is_message(enum gd_nccl_call call)
{
	return call == GD_NCCL_SEND || call == GD_NCCL_RECEIVE;
}

/** @return bytes of an element */
unsigned gd_nccl_type_bytes(uint32_t type);

/** @return word of a type in kernel names */
const char *gd_nccl_type_word(uint32_t type);

/** @return word of a call */
const char *gd_nccl_call_word(enum gd_nccl_call call);

/** @return bytes that a rank reads from its send buffer; 0 when it contributes nothing */
uint64_t gd_nccl_bytes_sent(const struct gd_nccl_task *task, int ranks, int rank);

/** @return bytes of a rank's receive buffer that are written; 0 when none are */
uint64_t gd_nccl_bytes_received(const struct gd_nccl_task *task, int ranks, int rank);

/** @return bytes by which it is decided whether data are really exchanged: the same on all ranks */
uint64_t gd_nccl_bytes_contributed(const struct gd_nccl_task *task, int ranks);

/**
 * Make a plan; a struct gd_meeting for the driver comes out.
 *
 * @param meeting_out  `user` is the plan, which holds a reference to the communicator
 * @return false without memory
 */
bool gd_nccl_plan_make(struct ncclComm *comm, const struct gd_nccl_task *tasks, uint32_t count,
    struct gd_meeting *meeting_out);

/**
 * Run a plan on a stream's thread, when it is its turn.
 *
 * @param start_ns  when the stream reached it
 * @return when the last of those came that it waited for; early when the communicator was aborted
 */
uint64_t gd_nccl_run_collective(
    struct ncclComm *comm, const struct gd_nccl_task *task, uint64_t start_ns);
uint64_t gd_nccl_run_messages(
    struct ncclComm *comm, const struct gd_nccl_task *tasks, uint32_t count, uint64_t start_ns);

/** Tell once that ranks do not do the same; the communicator answers an asynchronous error. */
void gd_nccl_mismatch(struct ncclComm *comm, int other, const char *what);

/**
 * Sleep until something happens; notices ranks that are gone.
 *
 * @param seen    the bell before the condition was looked at
 * @param needed  ranks that are waited for
 * @return false when the communicator was aborted
 */
bool gd_nccl_wait(struct ncclComm *comm, uint32_t seen, uint64_t needed);

#endif
