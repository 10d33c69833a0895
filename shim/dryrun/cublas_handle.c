/* SPDX-License-Identifier: Apache-2.0 */
/* Handles and their modes. */
#include "cublas_handle.h"

#include <stdlib.h>

#define GD_CUBLAS_VERSION 130200

GD_EXPORT int cublasCreate_v2(struct gd_cublas **out);
GD_EXPORT int cublasDestroy_v2(struct gd_cublas *handle);
GD_EXPORT int cublasGetVersion_v2(struct gd_cublas *handle, int *version);
GD_EXPORT int cublasGetProperty(int property, int *value);
GD_EXPORT size_t cublasGetCudartVersion(void);
GD_EXPORT int cublasSetStream_v2(struct gd_cublas *handle, CUstream stream);
GD_EXPORT int cublasGetStream_v2(struct gd_cublas *handle, CUstream *stream);
GD_EXPORT int cublasSetWorkspace_v2(struct gd_cublas *handle, void *workspace, size_t bytes);
GD_EXPORT const char *cublasGetStatusName(int status);
GD_EXPORT const char *cublasGetStatusString(int status);

int cublasCreate_v2(struct gd_cublas **out)
{
	struct gd_cublas *handle = calloc(1, sizeof(*handle));

	if (!handle)
		return GD_CUBLAS_ALLOC_FAILED;
	*out = handle;
	return GD_CUBLAS_SUCCESS;
}

int cublasDestroy_v2(struct gd_cublas *handle)
{
	free(handle);
	return handle ? GD_CUBLAS_SUCCESS : GD_CUBLAS_NOT_INITIALIZED;
}

int cublasGetVersion_v2(struct gd_cublas *handle, int *version)
{
	*version = GD_CUBLAS_VERSION;
	return GD_CUBLAS_SUCCESS;
}

/* 0 major, 1 minor, 2 patch level */
int cublasGetProperty(int property, int *value)
{
	static const int parts[] = {
	    GD_CUBLAS_VERSION / 10000, GD_CUBLAS_VERSION / 100 % 100, GD_CUBLAS_VERSION % 100};

	if (property < 0 || property > 2)
		return GD_CUBLAS_INVALID_VALUE;
	*value = parts[property];
	return GD_CUBLAS_SUCCESS;
}

size_t cublasGetCudartVersion(void)
{
	return CUDA_VERSION;
}

int cublasSetStream_v2(struct gd_cublas *handle, CUstream stream)
{
	if (!handle)
		return GD_CUBLAS_NOT_INITIALIZED;
	handle->stream = stream;
	return GD_CUBLAS_SUCCESS;
}

int cublasGetStream_v2(struct gd_cublas *handle, CUstream *stream)
{
	if (!handle)
		return GD_CUBLAS_NOT_INITIALIZED;
	*stream = handle->stream;
	return GD_CUBLAS_SUCCESS;
}

int cublasSetWorkspace_v2(struct gd_cublas *handle, void *workspace, size_t bytes)
{
	if (!handle)
		return GD_CUBLAS_NOT_INITIALIZED;
	handle->workspace = workspace;
	handle->workspace_bytes = bytes;
	return GD_CUBLAS_SUCCESS;
}

#define GD_MODE(function, field) \
	GD_EXPORT int cublasSet##function(struct gd_cublas *handle, int mode); \
	int cublasSet##function(struct gd_cublas *handle, int mode) \
	{ \
		if (!handle) \
			return GD_CUBLAS_NOT_INITIALIZED; \
		handle->field = mode; \
		return GD_CUBLAS_SUCCESS; \
	} \
	GD_EXPORT int cublasGet##function(struct gd_cublas *handle, int *mode); \
	int cublasGet##function(struct gd_cublas *handle, int *mode) \
	{ \
		if (!handle) \
			return GD_CUBLAS_NOT_INITIALIZED; \
		*mode = handle->field; \
		return GD_CUBLAS_SUCCESS; \
	}

GD_MODE(MathMode, math_mode)
GD_MODE(PointerMode_v2, pointer_mode)
GD_MODE(AtomicsMode, atomics_mode)
GD_MODE(SmCountTarget, sm_target)

/* X(number, name, text) */
#define GD_STATUSES(X) \
	X(0, "CUBLAS_STATUS_SUCCESS", "success") \
	X(1, "CUBLAS_STATUS_NOT_INITIALIZED", "the library was not initialized") \
	X(3, "CUBLAS_STATUS_ALLOC_FAILED", "the resource allocation failed") \
	X(7, "CUBLAS_STATUS_INVALID_VALUE", "an invalid value was used as an argument") \
	X(13, "CUBLAS_STATUS_EXECUTION_FAILED", "the program failed to execute") \
	X(14, "CUBLAS_STATUS_INTERNAL_ERROR", "an internal operation failed") \
	X(15, "CUBLAS_STATUS_NOT_SUPPORTED", "the functionality is not supported")

const char *cublasGetStatusName(int status)
{
	switch (status) {
#define GD_NAME(number, name, text) \
	case number: \
		return name;
		GD_STATUSES(GD_NAME)
#undef GD_NAME
	default:
		return "<unknown>";
	}
}

const char *cublasGetStatusString(int status)
{
	switch (status) {
#define GD_TEXT(number, name, text) \
	case number: \
		return text;
		GD_STATUSES(GD_TEXT)
#undef GD_TEXT
	default:
		return "<unknown>";
	}
}
