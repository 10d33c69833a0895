/* SPDX-License-Identifier: Apache-2.0 */
/* Hints about managed memory.  It does not move here, so they are checked and change nothing. */
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/host_memory.h"
#include "shim/dryrun/streams.h"
#include "shim/dryrun/visible_devices.h"

static bool managed(CUdeviceptr address, size_t bytes)
{
	struct gd_host_range range;
	return bytes && gd_host_find(address, &range) && range.kind == GD_HOST_MANAGED &&
	       bytes <= range.bytes - (address - range.start);
}

static bool valid_place(CUmemLocation location)
{
	switch (location.type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		return gd_device_visible(location.id);
	case CU_MEM_LOCATION_TYPE_HOST:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA:
	case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
		return true;
	default:
		return false;
	}
}

/* The first interface names the host by a number. */
static CUmemLocation place_of(CUdevice device)
{
	CUmemLocation location = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
	location.id = device;
	if (device == CU_DEVICE_CPU)
		location.type = CU_MEM_LOCATION_TYPE_HOST;
	return location;
}

static CUresult advise(
    CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
	if (!managed(address, bytes) || advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
	    advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
		return CUDA_ERROR_INVALID_VALUE;
	bool placeless = advice == CU_MEM_ADVISE_SET_READ_MOSTLY ||
			 advice == CU_MEM_ADVISE_UNSET_READ_MOSTLY ||
			 advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
	return placeless || valid_place(location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

GD_API(cuMemAdvise, (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUdevice device),
    (address, bytes, advice, device))
{
	return advise(address, bytes, advice, place_of(device));
}

GD_API(cuMemAdvise_v2,
    (CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location),
    (address, bytes, advice, location))
{
	return advise(address, bytes, advice, location);
}

static CUresult prefetch(
    CUstream handle, bool per_thread, CUdeviceptr address, size_t bytes, CUmemLocation location)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!managed(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	return valid_place(location) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

GD_API_PTSZ(cuMemPrefetchAsync,
    (CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream),
    (address, bytes, device, stream))
{
	return prefetch(stream, per_thread, address, bytes, place_of(device));
}

GD_API_PTSZ(cuMemPrefetchAsync_v2,
    (CUdeviceptr address, size_t bytes, CUmemLocation location, unsigned int flags,
	CUstream stream),
    (address, bytes, location, flags, stream))
{
	return prefetch(stream, per_thread, address, bytes, location);
}

GD_API_PTSZ(cuStreamAttachMemAsync,
    (CUstream handle, CUdeviceptr address, size_t bytes, unsigned int flags),
    (handle, address, bytes, flags))
{
	struct gd_host_range range;
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST &&
	    flags != CU_MEM_ATTACH_SINGLE)
		return CUDA_ERROR_INVALID_VALUE;
	return gd_host_find(address, &range) && range.kind == GD_HOST_MANAGED
		   ? CUDA_SUCCESS
		   : CUDA_ERROR_INVALID_VALUE;
}

/* Nothing was advised as far as the device remembers: no preferred place, nobody accesses. */
GD_API(cuMemRangeGetAttribute,
    (void *data_out, size_t room, CUmem_range_attribute attribute, CUdeviceptr address,
	size_t bytes),
    (data_out, room, attribute, address, bytes))
{
	const int none = CU_DEVICE_INVALID;
	if (!data_out || room < sizeof(int) || !managed(address, bytes))
		return CUDA_ERROR_INVALID_VALUE;
	switch (attribute) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		memset(data_out, 0, sizeof(int));
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		memcpy(data_out, &none, sizeof(none));
		return CUDA_SUCCESS;
	case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
		for (size_t i = 0; i + sizeof(int) <= room; i += sizeof(int))
			memcpy((char *)data_out + i, &none, sizeof(none));
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}
