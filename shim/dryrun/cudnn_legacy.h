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

/*
 * A function that runs one kernel on the stream of its first argument.  All results are in device
 * memory, so the arguments behind the handle do not matter.
 */
#define GD_CUDNN_PASS(function, kernel) \
	GD_EXPORT int function(struct gd_cudnn *handle); \
	int function(struct gd_cudnn *handle) \
	{ \
		struct gd_work work = { \
		    .name = "gpushim_" kernel, .threads = 1, .rate = GD_RATE_MEMORY}; \
\
		return gd_cudnn_status(gd_kernel_launch(&work, handle->stream)); \
	}

#endif
