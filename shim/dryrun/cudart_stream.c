/* SPDX-License-Identifier: Apache-2.0 */
/* Life of streams and events. */
#include "cudart.h"

GD_EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuStreamCreate(stream, CU_STREAM_DEFAULT));
}

GD_EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuStreamCreate(stream, flags));
}

GD_EXPORT cudaError_t cudaStreamCreateWithPriority(
    cudaStream_t *stream, unsigned flags, int priority)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuStreamCreateWithPriority(stream, flags, priority));
}

GD_EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuStreamDestroy(stream));
}

GD_EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
	CUstreamCaptureMode exchanged;
	cudaError_t error;

	GD_BIND();
	if (!mode)
		return gd_rt_note(cudaErrorInvalidValue);
	exchanged = (CUstreamCaptureMode)*mode;
	error = gd_rt_result(gd_driver.cuThreadExchangeStreamCaptureMode(&exchanged));
	if (!error)
		*mode = (enum cudaStreamCaptureMode)exchanged;
	return error;
}

GD_EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuEventCreate(event, CU_EVENT_DEFAULT));
}

GD_EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuEventCreate(event, flags));
}

GD_EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuEventDestroy(event));
}

GD_EXPORT cudaError_t cudaEventQuery(cudaEvent_t event)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuEventQuery(event));
}

GD_EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuEventSynchronize(event));
}

GD_EXPORT cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuEventElapsedTime(milliseconds, start, end));
}
