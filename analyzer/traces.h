/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TRACE arguments of a command: files, folders and standard input, each reported on its own.
 * One trace gives its result as the JSON object itself; several give `traces[]`, one result each
 * with its `trace`.
 *
 * Threads: the main thread.
 */
#ifndef GA_TRACES_H
#define GA_TRACES_H

#include "analyzer/json_writer.h"
#include "analyzer/model.h"
#include "analyzer/options.h"
#include "analyzer/render.h"

/** What a command does with one trace. */
struct ga_reporter {
	/* Print or write the members of the JSON object (`json` is NULL for text); an exit code. */
	int (*report)(const struct ga_options *options, struct ga_model *model,
	    const struct ga_page *page, struct ga_json *json);
};

/**
 * Open each trace that the arguments name, report it, and print what went wrong on stderr.
 *
 * @return exit code of the command: the worst of all traces; 3 if any of them is damaged
 */
int ga_traces_report(const struct ga_options *options, const struct ga_reporter *reporter);

/** Tell why a trace could not be read to its end.  @return GA_EXIT_FAILED */
int ga_trace_failed(const struct ga_model *model, const struct gf_error *error);

/** Write notices as `notices[]`, or print them under a heading; clears the list. */
void ga_notices_put(const struct ga_page *page, struct ga_json *json, struct ga_strings *notices);

#endif
