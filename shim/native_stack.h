/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Return addresses of this thread's C and C++ frames.
 *
 * On x86-64 they are unwound here (native_unwind.h), but most stacks need no unwinding at all.  A
 * chain knows every word of the stack that unwinding read and that mattered: the return addresses,
 * and those saved frame pointers from which a frame address was computed.  If all these words are as
 * they were, unwinding would go the same way step by step; so the chain is right.
 *
 * In a program that does other things between two walks every cache line is one to wait for.  So a
 * chain is small: where the words are, as steps of mostly one byte, and 128 bits over what they held.
 * Chains lie in memory in the order in which they were first seen, each knows which one followed it,
 * and that one is fetched ahead (gs_native_stack_soon).
 *
 * On other processors libunwind does it (libunwind.h), without such a memory.
 */
#ifndef GS_NATIVE_STACK_H
#define GS_NATIVE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/native_unwind.h"

#define GS_CHAIN_BYTES (192u << 10) /* some 1500 chains; when they are used up all begins anew */
#define GS_CHAIN_SETS 256u          /* power of two */
#define GS_CHAIN_WAYS 5u

struct gs_native_chain {
	uint64_t tag;        /* where the walk starts, the chain before, generation; 0: not any more */
	uint64_t hash;       /* of the return addresses */
	uint64_t content[2]; /* of the words */
	uint64_t user_key;   /* the user's: 0 at first */
	uint32_t user_value;
	uint32_t next; /* place of the chain that followed when last seen, 0: none yet */
	uint16_t words; /* a multiple of 4: the last may come more than once */
	uint16_t frames;
	bool cut;         /* outer frames are missing */
	uint8_t steps[3]; /* and more: from word to word, in words; 255: the next 4 bytes say it */
};

/* What a thread knows.  Zero-initialised, 64-byte aligned, never moved. */
struct gs_native_thread {
	uintptr_t low, high; /* part of the stack that may be read; 0: not known yet */
	bool no_stack;       /* its limits cannot be found */
	bool user_flag;      /* the user's own: this line is at hand after every walk */
	uintptr_t foreign_page; /* of a frame on a stack of another kind; 0: none yet */
	uint32_t foreign_asked;
	uint32_t generation;
	uint64_t last_hash; /* of the chain before */
	uint32_t last, soon; /* places of the chain before and of the one expected next; 0: none */
	uint32_t used;      /* bytes of `chains` */
	uint64_t hits, misses, disagreements;
	struct gs_chain_set { /* a cache line */
		uint64_t tags[GS_CHAIN_WAYS];
		uint32_t places[GS_CHAIN_WAYS], next;
	} sets[GS_CHAIN_SETS] __attribute__((aligned(64)));
	unsigned char chains[GS_CHAIN_BYTES] __attribute__((aligned(64)));
	struct gs_unwind_rule rules[GS_NATIVE_RULES];
	struct gs_unwound unwound;
	struct gs_native_chain foreign;
};

/**
 * The chain of frames above a function of this library.
 *
 * @param thread  of the calling thread
 * @param frame   __builtin_frame_address(0) of a caller that does not return before
 * @return borrowed until the next walk of this thread; NULL if there is none
 *
 * Threads: any.  No lock, no allocation; system calls only while the stack grows for the first time,
 * and on stacks that the program made itself.
 * Cost: about 1 ns a frame when the chain is known, 6-10 ns a frame when its rules are.
 */
struct gs_native_chain *gs_native_stack_walk(struct gs_native_thread *thread, const void *frame);

/** A walk is near: fetch what it will need. */
static inline void gs_native_stack_soon(const struct gs_native_thread *thread)
{
	const unsigned char *chain = thread->chains + thread->soon;
	__builtin_prefetch(chain);
	__builtin_prefetch(chain + 64);
	__builtin_prefetch(chain + 128);
}

/**
 * Return addresses of the last walk, innermost first.
 *
 * @param thread  that walked
 * @param frame   that the walk began with; its function has not returned yet
 * @return borrowed until the next walk of this thread
 */
const struct gs_unwound *gs_native_stack_addresses(struct gs_native_thread *thread,
    const void *frame);

/** The thread's state goes to another thread. */
void gs_native_stack_reuse(struct gs_native_thread *thread);

/**
 * Prepare unwinding: outside of hooks and locks, once.
 *
 * @return NULL, or what is missing (static text for a notice)
 */
const char *gs_native_stack_init(void);

#endif
