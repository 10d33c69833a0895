/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_records.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "driver_door.h"
#include "operations.h"

#define GD_EXTERNAL_KINDS 8
#define GD_EXTERNAL_DEPTH 16

union record {
	CUpti_Activity any;
	CUpti_ActivityKernel8 kernel;
	CUpti_ActivityMemcpy5 copy;
	CUpti_ActivityMemset4 memset;
	CUpti_ActivityAPI call;
	CUpti_ActivityExternalCorrelation external;
	char room[GD_RECORD_BYTES];
};

/* Guards everything below it; of the client's callbacks only its clock is called under it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static union record *waiting;
static size_t waiting_count, waiting_room;
static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;
static CUpti_TimestampCallbackFunc client_clock;
static uint64_t mono_at_start, client_at_start; /* one reading of both clocks */
static uint8_t *spare_buffer;			/* asked for at the first record */
static size_t spare_bytes;
static bool observing;

static atomic_bool enabled[GD_MAX_KINDS];
static atomic_uint next_correlation = 1;

static __thread struct {
	uint64_t ids[GD_EXTERNAL_DEPTH];
	unsigned depth;
} external[GD_EXTERNAL_KINDS];

static uint64_t clock_ns(clockid_t id)
{
	struct timespec now;

	clock_gettime(id, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t gd_records_now(void)
{
	return client_clock ? client_clock() : clock_ns(CLOCK_REALTIME);
}

/* ---- names: kept for ever, as clients look at them after the module is gone ---- */

struct name {
	struct name *next;
	char text[];
};

static const char *keep_name(const char *text)
{
	static struct name *names[1024];
	uint32_t hash = 2166136261u;
	struct name *name;

	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 16777619u;
	for (name = names[hash % 1024]; name; name = name->next) {
		if (strcmp(name->text, text) == 0)
			return name->text;
	}
	name = malloc(sizeof(*name) + strlen(text) + 1);
	if (!name)
		return "";
	strcpy(name->text, text);
	name->next = names[hash % 1024];
	names[hash % 1024] = name;
	return name->text;
}

/* ---- from operations to records ---- */

/* A zeroed record of a kind, or NULL when the kind is off or memory is out.  Under the lock. */
static union record *add(CUpti_ActivityKind kind)
{
	union record *record;

	if (!enabled[kind])
		return NULL;
	if (waiting_count == waiting_room) {
		size_t room = waiting_room ? 2 * waiting_room : 4096;
		union record *grown = realloc(waiting, room * sizeof(*grown));

		if (!grown)
			return NULL;
		waiting = grown;
		waiting_room = room;
	}
	record = &waiting[waiting_count++];
	memset(record, 0, sizeof(*record));
	record->any.kind = kind;
	return record;
}

static uint8_t memory_kind(uint32_t kind)
{
	switch (kind) {
	case GD_MEMORY_PINNED:
		return CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
	case GD_MEMORY_DEVICE:
		return CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	case GD_MEMORY_MANAGED:
		return CUPTI_ACTIVITY_MEMORY_KIND_MANAGED;
	case GD_MEMORY_ARRAY:
		return CUPTI_ACTIVITY_MEMORY_KIND_ARRAY;
	default:
		return CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
	}
}

static uint8_t copy_kind(const struct gd_operation *operation)
{
	bool from_host = operation->from <= GD_MEMORY_PINNED;
	bool to_host = operation->to <= GD_MEMORY_PINNED;

	if (from_host && to_host)
		return CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
	if (from_host)
		return CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	if (to_host)
		return CUPTI_ACTIVITY_MEMCPY_KIND_DTOH;
	return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

static void add_kernel(const struct gd_operation *operation, uint32_t correlation)
{
	union record *record = add(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);

	if (!record)
		return;
	record->kernel.registersPerThread = (uint16_t)operation->registers;
	record->kernel.start = operation->start_ns;
	record->kernel.end = operation->end_ns;
	record->kernel.completed = operation->end_ns;
	record->kernel.deviceId = operation->device;
	record->kernel.contextId = (uint32_t)operation->context_id;
	record->kernel.streamId = (uint32_t)operation->stream_id;
	record->kernel.gridX = (int32_t)operation->grid[0];
	record->kernel.gridY = (int32_t)operation->grid[1];
	record->kernel.gridZ = (int32_t)operation->grid[2];
	record->kernel.blockX = (int32_t)operation->block[0];
	record->kernel.blockY = (int32_t)operation->block[1];
	record->kernel.blockZ = (int32_t)operation->block[2];
	record->kernel.staticSharedMemory = (int32_t)operation->static_shared_bytes;
	record->kernel.dynamicSharedMemory = (int32_t)operation->dynamic_shared_bytes;
	record->kernel.localMemoryPerThread = operation->local_bytes;
	record->kernel.correlationId = correlation;
	record->kernel.gridId = correlation;
	record->kernel.name = keep_name(operation->name ? operation->name : "");
	record->kernel.graphId = (uint32_t)operation->graph_exec_id;
	record->kernel.graphNodeId = operation->node_id;
}

static void add_copy(const struct gd_operation *operation, uint32_t correlation)
{
	union record *record = add(CUPTI_ACTIVITY_KIND_MEMCPY);

	if (!record)
		return;
	record->copy.copyKind = copy_kind(operation);
	record->copy.srcKind = memory_kind(operation->from);
	record->copy.dstKind = memory_kind(operation->to);
	record->copy.flags = operation->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	record->copy.bytes = operation->bytes;
	record->copy.start = operation->start_ns;
	record->copy.end = operation->end_ns;
	record->copy.deviceId = operation->device;
	record->copy.contextId = (uint32_t)operation->context_id;
	record->copy.streamId = (uint32_t)operation->stream_id;
	record->copy.correlationId = correlation;
	record->copy.graphId = (uint32_t)operation->graph_exec_id;
	record->copy.graphNodeId = operation->node_id;
}

static void add_memset(const struct gd_operation *operation, uint32_t correlation)
{
	union record *record = add(CUPTI_ACTIVITY_KIND_MEMSET);

	if (!record)
		return;
	record->memset.value = operation->value;
	record->memset.bytes = operation->bytes;
	record->memset.start = operation->start_ns;
	record->memset.end = operation->end_ns;
	record->memset.deviceId = operation->device;
	record->memset.contextId = (uint32_t)operation->context_id;
	record->memset.streamId = (uint32_t)operation->stream_id;
	record->memset.correlationId = correlation;
	record->memset.memoryKind = memory_kind(operation->to);
	record->memset.flags = operation->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
	record->memset.graphId = (uint32_t)operation->graph_exec_id;
	record->memset.graphNodeId = operation->node_id;
}

/*
 * The call that enqueued an operation.  Only the moment is known, so it has no length; a graph's
 * operations belong to its launch.
 */
static void add_call(const struct gd_operation *operation, uint32_t correlation)
{
	static const CUpti_CallbackId calls[] = {
	    [GD_OPERATION_KERNEL] = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000,
	    [GD_OPERATION_COPY] = CUPTI_RUNTIME_TRACE_CBID_cudaMemcpyAsync_v3020,
	    [GD_OPERATION_MEMSET] = CUPTI_RUNTIME_TRACE_CBID_cudaMemsetAsync_v3020,
	};
	union record *record = add(CUPTI_ACTIVITY_KIND_RUNTIME);

	if (!record)
		return;
	record->call.cbid = operation->graph_exec_id
				? (CUpti_CallbackId)CUPTI_RUNTIME_TRACE_CBID_cudaGraphLaunch_v10000
				: calls[operation->kind];
	record->call.start = record->call.end = clock_ns(CLOCK_MONOTONIC);
	record->call.processId = (uint32_t)getpid();
	record->call.threadId = (uint32_t)(uintptr_t)pthread_self();
	record->call.correlationId = correlation;
}

static void add_external(uint32_t correlation)
{
	for (unsigned kind = 0; kind < GD_EXTERNAL_KINDS; kind++) {
		union record *record;

		if (!external[kind].depth)
			continue;
		record = add(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
		if (!record)
			return;
		record->external.externalKind = (CUpti_ExternalCorrelationKind)kind;
		record->external.externalId = external[kind].ids[external[kind].depth - 1];
		record->external.correlationId = correlation;
	}
}

/* Clients that were never asked for a buffer do not look for records later. */
static void ask_for_buffer(void)
{
	CUpti_BuffersCallbackRequestFunc request;
	uint8_t *buffer = NULL;
	size_t bytes = 0, most = 0;

	pthread_mutex_lock(&lock);
	request = spare_buffer ? NULL : request_buffer;
	pthread_mutex_unlock(&lock);
	if (!request)
		return;
	request(&buffer, &bytes, &most);
	pthread_mutex_lock(&lock);
	if (!spare_buffer) {
		spare_buffer = buffer;
		spare_bytes = bytes;
	}
	pthread_mutex_unlock(&lock);
}

static void see(const struct gd_operation *operation, void *user)
{
	uint32_t correlation;

	if (operation->kind < GD_OPERATION_KERNEL || operation->kind > GD_OPERATION_MEMSET)
		return;
	correlation = atomic_fetch_add(&next_correlation, 1);
	pthread_mutex_lock(&lock);
	add_external(correlation);
	add_call(operation, correlation);
	if (operation->kind == GD_OPERATION_KERNEL)
		add_kernel(operation, correlation);
	else if (operation->kind == GD_OPERATION_COPY)
		add_copy(operation, correlation);
	else
		add_memset(operation, correlation);
	pthread_mutex_unlock(&lock);
}

/* ---- settings ---- */

static void observe(bool on)
{
	void (*set)(void (*)(const struct gd_operation *, void *), void *);

	if (on == observing)
		return;
	*(void **)&set = gd_driver_extra("gpushim_dryrun_observe");
	if (!set)
		return;
	observing = on;
	set(on ? see : NULL, NULL);
}

bool gd_records_enable(unsigned kind, bool on)
{
	bool any;

	if (kind >= GD_MAX_KINDS)
		return false;
	enabled[kind] = on;
	any = enabled[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] ||
	      enabled[CUPTI_ACTIVITY_KIND_KERNEL] || enabled[CUPTI_ACTIVITY_KIND_MEMCPY] ||
	      enabled[CUPTI_ACTIVITY_KIND_MEMSET];
	observe(any);
	if (any)
		ask_for_buffer();
	return true;
}

void gd_records_reset(void)
{
	for (unsigned kind = 0; kind < GD_MAX_KINDS; kind++)
		enabled[kind] = false;
	observe(false);
	pthread_mutex_lock(&lock);
	waiting_count = 0;
	request_buffer = NULL;
	complete_buffer = NULL;
	pthread_mutex_unlock(&lock);
}

void gd_records_set_client(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	pthread_mutex_lock(&lock);
	request_buffer = request;
	complete_buffer = complete;
	pthread_mutex_unlock(&lock);
}

static void read_both_clocks(uint64_t *mono, uint64_t *client)
{
	*mono = clock_ns(CLOCK_MONOTONIC);
	*client = gd_records_now();
}

void gd_records_set_clock(CUpti_TimestampCallbackFunc clock)
{
	pthread_mutex_lock(&lock);
	client_clock = clock;
	read_both_clocks(&mono_at_start, &client_at_start);
	pthread_mutex_unlock(&lock);
}

bool gd_records_push(CUpti_ExternalCorrelationKind kind, uint64_t id)
{
	if ((unsigned)kind >= GD_EXTERNAL_KINDS || external[kind].depth == GD_EXTERNAL_DEPTH)
		return false;
	external[kind].ids[external[kind].depth++] = id;
	return true;
}

bool gd_records_pop(CUpti_ExternalCorrelationKind kind, uint64_t *id_out)
{
	if ((unsigned)kind >= GD_EXTERNAL_KINDS || !external[kind].depth)
		return false;
	external[kind].depth--;
	if (id_out)
		*id_out = external[kind].ids[external[kind].depth];
	return true;
}

/* ---- handing over ---- */

/* A line through two readings of both clocks. */
struct conversion {
	uint64_t mono, client;
	double rate;
};

static void convert(const struct conversion *how, uint64_t *time)
{
	double since = (double)((int64_t)(*time - how->mono));

	*time = how->client + (uint64_t)(int64_t)(since * how->rate);
}

static void convert_record(const struct conversion *how, union record *record)
{
	switch (record->any.kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		convert(how, &record->kernel.start);
		convert(how, &record->kernel.end);
		convert(how, &record->kernel.completed);
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		convert(how, &record->copy.start);
		convert(how, &record->copy.end);
		break;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		convert(how, &record->memset.start);
		convert(how, &record->memset.end);
		break;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
		convert(how, &record->call.start);
		convert(how, &record->call.end);
		break;
	default:
		break;
	}
}

static void convert_all(union record *records, size_t count)
{
	struct conversion how = {.mono = mono_at_start, .client = client_at_start};
	uint64_t mono, client;

	read_both_clocks(&mono, &client);
	if (!how.mono) {
		how.mono = mono;
		how.client = client;
		how.rate = 1; /* CLOCK_REALTIME counts nanoseconds too */
	} else {
		how.rate = mono > how.mono
			       ? (double)(int64_t)(client - how.client) / (double)(mono - how.mono)
			       : 1;
	}
	for (size_t i = 0; i < count; i++)
		convert_record(&how, &records[i]);
}

static uint64_t end_of(const union record *record)
{
	switch (record->any.kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return record->kernel.end;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return record->copy.end;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return record->memset.end;
	default:
		return 0;
	}
}

/* Take what has ended out of the waiting records; the rest stays in its order.  Under the lock. */
static size_t take_ended(union record *taken)
{
	uint64_t now = clock_ns(CLOCK_MONOTONIC);
	size_t count = 0, kept = 0;

	for (size_t i = 0; i < waiting_count; i++) {
		if (end_of(&waiting[i]) <= now)
			taken[count++] = waiting[i];
		else
			waiting[kept++] = waiting[i];
	}
	waiting_count = kept;
	return count;
}

/* Fill one buffer of the client with as many records as it takes; 0 when there is no buffer. */
static size_t fill_buffer(const union record *records, size_t count)
{
	CUpti_BuffersCallbackRequestFunc request = request_buffer;
	CUpti_BuffersCallbackCompleteFunc complete = complete_buffer;
	uint8_t *buffer;
	size_t bytes, most = 0;

	pthread_mutex_lock(&lock);
	buffer = spare_buffer;
	bytes = spare_bytes;
	spare_buffer = NULL;
	pthread_mutex_unlock(&lock);
	if (!request || !complete)
		return 0;
	if (!buffer)
		request(&buffer, &bytes, &most);
	if (!buffer || bytes < sizeof(*records))
		return 0;
	if (count > bytes / sizeof(*records))
		count = bytes / sizeof(*records);
	memcpy(buffer, records, count * sizeof(*records));
	complete(NULL, 0, buffer, bytes, count * sizeof(*records));
	return count;
}

void gd_records_flush(bool all)
{
	union record *records;
	size_t count, done = 0;

	pthread_mutex_lock(&lock);
	if (all) {
		records = waiting;
		count = waiting_count;
		waiting = NULL;
		waiting_count = waiting_room = 0;
	} else {
		records = malloc((waiting_count + 1) * sizeof(*records));
		count = records ? take_ended(records) : 0;
	}
	pthread_mutex_unlock(&lock);
	convert_all(records, count);
	while (done < count) {
		size_t taken = fill_buffer(records + done, count - done);

		if (!taken)
			break;
		done += taken;
	}
	free(records);
	if (observing)
		ask_for_buffer();
}

GD_EXPORT CUptiResult cuptiActivityGetNextRecord(
    uint8_t *buffer, size_t valid_bytes, CUpti_Activity **record)
{
	uint8_t *next;

	if (!buffer || !record)
		return CUPTI_ERROR_INVALID_PARAMETER;
	next = *record ? (uint8_t *)*record + GD_RECORD_BYTES : buffer;
	if (next + GD_RECORD_BYTES > buffer + valid_bytes)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	*record = (CUpti_Activity *)next;
	return CUPTI_SUCCESS;
}
