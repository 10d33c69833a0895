/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools, and what graphs hold of memory.  Attribute numbers and structs are the driver's. */
#include <string.h>

#include "cudart.h"

_Static_assert(sizeof(struct cudaMemAccessDesc) == sizeof(CUmemAccessDesc), "access description");
_Static_assert(sizeof(struct cudaMemPoolProps) == sizeof(CUmemPoolProps), "pool properties");

static cudaError_t device_of(int ordinal, CUdevice *out)
{
	GD_START_INSIDE();
	if (gd_driver.cuDeviceGet(out, ordinal) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	return cudaSuccess;
}

GD_EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int ordinal)
{
	GD_WATCH();
	CUdevice device;
	cudaError_t error = device_of(ordinal, &device);

	return error ? error : gd_rt_result(gd_driver.cuDeviceGetDefaultMemPool(pool, device));
}

GD_EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int ordinal)
{
	GD_WATCH();
	CUdevice device;
	cudaError_t error = device_of(ordinal, &device);

	return error ? error : gd_rt_result(gd_driver.cuDeviceGetMemPool(pool, device));
}

GD_EXPORT cudaError_t cudaDeviceSetMemPool(int ordinal, cudaMemPool_t pool)
{
	GD_WATCH();
	CUdevice device;
	cudaError_t error = device_of(ordinal, &device);

	return error ? error : gd_rt_result(gd_driver.cuDeviceSetMemPool(device, pool));
}

GD_EXPORT cudaError_t cudaMemPoolCreate(
    cudaMemPool_t *pool, const struct cudaMemPoolProps *properties)
{
	CUmemPoolProps copy;

	GD_BIND();
	memcpy(&copy, properties, sizeof(copy));
	return gd_rt_result(gd_driver.cuMemPoolCreate(pool, &copy));
}

GD_EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemPoolDestroy(pool));
}

GD_EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t bytes)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuMemPoolTrimTo(pool, bytes));
}

GD_EXPORT cudaError_t cudaMemPoolSetAttribute(
    cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuMemPoolSetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

GD_EXPORT cudaError_t cudaMemPoolGetAttribute(
    cudaMemPool_t pool, enum cudaMemPoolAttr attribute, void *value)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)attribute, value));
}

GD_EXPORT cudaError_t cudaMemPoolSetAccess(
    cudaMemPool_t pool, const struct cudaMemAccessDesc *list, size_t count)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuMemPoolSetAccess(pool, (const CUmemAccessDesc *)list, count));
}

GD_EXPORT cudaError_t cudaMemPoolGetAccess(
    enum cudaMemAccessFlags *flags, cudaMemPool_t pool, struct cudaMemLocation *location)
{
	CUmemLocation where = {.type = (CUmemLocationType)location->type, .id = location->id};
	CUmemAccess_flags found;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(gd_driver.cuMemPoolGetAccess(&found, pool, &where));
	if (!error)
		*flags = (enum cudaMemAccessFlags)found;
	return error;
}

GD_EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(
    int ordinal, enum cudaGraphMemAttributeType attribute, void *value)
{
	GD_WATCH();
	CUdevice device;
	cudaError_t error = device_of(ordinal, &device);

	return error ? error
		     : gd_rt_result(gd_driver.cuDeviceGetGraphMemAttribute(
			   device, (CUgraphMem_attribute)attribute, value));
}

GD_EXPORT cudaError_t cudaDeviceSetGraphMemAttribute(
    int ordinal, enum cudaGraphMemAttributeType attribute, void *value)
{
	GD_WATCH();
	CUdevice device;
	cudaError_t error = device_of(ordinal, &device);

	return error ? error
		     : gd_rt_result(gd_driver.cuDeviceSetGraphMemAttribute(
			   device, (CUgraphMem_attribute)attribute, value));
}

GD_EXPORT cudaError_t cudaDeviceGraphMemTrim(int ordinal)
{
	GD_WATCH();
	CUdevice device;
	cudaError_t error = device_of(ordinal, &device);

	return error ? error : gd_rt_result(gd_driver.cuDeviceGraphMemTrim(device));
}
