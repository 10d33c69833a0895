/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/settings_grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/allocator_options.h"
#include "analyzer/xalloc.h"

#define SHUFFLES 3

/* What one row replays. */
struct attempt {
	const struct ga_alloc_trace *trace;
	const struct ga_grid_options *grid;
	struct ga_replay_options replay;
	uint64_t preallocate;
	bool empties_cache;
};

/* Allocate and free before the program begins, on the stream that it uses first. */
static void preallocate(struct ga_replay *replay, uint64_t bytes)
{
	const struct ga_alloc_trace *trace = replay->trace;
	uint64_t stream = trace->stream_count ? trace->streams[0] : 0;
	uint32_t block = ga_allocator_allocate(replay->model, bytes, stream, 0, UINT32_MAX);
	if (block)
		ga_allocator_free(replay->model, block, false);
}

static void play(const struct attempt *attempt, struct ga_replay_result *result_out)
{
	struct ga_replay replay;
	bool goes_on = true;
	ga_replay_begin(&replay, attempt->trace, &attempt->replay);
	if (attempt->preallocate)
		preallocate(&replay, attempt->preallocate);
	for (size_t i = 0; attempt->empties_cache && i < attempt->grid->border_count; i++) {
		goes_on = goes_on && ga_replay_run(&replay, attempt->grid->borders[i]);
		if (goes_on)
			ga_allocator_empty_cache(replay.model);
	}
	if (goes_on)
		ga_replay_run(&replay, SIZE_MAX);
	ga_replay_end(&replay, result_out);
}

static void widen(struct ga_grid_row *row, uint64_t peak)
{
	row->low = peak < row->low ? peak : row->low;
	row->high = peak > row->high ? peak : row->high;
}

static void play_again(struct attempt *attempt, struct ga_grid_row *row)
{
	struct ga_replay_result result = {.first_oom = 0};
	attempt->replay.with_troubles = false;
	play(attempt, &result);
	widen(row, result.counts.peak_reserved);
	ga_replay_result_clear(&result);
}

static bool has_waits(const struct ga_alloc_trace *trace)
{
	for (size_t i = 0; i < trace->event_count; i++)
		if (trace->events[i].kind == GA_CALL_READY)
			return true;
	return false;
}

/* The same with other address orders, where those decide, and with other ends of waiting; what the
 * recorded driver answers leaves neither open. */
static void find_range(struct attempt *attempt, struct ga_grid_row *row)
{
	const struct ga_allocator_settings *settings =
	    attempt->replay.settings ? attempt->replay.settings : &attempt->trace->settings;
	enum ga_address_order order = attempt->replay.order;
	if (attempt->replay.recorded_driver)
		return;
	for (uint32_t i = 0; settings->tie == GA_TIE_ADDRESS && i < 1 + SHUFFLES; i++) {
		attempt->replay.order = i			 ? GA_ADDRESS_SHUFFLED
					: order == GA_ADDRESS_UP ? GA_ADDRESS_DOWN
								 : GA_ADDRESS_UP;
		attempt->replay.seed = i;
		play_again(attempt, row);
	}
	attempt->replay.order = order;
	if (!has_waits(attempt->trace))
		return;
	for (int rule = GA_READY_NATURAL; rule <= GA_READY_LATE; rule++) {
		attempt->replay.ready = (enum ga_ready_rule)rule;
		play_again(attempt, row);
	}
	attempt->replay.ready = GA_READY_RECORDED;
}

static bool is_last_allocation(const struct ga_alloc_trace *trace, uint64_t event)
{
	for (uint64_t i = event; i < trace->event_count; i++)
		if (i > event && trace->events[i].kind == GA_CALL_ALLOC)
			return false;
	return true;
}

static void fill(struct attempt *attempt, struct ga_grid_row *row)
{
	struct ga_replay_result result = {.first_oom = 0};
	attempt->replay.with_troubles = true;
	attempt->replay.stop_when_parted = true;
	attempt->replay.order = ga_alloc_trace_order(attempt->trace);
	attempt->replay.budget_bytes = attempt->grid->budget_bytes;
	attempt->replay.device_bytes = attempt->grid->device_bytes;
	play(attempt, &result);
	const struct ga_allocator_counts *counts = &result.counts;
	row->peak_reserved = row->low = row->high = counts->peak_reserved;
	row->device_calls = counts->segment_allocs + counts->segment_frees + counts->maps +
			    counts->unmaps + counts->refusals;
	row->retries = counts->retries;
	row->ooms = counts->ooms;
	row->parted_at = result.parted_at;
	row->is_whole = is_last_allocation(attempt->trace, result.parted_at);
	row->new_failure = result.parted_at != UINT64_MAX &&
			   !(attempt->trace->events[result.parted_at].flags & GA_CALL_FAILED);
	row->troubles = result.troubles;
	row->trouble_count = result.trouble_count;
	if (attempt->grid->with_ranges)
		find_range(attempt, row);
}

/* Read a text as the recorded release does, or else as the first later one that takes it. */
static enum gf_status parse(const struct ga_alloc_trace *trace, const char *text,
    struct ga_allocator_settings *settings_out, int *needs_out, struct gf_error *error)
{
	static const int releases[] = {
#define O(name, since, until, reader) since,
	    GA_ALLOCATOR_OPTIONS(O)
#undef O
	};
	int recorded = trace->settings.torch, found = 0;
	*needs_out = 0;
	if (ga_allocator_settings_parse(recorded, text, settings_out, error) == GF_OK)
		return GF_OK;
	for (size_t i = 0; i < sizeof(releases) / sizeof(*releases); i++) {
		struct ga_allocator_settings tried;
		if (releases[i] <= recorded || (found && releases[i] >= found) ||
		    ga_allocator_settings_parse(releases[i], text, &tried, NULL) != GF_OK)
			continue;
		found = releases[i];
		*settings_out = tried;
	}
	*needs_out = found;
	return found ? GF_OK : GF_USAGE; /* the error is that of the recorded release */
}

/* Replay under the settings of a text, and a memory fraction that a call sets, if it is above 0. */
static enum gf_status try_text(const struct ga_alloc_trace *trace,
    const struct ga_grid_options *options, const char *text, double fraction,
    struct ga_grid_row *row_out, struct gf_error *error)
{
	struct ga_allocator_settings settings;
	struct ga_grid_row row = {.fraction = fraction};
	enum gf_status status = parse(trace, text, &settings, &row.needs_torch, error);
	if (status)
		return status;
	if (settings.driver_pool)
		return gf_fail(error, GF_UNSUPPORTED, UINT64_MAX,
		    "backend:cudaMallocAsync cannot be replayed: the driver decides there");
	snprintf(row.text, sizeof(row.text), "%s", text);
	struct attempt attempt = {.trace = trace,
	    .grid = options,
	    .replay = {.settings = &settings, .fraction = fraction}};
	fill(&attempt, &row);
	*row_out = row;
	return GF_OK;
}

enum gf_status ga_grid_try(const struct ga_alloc_trace *trace,
    const struct ga_grid_options *options, const char *text, struct ga_grid_row *row_out,
    struct gf_error *error)
{
	return try_text(trace, options, text, 0, row_out, error);
}

static void add_row(struct ga_grid *grid, const struct ga_grid_row *row)
{
	grid->rows = ga_xgrow(grid->rows, grid->count, &grid->capacity, sizeof(*grid->rows));
	grid->rows[grid->count++] = *row;
}

static bool sets_fraction(const struct ga_alloc_trace *trace)
{
	for (size_t i = 0; i < trace->event_count; i++)
		if (trace->events[i].kind == GA_CALL_FRACTION)
			return true;
	return false;
}

/* A row of the table.  Releases that cannot set a memory fraction by text need a call for it; a
 * program that makes such a call has the last word. */
static void add_setting(struct ga_grid *grid, const struct ga_alloc_trace *trace,
    const struct ga_grid_options *options, const char *text)
{
	struct ga_grid_row row;
	struct ga_allocator_settings settings;
	size_t skip = strlen(GA_GRID_FRACTION_TEXT);
	bool has_fraction = strncmp(text, GA_GRID_FRACTION_TEXT, skip) == 0;
	bool is_set = has_fraction && sets_fraction(trace);
	bool by_call =
	    has_fraction && !is_set &&
	    ga_allocator_settings_parse(trace->settings.torch, text, &settings, NULL) != GF_OK;
	if (has_fraction && options->no_limit)
		return;
	text += is_set || by_call ? skip : 0;
	if (options->recorded && strcmp(text, options->recorded) == 0)
		return;
	if (!try_text(trace, options, text, by_call ? GA_GRID_FRACTION : 0, &row, NULL))
		add_row(grid, &row);
}

/* A row for what no setting does. */
static void add_attempt(
    struct ga_grid *grid, struct attempt *attempt, bool is_recorded, const char *text)
{
	struct ga_grid_row row = {.is_recorded = is_recorded, .in_program = !is_recorded};
	snprintf(row.text, sizeof(row.text), "%s", text);
	fill(attempt, &row);
	add_row(grid, &row);
}

void ga_grid_replay(const struct ga_alloc_trace *trace, const struct ga_grid_options *options,
    struct ga_grid *grid_out)
{
	static const char *const texts[] = {
#define R(text) text,
	    GA_GRID_SETTINGS(R)
#undef R
	};
	char text[64];
	struct attempt recorded = {.trace = trace, .grid = options};
	struct attempt preallocates = {
	    .trace = trace, .grid = options, .preallocate = options->preallocate};
	struct attempt empties = {.trace = trace, .grid = options, .empties_cache = true};
	*grid_out = (struct ga_grid){0};
	recorded.replay.recorded_driver = !options->budget_bytes && !options->device_bytes;
	add_attempt(grid_out, &recorded, true, "");
	/* What else would have been refused depends on the device too. */
	if (options->no_limit && grid_out->rows->retries + grid_out->rows->ooms)
		return;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		add_setting(grid_out, trace, options, texts[i]);
	snprintf(text, sizeof(text), "preallocate:%" PRIu64, options->preallocate);
	if (options->preallocate)
		add_attempt(grid_out, &preallocates, false, text);
	if (options->border_count)
		add_attempt(grid_out, &empties, false, "empty_cache:steps");
}

void ga_grid_clear(struct ga_grid *grid)
{
	for (size_t i = 0; i < grid->count; i++)
		free(grid->rows[i].troubles);
	free(grid->rows);
	*grid = (struct ga_grid){0};
}

const struct ga_grid_row *ga_grid_best(const struct ga_grid *grid)
{
	const struct ga_grid_row *best = NULL;
	for (size_t i = 0; i < grid->count; i++) {
		const struct ga_grid_row *row = &grid->rows[i];
		if (ga_grid_row_known(row) && (!best || row->peak_reserved < best->peak_reserved))
			best = row;
	}
	return best;
}
