/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The CTC loss of cuDNN.
 *
 * The workspace is a stated model, what the algorithm has to keep (Graves et al., "Connectionist
 * Temporal Classification", 2006): the probabilities after the softmax, and for each step and
 * sequence a forward and a backward variable for each label and each blank around it.
 */
#include <stdlib.h>

#include "cudnn_legacy.h"

struct ctc {
	int longest; /* label that the program announces */
};

GD_EXPORT int cudnnCreateCTCLossDescriptor(struct ctc **out);
GD_EXPORT int cudnnDestroyCTCLossDescriptor(struct ctc *ctc);
GD_EXPORT int cudnnSetCTCLossDescriptorEx(struct ctc *ctc, int type, int normalization, int nan);
GD_EXPORT int cudnnSetCTCLossDescriptor_v9(
    struct ctc *ctc, int type, int normalization, int gradient, int longest);
GD_EXPORT int cudnnGetCTCLossWorkspaceSize(struct gd_cudnn *handle,
    const struct gd_cudnn_legacy *probabilities, const struct gd_cudnn_legacy *gradients,
    const int *labels, const int *label_lengths, const int *input_lengths, int algorithm,
    const struct ctc *ctc, size_t *bytes_out);
GD_EXPORT int cudnnGetCTCLossWorkspaceSize_v8(struct gd_cudnn *handle, int algorithm,
    const struct ctc *ctc, const struct gd_cudnn_legacy *probabilities,
    const struct gd_cudnn_legacy *gradients, size_t *bytes_out);

int cudnnCreateCTCLossDescriptor(struct ctc **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? GD_CUDNN_SUCCESS : GD_CUDNN_ALLOC_FAILED;
}

int cudnnDestroyCTCLossDescriptor(struct ctc *ctc)
{
	free(ctc);
	return GD_CUDNN_SUCCESS;
}

int cudnnSetCTCLossDescriptorEx(struct ctc *ctc, int type, int normalization, int nan)
{
	return ctc ? GD_CUDNN_SUCCESS : GD_CUDNN_BAD_PARAM;
}

int cudnnSetCTCLossDescriptor_v9(
    struct ctc *ctc, int type, int normalization, int gradient, int longest)
{
	if (!ctc || longest < 0)
		return GD_CUDNN_BAD_PARAM;
	ctc->longest = longest;
	return GD_CUDNN_SUCCESS;
}

/* Probabilities have the sizes steps, sequences, labels; they are floats. */
static int workspace(
    const struct gd_cudnn_legacy *probabilities, int64_t longest, size_t *bytes_out)
{
	const int64_t *size = probabilities->shape.size;

	if (probabilities->shape.dimensions != 3 || !bytes_out)
		return GD_CUDNN_BAD_PARAM;
	*bytes_out =
	    (size_t)(size[0] * size[1] * (size[2] + 2 * (2 * longest + 1))) * sizeof(float);
	return GD_CUDNN_SUCCESS;
}

int cudnnGetCTCLossWorkspaceSize(struct gd_cudnn *handle,
    const struct gd_cudnn_legacy *probabilities, const struct gd_cudnn_legacy *gradients,
    const int *labels, const int *label_lengths, const int *input_lengths, int algorithm,
    const struct ctc *ctc, size_t *bytes_out)
{
	int longest = 0;

	if (!probabilities || !label_lengths)
		return GD_CUDNN_BAD_PARAM;
	for (int64_t i = 0; i < probabilities->shape.size[1]; i++) {
		if (label_lengths[i] > longest)
			longest = label_lengths[i];
	}
	return workspace(probabilities, longest, bytes_out);
}

int cudnnGetCTCLossWorkspaceSize_v8(struct gd_cudnn *handle, int algorithm, const struct ctc *ctc,
    const struct gd_cudnn_legacy *probabilities, const struct gd_cudnn_legacy *gradients,
    size_t *bytes_out)
{
	if (!ctc || !probabilities)
		return GD_CUDNN_BAD_PARAM;
	return workspace(probabilities, ctc->longest, bytes_out);
}

GD_CUDNN_PASS(cudnnCTCLoss, "ctc_loss")
GD_CUDNN_PASS(cudnnCTCLoss_v8, "ctc_loss")
