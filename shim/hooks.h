/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wrappers of the driver functions, made from hook_table.h.
 *
 * A wrapper calls the real function between gs_enter and gs_returned and gives its arguments to a
 * recorder.  The same wrappers are exported under the driver's names, for programs linked with
 * -lcuda, and handed out by dlsym and cuGetProcAddress (resolve.c).
 *
 * Threads: any; calls may come before cuInit and after the driver has shut down.
 */
#ifndef GS_HOOKS_H
#define GS_HOOKS_H

#include <stdint.h>

#include "shim/hook_table.h"
#include "shim/producer.h"

/* Numbers are the `api` of records; TEXT definitions of kind API name them in each trace. */
enum gs_hook {
	GS_HOOK_NONE,
#define H(since, class, use, recorder, fn, ...) GS_HOOK_##fn,
	GS_HOOKS(H)
#undef H
	GS_HOOK_COUNT
};

struct gs_hook_row {
	const char *name;
	void *wrapper;
	void **real; /* where the wrapper looks for the real function */
	uint32_t class;
};

/* Indexed by enum gs_hook; [0] has no name. */
extern const struct gs_hook_row gs_hook_rows[GS_HOOK_COUNT] GS_HIDDEN;

#endif
