/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the stand-in cuBLAS.  Types of its header are plain integers and pointers here. */
#ifndef GD_CUBLAS_HANDLE_H
#define GD_CUBLAS_HANDLE_H

#include <cuda.h>
#include <stddef.h>

#include "gd_export.h"
#include "unprovided.h"

#define GD_CUBLAS_SUCCESS 0
#define GD_CUBLAS_NOT_INITIALIZED 1
#define GD_CUBLAS_ALLOC_FAILED 3
#define GD_CUBLAS_INVALID_VALUE 7
#define GD_CUBLAS_EXECUTION_FAILED 13
#define GD_CUBLAS_TF32_MATH 3 /* CUBLAS_TF32_TENSOR_OP_MATH */

/*
 * A handle is host memory only.  Device memory that a real handle takes for itself is not modelled:
 * it is allocated in the library's first call and not known without the card; PyTorch hands its own
 * workspace to every handle, and that is counted because PyTorch allocates it.
 */
struct gd_cublas {
	CUstream stream;
	int math_mode, pointer_mode, atomics_mode, sm_target;
	void *workspace;
	size_t workspace_bytes;
};

/** Status of a launch: a driver refusal is an execution failure. */
static inline int gd_cublas_status(CUresult result)
{
	return result == CUDA_SUCCESS ? GD_CUBLAS_SUCCESS : GD_CUBLAS_EXECUTION_FAILED;
}

#endif
