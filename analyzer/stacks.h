/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call stacks of a recording: from the number in a record to frames with names and lines.
 *
 * Python and native frames are merged: where the interpreter's evaluation function is on the native
 * stack stand the Python frames that it ran, and the rest of the interpreter is left out.  Frames
 * are made when they are asked for and kept.
 *
 * Threads: one at a time.
 */
#ifndef GA_STACKS_H
#define GA_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/json_writer.h"
#include "formats/reader.h"

struct ga_frame {
	bool python;
	bool forward;	       /* of the forward call of the node that backward is running */
	uint32_t line;	       /* 0: unknown */
	const char *function;  /* NULL: unknown */
	const char *file;      /* source file, NULL: unknown */
	const char *module;    /* native: path of the library; NULL: unknown, or Python */
	uint64_t address;      /* native: return address; equal names may differ here */
	uint64_t layer;	       /* Python, in a call of torch.nn.Module: address of the module; 0 */
};

/* Frames, innermost first.  Borrowed from the ga_stacks they come from. */
struct ga_stack {
	const struct ga_frame *frames;
	size_t count;
	bool cut; /* outer frames are missing */
};

struct ga_stacks;

/** Index the definitions of an open trace, which must stay open.  Free with ga_stacks_free. */
struct ga_stacks *ga_stacks_new(const struct gf_reader *reader);
void ga_stacks_free(struct ga_stacks *stacks);

/**
 * Frames of a stack.
 *
 * @param stacks  may be NULL
 * @param id      `stack_id` of a record
 * @return no frames if the id is 0, not defined or damaged; valid until ga_stacks_free
 */
struct ga_stack ga_stacks_frames(struct ga_stacks *stacks, uint32_t id);

/**
 * The site of a stack: one number for all stacks that differ only in which layer was running.
 *
 * @return number of one of them, the same for all; `id` itself if it is not defined
 */
uint32_t ga_stacks_site(struct ga_stacks *stacks, uint32_t id);

/** Write a stack as the list `name` of frames, as the contract names them; empty if unknown. */
void ga_stacks_json(struct ga_stacks *stacks, uint32_t id, struct ga_json *json, const char *name);

/**
 * The frame that people look for first: the innermost Python frame outside of PyTorch and the
 * standard library, else the innermost Python frame, else the innermost native one with a name that
 * is not plumbing of the allocator.
 *
 * @return NULL for a stack without frames
 */
const struct ga_frame *ga_stack_place(const struct ga_stack *stack);

/**
 * What PyTorch was doing: the operation that Python called (at::_ops::NAME), or the node that backward
 * runs ("AddmmBackward0").
 *
 * @return free() it; NULL if the native frames do not tell
 */
char *ga_stack_operation(const struct ga_stack *stack);

/** A stack in few words; NULL where it does not tell.  Borrowed from the ga_stacks. */
struct ga_words {
	const char *place;     /* ga_stack_place() as text */
	const char *operation; /* ga_stack_operation() */
};
struct ga_words ga_stacks_words(struct ga_stacks *stacks, uint32_t id);

/** Definitions of stacks, code objects and libraries that make no sense and were left out. */
size_t ga_stacks_damaged(const struct ga_stacks *stacks);

#endif
