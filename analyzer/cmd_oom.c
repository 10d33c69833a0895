/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/coverage.h"
#include "analyzer/memory_view.h"
#include "analyzer/sizes.h"
#include "analyzer/traces.h"

static void maybe(struct ga_json *json, const char *name, uint64_t value)
{
	ga_json_maybe(json, name, value != GA_UNKNOWN, value);
}

static uint64_t unallocated(const struct ga_oom *oom)
{
	bool known = oom->reserved != GA_UNKNOWN && oom->allocated != GA_UNKNOWN;
	return known && oom->reserved >= oom->allocated ? oom->reserved - oom->allocated
							: GA_UNKNOWN;
}

static uint64_t device_total(const struct ga_model *model, const struct ga_oom *oom)
{
	return oom->device_total != GA_UNKNOWN
		   ? oom->device_total
		   : ga_model_device_number(model, oom->device, "total_bytes");
}

/* The refused call of the driver, NULL if there was none. */
static const char *call_name(const struct ga_model *model, const struct ga_oom *oom)
{
	if (oom->code == 0)
		return NULL;
	const char *name = gf_reader_text(model->reader, GF_TEXT_API, oom->api);
	return name ? name : gf_kind_name(GF_TAG_memory, oom->kind);
}

static void figures_json(
    const struct ga_model *model, const struct ga_oom *oom, struct ga_json *json)
{
	ga_json_maybe(json, "device", oom->device != GF_DEVICE_UNKNOWN, oom->device);
	ga_json_number(json, "time_ns", ga_model_ns(model, oom->ticks));
	ga_json_null(json, "step");
	ga_json_null(json, "phase");
	maybe(json, "requested_bytes", oom->requested);
	maybe(json, "rounded_bytes", oom->rounded);
	maybe(json, "segment_bytes", oom->segment);
	maybe(json, "allocated_bytes", oom->allocated);
	maybe(json, "reserved_bytes", oom->reserved);
	maybe(json, "reserved_unallocated_bytes", unallocated(oom));
	maybe(json, "device_free_bytes", oom->device_free);
	maybe(json, "device_total_bytes", device_total(model, oom));
	maybe(json, "non_torch_bytes", oom->non_torch);
	maybe(json, "unseen_bytes", ga_oom_unseen(oom));
	ga_json_null(json, "process_bytes");
	ga_json_null(json, "other_processes_bytes");
	maybe(json, "allowed_bytes", oom->allowed);
	ga_json_null(json, "private_pools_bytes");
	ga_json_string(json, "call", call_name(model, oom));
}

static void verdict_json(
    const struct ga_model *model, const struct ga_oom *oom, struct ga_json *json)
{
	const char *name = ga_verdict_name(oom->verdict);
	bool known = oom->verdict != GA_VERDICT_unknown;
	ga_json_string(json, "verdict", name);
	ga_json_string(json, "confidence", known ? "high" : "low");
	ga_json_list(json, "candidates");
	if (known) {
		ga_json_object(json, NULL);
		ga_json_string(json, "verdict", name);
		ga_json_object(json, "proof");
		maybe(json, "segment_bytes", oom->segment);
		maybe(json, "device_free_bytes", oom->device_free);
		maybe(json, "device_total_bytes", device_total(model, oom));
		ga_json_string(json, "call", call_name(model, oom));
		ga_json_object_end(json);
		ga_json_string(json, "text", ga_verdict_words(oom->verdict));
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
}

static void put_json(const struct ga_memory *memory, struct ga_json *json)
{
	ga_coverage_json(memory, json);
	ga_json_list(json, "ooms");
	for (size_t i = 0; i < memory->refusals.count; i++) {
		const struct ga_oom *oom = &memory->refusals.ooms[i];
		ga_json_object(json, NULL);
		figures_json(memory->model, oom, json);
		verdict_json(memory->model, oom, json);
		ga_stacks_json(memory->model->stacks, oom->stack_id, json, "stack");
		ga_sites_json(&oom->top, memory->model->stacks, json, "top");
		ga_json_list(json, "remedies");
		ga_json_list_end(json);
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
}

#define SITES_SHOWN 8

/* The line of the program that asked, and what it was doing. */
static void asked_fact(
    const struct ga_model *model, const struct ga_oom *oom, const struct ga_page *page)
{
	struct ga_words words = ga_stacks_words(model->stacks, oom->stack_id);
	if (words.place)
		ga_fact(page, "asked by", "%s%s%s", words.place, words.operation ? " " : "",
		    words.operation ? words.operation : "");
}

static const char *size_or_unknown(uint64_t bytes, char text[GA_SIZE_TEXT])
{
	return bytes == GA_UNKNOWN ? "an unknown size" : ga_size_text(bytes, text);
}

/* What the process had then, and the site that had most of it. */
static void held_facts(
    const struct ga_model *model, const struct ga_oom *oom, const struct ga_page *page)
{
	char live[GA_SIZE_TEXT], cached[GA_SIZE_TEXT], other[GA_SIZE_TEXT], rest[GA_SIZE_TEXT];
	uint64_t unseen = ga_oom_unseen(oom);
	bool tells = unseen != GA_UNKNOWN && unseen > 0;
	ga_fact(page, "held", "%s in live tensors, %s cached by PyTorch, %s outside PyTorch%s%s%s",
	    size_or_unknown(oom->allocated, live), size_or_unknown(unallocated(oom), cached),
	    size_or_unknown(oom->non_torch, other), tells ? ", " : "",
	    tells ? ga_size_text(unseen, rest) : "",
	    tells ? " not seen (the driver's context, other processes)" : "");
	uint64_t bytes;
	char *site = oom->top.count ? ga_sites_largest(&oom->top, model->stacks, &bytes) : NULL;
	if (site)
		ga_fact(page, "the most of it", "by %s", site);
	free(site);
}

/* The arithmetic stands in for a cause that is not proven. */
static char *cause_text(const struct ga_oom *oom)
{
	char lacking[GA_SIZE_TEXT], cached[GA_SIZE_TEXT];
	if (oom->verdict != GA_VERDICT_unknown)
		return ga_format(
		    "%s: %s", ga_verdict_name(oom->verdict), ga_verdict_words(oom->verdict));
	if (oom->segment == GA_UNKNOWN || oom->device_free == GA_UNKNOWN)
		return ga_xstrdup("not decided by this version: what was asked for, or what was "
				  "free, is not in the recording");
	if (oom->segment <= oom->device_free)
		return ga_xstrdup("not decided by this version: the device had enough free, yet it "
				  "was refused");
	uint64_t idle = unallocated(oom);
	ga_size_text(oom->segment - oom->device_free, lacking);
	if (idle == GA_UNKNOWN || idle == 0)
		return ga_format("not decided by this version: the device had %s too little free",
		    lacking);
	return ga_format("not decided by this version: the device had %s too little free; %s that "
			 "PyTorch had cached did not serve the request (gpushim fragmentation tells "
			 "what other settings would have done)",
	    lacking, ga_size_text(idle, cached));
}

static char *oom_heading(const struct ga_model *model, const struct ga_oom *oom, size_t number)
{
	char duration[GA_SIZE_TEXT], device[48] = "an unknown device";
	bool host = ga_oom_is_host(oom);
	ga_duration_text(ga_model_ns(model, oom->ticks), duration);
	if (host)
		strcpy(device, "page-locked host memory");
	else if (oom->device != GF_DEVICE_UNKNOWN)
		snprintf(device, sizeof(device), "device %u", oom->device);
	char *figures = ga_view_oom_figures(oom);
	char *heading = ga_format("%zu. out of memory on %s after %s%s: %s", number, device,
	    duration, oom->outside && !host ? ", outside the caching allocator" : "", figures);
	free(figures);
	return heading;
}

static void oom_text(const struct ga_options *options, const struct ga_memory *memory,
    size_t index, const struct ga_page *page)
{
	const struct ga_oom *oom = &memory->refusals.ooms[index];
	const struct ga_model *model = memory->model;
	char *heading = oom_heading(model, oom, index + 1), *cause = cause_text(oom);
	ga_heading(page, heading);
	asked_fact(model, oom, page);
	held_facts(model, oom, page);
	ga_fact(page, "cause", "%s", cause);
	ga_view_size(page, "asked for", oom->requested, "");
	ga_view_size(page, "from the driver", oom->segment, "");
	ga_view_size(page, "free on the device", oom->device_free, "");
	ga_view_size(page, "size of the device", device_total(model, oom), "");
	ga_view_size(page, "allocated", oom->allocated, "");
	ga_view_size(page, "reserved", oom->reserved, "");
	ga_view_size(page, "reserved, not in use", unallocated(oom), "");
	ga_view_size(page, "outside PyTorch", oom->non_torch, "");
	ga_view_size(page, "not seen", ga_oom_unseen(oom), "");
	if (call_name(model, oom))
		ga_fact(page, "refused call", "%s", call_name(model, oom));
	free(cause);
	free(heading);
	struct ga_sites_shown shown = ga_view_shown(options, SITES_SHOWN);
	struct ga_stack stack = ga_stacks_frames(model->stacks, oom->stack_id);
	if (shown.stacks && stack.count) {
		ga_heading(page, "asked by");
		ga_stack_text(&stack, page);
	}
	if (oom->top.count) {
		fputc('\n', page->out);
		ga_sites_text(&oom->top, model->stacks, shown, page);
	}
}

/* The answer first. */
static void summary_text(const struct ga_memory *memory, const struct ga_page *page)
{
	bool any = memory->refusals.count > 0;
	enum ga_coverage coverage = ga_coverage_of(memory);
	char *line = any ? ga_view_oom_line(memory)
			 : ga_coverage_headline(memory, coverage == GA_COVERS_ALL
							    ? "no out-of-memory in this recording"
							    : "no out-of-memory");
	ga_styled_paragraph(page,
	    any || !ga_coverage_whole(memory) ? GA_BAD
	    : coverage == GA_COVERS_CUT	      ? GA_WARN
					      : GA_GOOD,
	    "", line);
	free(line);
	if (any)
		ga_view_lacking(memory, page);
	ga_view_head(memory->model, page);
}

static int report(const struct ga_options *options, struct ga_model *model,
    const struct ga_page *page, struct ga_json *json)
{
	struct ga_memory memory;
	struct gf_error error = {0};
	struct ga_strings notices = {0};
	size_t rows = ga_view_shown(options, SITES_SHOWN).rows;
	size_t holders = rows > GA_HOLDERS_KEPT ? rows : GA_HOLDERS_KEPT;
	if (ga_memory_analyse_holders(model, holders, &memory, &error) != GF_OK)
		return ga_trace_failed(model, &error);
	if (json)
		put_json(&memory, json);
	else
		summary_text(&memory, page);
	for (size_t i = 0; i < memory.refusals.count && !json; i++)
		oom_text(options, &memory, i, page);
	ga_model_damage_notice(model, &notices);
	ga_model_notices(model, &notices);
	ga_memory_notices(&memory, &notices);
	ga_notices_put(page, json, &notices);
	ga_memory_free(&memory);
	return GA_EXIT_OK;
}

int ga_cmd_oom(const struct ga_options *options)
{
	return ga_traces_report(options, &(struct ga_reporter){report});
}
