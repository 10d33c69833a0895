/* SPDX-License-Identifier: Apache-2.0 */
/* What the launcher asks of the shared state after the run: the --stats file, the closing words. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/dryrun/gd_export.h"
#include "shim/dryrun/launcher_api.h"
#include "shim/dryrun/shared_state.h"

static void write_counts(FILE *out, const struct gd_shared_device *counts)
{
#define GD_COUNT_WRITE(name) fprintf(out, "\"" #name "\":%" PRIu64 ",", counts->name);
	GD_COUNTS(GD_COUNT_WRITE)
#undef GD_COUNT_WRITE
	fprintf(out, "\"peak_bytes\":%" PRIu64, counts->peak_bytes);
}

static uint32_t limited(uint32_t count)
{
	return count < GD_MAX_MISSING ? count : GD_MAX_MISSING;
}

/* Kernel names are cut out of identifiers: nothing in them needs escaping. */
static void write_unmodelled(FILE *out, const struct gd_shared *state)
{
	const char *separator = "";
	for (uint32_t i = 0; state && i < limited(state->unmodelled_count); i++) {
		const struct gd_shared_missing *kernel = &state->unmodelled[i];
		if (!kernel->calls)
			continue;
		fprintf(out, "%s{\"kernel\":\"%s\",\"reads\":%" PRIu64 "}", separator, kernel->name,
		    kernel->calls);
		separator = ",";
	}
	if (state && state->unmodelled_reads)
		fprintf(out, "%s{\"kernel\":null,\"reads\":%" PRIu64 "}", separator,
		    state->unmodelled_reads);
}

static void write_json(FILE *out, const struct gd_shared *state)
{
	struct gd_shared_device sum;
	memset(&sum, 0, sizeof(sum));
	uint32_t count = state ? state->device_count : 0;
	for (uint32_t d = 0; d < count; d++) {
#define GD_COUNT_SUM(name) sum.name += state->devices[d].name;
		GD_COUNTS(GD_COUNT_SUM)
#undef GD_COUNT_SUM
		sum.peak_bytes += state->devices[d].peak_bytes;
	}
	fputc('{', out);
	write_counts(out, &sum);
	fputs(",\"devices\":[", out);
	for (uint32_t d = 0; d < count; d++) {
		fprintf(out, "%s{\"device\":%" PRIu32 ",", d ? "," : "", d);
		write_counts(out, &state->devices[d]);
		fputc('}', out);
	}
	fputs("],\"not_computed\":[", out);
	write_unmodelled(out, state);
	fputs("]}\n", out);
}

GD_EXPORT int gpushim_dryrun_write_stats(const char *shared_path, const char *json_path)
{
	struct gd_shared *state = gd_shared_map(shared_path);
	FILE *out = fopen(json_path, "w");
	int error = out ? 0 : errno;
	if (out) {
		write_json(out, state);
		if (ferror(out))
			error = EIO;
		if (fclose(out) != 0)
			error = errno;
	}
	if (state)
		munmap(state, sizeof(*state));
	return error;
}

static int by_name(const void *a, const void *b)
{
	const struct gd_shared_missing *left = a, *right = b;
	return strcmp(left->name, right->name);
}

static int by_calls(const void *a, const void *b)
{
	const struct gd_shared_missing *left = a, *right = b;
	if (left->calls != right->calls)
		return left->calls < right->calls ? 1 : -1;
	return strcmp(left->name, right->name);
}

static void tell_missing(struct gd_shared *state, int fd)
{
	uint32_t count = limited(state->missing_count);
	if (!count)
		return;
	qsort(state->missing, count, sizeof(state->missing[0]), by_name);
	dprintf(fd, "gpushim dryrun: reached but not provided (answered \"not supported\"):\n");
	for (uint32_t i = 0; i < count; i++)
		dprintf(fd, "gpushim dryrun:   %s (%" PRIu64 " call%s)\n", state->missing[i].name,
		    state->missing[i].calls, state->missing[i].calls == 1 ? "" : "s");
}

#define TOLD_KERNELS 8

static void tell_unmodelled(struct gd_shared *state, int fd)
{
	uint32_t count = limited(state->unmodelled_count);
	uint64_t more = state->unmodelled_reads;
	qsort(state->unmodelled, count, sizeof(state->unmodelled[0]), by_calls);
	for (uint32_t i = TOLD_KERNELS; i < count; i++)
		more += state->unmodelled[i].calls;
	if (!more && (!count || !state->unmodelled[0].calls))
		return;
	dprintf(fd, "gpushim dryrun: read by the program but not computed, so zeros; where it "
		    "decides by them, a GPU may go another way:\n");
	for (uint32_t i = 0; i < count && i < TOLD_KERNELS && state->unmodelled[i].calls; i++)
		dprintf(fd, "gpushim dryrun:   %s (%" PRIu64 " time%s)\n", state->unmodelled[i].name,
		    state->unmodelled[i].calls, state->unmodelled[i].calls == 1 ? "" : "s");
	if (more)
		dprintf(fd, "gpushim dryrun:   others (%" PRIu64 " time%s)\n", more, more == 1 ? "" : "s");
}

GD_EXPORT int gpushim_dryrun_tell(const char *shared_path, int fd)
{
	struct gd_shared *state = gd_shared_map(shared_path);
	if (!state)
		return 0;
	tell_missing(state, fd);
	tell_unmodelled(state, fd);
	munmap(state, sizeof(*state));
	return 0;
}
