/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/properties.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "formats/settings_table.h"
#include "shim/environment.h"
#include "shim/questions.h"
#include "shim/resolve.h"
#include "shim/settings.h"
#include "shim/torch_hooks.h"

#ifndef GS_VERSION /* the Makefile gives it */
#define GS_VERSION "unknown"
#endif

/* Python's version: both are mere data, no interpreter lock is needed.  NULL: not found (yet). */
static const unsigned long *gs_python_number; /* since 3.11 */
static const char *(*gs_python_text)(void);

/* What this trace has; helper thread only. */
static struct gs_properties_told {
	bool python, torch, devices;
} gs_told;

void gs_property(struct gs_thread *thread, const char *name, const char *value)
{
	if (!value)
		return;
	char text[GF_TEXT_MAX_BYTES + 2]; /* one too many: then it is known to be cut */
	struct gs_line line;
	gs_line_start(&line, text, sizeof(text));
	gs_line_bytes(&line, name, strlen(name) + 1);
	gs_line_text(&line, value);
	gs_append_text(thread, GF_TEXT_PROPERTY, 0, text, line.length);
}

static void gs_notice(struct gs_thread *thread, const char *text)
{
	gs_append_text(thread, GF_TEXT_NOTICE, 0, text, strlen(text));
}

static void gs_property_number(struct gs_thread *thread, const char *name, uint64_t value)
{
	char text[32];
	struct gs_line line;
	gs_line_start(&line, text, sizeof(text));
	gs_line_number(&line, value, 10, 1);
	gs_property(thread, name, text);
}

/* Up to `room` bytes of a file; 0 if it cannot be read. */
static size_t gs_read_file(const char *path, char *bytes, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	size_t count = 0;
	while (fd >= 0 && count < room) {
		ssize_t got = read(fd, bytes + count, room - count);
		if (got <= 0)
			break;
		count += (size_t)got;
	}
	if (fd >= 0)
		close(fd);
	return count;
}

/* ---- program ---- */

static const char *gs_last_part(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The argument that names what Python runs, or NULL: `-m module`, or the first without a dash. */
static const char *gs_python_script(const char *at, const char *end)
{
	for (; at < end; at += strlen(at) + 1) {
		if (at[0] != '-' || !at[1])
			return at[0] == '-' ? NULL : at;
		if (strcmp(at, "-c") == 0)
			return NULL;
		if (strcmp(at, "-m") == 0) {
			const char *module = at + 3 < end ? at + 3 : NULL;
			const char *dot = module ? strrchr(module, '.') : NULL;
			return dot ? dot + 1 : module;
		}
		if (strcmp(at, "-W") == 0 || strcmp(at, "-X") == 0)
			at += 3; /* its value is the next argument */
		if (at >= end)
			return NULL;
	}
	return NULL;
}

void gs_program_name_from(struct gs_line *line, const char *arguments, size_t length)
{
	const char *name = length ? gs_last_part(arguments) : "unknown";
	if (strncmp(name, "python", 6) == 0) {
		const char *end = arguments + length;
		const char *script = gs_python_script(arguments + strlen(arguments) + 1, end);
		if (script && script[0])
			name = gs_last_part(script);
	}
	size_t count = strlen(name);
	if (count > 3 && strcmp(name + count - 3, ".py") == 0)
		count -= 3;
	gs_line_bytes(line, name, count);
}

void gs_program_name(struct gs_line *line)
{
	char arguments[GS_PATH_BYTES + 1];
	size_t length = gs_read_file("/proc/self/cmdline", arguments, sizeof(arguments) - 1);
	arguments[length] = 0;
	gs_program_name_from(line, arguments, length);
}

static void gs_property_program(struct gs_thread *thread)
{
	static char arguments[GF_TEXT_MAX_BYTES / 2], text[GF_TEXT_MAX_BYTES];
	size_t length = gs_read_file("/proc/self/cmdline", arguments, sizeof(arguments) - 1);
	arguments[length] = 0;
	struct gs_line line;
	gs_line_start(&line, text, sizeof(text) - 32); /* room for name and brackets */
	gs_line_text(&line, "[");
	for (size_t at = 0; at < length; at += strlen(arguments + at) + 1) {
		size_t before = line.length;
		if (at)
			gs_line_text(&line, ",");
		gs_line_json(&line, arguments + at, strlen(arguments + at));
		if (line.cut) {
			line.length = (uint32_t)before; /* whole arguments only: it must stay a list */
			break;
		}
	}
	line.room = sizeof(text);
	gs_line_text(&line, "]");
	gs_property(thread, "program", text);
}

static const char *gs_first_variable(const char *const *names)
{
	for (; *names; names++) {
		const char *value = gs_environment_get(*names);
		if (value && value[0])
			return value;
	}
	return NULL;
}

const char *gs_rank(void)
{
	static const char *const names[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK",
	    "PMI_RANK", NULL};
	return gs_first_variable(names);
}

static void gs_properties_process(struct gs_thread *thread)
{
	static const char *const local[] = {"LOCAL_RANK", "SLURM_LOCALID",
	    "OMPI_COMM_WORLD_LOCAL_RANK", NULL};
	static const char *const world[] = {"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE",
	    "PMI_SIZE", NULL};
	char text[GS_PATH_BYTES];
	gs_property_program(thread);
	ssize_t length = readlink("/proc/self/exe", text, sizeof(text) - 1);
	if (length > 0) {
		text[length] = 0;
		gs_property(thread, "executable", text);
	}
	gs_property_number(thread, "pid", (uint64_t)getpid());
	gs_property_number(thread, "ppid", (uint64_t)getppid());
	gs_property(thread, "rank", gs_rank());
	gs_property(thread, "local_rank", gs_first_variable(local));
	gs_property(thread, "world_size", gs_first_variable(world));
	gs_property(thread, "cwd", getcwd(text, sizeof(text)));
}

static void gs_properties_machine(struct gs_thread *thread)
{
	struct utsname machine;
	if (uname(&machine) == 0) {
		gs_property(thread, "host", machine.nodename);
		gs_property(thread, "kernel", machine.release);
	}
	long count = sysconf(_SC_NPROCESSORS_ONLN);
	if (count > 0)
		gs_property_number(thread, "cpu_count", (uint64_t)count);
}

/* PYTORCH_CUDA_ALLOC_CONF wins where both are set. */
static void gs_properties_allocator(struct gs_thread *thread)
{
	static const char *const names[] = {"PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", NULL};
	const char *settings = gs_first_variable(names);
	gs_property(thread, "allocator_settings", settings);
	if (settings) /* some releases read only one of the two */
		gs_property(thread, "allocator_variable",
		    settings == gs_environment_get(names[0]) ? names[0] : names[1]);
	gs_property(thread, "no_caching", gs_environment_get("PYTORCH_NO_CUDA_MEMORY_CACHING"));
}

void gs_properties_early(struct gs_thread *thread, const struct gs_output *output)
{
	gs_told = (struct gs_properties_told){false, false, false};
	gs_property(thread, "recorder_version", GS_VERSION);
	gs_property(thread, "clock", gs_clock_counter ? "tsc" : "monotonic");
	gs_properties_process(thread);
	gs_properties_machine(thread);
	gs_properties_allocator(thread);
	gs_property(thread, "record", gs_settings_text(GS_SETTING_record));
	if (gs_settings_text(GS_SETTING_limit)[0])
		gs_property_number(thread, "limit", gs_settings_number(GS_SETTING_limit));
	if (gs_environment_get("GPUSHIM_DRYRUN_DEVICE"))
		gs_property(thread, "dryrun", "1");
	if (output->journal_elsewhere)
		gs_property(thread, "journal_path", output->journal_path);
}

/* ---- Python and PyTorch ---- */

static void gs_property_version(struct gs_thread *thread, const char *name, unsigned major,
    unsigned minor, int patch)
{
	char text[48];
	struct gs_line line;
	gs_line_start(&line, text, sizeof(text));
	gs_line_format(&line, "%u.%u", major, minor);
	if (patch >= 0)
		gs_line_format(&line, ".%d", patch);
	gs_property(thread, name, text);
}

void gs_properties_prepare(void)
{
	if (!gs_python_number)
		gs_python_number = gs_dlsym(RTLD_DEFAULT, "Py_Version");
	if (!gs_python_text)
		gs_python_text = (const char *(*)(void))gs_dlsym(RTLD_DEFAULT, "Py_GetVersion");
}

static bool gs_properties_python(struct gs_thread *thread)
{
	if (gs_python_number) {
		unsigned long number = *gs_python_number;
		gs_property_version(thread, "python_version", number >> 24 & 255,
		    number >> 16 & 255, number >> 8 & 255);
		return true;
	}
	if (!gs_python_text)
		return false;
	char version_text[32] = "";
	const char *full = gs_python_text();
	memcpy(version_text, full, strnlen(full, sizeof(version_text) - 1));
	version_text[strcspn(version_text, " +")] = 0;
	gs_property(thread, "python_version", version_text);
	return true;
}

/* Value between quotes behind `key` at the start of a line of version.py. */
static bool gs_property_quoted(
    struct gs_thread *thread, const char *name, const char *text, const char *key)
{
	for (const char *at = text; (at = strstr(at, key)); at++) {
		if (at != text && at[-1] != '\n')
			continue;
		const char *line_end = at + strcspn(at, "\n");
		const char *quote = at + strcspn(at, "'\"");
		char value[64] = "";
		if (quote >= line_end)
			continue;
		size_t length = strcspn(quote + 1, "'\"");
		if (!length || length >= sizeof(value))
			return false;
		memcpy(value, quote + 1, length);
		gs_property(thread, name, value);
		return true;
	}
	return false;
}

/* Returns whether there is a PyTorch; its version may be unknown all the same, with a notice. */
static bool gs_properties_torch(struct gs_thread *thread)
{
	char path[GS_PATH_BYTES], text[4096];
	size_t length = strlen(gs_torch_path());
	if (!length || length >= sizeof(path) - 16)
		return false;
	memcpy(path, gs_torch_path(), length + 1); /* .../torch/lib/libc10_cuda.so */
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(path, '/');
		if (!slash)
			return false;
		*slash = 0;
	}
	strcat(path, "/version.py");
	size_t count = gs_read_file(path, text, sizeof(text) - 1);
	text[count] = 0;
	if (!gs_property_quoted(thread, "torch_version", text, "__version__ "))
		gs_notice(
		    thread, "the version of PyTorch is unknown: its version.py could not be read");
	gs_property_quoted(thread, "cuda_version", text, "cuda");
	const char *notice = gs_torch_notice();
	if (notice)
		gs_notice(thread, notice);
	return true;
}

/* ---- devices ---- */

enum { GS_ATTRIBUTE_SM_COUNT = 16, GS_ATTRIBUTE_MAJOR = 75, GS_ATTRIBUTE_MINOR = 76 };

static void gs_device_fact(struct gs_thread *thread, int device, const char *fact,
    const char *value)
{
	char name[64];
	struct gs_line line;
	gs_line_start(&line, name, sizeof(name));
	gs_line_format(&line, "device.%d.%s", device, fact);
	gs_property(thread, name, value);
}

static bool gs_attribute(int *out, int attribute, int device)
{
	return gs_ask.cuDeviceGetAttribute &&
	    gs_ask.cuDeviceGetAttribute(out, attribute, device) == CUDA_SUCCESS;
}

/* Returns whether the device's name is told. */
static bool gs_device_facts(struct gs_thread *thread, int device)
{
	bool named = false;
	char text[256] = "";
	struct gs_line line;
	size_t total;
	int number, minor;
	if (gs_ask.cuDeviceGetName &&
	    gs_ask.cuDeviceGetName(text, sizeof(text) - 1, device) == CUDA_SUCCESS) {
		gs_device_fact(thread, device, "name", text);
		named = true;
	}
	if (gs_ask.cuDeviceTotalMem_v2 &&
	    gs_ask.cuDeviceTotalMem_v2(&total, device) == CUDA_SUCCESS) {
		gs_line_start(&line, text, sizeof(text));
		gs_line_number(&line, total, 10, 1);
		gs_device_fact(thread, device, "total_bytes", text);
	}
	if (gs_attribute(&number, GS_ATTRIBUTE_SM_COUNT, device)) {
		gs_line_start(&line, text, sizeof(text));
		gs_line_format(&line, "%d", number);
		gs_device_fact(thread, device, "sm_count", text);
	}
	if (gs_attribute(&number, GS_ATTRIBUTE_MAJOR, device) &&
	    gs_attribute(&minor, GS_ATTRIBUTE_MINOR, device)) {
		gs_line_start(&line, text, sizeof(text));
		gs_line_format(&line, "%d.%d", number, minor);
		gs_device_fact(thread, device, "compute_capability", text);
	}
	char uuid[16];
	if (gs_ask.cuDeviceGetUuid_v2 && gs_ask.cuDeviceGetUuid_v2(uuid, device) == CUDA_SUCCESS) {
		gs_line_start(&line, text, sizeof(text));
		for (int i = 0; i < 16; i++) {
			gs_line_text(&line, i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "");
			gs_line_number(&line, (unsigned char)uuid[i], 16, 2);
		}
		gs_device_fact(thread, device, "uuid", text);
	}
	if (gs_ask.cuDeviceGetPCIBusId &&
	    gs_ask.cuDeviceGetPCIBusId(text, sizeof(text) - 1, device) == CUDA_SUCCESS)
		gs_device_fact(thread, device, "pci", text);
	return named;
}

/* Returns whether all devices are named. */
static bool gs_properties_devices(struct gs_thread *thread)
{
	int version, count;
	if (gs_ask.cuDriverGetVersion && gs_ask.cuDriverGetVersion(&version) == CUDA_SUCCESS)
		gs_property_version(thread, "driver_version", (unsigned)version / 1000,
		    (unsigned)version % 1000 / 10, -1);
	if (!gs_ask.cuDeviceGetCount || gs_ask.cuDeviceGetCount(&count) != CUDA_SUCCESS)
		return false;
	bool named = true;
	for (int device = 0; device < count; device++)
		named &= gs_device_facts(thread, device);
	return named;
}

void gs_properties_known(struct gs_thread *thread)
{
	gs_told.devices = gs_told.devices || gs_properties_devices(thread);
	gs_told.python = gs_told.python || gs_properties_python(thread);
	gs_told.torch = gs_told.torch || gs_properties_torch(thread);
}

void gs_properties_late(struct gs_thread *thread)
{
	if (!gs_told.python)
		gs_properties_prepare();
	gs_properties_known(thread);
	if (!gs_told.devices)
		gs_notice(thread,
		    "name and size of the devices are unknown: the driver did not tell them");
}
