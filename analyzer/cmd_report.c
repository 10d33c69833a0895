/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/counts.h"
#include "analyzer/coverage.h"
#include "analyzer/memory_view.h"
#include "analyzer/sizes.h"
#include "analyzer/traces.h"

/* What the whole comes to, worst first. */
enum outcome {
	OUTCOME_OOM,
	OUTCOME_INCOMPLETE, /* a part is missing or not readable: what is here may be little */
	OUTCOME_CUT,	    /* no end mark: how it would have gone on is not known */
	OUTCOME_RETRIES,
	OUTCOME_FITS,
	OUTCOME_NOTHING
};

static const char *const outcome_names[] = {
    "oom", "incomplete", "cut", "retries", "fits", "nothing"};

/* @param unknown_out  whether there may be more */
static uint64_t count_retries(const struct ga_memory *memory, bool *unknown_out)
{
	const struct ga_account *account = NULL;
	uint64_t count = 0;
	*unknown_out = false;
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		count += account->retry_count;
		*unknown_out |= account->unknown_retries > 0;
	}
	return count;
}

static enum outcome judge(const struct ga_memory *memory)
{
	if (memory->refusals.count)
		return OUTCOME_OOM;
	switch (ga_coverage_of(memory)) {
	case GA_COVERS_NONE:
	case GA_COVERS_PART:
		return OUTCOME_INCOMPLETE;
	case GA_COVERS_CUT:
		return OUTCOME_CUT;
	case GA_COVERS_ALL:
		break;
	}
	if (!ga_memory_next(memory, -1))
		return OUTCOME_NOTHING;
	bool unknown;
	return count_retries(memory, &unknown) || unknown ? OUTCOME_RETRIES : OUTCOME_FITS;
}

static char *fit_headline(const struct ga_memory *memory, enum outcome outcome)
{
	uint64_t total;
	bool unknown;
	uint64_t retries = count_retries(memory, &unknown);
	char count[GA_THINGS_TEXT];
	char *peak = ga_view_peak_line(memory), *line;
	ga_view_fullest(memory, &total);
	if (outcome == OUTCOME_RETRIES && !retries)
		line =
		    ga_format("It fits below a memory fraction: the allocator gave cached memory "
			      "back to stay there, and whether it had to give all of it back is "
			      "unknown; %s.",
			peak);
	else if (outcome == OUTCOME_RETRIES)
		line = ga_format("It fits, but only just: the allocator had to give its cache back "
				 "%s%s; %s.",
		    unknown ? "at least " : "", ga_things_text(retries, "time", count), peak);
	else if (total == GA_UNKNOWN || total == 0)
		line = ga_format("No out-of-memory; %s.", peak);
	else
		line = ga_format("It fits: %s.", peak);
	free(peak);
	return line;
}

static char *headline(const struct ga_memory *memory, enum outcome outcome)
{
	if (outcome == OUTCOME_OOM)
		return ga_view_oom_line(memory);
	return outcome == OUTCOME_RETRIES || outcome == OUTCOME_FITS
		   ? fit_headline(memory, outcome)
		   : ga_view_peak_headline(memory);
}

static void verdict_text(const struct ga_memory *memory, const struct ga_page *page)
{
	static const enum ga_style styles[] = {[OUTCOME_OOM] = GA_BAD,
	    [OUTCOME_INCOMPLETE] = GA_BAD,
	    [OUTCOME_CUT] = GA_WARN,
	    [OUTCOME_RETRIES] = GA_WARN,
	    [OUTCOME_FITS] = GA_GOOD,
	    [OUTCOME_NOTHING] = GA_PLAIN};
	enum outcome outcome = judge(memory);
	char *text = headline(memory, outcome);
	ga_styled_paragraph(page, styles[outcome], "", text);
	free(text);
	if (outcome == OUTCOME_OOM)
		ga_view_lacking(memory, page);
}

static void program_text(const struct ga_model *model, const struct ga_page *page)
{
	char duration[GA_SIZE_TEXT];
	const char *torch = ga_model_property(model, "torch_version");
	const char *settings = ga_model_allocator_settings(model);
	char *program = ga_view_program(model, page), *rank = ga_view_rank(model);
	fputc('\n', page->out);
	ga_fact(page, "program", "%s", program);
	if (*rank)
		ga_fact(page, "process", "%s", rank);
	free(rank);
	free(program);
	ga_fact(page, "recorded", "%s%s, PyTorch %s%s%s",
	    ga_duration_text(ga_model_duration_ns(model), duration),
	    model->dryrun ? " on a stand-in GPU" : "", torch ? torch : "unknown",
	    settings && *settings ? ", " : "", settings ? settings : "");
}

static void size_cell(struct ga_table *table, uint64_t bytes)
{
	char text[GA_SIZE_TEXT];
	ga_cell(table, "%s", bytes == GA_UNKNOWN ? "unknown" : ga_size_text(bytes, text));
}

#define HOLDERS_SHOWN 3

static void devices_text(const struct ga_memory *memory, const struct ga_page *page)
{
	const char *names[] = {"device", "peak allocated", "peak reserved",
	    ga_view_saw_exit(memory->model) ? "left at exit" : "left at the end", "outside PyTorch",
	    "retries", "OOMs"};
	struct ga_table table = {.columns = 7};
	const struct ga_account *account = ga_memory_next(memory, -1);
	char count[GA_SIZE_TEXT];
	if (!account)
		return;
	fputc('\n', page->out);
	for (unsigned i = 0; i < 7; i++)
		ga_cell(&table, "%s", names[i]);
	for (; account; account = ga_memory_next(memory, account->device)) {
		char *title = ga_view_title(memory, account);
		ga_cell(&table, "%s", title + strlen("device "));
		free(title);
		size_cell(&table, account->peak.allocated);
		size_cell(&table, ga_view_peak_reserved(memory, account));
		size_cell(&table, account->allocated);
		size_cell(&table, account->peak_non_torch);
		ga_cell(&table, "%s", ga_view_retries(account, count));
		ga_cell(&table, "%s", ga_count_text(account->oom_count, count));
	}
	bool several = table.cells.count > 2 * (size_t)table.columns;
	ga_table_print(page, &table);
	uint64_t total;
	account = ga_view_fullest(memory, &total);
	if (several) {
		char *title = ga_view_title(memory, account);
		ga_heading(page, title);
		free(title);
	} else {
		fputc('\n', page->out);
	}
	ga_view_peak_text(memory, account, (struct ga_sites_shown){.rows = HOLDERS_SHOWN}, page);
	fputc('\n', page->out);
	ga_view_drawing(memory, account, page);
}

/* What was launched; classes of events that were not recorded are no 0.  free() it. */
static char *launches_text(const struct ga_model *model, const struct ga_counts *counts)
{
	char launches[GA_SIZE_TEXT], graphs[GA_SIZE_TEXT];
	if (!ga_model_records(model, "kernels"))
		return ga_xstrdup("launches not recorded");
	return ga_format("kernel launches %s, graph launches %s",
	    ga_count_text(counts->launch, launches), ga_count_text(counts->graph_launch, graphs));
}

static char *copies_text(const struct ga_model *model, const struct ga_counts *counts)
{
	char copies[GA_SIZE_TEXT], bytes[GA_SIZE_TEXT], memsets[GA_SIZE_TEXT];
	if (!ga_model_records(model, "copies"))
		return ga_xstrdup("copies not recorded");
	return ga_format("copies %s (%s), memsets %s", ga_count_text(counts->copy, copies),
	    ga_size_text(counts->copy_bytes, bytes), ga_count_text(counts->memset, memsets));
}

static void work_text(
    const struct ga_model *model, const struct ga_counts *counts, const struct ga_page *page)
{
	char waits[GA_SIZE_TEXT] = "not recorded", blocks[GA_SIZE_TEXT] = "not recorded";
	char *launches = launches_text(model, counts), *copies = copies_text(model, counts);
	if (ga_model_records(model, "api"))
		ga_count_text(counts->synchronization, waits);
	if (ga_model_records(model, "memory"))
		ga_count_text(counts->block_alloc, blocks);
	fputc('\n', page->out);
	ga_fact(page, "device work", "%s, %s", launches, copies);
	ga_fact(page, "host", "waits for the device %s, blocks asked for %s", waits, blocks);
	free(launches);
	free(copies);
}

/* Where to read on. */
static void more_text(const struct ga_memory *memory, const struct ga_page *page)
{
	const char *path = memory->model->path;
	if (!ga_memory_next(memory, -1) && !memory->refusals.count)
		return;
	fputc('\n', page->out);
	if (memory->refusals.count)
		ga_fact(page, "each out-of-memory", "gpushim oom %s", path);
	ga_fact(page, "who holds memory", "gpushim memory %s", path);
}

static void put_json(
    const struct ga_memory *memory, const struct ga_counts *counts, struct ga_json *json)
{
	const struct ga_account *account;
	enum outcome outcome = judge(memory);
	char *text = headline(memory, outcome);
	ga_json_string(json, "verdict", outcome_names[outcome]);
	ga_json_string(json, "headline", text);
	ga_json_bool(json, "ended", memory->model->summary->ended);
	ga_coverage_json(memory, json);
	free(text);
	ga_json_list(json, "devices");
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		ga_json_object(json, NULL);
		ga_view_figures_json(memory, account, json);
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
	ga_counts_json(counts, memory->model, json);
	ga_json_number(json, "lost_events", ga_model_lost(memory->model));
}

static int report(const struct ga_options *options, struct ga_model *model,
    const struct ga_page *page, struct ga_json *json)
{
	struct ga_memory memory;
	struct ga_counts counts;
	struct gf_error error = {0};
	struct ga_strings notices = {0};
	if (ga_memory_analyse_holders(model, GA_HOLDERS_KEPT, &memory, &error) != GF_OK)
		return ga_trace_failed(model, &error);
	if (ga_counts_collect(model, &memory, &counts, &error) != GF_OK) {
		ga_memory_free(&memory);
		return ga_trace_failed(model, &error);
	}
	if (json) {
		put_json(&memory, &counts, json);
	} else {
		verdict_text(&memory, page);
		program_text(model, page);
		devices_text(&memory, page);
		work_text(model, &counts, page);
	}
	ga_model_damage_notice(model, &notices);
	ga_model_notices(model, &notices);
	ga_memory_notices(&memory, &notices);
	ga_notices_put(page, json, &notices);
	if (!json)
		more_text(&memory, page);
	ga_memory_free(&memory);
	return GA_EXIT_OK;
}

int ga_cmd_report(const struct ga_options *options)
{
	return ga_traces_report(options, &(struct ga_reporter){report});
}
