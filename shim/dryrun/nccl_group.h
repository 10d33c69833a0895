/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Groups: what a thread calls between ncclGroupStart and ncclGroupEnd is kept and done at the end.
 *
 * First the jobs that were kept are run, side by side.  Then the operations are launched, of each
 * communicator its collectives one by one and its sends and receives as one kernel.  Threads: each
 * has its own group.
 */
#ifndef GD_NCCL_GROUP_H
#define GD_NCCL_GROUP_H

#include "nccl_job.h"
#include "nccl_plan.h"

/** Keep a job for the end of this thread's group. @return false when there is no group */
bool gd_nccl_group_keep(struct gd_nccl_job *job);

/** A call answers this; in a group, its end answers it too, and does nothing. @return status */
int gd_nccl_group_status(int status);

/** Enqueue an operation at the end of the group, or now. @return status */
int gd_nccl_group_add(struct ncclComm *comm, const struct gd_nccl_task *task, CUstream stream);

#endif
