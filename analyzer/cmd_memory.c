/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/coverage.h"
#include "analyzer/memory_view.h"
#include "analyzer/safe_text.h"
#include "analyzer/sizes.h"
#include "analyzer/traces.h"

static void put_json(const struct ga_memory *memory, struct ga_json *json)
{
	const struct ga_account *account;
	bool known = ga_coverage_of(memory) != GA_COVERS_NONE;
	ga_coverage_json(memory, json);
	ga_json_list(json, "devices");
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		ga_json_object(json, NULL);
		ga_view_figures_json(memory, account, json);
		ga_view_peak_json(memory, account, json);
		ga_view_timeline_json(memory, account, json);
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
	ga_json_object(json, "host");
	ga_json_maybe(json, "peak_pinned_bytes", known, memory->driver.host_peak_bytes);
	ga_json_maybe(json, "end_pinned_bytes", known, memory->driver.host_bytes);
	ga_json_object_end(json);
}

static void counts_text(const struct ga_account *account, const struct ga_page *page)
{
	char one[GA_THINGS_TEXT], other[GA_THINGS_TEXT];
	ga_fact(page, "blocks", "%s allocated, %s freed", ga_count_text(account->alloc_count, one),
	    ga_count_text(account->free_count, other));
	ga_fact(page, "segments", "%s allocated, %s freed",
	    ga_count_text(account->segment_alloc_count, one),
	    ga_count_text(account->segment_free_count, other));
	if (account->segment_map_count)
		ga_fact(page, "expandable segments", "grew %s, shrank %s",
		    ga_things_text(account->segment_map_count, "time", one),
		    ga_things_text(account->segment_unmap_count, "time", other));
	ga_fact(page, "retries, OOMs", "%s, %s", ga_view_retries(account, one),
	    ga_count_text(account->oom_count, other));
}

#define ROWS_SHOWN 12

static void device_text(const struct ga_options *options, const struct ga_memory *memory,
    const struct ga_account *account, const struct ga_page *page)
{
	char *title = ga_view_title(memory, account), duration[GA_SIZE_TEXT];
	ga_heading(page, title);
	free(title);
	ga_duration_text(ga_model_ns(memory->model, account->peak.ticks), duration);
	char *when = ga_format(" at %s", duration);
	ga_view_size(page, "peak allocated", account->peak.allocated, when);
	free(when);
	ga_view_size(page, "peak reserved", ga_view_peak_reserved(memory, account), "");
	bool ended = ga_view_saw_exit(memory->model);
	ga_view_size(page, ended ? "left at exit" : "left at the end", account->allocated, "");
	ga_view_size(page, ended ? "reserved at exit" : "reserved at the end",
	    ga_view_reserved(memory, account->reserved), "");
	ga_view_size(page, "outside PyTorch", account->peak_non_torch, " at the peak");
	counts_text(account, page);
	fputc('\n', page->out);
	ga_view_drawing(memory, account, page);
	fputc('\n', page->out);
	ga_view_peak_text(memory, account, ga_view_shown(options, ROWS_SHOWN), page);
}

static void put_text(const struct ga_options *options, const struct ga_memory *memory,
    const struct ga_page *page)
{
	const struct ga_account *account = ga_memory_next(memory, -1);
	char *line = ga_view_peak_headline(memory);
	ga_paragraph(page, "", line);
	free(line);
	ga_view_head(memory->model, page);
	for (; account; account = ga_memory_next(memory, account->device))
		device_text(options, memory, account, page);
	if (memory->driver.host_peak_bytes) {
		ga_heading(page, "page-locked host memory");
		ga_view_size(page, "peak", memory->driver.host_peak_bytes, "");
	}
}

/* Tell which devices are above the limit; the peak of allocated bytes stands in where reserved is
 * hidden.  @return whether any is */
static bool is_crossed(const struct ga_memory *memory, uint64_t limit)
{
	const struct ga_account *account;
	bool crossed = false;
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		bool hidden;
		uint64_t peak = ga_view_peak(memory, account, &hidden);
		char size[GA_SIZE_TEXT], most[GA_SIZE_TEXT];
		if (peak <= limit)
			continue;
		ga_say("%s: device %u: %s %s at the peak, above the limit of %s",
		    memory->model->path, account->device, ga_size_text(peak, size),
		    hidden ? "allocated" : "reserved", ga_size_text(limit, most));
		crossed = true;
	}
	return crossed;
}

/* The exit code of --fail-above: what is not recorded cannot be below a limit, only above it. */
static int threshold(const struct ga_options *options, const struct ga_memory *memory)
{
	uint64_t limit = ga_option_size(options, GA_OPTION_FAIL_ABOVE, UINT64_MAX);
	char most[GA_SIZE_TEXT];
	if (!ga_option_given(options, GA_OPTION_FAIL_ABOVE))
		return GA_EXIT_OK;
	if (is_crossed(memory, limit))
		return GA_EXIT_CROSSED;
	if (ga_coverage_of(memory) == GA_COVERS_ALL)
		return GA_EXIT_OK;
	char *gap = ga_coverage_whole(memory) ? ga_xstrdup("the recording has no end")
					      : ga_coverage_gap(memory);
	ga_say("%s: whether the peak is above the limit of %s is unknown: %s", memory->model->path,
	    ga_size_text(limit, most), gap);
	free(gap);
	return GA_EXIT_INCONCLUSIVE;
}

static int report(const struct ga_options *options, struct ga_model *model,
    const struct ga_page *page, struct ga_json *json)
{
	struct ga_memory memory;
	struct gf_error error = {0};
	struct ga_strings notices = {0};
	if (ga_memory_analyse(model, &memory, &error) != GF_OK)
		return ga_trace_failed(model, &error);
	if (json)
		put_json(&memory, json);
	else
		put_text(options, &memory, page);
	ga_model_damage_notice(model, &notices);
	ga_model_notices(model, &notices);
	ga_memory_notices(&memory, &notices);
	ga_notices_put(page, json, &notices);
	int status = threshold(options, &memory);
	ga_memory_free(&memory);
	return status;
}

int ga_cmd_memory(const struct ga_options *options)
{
	return ga_traces_report(options, &(struct ga_reporter){report});
}
