/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analyzer/gpus.h"
#include "analyzer/render.h"
#include "analyzer/safe_text.h"
#include "formats/settings_table.h"

/* The words among "a|b|NUMBER", which are in lower case, with blanks between them. */
static bool put_choices(FILE *out, const char *choices)
{
	bool any = false;
	for (size_t length; strchr(choices, '|') || any; choices += length + 1) {
		length = strcspn(choices, "|");
		size_t word = strspn(choices, "abcdefghijklmnopqrstuvwxyz-");
		if (word == length) {
			fprintf(out, "%s%.*s", any ? " " : "", (int)length, choices);
			any = true;
		}
		if (!choices[length])
			break;
	}
	return any;
}

static void put_gpus(FILE *out)
{
	fputs("list", out);
	for (unsigned i = 0; i < ga_gpu_count; i++)
		fprintf(out, " %s", ga_gpu_models[i].name);
}

/* "stacks=none stacks=python ... output=" */
static void put_settings(FILE *out)
{
	static const char *const rows[][2] = {
#define S(id, name, kind, default, values, help) {#id, values},
	    GF_SETTINGS(S)
#undef S
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const char *value = rows[i][1];
		do {
			size_t length = strcspn(value, "|");
			fprintf(out, "%s%s=%.*s", i || value != rows[i][1] ? " " : "", rows[i][0],
			    (int)length, value);
			value += length + (value[length] == '|');
		} while (*value);
	}
}

/* Values of an option that can be told beforehand.  @return whether there are any */
static bool put_values(FILE *out, unsigned option)
{
	const char *argument = ga_option_rows[option].argument;
	if (option == GA_OPTION_GPU)
		put_gpus(out);
	else if (option == GA_OPTION_SET)
		put_settings(out);
	else
		return argument && put_choices(out, argument);
	return true;
}

static bool has_values(unsigned option)
{
	const char *argument = ga_option_rows[option].argument;
	return argument &&
	       (option == GA_OPTION_GPU || option == GA_OPTION_SET || strchr(argument, '|'));
}

static bool takes_file(unsigned option)
{
	const char *argument = ga_option_rows[option].argument;
	return argument && (strcmp(argument, "FILE") == 0 || strcmp(argument, "PATH") == 0);
}

static bool starts_program(unsigned command)
{
	return (GA_ON_STARTERS & 1u << command) != 0;
}

static void put_commands(FILE *out)
{
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++)
		fprintf(out, "%s%s", i ? " " : "", ga_command_rows[i].name);
}

static void put_options(FILE *out, unsigned command)
{
	for (unsigned i = 0; i < GA_OPTION_COUNT; i++)
		if (ga_option_rows[i].commands & 1u << command)
			fprintf(out, " --%s", ga_option_rows[i].name);
}

/* ---- bash ---- */

/* One branch of `case` for each option that takes an argument. */
static void bash_values(FILE *out)
{
	fputs("\tcase $previous in\n", out);
	for (unsigned i = 0; i < GA_OPTION_COUNT; i++) {
		const struct ga_option_row *row = &ga_option_rows[i];
		if (!row->argument || i == GA_OPTION_TRACE) /* named like OUTPUT */
			continue;
		fprintf(out, "\t--%s", row->name);
		if (row->letter)
			fprintf(out, "|-%c", row->letter);
		fputs(") ", out);
		if (has_values(i)) {
			fputs("_gpushim_words \"", out);
			put_values(out, i);
			fputs("\"; ", out);
		} else if (takes_file(i)) {
			fputs("_gpushim_reply -f; ", out);
		}
		fputs("return;;\n", out);
	}
	fputs("\tesac\n", out);
}

/* What follows the options of each command. */
static void bash_commands(FILE *out)
{
	fputs("\tcase ${COMP_WORDS[1]} in\n", out);
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++) {
		fprintf(out, "\t%s) options=\"", ga_command_rows[i].name);
		put_options(out, i);
		fputc('"', out);
		if (i == GA_COMMAND_completion || i == GA_COMMAND_help) {
			fputs(" words=\"", out);
			if (i == GA_COMMAND_help) {
				put_commands(out);
				fputs(" environment", out);
			} else {
				put_choices(out, ga_command_rows[i].arguments);
			}
			fputc('"', out);
		}
		if (starts_program(i))
			fputs("; _gpushim_program && return", out);
		fputs(";;\n", out);
	}
	fputs("\tesac\n", out);
}

static const char bash_helpers[] =
    "# bash completion of gpushim\n"
    "_gpushim_reply() # compgen's options\n{\n"
    "\tmapfile -t COMPREPLY < <(compgen \"$@\" -- \"$begin$word\")\n"
    "\tCOMPREPLY=(\"${COMPREPLY[@]#\"$begin\"}\")\n}\n"
    "_gpushim_words() # WORDS\n{\n"
    "\tcompopt +o filenames\n"
    "\t_gpushim_reply -W \"$1\"\n"
    "\t[[ ${#COMPREPLY[@]} -ne 1 || ${COMPREPLY[0]} != *= ]] || compopt -o nospace\n}\n"
    "# The program behind -- and its arguments\n"
    "_gpushim_program()\n{\n"
    "\tlocal i\n"
    "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
    "\t\t[ \"${COMP_WORDS[i]}\" = -- ] || continue\n"
    "\t\tif declare -F _command_offset >/dev/null; then\n"
    "\t\t\t_command_offset $((i + 1))\n"
    "\t\telif [ $((i + 1)) -eq \"$COMP_CWORD\" ]; then\n"
    "\t\t\t_gpushim_reply -c\n"
    "\t\telse\n"
    "\t\t\t_gpushim_reply -f\n"
    "\t\tfi\n"
    "\t\treturn 0\n"
    "\tdone\n"
    "\treturn 1\n}\n"
    "_gpushim()\n{\n"
    "\tlocal word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]}\n"
    "\tlocal options= words= begin=\n"
    "\tCOMPREPLY=()\n"
    "\t# The shell parts words at =\n"
    "\tif [ \"$COMP_CWORD\" -gt 2 ] && [ \"$word\" = = ]; then\n"
    "\t\tbegin=$previous= word= previous=${COMP_WORDS[COMP_CWORD-2]}\n"
    "\telif [ \"$COMP_CWORD\" -gt 3 ] && [ \"$previous\" = = ]; then\n"
    "\t\tbegin=${COMP_WORDS[COMP_CWORD-2]}= previous=${COMP_WORDS[COMP_CWORD-3]}\n"
    "\tfi\n"
    "\t[[ $begin != --* ]] || previous=${begin%=} begin=\n";

static const char bash_end[] =
    "\tif [[ $word = -?* ]]; then\n"
    "\t\t_gpushim_words \"$options\"\n"
    "\telif [ -n \"$words\" ]; then\n"
    "\t\t_gpushim_words \"$words\"\n"
    "\telse\n"
    "\t\t_gpushim_reply -f -X '!*.gst'\n"
    "\t\tmapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -d -- \"$word\")\n"
    "\t\t[ ${#COMPREPLY[@]} -gt 0 ] || _gpushim_reply -f\n"
    "\tfi\n}\n"
    "complete -o filenames -F _gpushim gpushim\n";

static void put_bash(FILE *out)
{
	fputs(bash_helpers, out);
	fputs("\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\t_gpushim_words \"", out);
	put_commands(out);
	fputs("\"\n\t\treturn\n\tfi\n", out);
	bash_commands(out);
	bash_values(out);
	fputs(bash_end, out);
}

/* ---- zsh: sourced, or loaded by itself from a folder of functions ---- */

/* Text inside single quotes and a description in brackets. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

/* What follows the options. */
static void zsh_rest(FILE *out, unsigned command)
{
	fputs(" \\\n\t\t", out);
	if (command == GA_COMMAND_help) {
		fputs("'1:topic:(", out);
		put_commands(out);
		fputs(" environment)';;\n", out);
	} else if (command == GA_COMMAND_completion) {
		fputs("'1:shell:(", out);
		put_choices(out, ga_command_rows[command].arguments);
		fputs(")';;\n", out);
	} else if (starts_program(command)) {
		fputs("'(-)1:program:_command_names -e' '*::argument:_normal';;\n", out);
	} else {
		fputs("'*:trace:_files -g \"*.gst\"';;\n", out);
	}
}

/* One spelling of an option, -o or --output; a value may follow it at once. */
static void zsh_option(FILE *out, unsigned option, bool is_long)
{
	const struct ga_option_row *row = &ga_option_rows[option];
	fputs(" \\\n\t\t'", out);
	if (row->letter)
		fprintf(out, "(-%c --%s)", row->letter, row->name);
	if (is_long)
		fprintf(out, "--%s%s[", row->name, row->argument ? "=" : "");
	else
		fprintf(out, "-%c%s[", row->letter, row->argument ? "+" : "");
	zsh_text(out, row->help);
	fputc(']', out);
	if (has_values(option)) {
		fprintf(out, ":%s:(", row->name);
		put_values(out, option);
		fputc(')', out);
	} else if (row->argument) {
		fprintf(out, ":%s:%s", row->name, takes_file(option) ? "_files" : " ");
	}
	fputc('\'', out);
}

static void zsh_command(FILE *out, unsigned command)
{
	fprintf(out, "\t%s) _arguments -S", ga_command_rows[command].name);
	for (unsigned i = 0; i < GA_OPTION_COUNT; i++) {
		if (!(ga_option_rows[i].commands & 1u << command))
			continue;
		if (ga_option_rows[i].letter)
			zsh_option(out, i, false);
		zsh_option(out, i, true);
	}
	zsh_rest(out, command);
}

static void put_zsh(FILE *out)
{
	fputs("#compdef gpushim\n# zsh completion of gpushim\n_gpushim()\n{\n\tlocal -a "
	      "names\n\tnames=(\n",
	    out);
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++) {
		fprintf(out, "\t\t'%s:", ga_command_rows[i].name);
		zsh_text(out, ga_command_rows[i].summary);
		fputs("'\n", out);
	}
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command "
	      "names\n\t\treturn\n\tfi\n\tlocal command=$words[2] "
	      "program=${words[(i)--]}\n\tif (( program < CURRENT )); then\n\t\tshift $program "
	      "words\n\t\t(( CURRENT -= program ))\n\t\t_normal\n\t\treturn\n\tfi\n\tshift "
	      "words\n\t(( CURRENT-- ))\n\tcase $command in\n",
	    out);
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++)
		zsh_command(out, i);
	fputs("\tesac\n}\n"
	      "if [ \"$funcstack[1]\" = _gpushim ]; then\n\t_gpushim \"$@\"\n"
	      "else\n\tcompdef _gpushim gpushim\nfi\n",
	    out);
}

/* ---- fish ---- */

static void fish_text(FILE *out, const char *text)
{
	for (; *text; text++)
		fprintf(out, *text == '\'' || *text == '\\' ? "\\%c" : "%c", *text);
}

static void fish_option(FILE *out, unsigned option, unsigned command)
{
	const struct ga_option_row *row = &ga_option_rows[option];
	fprintf(out, "complete -c gpushim -n '__fish_seen_subcommand_from %s' -l %s",
	    ga_command_rows[command].name, row->name);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	if (has_values(option)) {
		fputs(" -x -a '", out);
		put_values(out, option);
		fputc('\'', out);
	} else if (row->argument) {
		fputs(takes_file(option) ? " -r -F" : " -x", out);
	}
	fputs(" -d '", out);
	fish_text(out, row->help);
	fputs("'\n", out);
}

/* What follows the options. */
static void fish_rest(FILE *out, unsigned command)
{
	fprintf(out, "complete -c gpushim -n '__fish_seen_subcommand_from %s' ",
	    ga_command_rows[command].name);
	if (command == GA_COMMAND_help) {
		fputs("-f -a '", out);
		put_commands(out);
		fputs(" environment'\n", out);
	} else if (command == GA_COMMAND_completion) {
		fputs("-f -a '", out);
		put_choices(out, ga_command_rows[command].arguments);
		fputs("'\n", out);
	} else if (starts_program(command)) {
		fputs("-a '(__fish_complete_command)'\n", out);
	} else {
		fputs("-k -f -a '(__fish_complete_suffix .gst)'\n", out);
	}
}

static void put_fish(FILE *out)
{
	fputs("# fish completion of gpushim\n", out);
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++) {
		fprintf(out, "complete -c gpushim -n __fish_use_subcommand -f -a %s -d '",
		    ga_command_rows[i].name);
		fish_text(out, ga_command_rows[i].summary);
		fputs("'\n", out);
		for (unsigned j = 0; j < GA_OPTION_COUNT; j++)
			if (ga_option_rows[j].commands & 1u << i)
				fish_option(out, j, i);
		fish_rest(out, i);
	}
}

int ga_cmd_completion(const struct ga_options *options)
{
	static const struct {
		const char *shell;
		void (*put)(FILE *out);
	} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};
	const char *shell = options->argument_count ? options->arguments[0] : "";
	struct ga_page page;
	for (size_t i = 0; i < sizeof(shells) / sizeof(*shells); i++) {
		if (strcmp(shell, shells[i].shell) != 0)
			continue;
		if (!ga_page_open(&page, options))
			return GA_EXIT_FAILED;
		shells[i].put(page.out);
		return ga_page_close(&page) ? GA_EXIT_OK : GA_EXIT_FAILED;
	}
	ga_say("completion needs a shell: %s", ga_command_rows[GA_COMMAND_completion].arguments);
	return GA_EXIT_USAGE;
}
