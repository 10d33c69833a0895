/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/questions.h"

struct gs_questions gs_ask;
uint32_t gs_captures;

GS_HOT uint16_t gs_device(struct gs_thread *thread)
{
	if (GS_LIKELY(thread->device != GF_DEVICE_UNKNOWN))
		return thread->device;
	CUdevice device;
	if (gs_ask.cuCtxGetDevice && gs_ask.cuCtxGetDevice(&device) == CUDA_SUCCESS)
		thread->device = (uint16_t)device;
	return thread->device;
}

void gs_device_changed(void)
{
	if (gs_tls.thread)
		gs_tls.thread->device = GF_DEVICE_UNKNOWN;
}

void gs_capture_count(int change)
{
	if (change > 0) {
		__atomic_fetch_add(&gs_captures, 1, __ATOMIC_RELAXED);
		return;
	}
	/* A capture that began before the recording may end in it: stay at 0. */
	uint32_t count = __atomic_load_n(&gs_captures, __ATOMIC_RELAXED);
	while (count && !__atomic_compare_exchange_n(&gs_captures, &count, count - 1, true,
			    __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

void gs_questions_forget(void)
{
	gs_captures = 0;
}

bool gs_is_captured(CUstream stream, bool per_thread)
{
	CUstreamCaptureStatus status = 0;
	CUresult (*ask)(CUstream, CUstreamCaptureStatus *) =
	    per_thread && gs_ask.cuStreamIsCapturing_ptsz ? gs_ask.cuStreamIsCapturing_ptsz
							  : gs_ask.cuStreamIsCapturing;
	/* For the legacy stream the answer may be an error: then it is not the one in capture. */
	return ask && ask(stream, &status) == CUDA_SUCCESS &&
	    status == CU_STREAM_CAPTURE_STATUS_ACTIVE;
}
