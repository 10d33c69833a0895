/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "analyzer/render.h"

static bool is_list(const char *argument)
{
	return argument && strspn(argument, "abcdefghijklmnopqrstuvwxyz|-") == strlen(argument);
}

/* The words of "a|b|c" with blanks between them. */
static void put_words(FILE *out, const char *words)
{
	for (; *words; words++)
		fputc(*words == '|' ? ' ' : *words, out);
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

static void bash_values(FILE *out)
{
	fputs("\tcase $previous in\n", out);
	for (unsigned i = 0; i < GA_OPTION_COUNT; i++) {
		const struct ga_option_row *row = &ga_option_rows[i];
		if (!is_list(row->argument))
			continue;
		fprintf(out, "\t--%s", row->name);
		if (row->letter)
			fprintf(out, "|-%c", row->letter);
		fputs(") COMPREPLY=($(compgen -W \"", out);
		put_words(out, row->argument);
		fputs("\" -- \"$word\")); return;;\n", out);
	}
	fputs("\tesac\n", out);
}

static void put_bash(FILE *out)
{
	fputs("# bash completion of gpushim\n_gpushim()\n{\n\tlocal "
	      "word=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} "
	      "options\n\tCOMPREPLY=()\n\tif [ \"$COMP_CWORD\" -eq 1 ]; "
	      "then\n\t\tCOMPREPLY=($(compgen -W \"",
	    out);
	put_commands(out);
	fputs("\" -- \"$word\"))\n\t\treturn\n\tfi\n", out);
	bash_values(out);
	fputs("\tcase ${COMP_WORDS[1]} in\n", out);
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++) {
		fprintf(out, "\t%s) options=\"", ga_command_rows[i].name);
		put_options(out, i);
		fputs("\";;\n", out);
	}
	fputs("\tesac\n\tcase ${COMP_WORDS[1]}$word in\n\tcompletion[!-]*|completion) "
	      "COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$word\")); "
	      "return;;\n\thelp[!-]*|help) COMPREPLY=($(compgen -W \"",
	    out);
	put_commands(out);
	fputs(" environment\" -- \"$word\")); return;;\n", out);
	fputs("\tesac\n\tcase $word in\n\t-*) COMPREPLY=($(compgen -W \"$options\" -- "
	      "\"$word\"));;\n\t*) COMPREPLY=($(compgen -f -- \"$word\"));;\n\tesac\n}\ncomplete "
	      "-o filenames -F _gpushim gpushim\n",
	    out);
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

static void zsh_command(FILE *out, unsigned command)
{
	fprintf(out, "\t%s) _arguments", ga_command_rows[command].name);
	for (unsigned i = 0; i < GA_OPTION_COUNT; i++) {
		const struct ga_option_row *row = &ga_option_rows[i];
		if (!(row->commands & 1u << command))
			continue;
		fprintf(out, " \\\n\t\t'--%s%s[", row->name, row->argument ? "=" : "");
		zsh_text(out, row->help);
		fputc(']', out);
		if (is_list(row->argument)) {
			fprintf(out, ":%s:(", row->name);
			put_words(out, row->argument);
			fputc(')', out);
		} else if (row->argument) {
			fprintf(out, ":%s:_files", row->name);
		}
		fputc('\'', out);
	}
	fputs(" \\\n\t\t'*:file:_files';;\n", out);
}

static void put_zsh(FILE *out)
{
	fputs("#compdef gpushim\n# zsh completion of gpushim\n_gpushim()\n{\n\tlocal -a "
	      "commands\n\tcommands=(\n",
	    out);
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++) {
		fprintf(out, "\t\t'%s:", ga_command_rows[i].name);
		zsh_text(out, ga_command_rows[i].summary);
		fputs("'\n", out);
	}
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe command "
	      "commands\n\t\treturn\n\tfi\n\tlocal command=$words[2]\n\tshift words\n\t(( "
	      "CURRENT-- ))\n\tcase $command in\n",
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

static void fish_option(FILE *out, const struct ga_option_row *row, unsigned command)
{
	fprintf(out, "complete -c gpushim -n '__fish_seen_subcommand_from %s' -l %s",
	    ga_command_rows[command].name, row->name);
	if (row->letter)
		fprintf(out, " -s %c", row->letter);
	if (is_list(row->argument)) {
		fputs(" -x -a '", out);
		put_words(out, row->argument);
		fputc('\'', out);
	} else if (row->argument) {
		fputs(" -r", out);
	}
	fputs(" -d '", out);
	fish_text(out, row->help);
	fputs("'\n", out);
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
				fish_option(out, &ga_option_rows[j], i);
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
	fprintf(stderr, "gpushim: completion needs a shell: %s\n",
	    ga_command_rows[GA_COMMAND_completion].arguments);
	return GA_EXIT_USAGE;
}
