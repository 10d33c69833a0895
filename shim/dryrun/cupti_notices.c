/* SPDX-License-Identifier: Apache-2.0 */
/* Records of what calls did besides enqueuing work: waits, allocations, streams, contexts, events.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cupti_buffers.h"
#include "cupti_callbacks.h"
#include "cupti_calls.h"
#include "cupti_clock.h"
#include "cupti_faults.h"
#include "cupti_kinds.h"
#include "cupti_layout.h"
#include "cupti_records.h"

#define NO_STREAM UINT32_MAX /* CUPTI_SYNCHRONIZATION_INVALID_VALUE */

static uint32_t correlation(const struct gd_call *call)
{
	return call && gd_calls_numbered() ? call->number : 0;
}

static void add_synchronization(const struct gd_notice *notice, const struct gd_call *call)
{
	static const uint8_t types[] = {
	    [GD_NOTICE_EVENT_WAITED] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE,
	    [GD_NOTICE_EVENT_AWAITED] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT,
	    [GD_NOTICE_STREAM_WAITED] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE,
	    [GD_NOTICE_CONTEXT_WAITED] = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE,
	};
	union gd_record record = {.any.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION};
	GD_SYNCHRONIZATION *wait = &record.synchronization;

	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION))
		return;
	wait->type = (CUpti_ActivitySynchronizationType)types[notice->kind];
	wait->end = gd_clock_client_ns();
	wait->start = call && call->start ? call->start : wait->end;
	wait->correlationId = correlation(call);
	wait->contextId = (uint32_t)notice->context_id;
	wait->streamId = notice->stream_id ? (uint32_t)notice->stream_id : NO_STREAM;
	wait->cudaEventId = notice->event_id ? (uint32_t)notice->event_id : NO_STREAM;
#if CUDA_VERSION >= 13000
	wait->cudaEventSyncId = notice->event_id ? notice->record_id : NO_STREAM;
#endif
	gd_buffers_append(true, &record);
}

#if CUDA_VERSION >= 13000
static bool event_times; /* atomic */

GD_CUPTI(cuptiActivityEnableCudaEventDeviceTimestamps, (uint8_t enable), (enable))
{
	__atomic_store_n(&event_times, enable != 0, __ATOMIC_RELAXED);
	return CUPTI_SUCCESS;
}
#endif

static void add_event(const struct gd_notice *notice, const struct gd_call *call)
{
	union gd_record record = {.any.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT};

	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_CUDA_EVENT))
		return;
	record.event.correlationId = correlation(call);
	record.event.contextId = (uint32_t)notice->context_id;
	record.event.streamId = (uint32_t)notice->stream_id;
	record.event.eventId = (uint32_t)notice->event_id;
#if CUDA_VERSION >= 13000
	record.event.deviceId = notice->device;
	record.event.cudaEventSyncId = notice->record_id;
	if (__atomic_load_n(&event_times, __ATOMIC_RELAXED))
		record.event.deviceTimestamp = gd_clock_convert(notice->time_ns);
#endif
	gd_buffers_append(true, &record);
}

static void add_stream(const struct gd_notice *notice, const struct gd_call *call)
{
	union gd_record record = {.any.kind = CUPTI_ACTIVITY_KIND_STREAM};

	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_STREAM))
		return;
	record.stream.contextId = (uint32_t)notice->context_id;
	record.stream.streamId = (uint32_t)notice->stream_id;
	record.stream.priority = (uint32_t)notice->priority;
	record.stream.flag = notice->flags ? CUPTI_ACTIVITY_STREAM_CREATE_FLAG_NON_BLOCKING
					   : CUPTI_ACTIVITY_STREAM_CREATE_FLAG_DEFAULT;
	record.stream.correlationId = correlation(call);
	gd_buffers_append(true, &record);
}

static void add_context(const struct gd_notice *notice)
{
	union gd_record record = {.any.kind = CUPTI_ACTIVITY_KIND_CONTEXT};

	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_CONTEXT))
		return;
	record.context.contextId = (uint32_t)notice->context_id;
	record.context.deviceId = notice->device;
	record.context.computeApiKind = CUPTI_ACTIVITY_COMPUTE_API_CUDA;
	record.context.nullStreamId = (uint16_t)notice->stream_id;
	gd_buffers_append(true, &record);
}

/* ---- memory ---- */

static uint32_t memory_kind(const struct gd_notice *notice)
{
	switch (notice->memory) {
	case GD_MEMORY_PINNED:
		return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	case GD_MEMORY_MANAGED:
		return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
	default:
		return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	}
}

static void add_memory2(const struct gd_notice *notice, const struct gd_call *call)
{
	union gd_record record = {.any.kind = CUPTI_ACTIVITY_KIND_MEMORY2};
	GD_MEMORY2 *memory = &record.memory2;

	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_MEMORY2))
		return;
	memory->memoryOperationType = notice->kind == GD_NOTICE_ALLOCATED
					  ? CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION
					  : CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE;
	memory->memoryKind = (CUpti_ActivityMemoryKind)memory_kind(notice);
	memory->correlationId = correlation(call);
	memory->address = notice->address;
	memory->bytes = notice->bytes;
	memory->timestamp = gd_clock_client_ns();
	memory->processId = (uint32_t)getpid();
	memory->deviceId = notice->device;
	memory->contextId = (uint32_t)notice->context_id;
	memory->streamId = notice->asynchronous ? (uint32_t)notice->stream_id : NO_STREAM;
	memory->isAsync = notice->asynchronous;
	if (notice->pool.address) {
		memory->memoryPoolConfig.memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
		memory->memoryPoolConfig.address = notice->pool.address;
		memory->memoryPoolConfig.releaseThreshold = notice->pool.threshold_bytes;
		memory->memoryPoolConfig.pool.size = notice->pool.reserved_bytes;
		memory->memoryPoolConfig.utilizedSize = notice->pool.used_bytes;
	}
	gd_buffers_append(true, &record);
}

/* Allocations that live, for the kind that is one record at their end. */
struct life {
	struct life *next;
	union gd_record record;
};

#define LIFE_BUCKETS 1024
static pthread_mutex_t life_lock = PTHREAD_MUTEX_INITIALIZER;
static struct life *lives[LIFE_BUCKETS];

static struct life **find_life(uint64_t address)
{
	struct life **link = &lives[(address >> 9) * UINT64_C(0x9e3779b97f4a7c15) >> 54];

	while (*link && (*link)->record.memory.address != address)
		link = &(*link)->next;
	return link;
}

static void begin_life(const struct gd_notice *notice)
{
	struct life *life = calloc(1, sizeof(*life)), **link;

	if (!life)
		return;
	life->record.memory.kind = CUPTI_ACTIVITY_KIND_MEMORY;
	life->record.memory.memoryKind = (CUpti_ActivityMemoryKind)memory_kind(notice);
	life->record.memory.address = notice->address;
	life->record.memory.bytes = notice->bytes;
	life->record.memory.start = gd_clock_client_ns();
	life->record.memory.processId = (uint32_t)getpid();
	life->record.memory.deviceId = notice->device;
	life->record.memory.contextId = (uint32_t)notice->context_id;
	pthread_mutex_lock(&life_lock);
	link = find_life(notice->address);
	life->next = *link ? (*link)->next : NULL;
	free(*link); /* its end was not seen */
	*link = life;
	pthread_mutex_unlock(&life_lock);
}

static void end_life(const struct gd_notice *notice)
{
	struct life **link, *life;

	pthread_mutex_lock(&life_lock);
	link = find_life(notice->address);
	life = *link;
	if (life)
		*link = life->next;
	pthread_mutex_unlock(&life_lock);
	if (!life)
		return;
	life->record.memory.end = gd_clock_client_ns();
	gd_buffers_append(true, &life->record);
	free(life);
}

static void add_memory(const struct gd_notice *notice, const struct gd_call *call)
{
	add_memory2(notice, call);
	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_MEMORY))
		return;
	if (notice->kind == GD_NOTICE_ALLOCATED)
		begin_life(notice);
	else
		end_life(notice);
}

static void add_pool(const struct gd_notice *notice, const struct gd_call *call)
{
	union gd_record record = {.any.kind = CUPTI_ACTIVITY_KIND_MEMORY_POOL};
	GD_POOL *pool = &record.pool;

	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_MEMORY_POOL))
		return;
	pool->memoryPoolOperationType = notice->kind == GD_NOTICE_POOL_MADE
					    ? CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_CREATED
					: notice->kind == GD_NOTICE_POOL_ENDS
					    ? CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_DESTROYED
					    : CUPTI_ACTIVITY_MEMORY_POOL_OPERATION_TYPE_TRIMMED;
	pool->memoryPoolType = CUPTI_ACTIVITY_MEMORY_POOL_TYPE_LOCAL;
	pool->correlationId = correlation(call);
	pool->processId = (uint32_t)getpid();
	pool->deviceId = notice->device;
	pool->minBytesToKeep = notice->bytes;
	pool->address = notice->pool.address;
	pool->size = notice->pool.reserved_bytes;
	pool->releaseThreshold = notice->pool.threshold_bytes;
	pool->utilizedSize = notice->pool.used_bytes;
	pool->timestamp = gd_clock_client_ns();
	gd_buffers_append(true, &record);
}

void gd_records_notice(const struct gd_notice *notice)
{
	const struct gd_call *call = gd_calls_current();

	switch ((enum gd_notice_kind)notice->kind) {
	case GD_NOTICE_EVENT_WAITED:
	case GD_NOTICE_STREAM_WAITED:
	case GD_NOTICE_CONTEXT_WAITED:
	case GD_NOTICE_EVENT_AWAITED:
		add_synchronization(notice, call);
		break;
	case GD_NOTICE_EVENT_RECORDED:
		add_event(notice, call);
		break;
	case GD_NOTICE_ALLOCATED:
	case GD_NOTICE_FREED:
		add_memory(notice, call);
		break;
	case GD_NOTICE_CONTEXT_MADE:
		add_context(notice);
		break;
	case GD_NOTICE_STREAM_MADE:
		add_stream(notice, call);
		break;
	case GD_NOTICE_POOL_MADE:
	case GD_NOTICE_POOL_ENDS:
	case GD_NOTICE_POOL_TRIMMED:
		add_pool(notice, call);
		break;
	case GD_NOTICE_CONTEXT_ENDS:
	case GD_NOTICE_STREAM_ENDS:
		break;
	}
	gd_callback_notice(notice);
}
