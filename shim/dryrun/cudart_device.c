/* SPDX-License-Identifier: Apache-2.0 */
/* Devices: which one is current, what they can do, peers, limits. */
#include "cudart.h"

GD_EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
	if (!version)
		return gd_rt_note(cudaErrorInvalidValue);
	*version = CUDART_VERSION;
	return cudaSuccess;
}

GD_EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
	if (!version)
		return gd_rt_note(cudaErrorInvalidValue);
	*version = 0; /* documented answer when there is no driver */
	if (gd_rt_start() == cudaErrorInsufficientDriver)
		return cudaSuccess;
	return gd_rt_result(gd_driver.cuDriverGetVersion(version));
}

GD_EXPORT cudaError_t cudaGetDeviceCount(int *count)
{
	if (!count)
		return gd_rt_note(cudaErrorInvalidValue);
	*count = 0;
	GD_START();
	gd_rt_result(gd_driver.cuDeviceGetCount(count));
	return *count ? cudaSuccess : gd_rt_note(cudaErrorNoDevice);
}

/* A context that the program made current by the driver interface decides, else what was set; the
 * driver is started. */
static int current_device(void)
{
	CUdevice current;

	if (gd_driver.cuCtxGetDevice(&current) == CUDA_SUCCESS)
		gd_rt_thread.device = current;
	return gd_rt_thread.device;
}

GD_EXPORT cudaError_t cudaGetDevice(int *device)
{
	if (!device)
		return gd_rt_note(cudaErrorInvalidValue);
	GD_START();
	*device = current_device();
	return cudaSuccess;
}

/* Before CUDA 12 the context of a device was made by the first call that needs it. */
static bool makes_context(CUdevice device)
{
	unsigned flags;
	int active = 1;

	if (CUDART_VERSION < 12000)
		gd_driver.cuDevicePrimaryCtxGetState(device, &flags, &active);
	return active;
}

GD_EXPORT cudaError_t cudaSetDevice(int ordinal)
{
	CUdevice device, current;
	CUcontext context = NULL;
	CUresult result = CUDA_SUCCESS;
	uint64_t epoch = atomic_load_explicit(&gd_rt_epoch, memory_order_acquire);
	bool bind;

	GD_START();
	if (gd_rt_bound() && gd_rt_thread.device == ordinal &&
	    gd_driver.cuCtxGetDevice(&current) == CUDA_SUCCESS && current == ordinal)
		return cudaSuccess;
	if (gd_driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	bind = makes_context(device);
	if (bind)
		result = gd_driver.cuDevicePrimaryCtxRetain(&context, device);
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuCtxSetCurrent(context);
	if (result != CUDA_SUCCESS)
		return gd_rt_result(result);
	gd_rt_thread.device = ordinal;
	gd_rt_thread.bound = bind ? epoch : 0;
	return cudaSuccess;
}

#if CUDART_VERSION >= 12000
GD_EXPORT cudaError_t cudaInitDevice(int ordinal, unsigned device_flags, unsigned flags)
{
	CUdevice device;
	CUcontext context;
	CUresult result;

	GD_START();
	result = gd_driver.cuDeviceGet(&device, ordinal);
	if (result == CUDA_SUCCESS && (flags & cudaInitDeviceFlagsAreValid))
		result = gd_driver.cuDevicePrimaryCtxSetFlags(device, device_flags);
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuDevicePrimaryCtxRetain(&context, device);
	return gd_rt_result(result);
}
#endif

GD_EXPORT cudaError_t cudaSetDeviceFlags(unsigned flags)
{
	CUdevice device;
	CUresult result;

	GD_START();
	result = gd_driver.cuDeviceGet(&device, current_device());
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuDevicePrimaryCtxSetFlags(device, flags & cudaDeviceMask);
	return gd_rt_result(result);
}

GD_EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
	CUdevice device;
	CUresult result;
	int active;

	GD_START();
	result = gd_driver.cuDeviceGet(&device, current_device());
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuDevicePrimaryCtxGetState(device, flags, &active);
	return gd_rt_result(result);
}

GD_EXPORT cudaError_t cudaDeviceSynchronize(void)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuCtxSynchronize());
}

GD_EXPORT cudaError_t cudaDeviceReset(void)
{
	CUdevice device;
	CUresult result;

	GD_START();
	result = gd_driver.cuDeviceGet(&device, current_device());
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuDevicePrimaryCtxReset(device);
	if (result != CUDA_SUCCESS)
		return gd_rt_result(result);
	gd_rt_modules_ended(device);
	atomic_fetch_add(&gd_rt_epoch, 1);
	return cudaSuccess;
}

/* Attribute numbers are the driver's. */
GD_EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int ordinal)
{
	CUdevice device;

	GD_START();
	if (gd_driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	return gd_rt_result(
	    gd_driver.cuDeviceGetAttribute(value, (CUdevice_attribute)attribute, device));
}

GD_EXPORT cudaError_t cudaDeviceGetPCIBusId(char *text, int length, int ordinal)
{
	CUdevice device;

	GD_START();
	if (gd_driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	return gd_rt_result(gd_driver.cuDeviceGetPCIBusId(text, length, device));
}

GD_EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *ordinal, const char *text)
{
	CUdevice device;
	cudaError_t error;

	GD_START();
	error = gd_rt_result(gd_driver.cuDeviceGetByPCIBusId(&device, text));
	if (!error)
		*ordinal = device;
	return error;
}

GD_EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int ordinal, int peer)
{
	CUdevice a, b;

	GD_START();
	if (gd_driver.cuDeviceGet(&a, ordinal) != CUDA_SUCCESS ||
	    gd_driver.cuDeviceGet(&b, peer) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	return gd_rt_result(gd_driver.cuDeviceCanAccessPeer(can, a, b));
}

GD_EXPORT cudaError_t cudaDeviceGetP2PAttribute(
    int *value, enum cudaDeviceP2PAttr attribute, int from, int to)
{
	CUdevice a, b;

	GD_START();
	if (gd_driver.cuDeviceGet(&a, from) != CUDA_SUCCESS ||
	    gd_driver.cuDeviceGet(&b, to) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	return gd_rt_result(
	    gd_driver.cuDeviceGetP2PAttribute(value, (CUdevice_P2PAttribute)attribute, a, b));
}

cudaError_t gd_rt_context(int ordinal, CUcontext *out)
{
	CUdevice device;

	if (gd_driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	return gd_rt_result(gd_driver.cuDevicePrimaryCtxRetain(out, device));
}

GD_EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
	CUcontext context;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_context(peer, &context);
	return error ? error : gd_rt_result(gd_driver.cuCtxEnablePeerAccess(context, flags));
}

GD_EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
	CUcontext context;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_context(peer, &context);
	return error ? error : gd_rt_result(gd_driver.cuCtxDisablePeerAccess(context));
}

GD_EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuCtxGetStreamPriorityRange(least, greatest));
}

GD_EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuCtxGetLimit(value, (CUlimit)limit));
}

GD_EXPORT cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuCtxSetLimit((CUlimit)limit, value));
}

GD_EXPORT cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
	CUfunc_cache found;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(gd_driver.cuCtxGetCacheConfig(&found));
	if (!error)
		*config = (enum cudaFuncCache)found;
	return error;
}

GD_EXPORT cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuCtxSetCacheConfig((CUfunc_cache)config));
}

/* cuda_profiler_api.h is in none of the header packages that the build needs. */
GD_EXPORT cudaError_t cudaProfilerStart(void);
GD_EXPORT cudaError_t cudaProfilerStop(void);

cudaError_t cudaProfilerStart(void)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuProfilerStart());
}

cudaError_t cudaProfilerStop(void)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuProfilerStop());
}
