/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/operations.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "shim/dryrun/call_watch.h"
#include "shim/dryrun/copy_engines.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/kernel_times.h"
#include "shim/dryrun/launcher_api.h"
#include "shim/dryrun/multiprocessors.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/streams.h"

uint32_t gd_operations_busy;
bool gd_operations_blocking;

static uint64_t device_ready_ns[GD_MAX_DEVICES]; /* end of all work of a device; atomic */

enum clock { INSTANT, FIXED, MODEL };
static enum clock clock_kind;
static uint64_t fixed_ns;

static struct {
	void (*see)(const struct gd_operation *, void *);
	void *user;
} observer; /* both atomic, `see` is stored last */

static __thread struct gd_hint next_hint;

bool gd_operations_start(void)
{
	const char *text = getenv("GPUSHIM_DRYRUN_CLOCK");
	const char *blocking = getenv("CUDA_LAUNCH_BLOCKING");
	gd_operations_blocking = blocking && strcmp(blocking, "1") == 0;
	if (!text || !*text || strcmp(text, "instant") == 0)
		return true;
	if (strcmp(text, "model") == 0) {
		clock_kind = MODEL;
	} else {
		char *end;
		fixed_ns = strtoull(text, &end, 10);
		if (!isdigit((unsigned char)*text) || *end) {
			fprintf(stderr,
			    "gpushim dryrun: GPUSHIM_DRYRUN_CLOCK: \"%s\" is no clock\n", text);
			return false;
		}
		clock_kind = FIXED;
	}
	gd_operations_add_busy(1);
	return gd_kernel_times_read(getenv("GPUSHIM_DRYRUN_TIMES"));
}

void gd_operations_add_busy(int change)
{
	__atomic_fetch_add(&gd_operations_busy, (uint32_t)change, __ATOMIC_SEQ_CST);
}

uint64_t gd_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void gd_sleep_until(uint64_t time_ns)
{
	struct timespec until = {(time_t)(time_ns / 1000000000), (long)(time_ns % 1000000000)};
	if (time_ns <= gd_now_ns())
		return;
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0 &&
	       gd_now_ns() < time_ns)
		;
}

GD_EXPORT void gpushim_dryrun_observe(
    void (*see)(const struct gd_operation *operation, void *user), void *user)
{
	bool before = __atomic_load_n(&observer.see, __ATOMIC_ACQUIRE) != NULL;
	if (see)
		__atomic_store_n(&observer.user, user, __ATOMIC_RELAXED);
	__atomic_store_n(&observer.see, see, __ATOMIC_RELEASE);
	if (before != (see != NULL))
		gd_operations_add_busy(see ? 1 : -1);
}

GD_EXPORT void gpushim_dryrun_hint(unsigned long long flops, int precision)
{
	next_hint.flops = flops;
	next_hint.precision = precision >= 0 && precision < 3 ? (uint32_t)precision : 0;
}

struct gd_hint gd_hint_take(void)
{
	struct gd_hint hint = next_hint;
	next_hint.flops = 0;
	return hint;
}

static uint64_t transfer_ns(uint64_t bytes, uint64_t bytes_per_s)
{
	return bytes_per_s ? (uint64_t)((double)bytes * 1e9 / (double)bytes_per_s) : 0;
}

static uint64_t link_per_s(void)
{
	return gd_facts.nvlink_per_s ? gd_facts.nvlink_per_s : gd_facts.pcie_per_s;
}

static double product(const uint32_t size[3])
{
	return (double)size[0] * size[1] * size[2];
}

/* Element-wise kernels by their number of threads, matrix products by their operations. */
static uint64_t kernel_ns(const struct gd_operation *o)
{
	const uint64_t peaks[] = {gd_facts.fp32_per_s, gd_facts.tf32_per_s, gd_facts.fp16_per_s};
	if (o->hint.flops)
		return 3000 + transfer_ns(o->hint.flops, peaks[o->hint.precision]);
	if (o->link_steps)
		return 5000 + o->link_steps * UINT64_C(1000) +
		       transfer_ns(o->link_bytes, link_per_s());
	return 5000 + (uint64_t)(product(o->grid) * product(o->block) / 200);
}

/* How much of the device a kernel fills.  The time of a matrix product is that of the whole device. */
static uint32_t share_of(const struct gd_operation *o)
{
	double room = (double)o->blocks_per_sm * gd_facts.sm_count;
	double blocks = product(o->grid);
	if ((o->hint.flops && !o->timed) || blocks >= room)
		return GD_WHOLE_DEVICE;
	return (uint32_t)(blocks * GD_WHOLE_DEVICE / room) + 1;
}

static bool is_host(uint32_t memory)
{
	return memory == GD_MEMORY_PAGEABLE || memory == GD_MEMORY_PINNED;
}

static uint64_t copy_ns(const struct gd_operation *o)
{
	uint64_t bandwidth = gd_facts.bandwidth_per_s / 2; /* reads and writes */
	if (is_host(o->from) || is_host(o->to))
		bandwidth = gd_facts.pcie_per_s;
	else if (o->to_device != o->from_device)
		bandwidth = link_per_s();
	return 1500 + transfer_ns(o->bytes, bandwidth);
}

static uint64_t duration_ns(const struct gd_operation *o)
{
	if (clock_kind == INSTANT)
		return 0;
	if (o->timed)
		return o->time_ns;
	if (clock_kind == FIXED)
		return o->kind == GD_OPERATION_KERNEL ? fixed_ns : 0;
	switch (o->kind) {
	case GD_OPERATION_KERNEL:
		return kernel_ns(o);
	case GD_OPERATION_COPY:
		return copy_ns(o);
	case GD_OPERATION_MEMSET:
		return 1500 + transfer_ns(o->bytes, gd_facts.bandwidth_per_s);
	default:
		return 0;
	}
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void raise_to(uint64_t *time, uint64_t to)
{
	uint64_t was = __atomic_load_n(time, __ATOMIC_RELAXED);
	while (was < to && !__atomic_compare_exchange_n(
			       time, &was, to, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
		;
}

/* The legacy default stream waits for all blocking streams of its context and they for it. */
static uint64_t rule_ns(const struct gd_stream *stream)
{
	const struct gd_context *context = stream->context;
	if (stream->kind == GD_STREAM_LEGACY)
		return __atomic_load_n(&context->blocking_ready_ns, __ATOMIC_ACQUIRE);
	if (gd_stream_blocking(stream) && context->legacy)
		return __atomic_load_n(&context->legacy->ready_ns, __ATOMIC_ACQUIRE);
	return 0;
}

uint64_t gd_stream_ready_ns(struct gd_stream *stream)
{
	if (clock_kind == INSTANT)
		return 0;
	return later(__atomic_load_n(&stream->ready_ns, __ATOMIC_ACQUIRE),
	    stream->kind == GD_STREAM_LEGACY ? rule_ns(stream) : 0);
}

void gd_stream_delay(struct gd_stream *stream, uint64_t ready_ns)
{
	if (clock_kind == INSTANT || !ready_ns)
		return;
	raise_to(&stream->ready_ns, ready_ns);
	raise_to(&stream->context->ready_ns, ready_ns);
	raise_to(&device_ready_ns[stream->device], ready_ns);
	if (gd_stream_blocking(stream))
		raise_to(&stream->context->blocking_ready_ns, ready_ns);
}

static uint64_t start_locked(const struct gd_stream *stream, const struct gd_operation *operation)
{
	if (clock_kind == INSTANT)
		return gd_now_ns();
	return later(later(operation->enqueued_ns, stream->ready_ns), rule_ns(stream));
}

static void show(const struct gd_operation *operation)
{
	void (*see)(const struct gd_operation *, void *) =
	    __atomic_load_n(&observer.see, __ATOMIC_ACQUIRE);
	if (see && operation->kind != GD_OPERATION_SILENT)
		see(operation, __atomic_load_n(&observer.user, __ATOMIC_RELAXED));
}

/* Copies between host and device wait for the engine of their direction, kernels for a free part of
 * the device. */
static uint64_t begin_ns(
    const struct gd_stream *stream, const struct gd_operation *o, uint64_t duration)
{
	if (clock_kind != MODEL || !duration)
		return o->start_ns;
	if (o->kind == GD_OPERATION_KERNEL)
		return gd_multiprocessors_take(
		    o->device, stream->priority, share_of(o), o->start_ns, duration);
	if (o->kind != GD_OPERATION_COPY || is_host(o->from) == is_host(o->to))
		return o->start_ns;
	return gd_copy_engine_take(
	    o->device, is_host(o->to) ? GD_FROM_DEVICE : GD_TO_DEVICE, o->start_ns, duration);
}

void gd_operation_time(struct gd_stream *stream, struct gd_operation *operation)
{
	uint64_t duration = duration_ns(operation);
	pthread_mutex_lock(&stream->lock);
	operation->start_ns = start_locked(stream, operation);
	operation->start_ns = begin_ns(stream, operation, duration);
	operation->end_ns = operation->start_ns + duration;
	gd_stream_delay(stream, operation->end_ns);
	pthread_mutex_unlock(&stream->lock);
	show(operation);
}

uint64_t gd_operation_start(struct gd_stream *stream, const struct gd_operation *operation)
{
	pthread_mutex_lock(&stream->lock);
	uint64_t start_ns = start_locked(stream, operation);
	pthread_mutex_unlock(&stream->lock);
	return start_ns;
}

void gd_operation_time_met(
    struct gd_stream *stream, struct gd_operation *operation, uint64_t start_ns, uint64_t met_ns)
{
	operation->start_ns = start_ns;
	operation->end_ns = later(start_ns, met_ns) + duration_ns(operation);
	gd_stream_delay(stream, operation->end_ns);
	show(operation);
}

void gd_operation_place(const struct gd_stream *stream, struct gd_operation *operation)
{
	operation->device = stream->device;
	operation->context_id = stream->context_id;
	operation->stream_id = stream->id;
	if (operation->kind != GD_OPERATION_COPY)
		operation->to_device = operation->device;
	if (!operation->enqueued_ns)
		operation->enqueued_ns = gd_now_ns();
	const struct gd_call *call = gpushim_dryrun_call();
	if (call)
		operation->call = call->number;
}

void gd_enqueue_slow(struct gd_stream *stream, const struct gd_operation *operation,
    gd_effect effect, const void *argument, size_t argument_bytes)
{
	struct gd_operation filled = *operation;
	gd_operation_place(stream, &filled);
	if (gd_queue_defer(stream, &filled, effect, argument, argument_bytes))
		return;
	if (effect)
		effect(argument);
	gd_operation_time(stream, &filled);
}

void gd_stream_wait(struct gd_stream *stream)
{
	if (gd_operations_simple())
		return;
	gd_queue_drain(stream);
	gd_sleep_until(gd_stream_ready_ns(stream));
}

bool gd_context_wait(struct gd_context *context)
{
	if (gd_operations_simple())
		return true;
	if (gd_queue_serving())
		return false;
	gd_queue_drain_all(context, -1);
	gd_sleep_until(__atomic_load_n(&context->ready_ns, __ATOMIC_ACQUIRE));
	return true;
}

bool gd_device_wait(int device)
{
	if (gd_operations_simple())
		return true;
	if (gd_queue_serving())
		return false;
	gd_queue_drain_all(NULL, device);
	for (int d = 0; d < GD_MAX_DEVICES; d++) {
		if (device < 0 || d == device)
			gd_sleep_until(__atomic_load_n(&device_ready_ns[d], __ATOMIC_ACQUIRE));
	}
	return true;
}

bool gd_stream_idle(struct gd_stream *stream)
{
	if (gd_operations_simple())
		return true;
	return gd_queue_empty(stream) && gd_stream_ready_ns(stream) <= gd_now_ns();
}
