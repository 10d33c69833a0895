/* SPDX-License-Identifier: Apache-2.0 */
/* NVRTC: version, architectures and texts. */
#include <cuda.h>
#include <string.h>

#include "gd_export.h"
#include "unprovided.h"

static const int architectures[] = {50, 60, 70, 75, 80, 86, 89, 90, 100, 103, 110, 120};

GD_EXPORT int nvrtcVersion(int *major, int *minor);
GD_EXPORT int nvrtcGetNumSupportedArchs(int *count);
GD_EXPORT int nvrtcGetSupportedArchs(int *out);
GD_EXPORT const char *nvrtcGetErrorString(int status);

int nvrtcVersion(int *major, int *minor)
{
	*major = CUDA_VERSION / 1000;
	*minor = CUDA_VERSION % 1000 / 10;
	return 0;
}

int nvrtcGetNumSupportedArchs(int *count)
{
	*count = (int)(sizeof(architectures) / sizeof(*architectures));
	return 0;
}

int nvrtcGetSupportedArchs(int *out)
{
	memcpy(out, architectures, sizeof(architectures));
	return 0;
}

const char *nvrtcGetErrorString(int status)
{
	static const char *const texts[] = {"NVRTC_SUCCESS", "NVRTC_ERROR_OUT_OF_MEMORY",
	    "NVRTC_ERROR_PROGRAM_CREATION_FAILURE", "NVRTC_ERROR_INVALID_INPUT",
	    "NVRTC_ERROR_INVALID_PROGRAM", "NVRTC_ERROR_INVALID_OPTION", "NVRTC_ERROR_COMPILATION",
	    "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
	    "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
	    "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
	    "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID", "NVRTC_ERROR_INTERNAL_ERROR"};

	if (status < 0 || (unsigned)status >= sizeof(texts) / sizeof(*texts))
		return "NVRTC_ERROR unknown";
	return texts[status];
}
