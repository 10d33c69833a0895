/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/usage.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/version.h"
#include "formats/settings_table.h"

#define TEXT_WIDTH 96

/* What every text says of exit codes; one row each. */
static const struct {
	int code;
	const char *meaning;
} exits[] = {
    {GA_EXIT_OK, "fine"},
    {GA_EXIT_FAILED, "failed; the message says what, where and what to do"},
    {GA_EXIT_USAGE, "wrong command line"},
    {GA_EXIT_DAMAGED, "the trace is damaged but was reported as far as it goes"},
    {GA_EXIT_CROSSED, "a threshold that was asked for is crossed"},
    {GA_EXIT_INCONCLUSIVE, "not comparable, or too little data"},
};
#define EXIT_COUNT (sizeof(exits) / sizeof(*exits))

static size_t word_length(const char *text)
{
	return strcspn(text, " \n");
}

/* Fill `text` into lines that begin at column `indent`; the cursor stands at column `at`. */
static void fill(FILE *out, const char *text, size_t indent, size_t at)
{
	bool first = true;
	while (*text) {
		if (*text == '\n') { /* an empty line separates paragraphs */
			fprintf(out, "\n\n%*s", (int)indent, "");
			at = indent;
			first = true;
			text += strspn(text, "\n");
			continue;
		}
		size_t length = word_length(text);
		if (!first && at + 1 + length > TEXT_WIDTH) {
			fprintf(out, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		fprintf(out, "%s%.*s", first ? "" : " ", (int)length, text);
		at += length + !first;
		first = false;
		text += length;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void ga_usage_overview(FILE *out)
{
	fputs("gpushim explains the GPU memory and device work of PyTorch programs.\n\n  "
	      "gpushim run -- python train.py       record on this machine's GPU\n  gpushim "
	      "dryrun -- python train.py    record on a stand-in GPU, without any\n  gpushim "
	      "report TRACE.gst             read what was recorded\n\nCommands:\n",
	    out);
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++)
		fprintf(out, "  %-15s%s\n", ga_command_rows[i].name, ga_command_rows[i].summary);
	fputs("\nTRACE is a file, a folder of traces, or - for standard input.\ngpushim help "
	      "COMMAND tells more; gpushim --version prints the version.\n",
	    out);
}

static void option_heading(const struct ga_option_row *row, char *text, size_t bytes)
{
	char letter[8] = "    ";
	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c, ", row->letter);
	snprintf(text, bytes, "%s--%s%s%s", letter, row->name, row->argument ? " " : "",
	    row->argument ? row->argument : "");
}

static void print_option(FILE *out, const struct ga_option_row *row)
{
	enum { COLUMN = 34 };
	char heading[96];
	option_heading(row, heading, sizeof(heading));
	size_t at = 2 + strlen(heading);
	fprintf(out, "  %s", heading);
	if (at + 2 > COLUMN) {
		fputc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", (int)(COLUMN - at), "");
	fill(out, row->help, COLUMN, COLUMN);
}

void ga_usage_command(FILE *out, enum ga_command command)
{
	const struct ga_command_row *row = &ga_command_rows[command];
	fprintf(out, "usage: gpushim %s [OPTIONS]%s%s\n\n", row->name, row->arguments[0] ? " " : "",
	    row->arguments);
	fill(out, row->text, 0, 0);
	fputs("\nOptions:\n", out);
	for (unsigned i = 0; i < GA_OPTION_COUNT; i++)
		if (ga_option_rows[i].commands & 1u << command)
			print_option(out, &ga_option_rows[i]);
}

/* Help, allowed values and default of a setting in one sentence.  free() it. */
static char *setting_text(const char *value, const char *values, const char *help)
{
	return ga_format("%s%s%s%s%s%s", help, *values ? " (" : "", values, *values ? ")" : "",
	    *value ? "; default " : "", value);
}

static void print_setting(
    FILE *out, const char *name, const char *value, const char *values, const char *help)
{
	enum { COLUMN = 22 };
	char *text = setting_text(value, values, help);
	fprintf(out, "  %-*s", COLUMN - 2, name);
	if (strlen(name) + 3 > COLUMN)
		fprintf(out, "\n%*s", COLUMN, "");
	fill(out, text, COLUMN, COLUMN);
	free(text);
}

void ga_usage_environment(FILE *out)
{
#define S(id, name, kind, value, values, help) print_setting(out, name, value, values, help);
	GF_SETTINGS(S)
#undef S
}

/* ---- manual page ---- */

/* Text in roff: backslashes, leading dots and quotes, and hyphens that must stay minus signs. */
static void roff(FILE *out, const char *text)
{
	bool line_start = true;
	for (; *text; text++) {
		if (line_start && (*text == '.' || *text == '\''))
			fputs("\\&", out);
		if (text[0] == '\n' && text[1] == '\n') {
			fputs("\n.PP\n", out);
			text++;
			line_start = true;
			continue;
		}
		if (*text == '\\')
			fputs("\\e", out);
		else if (*text == '-')
			fputs("\\-", out);
		else
			fputc(*text, out);
		line_start = *text == '\n';
	}
}

static void man_option(FILE *out, const struct ga_option_row *row)
{
	fputs(".TP\n", out);
	if (row->letter) {
		fprintf(out, "\\fB\\-%c\\fR, ", row->letter);
	}
	fputs("\\fB\\-\\-", out);
	roff(out, row->name);
	fputs("\\fR", out);
	if (row->argument) {
		fputs(" \\fI", out);
		roff(out, row->argument);
		fputs("\\fR", out);
	}
	fputc('\n', out);
	roff(out, row->help);
	fputc('\n', out);
}

static void man_command(FILE *out, enum ga_command command)
{
	const struct ga_command_row *row = &ga_command_rows[command];
	fprintf(out, ".SS \"%s [OPTIONS] ", row->name);
	roff(out, row->arguments);
	fputs("\"\n", out);
	roff(out, row->text);
	fputc('\n', out);
	for (unsigned i = 0; i < GA_OPTION_COUNT; i++)
		if (ga_option_rows[i].commands & 1u << command && i != GA_OPTION_HELP)
			man_option(out, &ga_option_rows[i]);
}

static void put_lines(FILE *out, const char *const *lines, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%s\n", lines[i]);
}

static const char *const man_head[] = {
    ".TH GPUSHIM 1 \"\" \"gpushim " GA_VERSION "\" \"User Commands\"",
    ".SH NAME",
    "gpushim \\- record and explain the GPU memory of PyTorch programs",
    ".SH SYNOPSIS",
    ".B gpushim",
    ".I COMMAND",
    "[\\fIOPTIONS\\fR] \\fITRACE\\fR...",
    ".br",
    ".B gpushim run",
    "[\\fIOPTIONS\\fR] \\-\\- \\fIPROGRAM\\fR [\\fIARGUMENT\\fR...]",
    ".br",
    ".B gpushim dryrun",
    "[\\fIOPTIONS\\fR] \\-\\- \\fIPROGRAM\\fR [\\fIARGUMENT\\fR...]",
    ".SH DESCRIPTION",
    "libgpushim.so, preloaded into a PyTorch program, records what the program asks of the",
    "CUDA driver and of PyTorch's caching allocator. gpushim reads the traces.",
    "A \\fITRACE\\fR is a file, a folder of traces (each is reported), or \\- for standard",
    "input. A \\fISIZE\\fR is a number of bytes, or one with K, M, G or T (powers of 1024).",
    ".SH COMMANDS",
};

static const char *const man_examples[] = {
    ".SH EXAMPLES",
    ".nf",
    "gpushim dryrun \\-\\-gpu a100\\-40g \\-o run.gst \\-\\- python train.py",
    "gpushim report run.gst",
    "gpushim memory \\-\\-json run.gst | jq \\(aq.devices[0].peak_reserved_bytes\\(aq",
    "LD_PRELOAD=/usr/lib/libgpushim.so python train.py",
    ".fi",
};

static void man_setting(
    FILE *out, const char *name, const char *value, const char *values, const char *help)
{
	char *text = setting_text(value, values, help);
	fprintf(out, ".TP\n.B %s\n", name);
	roff(out, text);
	fputc('\n', out);
	free(text);
}

void ga_usage_man(FILE *out)
{
	put_lines(out, man_head, sizeof(man_head) / sizeof(*man_head));
	for (unsigned i = 0; i < GA_COMMAND_COUNT; i++)
		man_command(out, (enum ga_command)i);
	fputs(".SH EXIT STATUS\n", out);
	for (size_t i = 0; i < EXIT_COUNT; i++)
		fprintf(out, ".TP\n%d\n%s\n", exits[i].code, exits[i].meaning);
	fputs(".PP\n\\fBrun\\fR and \\fBdryrun\\fR exit with the status of the program, 128 plus "
	      "the signal if it was killed.\n.SH ENVIRONMENT\n",
	    out);
#define S(id, name, kind, value, values, help) man_setting(out, name, value, values, help);
	GF_SETTINGS(S)
#undef S
	put_lines(out, man_examples, sizeof(man_examples) / sizeof(*man_examples));
}
