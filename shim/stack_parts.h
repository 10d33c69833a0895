/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the recorder and its call stacks: settings, definitions, notices.
 */
#ifndef GS_STACK_PARTS_H
#define GS_STACK_PARTS_H

#include "shim/call_stack.h"
#include "shim/producer.h"

#pragma GCC visibility push(hidden)

/** Stack of a call that is being recorded, 0 without one or without room for the record. */
static inline uint32_t gs_stack_of(const struct gs_call *call, enum gs_stack_use use)
{
	return gs_has_room(call->thread) ? gs_stack_take(use, call->thread) : 0;
}

/**
 * Prepare what the settings ask for: find Python, learn where this library's own code is.  Once;
 * repeats do nothing.  May take the loader's lock, so it is called outside of hooks, as early as the
 * driver is met.
 */
void gs_stack_parts_prepare(void);

/** A recording begins: no notice is told yet.  Helper thread. */
void gs_stack_parts_reset(void);

/** What limits the call stacks of this trace, each text once; NULL: no more for now.  Static. */
const char *gs_stack_parts_notice(void);

#pragma GCC visibility pop

#endif
