/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/frame_text.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/render.h"
#include "analyzer/xalloc.h"

#define NAME_LEAST 8 /* columns of a name that are shown in any case */

static bool begins(const char *text, const char *prefix)
{
	return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Bytes of an operator behind the word, whose '<', '>' and '(' are no brackets; 0 for others. */
static size_t operator_bytes(const char *at)
{
	static const char *const operators[] = {
	    "()", "->*", "->", "<=>", "<<=", ">>=", "<<", ">>", "<=", ">=", "<", ">"};
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (begins(at, operators[i]))
			return strlen(operators[i]);
	return 0;
}

/* Bytes up to the end of the template arguments that begin here, the whole text if they do not. */
static size_t argument_bytes(const char *at)
{
	size_t bytes = 0;
	unsigned depth = 0;
	do {
		if (at[bytes] == '<')
			depth++;
		else if (at[bytes] == '>' && (!bytes || at[bytes - 1] != '-'))
			depth--;
		bytes++;
	} while (at[bytes] && depth);
	return bytes;
}

/* A C++ function without its parameters and with its template arguments as "<...>".  free() it. */
static char *short_name(const char *function)
{
	static const char unnamed[] = "(anonymous namespace)", call[] = "operator";
	/* Two bytes may become five, one at the end too. */
	char *name = ga_xalloc(3 * strlen(function) + 6, 1), *end = name;
	for (const char *at = function; *at;) {
		size_t bytes = 1;
		if (begins(at, unnamed)) {
			bytes = sizeof(unnamed) - 1;
		} else if (begins(at, call)) {
			bytes = sizeof(call) - 1;
			bytes += operator_bytes(at + bytes);
		} else if (*at == '<') {
			end = stpcpy(end, "<...>");
			at += argument_bytes(at);
			continue;
		} else if (*at == '(') {
			break;
		}
		memcpy(end, at, bytes);
		end += bytes;
		at += bytes;
	}
	while (end > name && end[-1] == ' ')
		end--;
	*end = 0;
	return name;
}

/* "name (file:12, forward)"; `file` is told as it is given, NULL if there is none. */
static char *frame_text(const struct ga_frame *frame, const char *name, const char *file)
{
	const char *mark = frame->forward ? ", forward" : "";
	if (!file)
		return ga_format("%s%s", name, mark);
	if (!frame->line)
		return ga_format("%s (%s%s)", name, file, mark);
	return ga_format("%s (%s:%u%s)", name, file, frame->line, mark);
}

static char *frame_name(const struct ga_frame *frame)
{
	const char *function = frame->function ? frame->function : "?";
	return frame->python ? ga_xstrdup(function) : short_name(function);
}

/* The last part of a path; of those that every package has the folder too. */
static const char *short_file(const struct ga_frame *frame)
{
	const char *file = frame->file ? frame->file : frame->module;
	const char *slash = file ? strrchr(file, '/') : NULL;
	if (!slash)
		return file;
	if (strcmp(slash, "/__init__.py") == 0 || strcmp(slash, "/__main__.py") == 0)
		while (slash > file && slash[-1] != '/')
			slash--;
	return *slash == '/' ? slash + 1 : slash;
}

char *ga_frame_text(const struct ga_frame *frame)
{
	char *name = frame_name(frame);
	char *text = frame_text(frame, name, short_file(frame));
	free(name);
	return text;
}

/* Bytes of the first `columns` columns. */
static size_t column_bytes(const char *text, unsigned columns)
{
	size_t bytes = 0;
	while (text[bytes] && (columns || ((unsigned char)text[bytes] & 0xc0) == 0x80))
		columns -= ((unsigned char)text[bytes++] & 0xc0) != 0x80;
	return bytes;
}

char *ga_frame_line(const struct ga_frame *frame, unsigned columns, const char *ellipsis)
{
	const char *file = frame->file ? frame->file : short_file(frame);
	char *name = frame_name(frame), *text = frame_text(frame, name, file);
	unsigned wide = ga_text_columns(text), most = ga_text_columns(name);
	unsigned over = wide > columns ? wide - columns + ga_text_columns(ellipsis) : 0;
	unsigned kept = over + NAME_LEAST < most ? most - over : NAME_LEAST;
	if (!frame->python && over && kept < most) {
		char *cut = ga_format("%.*s%s", (int)column_bytes(name, kept), name, ellipsis);
		free(text);
		text = frame_text(frame, cut, file);
		free(cut);
	}
	free(name);
	return text;
}
