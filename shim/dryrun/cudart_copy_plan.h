/* SPDX-License-Identifier: Apache-2.0 */
/* Pitched copies of the runtime as the driver describes them.  No state; any thread. */
#ifndef GD_CUDART_COPY_PLAN_H
#define GD_CUDART_COPY_PLAN_H

#include "cudart.h"

/** @return whether rows are so far apart that they do not overlap; one row needs no pitch */
static inline bool gd_rt_pitch_fits(size_t pitch, size_t width, size_t rows)
{
	return rows <= 1 || pitch >= width;
}

/**
 * Describe a copy of rows.
 *
 * @return cudaSuccess; cudaErrorInvalidPitchValue; cudaErrorInvalidMemcpyDirection
 */
cudaError_t gd_rt_plan_2d(CUDA_MEMCPY2D *plan, void *to, size_t to_pitch, const void *from,
    size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind);

/**
 * Describe a copy of boxes.
 *
 * @return cudaSuccess; cudaErrorNotSupported for arrays; cudaErrorInvalidPitchValue;
 * cudaErrorInvalidMemcpyDirection
 */
cudaError_t gd_rt_plan_3d(CUDA_MEMCPY3D *plan, const struct cudaMemcpy3DParms *p);

#endif
