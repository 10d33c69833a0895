/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches and what a launch consists of.  Threads: any. */
#ifndef GD_LAUNCHES_H
#define GD_LAUNCHES_H

#include "shim/dryrun/meetings.h"
#include "shim/dryrun/modules.h"
#include "shim/dryrun/operations.h"

#define GD_LAUNCH_ARGUMENTS 64 /* bytes kept of the arguments of a modelled kernel */

struct gd_launch {
	struct gd_function *function;
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
	struct gd_hint hint;
	struct gd_held_meeting *meeting; /* NULL: waits for nobody */
	bool cooperative;
	bool runs; /* arguments are complete, the model shall be executed */
	char arguments[GD_LAUNCH_ARGUMENTS];
};

/**
 * Check a launch against the limits of device and function.
 *
 * @return CUDA_SUCCESS; CUDA_ERROR_INVALID_VALUE; CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
 *         CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE
 */
CUresult gd_launch_check(const struct gd_launch *launch);

/** Take over the arguments if the function has a model. */
void gd_launch_gather(struct gd_launch *launch, void **parameters, void **extra);

/** Execute the model: the effect of a kernel operation; the argument is a struct gd_launch. */
void gd_launch_effect(const void *launch);

/** Describe it for the clock and the observer. */
void gd_launch_describe(const struct gd_launch *launch, struct gd_operation *operation_out);

#endif
