/* SPDX-License-Identifier: Apache-2.0 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/render.h"
#include "analyzer/safe_text.h"
#include "analyzer/usage.h"
#include "analyzer/version.h"

static int unknown_command(const char *name)
{
	const char *guess = ga_command_guess(name);
	if (name[0] == '-')
		ga_say("'%s' is no command; options come behind one: gpushim COMMAND %s ...", name,
		    name);
	else if (!guess && access(name, F_OK) == 0)
		ga_say("'%s' is no command; did you mean gpushim report %s?", name, name);
	else
		ga_say("there is no command '%s'; %s%s%sgpushim help lists them", name,
		    guess ? "did you mean '" : "", guess ? guess : "", guess ? "'? " : "");
	return GA_EXIT_USAGE;
}

/* The exit code after text on standard output. */
static int printed(void)
{
	struct ga_page page = {.out = stdout};
	return ga_page_close(&page) ? GA_EXIT_OK : GA_EXIT_FAILED;
}

static int run_command(enum ga_command command, int argc, char **argv)
{
	struct ga_options options;
	char *wrong = ga_options_parse(command, argc, argv, &options);
	if (wrong) {
		ga_say("%s", wrong);
		free(wrong);
		return GA_EXIT_USAGE;
	}
	int status;
	if (ga_option_given(&options, GA_OPTION_HELP)) {
		ga_usage_command(stdout, command);
		status = printed();
	} else {
		status = ga_command_rows[command].run(&options);
	}
	ga_options_free(&options);
	return status;
}

int main(int argc, char **argv)
{
	setlocale(LC_CTYPE, "");
	const char *first = argc > 1 ? argv[1] : NULL;
	if (!first) {
		ga_usage_overview(stderr);
		return GA_EXIT_USAGE;
	}
	if (strcmp(first, "-h") == 0 || strcmp(first, "--help") == 0) {
		ga_usage_overview(stdout);
		return printed();
	}
	if (strcmp(first, "--version") == 0 || strcmp(first, "-V") == 0) {
		puts("gpushim " GA_VERSION);
		return printed();
	}
	enum ga_command command = ga_command_find(first);
	return command == GA_COMMAND_COUNT ? unknown_command(first)
					   : run_command(command, argc - 2, argv + 2);
}
