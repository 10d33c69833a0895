/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading memory of this process that may not be there: answers false instead of faulting.
 *
 * For self-tests and first looks only: every call is a system call.
 */
#ifndef GS_SAFE_READ_H
#define GS_SAFE_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * Copy `bytes` bytes from `address`.
 *
 * @param address  any value
 * @param out      filled on success, undefined on failure
 * @return whether all bytes were readable
 *
 * Threads: any.  Never allocates; keeps errno.
 */
bool gs_safe_read(uintptr_t address, void *out, size_t bytes);

/** Whether the byte at `address` can be read. */
bool gs_safe_probe(uintptr_t address);

#endif
