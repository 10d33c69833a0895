/* SPDX-License-Identifier: Apache-2.0 */
/* cuDevice*: what the devices are. */
#include <stdio.h>
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/visible_devices.h"

GD_API(cuDeviceGet, (CUdevice * device_out, int ordinal), (device_out, ordinal))
{
	if (!device_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(ordinal))
		return CUDA_ERROR_INVALID_DEVICE;
	*device_out = ordinal;
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetCount, (int *count_out), (count_out))
{
	if (!count_out)
		return CUDA_ERROR_INVALID_VALUE;
	*count_out = (int)gd_visible_count;
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetName, (char *name_out, int room, CUdevice device), (name_out, room, device))
{
	if (!name_out || room <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name_out, (size_t)room, "%s", gd_facts.name);
	return CUDA_SUCCESS;
}

static CUresult uuid(CUuuid *uuid_out, CUdevice device)
{
	if (!uuid_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	gd_device_uuid(gd_physical[device], (unsigned char *)uuid_out->bytes);
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetUuid, (CUuuid * uuid_out, CUdevice device), (uuid_out, device))
{
	return uuid(uuid_out, device);
}

GD_API(cuDeviceGetUuid_v2, (CUuuid * uuid_out, CUdevice device), (uuid_out, device))
{
	return uuid(uuid_out, device);
}

GD_API(cuDeviceTotalMem_v2, (size_t * bytes_out, CUdevice device), (bytes_out, device))
{
	if (!bytes_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*bytes_out = gd_facts.total_bytes;
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetAttribute, (int *value_out, CUdevice_attribute attribute, CUdevice device),
    (value_out, attribute, device))
{
	if (!value_out || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*value_out = gd_device_attribute((int)attribute, (unsigned)device);
	return CUDA_SUCCESS;
}

GD_API(cuDeviceComputeCapability, (int *major_out, int *minor_out, CUdevice device),
    (major_out, minor_out, device))
{
	if (!major_out || !minor_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*major_out = gd_facts.major;
	*minor_out = gd_facts.minor;
	return CUDA_SUCCESS;
}

GD_API(
    cuDeviceGetProperties, (CUdevprop * properties_out, CUdevice device), (properties_out, device))
{
	if (!properties_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*properties_out = (CUdevprop){.maxThreadsPerBlock = 1024,
	    .maxThreadsDim = {1024, 1024, 64},
	    .maxGridSize = {2147483647, 65535, 65535},
	    .sharedMemPerBlock = 49152,
	    .totalConstantMemory = 65536,
	    .SIMDWidth = 32,
	    .memPitch = 2147483647,
	    .regsPerBlock = 65536,
	    .clockRate = gd_facts.clock_khz,
	    .textureAlign = 512};
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetPCIBusId, (char *id_out, int room, CUdevice device), (id_out, room, device))
{
	if (!id_out || room < 13)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(id_out, (size_t)room, "0000:%02X:00.0", gd_device_pci_bus(gd_physical[device]));
	return CUDA_SUCCESS;
}

/* [domain:]bus:device[.function], in hexadecimal. */
GD_API(cuDeviceGetByPCIBusId, (CUdevice * device_out, const char *id), (device_out, id))
{
	unsigned domain = 0, bus, slot;
	if (!device_out || !id)
		return CUDA_ERROR_INVALID_VALUE;
	if (sscanf(id, "%x:%x:%x", &domain, &bus, &slot) != 3) {
		domain = 0;
		if (sscanf(id, "%x:%x", &bus, &slot) != 2)
			return CUDA_ERROR_INVALID_VALUE;
	}
	for (unsigned d = 0; d < gd_visible_count; d++) {
		if (domain || slot || bus != gd_device_pci_bus(gd_physical[d]))
			continue;
		*device_out = (CUdevice)d;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_DEVICE;
}

GD_API(cuDeviceGetTexture1DLinearMaxWidth,
    (size_t * width_out, CUarray_format format, unsigned channels, CUdevice device),
    (width_out, format, channels, device))
{
	if (!width_out || !channels || channels > 4)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*width_out = 268435456;
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetExecAffinitySupport, (int *value_out, CUexecAffinityType type, CUdevice device),
    (value_out, type, device))
{
	if (!value_out || (unsigned)type >= CU_EXEC_AFFINITY_TYPE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*value_out = 0;
	return CUDA_SUCCESS;
}

/* ---- peers: all devices reach each other ---- */

GD_API(cuDeviceCanAccessPeer, (int *value_out, CUdevice device, CUdevice peer),
    (value_out, device, peer))
{
	if (!value_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device) || !gd_device_visible(peer))
		return CUDA_ERROR_INVALID_DEVICE;
	*value_out = device != peer;
	return CUDA_SUCCESS;
}

GD_API(cuDeviceGetP2PAttribute,
    (int *value_out, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer),
    (value_out, attribute, device, peer))
{
	if (!value_out)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_visible(device) || !gd_device_visible(peer) || device == peer)
		return CUDA_ERROR_INVALID_DEVICE;
	switch (attribute) {
	case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
		*value_out = gd_facts.nvlink_per_s ? 0 : 1;
		return CUDA_SUCCESS;
	case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
	case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
		*value_out = 1;
		return CUDA_SUCCESS;
	case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
		*value_out = gd_facts.nvlink_per_s != 0;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}
