/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls that are made to fail, for tests.
 *
 * The script is a list of rules, separated by commas or white space:
 *   cuMemAlloc_v2:3=2          the third call answers 2 (out of memory)
 *   cuMemAlloc_v2:3+=2         the third and all later calls
 *   cuMemAlloc_v2:*=2          every call
 *   cuMemAlloc_v2:>1048576=2   every call that asks for more bytes
 *   cuStreamSynchronize:2~500  the second call takes 500 microseconds longer
 * Functions of CUPTI can be refused too, and its records spoiled; the value says how:
 *   cupti.unknown_kind:5=900   a record of kind 900 (64 bytes) stands in front of the fifth
 *   cupti.buffer_dropped:2=1   the second buffer comes back empty, its records count as dropped
 *   cupti.buffer_damaged:2=1   the second buffer is cut inside its last record (2: has a hole)
 * A refused call has no effect.  Any thread; calls are counted over all threads.
 */
#ifndef GD_FAULT_SCRIPT_H
#define GD_FAULT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

/**
 * Read a script; a rule that is wrong is named on stderr and left out.
 *
 * @param text  the script, NULL or empty for none
 * @return whether there is any rule
 */
bool gd_fault_script_read(const char *text);

/** Count a call. @return 0, or the code that the call has to answer */
int gd_fault_call(const char *name);

/** @return 0, or the code that an allocation of that size inside `name` has to answer */
int gd_fault_size(const char *name, size_t bytes);

#endif
