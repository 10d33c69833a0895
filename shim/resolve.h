/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who gets a wrapper instead of a driver function, and where the real functions are.
 *
 * dlsym.S asks gs_dlsym_filter for every dlsym of the process; cuGetProcAddress and its _v2 form
 * are wrapped and exchange returned pointers by address, which picks the right ABI variant for any
 * name, version and flags without a table of versions.  Real functions come from the handle of
 * libcuda only, never from RTLD_NEXT or RTLD_DEFAULT.
 *
 * Threads: any.  Nothing here initialises CUDA.
 */
#ifndef GS_RESOLVE_H
#define GS_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/producer.h"

#pragma GCC visibility push(hidden)

/* The dlsym behind ours; dlsym.S jumps there.  Set by the filter at the latest. */
extern void *(*gs_real_dlsym)(void *handle, const char *name);

/**
 * Asked by dlsym.S.
 *
 * @param caller  return address of the dlsym call
 * @return what the caller gets instead, or NULL to go on to the real dlsym
 */
void *gs_dlsym_filter(void *handle, const char *name, const void *caller);

/**
 * Look up all real functions, once libcuda is mapped.
 *
 * @return whether there is a libcuda
 */
bool gs_resolve(void);

/** Called once, in the thread that found the driver, outside of locks: others may prepare. */
void gs_resolve_on_driver(void (*prepare)(void));

/** The real dlsym for our own look-ups; the caller's scope is ours. */
void *gs_dlsym(void *handle, const char *name);

#define GS_UNHOOKED_LIMIT 64

/**
 * Functions that were asked for and match a hooked name, but came at an address that no exported
 * symbol has: calls through them are not seen.
 *
 * @param index  0, 1, ...
 * @return "name@version", NULL at the end of the list
 */
const char *gs_unhooked(uint32_t index);

#pragma GCC visibility pop

#endif
