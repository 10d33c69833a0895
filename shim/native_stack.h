/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses of this thread's C and C++ frames.
 *
 * On x86-64 the frames are unwound here: the rule of each return address is read from .eh_frame
 * once and kept, so a frame costs some ns, and nothing of the loader or the heap is touched.
 *
 * Most stacks need no unwinding at all.  A chain knows every word of the stack that unwinding read
 * and that mattered: the return addresses, and those saved frame pointers from which a frame address
 * was computed.  If the walk starts from the same frame and return address, and from the same frame
 * pointer where that mattered, and all these words are as they were, unwinding would go the same way
 * step by step; so the chain is right.
 * Where the words are is kept, and 128 bits over what they held: in a program that does other things
 * between two walks every cache line of a chain is one to wait for.
 *
 * On other processors libunwind does it (libunwind.h), without such a memory.
 */
#ifndef GS_NATIVE_STACK_H
#define GS_NATIVE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/unwind_rules.h"

#define GS_NATIVE_FRAMES_LIMIT 160u /* innermost frames that are kept */
#define GS_NATIVE_WORDS_LIMIT 192u
#define GS_NATIVE_RULES 2048u /* power of two */
#define GS_NATIVE_SETS 256u   /* power of two */
#define GS_NATIVE_WAYS 4u

/* A word of the stack: bytes above the frame where the walk starts; flags in the low bits. */
#define GS_WORD_RETURN 1u /* a return address that is part of the stack */
#define GS_WORD_INDEX(word) ((word) >> 3)

struct gs_native_chain {
	uintptr_t frame; /* where the walk starts */
	uintptr_t caller_fp, caller_pc;
	uint64_t hash; /* of the return addresses */
	uint64_t content[2]; /* of the words */
	uint16_t words;
	uint16_t frames;      /* without frames of this library */
	bool starts_with_pc;  /* caller_pc is the first frame */
	bool needs_fp;        /* caller_fp had a say; often it is a number of the caller's */
	bool cut;             /* outer frames are missing */
	uint32_t offsets[GS_NATIVE_WORDS_LIMIT];
};

/* What a thread knows.  Zero-initialised, 64-byte aligned, never moved. */
struct gs_native_thread {
	uintptr_t low, high; /* part of the stack that may be read; 0: not known yet */
	bool no_stack;       /* its limits cannot be found */
	uint32_t generation;
	uint32_t next_way;
	uint64_t last; /* hash of the chain before */
	uint64_t hits, misses, disagreements;
	uint64_t tags[GS_NATIVE_SETS][GS_NATIVE_WAYS]; /* of chains: start, chain before, generation */
	struct gs_native_chain chains[GS_NATIVE_SETS][GS_NATIVE_WAYS];
	struct gs_unwind_rule rules[GS_NATIVE_RULES];
	uintptr_t foreign[GS_NATIVE_FRAMES_LIMIT]; /* of the last walk by libunwind */
};

/**
 * The chain of frames above a function of this library.
 *
 * @param thread  of the calling thread
 * @param frame   __builtin_frame_address(0) of a caller that does not return before
 * @return borrowed until the next walk of this thread; NULL if there is none
 *
 * Threads: any.  No lock, no allocation; system calls only while the stack grows for the first time.
 * Cost: about 1 ns a frame when the chain is known, 6-10 ns a frame when its rules are.
 */
const struct gs_native_chain *gs_native_stack_walk(struct gs_native_thread *thread,
    const void *frame);

/**
 * Return addresses of a chain, innermost first.
 *
 * @param thread  that walked; the function whose frame the walk began with has not returned yet
 * @param chain   of its last walk
 * @param out     GS_NATIVE_FRAMES_LIMIT entries
 * @return their number, chain->frames
 */
uint32_t gs_native_stack_addresses(const struct gs_native_thread *thread,
    const struct gs_native_chain *chain, uintptr_t *out);

/**
 * Prepare unwinding: outside of hooks and locks, once.
 *
 * @return NULL, or what is missing (static text for a notice)
 */
const char *gs_native_stack_init(void);

/** Leave frames in [start, end) out of all stacks: the code of this library. */
void gs_native_stack_skip(uintptr_t start, uintptr_t end);

#endif
