/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of driver and runtime: their numbers and names (from the major's headers, by the build),
 * the records of them, and the external ids that programs attach to theirs.
 *
 * A driver call inside a runtime call has the runtime call's correlation id, and a record of its
 * own only while runtime calls are not recorded.  Threads: any.
 */
#ifndef GD_CUPTI_CALLS_H
#define GD_CUPTI_CALLS_H

#include <cupti.h>

#include "call_watch.h"

/** What the driver's watcher calls. */
void gd_calls_enter(struct gd_call *call);
void gd_calls_leave(struct gd_call *call);

/** @return the callback domain of a call */
static inline CUpti_CallbackDomain gd_call_domain_of(const struct gd_call *call)
{
	return call->domain == GD_CALL_RUNTIME ? CUPTI_CB_DOMAIN_RUNTIME_API
					       : CUPTI_CB_DOMAIN_DRIVER_API;
}

/** @return this thread's innermost call, NULL outside of one or when calls are not watched */
struct gd_call *gd_calls_current(void);

/** This thread's call launched a kernel of that name, which stays as long as the call. */
void gd_calls_launched(const char *kernel);

/** Which id of a thread records carry. */
void gd_calls_set_thread_id(CUpti_ActivityThreadIdType type);
CUpti_ActivityThreadIdType gd_calls_thread_id_type(void);
uint32_t gd_calls_thread_id(void);

#endif
