/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML: what can be known about the devices without using them.  It must not initialise CUDA:
 * programs ask it exactly to avoid that before they fork.  Facts come from the same table as the
 * driver's, memory in use from the state that the processes of a run share.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>

#include "device_table.h"
#include "gd_export.h"
#include "shared_state.h"
#include "unprovided.h"

enum {
	NVML_SUCCESS = 0,
	NVML_UNINITIALIZED = 1,
	NVML_INVALID_ARGUMENT = 2,
	NVML_NOT_FOUND = 6,
	NVML_INSUFFICIENT_SIZE = 7,
	NVML_UNKNOWN = 999,
};

#define GD_DRIVER_VERSION "580.65.06"
#define GD_DRIVER_CUDA_VERSION 13020

struct pci { /* nvmlPciInfo_t */
	char legacy_id[16];
	unsigned domain, bus, device, device_id, subsystem_id;
	char id[32];
};

struct memory { /* nvmlMemory_t */
	unsigned long long total, free, used;
};

struct memory_v2 { /* nvmlMemory_v2_t */
	unsigned version;
	unsigned long long total, reserved, free, used;
};

struct process { /* nvmlProcessInfo_t of the second and third interface */
	unsigned pid;
	unsigned long long used_bytes;
	unsigned instance, compute_instance;
};

struct process_v1 {
	unsigned pid;
	unsigned long long used_bytes;
};

/* A handle is the address of one of these. */
static char handles[GD_MAX_DEVICES];

static bool index_of(const char *handle, unsigned *out)
{
	if (handle < handles || handle >= handles + gd_facts.count)
		return false;
	*out = (unsigned)(handle - handles);
	return true;
}

GD_EXPORT int nvmlInit_v2(void);
GD_EXPORT int nvmlInit(void);
GD_EXPORT int nvmlInitWithFlags(unsigned flags);
GD_EXPORT int nvmlShutdown(void);
GD_EXPORT const char *nvmlErrorString(int status);
GD_EXPORT int nvmlSystemGetDriverVersion(char *text, unsigned length);
GD_EXPORT int nvmlSystemGetNVMLVersion(char *text, unsigned length);
GD_EXPORT int nvmlSystemGetCudaDriverVersion(int *version);
GD_EXPORT int nvmlSystemGetCudaDriverVersion_v2(int *version);
GD_EXPORT int nvmlDeviceGetCount(unsigned *count);
GD_EXPORT int nvmlDeviceGetCount_v2(unsigned *count);
GD_EXPORT int nvmlDeviceGetHandleByIndex(unsigned index, char **out);
GD_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, char **out);
GD_EXPORT int nvmlDeviceGetHandleByPciBusId(const char *id, char **out);
GD_EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char *id, char **out);
GD_EXPORT int nvmlDeviceGetHandleByUUID(const char *uuid, char **out);
GD_EXPORT int nvmlDeviceGetIndex(const char *handle, unsigned *out);
GD_EXPORT int nvmlDeviceGetName(const char *handle, char *text, unsigned length);
GD_EXPORT int nvmlDeviceGetUUID(const char *handle, char *text, unsigned length);
GD_EXPORT int nvmlDeviceGetPciInfo_v3(const char *handle, struct pci *out);
GD_EXPORT int nvmlDeviceGetCudaComputeCapability(const char *handle, int *major, int *minor);
GD_EXPORT int nvmlDeviceGetMemoryInfo(const char *handle, struct memory *out);
GD_EXPORT int nvmlDeviceGetMemoryInfo_v2(const char *handle, struct memory_v2 *out);
GD_EXPORT int nvmlDeviceGetComputeRunningProcesses(
    const char *handle, unsigned *count, struct process_v1 *out);
GD_EXPORT int nvmlDeviceGetComputeRunningProcesses_v2(
    const char *handle, unsigned *count, struct process *out);
GD_EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(
    const char *handle, unsigned *count, struct process *out);

int nvmlInit_v2(void)
{
	return gd_device_table_start() ? NVML_SUCCESS : NVML_UNKNOWN;
}

int nvmlInit(void)
{
	return nvmlInit_v2();
}

int nvmlInitWithFlags(unsigned flags)
{
	return nvmlInit_v2();
}

int nvmlShutdown(void)
{
	return NVML_SUCCESS;
}

const char *nvmlErrorString(int status)
{
	switch (status) {
	case NVML_SUCCESS:
		return "Success";
	case NVML_UNINITIALIZED:
		return "Uninitialized";
	case NVML_INVALID_ARGUMENT:
		return "Invalid Argument";
	case GD_REFUSAL_nvml:
		return "Not Supported";
	case NVML_NOT_FOUND:
		return "Not Found";
	case NVML_INSUFFICIENT_SIZE:
		return "Insufficient Size";
	default:
		return "Unknown Error";
	}
}

static int text(const char *from, char *to, unsigned length)
{
	int written = snprintf(to, length, "%s", from);

	return written >= 0 && (unsigned)written < length ? NVML_SUCCESS : NVML_INSUFFICIENT_SIZE;
}

int nvmlSystemGetDriverVersion(char *to, unsigned length)
{
	return text(GD_DRIVER_VERSION, to, length);
}

int nvmlSystemGetNVMLVersion(char *to, unsigned length)
{
	return text("13." GD_DRIVER_VERSION, to, length);
}

int nvmlSystemGetCudaDriverVersion(int *version)
{
	*version = GD_DRIVER_CUDA_VERSION;
	return NVML_SUCCESS;
}

int nvmlSystemGetCudaDriverVersion_v2(int *version)
{
	return nvmlSystemGetCudaDriverVersion(version);
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
	*count = gd_facts.count;
	return NVML_SUCCESS;
}

int nvmlDeviceGetCount(unsigned *count)
{
	return nvmlDeviceGetCount_v2(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, char **out)
{
	if (index >= gd_facts.count)
		return NVML_INVALID_ARGUMENT;
	*out = &handles[index];
	return NVML_SUCCESS;
}

int nvmlDeviceGetHandleByIndex(unsigned index, char **out)
{
	return nvmlDeviceGetHandleByIndex_v2(index, out);
}

/* "[domain:]bus:device.function", hexadecimal; the domain has 4 or 8 digits. */
int nvmlDeviceGetHandleByPciBusId_v2(const char *id, char **out)
{
	unsigned domain = 0, bus, device;

	if (sscanf(id, "%x:%x:%x", &domain, &bus, &device) != 3 &&
	    (domain = 0, sscanf(id, "%x:%x", &bus, &device)) != 2)
		return NVML_INVALID_ARGUMENT;
	for (unsigned i = 0; i < gd_facts.count; i++) {
		if (domain == 0 && gd_device_pci_bus(i) == bus && device == 0)
			return nvmlDeviceGetHandleByIndex_v2(i, out);
	}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId(const char *id, char **out)
{
	return nvmlDeviceGetHandleByPciBusId_v2(id, out);
}

static void write_uuid(unsigned device, char out[48])
{
	unsigned char u[16];

	gd_device_uuid(device, u);
	snprintf(out, 48,
	    "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1],
	    u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14],
	    u[15]);
}

int nvmlDeviceGetHandleByUUID(const char *uuid, char **out)
{
	char own[48];

	for (unsigned i = 0; i < gd_facts.count; i++) {
		write_uuid(i, own);
		if (strcasecmp(own, uuid) == 0)
			return nvmlDeviceGetHandleByIndex_v2(i, out);
	}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetIndex(const char *handle, unsigned *out)
{
	return index_of(handle, out) ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

int nvmlDeviceGetName(const char *handle, char *to, unsigned length)
{
	unsigned device;

	return index_of(handle, &device) ? text(gd_facts.name, to, length) : NVML_INVALID_ARGUMENT;
}

int nvmlDeviceGetUUID(const char *handle, char *to, unsigned length)
{
	unsigned device;
	char own[48];

	if (!index_of(handle, &device))
		return NVML_INVALID_ARGUMENT;
	write_uuid(device, own);
	return text(own, to, length);
}

int nvmlDeviceGetPciInfo_v3(const char *handle, struct pci *out)
{
	unsigned device;

	if (!index_of(handle, &device))
		return NVML_INVALID_ARGUMENT;
	*out = (struct pci){.bus = gd_device_pci_bus(device)};
	snprintf(out->legacy_id, sizeof(out->legacy_id), "0000:%02X:00.0", out->bus);
	snprintf(out->id, sizeof(out->id), "00000000:%02X:00.0", out->bus);
	return NVML_SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(const char *handle, int *major, int *minor)
{
	unsigned device;

	if (!index_of(handle, &device))
		return NVML_INVALID_ARGUMENT;
	*major = gd_facts.major;
	*minor = gd_facts.minor;
	return NVML_SUCCESS;
}

/* The state is mapped anew each time: these calls are rare, and a run may begin after the first. */
static struct gd_shared *map_state(void)
{
	const char *path = getenv("GPUSHIM_DRYRUN_SHARED");

	return path ? gd_shared_map(path) : NULL;
}

int nvmlDeviceGetMemoryInfo_v2(const char *handle, struct memory_v2 *out)
{
	unsigned device;
	struct gd_shared *state;

	if (!index_of(handle, &device))
		return NVML_INVALID_ARGUMENT;
	state = map_state();
	out->total = gd_facts.total_bytes;
	out->reserved = 0;
	out->used = 0; /* nobody has used a device yet */
	if (state) {
		out->used =
		    state->devices[device].used_bytes + state->devices[device].context_bytes;
		munmap(state, sizeof(*state));
	}
	out->free = out->total > out->used ? out->total - out->used : 0;
	return NVML_SUCCESS;
}

int nvmlDeviceGetMemoryInfo(const char *handle, struct memory *out)
{
	struct memory_v2 found;
	int status = nvmlDeviceGetMemoryInfo_v2(handle, &found);

	if (status == NVML_SUCCESS)
		*out = (struct memory){found.total, found.free, found.used};
	return status;
}

/* Fills up to *count entries, then counts on; `each` gets pid, bytes and the place. */
static int processes(const char *handle, unsigned *count, char *out, size_t stride)
{
	struct gd_shared *state = map_state();
	unsigned device, found = 0;

	if (!index_of(handle, &device) || !state) {
		if (state)
			munmap(state, sizeof(*state));
		*count = 0;
		return NVML_SUCCESS;
	}
	for (unsigned i = 0; i < GD_MAX_PROCESSES; i++) {
		const struct gd_shared_process *slot = &state->processes[i];
		struct process_v1 entry = {
		    (unsigned)slot->pid, slot->used_bytes[device] + slot->context_bytes[device]};

		if (!slot->pid || !entry.used_bytes)
			continue;
		if (found < *count && out) {
			memset(out + found * stride, 0, stride);
			memcpy(out + found * stride, &entry, sizeof(entry));
		}
		found++;
	}
	munmap(state, sizeof(*state));
	stride = *count;
	*count = found;
	return found > stride ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses(
    const char *handle, unsigned *count, struct process_v1 *out)
{
	return processes(handle, count, (char *)out, sizeof(*out));
}

int nvmlDeviceGetComputeRunningProcesses_v2(
    const char *handle, unsigned *count, struct process *out)
{
	return processes(handle, count, (char *)out, sizeof(*out));
}

int nvmlDeviceGetComputeRunningProcesses_v3(
    const char *handle, unsigned *count, struct process *out)
{
	return processes(handle, count, (char *)out, sizeof(*out));
}

/* Asked for on every system with expandable segments; no fabric is an answer, not a gap. */
GD_EXPORT int nvmlDeviceGetGpuFabricInfo(const char *handle, void *out);
GD_EXPORT int nvmlDeviceGetGpuFabricInfoV(const char *handle, void *out);

int nvmlDeviceGetGpuFabricInfo(const char *handle, void *out)
{
	return GD_REFUSAL_nvml;
}

int nvmlDeviceGetGpuFabricInfoV(const char *handle, void *out)
{
	return GD_REFUSAL_nvml;
}
