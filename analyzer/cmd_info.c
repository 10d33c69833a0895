/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/allocator_settings.h"
#include "analyzer/counts.h"
#include "analyzer/sizes.h"
#include "analyzer/traces.h"

static void settings_json(const struct ga_model *model, struct ga_json *json)
{
	const char *at = ga_model_allocator_settings(model);
	char *name, *value;
	if (!at) {
		ga_json_null(json, "allocator_settings");
		return;
	}
	ga_json_object(json, "allocator_settings");
	while (ga_allocator_setting_next(&at, &name, &value)) {
		ga_json_string(json, name, value);
		free(name);
		free(value);
	}
	ga_json_object_end(json);
}

static void devices_json(
    const struct ga_model *model, const struct ga_memory *memory, struct ga_json *json)
{
	const struct ga_account *account;
	ga_json_list(json, "devices");
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		uint64_t total = ga_model_device_number(model, account->device, "total_bytes");
		uint64_t sms = ga_model_device_number(model, account->device, "sm_count");
		ga_json_object(json, NULL);
		ga_json_number(json, "device", account->device);
		ga_json_string(json, "name", ga_model_device(model, account->device, "name"));
		ga_json_maybe(json, "total_bytes", total != GA_UNKNOWN, total);
		ga_json_maybe(json, "sm_count", sms != GA_UNKNOWN, sms);
		ga_json_string(json, "compute_capability",
		    ga_model_device(model, account->device, "compute_capability"));
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
}

static void number_json(const struct ga_model *model, struct ga_json *json, const char *name)
{
	uint64_t value = ga_model_number(model, name);
	ga_json_maybe(json, name, value != GA_UNKNOWN, value);
}

static void program_json(const struct ga_model *model, struct ga_json *json)
{
	struct ga_strings arguments = {0};
	ga_model_program(model, &arguments);
	if (arguments.count == 0) {
		ga_json_null(json, "program");
		return;
	}
	ga_json_list(json, "program");
	for (size_t i = 0; i < arguments.count; i++)
		ga_json_string(json, NULL, arguments.items[i]);
	ga_json_list_end(json);
	ga_strings_clear(&arguments);
}

static void facts_json(const struct ga_model *model, struct ga_json *json)
{
	static const char *const words[] = {
	    "torch_version", "cuda_version", "driver_version", "python_version"};
	char start[40];
	program_json(model, json);
	number_json(model, json, "pid");
	number_json(model, json, "rank");
	number_json(model, json, "world_size");
	ga_json_string(json, "host", ga_model_property(model, "host"));
	ga_model_start(model, start);
	ga_json_string(json, "start_time", start[0] ? start : NULL);
	ga_json_number(json, "duration_ns", ga_model_duration_ns(model));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		ga_json_string(json, words[i], ga_model_property(model, words[i]));
	settings_json(model, json);
	ga_json_bool(json, "dryrun", model->dryrun);
}

static const char *or_unknown(const char *text)
{
	return text && *text ? text : "unknown";
}

static void facts_text(const struct ga_model *model, const struct ga_page *page)
{
	char start[40], duration[GA_SIZE_TEXT], bytes[GA_SIZE_TEXT];
	char *program = ga_model_program_line(model, ga_ellipsis(page));
	ga_fact(page, "program", "%s", program);
	free(program);
	ga_fact(page, "process", "%s on %s", or_unknown(ga_model_property(model, "pid")),
	    or_unknown(ga_model_property(model, "host")));
	if (ga_model_property(model, "rank"))
		ga_fact(page, "rank", "%s of %s", ga_model_property(model, "rank"),
		    or_unknown(ga_model_property(model, "world_size")));
	ga_fact(page, "started", "%s", or_unknown(ga_model_start(model, start)));
	ga_fact(page, "duration", "%s", ga_duration_text(ga_model_duration_ns(model), duration));
	ga_fact(page, "PyTorch", "%s", or_unknown(ga_model_property(model, "torch_version")));
	ga_fact(page, "CUDA runtime", "%s", or_unknown(ga_model_property(model, "cuda_version")));
	ga_fact(page, "driver", "%s", or_unknown(ga_model_property(model, "driver_version")));
	ga_fact(page, "Python", "%s", or_unknown(ga_model_property(model, "python_version")));
	const char *settings = ga_model_allocator_settings(model);
	ga_fact(page, "allocator settings", "%s",
	    !settings	? "unknown"
	    : *settings ? settings
			: "default (PYTORCH_CUDA_ALLOC_CONF not set)");
	ga_fact(page, "trace", "%s%s", ga_size_text(model->summary->file_bytes, bytes),
	    model->summary->has_journal ? ", a part of it in the journal" : "");
}

static void devices_text(
    const struct ga_model *model, const struct ga_memory *memory, const struct ga_page *page)
{
	struct ga_table table = {.columns = 5, .left = 1 << 1};
	const struct ga_account *account = ga_memory_next(memory, -1);
	char bytes[GA_SIZE_TEXT];
	if (!account)
		return;
	ga_heading(page, "Devices");
	ga_cell(&table, "device");
	ga_cell(&table, "name");
	ga_cell(&table, "memory");
	ga_cell(&table, "SMs");
	ga_cell(&table, "compute capability");
	for (; account; account = ga_memory_next(memory, account->device)) {
		uint64_t total = ga_model_device_number(model, account->device, "total_bytes");
		ga_cell(&table, "%u", account->device);
		ga_cell(&table, "%s", or_unknown(ga_model_device(model, account->device, "name")));
		ga_cell(&table, "%s", total == GA_UNKNOWN ? "unknown" : ga_size_text(total, bytes));
		ga_cell(
		    &table, "%s", or_unknown(ga_model_device(model, account->device, "sm_count")));
		ga_cell(&table, "%s",
		    or_unknown(ga_model_device(model, account->device, "compute_capability")));
	}
	ga_table_print(page, &table);
}

static void events_text(
    const struct ga_model *model, const struct ga_counts *counts, const struct ga_page *page)
{
	struct ga_table table = {.columns = 2};
	char count[GA_SIZE_TEXT];
	ga_heading(page, "Events");
	ga_cell(&table, "kind");
	ga_cell(&table, "count");
#define N(name, class) \
	ga_cell(&table, "%s", #name); \
	ga_cell(&table, "%s", \
	    ga_count_known(model, class) ? ga_count_text(counts->name, count) : "not recorded");
#define NOT_RECORDED(name)
	GA_COUNT_NAMES(N, NOT_RECORDED)
#undef NOT_RECORDED
#undef N
	ga_cell(&table, "lost");
	ga_cell(&table, "%s", ga_count_text(ga_model_lost(model), count));
	for (size_t i = 0; i < table.cells.count; i += 2) {
		if (strcmp(table.cells.items[i], "other") == 0) {
			free(table.cells.items[i]);
			table.cells.items[i] = ga_xstrdup("other driver calls");
		}
		for (char *c = table.cells.items[i]; *c; c++)
			*c = *c == '_' ? ' ' : *c;
	}
	ga_table_print(page, &table);
}

static int report(const struct ga_options *options, struct ga_model *model,
    const struct ga_page *page, struct ga_json *json)
{
	struct ga_memory memory;
	struct ga_counts counts;
	struct gf_error error = {0};
	struct ga_strings notices = {0};
	if (ga_memory_analyse(model, &memory, &error) != GF_OK)
		return ga_trace_failed(model, &error);
	if (ga_counts_collect(model, &memory, &counts, &error) != GF_OK) {
		ga_memory_free(&memory);
		return ga_trace_failed(model, &error);
	}
	ga_model_damage_notice(model, &notices);
	ga_model_notices(model, &notices);
	ga_memory_notices(&memory, &notices);
	if (json) {
		facts_json(model, json);
		devices_json(model, &memory, json);
		ga_counts_json(&counts, model, json);
		ga_json_number(json, "lost_events", ga_model_lost(model));
		ga_json_number(json, "file_bytes", model->summary->file_bytes);
	} else {
		facts_text(model, page);
		devices_text(model, &memory, page);
		events_text(model, &counts, page);
	}
	ga_notices_put(page, json, &notices);
	ga_memory_free(&memory);
	return GA_EXIT_OK;
}

int ga_cmd_info(const struct ga_options *options)
{
	return ga_traces_report(options, &(struct ga_reporter){report});
}
