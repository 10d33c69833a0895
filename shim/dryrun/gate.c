/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "shim/dryrun/call_log.h"
#include "shim/dryrun/call_watch.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/fault_script.h"
#include "shim/dryrun/gd_export.h"
#include "shim/dryrun/launcher_api.h"
#include "shim/dryrun/shared_state.h"

unsigned gd_gate_reasons = GD_GATE_UNINITIALISED;

static __thread const char *current_call; /* for gd_gate_size */

static unsigned reasons(void)
{
	return __atomic_load_n(&gd_gate_reasons, __ATOMIC_ACQUIRE);
}

/* GPUSHIM_DRYRUN_CALLS and GPUSHIM_DRYRUN_FAULTS, once. */
static void read_settings(void)
{
	unsigned more = 0;
	if (gd_call_log_open(getenv("GPUSHIM_DRYRUN_CALLS")))
		more |= GD_GATE_LOG;
	if (gd_fault_script_read(getenv("GPUSHIM_DRYRUN_FAULTS")))
		more |= GD_GATE_FAULTS;
	__atomic_or_fetch(&gd_gate_reasons, more, __ATOMIC_RELEASE);
}

static void read_settings_once(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, read_settings);
}

/* What every call answers since the device was lost, 0 before. */
static int lost; /* atomic */

static CUresult meet(struct gd_fault fault)
{
	if (fault.taken_bytes)
		gd_budget_take_foreign(fault.taken_bytes, gd_facts.total_bytes);
	if (fault.for_good)
		__atomic_store_n(&lost, fault.code, __ATOMIC_RELEASE);
	return (CUresult)fault.code;
}

CUresult gd_gate_enter(struct gd_call *call, const char *name, bool early)
{
	read_settings_once();
	current_call = name;
	unsigned why = reasons();
	call->name = NULL;
	if (why & GD_GATE_WATCHED)
		gpushim_dryrun_call_begin(call, name, GD_CALL_DRIVER);
	if (why & GD_GATE_FORKED && !early)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (why & GD_GATE_FAULTS) {
		int all = early ? 0 : __atomic_load_n(&lost, __ATOMIC_ACQUIRE);
		CUresult refused = all ? (CUresult)all : meet(gd_fault_call(name));
		if (refused != CUDA_SUCCESS)
			return refused;
	}
	if (why & GD_GATE_UNINITIALISED && !early)
		return CUDA_ERROR_NOT_INITIALIZED;
	return CUDA_SUCCESS;
}

void gd_gate_leave(struct gd_call *call, const char *name, CUresult result)
{
	int saved = errno;
	if (call->name)
		gpushim_dryrun_call_end(call, (int)result);
	if (reasons() & GD_GATE_LOG)
		gd_call_log_write(name, (int)result);
	errno = saved;
}

void gd_gate_watch(bool on)
{
	if (on)
		__atomic_or_fetch(&gd_gate_reasons, GD_GATE_WATCHED, __ATOMIC_RELEASE);
	else
		__atomic_and_fetch(&gd_gate_reasons, ~(unsigned)GD_GATE_WATCHED, __ATOMIC_RELEASE);
}

GD_EXPORT int gpushim_dryrun_fault(const char *name)
{
	read_settings_once();
	return reasons() & GD_GATE_FAULTS ? (int)meet(gd_fault_call(name)) : 0;
}

CUresult gd_gate_size(size_t bytes)
{
	if (!(reasons() & GD_GATE_FAULTS))
		return CUDA_SUCCESS;
	return meet(gd_fault_size(current_call, bytes));
}

static void after_fork_in_child(void)
{
	unsigned why = reasons();
	if (!(why & GD_GATE_UNINITIALISED))
		__atomic_store_n(&gd_gate_reasons, why | GD_GATE_FORKED, __ATOMIC_RELEASE);
}

static void arm_fork_handler(void)
{
	pthread_atfork(NULL, NULL, after_fork_in_child);
}

void gd_gate_open(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	read_settings_once();
	pthread_once(&once, arm_fork_handler);
	__atomic_and_fetch(&gd_gate_reasons, ~(unsigned)GD_GATE_UNINITIALISED, __ATOMIC_RELEASE);
}

bool gd_gate_forked(void)
{
	return reasons() & GD_GATE_FORKED;
}
