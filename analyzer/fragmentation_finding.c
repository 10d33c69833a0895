/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/fragmentation_finding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyzer/memory_view.h"
#include "analyzer/sizes.h"

char *ga_finding_obstacle(const struct ga_model *model, const struct ga_recorded_allocator *input)
{
	char count[GA_THINGS_TEXT];
	if (ga_model_incomplete(model))
		return ga_xstrdup("the trace is damaged or its journal is missing, and a replay "
				  "needs every event");
	if (ga_model_lost(model))
		return ga_format("%s %s missing, and a replay needs every one",
		    ga_things_text(ga_model_lost(model), "event", count),
		    ga_model_lost(model) == 1 ? "is" : "are");
	if (input->unknown_frees)
		return ga_format("%s that the recording did not see handed out %s freed",
		    ga_things_text(input->unknown_frees, "block", count),
		    input->unknown_frees == 1 ? "was" : "were");
	if (input->blocks && !input->segment_count)
		return ga_xstrdup("the allocator's calls of the driver were not recorded");
	if (!input->blocks)
		return ga_xstrdup("PyTorch's allocator handed out no block");
	return NULL;
}

/* "a segment of 20.00 MiB allocated", "nothing".  free() it. */
static char *entry_text(const struct ga_history_entry *entry)
{
	static const char *const words[] = {
	    [GA_HISTORY_SEGMENT_ALLOC] = "a segment of %s allocated",
	    [GA_HISTORY_SEGMENT_FREE] = "a segment of %s freed",
	    [GA_HISTORY_SEGMENT_MAP] = "%s mapped",
	    [GA_HISTORY_SEGMENT_UNMAP] = "%s unmapped"};
	char size[GA_SIZE_TEXT];
	bool known = entry->size && entry->action < sizeof(words) / sizeof(*words);
	return known && words[entry->action]
		   ? ga_format(words[entry->action], ga_size_text(entry->size, size))
		   : ga_xstrdup("nothing");
}

/* What the program did that a recording tells only in part; "" if nothing.  free() it. */
static char *special_text(const struct ga_recorded_allocator *input)
{
	struct ga_strings words = {0};
	char count[GA_SIZE_TEXT];
	if (input->captures)
		ga_strings_add(&words, "CUDA graph captures (%s)",
		    ga_count_text(input->captures, count));
	if (input->trace.stream_count > 1)
		ga_strings_add(&words, "several streams (%s)",
		    ga_count_text(input->trace.stream_count, count));
	if (!words.count)
		return ga_xstrdup("");
	char *text = ga_format(". The program used %s%s%s, which a recording tells only in part",
	    words.items[0], words.count > 1 ? " and " : "", words.count > 1 ? words.items[1] : "");
	ga_strings_clear(&words);
	return text;
}

static const char hidden_limit[] =
    ". The allocator refused memory, or gave cached memory back, where the driver had refused "
    "nothing: most likely the program set a memory fraction "
    "(torch.cuda.set_per_process_memory_fraction), which this recording does not tell";

/* Why the replay is not exact, NULL if it is.  free() it. */
static char *mismatch(
    const struct ga_finding *finding, const struct ga_recorded_allocator *input)
{
	const struct ga_fidelity *fidelity = &finding->result.fidelity;
	if (fidelity->first_mismatch != UINT64_MAX ||
	    fidelity->segments_matched != fidelity->segments) {
		char *recorded = entry_text(&fidelity->recorded);
		char *replayed = entry_text(&fidelity->replayed);
		char *special =
		    input->hidden_limit ? ga_xstrdup(hidden_limit) : special_text(input);
		char *text = ga_format("the replay of the recorded settings departs from the "
				       "recording after %" PRIu64 " of %" PRIu64
				       " segment events: recorded is %s, replayed %s%s",
		    fidelity->segments_matched, fidelity->segments, recorded, replayed, special);
		free(recorded);
		free(replayed);
		free(special);
		return text;
	}
	if (finding->result.peak_reserved != finding->peak)
		return ga_format("the replay reserves %" PRIu64 " bytes at its peak",
		    finding->result.peak_reserved);
	return NULL;
}

enum gf_status ga_finding_examine(const struct ga_memory *memory, const struct ga_account *account,
    struct ga_finding *finding, struct gf_error *error)
{
	struct ga_recorded_allocator input;
	struct ga_fragmentation_options options = {.grid = {.with_ranges = true}};
	struct gf_error refusal = {0};
	const char *settings = ga_model_allocator_settings(memory->model);
	*finding = (struct ga_finding){.memory = memory,
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
	finding->unknown_requests = input.unknown_requests;
	finding->no_limit = options.grid.no_limit = input.no_limit;
	options.grid.recorded = finding->settings;
	finding->why = ga_finding_obstacle(memory->model, &input);
	if (!finding->why) {
		ga_fragmentation_measure(
		    &input.trace, input.segments, input.segment_count, &options, &finding->result);
		finding->is_replayed = true;
		finding->why = mismatch(finding, &input);
		finding->is_exact = !finding->why;
	}
	ga_recorded_allocator_clear(&input);
	return GF_OK;
}

void ga_finding_clear(struct ga_finding *finding)
{
	free(finding->why);
	ga_fragmentation_clear(&finding->result);
}

/* Live bytes do not depend on where blocks lie, as long as the same requests were granted. */
uint64_t ga_finding_floor(const struct ga_finding *finding)
{
	bool known = finding->is_replayed && !finding->unknown_requests &&
		     finding->result.ooms == finding->account->oom_count;
	return known ? finding->result.lower_bound : GA_UNKNOWN;
}

uint64_t ga_finding_packing(const struct ga_finding *finding)
{
	bool known = finding->is_replayed && !finding->unknown_requests && finding->result.packing;
	return known ? finding->result.packing : GA_UNKNOWN;
}

/* Rounding cannot be told from the request where only the block's size is known. */
bool ga_finding_part_known(const struct ga_finding *finding, const uint64_t *part)
{
	const struct ga_reserved_split *split = &finding->result.at_peak;
	bool hidden = part == &split->requested || part == &split->rounding;
	return finding->is_exact && !(hidden && finding->unknown_requests);
}

const char *ga_finding_row_text(const struct ga_finding *finding, const struct ga_grid_row *row)
{
	return row->is_recorded ? finding->settings : row->text;
}

bool ga_finding_release_unknown(const struct ga_finding *finding)
{
	const char *release = ga_model_property(finding->memory->model, "torch_version");
	return !release || !*release;
}

/* Whether the recorded release can be told to do this from outside. */
static bool is_advisable(const struct ga_finding *finding, const struct ga_grid_row *row)
{
	return !row->is_recorded && !row->needs_torch && !row->in_program &&
	       (!*row->text || !ga_finding_release_unknown(finding));
}

const struct ga_grid_row *ga_finding_best(const struct ga_finding *finding)
{
	const struct ga_grid *grid = &finding->result.grid;
	const struct ga_grid_row *best = NULL;
	for (size_t i = 0; i < grid->count; i++) {
		const struct ga_grid_row *row = &grid->rows[i];
		if (ga_grid_row_known(row) && !row->ooms && is_advisable(finding, row) &&
		    row->high < finding->peak && (!best || row->high < best->high))
			best = row;
	}
	return best;
}

const struct ga_grid_row *ga_finding_cure(const struct ga_finding *finding)
{
	const struct ga_fragmentation *result = &finding->result;
	for (size_t i = 0; i < result->grid.count; i++) {
		const struct ga_grid_row *row = &result->grid.rows[i];
		bool cures = result->ooms
				 ? row->parted_at != UINT64_MAX && !row->new_failure
				 : ga_grid_row_known(row) && row->retries < result->retries;
		if (is_advisable(finding, row) && cures)
			return row;
	}
	return NULL;
}

bool ga_finding_one_variable(const struct ga_finding *finding)
{
	return !ga_finding_release_unknown(finding) &&
	       ga_torch_number(ga_model_property(finding->memory->model, "torch_version")) <
		   GA_TORCH_SECOND_VARIABLE;
}

const char *ga_finding_known_until(const struct ga_grid_row *row)
{
	return row->parted_at == UINT64_MAX ? "end"
	       : row->new_failure	    ? "refused_request"
					    : "granted_request";
}

char *ga_finding_needs(const struct ga_grid_row *row)
{
	struct ga_strings needs = {0};
	char release[16];
	if (row->in_program)
		ga_strings_add(&needs, "a change of the program");
	if (row->needs_torch == GA_TORCH_LATER)
		ga_strings_add(&needs, "a later PyTorch than %s",
		    ga_finding_release(GA_TORCH_NEWEST, release));
	else if (row->needs_torch)
		ga_strings_add(&needs, "PyTorch %s", ga_finding_release(row->needs_torch, release));
	if (row->fraction > 0)
		ga_strings_add(
		    &needs, "torch.cuda.set_per_process_memory_fraction(%g)", row->fraction);
	char *text = needs.count ? ga_strings_join(&needs, " and ") : NULL;
	ga_strings_clear(&needs);
	return text;
}

const char *ga_finding_release(int torch, char out[16])
{
	if (torch == GA_TORCH_LATER)
		return "unreleased";
	snprintf(out, 16, "%d.%d", torch / 1000, torch % 1000);
	return torch ? out : NULL;
}
