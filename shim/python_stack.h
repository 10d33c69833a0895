/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The Python frames of this thread, read raw: no GIL, no references, no allocation.
 *
 * While a thread is inside a native call its own frames cannot change, and they keep their code
 * objects alive; other threads do not touch them.  So a thread may read its own frames whenever it
 * likes, as long as it takes no reference.
 *
 * But for one thread: the one that ends the interpreter frees all other threads' states, also of those
 * that go on inside a native call.  From then on these have no frames here.
 */
#ifndef GS_PYTHON_STACK_H
#define GS_PYTHON_STACK_H

#include <stdbool.h>
#include <stdint.h>

#define GS_PYTHON_FRAMES_LIMIT 400u /* innermost frames that are kept */

struct gs_python_frame {
	uintptr_t code;   /* the code object */
	uintptr_t module; /* `self` of a frame of torch.nn.Module's call, else 0 */
	uint32_t place;   /* GF_PLACE(lasti, entry) */
};

/* One walk.  Big: lives in the thread's own state, never on the stack. */
struct gs_python_walk {
	uint32_t count;
	bool cut; /* outer frames are missing */
	struct gs_python_frame frames[GS_PYTHON_FRAMES_LIMIT];
};

/**
 * Hash of this thread's frames and of what identifies their code objects.
 *
 * @return 0 if the thread has no Python frames or Python stacks are off
 *
 * Threads: any, each its own.  Cost: about 3 ns a frame.
 */
uint64_t gs_python_stack_hash(void);

/**
 * Walk this thread's frames.
 *
 * @param walk  out; count 0 if the thread has no Python frames or Python stacks are off
 * @return whether there is at least one frame
 *
 * Threads: any, each its own.
 */
bool gs_python_stack_walk(struct gs_python_walk *walk);

/**
 * Tell the walker which code object is a frame function of torch.nn.Module's call, so that later
 * walks note the `self` of its frames.
 *
 * @param code  address of the code object
 *
 * Threads: any.  Up to 8 are remembered.
 */
void gs_python_stack_watch(uintptr_t code);

/** Forget what gs_python_stack_watch was told: a recording begins, or a fork child forgets. */
void gs_python_stack_forget(void);

/** Note no more `self` in later walks of this recording. */
void gs_python_stack_unwatch(void);

#endif
