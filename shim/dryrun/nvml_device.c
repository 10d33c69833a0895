/* SPDX-License-Identifier: Apache-2.0 */
/*
 * NVML: what can be known about the devices without using them.  It must not initialise CUDA:
 * programs ask it exactly to avoid that before they fork.  Facts come from the same table as the
 * driver's, memory in use from the state that the processes of a run share.
 */
#include <errno.h>
#include <signal.h>
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

/* The first interface's entries are the first two fields. */
struct process_v1 {
	unsigned pid;
	unsigned long long used_bytes;
};

#define GD_NO_INSTANCE 0xffffffffu /* the device is not divided */

/* A handle is the address of one of these. */
static char handles[GD_MAX_DEVICES];
static bool started;

static int index_of(const char *handle, unsigned *out)
{
	if (!started)
		return NVML_UNINITIALIZED;
	if (handle < handles || handle >= handles + gd_facts.count)
		return NVML_INVALID_ARGUMENT;
	*out = (unsigned)(handle - handles);
	return NVML_SUCCESS;
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
	started = gd_device_table_start();
	return started ? NVML_SUCCESS : NVML_UNKNOWN;
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
	if (!started)
		return NVML_UNINITIALIZED;
	*count = gd_facts.count;
	return NVML_SUCCESS;
}

int nvmlDeviceGetCount(unsigned *count)
{
	return nvmlDeviceGetCount_v2(count);
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, char **out)
{
	if (!started)
		return NVML_UNINITIALIZED;
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
	if (!started)
		return NVML_UNINITIALIZED;
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

	if (!started)
		return NVML_UNINITIALIZED;
	for (unsigned i = 0; i < gd_facts.count; i++) {
		write_uuid(i, own);
		if (strcasecmp(own, uuid) == 0)
			return nvmlDeviceGetHandleByIndex_v2(i, out);
	}
	return NVML_NOT_FOUND;
}

int nvmlDeviceGetIndex(const char *handle, unsigned *out)
{
	return index_of(handle, out);
}

int nvmlDeviceGetName(const char *handle, char *to, unsigned length)
{
	unsigned device;
	int status = index_of(handle, &device);

	return status == NVML_SUCCESS ? text(gd_facts.name, to, length) : status;
}

int nvmlDeviceGetUUID(const char *handle, char *to, unsigned length)
{
	unsigned device;
	char own[48];
	int status = index_of(handle, &device);

	if (status != NVML_SUCCESS)
		return status;
	write_uuid(device, own);
	return text(own, to, length);
}

int nvmlDeviceGetPciInfo_v3(const char *handle, struct pci *out)
{
	unsigned device;
	int status = index_of(handle, &device);

	if (status != NVML_SUCCESS)
		return status;
	*out = (struct pci){.bus = gd_device_pci_bus(device)};
	snprintf(out->legacy_id, sizeof(out->legacy_id), "0000:%02X:00.0", out->bus);
	snprintf(out->id, sizeof(out->id), "00000000:%02X:00.0", out->bus);
	return NVML_SUCCESS;
}

int nvmlDeviceGetCudaComputeCapability(const char *handle, int *major, int *minor)
{
	unsigned device;
	int status = index_of(handle, &device);

	if (status != NVML_SUCCESS)
		return status;
	*major = gd_facts.major;
	*minor = gd_facts.minor;
	return NVML_SUCCESS;
}

/*
 * The state is mapped anew each time: these calls are rare, and a run may begin after the first.
 *
 * @param state_out  NULL when nobody has used a device yet
 * @return NVML_SUCCESS; not supported when this run shares no state: its use is not known here
 */
static int map_state(struct gd_shared **state_out)
{
	const char *path = getenv("GPUSHIM_DRYRUN_SHARED");

	if (!path || !*path)
		return GD_REFUSAL_nvml;
	*state_out = gd_shared_map(path);
	return NVML_SUCCESS;
}

static void unmap_state(struct gd_shared *state)
{
	if (state)
		munmap(state, sizeof(*state));
}

/* Bytes that the process in a slot holds on a device; 0 for a free slot and for a dead process,
 * whose memory the next one that asks the driver gets. */
static uint64_t held(const struct gd_shared_process *slot, unsigned device)
{
	int pid = slot->pid;

	if (!pid || (kill(pid, 0) != 0 && errno == ESRCH))
		return 0;
	return slot->used_bytes[device] + slot->context_bytes[device];
}

int nvmlDeviceGetMemoryInfo_v2(const char *handle, struct memory_v2 *out)
{
	struct gd_shared *state;
	unsigned device;
	int status = index_of(handle, &device);

	if (status == NVML_SUCCESS)
		status = map_state(&state);
	if (status != NVML_SUCCESS)
		return status;
	out->total = gd_facts.total_bytes;
	out->reserved = 0;
	out->used = 0;
	for (unsigned i = 0; state && i < GD_MAX_PROCESSES; i++)
		out->used += held(&state->processes[i], device);
	unmap_state(state);
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

/* Fills up to *count entries of `stride` bytes and counts on; *count becomes how many there are. */
static int processes(const char *handle, unsigned *count, char *out, size_t stride)
{
	struct gd_shared *state;
	unsigned device, found = 0, room = out ? *count : 0;
	int status = index_of(handle, &device);

	if (status == NVML_SUCCESS)
		status = map_state(&state);
	if (status != NVML_SUCCESS)
		return status;
	for (unsigned i = 0; state && i < GD_MAX_PROCESSES; i++) {
		struct process entry = {(unsigned)state->processes[i].pid,
		    held(&state->processes[i], device), GD_NO_INSTANCE, GD_NO_INSTANCE};

		if (!entry.used_bytes)
			continue;
		if (found < room)
			memcpy(out + found * stride, &entry, stride);
		found++;
	}
	unmap_state(state);
	*count = found;
	return found > room ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
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
