/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_trace.h"

#include <stdlib.h>

#include "analyzer/xalloc.h"

/* Item of the two maps of the builder. */
struct known {
	uint64_t key;
	uint64_t block;
	uint64_t stream; /* of an event: index of the stream it was recorded on */
};

void ga_alloc_trace_begin(struct ga_alloc_trace_builder *builder, struct ga_alloc_trace *trace)
{
	*builder = (struct ga_alloc_trace_builder){.trace = trace};
	*trace = (struct ga_alloc_trace){0};
	ga_map_init(&builder->live, sizeof(struct known));
	ga_map_init(&builder->events, sizeof(struct known));
}

static struct ga_alloc_trace_event *add_event(
    struct ga_alloc_trace *trace, enum ga_alloc_trace_kind kind)
{
	trace->events = ga_xgrow(
	    trace->events, trace->event_count, &trace->event_capacity, sizeof(*trace->events));
	struct ga_alloc_trace_event *event = &trace->events[trace->event_count++];
	*event = (struct ga_alloc_trace_event){.kind = (uint8_t)kind};
	return event;
}

/* Index of a stream; the few that there are have been used recently more often than not. */
static uint16_t stream_index(struct ga_alloc_trace *trace, uint64_t stream)
{
	for (size_t i = 0; i < trace->stream_count; i++)
		if (trace->streams[i] == stream)
			return (uint16_t)i;
	if (trace->stream_count == UINT16_MAX)
		return UINT16_MAX - 1;
	trace->streams = ga_xgrow(
	    trace->streams, trace->stream_count, &trace->stream_capacity, sizeof(*trace->streams));
	trace->streams[trace->stream_count] = stream;
	return (uint16_t)trace->stream_count++;
}

/* What a call learned by waiting belongs behind it: the model waits at the same point by itself. */
static void add_forced(struct ga_alloc_trace_builder *builder)
{
	for (size_t i = 0; i < builder->forced_count; i++)
		*add_event(builder->trace, GA_CALL_READY) = builder->forced[i];
	builder->forced_count = 0;
}

static uint32_t add_block(struct ga_alloc_trace_builder *builder, uint64_t address)
{
	struct ga_alloc_trace *trace = builder->trace;
	builder->event_counts = ga_xgrow(builder->event_counts, trace->block_count,
	    &builder->count_capacity, sizeof(*builder->event_counts));
	trace->addresses = ga_xgrow(
	    trace->addresses, trace->block_count, &trace->block_capacity, sizeof(uint64_t));
	trace->addresses[trace->block_count] = address;
	builder->event_counts[trace->block_count] = 0;
	return (uint32_t)trace->block_count++;
}

void ga_alloc_trace_alloc(
    struct ga_alloc_trace_builder *builder, uint64_t request, uint64_t stream, uint64_t address)
{
	uint32_t block = add_block(builder, address);
	uint16_t index = stream_index(builder->trace, stream);
	struct ga_alloc_trace_event *event = add_event(builder->trace, GA_CALL_ALLOC);
	event->value = request < GA_CALL_REQUEST_MOST ? request : GA_CALL_REQUEST_MOST;
	event->stream = index;
	event->block = block;
	event->flags = (builder->pool ? GA_CALL_CAPTURED : 0) | (address ? 0 : GA_CALL_FAILED);
	if (address) {
		struct known *known = ga_map_add(&builder->live, address);
		known->block = block;
	}
	/* Events recorded by now belong to blocks freed during a capture; which, nothing tells. */
	builder->open_count = 0;
	add_forced(builder);
}

void ga_alloc_trace_free(struct ga_alloc_trace_builder *builder, uint64_t address)
{
	struct known *known = ga_map_find(&builder->live, address);
	if (!known) {
		builder->lost++;
		builder->open_count = 0;
		return;
	}
	uint32_t block = (uint32_t)known->block;
	ga_map_remove(&builder->live, known);
	struct ga_alloc_trace_event *event = add_event(builder->trace, GA_CALL_FREE);
	event->block = block;
	event->flags = builder->open_count ? GA_CALL_WAITS : 0;
	builder->event_counts[block] = (uint32_t)builder->open_count;
	for (size_t i = 0; i < builder->open_count; i++) {
		struct known *waited = ga_map_find(&builder->events, builder->open[i]);
		if (waited)
			waited->block = block;
	}
	builder->open_count = 0;
}

void ga_alloc_trace_event_record(
    struct ga_alloc_trace_builder *builder, uint64_t cuda_event, uint64_t stream)
{
	struct known *known = ga_map_add(&builder->events, cuda_event);
	known->block = UINT32_MAX;
	known->stream = stream_index(builder->trace, stream);
	builder->open =
	    ga_xgrow(builder->open, builder->open_count, &builder->open_capacity, sizeof(uint64_t));
	builder->open[builder->open_count++] = cuda_event;
}

void ga_alloc_trace_event_done(
    struct ga_alloc_trace_builder *builder, uint64_t cuda_event, bool forced)
{
	struct known *known = ga_map_find(&builder->events, cuda_event);
	if (!known)
		return;
	struct ga_alloc_trace_event ready = {
	    .kind = GA_CALL_READY,
	    .block = (uint32_t)known->block,
	    .stream = (uint16_t)known->stream,
	    .flags = forced ? GA_CALL_FORCED : 0,
	};
	ga_map_remove(&builder->events, known);
	if (ready.block == UINT32_MAX || --builder->event_counts[ready.block])
		return;
	if (!forced) {
		*add_event(builder->trace, GA_CALL_READY) = ready;
		return;
	}
	builder->forced = ga_xgrow(
	    builder->forced, builder->forced_count, &builder->forced_capacity, sizeof(ready));
	builder->forced[builder->forced_count++] = ready;
}

static struct ga_alloc_driver_answer *add_answer(
    struct ga_alloc_driver_answer **answers, size_t *count, size_t *capacity)
{
	*answers = ga_xgrow(*answers, *count, capacity, sizeof(**answers));
	return &(*answers)[(*count)++];
}

void ga_alloc_trace_segment(struct ga_alloc_trace_builder *builder, uint64_t size, uint64_t address)
{
	struct ga_alloc_trace *trace = builder->trace;
	*add_answer(&trace->segments, &trace->segment_count, &trace->segment_capacity) =
	    (struct ga_alloc_driver_answer){size, address};
}

void ga_alloc_trace_reservation(
    struct ga_alloc_trace_builder *builder, uint64_t size, uint64_t address)
{
	struct ga_alloc_trace *trace = builder->trace;
	*add_answer(&trace->reservations, &trace->reservation_count, &trace->reservation_capacity) =
	    (struct ga_alloc_driver_answer){size, address};
}

void ga_alloc_trace_map(struct ga_alloc_trace_builder *builder, uint64_t size, bool granted)
{
	struct ga_alloc_trace *trace = builder->trace;
	*add_answer(&trace->maps, &trace->map_count, &trace->map_capacity) =
	    (struct ga_alloc_driver_answer){size, granted};
}

void ga_alloc_trace_capture_begin(struct ga_alloc_trace_builder *builder, uint32_t pool)
{
	add_event(builder->trace, GA_CALL_CAPTURE_BEGIN)->block = pool;
	builder->pool = pool;
}

void ga_alloc_trace_mark(struct ga_alloc_trace_builder *builder, enum ga_alloc_trace_kind kind,
    uint64_t value, uint32_t pool)
{
	struct ga_alloc_trace_event *event = add_event(builder->trace, kind);
	event->value = value;
	event->block = pool;
	if (kind == GA_CALL_CAPTURE_END)
		builder->pool = 0;
	add_forced(builder);
}

void ga_alloc_trace_settings(struct ga_alloc_trace_builder *builder, const char *text)
{
	struct ga_alloc_trace *trace = builder->trace;
	trace->settings_texts = ga_xgrow(trace->settings_texts, trace->settings_count,
	    &trace->settings_capacity, sizeof(*trace->settings_texts));
	trace->settings_texts[trace->settings_count] = ga_xstrdup(text);
	add_event(trace, GA_CALL_SETTINGS)->value = trace->settings_count++;
}

void ga_alloc_trace_end(struct ga_alloc_trace_builder *builder)
{
	add_forced(builder);
	ga_map_free(&builder->live);
	ga_map_free(&builder->events);
	free(builder->open);
	free(builder->forced);
	free(builder->event_counts);
	*builder = (struct ga_alloc_trace_builder){0};
}

void ga_alloc_trace_clear(struct ga_alloc_trace *trace)
{
	for (size_t i = 0; i < trace->settings_count; i++)
		free(trace->settings_texts[i]);
	free(trace->settings_texts);
	free(trace->events);
	free(trace->addresses);
	free(trace->streams);
	free(trace->segments);
	free(trace->reservations);
	free(trace->maps);
	*trace = (struct ga_alloc_trace){0};
}
