/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the recorder and its call stacks: settings, definitions, notices.
 */
#ifndef GS_STACK_PARTS_H
#define GS_STACK_PARTS_H

#pragma GCC visibility push(hidden)

/**
 * Prepare what the settings ask for: find Python, learn where this library's own code is.  Once;
 * repeats do nothing.  May take the loader's lock, so it is called outside of hooks, as early as the
 * driver is met.
 */
void gs_stack_parts_prepare(void);

/** What limits the call stacks of this trace, each text once; NULL: no more for now.  Static. */
const char *gs_stack_parts_notice(void);

#pragma GCC visibility pop

#endif
