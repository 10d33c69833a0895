/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arithmetic of reductions.  Floating point is added up in double precision and rounded once, so
 * that a result depends on no order; integers wrap around.
 */
#ifndef GD_NCCL_REDUCE_H
#define GD_NCCL_REDUCE_H

#include "nccl_plan.h"

/**
 * Reduce what several ranks contribute.
 *
 * @param from    one row of `count` elements for each rank
 * @param result  gets the row
 */
void gd_nccl_reduce(
    uint32_t type, uint32_t op, const char *const *from, int ranks, uint64_t count, char *result);

/** Multiply a contribution by the factor of a made operator; nothing for the built-in ones. */
void gd_nccl_premultiply(const struct gd_nccl_task *task, char *row, int ranks);

#endif
