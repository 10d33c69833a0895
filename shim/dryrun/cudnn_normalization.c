/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batch normalisation and pooling of the older interface.  They run in one pass over the tensor and
 * need neither workspace nor reserve: the activation that a reserve would keep is not fused here.
 */
#include "cudnn_legacy.h"

GD_EXPORT int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(struct gd_cudnn *handle,
    int mode, int operations, const void *x, const void *z, const void *y, const void *scale,
    const void *activation, size_t *bytes);
GD_EXPORT int cudnnGetBatchNormalizationBackwardExWorkspaceSize(struct gd_cudnn *handle, int mode,
    int operations, const void *x, const void *y, const void *dy, const void *dz, const void *dx,
    const void *scale, const void *activation, size_t *bytes);
GD_EXPORT int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(struct gd_cudnn *handle,
    int mode, int operations, const void *activation, const void *x, size_t *bytes);

int cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(struct gd_cudnn *handle, int mode,
    int operations, const void *x, const void *z, const void *y, const void *scale,
    const void *activation, size_t *bytes)
{
	*bytes = 0;
	return GD_CUDNN_SUCCESS;
}

int cudnnGetBatchNormalizationBackwardExWorkspaceSize(struct gd_cudnn *handle, int mode,
    int operations, const void *x, const void *y, const void *dy, const void *dz, const void *dx,
    const void *scale, const void *activation, size_t *bytes)
{
	*bytes = 0;
	return GD_CUDNN_SUCCESS;
}

int cudnnGetBatchNormalizationTrainingExReserveSpaceSize(struct gd_cudnn *handle, int mode,
    int operations, const void *activation, const void *x, size_t *bytes)
{
	*bytes = 0;
	return GD_CUDNN_SUCCESS;
}

GD_CUDNN_PASS(cudnnBatchNormalizationForwardTrainingEx, "batch_norm_forward_training")
GD_CUDNN_PASS(cudnnBatchNormalizationForwardInference, "batch_norm_forward_inference")
GD_CUDNN_PASS(cudnnBatchNormalizationBackwardEx, "batch_norm_backward")
GD_CUDNN_PASS(cudnnPoolingForward, "pooling_forward")
