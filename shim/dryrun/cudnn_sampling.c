/* SPDX-License-Identifier: Apache-2.0 */
/* Spatial transformers of cuDNN. */
#include <stdlib.h>

#include "cudnn_legacy.h"

GD_EXPORT int cudnnCreateSpatialTransformerDescriptor(struct gd_cudnn_legacy **out);
GD_EXPORT int cudnnDestroySpatialTransformerDescriptor(struct gd_cudnn_legacy *descriptor);
GD_EXPORT int cudnnSetSpatialTransformerNdDescriptor(struct gd_cudnn_legacy *descriptor);

int cudnnCreateSpatialTransformerDescriptor(struct gd_cudnn_legacy **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? GD_CUDNN_SUCCESS : GD_CUDNN_ALLOC_FAILED;
}

int cudnnDestroySpatialTransformerDescriptor(struct gd_cudnn_legacy *descriptor)
{
	free(descriptor);
	return GD_CUDNN_SUCCESS;
}

/* Sizes come again with the tensors of each call. */
int cudnnSetSpatialTransformerNdDescriptor(struct gd_cudnn_legacy *descriptor)
{
	return GD_CUDNN_SUCCESS;
}

/* All results are in device memory, so the arguments behind the handle do not matter. */
#define GD_PASS(function, kernel) \
	GD_EXPORT int function(struct gd_cudnn *handle); \
	int function(struct gd_cudnn *handle) \
	{ \
		struct gd_work work = { \
		    .name = "gpushim_" kernel, .threads = 1, .rate = GD_RATE_MEMORY}; \
\
		return gd_cudnn_status(gd_kernel_launch(&work, handle->stream)); \
	}
GD_PASS(cudnnSpatialTfGridGeneratorForward, "affine_grid_forward")
GD_PASS(cudnnSpatialTfGridGeneratorBackward, "affine_grid_backward")
GD_PASS(cudnnSpatialTfSamplerForward, "grid_sample_forward")
GD_PASS(cudnnSpatialTfSamplerBackward, "grid_sample_backward")
