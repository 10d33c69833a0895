/* SPDX-License-Identifier: Apache-2.0 */
/* Device, managed and host memory; pointers; memory of other processes and devices. */
#include <string.h>

#include "cudart.h"

GD_EXPORT cudaError_t cudaMemGetInfo(size_t *free, size_t *total)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemGetInfo(free, total));
}

GD_EXPORT cudaError_t cudaMalloc(void **out, size_t bytes)
{
	CUdeviceptr address = 0;
	cudaError_t error;

	GD_BIND();
	if (!out)
		return gd_rt_note(cudaErrorInvalidValue);
	*out = NULL;
	if (bytes == 0)
		return cudaSuccess;
	error = gd_rt_result(gd_driver.cuMemAlloc(&address, bytes));
	if (!error)
		*out = (void *)(uintptr_t)address;
	return error;
}

GD_EXPORT cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
	CUdeviceptr address = 0;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(gd_driver.cuMemAllocPitch(&address, pitch, width, height, 4));
	if (!error)
		*out = (void *)(uintptr_t)address;
	return error;
}

GD_EXPORT cudaError_t cudaMalloc3D(struct cudaPitchedPtr *out, struct cudaExtent extent)
{
	GD_WATCH();
	size_t pitch;
	void *address;
	cudaError_t error =
	    cudaMallocPitch(&address, &pitch, extent.width, extent.height * extent.depth);

	if (!error)
		*out = (struct cudaPitchedPtr){address, pitch, extent.width, extent.height};
	return error;
}

GD_EXPORT cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
	CUdeviceptr address = 0;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(gd_driver.cuMemAllocManaged(&address, bytes, flags));
	if (!error)
		*out = (void *)(uintptr_t)address;
	return error;
}

#if CUDART_VERSION >= 13000
GD_EXPORT cudaError_t cudaMemAdvise(const void *address, size_t bytes, enum cudaMemoryAdvise advice,
    struct cudaMemLocation location)
{
	CUmemLocation where = {.type = (CUmemLocationType)location.type, .id = location.id};

	GD_BIND();
	return gd_rt_result(gd_driver.cuMemAdvise(
	    (CUdeviceptr)(uintptr_t)address, bytes, (CUmem_advise)advice, where));
}
#else
GD_EXPORT cudaError_t cudaMemAdvise(
    const void *address, size_t bytes, enum cudaMemoryAdvise advice, int device)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemAdvise(
	    (CUdeviceptr)(uintptr_t)address, bytes, (CUmem_advise)advice, device));
}
#endif

/* cudaFree(0) is the idiom for "make the context now": GD_BIND has done it. */
GD_EXPORT cudaError_t cudaFree(void *address)
{
	GD_BIND();
	if (!address)
		return cudaSuccess;
	return gd_rt_result(gd_driver.cuMemFree((CUdeviceptr)(uintptr_t)address));
}

GD_EXPORT cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemHostAlloc(out, bytes, flags));
}

GD_EXPORT cudaError_t cudaMallocHost(void **out, size_t bytes)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemHostAlloc(out, bytes, 0));
}

GD_EXPORT cudaError_t cudaFreeHost(void *address)
{
	GD_BIND();
	if (!address)
		return cudaSuccess;
	return gd_rt_result(gd_driver.cuMemFreeHost(address));
}

GD_EXPORT cudaError_t cudaHostRegister(void *address, size_t bytes, unsigned flags)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemHostRegister(address, bytes, flags));
}

GD_EXPORT cudaError_t cudaHostUnregister(void *address)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemHostUnregister(address));
}

GD_EXPORT cudaError_t cudaHostGetDevicePointer(void **out, void *address, unsigned flags)
{
	CUdeviceptr found = 0;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(gd_driver.cuMemHostGetDevicePointer(&found, address, flags));
	if (!error)
		*out = (void *)(uintptr_t)found;
	return error;
}

GD_EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *address)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemHostGetFlags(flags, address));
}

static enum cudaMemoryType type_of(unsigned memory_type, unsigned managed)
{
	if (managed)
		return cudaMemoryTypeManaged;
	switch (memory_type) {
	case CU_MEMORYTYPE_HOST:
		return cudaMemoryTypeHost;
	case CU_MEMORYTYPE_DEVICE:
		return cudaMemoryTypeDevice;
	default:
		return cudaMemoryTypeUnregistered;
	}
}

/* Memory the driver does not know is an answer, not an error. */
GD_EXPORT cudaError_t cudaPointerGetAttributes(
    struct cudaPointerAttributes *out, const void *address)
{
	CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
	    CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL,
	    CU_POINTER_ATTRIBUTE_DEVICE_POINTER, CU_POINTER_ATTRIBUTE_HOST_POINTER};
	unsigned memory_type = 0, managed = 0;
	int ordinal = 0;
	CUdeviceptr on_device = 0;
	void *on_host = NULL;
	void *values[] = {&memory_type, &managed, &ordinal, &on_device, &on_host};
	cudaError_t error;

	GD_BIND();
	if (!out)
		return gd_rt_note(cudaErrorInvalidValue);
	error = gd_rt_result(gd_driver.cuPointerGetAttributes(
	    sizeof(wanted) / sizeof(*wanted), wanted, values, (CUdeviceptr)(uintptr_t)address));
	if (error)
		return error;
	memset(out, 0, sizeof(*out));
	out->type = type_of(memory_type, managed);
	if (out->type == cudaMemoryTypeUnregistered) {
		out->device = -2; /* what the real one says: cudaInvalidDeviceId */
		out->hostPointer = (void *)address;
		return cudaSuccess;
	}
	out->device = ordinal;
	out->devicePointer = (void *)(uintptr_t)on_device;
	out->hostPointer = on_host;
	return cudaSuccess;
}

static cudaError_t contexts_of(
    int to_device, int from_device, CUcontext *to_out, CUcontext *from_out)
{
	cudaError_t error = gd_rt_context(to_device, to_out);

	return error ? error : gd_rt_context(from_device, from_out);
}

GD_EXPORT cudaError_t cudaMemcpyPeer(
    void *to, int to_device, const void *from, int from_device, size_t bytes)
{
	CUcontext to_context, from_context;
	cudaError_t error;

	GD_BIND();
	error = contexts_of(to_device, from_device, &to_context, &from_context);
	if (error)
		return error;
	return gd_rt_result(gd_driver.cuMemcpyPeer((CUdeviceptr)(uintptr_t)to, to_context,
	    (CUdeviceptr)(uintptr_t)from, from_context, bytes));
}

GD_EXPORT cudaError_t cudaMemcpyPeerAsync(
    void *to, int to_device, const void *from, int from_device, size_t bytes, cudaStream_t stream)
{
	CUcontext to_context, from_context;
	cudaError_t error;

	GD_BIND();
	error = contexts_of(to_device, from_device, &to_context, &from_context);
	if (error)
		return error;
	return gd_rt_result(gd_driver.cuMemcpyPeerAsync((CUdeviceptr)(uintptr_t)to, to_context,
	    (CUdeviceptr)(uintptr_t)from, from_context, bytes, stream));
}

_Static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(CUipcMemHandle), "IPC handle");
_Static_assert(sizeof(cudaIpcEventHandle_t) == sizeof(CUipcEventHandle), "IPC handle");

GD_EXPORT cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t *handle, void *address)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuIpcGetMemHandle((CUipcMemHandle *)handle, (CUdeviceptr)(uintptr_t)address));
}

GD_EXPORT cudaError_t cudaIpcOpenMemHandle(void **out, cudaIpcMemHandle_t handle, unsigned flags)
{
	CUipcMemHandle copy;
	CUdeviceptr address = 0;
	cudaError_t error;

	GD_BIND();
	memcpy(&copy, &handle, sizeof(copy));
	error = gd_rt_result(gd_driver.cuIpcOpenMemHandle(&address, copy, flags));
	if (!error)
		*out = (void *)(uintptr_t)address;
	return error;
}

GD_EXPORT cudaError_t cudaIpcCloseMemHandle(void *address)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuIpcCloseMemHandle((CUdeviceptr)(uintptr_t)address));
}

GD_EXPORT cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuIpcGetEventHandle((CUipcEventHandle *)handle, event));
}

GD_EXPORT cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
	CUipcEventHandle copy;

	GD_BIND();
	memcpy(&copy, &handle, sizeof(copy));
	return gd_rt_result(gd_driver.cuIpcOpenEventHandle(event, copy));
}
