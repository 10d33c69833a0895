/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the stand-in CUDA runtime: the driver's functions, what a thread remembers, the kernels
 * that programs registered.  Compiled once per CUDA major against that major's headers.
 *
 * The runtime keeps no device state of its own: every call is a translation into driver calls,
 * which is also what makes it an honest test of whoever watches the driver.
 */
#ifndef GD_CUDART_H
#define GD_CUDART_H

#include <cuda.h>
#include <cudaTypedefs.h>
#include <cuda_runtime_api.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "call_watch.h"
#include "cudart_driver.h"
#include "gd_export.h"
#include "profiler_api.h"
#include "unprovided.h"

/* The driver's functions, one pointer per row of the table; filled by gd_rt_start. */
struct gd_driver {
#define GD_POINTER(name, version) PFN_##name##_v##version name;
#define GD_POINTER_ORDERED(name, version, per_thread) PFN_##name##_v##version name;
	GD_DRIVER_FUNCTIONS(GD_POINTER, GD_POINTER_ORDERED)
#undef GD_POINTER
#undef GD_POINTER_ORDERED
};
extern struct gd_driver gd_driver;	/* stream 0 is the legacy default stream */
extern struct gd_driver gd_driver_ptsz; /* stream 0 is the per-thread one */

/*
 * cudart_ordered_*.c hold the functions whose stream 0 depends on how the program was compiled.
 * They are compiled twice; the second time cuda_runtime_api.h gives them their _ptsz names.
 */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define GD_ORDERED gd_driver_ptsz
#else
#define GD_ORDERED gd_driver
#endif

/* What a thread remembers between calls. */
struct gd_rt_thread {
	int device;	/* set by cudaSetDevice; used until a context is current */
	uint64_t bound; /* gd_rt_epoch when a context was last seen current; 0 for never */
	cudaError_t last;
	cudaError_t failed; /* of the call in progress; only told when calls are watched */
	dim3 grid, block; /* between __cudaPushCallConfiguration and the launch */
	size_t shared_bytes;
	cudaStream_t stream;
};
extern __thread struct gd_rt_thread gd_rt_thread;

/* Grows when cudaDeviceReset ends a context, which may be current in any thread; never 0. */
extern _Atomic uint64_t gd_rt_epoch;

/** @return whether this thread saw a context since the last reset */
static inline bool gd_rt_bound(void)
{
	return gd_rt_thread.bound == atomic_load_explicit(&gd_rt_epoch, memory_order_acquire);
}

/**
 * Open the driver and initialise it, once per process.
 *
 * @return cudaSuccess; cudaErrorInsufficientDriver without a driver; what cuInit answered
 */
cudaError_t gd_rt_start(void);

/**
 * Retain the primary context of this thread's device and make it current, unless a living context
 * is: the program may have chosen another one by the driver interface.
 *
 * @return cudaSuccess, or the driver's refusal, already noted as the thread's last error
 */
cudaError_t gd_rt_bind(void);

/**
 * Retain the primary context of any device, for calls between devices; the driver is started.
 *
 * @return cudaSuccess; cudaErrorInvalidDevice; the driver's refusal; noted as the last error
 */
cudaError_t gd_rt_context(int ordinal, CUcontext *out);

/* The driver's gpushim_dryrun_watched once the driver is there. */
extern const uint32_t *_Atomic gd_rt_watched;

/** Slow halves of GD_WATCH. */
void gd_rt_call_begin(struct gd_call *call, const char *name);
void gd_rt_call_end(struct gd_call *call);

static inline bool gd_rt_is_watched(void)
{
	const uint32_t *watched = atomic_load_explicit(&gd_rt_watched, memory_order_acquire);
	return __atomic_load_n(watched, __ATOMIC_RELAXED) & GD_WATCH_CALLS;
}

static inline void gd_rt_call_leave(struct gd_call *call)
{
	if (__builtin_expect(call->name != NULL, 0))
		gd_rt_call_end(call);
}

/** Show this call to who watches calls, from here to the end of the function. */
#define GD_WATCH() \
	__attribute__((cleanup(gd_rt_call_leave))) struct gd_call watched_call_; \
	watched_call_.name = NULL; \
	if (__builtin_expect(gd_rt_is_watched(), 0)) \
		gd_rt_call_begin(&watched_call_, __func__)

/** What every function begins with: bind a context, or return why not; the fast way past gd_rt_bind. */
#define GD_BIND() \
	GD_WATCH(); \
	GD_BIND_INSIDE()
#define GD_BIND_INSIDE() \
	do { \
		if (__builtin_expect(!gd_rt_bound(), 0)) { \
			cudaError_t bind_ = gd_rt_bind(); \
			if (bind_) \
				return bind_; \
		} \
	} while (0)

/** The same for calls that need the driver but no context. */
#define GD_START() \
	GD_WATCH(); \
	GD_START_INSIDE()
#define GD_START_INSIDE() \
	do { \
		cudaError_t start_ = gd_rt_start(); \
		if (start_) \
			return gd_rt_note(start_); \
	} while (0)

/** Note an error as the thread's last one; success leaves the last one in place. */
static inline cudaError_t gd_rt_note(cudaError_t error)
{
	if (__builtin_expect(error != cudaSuccess, 0))
		gd_rt_thread.last = gd_rt_thread.failed = error;
	return error;
}

/** Result of a driver call as the runtime's: the numbers are the same since CUDA 10.1. */
static inline cudaError_t gd_rt_result(CUresult result)
{
	/* Somebody took the context away: bind again next time. */
	if (__builtin_expect(
		result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED,
		0))
		gd_rt_thread.bound = 0;
	return gd_rt_note((cudaError_t)result);
}

/**
 * Find the driver's handle of a kernel, loading its library on first use.
 *
 * @param function  host symbol of a registered kernel, or a handle of the driver
 * @param out       handle for cuLaunchKernel and cuFuncGetAttribute
 * @return cudaSuccess; cudaErrorInvalidDeviceFunction; the driver's refusal to load
 *
 * Threads: any.  Cost: one hash probe once loaded.
 */
cudaError_t gd_rt_kernel(const void *function, CUfunction *out);

/** Forget the handles that ended with the primary context of a device. */
void gd_rt_modules_ended(CUdevice device);

/**
 * Virtual architecture a registered kernel was compiled for, as cudaFuncGetAttributes reports it:
 * the newest in its fat binary that the device can run.
 *
 * @param function       host symbol
 * @param device_number  compute capability of the device, e.g. 89
 * @return e.g. 86; 0 when unknown
 */
int gd_rt_kernel_arch(const void *function, int device_number);

/**
 * Find a registered variable on the device.
 *
 * @param symbol       host shadow of the variable
 * @param address_out  its device address; may be NULL
 * @param size_out     its bytes; may be NULL
 * @return cudaSuccess; cudaErrorInvalidSymbol
 */
cudaError_t gd_rt_symbol(const void *symbol, CUdeviceptr *address_out, size_t *size_out);

#endif
