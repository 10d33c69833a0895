/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorder itself asks the driver.  All are mere questions: they neither block nor
 * initialise, and are allowed while a stream is being captured.
 *
 * Threads: any, but never from a torch hook, which runs under PyTorch's allocator lock.
 */
#ifndef GS_QUESTIONS_H
#define GS_QUESTIONS_H

#include <stdint.h>

#include "shim/cuda_types.h"
#include "shim/producer.h"

/* Q(function, parameter types...): exported names; a pointer is NULL if the driver lacks it. */
#define GS_QUESTIONS(Q) \
	Q(cuCtxGetDevice, CUdevice *) \
	Q(cuStreamIsCapturing, CUstream, CUstreamCaptureStatus *) \
	Q(cuStreamIsCapturing_ptsz, CUstream, CUstreamCaptureStatus *) \
	Q(cuFuncGetName, const char **, CUfunction) \
	Q(cuKernelGetName, const char **, CUkernel) \
	Q(cuDriverGetVersion, int *) \
	Q(cuDeviceGetCount, int *) \
	Q(cuDeviceGetName, char *, int, CUdevice) \
	Q(cuDeviceTotalMem_v2, size_t *, CUdevice) \
	Q(cuDeviceGetAttribute, int *, int, CUdevice) \
	Q(cuDeviceGetUuid_v2, char *, CUdevice) \
	Q(cuDeviceGetPCIBusId, char *, int, CUdevice)

struct gs_questions {
#define Q(fn, ...) CUresult (*fn)(__VA_ARGS__);
	GS_QUESTIONS(Q)
#undef Q
};
extern struct gs_questions gs_ask GS_HIDDEN;

/** Device of this thread's current context; asked once, then after each change of context. */
uint16_t gs_device(struct gs_thread *thread) GS_HIDDEN;

/** This thread's context may have changed. */
void gs_device_changed(void) GS_HIDDEN;

/** A capture began (+1) or ended (-1) somewhere in the process. */
void gs_capture_count(int change) GS_HIDDEN;

/** In a fork child: no capture of the parent goes on here. */
void gs_questions_forget(void) GS_HIDDEN;

extern uint32_t gs_captures GS_HIDDEN; /* streams in capture, an upper bound */

/** Whether work on this stream becomes a graph node; asks only while something is captured. */
bool gs_is_captured(CUstream stream, bool per_thread) GS_HIDDEN;

/** GF_FLAG_CAPTURED or 0 for a call with a stream. */
static inline uint32_t gs_captured_flag(const struct gs_call *call, CUstream stream)
{
	if (GS_LIKELY(__atomic_load_n(&gs_captures, __ATOMIC_RELAXED) == 0))
		return 0;
	return gs_is_captured(stream, call->flags & GF_FLAG_PER_THREAD) ? GF_FLAG_CAPTURED : 0;
}

#endif
