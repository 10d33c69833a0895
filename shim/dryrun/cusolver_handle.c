/* SPDX-License-Identifier: Apache-2.0 */
/* cuSOLVER: handles; factorisations are refused by the stubs. */
#include <cuda.h>
#include <stdlib.h>

#include "gd_export.h"
#include "unprovided.h"

struct gd_cusolver {
	CUstream stream;
};

GD_EXPORT int cusolverDnCreate(struct gd_cusolver **out);
GD_EXPORT int cusolverDnDestroy(struct gd_cusolver *handle);
GD_EXPORT int cusolverDnSetStream(struct gd_cusolver *handle, CUstream stream);

int cusolverDnCreate(struct gd_cusolver **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : 2; /* CUSOLVER_STATUS_ALLOC_FAILED */
}

int cusolverDnDestroy(struct gd_cusolver *handle)
{
	free(handle);
	return 0;
}

int cusolverDnSetStream(struct gd_cusolver *handle, CUstream stream)
{
	if (!handle)
		return 1; /* CUSOLVER_STATUS_NOT_INITIALIZED */
	handle->stream = stream;
	return 0;
}
