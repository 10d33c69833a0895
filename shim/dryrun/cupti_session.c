/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CUPTI's session: version and texts, the one subscriber, which kinds are recorded, flushes.
 *
 * Callbacks of subscribers are accepted and never called: nothing here runs inside the driver.
 */
#include "cupti_records.h"

static void *subscriber; /* a token: its address is what the holder gets */

GD_EXPORT CUptiResult cuptiGetVersion(uint32_t *version)
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = CUPTI_API_VERSION;
	return CUPTI_SUCCESS;
}

/* X(result): those that the stand-in answers. */
#define GD_RESULTS(X) \
	X(CUPTI_SUCCESS) \
	X(CUPTI_ERROR_INVALID_PARAMETER) \
	X(CUPTI_ERROR_MAX_LIMIT_REACHED) \
	X(CUPTI_ERROR_NOT_SUPPORTED) \
	X(CUPTI_ERROR_QUEUE_EMPTY) \
	X(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)

GD_EXPORT CUptiResult cuptiGetResultString(CUptiResult result, const char **text)
{
	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch ((int)result) {
#define GD_TEXT(name) \
	case name: \
		*text = #name; \
		break;
		GD_RESULTS(GD_TEXT)
#undef GD_TEXT
	default:
		*text = "CUPTI_ERROR_UNKNOWN";
	}
	return CUPTI_SUCCESS;
}

/* X(domain, call, name): the calls that records name. */
#define GD_CALLS(X) \
	X(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, \
	    "cudaLaunchKernel_v7000") \
	X(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020, \
	    "cudaMemcpyAsync_v3020") \
	X(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020, \
	    "cudaMemsetAsync_v3020") \
	X(CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000, \
	    "cudaGraphLaunch_v10000")

GD_EXPORT CUptiResult cuptiGetCallbackName(
    CUpti_CallbackDomain domain, uint32_t call, const char **name)
{
#define GD_NAME(of_domain, of_call, text) \
	if (domain == of_domain && call == of_call) { \
		*name = text; \
		return CUPTI_SUCCESS; \
	}
	GD_CALLS(GD_NAME)
#undef GD_NAME
	return CUPTI_ERROR_INVALID_PARAMETER;
}

GD_EXPORT CUptiResult cuptiSubscribe(
    CUpti_SubscriberHandle *out, CUpti_CallbackFunc callback, void *data)
{
	void *none = NULL;

	if (!out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!__atomic_compare_exchange_n(
		&subscriber, &none, &subscriber, 0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	*out = (CUpti_SubscriberHandle)&subscriber;
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	if ((void *)handle != &subscriber)
		return CUPTI_ERROR_INVALID_PARAMETER;
	__atomic_store_n(&subscriber, NULL, __ATOMIC_RELEASE);
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
    CUpti_CallbackDomain domain, CUpti_CallbackId call)
{
	return (void *)handle == &subscriber ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

GD_EXPORT CUptiResult cuptiEnableDomain(
    uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	return (void *)handle == &subscriber ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

GD_EXPORT CUptiResult cuptiActivityRegisterCallbacks(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	gd_records_set_client(request, complete);
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	return gd_records_enable(kind, true) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}

GD_EXPORT CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	return gd_records_enable(kind, false) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}

GD_EXPORT CUptiResult cuptiActivityFlushAll(uint32_t flag)
{
	gd_records_flush(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiFinalize(void)
{
	gd_records_reset();
	__atomic_store_n(&subscriber, NULL, __ATOMIC_RELEASE);
	return CUPTI_SUCCESS;
}

/* Buffers are the client's and have no limits here, so the settings for them are read and
 * forgotten. */
GD_EXPORT CUptiResult cuptiActivitySetAttribute(
    CUpti_ActivityAttribute attribute, size_t *bytes, void *value)
{
	return bytes && value ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

GD_EXPORT CUptiResult cuptiActivityGetNumDroppedRecords(
    CUcontext context, uint32_t stream, size_t *dropped)
{
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = 0;
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiActivityPushExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	return gd_records_push(kind, id) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

GD_EXPORT CUptiResult cuptiActivityPopExternalCorrelationId(
    CUpti_ExternalCorrelationKind kind, uint64_t *id)
{
	return gd_records_pop(kind, id) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY;
}

GD_EXPORT CUptiResult cuptiGetTimestamp(uint64_t *now)
{
	if (!now)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*now = gd_records_now();
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc clock)
{
	gd_records_set_clock(clock);
	return CUPTI_SUCCESS;
}

#if CUPTI_API_VERSION >= 23
/* The calls that can be switched off one by one are none of those that are recorded. */
GD_EXPORT CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId call, uint8_t enable)
{
	return CUPTI_SUCCESS;
}

GD_EXPORT CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId call, uint8_t enable)
{
	return CUPTI_SUCCESS;
}
#endif
