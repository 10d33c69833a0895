/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Definitions of call stacks for traces of tests: code objects, libraries and stacks of both.
 */
#ifndef STACK_TRACE_H
#define STACK_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/trace_builder.h"

/** Bytes that are put together; zero-initialise `count`. */
struct st_bytes {
	unsigned char at[GF_TEXT_MAX_BYTES];
	uint32_t count;
};
void st_put(struct st_bytes *out, const void *bytes, size_t count);

/** A code object; every instruction is of its first line. */
void st_code(struct trace_builder *trace, uint32_t id, const char *file, const char *name,
    uint32_t line);

/** Frames of a stack, innermost first. */
struct st_frames {
	uint32_t codes[8];
	bool entries[8]; /* the frame was the first of a call of the interpreter */
	uint64_t natives[8];
	uint16_t python, native;
	uint32_t forward; /* stack */
	uint64_t layer;	  /* of the innermost frame */
	uint64_t time;	  /* 0: 2 */
};
void st_stack(struct trace_builder *trace, uint32_t id, const struct st_frames *frames);

/** A library without a build id, seen at time 1 or at `time`. */
void st_library(struct trace_builder *trace, uint32_t id, const char *path, uint64_t start,
    uint64_t bytes, uint64_t bias);
void st_library_at(struct trace_builder *trace, uint64_t time, uint32_t id, const char *path,
    uint64_t start, uint64_t bytes, uint64_t bias);

#endif
