/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Size, cost and workspace of cuDNN's operations.
 *
 * The workspace of a convolution is an invention, but a stated one: the kernels that a real cuDNN
 * prefers on tensor cores compute channels-last, so each tensor of the operation that has another
 * layout (and more than one channel) is copied once into the workspace; a weight gradient in 16
 * bits accumulates in single precision, one more copy of the weights of 4 bytes per element.  Every
 * part is rounded up to 256 bytes.  Other operations take none.
 */
#ifndef GD_CUDNN_CONVOLUTION_H
#define GD_CUDNN_CONVOLUTION_H

#include "cudnn_descriptor.h"
#include "kernel_launch.h"

#define GD_CUDNN_MAX_DIMENSIONS 8

/* A tensor as far as sizes go. */
struct gd_cudnn_shape {
	int type; /* cudnnDataType_t */
	int dimensions;
	int64_t size[GD_CUDNN_MAX_DIMENSIONS], stride[GD_CUDNN_MAX_DIMENSIONS];
};

enum gd_cudnn_direction { GD_CUDNN_FPROP, GD_CUDNN_DGRAD, GD_CUDNN_WGRAD };

/* x: input or its gradient, w: filter or its gradient, y: output or its gradient. */
struct gd_cudnn_convolution {
	enum gd_cudnn_direction direction;
	struct gd_cudnn_shape x, w, y;
};

/** Workspace bytes by the model above. */
uint64_t gd_cudnn_convolution_workspace(const struct gd_cudnn_convolution *convolution);

/** What a convolution looks like as a launch. */
void gd_cudnn_convolution_work(
    const struct gd_cudnn_convolution *convolution, struct gd_work *work_out);

/** Workspace of a graph: that of its convolutions. */
uint64_t gd_cudnn_graph_workspace(const struct gd_descriptor *graph);

/** Launch of a graph: its convolution's, else one kernel named for its first operation. */
void gd_cudnn_graph_work(const struct gd_descriptor *graph, struct gd_work *work_out);

#endif
