/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors of cuDNN's older interface; all kinds share one struct, so that one pair of functions
 * makes and destroys them. */
#ifndef GD_CUDNN_LEGACY_H
#define GD_CUDNN_LEGACY_H

#include "cudnn_convolution.h"
#include "cudnn_handle.h"

struct gd_cudnn_legacy {
	struct gd_cudnn_shape shape; /* tensors, filters */
	int format;		     /* filters: 0 NCHW, 1 NHWC */
	int groups, math_type;	     /* convolutions */
};

/** Status of a launch. */
static inline int gd_cudnn_status(CUresult result)
{
	return result == CUDA_SUCCESS ? GD_CUDNN_SUCCESS : GD_CUDNN_EXECUTION_FAILED;
}

#endif
