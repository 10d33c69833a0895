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

GD_CUDNN_PASS(cudnnSpatialTfGridGeneratorForward, "affine_grid_forward")
GD_CUDNN_PASS(cudnnSpatialTfGridGeneratorBackward, "affine_grid_backward")
GD_CUDNN_PASS(cudnnSpatialTfSamplerForward, "grid_sample_forward")
GD_CUDNN_PASS(cudnnSpatialTfSamplerBackward, "grid_sample_backward")
