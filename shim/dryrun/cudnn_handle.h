/* SPDX-License-Identifier: Apache-2.0 */
/* A handle of the stand-in cuDNN: the stream and nothing on the device. */
#ifndef GD_CUDNN_HANDLE_H
#define GD_CUDNN_HANDLE_H

#include <cuda.h>

struct gd_cudnn {
	CUstream stream;
};

#endif
