/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay every golden allocator recording of a folder and compare with PyTorch's own history, line
 * by line; then predict from each recording c_NAME-d what its twins c_NAME-x, -m, -r reserved.
 *
 * usage: replay_golden FOLDER; exit 1 if a recording that is no t6* differs, or there is none
 */
#include <dirent.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/settings_grid.h"
#include "analyzer/xalloc.h"
#include "tests/oracle/golden_reader.h"

struct history {
	struct ga_history_entry *entries;
	size_t count, capacity;
};

struct totals {
	uint64_t recordings, reproduced, segments, segments_matched, blocks, blocks_matched;
	uint64_t pairs, exact, differ;
	double worst;
};

static void collect(void *self, const struct ga_history_entry *entry)
{
	struct history *history = self;
	history->entries =
	    ga_xgrow(history->entries, history->count, &history->capacity, sizeof(*entry));
	history->entries[history->count++] = *entry;
}

static int by_address(const void *a, const void *b)
{
	uint64_t left = ((const struct ga_history_entry *)a)->address;
	uint64_t right = ((const struct ga_history_entry *)b)->address;
	return left < right ? -1 : left > right;
}

/* Completions that follow one another come from one call and have no order of their own. */
static void sort_completions(struct ga_history_entry *entries, size_t count)
{
	for (size_t i = 0, end; i < count; i = end) {
		for (end = i + 1; end < count && entries[i].action == GA_HISTORY_FREE_COMPLETED &&
				  entries[end].action == GA_HISTORY_FREE_COMPLETED;)
			end++;
		qsort(entries + i, end - i, sizeof(*entries), by_address);
	}
}

static bool same_entry(const struct ga_history_entry *a, const struct ga_history_entry *b)
{
	return a->action == b->action && a->address == b->address && a->size == b->size &&
	       a->stream == b->stream;
}

static void print_entry(const char *whose, const struct history *history, size_t at)
{
	if (at >= history->count) {
		printf("    %s: nothing more\n", whose);
		return;
	}
	const struct ga_history_entry *entry = &history->entries[at];
	printf("    %s: %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", whose,
	    ga_history_word(entry->action), entry->address, entry->size, entry->stream);
}

/* Line by line.  @return the number of the first line that differs, SIZE_MAX if none does */
static size_t compare(struct history *recorded, struct history *replayed)
{
	sort_completions(recorded->entries, recorded->count);
	sort_completions(replayed->entries, replayed->count);
	size_t count = recorded->count > replayed->count ? recorded->count : replayed->count;
	for (size_t i = 0; i < count; i++)
		if (i >= recorded->count || i >= replayed->count ||
		    !same_entry(&recorded->entries[i], &replayed->entries[i]))
			return i;
	return SIZE_MAX;
}

static const char *counters_differ(
    const struct golden *golden, const struct ga_allocator_counts *counts)
{
	return counts->peak_reserved != golden->peak_reserved	  ? "the reserved peak"
	       : counts->peak_allocated != golden->peak_allocated ? "the allocated peak"
	       : counts->retries != golden->retries		  ? "the number of retries"
	       : counts->ooms != golden->ooms			  ? "the number of refusals"
								  : NULL;
}

static void replay_one(const char *name, struct golden *golden, struct totals *totals)
{
	struct history replayed = {0};
	struct history recorded = {golden->history, golden->history_count, 0};
	struct ga_replay_options options = {
	    .recorded_driver = true, .sink = collect, .sink_self = &replayed};
	struct ga_replay_result result;
	struct ga_fidelity fidelity;
	ga_replay_whole(&golden->trace, &options, &result);
	ga_replay_verify(&golden->trace, golden->segments, golden->segment_count, &fidelity);
	size_t at = compare(&recorded, &replayed);
	const char *counter = counters_differ(golden, &result.counts);
	totals->recordings++;
	totals->segments += fidelity.segments;
	totals->segments_matched += fidelity.segments_matched;
	totals->blocks += fidelity.blocks;
	totals->blocks_matched += fidelity.blocks_matched;
	if (at == SIZE_MAX && !counter) {
		totals->reproduced++;
		printf("%-40s equal: %zu lines\n", name, recorded.count);
	} else {
		totals->differ += strncmp(name, "t6", 2) != 0;
		printf("%-40s DIFFERS: %" PRIu64 " of %" PRIu64 " segment events, %" PRIu64
		       " of %" PRIu64 " blocks%s%s\n",
		    name, fidelity.segments_matched, fidelity.segments, fidelity.blocks_matched,
		    fidelity.blocks, counter ? "; not PyTorch's is " : "", counter ? counter : "");
		if (at != SIZE_MAX) {
			printf("    line %zu of %zu\n", at + 1, recorded.count);
			print_entry("recorded", &recorded, at);
			print_entry("replayed", &replayed, at);
		}
	}
	free(replayed.entries);
}

/* As `gpushim fragmentation` predicts.  It is a range where what the recording cannot tell decides:
 * the order of addresses (up to 2.11) and the moments at which waiting blocks become free. */
static void predict_pair(
    const char *name, const struct golden *base, const struct golden *target, struct totals *totals)
{
	struct ga_grid_options options = {
	    .budget_bytes = target->trace.budget_bytes, .with_ranges = true};
	struct ga_grid_row row;
	struct gf_error error;
	totals->pairs++;
	if (ga_grid_try(&base->trace, &options, target->text, &row, &error)) {
		printf("%-40s NOT PREDICTED: %s\n", name, error.text);
		totals->differ++;
		return;
	}
	double truth = (double)target->peak_reserved, nominal = (double)row.peak_reserved;
	double outside = fmax(fmax((double)row.low - truth, truth - (double)row.high), 0);
	double error_percent = 100 * outside / truth;
	totals->exact += row.peak_reserved == target->peak_reserved;
	totals->worst = fmax(totals->worst, error_percent);
	printf("%-40s really %.1f MiB, predicted %.1f (%+.2f %%), range %.1f to %.1f: off by %.2f "
	       "%%\n",
	    name, truth / 0x1p20, nominal / 0x1p20, 100 * (nominal - truth) / truth,
	    (double)row.low / 0x1p20, (double)row.high / 0x1p20, error_percent);
	free(row.troubles);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool list_folder(const char *folder, struct ga_strings *names)
{
	DIR *directory = opendir(folder);
	if (!directory)
		return false;
	for (struct dirent *entry; (entry = readdir(directory));)
		if (strstr(entry->d_name, ".txt"))
			ga_strings_add(names, "%s", entry->d_name);
	closedir(directory);
	qsort(names->items, names->count, sizeof(char *), by_name);
	return true;
}

/* The recording under default settings that a twin c_NAME-x_VERSION belongs to. */
static struct golden *base_of(const char *name, struct golden *all, const struct ga_strings *names)
{
	const char *dash = strrchr(name, '-');
	if (strncmp(name, "c_", 2) != 0 || !dash || !dash[1] || dash[1] == 'd')
		return NULL;
	char *base = ga_format("%.*s-d%s", (int)(dash - name), name, dash + 2);
	struct golden *found = NULL;
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], base) == 0)
			found = &all[i];
	free(base);
	return found;
}

int main(int argc, char **argv)
{
	struct ga_strings names = {0};
	struct totals totals = {0};
	if (argc != 2 || !list_folder(argv[1], &names)) {
		fprintf(stderr, "usage: replay_golden FOLDER\n");
		return 2;
	}
	struct golden *all = ga_xalloc(names.count, sizeof(*all));
	for (size_t i = 0; i < names.count; i++) {
		struct gf_error error;
		char *path = ga_format("%s/%s", argv[1], names.items[i]);
		if (golden_read(path, &all[i], &error)) {
			printf("%-40s UNREADABLE: %s\n", names.items[i], error.text);
			totals.recordings++;
			totals.differ++;
		} else {
			replay_one(names.items[i], &all[i], &totals);
		}
		free(path);
	}
	for (size_t i = 0; i < names.count; i++) {
		const struct golden *base = base_of(names.items[i], all, &names);
		if (base && base->trace.event_count)
			predict_pair(names.items[i], base, &all[i], &totals);
	}
	printf("%" PRIu64 " of %" PRIu64 " pairs predicted to the byte; the error of the others is"
	       " how far the truth lies outside the predicted range\n",
	    totals.exact, totals.pairs);
	printf("%" PRIu64 " of %" PRIu64 " recordings, %" PRIu64 " of %" PRIu64
	       " segment events, %" PRIu64 " of %" PRIu64
	       " blocks reproduced; worst peak error of %" PRIu64 " pairs %.2f %%\n",
	    totals.reproduced, totals.recordings, totals.segments_matched, totals.segments,
	    totals.blocks_matched, totals.blocks, totals.pairs, totals.worst);
	for (size_t i = 0; i < names.count; i++)
		golden_free(&all[i]);
	free(all);
	ga_strings_clear(&names);
	return totals.differ || !totals.recordings;
}
