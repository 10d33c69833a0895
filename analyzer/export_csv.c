/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/export.h"
#include "analyzer/line_sorter.h"
#include "analyzer/safe_text.h"

#define EVERY_EVENT \
	~(UINT64_C(1) << GF_TAG_text | UINT64_C(1) << GF_TAG_clock | UINT64_C(1) << GF_TAG_lost)

/*
 * X(name): columns of the file, in order; numbers are empty where an event has no such thing.  The
 * function that prints a record sets what the record has.
 */
#define NUMBERS(X) \
	X(device) \
	X(stream) \
	X(address) \
	X(bytes) \
	X(requested_bytes) X(allocated_bytes) X(reserved_bytes) X(source) X(handle) X(duration_ns) \
	    X(status) X(stack)

struct line {
	const char *type, *name, *kernel, *place;
	bool safe; /* for a terminal */
#define X(column) uint64_t column;
	NUMBERS(X)
#undef X
};

static void put_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* @param text  NULL: none */
static void put_text(FILE *out, const char *text, bool safe)
{
	char *shown = text && safe ? ga_safe_text(text) : NULL;
	put_field(out, shown ? shown : text ? text : "");
	free(shown);
}

static void put_line(FILE *out, uint64_t ns, const struct gf_event_ref *event,
    const struct line *line)
{
	fprintf(out, "%" PRIu64 ",%u,%s,", ns, event->thread_id, line->type);
	put_text(out, line->name, line->safe);
#define X(column) \
	if (line->column == GA_UNKNOWN) \
		fputc(',', out); \
	else \
		fprintf(out, ",%" PRIu64, line->column);
	NUMBERS(X)
#undef X
	fputc(',', out);
	put_text(out, line->kernel, line->safe);
	fputc(',', out);
	put_text(out, line->place, line->safe);
	fputc('\n', out);
}

const char *ga_export_name(const struct ga_model *model, unsigned tag, unsigned kind, unsigned api)
{
	const char *name = api ? gf_reader_text(model->reader, GF_TEXT_API, api) : NULL;
	if (!name)
		name = gf_kind_name(tag, kind);
	const struct gf_record_type *type = gf_record_type(tag);
	return name ? name : type ? type->name : "";
}

static void set_stack(const struct ga_model *model, uint32_t stack_id, struct line *line)
{
	line->stack = stack_id ? stack_id : GA_UNKNOWN;
	line->place = ga_stacks_words(model->stacks, stack_id).place;
}

/* What records of calls have in common; the macro reads a record of any type. */
#define CALL(record) \
	do { \
		set_stack(model, (record).stack_id, line); \
		line->duration_ns = gf_reader_span_ns(model->reader, (record).duration); \
		line->status = (record).status; \
		if ((record).device != GF_DEVICE_UNKNOWN) \
			line->device = (record).device; \
	} while (0)

/* What records of the caching allocator have in common. */
#define ALLOCATOR(record) \
	do { \
		set_stack(model, (record).stack_id, line); \
		line->device = (record).device; \
		line->allocated_bytes = (record).allocated; \
		line->reserved_bytes = (record).reserved; \
		if ((record).flags & GF_FLAG_REQUEST_KNOWN) \
			line->requested_bytes = (record).requested; \
	} while (0)

static void block_line(
    const struct ga_model *model, const struct gf_event_ref *event, struct line *line)
{
	struct gf_block r;
	gf_get_block(event->batch, event->row, &r);
	line->name = r.size < 0 ? "free" : "alloc";
	line->address = r.address;
	line->bytes = r.size < 0 ? 0 - (uint64_t)r.size : (uint64_t)r.size;
	ALLOCATOR(r);
	if (r.flags & GF_FLAG_STREAM_KNOWN)
		line->stream = r.stream;
}

static void oom_line(
    const struct ga_model *model, const struct gf_event_ref *event, struct line *line)
{
	struct gf_oom r;
	gf_get_oom(event->batch, event->row, &r);
	line->name = "out of memory";
	line->bytes = r.size;
	ALLOCATOR(r);
}

/* Reads a record `r` of a call that works on a stream. */
#define STREAM_CALL(type, kind_value) \
	struct gf_##type r; \
	gf_get_##type(event->batch, event->row, &r); \
	line->name = ga_export_name(model, GF_TAG_##type, kind_value, r.api); \
	line->stream = r.stream; \
	CALL(r)

static void memory_line(
    const struct ga_model *model, const struct gf_event_ref *event, struct line *line)
{
	STREAM_CALL(memory, r.kind);
	line->address = r.address;
	line->bytes = r.size;
	line->handle = r.handle;
}

static void copy_line(
    const struct ga_model *model, const struct gf_event_ref *event, struct line *line)
{
	STREAM_CALL(copy, 0);
	line->address = r.target;
	line->source = r.source;
	line->bytes = r.bytes;
}

static void launch_line(
    const struct ga_model *model, const struct gf_event_ref *event, struct line *line)
{
	STREAM_CALL(launch, 0);
	line->handle = r.function;
}

static void memset_line(
    const struct ga_model *model, const struct gf_event_ref *event, struct line *line)
{
	STREAM_CALL(memset, 0);
	line->address = r.address;
	line->bytes = r.bytes;
}

static bool other_line(
    const struct ga_model *model, const struct gf_event_ref *event, struct line *line)
{
	union {
		struct gf_graph graph;
		struct gf_wait wait;
		struct gf_event event;
		struct gf_mem_info mem_info;
		struct gf_module module;
		struct gf_call call;
		struct gf_mark mark;
	} r;
#define CASE(type, kind, handle_field, stream_value) \
	case GF_TAG_##type: \
		gf_get_##type(event->batch, event->row, &r.type); \
		line->name = ga_export_name(model, GF_TAG_##type, kind, r.type.api); \
		line->handle = handle_field; \
		line->stream = stream_value; \
		CALL(r.type); \
		return true;
	switch (event->type) {
		CASE(graph, r.graph.kind, r.graph.graph, r.graph.stream)
		CASE(wait, r.wait.kind, r.wait.object, GA_UNKNOWN)
		CASE(event, r.event.kind, r.event.object, r.event.stream)
		CASE(mem_info, 0, GA_UNKNOWN, GA_UNKNOWN)
		CASE(module, r.module.kind, r.module.function, GA_UNKNOWN)
		CASE(call, 0, r.call.object, GA_UNKNOWN)
	case GF_TAG_mark:
		gf_get_mark(event->batch, event->row, &r.mark);
		line->name = ga_export_name(model, GF_TAG_mark, r.mark.kind, 0);
		line->handle = r.mark.value;
		return true;
	default:
		return false;
	}
#undef CASE
}

/* The start mark is written within the first call, which has begun before. */
static uint64_t time_of(const struct ga_model *model, const struct gf_event_ref *event)
{
	struct gf_mark mark = {.kind = 0};
	if (event->type == GF_TAG_mark)
		gf_get_mark(event->batch, event->row, &mark);
	return mark.kind == GF_MARK_START ? 0 : ga_model_ns(model, event->ticks);
}

static enum gf_status no_memory(const struct ga_model *model, struct gf_error *error)
{
	return gf_fail(error, GF_NO_MEMORY, UINT64_MAX, "no memory to read %s", model->path);
}

static enum gf_status put_event(struct ga_sorter *sorter, const struct ga_model *model,
    const struct ga_kernel_names *kernels, const struct gf_event_ref *event, bool safe,
    struct gf_error *error)
{
	const struct gf_record_type *type = gf_record_type(event->type);
	struct line line = {.type = type ? type->name : "", .safe = safe};
#define X(column) line.column = GA_UNKNOWN;
	NUMBERS(X)
#undef X
	switch (event->type) {
	case GF_TAG_block:
		block_line(model, event, &line);
		break;
	case GF_TAG_oom:
		oom_line(model, event, &line);
		break;
	case GF_TAG_memory:
		memory_line(model, event, &line);
		break;
	case GF_TAG_copy:
		copy_line(model, event, &line);
		break;
	case GF_TAG_memset:
		memset_line(model, event, &line);
		break;
	case GF_TAG_launch:
		launch_line(model, event, &line);
		line.kernel = ga_kernel_name(kernels, model, line.handle);
		break;
	default:
		if (!other_line(model, event, &line))
			return GF_OK;
	}
	char *text = NULL;
	size_t bytes;
	FILE *out = open_memstream(&text, &bytes);
	uint64_t ns = time_of(model, event);
	if (!out)
		return no_memory(model, error);
	put_line(out, ns, event, &line);
	bool whole = !ferror(out);
	if (fclose(out) != 0 || !whole) {
		free(text);
		return no_memory(model, error);
	}
	ga_sorter_add(sorter, ns, text);
	return GF_OK;
}

enum gf_status ga_export_csv(struct ga_model *model, FILE *out, bool safe, struct gf_error *error)
{
	struct gf_merge *merge = gf_merge_open(model->reader, EVERY_EVENT);
	struct gf_event_ref event;
	struct ga_kernel_names kernels;
	struct ga_sorter sorter = {.out = out};
	enum gf_status status;
	if (!merge)
		return no_memory(model, error);
	fputs("time_ns,thread,type,name", out);
#define X(column) fputs("," #column, out);
	NUMBERS(X)
#undef X
	fputs(",kernel,place\n", out);
	ga_kernel_names_init(&kernels);
	while ((status = gf_merge_next(merge, &event, error)) == GF_OK) {
		ga_kernel_names_learn(&kernels, &event);
		status = put_event(&sorter, model, &kernels, &event, safe, error);
		if (status)
			break;
	}
	ga_sorter_end(&sorter);
	ga_kernel_names_free(&kernels);
	gf_merge_close(merge);
	return status == GF_END ? GF_OK : status;
}
