/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's descriptions of two- and three-dimensional copies as struct gd_copy. */
#ifndef GD_COPY_3D_H
#define GD_COPY_3D_H

#include "shim/dryrun/copies.h"

/** @return CUDA_ERROR_INVALID_VALUE for memory types or pitches that make no sense;
 * CUDA_ERROR_CONTEXT_IS_DESTROYED for an array whose memory went with its context */
CUresult gd_copy_from_3d(const CUDA_MEMCPY3D *description, struct gd_copy *copy_out);
CUresult gd_copy_from_2d(const CUDA_MEMCPY2D *description, struct gd_copy *copy_out);

#endif
