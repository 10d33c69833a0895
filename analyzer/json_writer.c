/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/json_writer.h"

#include <inttypes.h>
#include <string.h>

#include "analyzer/safe_text.h"

/* Bytes at `text` that stand for themselves: printable ASCII but quotes and backslashes. */
static size_t plain_length(const char *text)
{
	size_t length = 0;
	while (text[length] >= 0x20 && text[length] < 0x7f && text[length] != '"' &&
	       text[length] != '\\')
		length++;
	return length;
}

/* One character that is not plain, as an escape if it steers terminals.  Returns its bytes. */
static unsigned put_special(FILE *out, const char *text)
{
	uint32_t code;
	unsigned length = ga_character(text, &code);
	if (length == 0)
		fputs("\\ufffd", out);
	else if (*text == '"' || *text == '\\')
		fprintf(out, "\\%c", *text);
	else if (*text == '\n')
		fputs("\\n", out);
	else if (*text == '\t')
		fputs("\\t", out);
	else if (length == 1 || ga_steers(code))
		fprintf(out, "\\u%04x", (unsigned)code);
	else
		fwrite(text, 1, length, out);
	return length ? length : 1;
}

static void put_string(FILE *out, const char *text)
{
	fputc('"', out);
	for (;;) {
		size_t plain = plain_length(text);
		fwrite(text, 1, plain, out);
		text += plain;
		if (!*text)
			break;
		text += put_special(out, text);
	}
	fputc('"', out);
}

/* Whether members of this level go on lines of their own. */
static bool breaks(const struct ga_json *json, int depth)
{
	return depth <= (json->one_line ? json->one_line - 1 : 3);
}

/* Comma, line break and name in front of a value. */
static void begin_value(struct ga_json *json, const char *name)
{
	int depth = json->depth;
	if (depth > 0) {
		if (json->filled[depth])
			fputc(',', json->out);
		if (breaks(json, depth))
			fprintf(json->out, "\n%*s", depth * 2, "");
		else if (json->filled[depth])
			fputc(' ', json->out);
		json->filled[depth] = true;
	}
	if (name) {
		put_string(json->out, name);
		fputs(": ", json->out);
	}
}

static void open_level(struct ga_json *json, const char *name, char bracket)
{
	begin_value(json, name);
	fputc(bracket, json->out);
	if (json->depth + 1 < GA_JSON_DEPTH)
		json->depth++;
	json->filled[json->depth] = false;
}

static void close_level(struct ga_json *json, char bracket)
{
	bool filled = json->filled[json->depth];
	if (filled && breaks(json, json->depth))
		fprintf(json->out, "\n%*s", (json->depth - 1) * 2, "");
	fputc(bracket, json->out);
	if (--json->depth == 0)
		fputc('\n', json->out);
}

void ga_json_object(struct ga_json *json, const char *name)
{
	open_level(json, name, '{');
}

void ga_json_object_end(struct ga_json *json)
{
	close_level(json, '}');
}

void ga_json_list(struct ga_json *json, const char *name)
{
	open_level(json, name, '[');
}

void ga_json_list_end(struct ga_json *json)
{
	close_level(json, ']');
}

void ga_json_string(struct ga_json *json, const char *name, const char *text)
{
	begin_value(json, name);
	if (text)
		put_string(json->out, text);
	else
		fputs("null", json->out);
}

void ga_json_number(struct ga_json *json, const char *name, uint64_t value)
{
	begin_value(json, name);
	fprintf(json->out, "%" PRIu64, value);
}

void ga_json_signed(struct ga_json *json, const char *name, int64_t value)
{
	begin_value(json, name);
	fprintf(json->out, "%" PRId64, value);
}

void ga_json_maybe(struct ga_json *json, const char *name, bool known, uint64_t value)
{
	if (known)
		ga_json_number(json, name, value);
	else
		ga_json_null(json, name);
}

void ga_json_bool(struct ga_json *json, const char *name, bool value)
{
	ga_json_raw(json, name, value ? "true" : "false");
}

void ga_json_null(struct ga_json *json, const char *name)
{
	ga_json_raw(json, name, "null");
}

void ga_json_raw(struct ga_json *json, const char *name, const char *text)
{
	begin_value(json, name);
	fputs(text, json->out);
}
