/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/options.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/sizes.h"

const struct ga_command_row ga_command_rows[GA_COMMAND_COUNT] = {
#define C(name, arguments, summary, text) {#name, arguments, summary, text, ga_cmd_##name},
    GA_COMMANDS(C)
#undef C
};

const struct ga_option_row ga_option_rows[GA_OPTION_COUNT] = {
#define O(id, letter, name, argument, commands, help) {letter, name, argument, commands, help},
    GA_OPTIONS(O)
#undef O
};

enum ga_command ga_command_find(const char *name)
{
	unsigned i = 0;
	while (i < GA_COMMAND_COUNT && strcmp(ga_command_rows[i].name, name) != 0)
		i++;
	return (enum ga_command)i;
}

/* Edits (insert, drop, replace) that turn one short word into another; long words are far. */
static unsigned distance(const char *from, const char *to)
{
	unsigned row[32];
	size_t columns = strlen(to);
	if (columns >= 32 || strlen(from) >= 32)
		return 99;
	for (unsigned j = 0; j <= columns; j++)
		row[j] = j;
	for (; *from; from++) {
		unsigned corner = row[0]++;
		for (size_t j = 1; j <= columns; j++) {
			unsigned replaced = corner + (*from != to[j - 1]);
			corner = row[j];
			unsigned least = row[j - 1] < row[j] ? row[j - 1] + 1 : row[j] + 1;
			row[j] = replaced < least ? replaced : least;
		}
	}
	return row[columns];
}

const char *ga_command_guess(const char *name)
{
	const char *best = NULL;
	unsigned least = 3;
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++) {
		unsigned edits = distance(name, ga_command_rows[i].name);
		if (edits < least) {
			least = edits;
			best = ga_command_rows[i].name;
		}
	}
	return best;
}

static int find_option(enum ga_command command, char letter, const char *name, size_t length)
{
	for (int i = 0; i < GA_OPTION_COUNT; i++) {
		const struct ga_option_row *row = &ga_option_rows[i];
		if (!(row->commands & 1u << command))
			continue;
		if (name ? strlen(row->name) == length && memcmp(row->name, name, length) == 0
			 : row->letter == letter)
			return i;
	}
	return -1;
}

/* Whether the argument's description is a closed list: lower-case words and bars. */
static bool is_choice(const char *description)
{
	return strchr(description, '|') &&
	       strspn(description, "abcdefghijklmnopqrstuvwxyz|-") == strlen(description);
}

static bool among(const char *choices, const char *value)
{
	size_t length = strlen(value);
	for (const char *at = choices; at; at = strchr(at, '|')) {
		at += *at == '|';
		if (length && strncmp(at, value, length) == 0 && (at[length] == '|' || !at[length]))
			return true;
	}
	return false;
}

/* What is wrong with the argument of an option, by what the table says of it; NULL: nothing. */
static char *complaint(const struct ga_option_row *row, const char *value)
{
	uint64_t bytes;
	if (!row->argument)
		return NULL;
	if (is_choice(row->argument) && !among(row->argument, value))
		return ga_format("--%s is one of %s, not '%s'", row->name, row->argument, value);
	if (strcmp(row->argument, "SIZE") == 0 && !ga_size_parse(value, &bytes))
		return ga_format("--%s needs a size such as 24G, not '%s'", row->name, value);
	size_t length = strlen(value);
	bool number = length && length < 10 && strspn(value, "0123456789") == length;
	if (strcmp(row->argument, "N") == 0 && !number)
		return ga_format("--%s needs a number, not '%s'", row->name, value);
	return NULL;
}

static char *store(struct ga_options *options, int id, const char *value)
{
	char *wrong = complaint(&ga_option_rows[id], value);
	if (wrong)
		return wrong;
	options->values[id] = value;
	if (id == GA_OPTION_SET)
		options->sets[options->set_count++] = value;
	return NULL;
}

/* One argument that begins with a dash; may take the next one as its value. */
static char *parse_option(struct ga_options *options, int argc, char **argv, int *at)
{
	const char *text = argv[*at], *value = NULL;
	const char *command = ga_command_rows[options->command].name;
	int id;
	if (text[1] == '-') {
		const char *equals = strchr(text, '=');
		size_t length = equals ? (size_t)(equals - text - 2) : strlen(text + 2);
		id = find_option(options->command, 0, text + 2, length);
		value = equals ? equals + 1 : NULL;
	} else {
		id = find_option(options->command, text[1], NULL, 0);
		value = text[2] ? text + 2 : NULL;
	}
	if (id < 0)
		return ga_format(
		    "%s has no option '%s'; see gpushim help %s", command, text, command);
	const struct ga_option_row *row = &ga_option_rows[id];
	if (!row->argument)
		return value ? ga_format("--%s takes no value", row->name) : store(options, id, "");
	if (!value && *at + 1 >= argc)
		return ga_format("--%s needs %s", row->name, row->argument);
	return store(options, id, value ? value : argv[++*at]);
}

char *ga_options_parse(
    enum ga_command command, int argc, char **argv, struct ga_options *options_out)
{
	struct ga_options options = {.command = command};
	bool starter = (GA_ON_STARTERS & 1u << command) != 0;
	char *wrong = NULL;
	options.sets = ga_xalloc((size_t)argc + 1, sizeof(*options.sets));
	options.arguments = ga_xalloc((size_t)argc + 1, sizeof(*options.arguments));
	for (int at = 0; at < argc && !wrong; at++) {
		bool dash =
		    argv[at][0] == '-' && argv[at][1] != 0; /* "-" alone is standard input */
		bool end = strcmp(argv[at], "--") == 0;
		if (dash && !end) {
			wrong = parse_option(&options, argc, argv, &at);
			continue;
		}
		if (!end && !starter) {
			options.arguments[options.argument_count++] = argv[at];
			continue;
		}
		for (at += end; at < argc; at++)
			options.arguments[options.argument_count++] = argv[at];
	}
	if (wrong)
		ga_options_free(&options);
	else
		*options_out = options;
	return wrong;
}

uint64_t ga_option_size(
    const struct ga_options *options, enum ga_option id, uint64_t otherwise)
{
	uint64_t size = otherwise; /* parsing has checked the text */
	if (options->values[id])
		ga_size_parse(options->values[id], &size);
	return size;
}

void ga_options_free(struct ga_options *options)
{
	free(options->sets);
	free(options->arguments);
	*options = (struct ga_options){0};
}
