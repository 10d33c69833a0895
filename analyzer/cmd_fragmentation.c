/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fragmentation.h"
#include "analyzer/memory_view.h"
#include "analyzer/recorded_allocator.h"
#include "analyzer/sizes.h"
#include "analyzer/traces.h"

/* What could be found out about one device. */
struct finding {
	const struct ga_memory *memory;
	const struct ga_account *account;
	uint64_t peak;		   /* highest reserved bytes, GA_UNKNOWN if they are hidden */
	bool is_replayed;	   /* the input could be replayed: `result` holds something */
	bool is_exact;		   /* the replay matched to the end: so do all its figures */
	char *why;		   /* why it is not exact; NULL if it is */
	uint64_t events_recorded;  /* segment events, GA_UNKNOWN without caching allocator */
	uint64_t blocks;	   /* handed out */
	uint64_t unknown_requests; /* of them, without the requested size */
	const char *settings;	   /* recorded text, "" for defaults */
	struct ga_fragmentation result;
};

/* The parts of the reserved bytes: P(name, what it is). */
#define PARTS(P) \
	P(requested, "asked for by live blocks") \
	P(rounding, "added to them by rounding") \
	P(pending, "freed, another stream still used it") \
	P(releasable, "cached, the driver could have it back") \
	P(stuck, "cached, shares its segment or page with live blocks")

/* ---- finding out ---- */

/* Why a recording cannot be replayed, NULL if nothing is in the way.  free() it. */
static char *obstacle(const struct ga_model *model, const struct ga_recorded_allocator *input)
{
	char count[GA_SIZE_TEXT];
	if (ga_model_damaged(model))
		return ga_xstrdup("the trace is damaged, and a replay needs every event");
	if (ga_model_lost(model))
		return ga_format("%s events are missing, and a replay needs every one",
		    ga_count_text(ga_model_lost(model), count));
	if (input->unknown_frees)
		return ga_format("%s blocks were freed that the recording did not see handed out",
		    ga_count_text(input->unknown_frees, count));
	if (!input->blocks)
		return ga_xstrdup("PyTorch's allocator handed out no block");
	return NULL;
}

static char *entry_text(const struct ga_history_entry *entry)
{
	char size[GA_SIZE_TEXT];
	if (!entry->size)
		return ga_xstrdup("nothing");
	return ga_format("%s of %s at 0x%" PRIx64, ga_history_word(entry->action),
	    ga_size_text(entry->size, size), entry->address);
}

/* Why the replay is not exact, NULL if it is.  free() it. */
static char *mismatch(const struct finding *finding)
{
	const struct ga_fidelity *fidelity = &finding->result.fidelity;
	if (fidelity->first_mismatch != UINT64_MAX ||
	    fidelity->segments_matched != fidelity->segments) {
		char *recorded = entry_text(&fidelity->recorded);
		char *replayed = entry_text(&fidelity->replayed);
		char *text = ga_format("the replay of the recorded settings departs from the "
				       "recording after %" PRIu64 " of %" PRIu64
				       " segment events: recorded is %s, replayed %s",
		    fidelity->segments_matched, fidelity->segments, recorded, replayed);
		free(recorded);
		free(replayed);
		return text;
	}
	if (finding->result.peak_reserved != finding->peak)
		return ga_format("the replay reserves %" PRIu64 " bytes at its peak",
		    finding->result.peak_reserved);
	return NULL;
}

static enum gf_status examine(const struct ga_memory *memory, const struct ga_account *account,
    struct finding *finding, struct gf_error *error)
{
	struct ga_recorded_allocator input;
	struct ga_fragmentation_options options = {.grid = {.with_ranges = true}};
	struct gf_error refusal = {0};
	const char *settings = ga_model_property(memory->model, "allocator_settings");
	*finding = (struct finding){.memory = memory,
	    .account = account,
	    .peak = ga_view_peak_reserved(memory, account),
	    .events_recorded = GA_UNKNOWN,
	    .settings = settings ? settings : ""};
	enum gf_status status =
	    ga_recorded_allocator_read(memory->model, account->device, &input, &refusal);
	if (status == GF_UNSUPPORTED)
		finding->why = ga_xstrdup(refusal.text);
	if (status) {
		*error = refusal;
		return status == GF_UNSUPPORTED ? GF_OK : status;
	}
	finding->events_recorded = input.segment_count;
	finding->blocks = input.blocks;
	finding->unknown_requests = input.unknown_requests;
	finding->why = obstacle(memory->model, &input);
	if (!finding->why) {
		ga_fragmentation_measure(
		    &input.trace, input.segments, input.segment_count, &options, &finding->result);
		finding->is_replayed = true;
		finding->why = mismatch(finding);
		finding->is_exact = !finding->why;
	}
	ga_recorded_allocator_clear(&input);
	return GF_OK;
}

static void finding_clear(struct finding *finding)
{
	free(finding->why);
	ga_fragmentation_clear(&finding->result);
}

/* Live bytes do not depend on where blocks lie, as long as the same requests were granted. */
static uint64_t lower_bound(const struct finding *finding)
{
	bool known = finding->is_replayed && finding->result.ooms == finding->account->oom_count;
	return known ? finding->result.lower_bound : GA_UNKNOWN;
}

static uint64_t packing(const struct finding *finding)
{
	return finding->is_replayed && finding->result.packing ? finding->result.packing
							       : GA_UNKNOWN;
}

/* Rounding cannot be told from the request where only the block's size is known. */
static bool part_is_known(const struct finding *finding, const uint64_t *part)
{
	const struct ga_reserved_split *split = &finding->result.at_peak;
	bool hidden = part == &split->requested || part == &split->rounding;
	return finding->is_exact && !(hidden && finding->unknown_requests);
}

/* A row that the recorded settings' own already tells. */
static bool is_double(const struct finding *finding, const struct ga_grid_row *row)
{
	return !row->is_recorded && strcmp(row->text, finding->settings) == 0;
}

/* The program's peak under a setting; the future behind another outcome is not known. */
static bool row_is_known(const struct ga_grid_row *row)
{
	return row->is_whole && !row->new_failure;
}

static const char *row_text(const struct finding *finding, const struct ga_grid_row *row)
{
	return row->is_recorded ? finding->settings : row->text;
}

/* Whether the recorded release can be told to do this from outside. */
static bool is_advisable(const struct ga_grid_row *row)
{
	return !row->is_recorded && !row->needs_torch &&
	       strncmp(row->text, "preallocate", strlen("preallocate")) != 0;
}

/* The setting that needs least, by the upper end of its range; NULL if none needs less. */
static const struct ga_grid_row *best_setting(const struct finding *finding)
{
	const struct ga_grid *grid = &finding->result.grid;
	const struct ga_grid_row *best = NULL;
	for (size_t i = 0; i < grid->count; i++) {
		const struct ga_grid_row *row = &grid->rows[i];
		if (row_is_known(row) && is_advisable(row) && row->high < finding->peak &&
		    (!best || row->high < best->high))
			best = row;
	}
	return best;
}

/* The first setting that grants what failed or, if nothing did, needs fewer retries; NULL. */
static const struct ga_grid_row *curing_setting(const struct finding *finding)
{
	const struct ga_fragmentation *result = &finding->result;
	for (size_t i = 0; i < result->grid.count; i++) {
		const struct ga_grid_row *row = &result->grid.rows[i];
		bool cures = result->ooms ? row->parted_at != UINT64_MAX && !row->new_failure
					  : row_is_known(row) && row->retries < result->retries;
		if (is_advisable(row) && cures)
			return row;
	}
	return NULL;
}

/* ---- JSON ---- */

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

static void replay_json(const struct finding *finding, struct ga_json *json)
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

/* First release that has a row's options: "2.11", "unreleased", NULL for the recorded one. */
static const char *release_text(int torch, char out[16])
{
	if (torch == GA_TORCH_LATER)
		return "unreleased";
	snprintf(out, 16, "%d.%d", torch / 1000, torch % 1000);
	return torch ? out : NULL;
}

static void row_json(
    const struct finding *finding, const struct ga_grid_row *row, struct ga_json *json)
{
	bool known = row_is_known(row);
	char release[16];
	ga_json_object(json, NULL);
	ga_json_string(json, "setting", row_text(finding, row));
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
	ga_json_bool(json, "oom", row->ooms > 0);
	ga_json_string(json, "needs_torch", release_text(row->needs_torch, release));
	ga_json_bool(json, "needs_memory_fraction", row->fraction > 0);
	ga_json_object_end(json);
}

static void device_json(const struct finding *finding, struct ga_json *json)
{
	const struct ga_fragmentation *result = &finding->result;
	ga_json_object(json, NULL);
	ga_json_number(json, "device", finding->account->device);
	maybe(json, "peak_reserved_bytes", finding->peak);
	ga_json_object(json, "at_peak");
#define P(name, words) \
	ga_json_maybe(json, #name "_bytes", part_is_known(finding, &result->at_peak.name), \
	    result->at_peak.name);
	PARTS(P)
#undef P
	ga_json_object_end(json);
	maybe(json, "lower_bound_bytes", lower_bound(finding));
	maybe(json, "packing_bytes", packing(finding));
	replay_json(finding, json);
	ga_json_maybe(json, "harm_bytes", finding->is_exact, result->harm);
	ga_json_list(json, "settings");
	for (size_t i = 0; finding->is_exact && i < result->grid.count; i++)
		if (!is_double(finding, &result->grid.rows[i]))
			row_json(finding, &result->grid.rows[i], json);
	ga_json_list_end(json);
	ga_json_object_end(json);
}

/* ---- text ---- */

/* The largest part that is not in use, as the end of a sentence; NULL if there is none. */
static const char *main_cause(const struct ga_reserved_split *split)
{
	const char *name = NULL;
	uint64_t most = 0;
	const struct {
		const char *words;
		uint64_t bytes;
	} parts[] = {{"was lost to rounding", split->rounding},
	    {"waited for other streams", split->pending},
	    {"was cached and could go back to the driver", split->releasable},
	    {"was cached and stuck beside live blocks", split->stuck}};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (parts[i].bytes > most)
			name = parts[i].words;
		most = parts[i].bytes > most ? parts[i].bytes : most;
	}
	return name;
}

/* How much could be spared at most, and why it was held.  Cache that nobody needed is no waste. */
static char *waste_sentence(const struct finding *finding)
{
	const struct ga_fragmentation *result = &finding->result;
	const char *cause = main_cause(&result->at_peak);
	char peak[GA_SIZE_TEXT], floor[GA_SIZE_TEXT], waste[GA_SIZE_TEXT];
	uint64_t bytes =
	    finding->peak > result->lower_bound ? finding->peak - result->lower_bound : 0;
	ga_size_text(finding->peak, peak);
	if (!bytes)
		return ga_format("All of the %s reserved at the peak was needed.", peak);
	return ga_format("At most %s (%.0f %%) of the %s reserved at the peak could be spared: the "
			 "load never exceeds %s%s%s.",
	    ga_size_text(bytes, waste), 100.0 * (double)bytes / (double)finding->peak, peak,
	    ga_size_text(result->lower_bound, floor),
	    cause ? "; what was not in use then mostly " : "", cause ? cause : "");
}

static char *saving_sentence(const struct finding *finding)
{
	const struct ga_grid_row *best = best_setting(finding);
	char peak[GA_SIZE_TEXT], saved[GA_SIZE_TEXT];
	if (!best)
		return ga_xstrdup("No other setting needs less.");
	return ga_format("%s%s would have needed %s (%s less).", best->text,
	    best->fraction > 0 ? " with torch.cuda.set_per_process_memory_fraction(1.0)" : "",
	    ga_size_text(best->high, peak), ga_size_text(finding->peak - best->high, saved));
}

static char *harm_sentence(const struct finding *finding)
{
	const struct ga_fragmentation *result = &finding->result;
	const struct ga_grid_row *cure = result->harm ? curing_setting(finding) : NULL;
	char harm[GA_SIZE_TEXT], retries[GA_SIZE_TEXT], ooms[GA_SIZE_TEXT];
	if (!result->retries && !result->ooms)
		return ga_xstrdup("No harm: every request was granted at once.");
	ga_count_text(result->retries, retries);
	ga_count_text(result->ooms, ooms);
	if (!result->harm)
		return ga_format("Refused requests (retries %s, out of memory %s) are not due to "
				 "fragmentation: no other setting grants them.",
		    retries, ooms);
	return ga_format("Fragmentation did harm (retries %s, out of memory %s): up to %s of "
			 "cached memory was of no use when the driver refused%s%s%s.",
	    retries, ooms, ga_size_text(result->harm, harm), cure ? "; " : "",
	    cure ? cure->text : "",
	    !cure	   ? ""
	    : result->ooms ? " would have granted the request"
			   : " would have needed fewer retries");
}

static void verdict_text(const struct finding *finding, const struct ga_page *page)
{
	char *text;
	if (finding->is_exact) {
		char *waste = waste_sentence(finding), *harm = harm_sentence(finding);
		char *saving = saving_sentence(finding);
		text =
		    ga_format("Device %u: %s %s %s", finding->account->device, harm, waste, saving);
		free(waste);
		free(harm);
		free(saving);
	} else {
		text = ga_format("Device %u: where the reserved memory went is unknown, and what "
				 "other settings would have needed: %s.",
		    finding->account->device, finding->why);
	}
	bool refused = finding->result.retries || finding->result.ooms;
	enum ga_style style = !finding->is_exact     ? GA_PLAIN
			      : finding->result.harm ? GA_BAD
			      : refused		     ? GA_WARN
						     : GA_GOOD;
	fputs(ga_style(page, style), page->out);
	ga_paragraph(page, "", text);
	fputs(ga_style(page, GA_PLAIN), page->out);
	free(text);
}

static void size_fact(
    const struct ga_page *page, const char *name, uint64_t bytes, const char *tail)
{
	char text[GA_SIZE_TEXT];
	ga_fact(page, name, "%12s  %s", bytes == GA_UNKNOWN ? "unknown" : ga_size_text(bytes, text),
	    tail);
}

static void size_cell(struct ga_table *table, bool known, bool negative, uint64_t bytes)
{
	char text[GA_SIZE_TEXT];
	ga_cell(table, "%s%s", known && negative ? "-" : "",
	    known ? ga_size_text(bytes, text) : "unknown");
}

/* What is special about a row; "" if nothing is.  free() it. */
static char *remark(const struct ga_grid_row *row)
{
	char release[16], low[GA_SIZE_TEXT], high[GA_SIZE_TEXT];
	if (row->is_recorded)
		return ga_xstrdup("recorded");
	if (row->ooms)
		return ga_xstrdup("out of memory");
	if (row->parted_at != UINT64_MAX)
		return ga_xstrdup("grants what failed");
	if (row->needs_torch == GA_TORCH_LATER)
		return ga_xstrdup("in no release yet");
	if (row->needs_torch)
		return ga_format("needs PyTorch %s", release_text(row->needs_torch, release));
	if (row->low != row->high)
		return ga_format(
		    "%s to %s", ga_size_text(row->low, low), ga_size_text(row->high, high));
	return ga_xstrdup(row->fraction > 0 ? "needs a memory fraction" : "");
}

static void row_cells(
    const struct finding *finding, const struct ga_grid_row *row, struct ga_table *table)
{
	bool known = row_is_known(row), more = row->peak_reserved > finding->peak;
	char count[GA_SIZE_TEXT], *note = remark(row);
	const char *text = row_text(finding, row);
	ga_cell(table, "%s%s%s", *text ? text : "defaults", *note ? ", " : "", note);
	size_cell(table, known, false, row->peak_reserved);
	size_cell(table, known, more,
	    more ? row->peak_reserved - finding->peak : finding->peak - row->peak_reserved);
	ga_cell(table, "%s", known ? ga_count_text(row->device_calls, count) : "unknown");
	ga_cell(table, "%s", known ? ga_count_text(row->retries, count) : "unknown");
	free(note);
}

/* Order of the table: by need, what is not known last; else as in the grid. */
static int compare_rows(const void *left, const void *right)
{
	const struct ga_grid_row *one = *(const struct ga_grid_row *const *)left;
	const struct ga_grid_row *other = *(const struct ga_grid_row *const *)right;
	if (row_is_known(one) != row_is_known(other))
		return row_is_known(one) ? -1 : 1;
	if (!one->ooms != !other->ooms)
		return one->ooms ? 1 : -1;
	if (row_is_known(one) && one->peak_reserved != other->peak_reserved)
		return one->peak_reserved < other->peak_reserved ? -1 : 1;
	return one < other ? -1 : one > other;
}

static void settings_text(const struct finding *finding, const struct ga_page *page)
{
	static const char *const names[] = {
	    "setting", "peak reserved", "saved", "driver calls", "retries"};
	const struct ga_grid *grid = &finding->result.grid;
	struct ga_table table = {.columns = 5};
	const struct ga_grid_row **rows = ga_xalloc(grid->count + 1, sizeof(*rows));
	size_t count = 0;
	for (size_t i = 0; i < grid->count; i++)
		if (!is_double(finding, &grid->rows[i]))
			rows[count++] = &grid->rows[i];
	qsort(rows, count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < table.columns; i++)
		ga_cell(&table, "%s", names[i]);
	for (size_t i = 0; i < count; i++)
		row_cells(finding, rows[i], &table);
	free(rows);
	ga_heading(page, "The same requests under other settings");
	ga_table_print(page, &table);
}

static void device_text(const struct finding *finding, const struct ga_page *page)
{
	const struct ga_fragmentation *result = &finding->result;
	char *title = ga_view_title(finding->memory, finding->account);
	ga_heading(page, title);
	free(title);
	size_fact(page, "peak reserved", finding->peak, "at its first instant:");
#define P(name, words) \
	size_fact(page, "  " #name, \
	    part_is_known(finding, &result->at_peak.name) ? result->at_peak.name : GA_UNKNOWN, \
	    words);
	PARTS(P)
#undef P
	size_fact(page, "floor", lower_bound(finding),
	    "highest load; less is not possible without moving blocks");
	size_fact(page, "planned", packing(finding), "with the whole future known");
	if (finding->is_replayed)
		ga_fact(page, "replay", "%" PRIu64 " of %" PRIu64 " segment events match",
		    result->fidelity.segments_matched, result->fidelity.segments);
	else
		ga_fact(page, "replay", "not done");
	if (finding->is_exact)
		settings_text(finding, page);
}

/* ---- both ---- */

static void add_notices(const struct finding *finding, struct ga_strings *notices)
{
	char count[GA_SIZE_TEXT];
	unsigned device = finding->account->device;
	if (finding->why)
		ga_strings_add(notices, "device %u: %s", device, finding->why);
	if (finding->is_replayed && finding->unknown_requests)
		ga_strings_add(notices,
		    "device %u: the requested size of %s blocks is not known; the block's size "
		    "stands for it, which makes the figures of other settings inexact",
		    device, ga_count_text(finding->unknown_requests, count));
	if (packing(finding) != GA_UNKNOWN && finding->result.packing_is_window)
		ga_strings_add(notices,
		    "device %u: only blocks around the highest load were packed by plan", device);
}

static void put_text(const struct finding *findings, size_t count, const struct ga_model *model,
    const struct ga_page *page)
{
	if (!count)
		fputs("no device memory was used\n", page->out);
	for (size_t i = 0; i < count; i++)
		verdict_text(&findings[i], page);
	fputc('\n', page->out);
	ga_view_head(model, page);
	for (size_t i = 0; i < count; i++)
		device_text(&findings[i], page);
}

static void put_json(const struct finding *findings, size_t count, struct ga_json *json)
{
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
	struct finding *findings = ga_xalloc(GA_DEVICE_LIMIT, sizeof(*findings));
	const struct ga_account *account;
	size_t count = 0;
	enum gf_status status = ga_memory_analyse(model, &memory, &error);
	if (status) {
		free(findings);
		return ga_trace_failed(model, &error);
	}
	for (int device = -1; !status && (account = ga_memory_next(&memory, device));
	     device = account->device)
		status = examine(&memory, account, &findings[count++], &error);
	if (!status && json)
		put_json(findings, count, json);
	else if (!status)
		put_text(findings, count, model, page);
	ga_model_damage_notice(model, &notices);
	ga_model_notices(model, &notices);
	ga_memory_notices(&memory, &notices);
	for (size_t i = 0; i < count; i++) {
		add_notices(&findings[i], &notices);
		finding_clear(&findings[i]);
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
