/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC: version and texts.  There is no compiler: creating a program is refused by its stub. */
#include <cuda.h>

#include "gd_export.h"
#include "unprovided.h"

GD_EXPORT int nvrtcVersion(int *major, int *minor);
GD_EXPORT const char *nvrtcGetErrorString(int status);
GD_EXPORT int nvrtcGetNumSupportedArchs(int *count);

int nvrtcVersion(int *major, int *minor)
{
	*major = CUDA_VERSION / 1000;
	*minor = CUDA_VERSION % 1000 / 10;
	return 0;
}

const char *nvrtcGetErrorString(int status)
{
	return status == 0 ? "NVRTC_SUCCESS"
	    : status == GD_REFUSAL_nvrtc
	    ? "NVRTC_ERROR_INTERNAL_ERROR (the stand-in GPU has no run-time compiler)"
	    : "NVRTC_ERROR";
}

int nvrtcGetNumSupportedArchs(int *count)
{
	*count = 0;
	return 0;
}
