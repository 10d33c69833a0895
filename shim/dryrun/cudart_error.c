/* SPDX-License-Identifier: Apache-2.0 */
/* The last error of a thread, and the words for it. */
#include "cudart.h"
#include "cudart_texts.h"

/* Once such an error has happened the context is lost: clearing the last error does not help. */
static bool is_sticky(cudaError_t error)
{
	switch (error) {
	case cudaErrorECCUncorrectable:
	case cudaErrorIllegalAddress:
	case cudaErrorLaunchTimeout:
	case cudaErrorAssert:
	case cudaErrorHardwareStackError:
	case cudaErrorIllegalInstruction:
	case cudaErrorMisalignedAddress:
	case cudaErrorInvalidAddressSpace:
	case cudaErrorInvalidPc:
	case cudaErrorLaunchFailure:
		return true;
	default:
		return false;
	}
}

GD_EXPORT cudaError_t cudaGetLastError(void)
{
	GD_WATCH();
	cudaError_t last = gd_rt_thread.last;

	gd_rt_thread.failed = last;
	if (!is_sticky(last))
		gd_rt_thread.last = cudaSuccess;
	return last;
}

GD_EXPORT cudaError_t cudaPeekAtLastError(void)
{
	GD_WATCH();
	gd_rt_thread.failed = gd_rt_thread.last;
	return gd_rt_thread.last;
}

GD_EXPORT const char *cudaGetErrorName(cudaError_t error)
{
	switch ((int)error) {
#define GD_NAME(name, number, text) \
	case number: \
		return #name;
		GD_ERROR_TEXTS(GD_NAME)
#undef GD_NAME
	default:
		return "unrecognized error code";
	}
}

GD_EXPORT const char *cudaGetErrorString(cudaError_t error)
{
	switch ((int)error) {
#define GD_TEXT(name, number, text) \
	case number: \
		return text;
		GD_ERROR_TEXTS(GD_TEXT)
#undef GD_TEXT
	default:
		return "unrecognized error code";
	}
}
