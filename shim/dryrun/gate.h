/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every driver call passes on its way in and out: is the driver initialised in this process,
 * does the fault script refuse the call, is the call logged or watched.  When none of that matters
 * the cost is one load.  Any thread.
 */
#ifndef GD_GATE_H
#define GD_GATE_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>

struct gd_call;

/* Reasons to look closer; 0 when calls may pass at once. */
enum {
	GD_GATE_UNINITIALISED = 1,
	GD_GATE_FORKED = 2, /* child of an initialised process: the device is lost */
	GD_GATE_LOG = 4,
	GD_GATE_FAULTS = 8,
	GD_GATE_WATCHED = 16,
};
extern unsigned gd_gate_reasons;

/** @return whether gd_gate_enter must be asked */
static inline bool gd_gate_closed(void)
{
	return __atomic_load_n(&gd_gate_reasons, __ATOMIC_RELAXED) != 0;
}

/**
 * Slow half of the way in.
 *
 * @param call   room for the call, handed to gd_gate_leave
 * @param name   exported name; a literal
 * @param early  the function may be called before cuInit
 * @return CUDA_SUCCESS to go on, else what the call answers
 */
CUresult gd_gate_enter(struct gd_call *call, const char *name, bool early);

/** Slow half of the way out: log the call, show its end.  Keeps errno. */
void gd_gate_leave(struct gd_call *call, const char *name, CUresult result);

/** Calls are watched from now on, or no more (call_watch.h). */
void gd_gate_watch(bool on);

/**
 * Ask the fault script about the size of an allocation inside the current call.
 *
 * @param bytes  what the caller asked for
 * @return CUDA_SUCCESS or what the script says
 */
CUresult gd_gate_size(size_t bytes);

/** cuInit succeeded: calls may pass from now on.  Also arms the fork handler. */
void gd_gate_open(void);

/** @return whether this process was forked from an initialised one */
bool gd_gate_forked(void);

#endif
