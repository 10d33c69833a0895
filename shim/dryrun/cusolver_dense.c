/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dense factorisations of cuSOLVER: one launch each; results, and the word that reports success,
 * lie in device memory.
 *
 * The workspace is a stated model: a panel of 64 columns for factorisations and what is made of
 * them, one more matrix for eigenvalues and singular values.
 */
#include "cusolver_handle.h"
#include "kernel_launch.h"

#define GD_PANEL 64

static int launch(const struct gd_cusolver *handle, const char *name)
{
	struct gd_work work = {.name = name, .threads = 1, .rate = GD_RATE_MEMORY};

	if (!handle)
		return GD_CUSOLVER_NOT_INITIALIZED;
	return gd_kernel_launch(&work, handle->stream) == CUDA_SUCCESS
		   ? GD_CUSOLVER_SUCCESS
		   : GD_CUSOLVER_EXECUTION_FAILED;
}

static int panel(int rows, int *elements)
{
	int64_t count = (int64_t)(rows > 1 ? rows : 1) * GD_PANEL;

	*elements = count > INT32_MAX ? INT32_MAX : (int)count;
	return GD_CUSOLVER_SUCCESS;
}

static int matrix(int64_t rows, int64_t columns, int *elements)
{
	int64_t count = rows * columns + (rows + columns) * GD_PANEL;

	*elements = count > INT32_MAX ? INT32_MAX : (int)count;
	return GD_CUSOLVER_SUCCESS;
}

/* How many elements of workspace: the arguments that count come first, the answer last. */
#define GD_SIZE(function, arguments, answer) \
	GD_EXPORT int cusolverDn##function##_bufferSize arguments; \
	int cusolverDn##function##_bufferSize arguments \
	{ \
		return answer; \
	}
#define GD_HANDLE struct gd_cusolver *handle
#define GD_SIZES_OF_ALL(T) \
	GD_SIZE(T##getrf, (GD_HANDLE, int m, int n, void *a, int lda, int *size), panel(m, size)) \
	GD_SIZE( \
	    T##potrf, (GD_HANDLE, int uplo, int n, void *a, int lda, int *size), panel(n, size)) \
	GD_SIZE(T##geqrf, (GD_HANDLE, int m, int n, void *a, int lda, int *size), panel(m, size)) \
	GD_SIZE(T##sytrf, (GD_HANDLE, int n, void *a, int lda, int *size), panel(n, size)) \
	GD_SIZE(T##gesvd, (GD_HANDLE, int m, int n, int *size), matrix(m, n, size)) \
	GD_SIZE(T##gesvdj, \
	    (GD_HANDLE, int job, int econ, int m, int n, const void *a, int lda, const void *s, \
		const void *u, int ldu, const void *v, int ldv, int *size, void *parameters), \
	    matrix(m, n, size)) \
	GD_SIZE(T##gesvdjBatched, \
	    (GD_HANDLE, int job, int m, int n, const void *a, int lda, const void *s, \
		const void *u, int ldu, const void *v, int ldv, int *size, void *parameters, \
		int batch), \
	    matrix(m, (int64_t)n *batch, size)) \
	GD_SIZE(T##gesvdaStridedBatched, \
	    (GD_HANDLE, int job, int rank, int m, int n, const void *a, int lda, long long sa, \
		const void *s, long long ss, const void *u, int ldu, long long su, const void *v, \
		int ldv, long long sv, int *size, int batch), \
	    matrix(m, (int64_t)n *batch, size))
#define GD_SIZES_OF_FIELD(T, q, evd) \
	GD_SIZE(T##q##gqr, \
	    (GD_HANDLE, int m, int n, int k, const void *a, int lda, const void *tau, int *size), \
	    panel(m, size)) \
	GD_SIZE(T##q##mqr, \
	    (GD_HANDLE, int side, int trans, int m, int n, int k, const void *a, int lda, \
		const void *tau, const void *c, int ldc, int *size), \
	    panel(m > n ? m : n, size)) \
	GD_SIZE(T##evd##d, \
	    (GD_HANDLE, int job, int uplo, int n, const void *a, int lda, const void *w, \
		int *size), \
	    matrix(n, n, size)) \
	GD_SIZE(T##evd##j, \
	    (GD_HANDLE, int job, int uplo, int n, const void *a, int lda, const void *w, \
		int *size, void *parameters), \
	    matrix(n, n, size)) \
	GD_SIZE(T##evd##jBatched, \
	    (GD_HANDLE, int job, int uplo, int n, const void *a, int lda, const void *w, \
		int *size, void *parameters, int batch), \
	    matrix(n, (int64_t)n *batch, size))

GD_SIZES_OF_ALL(S)
GD_SIZES_OF_ALL(D)
GD_SIZES_OF_ALL(C)
GD_SIZES_OF_ALL(Z)
GD_SIZES_OF_FIELD(S, or, syev)
GD_SIZES_OF_FIELD(D, or, syev)
GD_SIZES_OF_FIELD(C, un, heev)
GD_SIZES_OF_FIELD(Z, un, heev)

/* The arguments behind the handle do not matter; the caller removes them from the stack. */
#define GD_RUN(function) \
	GD_EXPORT int cusolverDn##function(GD_HANDLE); \
	int cusolverDn##function(GD_HANDLE) \
	{ \
		return launch(handle, "gpushim_" #function); \
	}
#define GD_RUNS_OF_ALL(T) \
	GD_RUN(T##getrf) \
	GD_RUN(T##getrs) \
	GD_RUN(T##potrf) \
	GD_RUN(T##potrs) \
	GD_RUN(T##potrfBatched) \
	GD_RUN(T##potrsBatched) \
	GD_RUN(T##geqrf) \
	GD_RUN(T##sytrf) \
	GD_RUN(T##gesvd) \
	GD_RUN(T##gesvdj) \
	GD_RUN(T##gesvdjBatched)
#define GD_RUNS_OF_FIELD(T, q, evd) \
	GD_RUN(T##q##gqr) \
	GD_RUN(T##q##mqr) \
	GD_RUN(T##evd##d) \
	GD_RUN(T##evd##j) \
	GD_RUN(T##evd##jBatched)

GD_RUNS_OF_ALL(S)
GD_RUNS_OF_ALL(D)
GD_RUNS_OF_ALL(C)
GD_RUNS_OF_ALL(Z)
GD_RUNS_OF_FIELD(S, or, syev)
GD_RUNS_OF_FIELD(D, or, syev)
GD_RUNS_OF_FIELD(C, un, heev)
GD_RUNS_OF_FIELD(Z, un, heev)

/* The residuals of this one are written to host memory, where asked for. */
#define GD_GESVDA_BATCHED(T) \
	GD_EXPORT int cusolverDn##T##gesvdaStridedBatched(GD_HANDLE, int job, int rank, int m, \
	    int n, const void *a, int lda, long long sa, void *s, long long ss, void *u, int ldu, \
	    long long su, void *v, int ldv, long long sv, void *work, int size, int *info, \
	    double *residuals, int batch); \
	int cusolverDn##T##gesvdaStridedBatched(GD_HANDLE, int job, int rank, int m, int n, \
	    const void *a, int lda, long long sa, void *s, long long ss, void *u, int ldu, \
	    long long su, void *v, int ldv, long long sv, void *work, int size, int *info, \
	    double *residuals, int batch) \
	{ \
		for (int i = 0; residuals && i < batch; i++) \
			residuals[i] = 0; \
		return launch(handle, "gpushim_" #T "gesvdaStridedBatched"); \
	}
GD_GESVDA_BATCHED(S)
GD_GESVDA_BATCHED(D)
GD_GESVDA_BATCHED(C)
GD_GESVDA_BATCHED(Z)

/* The interface of 64-bit sizes answers bytes, on the device and on the host. */
static int bytes(int64_t rows, int64_t columns, size_t *device, size_t *host)
{
	*device = (size_t)(rows * columns + (rows + columns) * GD_PANEL) * 16;
	*host = 0;
	return GD_CUSOLVER_SUCCESS;
}

GD_SIZE(Xgeqrf,
    (GD_HANDLE, void *parameters, int64_t m, int64_t n, int type, const void *a, int64_t lda,
	int type_tau, const void *tau, int compute, size_t *device, size_t *host),
    bytes(m, GD_PANEL, device, host))
GD_SIZE(Xpotrf,
    (GD_HANDLE, void *parameters, int uplo, int64_t n, int type, const void *a, int64_t lda,
	int compute, size_t *device, size_t *host),
    bytes(n, GD_PANEL, device, host))
GD_SIZE(Xsyevd,
    (GD_HANDLE, void *parameters, int job, int uplo, int64_t n, int type, const void *a,
	int64_t lda, int type_w, const void *w, int compute, size_t *device, size_t *host),
    bytes(n, n, device, host))
GD_SIZE(XsyevBatched,
    (GD_HANDLE, void *parameters, int job, int uplo, int64_t n, int type, const void *a,
	int64_t lda, int type_w, const void *w, int compute, size_t *device, size_t *host,
	int64_t batch),
    bytes(n, n *batch, device, host))
GD_SIZE(Xgeev,
    (GD_HANDLE, void *parameters, int job_left, int job_right, int64_t n, int type, const void *a,
	int64_t lda, int type_w, const void *w, int type_left, const void *left, int64_t ld_left,
	int type_right, const void *right, int64_t ld_right, int compute, size_t *device,
	size_t *host),
    bytes(n, n, device, host))
GD_SIZE(Xsytrs,
    (GD_HANDLE, int uplo, int64_t n, int64_t columns, int type, const void *a, int64_t lda,
	const int64_t *pivots, int type_b, void *b, int64_t ldb, size_t *device, size_t *host),
    bytes(n, GD_PANEL, device, host))
GD_RUN(Xgeqrf)
GD_RUN(Xpotrf)
GD_RUN(Xpotrs)
GD_RUN(Xsyevd)
GD_RUN(XsyevBatched)
GD_RUN(Xgeev)
GD_RUN(Xsytrs)
