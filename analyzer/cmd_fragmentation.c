/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/coverage.h"
#include "analyzer/fragmentation_text.h"
#include "analyzer/memory_view.h"
#include "analyzer/sizes.h"
#include "analyzer/traces.h"

static void maybe(struct ga_json *json, const char *name, uint64_t value)
{
	ga_json_maybe(json, name, value != GA_UNKNOWN, value);
}

/* 1 only if all of them match. */
static void ratio_json(struct ga_json *json, const char *name, uint64_t part, uint64_t whole)
{
	char text[32];
	if (part == whole) {
		ga_json_number(json, name, 1);
		return;
	}
	uint64_t millionths = (uint64_t)((double)part / (double)whole * 1e6);
	if (millionths > 999999)
		millionths = 999999;
	snprintf(text, sizeof(text), "0.%06" PRIu64, millionths);
	ga_json_raw(json, name, text);
}

static void replay_json(const struct ga_finding *finding, struct ga_json *json)
{
	const struct ga_fidelity *fidelity = &finding->result.fidelity;
	ga_json_object(json, "replay");
	if (finding->is_replayed && fidelity->segments)
		ratio_json(json, "fidelity", fidelity->segments_matched, fidelity->segments);
	else
		ga_json_null(json, "fidelity");
	maybe(json, "events_recorded", finding->events_recorded);
	ga_json_maybe(json, "events_matched", finding->is_replayed, fidelity->segments_matched);
	ga_json_maybe(json, "blocks_recorded", finding->is_replayed, fidelity->blocks);
	ga_json_maybe(json, "blocks_matched", finding->is_replayed, fidelity->blocks_matched);
	ga_json_string(json, "reason", finding->why);
	ga_json_object_end(json);
}

static void row_json(
    const struct ga_finding *finding, const struct ga_grid_row *row, struct ga_json *json)
{
	bool known = ga_grid_row_known(row);
	char release[16], *needs = ga_finding_needs(row);
	ga_json_object(json, NULL);
	ga_json_string(json, "setting", ga_finding_row_text(finding, row));
	ga_json_bool(json, "recorded", row->is_recorded);
	ga_json_maybe(json, "peak_reserved_bytes", known, row->peak_reserved);
	if (known)
		ga_json_signed(
		    json, "saved_bytes", (int64_t)finding->peak - (int64_t)row->peak_reserved);
	else
		ga_json_null(json, "saved_bytes");
	ga_json_maybe(json, "lowest_peak_reserved_bytes", known, row->low);
	ga_json_maybe(json, "highest_peak_reserved_bytes", known, row->high);
	ga_json_maybe(json, "device_calls", known, row->device_calls);
	ga_json_maybe(json, "retries", known, row->retries);
	if (row->ooms || row->parted_at == UINT64_MAX)
		ga_json_bool(json, "oom", row->ooms > 0);
	else
		ga_json_null(json, "oom");
	ga_json_string(json, "known_until", ga_finding_known_until(row));
	ga_json_string(json, "needs", needs);
	ga_json_string(json, "needs_torch", ga_finding_release(row->needs_torch, release));
	ga_json_bool(json, "needs_memory_fraction", row->fraction > 0);
	ga_json_object_end(json);
	free(needs);
}

static void device_json(const struct ga_finding *finding, struct ga_json *json)
{
	const struct ga_fragmentation *result = &finding->result;
	ga_json_object(json, NULL);
	ga_json_number(json, "device", finding->account->device);
	maybe(json, "peak_reserved_bytes", finding->peak);
	ga_json_object(json, "at_peak");
#define P(name, words) \
	ga_json_maybe(json, #name "_bytes", ga_finding_part_known(finding, &result->at_peak.name), \
	    result->at_peak.name);
	GA_FINDING_PARTS(P)
#undef P
	ga_json_object_end(json);
	maybe(json, "lower_bound_bytes", ga_finding_floor(finding));
	maybe(json, "packing_bytes", ga_finding_packing(finding));
	replay_json(finding, json);
	ga_json_maybe(json, "harm_bytes", finding->is_exact, result->harm);
	ga_json_string(json, "settings_variable", GA_FIRST_VARIABLE);
	ga_json_list(json, "settings");
	for (size_t i = 0; finding->is_exact && i < result->grid.count; i++)
		row_json(finding, &result->grid.rows[i], json);
	ga_json_list_end(json);
	ga_json_object_end(json);
}

/* The verdict of the text has the reason already. */
static void add_notices(
    const struct ga_finding *finding, bool with_reason, struct ga_strings *notices)
{
	char count[GA_SIZE_TEXT], release[16];
	unsigned device = finding->account->device;
	if (finding->why && with_reason)
		ga_strings_add(notices, "device %u: %s", device, finding->why);
	if (finding->is_replayed && finding->unknown_requests)
		ga_strings_add(notices,
		    "device %u: the requested size of some blocks is not known (blocks: %s): so "
		    "are "
		    "floor and plan, and the figures of other settings are inexact",
		    device, ga_count_text(finding->unknown_requests, count));
	if (finding->is_exact && finding->no_limit)
		ga_strings_add(notices, "device %u: its size is not recorded: %s", device,
		    finding->result.retries || finding->result.ooms
			? "what the driver would have refused under other settings is unknown"
			: "figures of other settings hold if it is large enough for them");
	if (finding->is_exact && ga_finding_release_unknown(finding))
		ga_strings_add(notices,
		    "the release of PyTorch is not recorded: it was taken for %s, and another one "
		    "may "
		    "lack some of these settings",
		    ga_finding_release(GA_TORCH_NEWEST, release));
	if (ga_finding_packing(finding) != GA_UNKNOWN && finding->result.packing_is_window)
		ga_strings_add(notices,
		    "device %u: only blocks around the highest load were placed by plan", device);
}

static void put_text(const struct ga_finding *findings, size_t count,
    const struct ga_memory *memory, const struct ga_page *page)
{
	char *nothing = count ? NULL : ga_view_peak_headline(memory);
	if (nothing)
		ga_paragraph(page, "", nothing);
	else
		ga_view_lacking(memory, page);
	free(nothing);
	for (size_t i = 0; i < count; i++)
		ga_fragmentation_verdict(&findings[i], page);
	fputc('\n', page->out);
	ga_view_head(memory->model, page);
	for (size_t i = 0; i < count; i++)
		ga_fragmentation_text(&findings[i], page);
}

static void put_json(const struct ga_finding *findings, size_t count,
    const struct ga_memory *memory, struct ga_json *json)
{
	ga_coverage_json(memory, json);
	ga_json_list(json, "devices");
	for (size_t i = 0; i < count; i++)
		device_json(&findings[i], json);
	ga_json_list_end(json);
}

static int report(const struct ga_options *options, struct ga_model *model,
    const struct ga_page *page, struct ga_json *json)
{
	struct ga_memory memory;
	struct gf_error error = {0};
	struct ga_strings notices = {0};
	struct ga_finding *findings = ga_xalloc(GA_DEVICE_LIMIT, sizeof(*findings));
	const struct ga_account *account;
	size_t count = 0;
	enum gf_status status = ga_memory_analyse(model, &memory, &error);
	if (status) {
		free(findings);
		return ga_trace_failed(model, &error);
	}
	for (int device = -1; !status && (account = ga_memory_next(&memory, device));
	     device = account->device)
		status = ga_finding_examine(&memory, account, &findings[count++], &error);
	if (!status && json)
		put_json(findings, count, &memory, json);
	else if (!status)
		put_text(findings, count, &memory, page);
	ga_model_damage_notice(model, &notices);
	ga_model_notices(model, &notices);
	ga_memory_notices(&memory, &notices);
	for (size_t i = 0; i < count; i++) {
		add_notices(&findings[i], json != NULL, &notices);
		ga_finding_clear(&findings[i]);
	}
	if (!status)
		ga_notices_put(page, json, &notices);
	ga_strings_clear(&notices);
	ga_memory_free(&memory);
	free(findings);
	return status ? ga_trace_failed(model, &error) : GA_EXIT_OK;
}

int ga_cmd_fragmentation(const struct ga_options *options)
{
	return ga_traces_report(options, &(struct ga_reporter){report});
}
