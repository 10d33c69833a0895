/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/call_watch.h"

#include <stddef.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/gate.h"
#include "shim/dryrun/gd_export.h"

GD_EXPORT uint32_t gpushim_dryrun_watched;

static const struct gd_watcher *watcher; /* atomic */
static uint32_t last_number;		 /* atomic */
static __thread struct gd_call *innermost;

GD_EXPORT void gpushim_dryrun_watch(const struct gd_watcher *who, bool calls)
{
	uint32_t what = (who ? GD_WATCH_NOTICES : 0) | (who && calls ? GD_WATCH_CALLS : 0);
	__atomic_store_n(&watcher, who, __ATOMIC_RELEASE);
	__atomic_store_n(&gpushim_dryrun_watched, what, __ATOMIC_RELEASE);
	gd_gate_watch(what & GD_WATCH_CALLS);
}

static const struct gd_watcher *current(void)
{
	return __atomic_load_n(&watcher, __ATOMIC_ACQUIRE);
}

/* 0 stands for no call, also after 2^32 of them. */
static uint32_t next_number(void)
{
	uint32_t number = __atomic_add_fetch(&last_number, 1, __ATOMIC_RELAXED);
	return number ? number : next_number();
}

GD_EXPORT void gpushim_dryrun_call_begin(struct gd_call *call, const char *name, uint32_t domain)
{
	const struct gd_watcher *who = current();
	*call = (struct gd_call){.domain = domain, .outer = innermost};
	if (!who)
		return;
	call->name = name;
	call->number = innermost ? innermost->number : next_number();
	innermost = call;
	who->enter(call);
}

GD_EXPORT void gpushim_dryrun_call_end(struct gd_call *call, int result)
{
	const struct gd_watcher *who = current();
	call->result = result;
	if (who)
		who->leave(call);
	innermost = call->outer;
}

GD_EXPORT struct gd_call *gpushim_dryrun_call(void)
{
	return innermost;
}

void gd_notice_send(const struct gd_notice *notice)
{
	const struct gd_watcher *who = current();
	if (who)
		who->notice(notice);
}

GD_EXPORT void *gpushim_dryrun_context(uint64_t *id_out)
{
	struct gd_context *context = gd_context_current();
	*id_out = context ? context->id : 0;
	return context;
}
