/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/memory_trace.h"

#include <stddef.h>

#define STEP 1000

static struct {
	struct trace_builder *builder;
	uint32_t thread_id, flags, stack_id;
	uint16_t device;
	uint64_t time, allocated, reserved, requested, stream;
} now;

/* Time of a record; the next one comes a step later. */
static uint64_t tick(void)
{
	now.time += STEP;
	return now.time;
}

struct trace_builder *mt_begin(const char *path)
{
	now.builder = trace_begin(path);
	now.thread_id = 1;
	now.flags = now.stack_id = 0;
	now.device = 0;
	now.time = now.allocated = now.reserved = now.requested = now.stream = 0;
	trace_clock(now.builder, 1, 0, 0);
	trace_clock(now.builder, 1, STEP, STEP);
	trace_mark(now.builder, 1, tick(), GF_MARK_START, 4711);
	trace_property(now.builder, "program", "[\"python\", \"train.py\"]");
	trace_property(now.builder, "pid", "4711");
	trace_property(now.builder, "host", "node1");
	trace_property(now.builder, "torch_version", "2.15.0");
	trace_property(now.builder, "record", "memory,copies,kernels,api");
	trace_property(now.builder, "device.0.name", "Test GPU");
	trace_property(now.builder, "device.0.total_bytes", "1073741824");
	trace_property(now.builder, "device.0.sm_count", "8");
	trace_property(now.builder, "device.0.compute_capability", "8.9");
	return now.builder;
}

void mt_fraction(uint64_t fraction)
{
	struct gf_mark mark = {.kind = GF_MARK_MEMORY_FRACTION,
	    .time = tick(),
	    .value = fraction,
	    .value2 = now.device};
	trace_add(now.builder, now.thread_id, GF_TAG_mark, &mark);
}

void mt_end(void)
{
	trace_mark(now.builder, 1, tick(), GF_MARK_END, 0);
	trace_end(now.builder);
}

void mt_thread(uint32_t thread_id)
{
	now.thread_id = thread_id;
}

void mt_device(unsigned device)
{
	now.device = (uint16_t)device;
}

void mt_flags(uint32_t flags)
{
	now.flags = flags;
}

void mt_stack(uint32_t stack_id)
{
	now.stack_id = stack_id;
}

uint64_t mt_now(void)
{
	return now.time + STEP;
}

void mt_wait(uint64_t ticks)
{
	now.time += ticks;
}

void mt_block(uint64_t address, int64_t size, uint64_t allocated, uint64_t reserved)
{
	struct gf_block block = {.time = tick(),
	    .stack_id = size > 0 ? now.stack_id : 0,
	    .address = address,
	    .size = size,
	    .allocated = allocated,
	    .reserved = reserved,
	    .requested = size > 0 ? now.requested : 0,
	    .stream = size > 0 && now.requested ? now.stream : 0,
	    .flags = size > 0 && now.requested ? GF_FLAG_REQUEST_KNOWN : 0,
	    .device = now.device};
	now.allocated = allocated;
	now.reserved = reserved;
	trace_add(now.builder, now.thread_id, GF_TAG_block, &block);
}

void mt_alloc(uint64_t address, uint64_t size)
{
	mt_block(address, (int64_t)size, now.allocated + size, now.reserved);
}

void mt_free(uint64_t address, uint64_t size)
{
	mt_block(address, -(int64_t)size, now.allocated - size, now.reserved);
}

void mt_reserved(uint64_t reserved)
{
	now.reserved = reserved;
}

void mt_requested(uint64_t bytes)
{
	now.requested = bytes;
}

void mt_stream(uint64_t id)
{
	now.stream = id;
}

void mt_driver(unsigned kind, uint64_t address, uint64_t size, uint64_t handle, unsigned status)
{
	struct gf_memory memory = {.time = tick(),
	    .stack_id = now.stack_id,
	    .duration = 100,
	    .address = address,
	    .size = size,
	    .handle = handle,
	    .kind = (uint16_t)kind,
	    .status = (uint16_t)status,
	    .device = now.device,
	    .flags = now.flags};
	trace_add(now.builder, now.thread_id, GF_TAG_memory, &memory);
}

void mt_mem_info(uint64_t free_bytes, uint64_t total_bytes)
{
	struct gf_mem_info info = {.time = tick(),
	    .free_bytes = free_bytes,
	    .total_bytes = total_bytes,
	    .device = now.device};
	trace_add(now.builder, now.thread_id, GF_TAG_mem_info, &info);
}

void mt_oom(uint64_t size, uint64_t allocated, uint64_t reserved)
{
	struct gf_oom oom = {.time = tick(),
	    .stack_id = now.stack_id,
	    .size = size,
	    .requested = size - 12,
	    .allocated = allocated,
	    .reserved = reserved,
	    .flags = GF_FLAG_REQUEST_KNOWN,
	    .device = now.device};
	trace_add(now.builder, now.thread_id, GF_TAG_oom, &oom);
}

void mt_copy(uint64_t bytes, unsigned status)
{
	struct gf_copy copy = {.time = tick(),
	    .stack_id = now.stack_id,
	    .duration = 200,
	    .target = 0x1000,
	    .source = 0x2000,
	    .bytes = bytes,
	    .status = (uint16_t)status,
	    .device = now.device};
	trace_add(now.builder, now.thread_id, GF_TAG_copy, &copy);
}

void mt_memset(uint64_t bytes, unsigned status)
{
	struct gf_memset set = {.time = tick(),
	    .address = 0x1000,
	    .bytes = bytes,
	    .status = (uint16_t)status,
	    .device = now.device};
	trace_add(now.builder, now.thread_id, GF_TAG_memset, &set);
}

void mt_launch(unsigned status)
{
	struct gf_launch launch = {.time = tick(),
	    .duration = 300,
	    .function = 0x5000,
	    .grid_x = 1,
	    .status = (uint16_t)status,
	    .device = now.device,
	    .flags = now.flags};
	trace_add(now.builder, now.thread_id, GF_TAG_launch, &launch);
}

void mt_graph(unsigned kind)
{
	struct gf_graph graph = {.time = tick(),
	    .graph = 0x77,
	    .stream = 0x5000,
	    .kind = (uint16_t)kind,
	    .device = now.device};
	trace_add(now.builder, now.thread_id, GF_TAG_graph, &graph);
}

void mt_sync(unsigned kind)
{
	struct gf_wait wait = {.time = tick(), .kind = (uint16_t)kind, .device = now.device};
	trace_add(now.builder, now.thread_id, GF_TAG_wait, &wait);
}
