/* SPDX-License-Identifier: Apache-2.0 */
/* Matrix products of cuBLAS: each becomes one launch on the handle's stream. */
#include "cublas_handle.h"
#include "matmul_work.h"

/* Where the result lies; `at` is NULL for a list of pointers in device memory. */
struct result {
	const void *at;
	int type, leading;
	long long stride;
};

static int product(const struct gd_cublas *handle, int trans_a, int trans_b, int m, int n, int k,
    int type, int compute, int batch, struct result result)
{
	struct gd_matmul what = {.type = type,
	    .compute = compute,
	    .result = result.at,
	    .result_type = result.type,
	    .leading = result.leading,
	    .stride = result.stride};

	if (!handle)
		return GD_CUBLAS_NOT_INITIALIZED;
	if (m < 0 || n < 0 || k < 0 || batch < 0)
		return GD_CUBLAS_INVALID_VALUE;
	what.m = (uint64_t)m;
	what.n = (uint64_t)n;
	what.k = (uint64_t)k;
	what.batch = (uint64_t)batch;
	what.transpose_a = trans_a != 0;
	what.transpose_b = trans_b != 0;
	what.tf32 = handle->math_mode == GD_CUBLAS_TF32_MATH;
	return gd_cublas_status(gd_matmul_launch(&what, handle->stream));
}

/* X(letter of the function, number of cudaDataType) */
#define GD_GEMM_TYPES(X) \
	X(S, 0) \
	X(D, 1) \
	X(H, 2) \
	X(C, 4) \
	X(Z, 5)

#define GD_GEMM(function, type) \
	GD_EXPORT int function(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, \
	    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, \
	    void *c, int ldc); \
	int function(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, \
	    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, \
	    void *c, int ldc) \
	{ \
		return product( \
		    handle, ta, tb, m, n, k, type, 0, 1, (struct result){c, type, ldc, 0}); \
	}
#define GD_GEMM_BATCHED(function, type) \
	GD_EXPORT int function(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, \
	    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, \
	    void *c, int ldc, int batch); \
	int function(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, \
	    const void *alpha, const void *a, int lda, const void *b, int ldb, const void *beta, \
	    void *c, int ldc, int batch) \
	{ \
		return product( \
		    handle, ta, tb, m, n, k, type, 0, batch, (struct result){NULL, 0, 0, 0}); \
	}
#define GD_GEMM_STRIDED(function, type) \
	GD_EXPORT int function(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, \
	    const void *alpha, const void *a, int lda, long long sa, const void *b, int ldb, \
	    long long sb, const void *beta, void *c, int ldc, long long sc, int batch); \
	int function(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, \
	    const void *alpha, const void *a, int lda, long long sa, const void *b, int ldb, \
	    long long sb, const void *beta, void *c, int ldc, long long sc, int batch) \
	{ \
		return product( \
		    handle, ta, tb, m, n, k, type, 0, batch, (struct result){c, type, ldc, sc}); \
	}
#define GD_GEMM_ALL(letter, type) \
	GD_GEMM(cublas##letter##gemm_v2, type) \
	GD_GEMM_BATCHED(cublas##letter##gemmBatched, type) \
	GD_GEMM_STRIDED(cublas##letter##gemmStridedBatched, type)

GD_GEMM_TYPES(GD_GEMM_ALL)
GD_GEMM(cublasHgemm, 2)

GD_EXPORT int cublasGemmEx(struct gd_cublas *handle, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
    const void *beta, void *c, int type_c, int ldc, int compute, int algorithm);
GD_EXPORT int cublasSgemmEx(struct gd_cublas *handle, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
    const void *beta, void *c, int type_c, int ldc);
GD_EXPORT int cublasGemmBatchedEx(struct gd_cublas *handle, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
    const void *beta, void *c, int type_c, int ldc, int batch, int compute, int algorithm);
GD_EXPORT int cublasGemmStridedBatchedEx(struct gd_cublas *handle, int ta, int tb, int m, int n,
    int k, const void *alpha, const void *a, int type_a, int lda, long long sa, const void *b,
    int type_b, int ldb, long long sb, const void *beta, void *c, int type_c, int ldc, long long sc,
    int batch, int compute, int algorithm);

int cublasGemmEx(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, const void *alpha,
    const void *a, int type_a, int lda, const void *b, int type_b, int ldb, const void *beta,
    void *c, int type_c, int ldc, int compute, int algorithm)
{
	return product(
	    handle, ta, tb, m, n, k, type_a, compute, 1, (struct result){c, type_c, ldc, 0});
}

int cublasSgemmEx(struct gd_cublas *handle, int ta, int tb, int m, int n, int k, const void *alpha,
    const void *a, int type_a, int lda, const void *b, int type_b, int ldb, const void *beta,
    void *c, int type_c, int ldc)
{
	return product(handle, ta, tb, m, n, k, type_a, 0, 1, (struct result){c, type_c, ldc, 0});
}

int cublasGemmBatchedEx(struct gd_cublas *handle, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int type_a, int lda, const void *b, int type_b, int ldb,
    const void *beta, void *c, int type_c, int ldc, int batch, int compute, int algorithm)
{
	return product(
	    handle, ta, tb, m, n, k, type_a, compute, batch, (struct result){NULL, 0, 0, 0});
}

int cublasGemmStridedBatchedEx(struct gd_cublas *handle, int ta, int tb, int m, int n, int k,
    const void *alpha, const void *a, int type_a, int lda, long long sa, const void *b, int type_b,
    int ldb, long long sb, const void *beta, void *c, int type_c, int ldc, long long sc, int batch,
    int compute, int algorithm)
{
	return product(
	    handle, ta, tb, m, n, k, type_a, compute, batch, (struct result){c, type_c, ldc, sc});
}
