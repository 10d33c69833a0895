/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call stack of an event as one number: Python frames, native frames, forward call.
 *
 * A stack is found, hashed and looked up; only the first time it is seen its definition (STACK, with
 * the CODE and LIBRARY definitions it needs) goes into the trace.  Everything is optional: whatever
 * cannot be read is left out, and 0 means "no stack".
 *
 * Threads: any, between gs_enter and gs_leave.  No lock, no malloc.  System calls only when a thread
 * takes its first stack, its stack grows beyond where it ever was, or Python's frames are tested, once.
 * Cost: 50-150 ns for a known stack of 30 native and 20 Python frames.
 */
#ifndef GS_CALL_STACK_H
#define GS_CALL_STACK_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/records.h"

#pragma GCC visibility push(hidden)

/* What a stack is for; the settings say which parts each kind takes. */
enum gs_stack_use {
	GS_STACK_ALLOCATION, /* device memory: blocks, driver allocations, out of memory */
	GS_STACK_TRANSFER,   /* copies and waits */
	GS_STACK_FORWARD,    /* where an autograd node is made */
	GS_STACK_USES
};

#define GS_STACK_PYTHON 1u
#define GS_STACK_NATIVE 2u

/** Appends a TEXT record for the thread that `context` stands for.  @return false without room */
typedef bool gs_stack_append(void *context, enum gf_text_kind kind, uint32_t id, const void *bytes,
    uint32_t length);

/**
 * Prepare, once: outside of hooks and locks.
 *
 * @param parts   GS_STACK_* bits for each use
 * @param append  how definitions are written
 * @return NULL, or what is missing (static text for a notice)
 */
const char *gs_stack_init(const uint8_t parts[GS_STACK_USES], gs_stack_append *append);

/** A recording begins: nothing is defined yet.  One thread, before any stack is taken. */
void gs_stack_reset(void);

/** In a fork child: the other threads are gone.  In the thread that forked. */
void gs_stack_forget(void);

/**
 * Now and then, outside of hooks and locks (helper thread): look for a Python if a library of it was
 * seen in a stack; with an old C library copy the list of libraries.
 */
void gs_stack_refresh(void);

/**
 * Stack of the caller.
 *
 * @param use      what for
 * @param context  given to the append function
 * @return number of the stack in this recording, 0 if there is none
 */
uint32_t gs_stack_take(enum gs_stack_use use, void *context);

/** The calling thread will soon take a stack of an allocation: fetch what that needs.  Cost: 1 ns. */
void gs_stack_soon(void);

/*
 * Of a thread that runs backward: the stack that made the node, and the frame of the function that
 * runs it.  The end of that function may be skipped by an exception; a frame that is no longer there,
 * or was called from elsewhere, counts as no forward stack.
 */
struct gs_stack_forward {
	uint32_t stack; /* 0: none, or not known */
	uintptr_t frame, caller;
};

/**
 * The thread begins to run a node.
 *
 * @param stack  that made the node, 0 if unknown
 * @param frame  __builtin_frame_address(0) of the function that calls the node
 * @return what was before, for gs_stack_forward_end
 */
struct gs_stack_forward gs_stack_forward_begin(uint32_t stack, const void *frame);

/** The node has run. */
void gs_stack_forward_end(struct gs_stack_forward before);

/* The node that the calling thread began last. */
extern __thread struct gs_stack_forward gs_stack_node;

/** Whether that node still runs, seen from a function that it called.  @param here  in its frame */
static inline bool gs_stack_node_runs(const void *here)
{
	return (uintptr_t)here < gs_stack_node.frame &&
	    ((const uintptr_t *)gs_stack_node.frame)[1] == gs_stack_node.caller;
}

/** Whether the calling thread runs a node of backward.  Cost: about 1 ns. */
static inline bool gs_stack_in_backward(void)
{
	const char here = 0;
	return gs_stack_node_runs(&here);
}

/** The thread ends: its state may go to another one. */
void gs_stack_thread_end(void);

/** The same for threads that are gone without having said so.  Threads: any; errno is not kept. */
void gs_stack_reclaim(void);

/** Whether a thread ends Python now.  Threads: any. */
bool gs_stack_python_ends(void);

/** Whether another thread that lives took its last stack below Python frames.  Threads: any. */
bool gs_stack_python_elsewhere(void);

/** A text for a notice that came up since the last call, NULL if none.  Static.  One thread. */
const char *gs_stack_next_notice(void);

#pragma GCC visibility pop

#endif
