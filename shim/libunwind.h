/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whole stacks by libunwind, loaded at run time with local scope so that it interposes nothing;
 * without it by the C library's backtrace().
 *
 * A stack costs 1.5-9 us, and both may take the loader's lock: only for processors whose unwind
 * tables native_stack.c does not read, and as a referee in tests.
 */
#ifndef GS_LIBUNWIND_H
#define GS_LIBUNWIND_H

/**
 * Load and warm up: outside of hooks and locks, once.
 *
 * @return NULL, or what is missing (static text for a notice)
 */
const char *gs_libunwind_init(void);

/**
 * Return addresses of the calling thread, innermost first.
 *
 * @param out    `limit` entries
 * @return their number, 0 if there is no unwinder
 */
int gs_libunwind_backtrace(void **out, int limit);

#endif
