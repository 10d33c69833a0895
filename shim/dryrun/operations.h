/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream of operations: what was enqueued where, and when the device does it.
 *
 * GPUSHIM_DRYRUN_CLOCK chooses the clock.  instant: work ends at once.  A number: every kernel
 * takes so many nanoseconds, everything else nothing.  model: kernels, copies and memsets take
 * times from the formulas in operations.c and the facts of the device.  An operation starts when
 * the stream, the legacy default stream rule and awaited events allow, and never before it was
 * enqueued. Times are CLOCK_MONOTONIC.  Threads: any.
 */
#ifndef GD_OPERATIONS_H
#define GD_OPERATIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gd_stream;
struct gd_context;

enum gd_operation_kind {
	GD_OPERATION_SILENT, /* ordered like the others, but takes no time and is not shown */
	GD_OPERATION_KERNEL,
	GD_OPERATION_COPY,
	GD_OPERATION_MEMSET,
};

enum gd_memory_kind {
	GD_MEMORY_PAGEABLE,
	GD_MEMORY_PINNED,
	GD_MEMORY_DEVICE,
	GD_MEMORY_MANAGED,
	GD_MEMORY_ARRAY
};

/* What a math library said a kernel computes. */
struct gd_hint {
	uint64_t flops;	    /* 0: nothing was said */
	uint32_t precision; /* 0 fp32, 1 tf32, 2 fp16 and bf16 */
};

struct gd_operation {
	uint32_t kind; /* enum gd_operation_kind */
	uint32_t device;
	uint64_t context_id, stream_id;
	uint64_t start_ns, end_ns;	 /* CLOCK_MONOTONIC, as simulated */
	uint64_t graph_exec_id, node_id; /* 0 outside a graph launch */
	uint64_t enqueued_ns;		 /* CLOCK_MONOTONIC; 0 from the caller: now */
	uint32_t call; /* number of the call that enqueued it (call_watch.h), or 0 */
	/* kernel */
	const char *name;
	uint32_t grid[3], block[3];
	uint32_t static_shared_bytes, dynamic_shared_bytes, registers, local_bytes;
	uint32_t blocks_per_sm; /* that a multiprocessor has room for; 0: not known */
	bool timed;		/* it takes `time_ns` (kernel_times.h), unless work ends at once */
	uint64_t time_ns;
	struct gd_hint hint;
	uint64_t link_bytes; /* of a meeting (meetings.h), in so many steps; 0 steps: none */
	uint32_t link_steps;
	/* copy and memset */
	uint32_t from, to;		 /* enum gd_memory_kind; a memset has `to` alone */
	uint32_t from_device, to_device; /* of a peer copy, else `device` */
	uint32_t value;			 /* of a memset */
	uint64_t bytes;
	uint32_t asynchronous;
};

/* What is done when the operation runs; must not call driver functions. */
typedef void (*gd_effect)(const void *argument);

/** Read GPUSHIM_DRYRUN_CLOCK; once. @return false after saying what is wrong */
bool gd_operations_start(void);

/** @return CLOCK_MONOTONIC in nanoseconds */
uint64_t gd_now_ns(void);

/** Sleep until a time of gd_now_ns. */
void gd_sleep_until(uint64_t time_ns);

/* Not 0 while an operation needs more than its effect: a clock, an observer, work in queues. */
extern uint32_t gd_operations_busy;

/* CUDA_LAUNCH_BLOCKING: kernel launches return when the kernel is done. */
extern bool gd_operations_blocking;

/** Half of gd_enqueue for when it is not that simple. */
void gd_enqueue_slow(struct gd_stream *stream, const struct gd_operation *operation,
    gd_effect effect, const void *argument, size_t argument_bytes);

static inline bool gd_operations_simple(void)
{
	return __atomic_load_n(&gd_operations_busy, __ATOMIC_ACQUIRE) == 0;
}

/**
 * Put an operation into a stream.
 *
 * @param operation       kind and what belongs to it; device, ids and times are filled in; borrowed
 * @param effect          may be NULL; runs before the call returns unless the stream has a queue
 * @param argument        for the effect; copied when it has to wait
 * @param argument_bytes  its size
 */
static inline void gd_enqueue(struct gd_stream *stream, const struct gd_operation *operation,
    gd_effect effect, const void *argument, size_t argument_bytes)
{
	if (!gd_operations_simple())
		gd_enqueue_slow(stream, operation, effect, argument, argument_bytes);
	else if (effect)
		effect(argument);
}

/** @return what was said about this launch of the thread; the next one begins without */
struct gd_hint gd_hint_take(void);

/** Give an operation its times, extend its stream by it and show it to the observer. */
void gd_operation_time(struct gd_stream *stream, struct gd_operation *operation);

/** @return when an operation that the stream has reached begins */
uint64_t gd_operation_start(struct gd_stream *stream, const struct gd_operation *operation);

/** gd_operation_time of one that began then and waited for others, the last of whom came at
 * `met_ns`
 */
void gd_operation_time_met(
    struct gd_stream *stream, struct gd_operation *operation, uint64_t start_ns, uint64_t met_ns);

/** Fill in what follows from the stream of an operation and from the call that enqueues it. */
void gd_operation_place(const struct gd_stream *stream, struct gd_operation *operation);

/** Mark something that needs gd_enqueue_slow, or (negative) its end. */
void gd_operations_add_busy(int change);

/**
 * @return when all work enqueued in the stream so far ends; work in its queue is not counted, and 0
 *         is the past
 */
uint64_t gd_stream_ready_ns(struct gd_stream *stream);

/** Let the stream's next operation start no earlier. */
void gd_stream_delay(struct gd_stream *stream, uint64_t ready_ns);

/** Wait until everything enqueued in the stream so far is done, its queue included. */
void gd_stream_wait(struct gd_stream *stream);

/**
 * Wait until everything enqueued in a context so far, or on a device (-1: on all), is done.
 *
 * @return false from a host function: CUDA permits no such call there, it would wait for itself
 */
bool gd_context_wait(struct gd_context *context);
bool gd_device_wait(int device);

/** @return whether it is done already */
bool gd_stream_idle(struct gd_stream *stream);

#endif
