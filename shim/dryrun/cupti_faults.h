/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of CUPTI by the fault script (fault_script.h), and what a CUPTI function begins with. */
#ifndef GD_CUPTI_FAULTS_H
#define GD_CUPTI_FAULTS_H

#include <cupti.h>
#include <stdbool.h>

#include "gd_export.h"

/** @return what the script says to this call, 0 when nothing; costs nothing without a script */
int gd_cupti_fault(const char *name);

/** Note an error as the thread's last one. @return the result */
CUptiResult gd_cupti_answer(CUptiResult result);

/* Define an exported function: it asks the fault script, then runs the body. */
#define GD_CUPTI(name, params, args) \
	static CUptiResult gd_body_##name params; \
	GD_EXPORT CUptiResult name params \
	{ \
		int refused_ = gd_cupti_fault(#name); \
		return gd_cupti_answer(refused_ ? (CUptiResult)refused_ : gd_body_##name args); \
	} \
	static CUptiResult gd_body_##name params

#endif
