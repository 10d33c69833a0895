/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a return address to the rule that finds the caller's frame: a small reader of .eh_frame.
 *
 * Only what return addresses need is kept: the canonical frame address (CFA) in terms of stack and
 * frame pointer, where the return address is and where the frame pointer was saved.  x86-64; other
 * processors answer GS_UNWIND_UNKNOWN to everything.
 */
#ifndef GS_UNWIND_RULES_H
#define GS_UNWIND_RULES_H

#include <stdint.h>

#if defined(__x86_64__)
#define GS_UNWIND_SELF 1
#else
#define GS_UNWIND_SELF 0
#endif

enum gs_unwind_cfa {
	GS_UNWIND_NONE,    /* an empty cache entry */
	GS_UNWIND_SP,      /* CFA = stack pointer + cfa_offset */
	GS_UNWIND_FP,      /* CFA = frame pointer + cfa_offset */
	GS_UNWIND_FP_LOAD, /* CFA = word at frame pointer + cfa_offset */
	GS_UNWIND_END,     /* outermost frame */
	GS_UNWIND_UNKNOWN, /* no unwind information, or a form that we do not read */
};

enum gs_unwind_saved {
	GS_SAVED_NOT,    /* frame pointer is unchanged */
	GS_SAVED_AT_CFA, /* saved at CFA + saved_offset */
	GS_SAVED_AT_FP,  /* saved at frame pointer + saved_offset */
};

struct gs_unwind_rule {
	uintptr_t address; /* that it is for */
	int32_t cfa_offset;
	int16_t saved_offset;
	uint8_t cfa;   /* enum gs_unwind_cfa */
	uint8_t saved; /* enum gs_unwind_saved */
};

/**
 * Read the rule for a return address.
 *
 * @param address  return address; the call before it is meant
 * @param out      always filled
 *
 * Threads: any.  No lock, no allocation, no system call.  Cost: 0.3-2 us; keep the result.
 */
void gs_unwind_rule(uintptr_t address, struct gs_unwind_rule *out);

#endif
