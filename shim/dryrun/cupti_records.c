/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_records.h"

#include <pthread.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "cupti_buffers.h"
#include "cupti_calls.h"
#include "cupti_clock.h"
#include "cupti_kinds.h"
#include "cupti_names.h"
#include "cupti_pending.h"

static bool with_latency; /* atomic */

void gd_records_latency(bool on)
{
	__atomic_store_n(&with_latency, on, __ATOMIC_RELAXED);
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
	if (operation->from_device != operation->to_device)
		return CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	return CUPTI_ACTIVITY_MEMCPY_KIND_DTOD;
}

/* What kernels, copies, memsets have in common, under the same names. */
#define GD_COMMON(target, operation, correlation) \
	do { \
		(target).start = (operation)->start_ns; \
		(target).end = (operation)->end_ns; \
		(target).deviceId = (operation)->device; \
		(target).contextId = (uint32_t)(operation)->context_id; \
		(target).streamId = (uint32_t)(operation)->stream_id; \
		(target).correlationId = (correlation); \
		(target).graphId = (uint32_t)(operation)->graph_exec_id; \
		(target).graphNodeId = (operation)->node_id; \
	} while (0)

static void fill_kernel(
    union gd_record *record, const struct gd_operation *operation, uint32_t correlation)
{
	static int64_t last_grid;
	GD_KERNEL *kernel = &record->kernel;

	GD_COMMON(*kernel, operation, correlation);
	kernel->registersPerThread = (uint16_t)operation->registers;
	kernel->completed = operation->end_ns;
	kernel->gridX = (int32_t)operation->grid[0];
	kernel->gridY = (int32_t)operation->grid[1];
	kernel->gridZ = (int32_t)operation->grid[2];
	kernel->blockX = (int32_t)operation->block[0];
	kernel->blockY = (int32_t)operation->block[1];
	kernel->blockZ = (int32_t)operation->block[2];
	kernel->staticSharedMemory = (int32_t)operation->static_shared_bytes;
	kernel->dynamicSharedMemory = (int32_t)operation->dynamic_shared_bytes;
	kernel->localMemoryPerThread = operation->local_bytes;
	kernel->gridId = __atomic_add_fetch(&last_grid, 1, __ATOMIC_RELAXED);
	kernel->name = gd_name_keep(operation->name ? operation->name : "");
	if (__atomic_load_n(&with_latency, __ATOMIC_RELAXED))
		kernel->queued = kernel->submitted = operation->enqueued_ns;
}

static void fill_copy(
    union gd_record *record, const struct gd_operation *operation, uint32_t correlation)
{
	GD_MEMCPY *copy = &record->copy;

	GD_COMMON(*copy, operation, correlation);
	copy->copyKind = copy_kind(operation);
	copy->srcKind = memory_kind(operation->from);
	copy->dstKind = memory_kind(operation->to);
	copy->flags = operation->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	copy->bytes = operation->bytes;
}

static void fill_peer_copy(
    union gd_record *record, const struct gd_operation *operation, uint32_t correlation)
{
	CUpti_ActivityMemcpyPtoP4 *copy = &record->peer_copy;

	GD_COMMON(*copy, operation, correlation);
	copy->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;
	copy->srcKind = memory_kind(operation->from);
	copy->dstKind = memory_kind(operation->to);
	copy->flags = operation->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC : 0;
	copy->bytes = operation->bytes;
	copy->srcDeviceId = operation->from_device;
	copy->dstDeviceId = operation->to_device;
}

static void fill_memset(
    union gd_record *record, const struct gd_operation *operation, uint32_t correlation)
{
	CUpti_ActivityMemset4 *memset = &record->memset;

	GD_COMMON(*memset, operation, correlation);
	memset->value = operation->value;
	memset->bytes = operation->bytes;
	memset->memoryKind = memory_kind(operation->to);
	memset->flags = operation->asynchronous ? CUPTI_ACTIVITY_FLAG_MEMSET_ASYNC : 0;
}

/* @return false when nobody wants a record of it */
static bool fill(
    union gd_record *record, const struct gd_operation *operation, uint32_t correlation)
{
	bool peer = operation->kind == GD_OPERATION_COPY &&
		    copy_kind(operation) == CUPTI_ACTIVITY_MEMCPY_KIND_PTOP;

	memset(record, 0, sizeof(*record));
	switch (operation->kind) {
	case GD_OPERATION_KERNEL:
		record->any.kind = gd_kind_on(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
				       ? CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
				       : CUPTI_ACTIVITY_KIND_KERNEL;
		fill_kernel(record, operation, correlation);
		break;
	case GD_OPERATION_COPY:
		record->any.kind = peer ? CUPTI_ACTIVITY_KIND_MEMCPY2 : CUPTI_ACTIVITY_KIND_MEMCPY;
		(peer ? fill_peer_copy : fill_copy)(record, operation, correlation);
		break;
	case GD_OPERATION_MEMSET:
		record->any.kind = CUPTI_ACTIVITY_KIND_MEMSET;
		fill_memset(record, operation, correlation);
		break;
	default:
		return false;
	}
	return gd_kind_on(record->any.kind);
}

static void add_to_graph(const struct gd_operation *operation, uint32_t correlation)
{
	union gd_record record;
	GD_GRAPH_TRACE *graph = &record.graph_trace;

	memset(&record, 0, sizeof(record));
	graph->kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
	graph->correlationId = correlation;
	graph->start = operation->start_ns;
	graph->end = operation->end_ns;
	graph->deviceId = operation->device;
	graph->graphId = (uint32_t)operation->graph_exec_id;
	graph->contextId = (uint32_t)operation->context_id;
	graph->streamId = (uint32_t)operation->stream_id;
#if CUDA_VERSION >= 12000
	graph->endDeviceId = graph->deviceId;
	graph->endContextId = graph->contextId;
#endif
	gd_pending_add_to_graph(&record, operation->call);
}

/* ---- from the device's times to the client's ---- */

static void convert(union gd_record *record, bool ended)
{
	uint64_t *start, *end;

	switch (record->any.kind) {
	case CUPTI_ACTIVITY_KIND_KERNEL:
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		record->kernel.completed = ended ? gd_clock_convert(record->kernel.completed) : 0;
		record->kernel.queued = gd_clock_convert(record->kernel.queued);
		record->kernel.submitted = gd_clock_convert(record->kernel.submitted);
		start = &record->kernel.start;
		end = &record->kernel.end;
		break;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		start = &record->graph_trace.start;
		end = &record->graph_trace.end;
		break;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		start = &record->peer_copy.start;
		end = &record->peer_copy.end;
		break;
	default: /* copies and memsets have them in the same places */
		start = &record->copy.start;
		end = &record->copy.end;
	}
	*start = ended ? gd_clock_convert(*start) : 0;
	*end = ended ? gd_clock_convert(*end) : 0;
}

static void write_record(union gd_record *record, bool ended)
{
	convert(record, ended);
	gd_buffers_append(false, record);
}

/* One thread at a time moves records of what ended into buffers: so they come in that order, and
 * what was taken is written when a flush begins.  Not held while the client is called. */
static pthread_mutex_t mover_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t mover_done = PTHREAD_COND_INITIALIZER;
static bool moving;
static unsigned movers_waiting; /* they go first */

/* @return false when another thread, or this one further out, is at it already */
static bool begin_moving(bool wait)
{
	bool begun;

	pthread_mutex_lock(&mover_lock);
	movers_waiting += wait;
	while (wait && moving)
		pthread_cond_wait(&mover_done, &mover_lock);
	movers_waiting -= wait;
	begun = !moving && (wait || !movers_waiting);
	moving |= begun;
	pthread_mutex_unlock(&mover_lock);
	return begun;
}

static void end_moving(void)
{
	pthread_mutex_lock(&mover_lock);
	moving = false;
	pthread_cond_broadcast(&mover_done);
	pthread_mutex_unlock(&mover_lock);
}

static void move_ended(uint64_t until_ns, bool ended)
{
	union gd_record record;

	while (gd_pending_take(until_ns, &record))
		write_record(&record, ended);
}

static void move_graphs(uint64_t until_ns, bool ended)
{
	union gd_record record;

	while (gd_pending_take_graph(until_ns, &record))
		write_record(&record, ended);
}

/* Graphs are left to flushes: more of their work may come. */
static void write_ended(uint64_t now_ns)
{
	if (!gd_pending_any(now_ns) || !begin_moving(false))
		return;
	move_ended(now_ns, true);
	end_moving();
}

void gd_records_settle(bool all)
{
	uint64_t now_ns = gd_clock_device_ns();

	begin_moving(true);
	move_ended(now_ns, true);
	move_graphs(now_ns, true);
	if (all) {
		move_ended(UINT64_MAX, false);
		move_graphs(UINT64_MAX, false);
	}
	end_moving();
}

/* What takes time waits even if it has ended: what was enqueued before it may wait too, and comes
 * first. */
static void keep_or_write(union gd_record *record, const struct gd_operation *operation)
{
	bool timed = operation->end_ns > operation->start_ns;

	if (!timed || !gd_pending_add(operation->end_ns, record))
		write_record(record, !timed);
}

void gd_records_operation(const struct gd_operation *operation, void *user)
{
	uint32_t correlation = gd_calls_numbered() ? operation->call : 0;
	union gd_record record;

	if (operation->kind == GD_OPERATION_KERNEL)
		gd_calls_launched(operation->name);
	if (operation->graph_exec_id && gd_kind_on(CUPTI_ACTIVITY_KIND_GRAPH_TRACE))
		add_to_graph(operation, correlation);
	else if (fill(&record, operation, correlation))
		keep_or_write(&record, operation);
	write_ended(gd_clock_device_ns());
}

void gd_records_reset(void)
{
	gd_pending_drop();
}

void gd_records_overhead(uint64_t start, uint64_t end)
{
	union gd_record record;

	if (!gd_kind_on(CUPTI_ACTIVITY_KIND_OVERHEAD))
		return;
	memset(&record, 0, sizeof(record));
	record.overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
	record.overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_CUPTI_BUFFER_FLUSH;
	record.overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
	record.overhead.objectId.pt.processId = (uint32_t)getpid();
	record.overhead.objectId.pt.threadId = gd_calls_thread_id();
	record.overhead.start = start;
	record.overhead.end = end;
	gd_buffers_append(true, &record);
}
