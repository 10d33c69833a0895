/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Faults of CUPTI by the fault script (fault_script.h), and what a CUPTI function begins with.
 *
 * In a child of fork every function is refused: locks, buffers and records are the parent's.
 */
#ifndef GD_CUPTI_FAULTS_H
#define GD_CUPTI_FAULTS_H

#include <cupti.h>
#include <stdbool.h>

#include "gd_export.h"

/** @return what the script says to this call, 0 when nothing; costs nothing without a script */
int gd_cupti_fault(const char *name);

/** @return whether this is a child of a process that had used CUPTI */
bool gd_cupti_forked(void);

/** @return what a function has to answer instead of its body, or CUPTI_SUCCESS */
CUptiResult gd_cupti_refusal(const char *name);

/** Note an error as the thread's last one. @return the result */
CUptiResult gd_cupti_answer(CUptiResult result);

/* Define an exported function: it asks the fault script, then runs the body. */
#define GD_CUPTI(name, params, args) \
	static CUptiResult gd_body_##name params; \
	GD_EXPORT CUptiResult name params \
	{ \
		CUptiResult refused_ = gd_cupti_refusal(#name); \
		return gd_cupti_answer(refused_ ? refused_ : gd_body_##name args); \
	} \
	static CUptiResult gd_body_##name params

#endif
