/* SPDX-License-Identifier: Apache-2.0 */
/* CUPTI's session: version and texts, which kinds are recorded, buffers and flushes, the end. */
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_buffers.h"
#include "cupti_callbacks.h"
#include "cupti_calls.h"
#include "cupti_clock.h"
#include "cupti_faults.h"
#include "cupti_flusher.h"
#include "cupti_kinds.h"
#include "cupti_layout.h"
#include "cupti_records.h"
#include "unprovided.h"

GD_CUPTI(cuptiGetVersion, (uint32_t * version), (version))
{
	if (!version)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*version = GD_CUPTI_VERSION;
	return CUPTI_SUCCESS;
}

/* X(result): of cupti_result.h, as far as every release has them. */
#define GD_RESULTS(X) \
	X(CUPTI_SUCCESS) \
	X(CUPTI_ERROR_INVALID_PARAMETER) \
	X(CUPTI_ERROR_INVALID_DEVICE) \
	X(CUPTI_ERROR_INVALID_CONTEXT) \
	X(CUPTI_ERROR_INVALID_OPERATION) \
	X(CUPTI_ERROR_OUT_OF_MEMORY) \
	X(CUPTI_ERROR_HARDWARE) \
	X(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT) \
	X(CUPTI_ERROR_API_NOT_IMPLEMENTED) \
	X(CUPTI_ERROR_MAX_LIMIT_REACHED) \
	X(CUPTI_ERROR_NOT_READY) \
	X(CUPTI_ERROR_NOT_COMPATIBLE) \
	X(CUPTI_ERROR_NOT_INITIALIZED) \
	X(CUPTI_ERROR_QUEUE_EMPTY) \
	X(CUPTI_ERROR_INVALID_HANDLE) \
	X(CUPTI_ERROR_INVALID_STREAM) \
	X(CUPTI_ERROR_INVALID_KIND) \
	X(CUPTI_ERROR_DISABLED) \
	X(CUPTI_ERROR_INVALID_MODULE) \
	X(CUPTI_ERROR_HARDWARE_BUSY) \
	X(CUPTI_ERROR_NOT_SUPPORTED) \
	X(CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED) \
	X(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES) \
	X(CUPTI_ERROR_OLD_PROFILER_API_INITIALIZED) \
	X(CUPTI_ERROR_LEGACY_PROFILER_NOT_SUPPORTED) \
	X(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED) \
	X(CUPTI_ERROR_UNKNOWN)

GD_CUPTI(cuptiGetResultString, (CUptiResult result, const char **text), (result, text))
{
	if (!text)
		return CUPTI_ERROR_INVALID_PARAMETER;
	switch ((int)result) {
#define GD_TEXT(name) \
	case name: \
		*text = #name; \
		return CUPTI_SUCCESS;
		GD_RESULTS(GD_TEXT)
#undef GD_TEXT
	default:
		return CUPTI_ERROR_INVALID_PARAMETER;
	}
}

/* ---- kinds ---- */

/* Kinds of the headers that the device has nothing for are accepted and stay empty, like PC
 * samples that nobody configured. */
static CUptiResult set_kind(CUpti_ActivityKind kind, bool on)
{
	bool both = on && ((kind == CUPTI_ACTIVITY_KIND_KERNEL &&
			       gd_kind_on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) ||
			      (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL &&
				  gd_kind_on(CUPTI_ACTIVITY_KIND_KERNEL)));

	if (both)
		return CUPTI_ERROR_NOT_COMPATIBLE;
	return gd_kind_set(kind, on) ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_KIND;
}

GD_CUPTI(cuptiActivityEnable, (CUpti_ActivityKind kind), (kind))
{
	return set_kind(kind, true);
}

GD_CUPTI(cuptiActivityDisable, (CUpti_ActivityKind kind), (kind))
{
	return set_kind(kind, false);
}

/* Kinds are the process's: one context alone cannot be switched here. */
GD_CUPTI(cuptiActivityEnableContext, (CUcontext context, CUpti_ActivityKind kind), (context, kind))
{
	gd_unprovided("cuptiActivityEnableContext");
	return CUPTI_ERROR_NOT_SUPPORTED;
}

GD_CUPTI(cuptiActivityDisableContext, (CUcontext context, CUpti_ActivityKind kind), (context, kind))
{
	gd_unprovided("cuptiActivityDisableContext");
	return CUPTI_ERROR_NOT_SUPPORTED;
}

GD_CUPTI(cuptiActivityEnableLatencyTimestamps, (uint8_t enable), (enable))
{
	gd_records_latency(enable != 0);
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiSetThreadIdType, (CUpti_ActivityThreadIdType type), (type))
{
	if (type != CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT &&
	    type != CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM)
		return CUPTI_ERROR_NOT_SUPPORTED;
	gd_calls_set_thread_id(type);
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiGetThreadIdType, (CUpti_ActivityThreadIdType * type), (type))
{
	if (!type)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*type = gd_calls_thread_id_type();
	return CUPTI_SUCCESS;
}

/* ---- attributes: kept for the caller; the device needs no buffers of its own ---- */

#define GD_PER_THREAD 9 /* CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER, since CUDA 12.3 */
#define GD_PINNED (CUDA_VERSION < 13000)

/* Sizes by their numbers: size_t or one byte.  Value: the documented default of the release. */
static struct {
	size_t bytes;
	uint64_t value;
} attributes[] = {
    {8, 3200000},
    {8, 8388608},
    {8, 250},
    {8, 25000},
    {8, 250},
    {1, 0},
    {8, 3},
    {8, 3},
    {1, GD_PINNED},
#if CUDA_VERSION >= 12000
    {1, GD_BUFFERS_PER_THREAD},
#endif
#if CUDA_VERSION >= 13000
    {8, 16777216},
#endif
};

#define GD_ATTRIBUTES (sizeof(attributes) / sizeof(*attributes))
static pthread_mutex_t attribute_lock = PTHREAD_MUTEX_INITIALIZER;

static CUptiResult check_attribute(unsigned attribute, const size_t *bytes, const void *value)
{
	if (!bytes || !value || attribute >= GD_ATTRIBUTES)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return *bytes < attributes[attribute].bytes ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT
						    : CUPTI_SUCCESS;
}

GD_CUPTI(cuptiActivitySetAttribute, (CUpti_ActivityAttribute attribute, size_t *bytes, void *value),
    (attribute, bytes, value))
{
	CUptiResult result = check_attribute(attribute, bytes, value);

	if (result != CUPTI_SUCCESS)
		return result;
	pthread_mutex_lock(&attribute_lock);
	memcpy(&attributes[attribute].value, value, attributes[attribute].bytes);
	pthread_mutex_unlock(&attribute_lock);
	if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER)
		gd_buffers_cleared(*(uint8_t *)value != 0);
	if ((unsigned)attribute == GD_PER_THREAD)
		gd_buffers_per_thread(*(uint8_t *)value != 0);
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiActivityGetAttribute, (CUpti_ActivityAttribute attribute, size_t *bytes, void *value),
    (attribute, bytes, value))
{
	CUptiResult result = check_attribute(attribute, bytes, value);

	if (result != CUPTI_SUCCESS)
		return result;
	pthread_mutex_lock(&attribute_lock);
	memcpy(value, &attributes[attribute].value, attributes[attribute].bytes);
	pthread_mutex_unlock(&attribute_lock);
	*bytes = attributes[attribute].bytes;
	return CUPTI_SUCCESS;
}

/* ---- buffers ---- */

/* Registered behind the client's own start, so that it runs in front of the client's end. */
static void at_exit(void)
{
	if (gd_cupti_forked() || gd_buffers_in_client())
		return;
	gd_flusher_set_period(0);
	gd_records_settle(true);
	gd_buffers_flush(true);
}

static void arm(void)
{
	atexit(at_exit);
}

GD_CUPTI(cuptiActivityRegisterCallbacks,
    (CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete),
    (request, complete))
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	if (!request || !complete)
		return CUPTI_ERROR_INVALID_PARAMETER;
	pthread_once(&once, arm);
	gd_buffers_set_client(request, complete);
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiActivityFlushAll, (uint32_t flag), (flag))
{
	uint64_t start = gd_clock_client_ns();

	if (!gd_buffers_ready() || gd_buffers_in_client())
		return CUPTI_ERROR_INVALID_OPERATION;
	gd_records_settle(flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
	gd_buffers_flush(false);
	gd_records_overhead(start, gd_clock_client_ns());
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiActivityFlush, (CUcontext context, uint32_t stream, uint32_t flag),
    (context, stream, flag))
{
	gd_unprovided("cuptiActivityFlush");
	return CUPTI_ERROR_NOT_SUPPORTED; /* of the synchronous interface, long gone */
}

GD_CUPTI(cuptiActivityFlushPeriod, (uint32_t milliseconds), (milliseconds))
{
	return gd_flusher_set_period(milliseconds) ? CUPTI_SUCCESS : CUPTI_ERROR_OUT_OF_MEMORY;
}

GD_CUPTI(cuptiActivityGetNumDroppedRecords, (CUcontext context, uint32_t stream, size_t *dropped),
    (context, stream, dropped))
{
	if (!dropped)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*dropped = gd_buffers_take_dropped();
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiActivityGetNextRecord,
    (uint8_t * buffer, size_t valid_bytes, CUpti_Activity **record), (buffer, valid_bytes, record))
{
	size_t at = 0;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (*record)
		at = (size_t)((uint8_t *)*record - buffer) + gd_record_bytes((*record)->kind);
	if (at >= valid_bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)(buffer + at);
	if (valid_bytes - at < sizeof(CUpti_Activity) || (*record)->kind <= 0 ||
	    (*record)->kind > 0xffff || valid_bytes - at < gd_record_bytes((*record)->kind))
		return CUPTI_ERROR_INVALID_KIND;
	return CUPTI_SUCCESS;
}

/* ---- time ---- */

GD_CUPTI(cuptiGetTimestamp, (uint64_t * now), (now))
{
	if (!now)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*now = gd_clock_client_ns();
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiActivityRegisterTimestampCallback, (CUpti_TimestampCallbackFunc clock), (clock))
{
	if (!clock)
		return CUPTI_ERROR_INVALID_PARAMETER;
	gd_clock_set(clock);
	return CUPTI_SUCCESS;
}

/* ---- the end ---- */

GD_CUPTI(cuptiFinalize, (void), ())
{
	if (gd_buffers_in_client())
		return CUPTI_ERROR_INVALID_OPERATION;
	gd_kinds_reset();
	gd_flusher_set_period(0);
	gd_records_settle(true);
	gd_buffers_flush(true);
	gd_records_reset();
	gd_callbacks_reset();
	gd_buffers_set_client(NULL, NULL);
	gd_clock_set(NULL);
	return CUPTI_SUCCESS;
}
