/* SPDX-License-Identifier: Apache-2.0 */
/* Hints about managed memory.  It does not move here, so they are checked, and told when asked for.
 */
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/host_memory.h"
#include "shim/dryrun/streams.h"
#include "shim/dryrun/visible_devices.h"

static bool managed(CUdeviceptr address, size_t bytes, struct gd_host_range *range_out)
{
	return bytes && gd_host_find(address, range_out) && range_out->kind == GD_HOST_MANAGED &&
	       bytes <= range_out->bytes - (address - range_out->start);
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

static void set_accessor(struct gd_host_advice *kept, CUmemLocation location, bool set)
{
	uint64_t bit =
	    location.type == CU_MEM_LOCATION_TYPE_DEVICE ? UINT64_C(1) << location.id : 0;
	if (!bit)
		kept->host = set;
	else if (set)
		kept->devices |= bit;
	else
		kept->devices &= ~bit;
}

/* What is said of a part is not kept; what is unsaid of a part does not hold for the whole. */
static void keep(
    struct gd_host_advice *kept, CUmem_advise advice, CUmemLocation location, bool whole)
{
	static const CUmemLocation nowhere;
	switch (advice) {
	case CU_MEM_ADVISE_SET_READ_MOSTLY:
		kept->read_mostly |= whole;
		break;
	case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
		kept->read_mostly = false;
		break;
	case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
		kept->preferred = whole ? location : nowhere;
		break;
	case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
		kept->preferred = nowhere;
		break;
	case CU_MEM_ADVISE_SET_ACCESSED_BY:
		if (whole)
			set_accessor(kept, location, true);
		break;
	default: /* CU_MEM_ADVISE_UNSET_ACCESSED_BY */
		set_accessor(kept, location, false);
		break;
	}
}

static CUresult advise(
    CUdeviceptr address, size_t bytes, CUmem_advise advice, CUmemLocation location)
{
	struct gd_host_range range;
	if (!managed(address, bytes, &range) || advice < CU_MEM_ADVISE_SET_READ_MOSTLY ||
	    advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
		return CUDA_ERROR_INVALID_VALUE;
	bool placeless = advice == CU_MEM_ADVISE_SET_READ_MOSTLY ||
			 advice == CU_MEM_ADVISE_UNSET_READ_MOSTLY ||
			 advice == CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION;
	if (!placeless && !valid_place(location))
		return CUDA_ERROR_INVALID_DEVICE;
	keep(&range.advice, advice, location, bytes == range.bytes);
	gd_host_advise(address, &range.advice);
	return CUDA_SUCCESS;
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
	struct gd_host_range range;
	if (!managed(address, bytes, &range))
		return CUDA_ERROR_INVALID_VALUE;
	if (!valid_place(location))
		return CUDA_ERROR_INVALID_DEVICE;
	range.advice.prefetched =
	    bytes == range.bytes ? location : (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_INVALID};
	gd_host_advise(address, &range.advice);
	return CUDA_SUCCESS;
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

/* The first interface's number of a place. */
static int number_of(CUmemLocation place)
{
	switch (place.type) {
	case CU_MEM_LOCATION_TYPE_DEVICE:
		return place.id;
	case CU_MEM_LOCATION_TYPE_HOST:
		return CU_DEVICE_CPU;
	default:
		return CU_DEVICE_INVALID;
	}
}

static void list_accessors(int *list, size_t count, const struct gd_host_advice *advice)
{
	size_t i = 0;
	if (advice->host && i < count)
		list[i++] = CU_DEVICE_CPU;
	for (int device = 0; device < 64 && i < count; device++) {
		if (advice->devices >> device & 1)
			list[i++] = device;
	}
	while (i < count)
		list[i++] = CU_DEVICE_INVALID;
}

static CUresult range_attribute(void *data_out, size_t room, CUmem_range_attribute attribute,
    const struct gd_host_advice *advice)
{
	int value;
	if (!data_out || !room || room % sizeof(int))
		return CUDA_ERROR_INVALID_VALUE;
	if (attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY) {
		list_accessors(data_out, room / sizeof(int), advice);
		return CUDA_SUCCESS;
	}
	switch (attribute) {
	case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
		value = advice->read_mostly;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
		value = number_of(advice->preferred);
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
		value = number_of(advice->prefetched);
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
		value = (int)advice->preferred.type;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
		value = advice->preferred.id;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
		value = (int)advice->prefetched.type;
		break;
	case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
		value = advice->prefetched.id;
		break;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
	if (room != sizeof(value))
		return CUDA_ERROR_INVALID_VALUE;
	memcpy(data_out, &value, sizeof(value));
	return CUDA_SUCCESS;
}

GD_API(cuMemRangeGetAttribute,
    (void *data_out, size_t room, CUmem_range_attribute attribute, CUdeviceptr address,
	size_t bytes),
    (data_out, room, attribute, address, bytes))
{
	struct gd_host_range range;
	if (!managed(address, bytes, &range))
		return CUDA_ERROR_INVALID_VALUE;
	return range_attribute(data_out, room, attribute, &range.advice);
}

GD_API(cuMemRangeGetAttributes,
    (void **data_out, size_t *rooms, CUmem_range_attribute *attributes, size_t count,
	CUdeviceptr address, size_t bytes),
    (data_out, rooms, attributes, count, address, bytes))
{
	struct gd_host_range range;
	CUresult result = CUDA_SUCCESS;
	if (!data_out || !rooms || !attributes || !count || !managed(address, bytes, &range))
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = range_attribute(data_out[i], rooms[i], attributes[i], &range.advice);
	return result;
}
