/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code objects of Python frames as definitions of the trace: names and line table, copied once.
 */
#ifndef GS_PYTHON_CODE_H
#define GS_PYTHON_CODE_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/records.h"

/* How definitions get into the trace. */
struct gs_stack_sink {
	/** Append a TEXT record.  @return false if there was no room */
	bool (*append)(void *context, enum gf_text_kind kind, uint32_t id, const void *bytes,
	    uint32_t length);
	void *context;
	unsigned char *scratch; /* GF_TEXT_MAX_BYTES bytes, 8-byte aligned, of this thread */
};

/**
 * Number of a code object; the first time its definition is written.
 *
 * A code object of torch.nn.Module's call is also reported to gs_python_stack_watch.
 *
 * @param code  address of a code object of a frame of this thread
 * @return its id, 0 if the table is full
 *
 * Threads: any, each with its own frames.  Cost: about 10 ns when known.
 */
uint32_t gs_python_code_id(uintptr_t code, const struct gs_stack_sink *sink);

/** Map the table of known code objects.  @return false without memory */
bool gs_python_code_init(void);

/** Nothing is defined any more: a recording begins, or a fork child forgets. */
void gs_python_code_reset(void);

#endif
