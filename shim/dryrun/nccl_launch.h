/* SPDX-License-Identifier: Apache-2.0 */
/* Operations as kernels in streams.  Threads: any. */
#ifndef GD_NCCL_LAUNCH_H
#define GD_NCCL_LAUNCH_H

#include "nccl_plan.h"

/**
 * Enqueue one collective, or messages that make progress together.
 *
 * @param tasks    copied
 * @param streams  one for each task: the first gets the kernel, which the others' work in front
 *                 and behind is ordered with
 * @return status
 */
int gd_nccl_launch(struct ncclComm *comm, const struct gd_nccl_task *tasks, uint32_t count,
    const CUstream *streams);

#endif
