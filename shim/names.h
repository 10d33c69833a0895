/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of kernels: each text goes into the trace once, each function handle once a thread learns
 * it.  Tables are fixed, lock-free and only grow; a full one costs repeated definitions, not data.
 *
 * Threads: any, on the hot path.
 */
#ifndef GS_NAMES_H
#define GS_NAMES_H

#include "shim/cuda_types.h"
#include "shim/producer.h"

#pragma GCC visibility push(hidden)

/**
 * Number of a name; the first time it is defined in the trace, in this thread's chunk.
 *
 * @param name    copied; not NULL
 * @param id_out  a number from 1 up, the same for the same text in one recording
 * @return whether the text is in the trace; without room for it the next call tries again
 */
bool gs_name_id(struct gs_thread *thread, const char *name, uint32_t *id_out);

/**
 * Write that `function` has a name, as a MODULE record of kind FUNCTION.
 *
 * @param call      the look-up
 * @param module    module, library or kernel it was found in
 * @param function  handle
 * @param name      its name, or NULL to ask the driver
 */
void gs_function_define(const struct gs_call *call, uint64_t module, uint64_t function,
    const char *name);

/** Make sure that a launched function's name is in the trace.  `captured`: ask nothing. */
void gs_function_seen(const struct gs_call *call, uint64_t function, bool captured);

/** Handles may from now on mean other functions (something was unloaded). */
void gs_functions_forget(void);

/** A recording begins, or a fork child forgets: nothing is defined yet. */
void gs_names_reset(void);

#pragma GCC visibility pop

#endif
