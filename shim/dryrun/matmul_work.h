/* SPDX-License-Identifier: Apache-2.0 */
/* What a matrix product looks like as a launch; shared by cuBLAS and cuBLASLt. */
#ifndef GD_MATMUL_WORK_H
#define GD_MATMUL_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel_launch.h"

/* A batched product D = A x B; type is a number of cudaDataType, compute of cublasComputeType_t. */
struct gd_matmul {
	uint64_t m, n, k, batch;
	int type;    /* of A: the type that decides which units compute */
	int compute; /* 0 when the function has no such argument */
	bool transpose_a, transpose_b;
	bool tf32; /* the handle allows TF32 */
	/* D, column after column; NULL when it is not known where it lies. */
	const void *result;
	int result_type;
	int64_t leading, stride; /* elements from column to column, from matrix to matrix */
};

/**
 * Name a product and launch it: gpushim_gemm_tensorop_bf16_tn, gpushim_gemm_simt_f32_nn, ...
 *
 * The name says whether a real library would use the tensor cores: always for types of 16 bits and
 * less, for single precision only where TF32 is allowed.
 *
 * @param product  borrowed; nothing is launched when a side is 0
 * @param stream   stream
 * @return the driver's answer
 */
CUresult gd_matmul_launch(const struct gd_matmul *product, CUstream stream);

#endif
