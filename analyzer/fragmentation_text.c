/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/fragmentation_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyzer/memory_view.h"
#include "analyzer/sizes.h"

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
static char *waste_sentence(const struct ga_finding *finding)
{
	const struct ga_fragmentation *result = &finding->result;
	const char *cause = main_cause(&result->at_peak);
	char peak[GA_SIZE_TEXT], floor[GA_SIZE_TEXT], waste[GA_SIZE_TEXT];
	uint64_t bytes =
	    finding->peak > result->lower_bound ? finding->peak - result->lower_bound : 0;
	ga_size_text(finding->peak, peak);
	if (ga_finding_floor(finding) == GA_UNKNOWN)
		return ga_format(
		    "How much of the %s reserved at the peak was needed is unknown.", peak);
	if (!bytes)
		return ga_format("All of the %s reserved at the peak was needed.", peak);
	return ga_format("At most %s (%.0f %%) of the %s reserved at the peak could be spared: the "
			 "load never exceeds %s%s%s.",
	    ga_size_text(bytes, waste), 100.0 * (double)bytes / (double)finding->peak, peak,
	    ga_size_text(result->lower_bound, floor),
	    cause ? "; what was not in use then mostly " : "", cause ? cause : "");
}

/* A row so that it can be copied, and what it needs beside; to begin a sentence with.  free() it.
 */
static char *advice(const struct ga_grid_row *row)
{
	char call[80] = "";
	if (row->fraction > 0)
		snprintf(call, sizeof(call), " with torch.cuda.set_per_process_memory_fraction(%g)",
		    row->fraction);
	return *row->text ? ga_format(GA_FIRST_VARIABLE "=%s%s", row->text, call)
			  : ga_format("The default settings%s", call);
}

static char *saving_sentence(const struct ga_finding *finding)
{
	const struct ga_grid_row *best = ga_finding_best(finding);
	char peak[GA_SIZE_TEXT], saved[GA_SIZE_TEXT];
	bool refused = finding->result.ooms || (finding->no_limit && finding->result.retries);
	if (!best)
		return ga_xstrdup(refused || ga_finding_release_unknown(finding)
				      ? ""
				      : "No other setting of this release needs less.");
	char *setting = advice(best);
	char *text = ga_format("%s would have needed %s (%s less)%s.", setting,
	    ga_size_text(best->high, peak), ga_size_text(finding->peak - best->high, saved),
	    best->parted_at == UINT64_MAX ? "" : " up to there");
	free(setting);
	return text;
}

/* What would have helped where memory was refused.  The recording ends, or goes another way, where
 * a request that failed would have been granted.  free() it. */
static char *cure_sentence(const struct ga_finding *finding)
{
	const struct ga_grid_row *cure = ga_finding_cure(finding);
	if (!cure && finding->no_limit)
		return ga_xstrdup("Whether another setting would have avoided it is unknown.");
	if (!cure)
		return ga_xstrdup(finding->result.harm
				      ? ""
				      : "No other setting of this release would have avoided it.");
	char *setting = advice(cure), *text;
	if (finding->result.ooms)
		text =
		    ga_format("%s would have granted the request, as far as the recording goes: "
			      "whether the program would have run out of memory later is unknown.",
			setting);
	else
		text = ga_format("%s would have needed fewer retries.", setting);
	free(setting);
	return text;
}

static char *harm_sentence(const struct ga_finding *finding)
{
	const struct ga_fragmentation *result = &finding->result;
	char harm[GA_SIZE_TEXT], retries[GA_SIZE_TEXT], ooms[GA_SIZE_TEXT], *text;
	if (!result->retries && !result->ooms)
		return ga_xstrdup("No harm: every request was granted at once.");
	ga_count_text(result->retries, retries);
	ga_count_text(result->ooms, ooms);
	char *cure = cure_sentence(finding);
	if (result->harm)
		text =
		    ga_format("Fragmentation did harm (retries %s, out of memory %s): up to %s of "
			      "cached memory was of no use when memory was refused.%s%s",
			retries, ooms, ga_size_text(result->harm, harm), *cure ? " " : "", cure);
	else
		text = ga_format(
		    "Memory was refused (retries %s, out of memory %s). %s", retries, ooms, cure);
	free(cure);
	return text;
}

void ga_fragmentation_verdict(const struct ga_finding *finding, const struct ga_page *page)
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

/* What ga_finding_needs() tells, as short as a column wants it. */
static void add_needs(const struct ga_grid_row *row, struct ga_strings *remarks)
{
	char release[16];
	if (row->in_program)
		ga_strings_add(remarks, "by the program");
	if (row->needs_torch == GA_TORCH_LATER)
		ga_strings_add(remarks, "in no release yet");
	else if (row->needs_torch)
		ga_strings_add(
		    remarks, "needs PyTorch %s", ga_finding_release(row->needs_torch, release));
	if (row->fraction > 0)
		ga_strings_add(remarks, "needs a memory fraction");
}

/* All that is special about a row; "" if nothing is.  free() it. */
static char *remark(const struct ga_grid_row *row)
{
	struct ga_strings remarks = {0};
	char low[GA_SIZE_TEXT], high[GA_SIZE_TEXT];
	if (row->is_recorded)
		ga_strings_add(&remarks, "recorded");
	add_needs(row, &remarks);
	if (row->ooms && !row->is_recorded)
		ga_strings_add(&remarks, "out of memory");
	else if (row->parted_at != UINT64_MAX)
		ga_strings_add(&remarks, "granted, then unknown");
	else if (row->low != row->high)
		ga_strings_add(&remarks, "%s to %s", ga_size_text(row->low, low),
		    ga_size_text(row->high, high));
	char *text = ga_strings_join(&remarks, ", ");
	ga_strings_clear(&remarks);
	return text;
}

static void row_cells(
    const struct ga_finding *finding, const struct ga_grid_row *row, struct ga_table *table)
{
	bool known = ga_grid_row_known(row), more = row->peak_reserved > finding->peak;
	char count[GA_SIZE_TEXT], *note = remark(row);
	const char *text = ga_finding_row_text(finding, row);
	ga_cell(table, "%s", *text ? text : "defaults");
	ga_cell(table, "%s", note);
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
	if (ga_grid_row_known(one) != ga_grid_row_known(other))
		return ga_grid_row_known(one) ? -1 : 1;
	if (!one->ooms != !other->ooms)
		return one->ooms ? 1 : -1;
	if (ga_grid_row_known(one) && one->peak_reserved != other->peak_reserved)
		return one->peak_reserved < other->peak_reserved ? -1 : 1;
	return one < other ? -1 : one > other;
}

static void settings_text(const struct ga_finding *finding, const struct ga_page *page)
{
	static const char *const names[] = {
	    "setting", "remark", "peak reserved", "saved", "driver calls", "retries"};
	const struct ga_grid *grid = &finding->result.grid;
	struct ga_table table = {.columns = 6, .left = 1 << 1, .least = 3};
	const struct ga_grid_row **rows = ga_xalloc(grid->count + 1, sizeof(*rows));
	for (size_t i = 0; i < grid->count; i++)
		rows[i] = &grid->rows[i];
	qsort(rows, grid->count, sizeof(*rows), compare_rows);
	for (size_t i = 0; i < table.columns; i++)
		ga_cell(&table, "%s", names[i]);
	for (size_t i = 0; i < grid->count; i++)
		row_cells(finding, rows[i], &table);
	free(rows);
	ga_heading(page, "The same requests under other settings");
	ga_table_print(page, &table);
	fputc('\n', page->out);
	ga_fact(page, "to set one", GA_FIRST_VARIABLE "=SETTING in the program's environment%s",
	    ga_finding_one_variable(finding) ? " (this release does not read " GA_SECOND_VARIABLE
					       ")"
					     : "");
}

void ga_fragmentation_text(const struct ga_finding *finding, const struct ga_page *page)
{
	const struct ga_fragmentation *result = &finding->result;
	char *title = ga_view_title(finding->memory, finding->account);
	ga_heading(page, title);
	free(title);
	size_fact(page, "peak reserved", finding->peak, "at its first instant:");
#define P(name, words) \
	size_fact(page, "  " #name, \
	    ga_finding_part_known(finding, &result->at_peak.name) ? result->at_peak.name \
								  : GA_UNKNOWN, \
	    words);
	GA_FINDING_PARTS(P)
#undef P
	size_fact(page, "floor", ga_finding_floor(finding),
	    "highest load; less is not possible without moving blocks");
	size_fact(page, "planned", ga_finding_packing(finding), "with the whole future known");
	if (finding->is_replayed)
		ga_fact(page, "replay", "%" PRIu64 " of %" PRIu64 " segment events match",
		    result->fidelity.segments_matched, result->fidelity.segments);
	else
		ga_fact(page, "replay", "not done");
	if (finding->is_exact)
		settings_text(finding, page);
}
