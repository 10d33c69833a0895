/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions that a library does not export, by the names that its file still carries (.symtab).
 *
 * Threads: any.  Opens and reads the file, maps memory for its tables and gives it back: cold paths
 * only, within gs_calm_begin and gs_calm_end.
 */
#ifndef GS_LOCAL_SYMBOL_H
#define GS_LOCAL_SYMBOL_H

#include <stdint.h>

/**
 * Where a function is in a library, exported or not.
 *
 * @param path    file of the library
 * @param prefix  what its name begins with; up to one character follows (the last parameter's type)
 * @return its address in the file, to which the library's bias is added; 0 if the file cannot be
 *         read, carries no such table, or has no such function
 */
uintptr_t gs_local_function(const char *path, const char *prefix)
    __attribute__((visibility("hidden")));

#endif
