/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of cuBLAS whose results all lie in device memory: one launch each, of one block, as the
 * size of the problem is in no common place of their arguments.
 *
 * Results that a function writes to host memory (factorisations report an argument's validity
 * there; scalar results in host pointer mode) are set, to what an untouched device would give.
 */
#include <string.h>

#include "cublas_handle.h"
#include "kernel_launch.h"

static int launch(const struct gd_cublas *handle, const char *name)
{
	struct gd_work work = {.name = name, .threads = 1, .rate = GD_RATE_MEMORY};

	if (!handle)
		return GD_CUBLAS_NOT_INITIALIZED;
	return gd_cublas_status(gd_kernel_launch(&work, handle->stream));
}

/* X(function, letter) for each element type, S D C Z. */
#define GD_REAL_AND_COMPLEX(X, operation) \
	X(S, operation) \
	X(D, operation) \
	X(C, operation) \
	X(Z, operation)
#define GD_REAL(X, operation) \
	X(S, operation) \
	X(D, operation)
#define GD_COMPLEX(X, operation) \
	X(C, operation) \
	X(Z, operation)

/* The arguments behind the handle do not matter; the caller removes them from the stack. */
#define GD_DEVICE_FUNCTION(function, name) \
	GD_EXPORT int function(struct gd_cublas *handle); \
	int function(struct gd_cublas *handle) \
	{ \
		return launch(handle, "gpushim_" name); \
	}
#define GD_V2(letter, operation) \
	GD_DEVICE_FUNCTION(cublas##letter##operation##_v2, #letter #operation)
#define GD_PLAIN(letter, operation) \
	GD_DEVICE_FUNCTION(cublas##letter##operation, #letter #operation)

GD_REAL_AND_COMPLEX(GD_V2, axpy)
GD_REAL_AND_COMPLEX(GD_V2, copy)
GD_REAL_AND_COMPLEX(GD_V2, scal)
GD_REAL_AND_COMPLEX(GD_V2, swap)
GD_REAL_AND_COMPLEX(GD_V2, gemv)
GD_REAL_AND_COMPLEX(GD_V2, symv)
GD_REAL_AND_COMPLEX(GD_V2, syr)
GD_REAL_AND_COMPLEX(GD_V2, syr2)
GD_REAL_AND_COMPLEX(GD_V2, symm)
GD_REAL_AND_COMPLEX(GD_V2, syrk)
GD_REAL_AND_COMPLEX(GD_V2, syr2k)
GD_REAL_AND_COMPLEX(GD_V2, trmm)
GD_REAL_AND_COMPLEX(GD_V2, trmv)
GD_REAL_AND_COMPLEX(GD_V2, trsm)
GD_REAL_AND_COMPLEX(GD_V2, trsv)
GD_REAL_AND_COMPLEX(GD_V2, rot)
GD_REAL(GD_V2, ger)
GD_REAL(GD_V2, rotm)
GD_COMPLEX(GD_V2, gerc)
GD_COMPLEX(GD_V2, geru)
GD_COMPLEX(GD_V2, hemm)
GD_COMPLEX(GD_V2, hemv)
GD_COMPLEX(GD_V2, her)
GD_COMPLEX(GD_V2, her2)
GD_COMPLEX(GD_V2, herk)
GD_COMPLEX(GD_V2, her2k)
GD_V2(Cs, scal)
GD_V2(Zd, scal)
GD_V2(Cs, rot)
GD_V2(Zd, rot)
GD_REAL_AND_COMPLEX(GD_PLAIN, trsmBatched)
GD_REAL_AND_COMPLEX(GD_PLAIN, getrfBatched)

#define GD_GEQRF_BATCHED(letter, operation) \
	GD_EXPORT int cublas##letter##geqrfBatched(struct gd_cublas *handle, int m, int n, \
	    void *a, int lda, void *tau, int *info, int batch); \
	int cublas##letter##geqrfBatched(struct gd_cublas *handle, int m, int n, void *a, int lda, \
	    void *tau, int *info, int batch) \
	{ \
		*info = 0; \
		return launch(handle, "gpushim_" #letter "geqrfBatched"); \
	}
#define GD_GETRS_BATCHED(letter, operation) \
	GD_EXPORT int cublas##letter##getrsBatched(struct gd_cublas *handle, int trans, int n, \
	    int nrhs, const void *a, int lda, const int *pivots, void *b, int ldb, int *info, \
	    int batch); \
	int cublas##letter##getrsBatched(struct gd_cublas *handle, int trans, int n, int nrhs, \
	    const void *a, int lda, const int *pivots, void *b, int ldb, int *info, int batch) \
	{ \
		*info = 0; \
		return launch(handle, "gpushim_" #letter "getrsBatched"); \
	}
#define GD_GELS_BATCHED(letter, operation) \
	GD_EXPORT int cublas##letter##gelsBatched(struct gd_cublas *handle, int trans, int m, \
	    int n, int nrhs, void *a, int lda, void *c, int ldc, int *info, int *device_info, \
	    int batch); \
	int cublas##letter##gelsBatched(struct gd_cublas *handle, int trans, int m, int n, \
	    int nrhs, void *a, int lda, void *c, int ldc, int *info, int *device_info, int batch) \
	{ \
		*info = 0; \
		return launch(handle, "gpushim_" #letter "gelsBatched"); \
	}

GD_REAL_AND_COMPLEX(GD_GEQRF_BATCHED, )
GD_REAL_AND_COMPLEX(GD_GETRS_BATCHED, )
GD_REAL_AND_COMPLEX(GD_GELS_BATCHED, )

/* A scalar result: on the device it stays what it is, on the host it is a zero of its type. */
static int scalar(const struct gd_cublas *handle, const char *name, void *result, size_t bytes)
{
	if (handle && handle->pointer_mode == 0)
		memset(result, 0, bytes);
	return launch(handle, name);
}

#define GD_DOT(function, letter, bytes) \
	GD_EXPORT int function(struct gd_cublas *handle, int n, const void *x, int incx, \
	    const void *y, int incy, void *result); \
	int function(struct gd_cublas *handle, int n, const void *x, int incx, const void *y, \
	    int incy, void *result) \
	{ \
		return scalar(handle, "gpushim_" letter "dot", result, bytes); \
	}
GD_DOT(cublasSdot_v2, "S", 4)
GD_DOT(cublasDdot_v2, "D", 8)
GD_DOT(cublasCdotu_v2, "C", 8)
GD_DOT(cublasCdotc_v2, "C", 8)
GD_DOT(cublasZdotu_v2, "Z", 16)
GD_DOT(cublasZdotc_v2, "Z", 16)

#define GD_NORM(function, name, bytes) \
	GD_EXPORT int function( \
	    struct gd_cublas *handle, int n, const void *x, int incx, void *result); \
	int function(struct gd_cublas *handle, int n, const void *x, int incx, void *result) \
	{ \
		return scalar(handle, "gpushim_" name, result, bytes); \
	}
GD_NORM(cublasSnrm2_v2, "Snrm2", 4)
GD_NORM(cublasDnrm2_v2, "Dnrm2", 8)
GD_NORM(cublasScnrm2_v2, "Cnrm2", 4)
GD_NORM(cublasDznrm2_v2, "Znrm2", 8)
GD_NORM(cublasSasum_v2, "Sasum", 4)
GD_NORM(cublasDasum_v2, "Dasum", 8)
GD_NORM(cublasScasum_v2, "Casum", 4)
GD_NORM(cublasDzasum_v2, "Zasum", 8)
GD_NORM(cublasIsamax_v2, "Isamax", 4)
GD_NORM(cublasIdamax_v2, "Idamax", 4)
GD_NORM(cublasIcamax_v2, "Icamax", 4)
GD_NORM(cublasIzamax_v2, "Izamax", 4)
GD_NORM(cublasIsamin_v2, "Isamin", 4)
GD_NORM(cublasIdamin_v2, "Idamin", 4)
GD_NORM(cublasIcamin_v2, "Icamin", 4)
GD_NORM(cublasIzamin_v2, "Izamin", 4)

/* Bytes of the result of cublasDotEx by its cudaDataType. */
static size_t type_bytes(int type)
{
	switch (type) {
	case 2:	 /* f16 */
	case 14: /* bf16 */
		return 2;
	case 1: /* f64 */
	case 4: /* complex f32 */
		return 8;
	case 5: /* complex f64 */
		return 16;
	default:
		return 4;
	}
}

GD_EXPORT int cublasDotEx(struct gd_cublas *handle, int n, const void *x, int type_x, int incx,
    const void *y, int type_y, int incy, void *result, int type_result, int type_execution);
int cublasDotEx(struct gd_cublas *handle, int n, const void *x, int type_x, int incx, const void *y,
    int type_y, int incy, void *result, int type_result, int type_execution)
{
	return scalar(handle, "gpushim_dot", result, type_bytes(type_result));
}
