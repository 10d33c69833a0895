/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What every event runs.  A training step evicts us from the instruction cache between two events:
 * functions marked so lie side by side in a few lines and pages instead of all over the library.
 */
#ifndef GS_HOT_H
#define GS_HOT_H

#define GS_LIKELY(x) __builtin_expect(!!(x), 1)
#define GS_HOT __attribute__((hot))

#endif
