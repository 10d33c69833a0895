/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unwinding one stack of this thread, frame by frame, by the rules of .eh_frame.
 *
 * The rule of each return address is read once and kept, so a frame costs 6-10 ns, and nothing of
 * the loader or the heap is touched.  Beside the return addresses it finds out which words of the
 * stack had a say in where they are.
 *
 * Threads: any, each with its own memory.  No lock, no allocation, no system call.
 */
#ifndef GS_NATIVE_UNWIND_H
#define GS_NATIVE_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "shim/unwind_rules.h"

#define GS_NATIVE_FRAMES_LIMIT 160u /* innermost frames that are kept */
#define GS_NATIVE_WORDS_LIMIT 192u
#define GS_NATIVE_RULES 2048u /* power of two */

/* What unwinding found. */
struct gs_unwound {
	uint64_t hash; /* of the return addresses */
	uint16_t words, frames;
	bool cut; /* outer frames are missing */
	uint32_t indices[GS_NATIVE_WORDS_LIMIT]; /* words that mattered: 8 bytes, from the frame, rising */
	uintptr_t addresses[GS_NATIVE_FRAMES_LIMIT]; /* returned to, without this library's own */
};

/**
 * Unwind.
 *
 * @param rules  GS_NATIVE_RULES entries, zero-initialised, of this thread; to be wiped whenever a
 *               library was unloaded
 * @param frame  __builtin_frame_address(0) of a caller that does not return before
 * @param high   end of the part of the stack that may be read, from `frame` on
 * @param out    filled
 */
void gs_native_unwind(struct gs_unwind_rule *rules, const uintptr_t *frame, uintptr_t high,
    struct gs_unwound *out);

/** Add a frame unless it belongs to this library.  For unwinders of other kinds. */
void gs_unwound_add(struct gs_unwound *unwound, uintptr_t address);

/** Leave frames in [start, end) out of all stacks: the code of this library. */
void gs_native_stack_skip(uintptr_t start, uintptr_t end);

#endif
