/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>

#include "analyzer/launch.h"
#include "analyzer/safe_text.h"

int ga_cmd_run(const struct ga_options *options)
{
	struct ga_launch launch = {.program = options->arguments};
	if (options->argument_count == 0) {
		ga_say("run needs a program: gpushim run -- python train.py");
		return GA_EXIT_USAGE;
	}
	int status = ga_launch_record(&launch, options);
	if (status == GA_EXIT_OK) {
		status = ga_launch_run(&launch);
		ga_launch_tell(&launch);
	}
	ga_launch_free(&launch);
	return status;
}
