/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/elf_symbols.h"
#include "analyzer/export.h"
#include "analyzer/json_writer.h"

#define BIT(name) (UINT64_C(1) << GF_TAG_##name)
#define TYPES \
	(BIT(block) | BIT(oom) | BIT(memory) | BIT(copy) | BIT(memset) | BIT(launch) | \
	    BIT(graph) | BIT(wait) | BIT(mem_info) | BIT(module))

struct chrome {
	const struct ga_model *model;
	struct ga_json json;
	uint64_t pid;
	struct ga_kernel_names kernels;
};

/* A time or duration in microseconds with all its nanoseconds. */
static void microseconds(struct ga_json *json, const char *name, uint64_t ns)
{
	char text[40];
	snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64, ns / 1000, ns % 1000);
	ga_json_raw(json, name, text);
}

static void begin(struct chrome *c, const char *phase, const char *name, uint64_t thread_id)
{
	ga_json_object(&c->json, NULL);
	ga_json_string(&c->json, "ph", phase);
	ga_json_string(&c->json, "name", name);
	ga_json_number(&c->json, "pid", c->pid);
	ga_json_number(&c->json, "tid", thread_id);
}

static void put_name(struct chrome *c, const char *what, uint64_t thread_id, const char *name)
{
	begin(c, "M", what, thread_id);
	ga_json_object(&c->json, "args");
	ga_json_string(&c->json, "name", name);
	ga_json_object_end(&c->json);
	ga_json_object_end(&c->json);
}

static void put_names(struct chrome *c)
{
	uint32_t count;
	const struct gf_text_entry *texts = gf_reader_texts(c->model->reader, &count);
	char *program = ga_model_program_line(c->model, "...");
	put_name(c, "process_name", 0, program);
	free(program);
	for (uint32_t i = 0; i < count; i++)
		if (texts[i].kind == GF_TEXT_THREAD_NAME)
			put_name(c, "thread_name", texts[i].id, texts[i].bytes);
}

/* A call as a slice; acquisitions are recorded at their end, everything else at its start. */
static void begin_slice(struct chrome *c, const struct gf_event_ref *event, const char *name,
    uint64_t duration, bool at_end)
{
	uint64_t span = gf_reader_span_ns(c->model->reader, duration);
	uint64_t ns = ga_model_ns(c->model, event->ticks);
	begin(c, "X", name, event->thread_id);
	microseconds(&c->json, "ts", at_end && ns > span ? ns - span : at_end ? 0 : ns);
	microseconds(&c->json, "dur", span);
	ga_json_object(&c->json, "args");
}

static void end_slice(struct chrome *c, unsigned device, unsigned status, uint32_t stack_id)
{
	struct ga_words words = ga_stacks_words(c->model->stacks, stack_id);
	ga_json_maybe(&c->json, "device", device != GF_DEVICE_UNKNOWN, device);
	if (status)
		ga_json_number(&c->json, "error", status);
	if (words.place)
		ga_json_string(&c->json, "at", words.place);
	if (words.operation)
		ga_json_string(&c->json, "operation", words.operation);
	ga_json_object_end(&c->json);
	ga_json_object_end(&c->json);
}

static void put_block(struct chrome *c, const struct gf_event_ref *event)
{
	struct gf_block r;
	char name[40];
	gf_get_block(event->batch, event->row, &r);
	snprintf(name, sizeof(name), "memory of device %u", r.device);
	begin(c, "C", name, 0);
	microseconds(&c->json, "ts", ga_model_ns(c->model, event->ticks));
	ga_json_object(&c->json, "args");
	ga_json_number(&c->json, "allocated", r.allocated);
	ga_json_number(&c->json, "reserved, not in use", r.reserved > r.allocated ? r.reserved - r.allocated : 0);
	ga_json_object_end(&c->json);
	ga_json_object_end(&c->json);
}

static void put_oom(struct chrome *c, const struct gf_event_ref *event)
{
	struct gf_oom r;
	gf_get_oom(event->batch, event->row, &r);
	begin(c, "i", "out of memory", event->thread_id);
	microseconds(&c->json, "ts", ga_model_ns(c->model, event->ticks));
	ga_json_string(&c->json, "s", "p");
	ga_json_object(&c->json, "args");
	ga_json_number(&c->json, "bytes", r.size);
	end_slice(c, r.device, 0, r.stack_id);
}

/* Whether a call is recorded at its end. */
static bool acquires(const struct chrome *c, const struct gf_memory *record)
{
	const char *name;
	switch (record->kind) {
	case GF_MEMORY_MULTICAST: /* all but the unbinding */
		name = ga_export_name(c->model, GF_TAG_memory, record->kind, record->api);
		return strcmp(name, "cuMulticastUnbind") != 0;
	case GF_MEMORY_POOL_TRIM:
	case GF_MEMORY_FREE:
	case GF_MEMORY_FREE_ASYNC:
	case GF_MEMORY_UNRESERVE:
	case GF_MEMORY_RELEASE:
	case GF_MEMORY_UNMAP:
	case GF_MEMORY_HOST_FREE:
	case GF_MEMORY_HOST_UNREGISTER:
	case GF_MEMORY_IPC_CLOSE:
	case GF_MEMORY_POOL_DESTROY:
	case GF_MEMORY_ARRAY_DESTROY:
		return false;
	default:
		return true;
	}
}

static void put_memory(struct chrome *c, const struct gf_event_ref *event)
{
	struct gf_memory r;
	gf_get_memory(event->batch, event->row, &r);
	if (r.kind == GF_MEMORY_RELEASE_FAILED)
		return;
	begin_slice(c, event, ga_export_name(c->model, GF_TAG_memory, r.kind, r.api), r.duration,
	    acquires(c, &r));
	ga_json_number(&c->json, "bytes", r.size);
	end_slice(c, r.device, r.status, r.stack_id);
}

static void put_copy(struct chrome *c, const struct gf_event_ref *event)
{
	struct gf_copy r;
	gf_get_copy(event->batch, event->row, &r);
	begin_slice(c, event, ga_export_name(c->model, GF_TAG_copy, 0, r.api), r.duration, false);
	ga_json_number(&c->json, "bytes", r.bytes);
	ga_json_number(&c->json, "stream", r.stream);
	end_slice(c, r.device, r.status, r.stack_id);
}

static void put_sizes(struct chrome *c, const char *name, const uint32_t sizes[3])
{
	ga_json_list(&c->json, name);
	for (size_t i = 0; i < 3; i++)
		ga_json_number(&c->json, NULL, sizes[i]);
	ga_json_list_end(&c->json);
}

static void put_launch(struct chrome *c, const struct gf_event_ref *event)
{
	struct gf_launch r;
	gf_get_launch(event->batch, event->row, &r);
	const char *kernel = ga_kernel_name(&c->kernels, c->model, r.function);
	const char *api = ga_export_name(c->model, GF_TAG_launch, 0, r.api);
	char *text = ga_demangle(kernel ? kernel : api);
	begin_slice(c, event, text, r.duration, false);
	free(text);
	if (kernel)
		ga_json_string(&c->json, "call", api);
	ga_json_number(&c->json, "stream", r.stream);
	put_sizes(c, "grid", (uint32_t[]){r.grid_x, r.grid_y, r.grid_z});
	put_sizes(c, "block", (uint32_t[]){r.block_x, r.block_y, r.block_z});
	end_slice(c, r.device, r.status, r.stack_id);
}

static void put_memset(struct chrome *c, const struct gf_event_ref *event)
{
	struct gf_memset r;
	gf_get_memset(event->batch, event->row, &r);
	begin_slice(c, event, ga_export_name(c->model, GF_TAG_memset, 0, r.api), r.duration, false);
	ga_json_number(&c->json, "bytes", r.bytes);
	ga_json_number(&c->json, "stream", r.stream);
	end_slice(c, r.device, r.status, r.stack_id);
}

static void put_call(struct chrome *c, const struct gf_event_ref *event)
{
	union {
		struct gf_graph graph;
		struct gf_wait wait;
		struct gf_mem_info mem_info;
		struct gf_module module;
	} r;
#define CASE(type, kind, at_end) \
	case GF_TAG_##type: \
		gf_get_##type(event->batch, event->row, &r.type); \
		begin_slice(c, event, ga_export_name(c->model, GF_TAG_##type, kind, r.type.api), \
		    r.type.duration, at_end); \
		end_slice(c, r.type.device, r.type.status, r.type.stack_id); \
		break;
	switch (event->type) {
		CASE(graph, r.graph.kind, false)
		CASE(wait, r.wait.kind, false)
		CASE(mem_info, 0, false)
		CASE(module, r.module.kind, r.module.kind != GF_MODULE_UNLOAD)
	default:
		break;
	}
#undef CASE
}

static void put_event(struct chrome *c, const struct gf_event_ref *event)
{
	switch (event->type) {
	case GF_TAG_block:
		put_block(c, event);
		break;
	case GF_TAG_oom:
		put_oom(c, event);
		break;
	case GF_TAG_memory:
		put_memory(c, event);
		break;
	case GF_TAG_copy:
		put_copy(c, event);
		break;
	case GF_TAG_memset:
		put_memset(c, event);
		break;
	case GF_TAG_launch:
		put_launch(c, event);
		break;
	default:
		put_call(c, event);
	}
}

enum gf_status ga_export_chrome(struct ga_model *model, FILE *out, struct gf_error *error)
{
	struct gf_merge *merge = gf_merge_open(model->reader, TYPES);
	struct gf_event_ref event;
	enum gf_status status;
	uint64_t pid = ga_model_number(model, "pid");
	struct chrome c = {
	    .model = model, .json = {.out = out}, .pid = pid == GA_UNKNOWN ? 0 : pid};
	if (!merge)
		return gf_fail(
		    error, GF_NO_MEMORY, UINT64_MAX, "no memory to read %s", model->path);
	ga_kernel_names_init(&c.kernels);
	ga_json_object(&c.json, NULL);
	ga_json_string(&c.json, "displayTimeUnit", "ms");
	ga_json_list(&c.json, "traceEvents");
	c.json.one_line = c.json.depth + 1; /* one event a line */
	put_names(&c);
	while ((status = gf_merge_next(merge, &event, error)) == GF_OK) {
		ga_kernel_names_learn(&c.kernels, &event);
		put_event(&c, &event);
	}
	ga_json_list_end(&c.json);
	ga_json_object_end(&c.json);
	gf_merge_close(merge);
	ga_kernel_names_free(&c.kernels);
	return status == GF_END ? GF_OK : status;
}
