/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/memory_view.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/coverage.h"
#include "analyzer/sizes.h"

uint64_t ga_view_reserved(const struct ga_memory *memory, uint64_t reserved_bytes)
{
	return memory->backend == GA_BACKEND_ASYNC ? GA_UNKNOWN : reserved_bytes;
}

uint64_t ga_view_peak_reserved(const struct ga_memory *memory, const struct ga_account *account)
{
	return ga_view_reserved(memory, account->peak_reserved.reserved);
}

uint64_t ga_view_peak(
    const struct ga_memory *memory, const struct ga_account *account, bool *hidden_out)
{
	uint64_t peak = ga_view_peak_reserved(memory, account);
	*hidden_out = peak == GA_UNKNOWN;
	return *hidden_out ? account->peak.allocated : peak;
}

void ga_view_size(
    const struct ga_page *page, const char *name, uint64_t bytes, const char *tail)
{
	char text[GA_SIZE_TEXT];
	if (bytes == GA_UNKNOWN)
		ga_fact(page, name, "%12s", "unknown");
	else if (bytes < 1024)
		ga_fact(page, name, "%12s%s", ga_size_text(bytes, text), tail);
	else
		ga_fact(page, name, "%12s  (%" PRIu64 " bytes)%s", ga_size_text(bytes, text), bytes,
		    tail);
}

char *ga_view_title(const struct ga_memory *memory, const struct ga_account *account)
{
	const char *name = ga_model_device(memory->model, account->device, "name");
	uint64_t total = ga_model_device_number(memory->model, account->device, "total_bytes");
	char bytes[GA_SIZE_TEXT];
	if (total == GA_UNKNOWN)
		return ga_format(
		    "device %u%s%s", account->device, name ? ", " : "", name ? name : "");
	return ga_format("device %u%s%s (%s)", account->device, name ? ", " : "", name ? name : "",
	    ga_size_text(total, bytes));
}

bool ga_view_saw_exit(const struct ga_model *model)
{
	return model->summary->ended && !ga_model_lost(model) && !ga_model_damaged(model);
}

char *ga_view_rank(const struct ga_model *model)
{
	const char *rank = ga_model_property(model, "rank");
	const char *world = ga_model_property(model, "world_size");
	if (!rank)
		return ga_xstrdup("");
	return ga_format("rank %s%s%s", rank, world ? " of " : "", world ? world : "");
}

char *ga_view_program(const struct ga_model *model, const struct ga_page *page)
{
	char *line = ga_model_program_line(model, ga_ellipsis(page));
	size_t most = 2 * (size_t)page->width;
	if (strlen(line) <= most)
		return line;
	while (most && ((unsigned char)line[most] & 0xc0) == 0x80)
		most--;
	char *cut = ga_format("%.*s%s", (int)most, line, ga_ellipsis(page));
	free(line);
	return cut;
}

void ga_view_head(const struct ga_model *model, const struct ga_page *page)
{
	char duration[GA_SIZE_TEXT];
	const char *torch = ga_model_property(model, "torch_version");
	char *program = ga_view_program(model, page), *rank = ga_view_rank(model);
	char *line = ga_format("%s%s%s: %s%s, PyTorch %s", program, *rank ? ", " : "", rank,
	    ga_duration_text(ga_model_duration_ns(model), duration),
	    model->dryrun ? " on a stand-in GPU" : "", torch ? torch : "unknown");
	ga_paragraph(page, "", line);
	free(line);
	free(rank);
	free(program);
}

static void maybe(struct ga_json *json, const char *name, uint64_t value)
{
	ga_json_maybe(json, name, value != GA_UNKNOWN, value);
}

const char *ga_view_retries(const struct ga_account *account, char out[GA_SIZE_TEXT])
{
	return account->unknown_retries ? "unknown" : ga_count_text(account->retry_count, out);
}

void ga_view_figures_json(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_json *json)
{
	ga_json_number(json, "device", account->device);
	ga_json_number(json, "peak_allocated_bytes", account->peak.allocated);
	maybe(json, "peak_reserved_bytes", ga_view_peak_reserved(memory, account));
	ga_json_number(json, "end_allocated_bytes", account->allocated);
	maybe(json, "end_reserved_bytes", ga_view_reserved(memory, account->reserved));
	ga_json_number(json, "alloc_count", account->alloc_count);
	ga_json_number(json, "free_count", account->free_count);
	ga_json_number(json, "segment_alloc_count", account->segment_alloc_count);
	ga_json_number(json, "segment_free_count", account->segment_free_count);
	ga_json_maybe(json, "retry_count", !account->unknown_retries, account->retry_count);
	ga_json_number(json, "oom_count", account->oom_count);
	ga_json_number(json, "non_torch_bytes", account->peak_non_torch);
}

void ga_view_peak_json(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_json *json)
{
	struct ga_sites sites;
	if (account->peak.allocated == 0) {
		ga_json_null(json, "peak");
		return;
	}
	ga_memory_peak_sites(memory, account, &sites);
	ga_json_object(json, "peak");
	ga_json_number(json, "time_ns", ga_model_ns(memory->model, account->peak.ticks));
	ga_json_null(json, "step");
	ga_json_number(json, "allocated_bytes", account->peak.allocated);
	ga_json_object(json, "categories");
	ga_json_number(json, "unknown", account->peak.allocated);
	ga_json_object_end(json);
	ga_sites_json(&sites, memory->model->stacks, json, "sites");
	ga_json_object_end(json);
	ga_sites_free(&sites);
}

struct ga_sites_shown ga_view_shown(const struct ga_options *options, size_t rows)
{
	uint64_t top = ga_option_size(options, GA_OPTION_TOP, rows);
	return (struct ga_sites_shown){
	    .rows = top ? top : SIZE_MAX, .stacks = ga_option_given(options, GA_OPTION_STACKS)};
}

void ga_view_peak_text(const struct ga_memory *memory, const struct ga_account *account,
    struct ga_sites_shown shown, const struct ga_page *page)
{
	struct ga_sites sites;
	if (account->peak.allocated == 0)
		return;
	ga_memory_peak_sites(memory, account, &sites);
	ga_sites_text(&sites, memory->model->stacks, shown, page);
	ga_sites_free(&sites);
}

void ga_view_timeline_json(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_json *json)
{
	struct ga_point *points = ga_xalloc(GA_TIMELINE_POINTS, sizeof(*points));
	size_t count = ga_timeline_points(account->timeline, points);
	ga_json_list(json, "timeline");
	for (size_t i = 0; i < count; i++) {
		ga_json_object(json, NULL);
		ga_json_number(json, "time_ns", ga_model_ns(memory->model, points[i].ticks));
		ga_json_number(json, "allocated_bytes", points[i].allocated);
		maybe(json, "reserved_bytes", ga_view_reserved(memory, points[i].reserved));
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
	free(points);
}

void ga_view_drawing(
    const struct ga_memory *memory, const struct ga_account *account, const struct ga_page *page)
{
	uint64_t begin, end;
	uint64_t total = ga_model_device_number(memory->model, account->device, "total_bytes");
	ga_timeline_span(account->timeline, &begin, &end);
	ga_draw_memory(page, account->timeline, total == GA_UNKNOWN ? 0 : total,
	    ga_model_ns(memory->model, begin), ga_model_ns(memory->model, end));
}

/* ---- answers in one line ---- */

const struct ga_account *ga_view_fullest(const struct ga_memory *memory, uint64_t *total_out)
{
	const struct ga_account *account, *best = NULL;
	double most = -1;
	bool hidden;
	*total_out = GA_UNKNOWN;
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		uint64_t total =
		    ga_model_device_number(memory->model, account->device, "total_bytes");
		double used = (double)ga_view_peak(memory, account, &hidden);
		if (total != GA_UNKNOWN && total > 0)
			used /= (double)total;
		if (used > most) {
			most = used;
			best = account;
			*total_out = total;
		}
	}
	return best;
}

char *ga_view_peak_line(const struct ga_memory *memory)
{
	uint64_t total;
	const struct ga_account *account = ga_view_fullest(memory, &total);
	if (!account)
		return ga_xstrdup("no device memory was used");
	bool hidden;
	uint64_t peak = ga_view_peak(memory, account, &hidden);
	const char *what = hidden ? "allocated" : "reserved";
	char bytes[GA_SIZE_TEXT], whole[GA_SIZE_TEXT], share[GA_SIZE_TEXT];
	ga_size_text(peak, bytes);
	if (total == GA_UNKNOWN || total == 0)
		return ga_format("%s %s at the peak of device %u", bytes, what, account->device);
	return ga_format("%s of %s (%s) %s at the peak of device %u", bytes,
	    ga_size_text(total, whole), ga_share_text(peak, total, share), what, account->device);
}

char *ga_view_peak_headline(const struct ga_memory *memory)
{
	bool none = !ga_memory_next(memory, -1) && ga_coverage_of(memory) == GA_COVERS_PART;
	char *peak = none ? ga_xstrdup("no use of device memory") : ga_view_peak_line(memory);
	char *line = ga_coverage_headline(memory, peak);
	free(peak);
	return line;
}

void ga_view_lacking(const struct ga_memory *memory, const struct ga_page *page)
{
	char *text = ga_coverage_text(memory);
	if (*text)
		ga_paragraph(page, "", text);
	free(text);
}

char *ga_view_oom_figures(const struct ga_oom *oom)
{
	char asked[GA_SIZE_TEXT], left[GA_SIZE_TEXT], lacking[GA_SIZE_TEXT];
	if (oom->segment == GA_UNKNOWN)
		return ga_xstrdup("the size asked for is not known");
	ga_size_text(oom->segment, asked);
	if (oom->verdict == GA_VERDICT_fraction_limit && oom->allowed != GA_UNKNOWN)
		return ga_format(
		    "%s asked for beyond %s reserved; the memory fraction of the program "
		    "allows %s",
		    asked, ga_size_text(oom->reserved, left), ga_size_text(oom->allowed, lacking));
	if (oom->device_free == GA_UNKNOWN)
		return ga_format("%s asked for", asked);
	ga_size_text(oom->device_free, left);
	if (oom->segment <= oom->device_free)
		return ga_format("%s asked for, %s free", asked, left);
	return ga_format("%s asked for, %s free: %s too little", asked, left,
	    ga_size_text(oom->segment - oom->device_free, lacking));
}

/* Who has most of the memory that a request found taken; "" if that is not known.  free() it. */
static char *culprit_text(const struct ga_memory *memory, const struct ga_oom *oom)
{
	uint64_t bytes = 0, unseen = ga_oom_unseen(oom);
	char others[GA_SIZE_TEXT];
	char *site = ga_oom_is_host(oom) || !oom->top.count
			 ? NULL
			 : ga_sites_largest(&oom->top, memory->model->stacks, &bytes),
	     *text;
	if (site && oom->non_torch != GA_UNKNOWN && oom->non_torch > bytes)
		text = ga_format(" %s is held outside PyTorch's allocator.",
		    ga_size_text(oom->non_torch, others));
	else if (site && unseen != GA_UNKNOWN && unseen > bytes)
		text = ga_format(
		    " %s is held by what was not recorded, such as other processes; of what "
		    "was the most is held by %s.",
		    ga_size_text(unseen, others), site);
	else
		text = site ? ga_format(" The most is held by %s.", site) : ga_xstrdup("");
	free(site);
	return text;
}

char *ga_view_oom_line(const struct ga_memory *memory)
{
	const struct ga_oom *oom = &memory->refusals.ooms[memory->refusals.count - 1];
	char times[GA_THINGS_TEXT];
	const char *place = ga_stacks_words(memory->model->stacks, oom->stack_id).place;
	char *figures = ga_view_oom_figures(oom), *culprit = culprit_text(memory, oom);
	char *line = ga_format("Out of memory %s%s; last%s%s: %s.%s",
	    ga_coverage_whole(memory) ? "" : "at least ",
	    ga_things_text(memory->refusals.count, "time", times), place ? " at " : "",
	    place ? place : "", figures, culprit);
	free(figures);
	free(culprit);
	return line;
}
