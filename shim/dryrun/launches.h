/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches and what a launch consists of.  Threads: any. */
#ifndef GD_LAUNCHES_H
#define GD_LAUNCHES_H

#include "shim/dryrun/meetings.h"
#include "shim/dryrun/modules.h"
#include "shim/dryrun/operations.h"

struct gd_launch {
	struct gd_function *function;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	struct gd_hint hint;
	struct gd_held_meeting *meeting; /* NULL: waits for nobody */
	bool cooperative;
	uint32_t job_bytes;	  /* 0: nothing is executed */
	struct gd_model_job *job; /* of a node: owned, from malloc */
};

/**
 * Check a launch against the limits of device and function.
 *
 * @return CUDA_SUCCESS; CUDA_ERROR_INVALID_VALUE; CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
 *         CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
 */
CUresult gd_launch_check(const struct gd_launch *launch);

/**
 * Read the arguments if the function has a model.
 *
 * @param job  room; the launch refers to it if there is something to execute
 */
void gd_launch_gather(
    struct gd_launch *launch, void **parameters, void **extra, struct gd_model_job *job);

/** Let a launch that outlives its call own its job and its meeting. @return false without memory: unchanged */
bool gd_launch_keep(struct gd_launch *launch);

/** Free what gd_launch_keep made. */
void gd_launch_drop(struct gd_launch *launch);

/** Describe it for the clock and the observer. */
void gd_launch_describe(const struct gd_launch *launch, struct gd_operation *operation_out);

#endif
