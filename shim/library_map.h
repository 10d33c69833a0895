/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded libraries: which one an address belongs to, where its unwind table is, and its definition
 * (build id and path) for the trace.
 *
 * Where the C library has _dl_find_object (glibc 2.35) every question is answered without a lock.
 * Elsewhere a copy of the list of libraries is kept, renewed by gs_library_refresh outside of hooks.
 */
#ifndef GS_LIBRARY_MAP_H
#define GS_LIBRARY_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/python_code.h"

struct gs_library {
	uintptr_t start, end;      /* mapped addresses */
	uintptr_t bias;            /* address minus address in the file */
	const void *unwind_header; /* contents of .eh_frame_hdr, NULL if none */
	const char *path;          /* of the loader: "" is the program itself */
};

/**
 * The library of an address.
 *
 * @param out  filled on success; `path` may go when the library is unloaded
 * @return false if the address is in no library (generated code, stack, heap)
 *
 * Threads: any.  Takes no lock, allocates nothing.
 */
bool gs_library_find(uintptr_t address, struct gs_library *out);

/**
 * Write the LIBRARY definition of the library of an address, once per recording.
 *
 * @return false if there is one, but more of them than can be told apart
 */
bool gs_library_define(uintptr_t address, const struct gs_stack_sink *sink);

/**
 * Without _dl_find_object: copy the list of libraries again if it changed, once a second at most.
 *
 * Takes the loader's lock then: call it outside every hook and lock.
 */
void gs_library_refresh(void);

/** Whether a libpython was among the libraries of gs_library_define so far. */
bool gs_library_python_seen(void);

/**
 * Changes when a library took a place where another one was: what was learnt about addresses before
 * may be wrong.
 */
static inline uint32_t gs_library_generation(void)
{
	extern uint32_t gs_library_changes __attribute__((visibility("hidden")));
	return __atomic_load_n(&gs_library_changes, __ATOMIC_RELAXED);
}

/** Prepare.  Outside of hooks.  @return false without memory */
bool gs_library_init(void);

/** Nothing is defined any more: a recording begins, or a fork child forgets. */
void gs_library_reset(void);

#endif
