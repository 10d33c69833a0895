/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one subscriber and its callback.  It is called on the thread that makes the call, without a
 * lock; the call's parameters are not known here, so functionParams is NULL.  Threads: any.
 */
#ifndef GD_CUPTI_CALLBACKS_H
#define GD_CUPTI_CALLBACKS_H

#include <cupti.h>

#include "call_watch.h"

/** Call the subscriber for the beginning or end of a call, if it wants that. */
void gd_callback_call(struct gd_call *call, CUpti_CallbackId id, CUpti_ApiCallbackSite site);

/** The same for a resource that comes or goes, or for a wait that ended. */
void gd_callback_notice(const struct gd_notice *notice);

/** Forget the subscriber. */
void gd_callbacks_reset(void);

#endif
