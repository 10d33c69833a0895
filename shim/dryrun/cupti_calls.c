/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_calls.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cupti_buffers.h"
#include "cupti_callbacks.h"
#include "cupti_clock.h"
#include "cupti_external.h"
#include "cupti_faults.h"
#include "cupti_kinds.h"
#include "cupti_layout.h"
#include "driver_door.h"

#define NAME_SLOTS 8192 /* a power of two, more than twice the rows */

/* One row for each call, written by the build from the headers: its number, its name as CUPTI
 * writes it, its name as the library exports it, the release that changed it last. */
struct row {
	uint32_t domain, id;
	const char *text, *exported;
	uint32_t since;
};
static const struct row rows[] = {
#define GD_DRIVER_CALL(id, name) {CUPTI_CB_DOMAIN_DRIVER_API, id, name, name, 0},
#define GD_RUNTIME_CALL(id, name, since) \
	{CUPTI_CB_DOMAIN_RUNTIME_API, id, name "_v" #since, name, since},
#include "cupti_call_list.h"
};

static const struct row *by_name[NAME_SLOTS];
static const struct row *by_id[2][GD_MAX_CALLS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int thread_id_type; /* atomic */

static uint32_t hash(uint32_t domain, const char *name)
{
	uint32_t hash = 2166136261u ^ domain;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash % NAME_SLOTS;
}

/* The slot of a name: its row, or the free one behind. */
static const struct row **slot_of(uint32_t domain, const char *name)
{
	uint32_t at = hash(domain, name);

	while (by_name[at] &&
	       (by_name[at]->domain != domain || strcmp(by_name[at]->exported, name) != 0))
		at = (at + 1) % NAME_SLOTS;
	return &by_name[at];
}

/* Of several releases of a call the newest: that is what the major's runtime exports. */
static void sort_rows(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct row **slot = slot_of(rows[i].domain, rows[i].exported);

		if (!*slot || (*slot)->since <= rows[i].since)
			*slot = &rows[i];
		if (rows[i].id < GD_MAX_CALLS)
			by_id[rows[i].domain == CUPTI_CB_DOMAIN_RUNTIME_API][rows[i].id] = &rows[i];
	}
}

/* @return 0 for what these headers do not number */
static uint32_t id_of(const struct gd_call *call)
{
	const struct row *row;

	pthread_once(&once, sort_rows);
	row = *slot_of(gd_call_domain_of(call), call->name);
	return row && row->id < GD_MAX_CALLS ? row->id : 0;
}

GD_CUPTI(cuptiGetCallbackName, (CUpti_CallbackDomain domain, uint32_t id, const char **name),
    (domain, id, name))
{
	const struct row *row;

	if (!name ||
	    (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API) ||
	    id >= GD_MAX_CALLS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_once(&once, sort_rows);
	row = by_id[domain == CUPTI_CB_DOMAIN_RUNTIME_API][id];
	if (!row)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = row->text;
	return CUPTI_SUCCESS;
}

/* ---- threads ---- */

void gd_calls_set_thread_id(CUpti_ActivityThreadIdType type)
{
	__atomic_store_n(&thread_id_type, (int)type, __ATOMIC_RELAXED);
}

CUpti_ActivityThreadIdType gd_calls_thread_id_type(void)
{
	return (CUpti_ActivityThreadIdType)__atomic_load_n(&thread_id_type, __ATOMIC_RELAXED);
}

uint32_t gd_calls_thread_id(void)
{
	static __thread uint32_t system_id;

	if (gd_calls_thread_id_type() != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return (uint32_t)(uintptr_t)pthread_self();
	if (!system_id)
		system_id = (uint32_t)syscall(SYS_gettid);
	return system_id;
}

static struct gd_call *(*ask_current)(void);

static void find_current(void)
{
	*(void **)&ask_current = gd_driver_extra("gpushim_dryrun_call");
}

struct gd_call *gd_calls_current(void)
{
	static pthread_once_t found = PTHREAD_ONCE_INIT;

	pthread_once(&found, find_current);
	return ask_current ? ask_current() : NULL;
}

void gd_calls_launched(const char *kernel)
{
	for (struct gd_call *call = gd_calls_current(); call; call = call->outer)
		call->kernel = kernel;
}

/* ---- records ---- */

static bool is_recorded(const struct gd_call *call)
{
	CUpti_CallbackDomain domain = gd_call_domain_of(call);
	bool inner = domain == CUPTI_CB_DOMAIN_DRIVER_API && call->outer &&
		     call->outer->domain == GD_CALL_RUNTIME && call->outer->known;

	return call->known && gd_call_recorded(domain, call->known) &&
	       !(inner && gd_kind_on(CUPTI_ACTIVITY_KIND_RUNTIME));
}

void gd_calls_enter(struct gd_call *call)
{
	call->known = id_of(call);
	call->data[1] = is_recorded(call);
	if (call->data[1])
		gd_external_record(call->number);
	call->start = gd_clock_client_ns();
	if (call->known)
		gd_callback_call(call, call->known, CUPTI_API_ENTER);
}

void gd_calls_leave(struct gd_call *call)
{
	union gd_record record = {.call = {.cbid = call->known, .start = call->start}};

	if (call->data[1]) {
		record.call.end = gd_clock_client_ns();
		record.call.kind = call->domain == GD_CALL_RUNTIME ? CUPTI_ACTIVITY_KIND_RUNTIME
								   : CUPTI_ACTIVITY_KIND_DRIVER;
		record.call.processId = (uint32_t)getpid();
		record.call.threadId = gd_calls_thread_id();
		record.call.correlationId = call->number;
		record.call.returnValue = (uint32_t)call->result;
		gd_buffers_append(true, &record);
	}
	if (call->known)
		gd_callback_call(call, call->known, CUPTI_API_EXIT);
}

/* ---- single calls ---- */

#if GD_CUPTI_VERSION >= 23
GD_CUPTI(cuptiActivityEnableDriverApi, (CUpti_CallbackId call, uint8_t enable), (call, enable))
{
	return gd_call_record(CUPTI_CB_DOMAIN_DRIVER_API, call, enable != 0)
		   ? CUPTI_SUCCESS
		   : CUPTI_ERROR_INVALID_PARAMETER;
}

GD_CUPTI(cuptiActivityEnableRuntimeApi, (CUpti_CallbackId call, uint8_t enable), (call, enable))
{
	return gd_call_record(CUPTI_CB_DOMAIN_RUNTIME_API, call, enable != 0)
		   ? CUPTI_SUCCESS
		   : CUPTI_ERROR_INVALID_PARAMETER;
}
#endif
