/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_callbacks.h"

#include <stdbool.h>
#include <stddef.h>

#include "cupti_calls.h"
#include "cupti_faults.h"
#include "cupti_kinds.h"
#include "driver_door.h"

static struct {
	bool taken; /* atomic */
	void *user;
	CUpti_CallbackFunc function; /* stored last; atomic */
} subscriber;

static void call_subscriber(CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *data)
{
	CUpti_CallbackFunc function = __atomic_load_n(&subscriber.function, __ATOMIC_ACQUIRE);

	if (function && gd_callback_on(domain, id))
		function(subscriber.user, domain, id, data);
}

static void *current_context(uint64_t *id_out)
{
	void *(*ask)(uint64_t *);

	*(void **)&ask = gd_driver_extra("gpushim_dryrun_context");
	*id_out = 0;
	return ask ? ask(id_out) : NULL;
}

void gd_callback_call(struct gd_call *call, CUpti_CallbackId id, CUpti_ApiCallbackSite site)
{
	CUpti_CallbackDomain domain = gd_call_domain_of(call);
	CUpti_CallbackData data = {.callbackSite = site, .functionName = call->name};
	uint64_t context_id;

	if (!gd_callback_on(domain, id))
		return;
	data.context = current_context(&context_id);
	data.contextUid = (uint32_t)context_id;
	data.correlationId = call->number;
	data.correlationData = &call->data[0];
	data.symbolName = call->kernel; /* known when it was launched */
	if (site == CUPTI_API_EXIT)
		data.functionReturnValue = &call->result;
	call_subscriber(domain, id, &data);
}

void gd_callback_notice(const struct gd_notice *notice)
{
	static const struct {
		uint8_t domain, id;
	} callbacks[] = {
	    [GD_NOTICE_CONTEXT_MADE] = {CUPTI_CB_DOMAIN_RESOURCE,
		CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
	    [GD_NOTICE_CONTEXT_ENDS] = {CUPTI_CB_DOMAIN_RESOURCE,
		CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
	    [GD_NOTICE_STREAM_MADE] = {CUPTI_CB_DOMAIN_RESOURCE,
		CUPTI_CBID_RESOURCE_STREAM_CREATED},
	    [GD_NOTICE_STREAM_ENDS] = {CUPTI_CB_DOMAIN_RESOURCE,
		CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING},
	    [GD_NOTICE_STREAM_WAITED] = {CUPTI_CB_DOMAIN_SYNCHRONIZE,
		CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED},
	    [GD_NOTICE_CONTEXT_WAITED] = {CUPTI_CB_DOMAIN_SYNCHRONIZE,
		CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED},
	};
	CUpti_ResourceData resource = {.context = notice->context};
	CUpti_SynchronizeData wait = {notice->context, notice->stream};

	if (notice->kind >= sizeof(callbacks) / sizeof(*callbacks) || !callbacks[notice->kind].id)
		return;
	resource.resourceHandle.stream = notice->stream;
	if (callbacks[notice->kind].domain == CUPTI_CB_DOMAIN_RESOURCE)
		call_subscriber(CUPTI_CB_DOMAIN_RESOURCE, callbacks[notice->kind].id, &resource);
	else
		call_subscriber(CUPTI_CB_DOMAIN_SYNCHRONIZE, callbacks[notice->kind].id, &wait);
}

/* ---- the interface ---- */

static bool holds(CUpti_SubscriberHandle handle)
{
	return (void *)handle == &subscriber &&
	       __atomic_load_n(&subscriber.taken, __ATOMIC_ACQUIRE);
}

GD_CUPTI(cuptiSubscribe, (CUpti_SubscriberHandle * out, CUpti_CallbackFunc callback, void *user),
    (out, callback, user))
{
	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (__atomic_exchange_n(&subscriber.taken, true, __ATOMIC_ACQ_REL))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	subscriber.user = user;
	__atomic_store_n(&subscriber.function, callback, __ATOMIC_RELEASE);
	*out = (CUpti_SubscriberHandle)&subscriber;
	return CUPTI_SUCCESS;
}

static void disable_all(void)
{
	for (unsigned domain = 1; domain <= CUPTI_CB_DOMAIN_NVTX; domain++)
		gd_callback_set((CUpti_CallbackDomain)domain, GD_MAX_CALLS, false);
}

void gd_callbacks_reset(void)
{
	__atomic_store_n(&subscriber.function, NULL, __ATOMIC_RELEASE);
	disable_all();
	__atomic_store_n(&subscriber.taken, false, __ATOMIC_RELEASE);
}

GD_CUPTI(cuptiUnsubscribe, (CUpti_SubscriberHandle handle), (handle))
{
	if (!holds(handle))
		return CUPTI_ERROR_INVALID_PARAMETER;
	gd_callbacks_reset();
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiEnableCallback,
    (uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
	CUpti_CallbackId call),
    (enable, handle, domain, call))
{
	if (!holds(handle) || call >= GD_MAX_CALLS || !gd_callback_set(domain, call, enable != 0))
		return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiEnableDomain,
    (uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain),
    (enable, handle, domain))
{
	if (!holds(handle) || !gd_callback_set(domain, GD_MAX_CALLS, enable != 0))
		return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiEnableAllDomains, (uint32_t enable, CUpti_SubscriberHandle handle), (enable, handle))
{
	if (!holds(handle))
		return CUPTI_ERROR_INVALID_PARAMETER;
	for (unsigned domain = 1; domain <= CUPTI_CB_DOMAIN_NVTX; domain++)
		gd_callback_set((CUpti_CallbackDomain)domain, GD_MAX_CALLS, enable != 0);
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiGetCallbackState,
    (uint32_t * out, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain,
	CUpti_CallbackId call),
    (out, handle, domain, call))
{
	if (!out || !holds(handle) || domain <= CUPTI_CB_DOMAIN_INVALID ||
	    domain > CUPTI_CB_DOMAIN_NVTX || call >= GD_MAX_CALLS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out = gd_callback_on(domain, call);
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiSupportedDomains, (size_t * count, CUpti_DomainTable *table), (count, table))
{
	static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API,
	    CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};

	if (!count || !table)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*count = sizeof(domains) / sizeof(*domains);
	*table = domains;
	return CUPTI_SUCCESS;
}
