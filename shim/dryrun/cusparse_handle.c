/* SPDX-License-Identifier: Apache-2.0 */
/* cuSPARSE: handles and texts; matrices and their operations are refused by the stubs. */
#include <cuda.h>
#include <stdlib.h>

#include "gd_export.h"
#include "unprovided.h"

struct gd_cusparse {
	CUstream stream;
	int pointer_mode;
};

GD_EXPORT int cusparseCreate(struct gd_cusparse **out);
GD_EXPORT int cusparseDestroy(struct gd_cusparse *handle);
GD_EXPORT int cusparseSetStream(struct gd_cusparse *handle, CUstream stream);
GD_EXPORT int cusparseSetPointerMode(struct gd_cusparse *handle, int mode);
GD_EXPORT const char *cusparseGetErrorString(int status);

int cusparseCreate(struct gd_cusparse **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : 2; /* CUSPARSE_STATUS_ALLOC_FAILED */
}

int cusparseDestroy(struct gd_cusparse *handle)
{
	free(handle);
	return 0;
}

int cusparseSetStream(struct gd_cusparse *handle, CUstream stream)
{
	if (!handle)
		return 1; /* CUSPARSE_STATUS_NOT_INITIALIZED */
	handle->stream = stream;
	return 0;
}

int cusparseSetPointerMode(struct gd_cusparse *handle, int mode)
{
	if (!handle)
		return 1;
	handle->pointer_mode = mode;
	return 0;
}

const char *cusparseGetErrorString(int status)
{
	switch (status) {
	case 0:
		return "success";
	case 2:
		return "resource allocation failed";
	case GD_REFUSAL_cusparse:
		return "operation not supported";
	default:
		return "unrecognized error code";
	}
}
