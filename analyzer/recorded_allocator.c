/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/recorded_allocator.h"

#include <stdlib.h>

#include "analyzer/held_ranges.h"
#include "analyzer/recorded_capture.h"
#include "analyzer/xalloc.h"

#define CUDA_OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */
#define BIT(tag) (UINT64_C(1) << GF_TAG_##tag)
#define TYPES \
	(BIT(block) | BIT(oom) | BIT(memory) | BIT(event) | BIT(wait) | BIT(mark) | BIT(graph) | \
	    BIT(mem_info))

/* A graph or executable and the pool that it holds. */
struct holder {
	uint64_t graph, executable;
	uint32_t pool;
};

struct reading {
	struct ga_recorded_allocator *input;
	struct ga_alloc_trace_builder builder;
	struct ga_held_ranges ranges;
	struct ga_map own_events; /* CUDA events that the allocator asks about: those it records */
	uint64_t reserved;	  /* bytes held now */
	uint64_t creating;	  /* bytes of pages created and not yet accessible */
	unsigned device;
	bool is_releasing;	/* segments go back outside of any allocation */
	bool is_refused;	/* the driver refused memory for the block that is asked for */
	bool is_unforced;	/* memory went back, or was refused, without that */
	bool has_fraction;	/* the program set one */
	uint64_t unmap_end;	/* where the run of unmapped pages under way ends, 0: none */
	uint32_t record_thread; /* of the events recorded and not yet claimed by a free */
	uint64_t *recorded;	/* those events and their streams, in pairs */
	size_t recorded_count, recorded_capacity;
	struct ga_recorded_capture capture;
	size_t capture_event;	/* CAPTURE_BEGIN of the one under way in the trace */
	bool capture_is_placed; /* its first block was seen */
	struct holder *holders;
	size_t holder_count, holder_capacity;
};

static void add_segment(
    struct reading *reading, enum ga_history_action action, uint64_t address, uint64_t size)
{
	struct ga_recorded_allocator *input = reading->input;
	input->segments = ga_xgrow(input->segments, input->segment_count, &input->segment_capacity,
	    sizeof(*input->segments));
	input->segments[input->segment_count++] =
	    (struct ga_history_entry){action, address, size, UINT64_MAX};
	reading->unmap_end = 0;
}

/* Bytes went back; a damaged recording may give back more than it took. */
static void lower(struct reading *reading, uint64_t bytes)
{
	reading->reserved -= bytes < reading->reserved ? bytes : reading->reserved;
}

/* ---- blocks ---- */

/* The first block of a capture tells which pool it shares, the first of a segment whose it is. */
static void place(struct reading *reading, bool captured, uint64_t address)
{
	struct ga_held_range *range = ga_held_ranges_find(&reading->ranges, address);
	bool is_first = captured && !reading->capture_is_placed;
	reading->capture_is_placed |= captured;
	if (range && range->is_fresh) {
		range->pool = captured ? reading->capture.pool : 0;
		range->is_fresh = false;
	} else if (is_first && range && range->pool && range->pool != reading->capture.pool) {
		reading->capture.pool = range->pool;
		reading->builder.trace->events[reading->capture_event].block = range->pool;
	}
}

/* @param stream  PyTorch's id, NULL if it is not known */
static void hand_out(struct reading *reading, uint32_t thread, uint64_t request,
    const uint64_t *stream, uint64_t address)
{
	bool captured = ga_recorded_capture_takes(&reading->capture, thread, stream);
	if (address)
		place(reading, captured, address);
	reading->builder.pool = captured ? reading->capture.pool : 0;
	ga_alloc_trace_alloc(&reading->builder, request, stream ? *stream : 0, address);
	reading->is_releasing = reading->is_refused = false;
	reading->recorded_count = 0;
}

static const uint64_t *stream_id(uint32_t flags, const uint64_t *stream)
{
	return flags & (GF_FLAG_REQUEST_KNOWN | GF_FLAG_STREAM_KNOWN) ? stream : NULL;
}

static void on_block(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_block block;
	gf_get_block(event->batch, event->row, &block);
	if (block.device != reading->device || !block.size) {
		reading->recorded_count = 0; /* those events were another device's */
		return;
	}
	if (block.size < 0) {
		for (size_t i = 0; i < reading->recorded_count; i += 2)
			if (reading->record_thread == event->thread_id)
				ga_alloc_trace_event_record(&reading->builder, reading->recorded[i],
				    reading->recorded[i + 1]);
		reading->recorded_count = 0;
		ga_alloc_trace_free(&reading->builder, block.address);
		return;
	}
	bool known = block.flags & GF_FLAG_REQUEST_KNOWN && block.requested;
	reading->input->blocks++;
	reading->input->unknown_requests += !known;
	hand_out(reading, event->thread_id, known ? block.requested : (uint64_t)block.size,
	    stream_id(block.flags, &block.stream), block.address);
}

static void on_oom(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_oom oom;
	gf_get_oom(event->batch, event->row, &oom);
	if (oom.device != reading->device)
		return;
	reading->is_unforced |= !reading->is_refused;
	hand_out(reading, event->thread_id, oom.requested ? oom.requested : oom.size,
	    stream_id(oom.flags, &oom.stream), 0);
}

/* ---- the driver's memory ---- */

/* Something goes back to the driver: outside an allocation the program emptied the cache. */
static void begin_release(struct reading *reading, uint32_t flags)
{
	reading->is_unforced |= flags & GF_FLAG_IN_ALLOCATOR && !reading->is_refused;
	if (flags & GF_FLAG_IN_ALLOCATOR || reading->is_releasing)
		return;
	reading->is_releasing = true;
	ga_alloc_trace_mark(&reading->builder, GA_CALL_EMPTY_CACHE, 0, 0);
}

static void on_allocate(struct reading *reading, const struct gf_memory *memory)
{
	if (!(memory->flags & GF_FLAG_IN_ALLOCATOR))
		return;
	ga_alloc_trace_segment(
	    &reading->builder, memory->size, memory->status ? 0 : memory->address);
	reading->is_refused |= memory->status != 0;
	if (memory->status)
		return;
	struct ga_held_range range = {
	    .address = memory->address, .size = memory->size, .is_fresh = true};
	ga_held_ranges_add(&reading->ranges, &range);
	reading->reserved += memory->size;
	add_segment(reading, GA_HISTORY_SEGMENT_ALLOC, memory->address, memory->size);
}

static void on_reserve(struct reading *reading, const struct gf_memory *memory)
{
	if (!(memory->flags & GF_FLAG_IN_ALLOCATOR) || memory->status)
		return;
	struct ga_held_range range = {.address = memory->address,
	    .size = memory->size,
	    .is_reservation = true,
	    .is_fresh = true};
	ga_held_ranges_add(&reading->ranges, &range);
	ga_alloc_trace_reservation(&reading->builder, memory->size, memory->address);
}

static void on_release(struct reading *reading, const struct gf_memory *memory)
{
	struct ga_held_range *range = ga_held_ranges_find(&reading->ranges, memory->address);
	if (!range || range->address != memory->address || memory->status)
		return;
	if (!range->is_reservation) {
		begin_release(reading, memory->flags);
		add_segment(reading, GA_HISTORY_SEGMENT_FREE, range->address, range->size);
		lower(reading, range->size);
	}
	ga_held_ranges_remove(&reading->ranges, range);
}

/* Pages are unmapped one by one, from the front of each free block to its end. */
static void on_unmap(struct reading *reading, const struct gf_memory *memory)
{
	struct ga_held_range *range = ga_held_ranges_find(&reading->ranges, memory->address);
	if (!range || !range->is_reservation || memory->status)
		return;
	begin_release(reading, memory->flags);
	lower(reading, memory->size);
	if (reading->unmap_end == memory->address && memory->address != range->address) {
		struct ga_recorded_allocator *input = reading->input;
		input->segments[input->segment_count - 1].size += memory->size;
	} else {
		add_segment(reading, GA_HISTORY_SEGMENT_UNMAP, memory->address, memory->size);
	}
	reading->unmap_end = memory->address + memory->size;
}

static void on_create(struct reading *reading, const struct gf_memory *memory)
{
	if (!(memory->flags & GF_FLAG_IN_ALLOCATOR))
		return;
	if (!memory->status) {
		reading->creating += memory->size;
	} else if (memory->status == CUDA_OUT_OF_MEMORY) {
		reading->is_refused = true;
		ga_alloc_trace_map(&reading->builder, 0, false);
	} /* else that kind of memory is not supported, and another kind is asked for */
}

static void on_access(struct reading *reading, const struct gf_memory *memory)
{
	struct ga_held_range *range = ga_held_ranges_find(&reading->ranges, memory->address);
	if (!range || !range->is_reservation || memory->status)
		return;
	reading->creating = 0;
	ga_alloc_trace_map(&reading->builder, memory->size, true);
	add_segment(reading, GA_HISTORY_SEGMENT_MAP, memory->address, memory->size);
	reading->reserved += memory->size;
}

static void on_memory(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_memory memory;
	gf_get_memory(event->batch, event->row, &memory);
	if (memory.device != reading->device && memory.device != GF_DEVICE_UNKNOWN)
		return;
	switch ((enum gf_memory_kind)memory.kind) {
	case GF_MEMORY_ALLOC:
		on_allocate(reading, &memory);
		break;
	case GF_MEMORY_RESERVE:
		on_reserve(reading, &memory);
		break;
	case GF_MEMORY_FREE:
	case GF_MEMORY_UNRESERVE:
		on_release(reading, &memory);
		break;
	case GF_MEMORY_CREATE:
		on_create(reading, &memory);
		break;
	case GF_MEMORY_RELEASE:
		reading->creating = 0; /* one page of a growth was refused: all are undone */
		break;
	case GF_MEMORY_ACCESS:
		on_access(reading, &memory);
		break;
	case GF_MEMORY_UNMAP:
		on_unmap(reading, &memory);
		break;
	default:
		break;
	}
}

/* What the driver could still give, and what is held by now, were there for this allocator. */
static void on_mem_info(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_mem_info info;
	struct ga_alloc_trace *trace = &reading->input->trace;
	gf_get_mem_info(event->batch, event->row, &info);
	if (info.status || info.device != reading->device || !info.total_bytes)
		return;
	uint64_t budget = info.free_bytes + reading->reserved + reading->creating;
	trace->device_bytes = info.total_bytes;
	if (budget < trace->budget_bytes || !trace->budget_bytes)
		trace->budget_bytes = budget;
}

/* ---- order on the device ---- */

static void on_event(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_event record;
	gf_get_event(event->batch, event->row, &record);
	if (!ga_map_find(&reading->own_events, record.object))
		return;
	if (record.kind == GF_EVENT_QUERY && !record.status)
		ga_alloc_trace_event_done(&reading->builder, record.object, false);
	if (record.kind != GF_EVENT_RECORD || record.status)
		return;
	if (reading->record_thread != event->thread_id)
		reading->recorded_count = 0;
	reading->record_thread = event->thread_id;
	for (int i = 0; i < 2; i++) {
		reading->recorded = ga_xgrow(reading->recorded, reading->recorded_count,
		    &reading->recorded_capacity, sizeof(uint64_t));
		reading->recorded[reading->recorded_count++] = i ? record.stream : record.object;
	}
}

static void on_wait(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_wait wait;
	gf_get_wait(event->batch, event->row, &wait);
	if (wait.status)
		return;
	if (wait.kind == GF_WAIT_EVENT && ga_map_find(&reading->own_events, wait.object))
		ga_alloc_trace_event_done(&reading->builder, wait.object, true);
	else if (wait.kind == GF_WAIT_DEVICE && wait.device == reading->device)
		ga_alloc_trace_mark(&reading->builder, GA_CALL_SYNCHRONIZE, 0, 0);
}

static void on_mark(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_mark mark;
	gf_get_mark(event->batch, event->row, &mark);
	if (mark.kind == GF_MARK_MEMORY_FRACTION && mark.value2 == reading->device) {
		ga_alloc_trace_mark(&reading->builder, GA_CALL_FRACTION, mark.value, 0);
		reading->has_fraction = true;
	} else if (mark.kind == GF_MARK_EMPTY_CACHE) {
		ga_alloc_trace_mark(&reading->builder, GA_CALL_EMPTY_CACHE, 0, 0);
		reading->is_releasing = true;
	}
}

/* ---- graphs ---- */

static struct holder *holder_of(struct reading *reading, uint64_t graph, uint64_t executable)
{
	for (size_t i = reading->holder_count; i-- > 0;) {
		struct holder *holder = &reading->holders[i];
		if ((graph && holder->graph == graph) ||
		    (executable && holder->executable == executable))
			return holder;
	}
	return NULL;
}

static void capture_begin(struct reading *reading, uint32_t thread, uint64_t stream)
{
	ga_recorded_capture_begin(&reading->capture, thread, stream);
	reading->capture_is_placed = false;
	reading->capture_event = reading->builder.trace->event_count;
	ga_alloc_trace_capture_begin(&reading->builder, reading->capture.pool);
}

static void capture_end(struct reading *reading, uint64_t graph)
{
	ga_alloc_trace_mark(&reading->builder, GA_CALL_CAPTURE_END, 0, reading->capture.pool);
	reading->holders = ga_xgrow(reading->holders, reading->holder_count,
	    &reading->holder_capacity, sizeof(*reading->holders));
	reading->holders[reading->holder_count++] =
	    (struct holder){.graph = graph, .pool = reading->capture.pool};
	reading->capture.pool = 0;
}

static void on_graph(struct reading *reading, const struct gf_event_ref *event)
{
	struct gf_graph graph;
	struct holder *holder;
	gf_get_graph(event->batch, event->row, &graph);
	if (graph.status)
		return;
	if (graph.kind == GF_GRAPH_CAPTURE_BEGIN && graph.device == reading->device) {
		capture_begin(reading, event->thread_id, graph.stream);
	} else if (graph.kind == GF_GRAPH_CAPTURE_END && reading->capture.pool &&
		   graph.stream == reading->capture.stream) {
		capture_end(reading, graph.graph);
	} else if (graph.kind == GF_GRAPH_INSTANTIATE) {
		holder = holder_of(reading, graph.graph, 0);
		if (holder) {
			holder->graph = 0; /* its address may be used again */
			holder->executable = graph.executable;
		}
	} else if (graph.kind == GF_GRAPH_EXEC_DESTROY) {
		holder = holder_of(reading, 0, graph.executable);
		if (holder) {
			ga_alloc_trace_mark(
			    &reading->builder, GA_CALL_POOL_RELEASE, 0, holder->pool);
			*holder = reading->holders[--reading->holder_count];
		}
	}
}

static void on_record(struct reading *reading, const struct gf_event_ref *event)
{
	static void (*const readers[GF_TAG_LIMIT])(
	    struct reading *, const struct gf_event_ref *) = {
	    [GF_TAG_block] = on_block,
	    [GF_TAG_oom] = on_oom,
	    [GF_TAG_memory] = on_memory,
	    [GF_TAG_mem_info] = on_mem_info,
	    [GF_TAG_event] = on_event,
	    [GF_TAG_wait] = on_wait,
	    [GF_TAG_mark] = on_mark,
	    [GF_TAG_graph] = on_graph,
	};
	if (event->type < GF_TAG_LIMIT && readers[event->type])
		readers[event->type](reading, event);
}

/* Learn which CUDA events are the allocator's: the program has its own, and other allocators too.
 */
static enum gf_status find_own_events(
    struct reading *reading, struct gf_reader *reader, struct gf_error *error)
{
	struct gf_batch batch;
	enum gf_status status;
	gf_reader_rewind(reader);
	while (!(status = gf_reader_next_batch(reader, BIT(event) | BIT(wait), &batch, error))) {
		for (uint32_t row = 0; row < batch.rows[GF_TAG_event].count; row++) {
			struct gf_event event;
			gf_get_event(&batch, row, &event);
			if (event.object && event.kind == GF_EVENT_QUERY &&
			    event.flags & GF_FLAG_IN_ALLOCATOR)
				ga_map_add(&reading->own_events, event.object);
		}
		for (uint32_t row = 0; row < batch.rows[GF_TAG_wait].count; row++) {
			struct gf_wait wait;
			gf_get_wait(&batch, row, &wait);
			if (wait.object && wait.kind == GF_WAIT_EVENT &&
			    wait.flags & GF_FLAG_IN_ALLOCATOR)
				ga_map_add(&reading->own_events, wait.object);
		}
	}
	gf_reader_rewind(reader);
	return status == GF_END ? GF_OK : status;
}

static enum gf_status read_settings(
    struct ga_model *model, unsigned device, struct ga_alloc_trace *trace, struct gf_error *error)
{
	const char *text = ga_model_allocator_settings(model);
	int torch = ga_torch_number(ga_model_property(model, "torch_version"));
	enum gf_status status = ga_allocator_settings_parse(torch, text, &trace->settings, error);
	uint64_t total = ga_model_device_number(model, device, "total_bytes");
	if (total != GA_UNKNOWN)
		trace->device_bytes = total;
	return status ? GF_UNSUPPORTED : GF_OK;
}

enum gf_status ga_recorded_allocator_read(struct ga_model *model, unsigned device,
    struct ga_recorded_allocator *input_out, struct gf_error *error)
{
	struct ga_recorded_allocator input = {.segments = NULL};
	struct reading reading = {.input = &input, .device = device};
	struct gf_event_ref event;
	if (model->backend != GA_BACKEND_NATIVE)
		return gf_fail(error, GF_UNSUPPORTED, UINT64_MAX,
		    "PyTorch's caching allocator was not in use: there is nothing to replay");
	ga_alloc_trace_begin(&reading.builder, &input.trace);
	enum gf_status status = read_settings(model, device, &input.trace, error);
	ga_map_init(&reading.own_events, sizeof(uint64_t));
	if (!status)
		status = find_own_events(&reading, model->reader, error);
	struct gf_merge *merge = status ? NULL : gf_merge_open(model->reader, TYPES);
	if (!status && !merge)
		status = gf_fail(
		    error, GF_NO_MEMORY, UINT64_MAX, "no memory to read %s", model->path);
	while (!status && !(status = gf_merge_next(merge, &event, error)))
		on_record(&reading, &event);
	if (merge)
		gf_merge_close(merge);
	status = status == GF_END ? GF_OK : status;
	input.unknown_frees = reading.builder.lost;
	input.captures = reading.capture.pools;
	input.hidden_limit =
	    reading.is_unforced && !reading.has_fraction && input.trace.settings.fraction < 0;
	input.no_limit = !input.trace.device_bytes;
	if (input.no_limit)
		input.trace.device_bytes = GA_ALLOC_DRIVER_MOST / 2;
	if (!input.trace.budget_bytes)
		input.trace.budget_bytes = input.trace.device_bytes;
	ga_alloc_trace_end(&reading.builder);
	ga_held_ranges_clear(&reading.ranges);
	ga_map_free(&reading.own_events);
	ga_recorded_capture_clear(&reading.capture);
	free(reading.recorded);
	free(reading.holders);
	if (status)
		ga_recorded_allocator_clear(&input);
	else
		*input_out = input;
	return status;
}

void ga_recorded_allocator_clear(struct ga_recorded_allocator *input)
{
	ga_alloc_trace_clear(&input->trace);
	free(input->segments);
	*input = (struct ga_recorded_allocator){.segments = NULL};
}
