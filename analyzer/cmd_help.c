/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analyzer/render.h"
#include "analyzer/safe_text.h"
#include "analyzer/usage.h"

int ga_cmd_help(const struct ga_options *options)
{
	const char *topic = options->argument_count ? options->arguments[0] : NULL;
	enum ga_command command = topic ? ga_command_find(topic) : GA_COMMAND_COUNT;
	bool environment = topic && strcmp(topic, "environment") == 0;
	struct ga_page page;
	if (topic && command == GA_COMMAND_COUNT && !environment) {
		ga_say("no help on '%s'; gpushim help lists the commands", topic);
		return GA_EXIT_USAGE;
	}
	if (!ga_page_open(&page, options))
		return GA_EXIT_FAILED;
	if (ga_option_given(options, GA_OPTION_MAN))
		ga_usage_man(page.out);
	else if (environment)
		ga_usage_environment(page.out);
	else if (topic)
		ga_usage_command(page.out, command);
	else
		ga_usage_overview(page.out);
	return ga_page_close(&page) ? GA_EXIT_OK : GA_EXIT_FAILED;
}
