/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a library answers to functions it does not have, and how that is told.
 *
 * The build passes GD_LIBRARY, the name without lib and version, for each library's own objects.
 */
#ifndef GD_UNPROVIDED_H
#define GD_UNPROVIDED_H

#include <stdint.h>

/* cuDNN renumbered its statuses with version 9. */
#ifndef GD_CUDNN_MAJOR
#define GD_CUDNN_MAJOR 9
#endif
#define GD_CUDNN_REFUSAL (GD_CUDNN_MAJOR >= 9 ? 3000 : 9)

/* X(library, status): the status by which its functions say "not supported". */
#define GD_REFUSALS(X) \
	X(cublas, 15) /* CUBLAS_STATUS_NOT_SUPPORTED */ \
	X(cublasLt, 15) \
	X(cudart, 801)		   /* cudaErrorNotSupported */ \
	X(cudnn, GD_CUDNN_REFUSAL) /* CUDNN_STATUS_NOT_SUPPORTED */ \
	X(cufft, 16)		   /* CUFFT_NOT_SUPPORTED */ \
	X(cufile, 5007)		   /* CU_FILE_PLATFORM_NOT_SUPPORTED */ \
	X(cupti, 27)		   /* CUPTI_ERROR_NOT_SUPPORTED */ \
	X(curand, 204)		   /* CURAND_STATUS_ARCH_MISMATCH: nothing nearer */ \
	X(cusolver, 9)		   /* CUSOLVER_STATUS_NOT_SUPPORTED */ \
	X(cusparse, 10)		   /* CUSPARSE_STATUS_NOT_SUPPORTED */ \
	X(cusparseLt, 10) \
	X(nccl, 3)	   /* ncclInternalError: the list has nothing nearer */ \
	X(nvJitLink, 7)	   /* NVJITLINK_ERROR_INTERNAL */ \
	X(nvToolsExt, 0)   /* ranges and marks: their status means nothing to anybody */ \
	X(nvml, 3)	   /* NVML_ERROR_NOT_SUPPORTED */ \
	X(nvrtc, 11)	   /* NVRTC_ERROR_INTERNAL_ERROR: the list has nothing nearer */ \
	X(nvshmem_host, 7) /* NVSHMEMX_ERROR_INTERNAL */

#define GD_REFUSAL_ENUM(library, status) GD_REFUSAL_##library = status,
enum gd_refusal { GD_REFUSALS(GD_REFUSAL_ENUM) };
#undef GD_REFUSAL_ENUM

/**
 * Note that a function was called that is not provided: the run's summary names it.
 *
 * @param function  its name, which also tells the library
 *
 * Threads: any.  Counted in the shared state of the run; no output here.
 */
void gd_unprovided(const char *function);

/** Refuse a call: tell and answer this library's "not supported". */
#define GD_REFUSE() GD_REFUSE_OF(GD_LIBRARY)
#define GD_REFUSE_OF(library) GD_REFUSE_IN(library)
#define GD_REFUSE_IN(library) (gd_unprovided(__func__), GD_REFUSAL_##library)

#endif
