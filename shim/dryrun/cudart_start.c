/* SPDX-License-Identifier: Apache-2.0 */
/* First use: the driver's functions, cuInit, and the primary context of a thread's device. */
#include <pthread.h>

#include "cudart.h"
#include "driver_door.h"

struct gd_driver gd_driver, gd_driver_ptsz;
__thread struct gd_rt_thread gd_rt_thread;
_Atomic uint64_t gd_rt_epoch = 1;

static const uint32_t nobody;
const uint32_t *_Atomic gd_rt_watched = &nobody;
static void (*call_begin)(struct gd_call *, const char *, uint32_t);
static void (*call_end)(struct gd_call *, int);

static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool started;

/* What a thread calls when this driver lacks a function. */
static CUresult missing_function(void)
{
	return CUDA_ERROR_NOT_SUPPORTED;
}

static void *ask(const char *name, int version, cuuint64_t flags)
{
	void *function = gd_driver_function(name, version, flags);

	return function ? function : (void *)missing_function;
}

/* Everything at once, as the real runtime does. */
static void ask_for_all(void)
{
#define GD_ASK(name, version) \
	*(void **)&gd_driver.name = ask(#name, version, CU_GET_PROC_ADDRESS_DEFAULT); \
	*(void **)&gd_driver_ptsz.name = *(void **)&gd_driver.name;
#define GD_ASK_ORDERED(name, version, per_thread) \
	*(void **)&gd_driver.name = ask(#name, version, CU_GET_PROC_ADDRESS_DEFAULT); \
	*(void **)&gd_driver_ptsz.name = \
	    ask(#name, per_thread, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
	GD_DRIVER_FUNCTIONS(GD_ASK, GD_ASK_ORDERED)
#undef GD_ASK
#undef GD_ASK_ORDERED
}

/* Only the stand-in driver shows calls; there is no other one here, but nothing hangs on it. */
static void find_watch(void)
{
	const uint32_t *watched = gd_driver_extra("gpushim_dryrun_watched");

	*(void **)&call_begin = gd_driver_extra("gpushim_dryrun_call_begin");
	*(void **)&call_end = gd_driver_extra("gpushim_dryrun_call_end");
	if (watched && call_begin && call_end)
		gd_rt_watched = watched;
}

void gd_rt_call_begin(struct gd_call *call, const char *name)
{
	gd_rt_thread.failed = cudaSuccess;
	call_begin(call, name, GD_CALL_RUNTIME);
}

void gd_rt_call_end(struct gd_call *call)
{
	call_end(call, (int)gd_rt_thread.failed);
}

static cudaError_t start_locked(void)
{
	CUresult result;

	if (started)
		return cudaSuccess;
	if (!gd_driver_function("cuInit", 2000, 0))
		return cudaErrorInsufficientDriver;
	find_watch();
	ask_for_all();
	result = gd_driver.cuInit(0);
	if (result == CUDA_SUCCESS)
		started = true;
	return (cudaError_t)result;
}

cudaError_t gd_rt_start(void)
{
	cudaError_t error;

	if (atomic_load_explicit(&started, memory_order_acquire))
		return cudaSuccess;
	pthread_mutex_lock(&start_lock);
	error = start_locked();
	pthread_mutex_unlock(&start_lock);
	return error;
}

cudaError_t gd_rt_bind(void)
{
	/* Read first: a reset from here on makes this thread look again. */
	uint64_t epoch = atomic_load_explicit(&gd_rt_epoch, memory_order_acquire);
	CUcontext context;
	CUdevice device;
	CUresult result;

	GD_START_INSIDE();
	result = gd_driver.cuCtxGetDevice(&device);
	if (result == CUDA_ERROR_INVALID_CONTEXT || result == CUDA_ERROR_CONTEXT_IS_DESTROYED) {
		result = gd_driver.cuDeviceGet(&device, gd_rt_thread.device);
		if (result == CUDA_SUCCESS)
			result = gd_driver.cuDevicePrimaryCtxRetain(&context, device);
		if (result == CUDA_SUCCESS)
			result = gd_driver.cuCtxSetCurrent(context);
	}
	if (result != CUDA_SUCCESS)
		return gd_rt_note((cudaError_t)result);
	gd_rt_thread.bound = epoch;
	return cudaSuccess;
}
