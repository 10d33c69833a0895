/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Replay the allocator of device 0 of a recording and print, one `name value` a line: how far the
 * replay matches, the fragmentation figures, and `setting PEAK RETRIES OOMS TEXT` for each setting.
 *
 * usage: replay_recording TRACE
 */
#include <inttypes.h>
#include <stdio.h>

#include "analyzer/fragmentation.h"
#include "analyzer/recorded_allocator.h"

static void print_figures(
    const struct ga_recorded_allocator *input, const struct ga_fragmentation *figures)
{
	const struct {
		const char *name;
		uint64_t value;
	} rows[] = {
	    {"blocks", input->blocks},
	    {"unknown_requests", input->unknown_requests},
	    {"segments", figures->fidelity.segments},
	    {"segments_matched", figures->fidelity.segments_matched},
	    {"addresses", figures->fidelity.blocks},
	    {"addresses_matched", figures->fidelity.blocks_matched},
	    {"peak_reserved", figures->peak_reserved},
	    {"lower_bound", figures->lower_bound},
	    {"packing", figures->packing},
	    {"retries", figures->retries},
	    {"ooms", figures->ooms},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		printf("%s %" PRIu64 "\n", rows[i].name, rows[i].value);
	for (size_t i = 0; i < figures->grid.count; i++)
		printf("setting %" PRIu64 " %" PRIu64 " %" PRIu64 " %s\n",
		    figures->grid.rows[i].peak_reserved, figures->grid.rows[i].retries,
		    figures->grid.rows[i].ooms, figures->grid.rows[i].text);
}

int main(int argc, char **argv)
{
	struct gf_error error = {.text = ""};
	struct ga_model model;
	struct ga_recorded_allocator input;
	struct ga_fragmentation figures;
	struct ga_fragmentation_options options = {.packing_blocks = 0};
	if (argc != 2) {
		fprintf(stderr, "usage: replay_recording TRACE\n");
		return 2;
	}
	if (ga_model_open(argv[1], &model, &error)) {
		fprintf(stderr, "replay_recording: %s\n", error.text);
		return 1;
	}
	if (ga_recorded_allocator_read(&model, 0, &input, &error)) {
		fprintf(stderr, "replay_recording: %s\n", error.text);
		return 1;
	}
	ga_fragmentation_measure(
	    &input.trace, input.segments, input.segment_count, &options, &figures);
	print_figures(&input, &figures);
	ga_fragmentation_clear(&figures);
	ga_recorded_allocator_clear(&input);
	ga_model_close(&model);
	return 0;
}
