/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is recorded: kinds of activities, single calls of the programming interfaces, and what the
 * subscriber wants to be called for.  The driver is watched as far as somebody wants something.
 * Threads: any.
 */
#ifndef GD_CUPTI_KINDS_H
#define GD_CUPTI_KINDS_H

#include <cupti.h>
#include <stdbool.h>
#include <stdint.h>

#define GD_MAX_KINDS 128
#define GD_MAX_CALLS 2048
#define GD_DOMAINS 8

/** Switch a kind on or off. @return false for a kind that does not exist */
bool gd_kind_set(unsigned kind, bool on);

/** @return whether records of a kind are wanted; of RUNTIME and DRIVER: of any call */
bool gd_kind_on(unsigned kind);

/** Switch the records of one call. @return false for a call that does not exist */
bool gd_call_record(CUpti_CallbackDomain domain, CUpti_CallbackId call, bool on);

/** @return whether a call of the driver or the runtime is recorded */
bool gd_call_recorded(CUpti_CallbackDomain domain, CUpti_CallbackId call);

/** @return whether calls have correlation ids: some are recorded or called back */
bool gd_calls_numbered(void);

/** Let the subscriber be called or not; `call` GD_MAX_CALLS means all of the domain. */
bool gd_callback_set(CUpti_CallbackDomain domain, CUpti_CallbackId call, bool on);

/** @return whether it is */
bool gd_callback_on(CUpti_CallbackDomain domain, CUpti_CallbackId call);

/** Nothing is wanted any more. */
void gd_kinds_reset(void);

#endif
