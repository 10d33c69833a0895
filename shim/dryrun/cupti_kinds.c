/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_kinds.h"

#include <pthread.h>
#include <stddef.h>

#include "cupti_calls.h"
#include "cupti_records.h"
#include "driver_door.h"

_Static_assert(CUPTI_ACTIVITY_KIND_COUNT <= GD_MAX_KINDS, "room for all kinds");
static uint8_t kinds[GD_MAX_KINDS];		      /* all atomic */
static uint8_t recorded[2][GD_MAX_CALLS];	      /* driver, runtime */
static uint8_t called_back[GD_DOMAINS][GD_MAX_CALLS]; /* by domain */
static uint32_t recorded_count, called_back_count[GD_DOMAINS], kind_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of changes */

static const struct gd_watcher watcher = {
    .enter = gd_calls_enter, .leave = gd_calls_leave, .notice = gd_records_notice};

static uint32_t load(const uint32_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* @return the change of the number of those that are set */
static uint32_t put(uint8_t *flag, bool on)
{
	return (uint32_t)((int)on - (int)__atomic_exchange_n(flag, on, __ATOMIC_ACQ_REL));
}

static bool calls_wanted(void)
{
	return gd_calls_numbered() || load(&kind_count);
}

/* Tell the driver; `lock` is held. */
static void settle(void)
{
	void (*watch)(const struct gd_watcher *, bool);
	void (*observe)(void (*)(const struct gd_operation *, void *), void *);
	bool resources = load(&called_back_count[CUPTI_CB_DOMAIN_RESOURCE]) ||
			 load(&called_back_count[CUPTI_CB_DOMAIN_SYNCHRONIZE]);

	*(void **)&watch = gd_driver_extra("gpushim_dryrun_watch");
	*(void **)&observe = gd_driver_extra("gpushim_dryrun_observe");
	if (watch)
		watch(calls_wanted() || resources ? &watcher : NULL, calls_wanted());
	if (observe)
		observe(load(&kind_count) ? gd_records_operation : NULL, NULL);
}

static bool is_domain(unsigned domain)
{
	return domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
}

static void record_all(CUpti_CallbackDomain domain, bool on)
{
	for (unsigned call = 0; call < GD_MAX_CALLS; call++)
		__atomic_fetch_add(&recorded_count,
		    put(&recorded[domain == CUPTI_CB_DOMAIN_RUNTIME_API][call], on),
		    __ATOMIC_ACQ_REL);
}

bool gd_kind_set(unsigned kind, bool on)
{
	if (!kind || kind >= CUPTI_ACTIVITY_KIND_COUNT)
		return false;
	pthread_mutex_lock(&lock);
	__atomic_fetch_add(&kind_count, put(&kinds[kind], on), __ATOMIC_ACQ_REL);
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		record_all(CUPTI_CB_DOMAIN_DRIVER_API, on);
	if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		record_all(CUPTI_CB_DOMAIN_RUNTIME_API, on);
	settle();
	pthread_mutex_unlock(&lock);
	return true;
}

bool gd_kind_on(unsigned kind)
{
	return __atomic_load_n(&kinds[kind], __ATOMIC_RELAXED);
}

bool gd_call_record(CUpti_CallbackDomain domain, CUpti_CallbackId call, bool on)
{
	if (!is_domain(domain) || call >= GD_MAX_CALLS)
		return false;
	pthread_mutex_lock(&lock);
	__atomic_fetch_add(&recorded_count,
	    put(&recorded[domain == CUPTI_CB_DOMAIN_RUNTIME_API][call], on), __ATOMIC_ACQ_REL);
	settle();
	pthread_mutex_unlock(&lock);
	return true;
}

bool gd_call_recorded(CUpti_CallbackDomain domain, CUpti_CallbackId call)
{
	return __atomic_load_n(
	    &recorded[domain == CUPTI_CB_DOMAIN_RUNTIME_API][call], __ATOMIC_RELAXED);
}

bool gd_calls_numbered(void)
{
	return load(&recorded_count) || load(&called_back_count[CUPTI_CB_DOMAIN_DRIVER_API]) ||
	       load(&called_back_count[CUPTI_CB_DOMAIN_RUNTIME_API]);
}

bool gd_callback_set(CUpti_CallbackDomain domain, CUpti_CallbackId call, bool on)
{
	unsigned first = call == GD_MAX_CALLS ? 1 : call, end = first + 1;

	if (domain <= CUPTI_CB_DOMAIN_INVALID || domain > CUPTI_CB_DOMAIN_NVTX ||
	    call > GD_MAX_CALLS)
		return false;
	if (call == GD_MAX_CALLS)
		end = GD_MAX_CALLS;
	pthread_mutex_lock(&lock);
	for (unsigned i = first; i < end; i++)
		__atomic_fetch_add(
		    &called_back_count[domain], put(&called_back[domain][i], on), __ATOMIC_ACQ_REL);
	settle();
	pthread_mutex_unlock(&lock);
	return true;
}

bool gd_callback_on(CUpti_CallbackDomain domain, CUpti_CallbackId call)
{
	return __atomic_load_n(&called_back[domain][call], __ATOMIC_RELAXED);
}

void gd_kinds_reset(void)
{
	for (unsigned kind = 1; kind < GD_MAX_KINDS; kind++) {
		if (gd_kind_on(kind))
			gd_kind_set(kind, false);
	}
	pthread_mutex_lock(&lock);
	record_all(CUPTI_CB_DOMAIN_DRIVER_API, false);
	record_all(CUPTI_CB_DOMAIN_RUNTIME_API, false);
	pthread_mutex_unlock(&lock);
	for (unsigned domain = 1; domain <= CUPTI_CB_DOMAIN_NVTX; domain++)
		gd_callback_set((CUpti_CallbackDomain)domain, GD_MAX_CALLS, false);
}
