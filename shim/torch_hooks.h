/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Block-level events of PyTorch's caching allocator.
 *
 * The allocator reports each block it hands out or takes back, and each out-of-memory, to functions
 * of c10 that this library defines first; ours record and call on.  They run under the allocator's
 * lock: no CUDA call, no GIL, nothing that blocks.  What the report lacks, the requested size,
 * comes from the allocator's allocate(), whose entry in the table of virtual functions is
 * exchanged, and so is that of setMemoryFraction() where its place can be told.
 *
 * Threads: any.
 */
#ifndef GS_TORCH_HOOKS_H
#define GS_TORCH_HOOKS_H

#include "shim/producer.h"

#pragma GCC visibility push(hidden)

/**
 * Find libc10 and the allocator, if PyTorch is there.  May take the loader's lock, so it is called
 * outside of the hooks, as early as the driver is met.  Repeats do nothing once it succeeded.
 */
void gs_torch_prepare(void);

/** In a fork child: a preparation that another thread had begun will not end. */
void gs_torch_forget(void);

/**
 * Look up a symbol, which we may define too, in the scope of the library that called us.
 *
 * @param caller  return address of our definition
 * @return NULL if it is not there
 */
void *gs_torch_symbol(const char *symbol, const void *caller);

/** What is missing at block level, in words; NULL if nothing is, or if there is no PyTorch. */
const char *gs_torch_notice(void);

/** Path of libc10_cuda, "" if PyTorch is not loaded (or has no CUDA); set by prepare. */
const char *gs_torch_path(void);

#pragma GCC visibility pop

#endif
