/* SPDX-License-Identifier: Apache-2.0 */
/* cuSOLVER: handles and bags of parameters. */
#include "cusolver_handle.h"

#include <stdlib.h>

GD_EXPORT int cusolverDnCreate(struct gd_cusolver **out);
GD_EXPORT int cusolverDnDestroy(struct gd_cusolver *handle);
GD_EXPORT int cusolverDnSetStream(struct gd_cusolver *handle, CUstream stream);

int cusolverDnCreate(struct gd_cusolver **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? GD_CUSOLVER_SUCCESS : GD_CUSOLVER_ALLOC_FAILED;
}

int cusolverDnDestroy(struct gd_cusolver *handle)
{
	free(handle);
	return GD_CUSOLVER_SUCCESS;
}

int cusolverDnSetStream(struct gd_cusolver *handle, CUstream stream)
{
	if (!handle)
		return GD_CUSOLVER_NOT_INITIALIZED;
	handle->stream = stream;
	return GD_CUSOLVER_SUCCESS;
}

/* Parameters tune an iteration that is not done: they are kept as a pointer to be freed. */
#define GD_PARAMETERS(name) \
	GD_EXPORT int cusolverDnCreate##name(void **out); \
	int cusolverDnCreate##name(void **out) \
	{ \
		*out = malloc(1); \
		return *out ? GD_CUSOLVER_SUCCESS : GD_CUSOLVER_ALLOC_FAILED; \
	} \
	GD_EXPORT int cusolverDnDestroy##name(void *parameters); \
	int cusolverDnDestroy##name(void *parameters) \
	{ \
		free(parameters); \
		return GD_CUSOLVER_SUCCESS; \
	}
GD_PARAMETERS(Params)
GD_PARAMETERS(GesvdjInfo)
GD_PARAMETERS(SyevjInfo)

#define GD_SETTING(name, type) \
	GD_EXPORT int cusolverDn##name(void *parameters, type value); \
	int cusolverDn##name(void *parameters, type value) \
	{ \
		return GD_CUSOLVER_SUCCESS; \
	}
GD_SETTING(XgesvdjSetTolerance, double)
GD_SETTING(XgesvdjSetMaxSweeps, int)
GD_SETTING(XgesvdjSetSortEig, int)
GD_SETTING(XsyevjSetTolerance, double)
GD_SETTING(XsyevjSetMaxSweeps, int)
GD_SETTING(XsyevjSetSortEig, int)
