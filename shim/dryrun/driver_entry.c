/* SPDX-License-Identifier: Apache-2.0 */
/* How a program comes in: cuInit, versions, entry points by name, error texts. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/driver_stubs.h"
#include "shim/dryrun/error_texts.h"
#include "shim/dryrun/foreign_libraries.h"
#include "shim/dryrun/handles.h"
#include "shim/dryrun/host_memory.h"
#include "shim/dryrun/launcher_api.h"
#include "shim/dryrun/memory_pools.h"
#include "shim/dryrun/modules.h"
#include "shim/dryrun/not_provided.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/visible_devices.h"

/* The CUDA release whose driver this is. */
#define DRIVER_VERSION 13020

static CUresult start_result = CUDA_ERROR_UNKNOWN;

/* Modules first: they free the memory of their variables themselves. */
static const gd_context_drop context_drops[] = {gd_modules_drop_context, gd_memory_drop_context,
    gd_host_drop_context, gd_peers_drop_context, NULL};

/* For `gpushim dryrun --explain`: this process has the device. */
static void note_start(void)
{
	const char *path = getenv("GPUSHIM_DRYRUN_EXPLAIN");
	int file = path && *path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
	if (file < 0)
		return;
	dprintf(file, "%d\tdevice\t%s\t%u\n", (int)getpid(), gd_facts.name, gd_visible_count);
	close(file);
}

static void start(void)
{
	start_result = CUDA_ERROR_NO_DEVICE;
	if (gd_foreign_libraries_found())
		return;
	start_result = CUDA_ERROR_OPERATING_SYSTEM;
	if (!gd_device_table_start() || !gd_operations_start() || !gd_shared_start(gd_facts.count))
		return;
	gd_visible_start();
	if (!gd_visible_count) {
		start_result = CUDA_ERROR_NO_DEVICE;
		return;
	}
	gd_copies_start();
	if (!gd_space_start(gd_facts.total_bytes * gd_facts.count) || !gd_handles_start())
		return;
	if (!gd_contexts_start(context_drops) || !gd_pools_start())
		return;
	start_result = CUDA_SUCCESS;
	note_start();
}

/* Answered without the usual gate, which would say "not initialised": a fork is asked for first. */
GD_API_EARLY(cuInit, (unsigned int flags), (flags))
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_gate_forked())
		return CUDA_ERROR_NOT_INITIALIZED;
	pthread_once(&once, start);
	if (start_result == CUDA_SUCCESS)
		gd_gate_open();
	return start_result;
}

GD_API_EARLY(cuDriverGetVersion, (int *version_out), (version_out))
{
	if (!version_out)
		return CUDA_ERROR_INVALID_VALUE;
	*version_out = DRIVER_VERSION;
	return CUDA_SUCCESS;
}

static CUresult find(const char *symbol, void **function_out, int version, cuuint64_t flags,
    CUdriverProcAddressQueryResult *status_out)
{
	const cuuint64_t known_flags =
	    CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	bool known;
	if (!symbol || !function_out || flags & ~known_flags || version > DRIVER_VERSION)
		return CUDA_ERROR_INVALID_VALUE;
	*function_out = gd_driver_find(
	    symbol, version, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &known);
	if (!status_out)
		return *function_out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
	*status_out = CU_GET_PROC_ADDRESS_SUCCESS;
	if (!*function_out)
		*status_out = known ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
				    : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	return CUDA_SUCCESS;
}

GD_API_EARLY(cuGetProcAddress_v2,
    (const char *symbol, void **function_out, int version, cuuint64_t flags,
	CUdriverProcAddressQueryResult *status_out),
    (symbol, function_out, version, flags, status_out))
{
	return find(symbol, function_out, version, flags, status_out);
}

GD_API_EARLY(cuGetProcAddress,
    (const char *symbol, void **function_out, int version, cuuint64_t flags),
    (symbol, function_out, version, flags))
{
	return find(symbol, function_out, version, flags, NULL);
}

/* The driver's private tables are not provided; who asks has to do without. */
GD_API_EARLY(cuGetExportTable, (const void **table_out, const CUuuid *id), (table_out, id))
{
	if (!table_out || !id)
		return CUDA_ERROR_INVALID_VALUE;
	*table_out = NULL;
	return CUDA_ERROR_NOT_FOUND;
}

struct error {
	CUresult code;
	const char *name, *text;
};
static const struct error errors[] = {
#define ERROR_ROW(code, text) {CUDA_##code, "CUDA_" #code, text},
    GD_ERROR_TEXTS(ERROR_ROW)
#undef ERROR_ROW
};

static const struct error *find_error(CUresult code)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		if (errors[i].code == code)
			return &errors[i];
	}
	return NULL;
}

GD_API_EARLY(cuGetErrorName, (CUresult code, const char **name_out), (code, name_out))
{
	const struct error *error = find_error(code);
	if (!name_out)
		return CUDA_ERROR_INVALID_VALUE;
	*name_out = error ? error->name : NULL;
	return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

GD_API_EARLY(cuGetErrorString, (CUresult code, const char **text_out), (code, text_out))
{
	const struct error *error = find_error(code);
	if (!text_out)
		return CUDA_ERROR_INVALID_VALUE;
	*text_out = error ? error->text : NULL;
	return error ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

int gd_refused(const char *name)
{
	CUresult result = CUDA_ERROR_NOT_SUPPORTED;
	if (gd_gate_closed()) {
		struct gd_call call;
		CUresult refused = gd_gate_enter(&call, name, false);
		if (refused != CUDA_SUCCESS)
			result = refused;
		gd_gate_leave(&call, name, result);
	}
	return (int)result;
}

int gd_not_provided(const char *name)
{
	if (!gd_gate_forked())
		gd_missing_note(name);
	return gd_refused(name);
}

GD_EXPORT void gpushim_dryrun_missing(const char *name)
{
	if (!gd_gate_forked())
		gd_missing_note(name);
}
