/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults that are made to happen, for tests.
 *
 * The script is a list of rules, separated by commas or white space: a function, when, and what.
 *   cuMemAlloc_v2:3=2           the third call answers 2 (out of memory)
 *   cuMemAlloc_v2:3+=2          the third and all later calls
 *   cuMemAlloc_v2:*=2           every call
 *   cuMemAlloc_v2:>1048576=2    every call that asks for more bytes
 *   cuMem*:7=2                  the seventh call of any function whose name fits (fnmatch)
 *   cuMemFree_v2@torch_cuda:*=2 calls that come from a library, or through one, whose file name
 *                               contains that
 *   cuStreamSynchronize:2~500   the second call takes 500 microseconds longer
 *   cuLaunchKernel:100=719!     the hundredth call and from then on every call of any function, as
 *                               after an error that destroys the context (700, 719), an error of
 *                               memory that cannot be corrected (214) or a lost device (46, 999)
 *   cuMemAlloc_v2:10^1073741824 before the tenth call another process takes so many bytes of each
 *                               device, or what is left
 * Functions of CUPTI can be refused too, and its records spoiled; the value says how:
 *   cupti.unknown_kind:5=900    a record of kind 900 (64 bytes) stands in front of the fifth
 *   cupti.buffer_dropped:2=1    the second buffer comes back empty, its records count as dropped
 *   cupti.buffer_damaged:2=1    the second buffer is cut inside its last record (2: has a hole)
 * A word `@FILE` stands for the rules in a file, where what follows a # is a comment.
 * A refused call has no effect.  Any thread; calls are counted over all threads.
 */
#ifndef GD_FAULT_SCRIPT_H
#define GD_FAULT_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a call meets. */
struct gd_fault {
	int code;	      /* that the call has to answer; 0: none */
	bool for_good;	      /* and every call from now on */
	uint64_t taken_bytes; /* by another process */
};

/**
 * Read a script; a rule that is wrong is named on stderr and left out.
 *
 * @param text  the script, NULL or empty for none
 * @return whether there is any rule
 */
bool gd_fault_script_read(const char *text);

/** Count a call, delay it, and say what it meets. */
struct gd_fault gd_fault_call(const char *name);

/** The same for an allocation of that size inside `name`. */
struct gd_fault gd_fault_size(const char *name, size_t bytes);

#endif
