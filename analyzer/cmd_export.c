/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analyzer/export.h"
#include "analyzer/safe_text.h"
#include "analyzer/traces.h"

static int report(const struct ga_options *options, struct ga_model *model,
    const struct ga_page *page, struct ga_json *json)
{
	const char *format = options->values[GA_OPTION_FORMAT];
	struct gf_error error = {0};
	bool csv = strcmp(format, "csv") == 0;
	enum gf_status status = csv ? ga_export_csv(model, page->out, page->terminal, &error)
				    : ga_export_chrome(model, page->out, &error);
	return status == GF_OK ? GA_EXIT_OK : ga_trace_failed(model, &error);
}

int ga_cmd_export(const struct ga_options *options)
{
	if (!ga_option_given(options, GA_OPTION_FORMAT)) {
		ga_say("export needs --format %s", ga_option_rows[GA_OPTION_FORMAT].argument);
		return GA_EXIT_USAGE;
	}
	if (options->argument_count != 1) {
		ga_say("export writes one trace at a time");
		return GA_EXIT_USAGE;
	}
	return ga_traces_report(options, &(struct ga_reporter){report});
}
