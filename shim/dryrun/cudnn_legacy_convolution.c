/* SPDX-License-Identifier: Apache-2.0 */
/* Convolutions of the older interface: one algorithm, and the workspace model of the graph
 * interface. */
#include <string.h>

#include "cudnn_legacy.h"

struct performance { /* cudnnConvolution*AlgoPerf_t */
	int algorithm, status;
	float time_ms;
	size_t memory_bytes;
	int determinism, math_type, reserved[3];
};

/* Number 1 is the implicit, precomputed GEMM, or the deterministic kind of a gradient. */
#define GD_ALGORITHM 1

static struct gd_cudnn_convolution describe(enum gd_cudnn_direction direction,
    const struct gd_cudnn_legacy *x, const struct gd_cudnn_legacy *w,
    const struct gd_cudnn_legacy *y)
{
	return (struct gd_cudnn_convolution){direction, x->shape, w->shape, y->shape};
}

static int one_algorithm(const struct gd_cudnn_convolution *convolution,
    const struct gd_cudnn_legacy *settings, int wanted, int *count, struct performance *results)
{
	if (wanted < 1)
		return GD_CUDNN_BAD_PARAM;
	memset(results, 0, sizeof(*results));
	results->algorithm = GD_ALGORITHM;
	results->memory_bytes = gd_cudnn_convolution_workspace(convolution);
	results->determinism = 1;
	results->math_type = settings->math_type;
	*count = 1;
	return GD_CUDNN_SUCCESS;
}

static int run(const struct gd_cudnn *handle, const struct gd_cudnn_convolution *convolution)
{
	struct gd_work work = {0};

	gd_cudnn_convolution_work(convolution, &work);
	return gd_cudnn_status(gd_kernel_launch(&work, handle->stream));
}

/*
 * The three directions name their tensors in the order of their arguments: first and second input,
 * then the result.  GD_DIRECTION(name, direction, x, w, y): which of them is which.
 */
#define GD_DIRECTION(name, direction, x, w, y) \
	GD_EXPORT int cudnnGetConvolution##name##Algorithm_v7(struct gd_cudnn *handle, \
	    const struct gd_cudnn_legacy *first, const struct gd_cudnn_legacy *second, \
	    const struct gd_cudnn_legacy *settings, const struct gd_cudnn_legacy *result, \
	    int wanted, int *count, struct performance *results); \
	int cudnnGetConvolution##name##Algorithm_v7(struct gd_cudnn *handle, \
	    const struct gd_cudnn_legacy *first, const struct gd_cudnn_legacy *second, \
	    const struct gd_cudnn_legacy *settings, const struct gd_cudnn_legacy *result, \
	    int wanted, int *count, struct performance *results) \
	{ \
		struct gd_cudnn_convolution convolution = describe(direction, x, w, y); \
\
		return one_algorithm(&convolution, settings, wanted, count, results); \
	} \
	GD_EXPORT int cudnnFindConvolution##name##AlgorithmEx(struct gd_cudnn *handle, \
	    const struct gd_cudnn_legacy *first, const void *a, \
	    const struct gd_cudnn_legacy *second, const void *b, \
	    const struct gd_cudnn_legacy *settings, const struct gd_cudnn_legacy *result, void *c, \
	    int wanted, int *count, struct performance *results, void *workspace, size_t bytes); \
	int cudnnFindConvolution##name##AlgorithmEx(struct gd_cudnn *handle, \
	    const struct gd_cudnn_legacy *first, const void *a, \
	    const struct gd_cudnn_legacy *second, const void *b, \
	    const struct gd_cudnn_legacy *settings, const struct gd_cudnn_legacy *result, void *c, \
	    int wanted, int *count, struct performance *results, void *workspace, size_t bytes) \
	{ \
		struct gd_cudnn_convolution convolution = describe(direction, x, w, y); \
\
		return one_algorithm(&convolution, settings, wanted, count, results); \
	} \
	GD_EXPORT int cudnnGetConvolution##name##WorkspaceSize(struct gd_cudnn *handle, \
	    const struct gd_cudnn_legacy *first, const struct gd_cudnn_legacy *second, \
	    const struct gd_cudnn_legacy *settings, const struct gd_cudnn_legacy *result, \
	    int algorithm, size_t *bytes); \
	int cudnnGetConvolution##name##WorkspaceSize(struct gd_cudnn *handle, \
	    const struct gd_cudnn_legacy *first, const struct gd_cudnn_legacy *second, \
	    const struct gd_cudnn_legacy *settings, const struct gd_cudnn_legacy *result, \
	    int algorithm, size_t *bytes) \
	{ \
		struct gd_cudnn_convolution convolution = describe(direction, x, w, y); \
\
		*bytes = gd_cudnn_convolution_workspace(&convolution); \
		return GD_CUDNN_SUCCESS; \
	} \
	GD_EXPORT int cudnnConvolution##name(struct gd_cudnn *handle, const void *alpha, \
	    const struct gd_cudnn_legacy *first, const void *a, \
	    const struct gd_cudnn_legacy *second, const void *b, \
	    const struct gd_cudnn_legacy *settings, int algorithm, void *workspace, size_t bytes, \
	    const void *beta, const struct gd_cudnn_legacy *result, void *c); \
	int cudnnConvolution##name(struct gd_cudnn *handle, const void *alpha, \
	    const struct gd_cudnn_legacy *first, const void *a, \
	    const struct gd_cudnn_legacy *second, const void *b, \
	    const struct gd_cudnn_legacy *settings, int algorithm, void *workspace, size_t bytes, \
	    const void *beta, const struct gd_cudnn_legacy *result, void *c) \
	{ \
		struct gd_cudnn_convolution convolution = describe(direction, x, w, y); \
\
		return run(handle, &convolution); \
	}

GD_DIRECTION(Forward, GD_CUDNN_FPROP, first, second, result)
GD_DIRECTION(BackwardData, GD_CUDNN_DGRAD, result, first, second)
GD_DIRECTION(BackwardFilter, GD_CUDNN_WGRAD, first, result, second)

GD_EXPORT int cudnnConvolutionBiasActivationForward(struct gd_cudnn *handle, const void *alpha1,
    const struct gd_cudnn_legacy *x, const void *x_data, const struct gd_cudnn_legacy *w,
    const void *w_data, const struct gd_cudnn_legacy *settings, int algorithm, void *workspace,
    size_t bytes, const void *alpha2, const struct gd_cudnn_legacy *z, const void *z_data,
    const struct gd_cudnn_legacy *bias, const void *bias_data,
    const struct gd_cudnn_legacy *activation, const struct gd_cudnn_legacy *y, void *y_data);

int cudnnConvolutionBiasActivationForward(struct gd_cudnn *handle, const void *alpha1,
    const struct gd_cudnn_legacy *x, const void *x_data, const struct gd_cudnn_legacy *w,
    const void *w_data, const struct gd_cudnn_legacy *settings, int algorithm, void *workspace,
    size_t bytes, const void *alpha2, const struct gd_cudnn_legacy *z, const void *z_data,
    const struct gd_cudnn_legacy *bias, const void *bias_data,
    const struct gd_cudnn_legacy *activation, const struct gd_cudnn_legacy *y, void *y_data)
{
	struct gd_cudnn_convolution convolution = describe(GD_CUDNN_FPROP, x, w, y);

	return run(handle, &convolution);
}
