/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/render.h"
#include "analyzer/safe_text.h"

#include <errno.h>
#include <langinfo.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 100
#define WIDTH_LEAST 40
#define WIDTH_MOST 160

static unsigned page_width(bool terminal)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	unsigned width = 0;
	if (columns)
		width = (unsigned)strtoul(columns, NULL, 10);
	if (width == 0 && terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width == 0)
		width = WIDTH_DEFAULT;
	return width < WIDTH_LEAST ? WIDTH_LEAST : width > WIDTH_MOST ? WIDTH_MOST : width;
}

bool ga_page_open(struct ga_page *page, const struct ga_options *options)
{
	const char *color = options->values[GA_OPTION_COLOR];
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	*page = (struct ga_page){.out = stdout, .path = options->values[GA_OPTION_OUTPUT]};
	if (page->path && !(page->out = fopen(page->path, "we"))) {
		ga_say("cannot write %s: %s", page->path, strerror(errno));
		return false;
	}
	page->terminal = !page->path && isatty(STDOUT_FILENO);
	if (color && strcmp(color, "auto") != 0)
		page->color = strcmp(color, "always") == 0;
	else
		page->color =
		    page->terminal && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	page->width = page_width(page->terminal);
	page->unicode = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	return true;
}

static bool reader_left(FILE *out)
{
	struct pollfd end = {.fd = fileno(out), .events = POLLOUT};
	return poll(&end, 1, 0) == 1 && (end.revents & POLLERR);
}

bool ga_page_close(struct ga_page *page)
{
	errno = 0;
	bool good = fflush(page->out) == 0 && !ferror(page->out);
	int why = good ? 0 : errno; /* 0: an earlier write failed */
	bool left = why == EPIPE || reader_left(page->out);
	if (page->path && fclose(page->out) != 0 && good) {
		why = errno;
		good = false;
	}
	/* A reader such as head that has seen enough is no failure of ours. */
	if (!good && !left)
		ga_say("cannot write %s%s%s", page->path ? page->path : "standard output",
		    why ? ": " : "", why ? strerror(why) : "");
	return good || left;
}

const char *ga_style(const struct ga_page *page, enum ga_style style)
{
	static const char *const codes[] = {
	    [GA_PLAIN] = "\033[0m",
	    [GA_BOLD] = "\033[1m",
	    [GA_DIM] = "\033[2m",
	    [GA_GOOD] = "\033[32m",
	    [GA_BAD] = "\033[1;31m",
	    [GA_WARN] = "\033[33m",
	    [GA_ACCENT] = "\033[36m",
	};
	return page->color ? codes[style] : "";
}

void ga_heading(const struct ga_page *page, const char *text)
{
	fputc('\n', page->out);
	ga_styled_paragraph(page, GA_BOLD, "", text);
}

void ga_print_safe(const struct ga_page *page, const char *text)
{
	ga_put_safe(page->out, text);
}

const char *ga_ellipsis(const struct ga_page *page)
{
	return page->unicode ? "\u2026" : "...";
}

unsigned ga_text_columns(const char *text)
{
	unsigned columns = 0;
	for (; *text; text++)
		columns += ((unsigned char)*text & 0xc0) != 0x80;
	return columns;
}

bool ga_text_parts(const char *blank)
{
	static const char *const units[] = {
	    "%", "bytes", "KiB", "MiB", "GiB", "TiB", "ns", "us", "ms", "s"};
	size_t length = strcspn(blank + 1, " ,;:.)");
	if (blank[-1] < '0' || blank[-1] > '9')
		return true;
	if (length == 3 && strspn(blank + 1, "0123456789") == 3)
		return false; /* "175 302" */
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (strlen(units[i]) == length && memcmp(blank + 1, units[i], length) == 0)
			return false;
	return true;
}

/* Bytes up to the first blank at which a line may end. */
static size_t word_bytes(const char *text)
{
	size_t length = strcspn(text, " ");
	while (length && text[length] && !ga_text_parts(text + length))
		length += 1 + strcspn(text + length + 1, " ");
	return length;
}

void ga_styled_paragraph(
    const struct ga_page *page, enum ga_style style, const char *bullet, const char *text)
{
	unsigned indent = ga_text_columns(bullet), at = indent;
	const char *begin = style == GA_PLAIN ? "" : ga_style(page, style);
	fprintf(page->out, "%s%s", begin, bullet);
	for (bool first = true; *text; first = false) {
		size_t length = word_bytes(text);
		char *word = ga_format("%.*s", (int)length, text);
		unsigned columns = ga_text_columns(word);
		if (!first && at + 1 + columns > page->width) {
			fprintf(page->out, "\n%*s", (int)indent, "");
			at = indent;
		} else if (!first) {
			fputc(' ', page->out);
			at++;
		}
		ga_print_safe(page, word);
		at += columns;
		free(word);
		text += length;
		text += strspn(text, " ");
	}
	fprintf(page->out, "%s\n", *begin ? ga_style(page, GA_PLAIN) : "");
}

void ga_paragraph(const struct ga_page *page, const char *bullet, const char *text)
{
	ga_styled_paragraph(page, GA_PLAIN, bullet, text);
}

/* Bytes of `text` that fit into `columns`, up to a space if there is one; all if they fit. */
static size_t line_bytes(const char *text, unsigned columns)
{
	size_t space = 0, at = 0;
	for (unsigned used = 0; text[at]; at++) {
		used += ((unsigned char)text[at] & 0xc0) != 0x80;
		if (at && text[at] == ' ' && ga_text_parts(text + at))
			space = at;
		if (used > columns && space)
			return space;
	}
	return at;
}

#define FACT_INDENT 23 /* columns before a fact's value */

void ga_fact(const struct ga_page *page, const char *name, const char *format, ...)
{
	unsigned width = page->width > FACT_INDENT + 20 ? page->width - FACT_INDENT : 20;
	va_list arguments;
	va_start(arguments, format);
	char *value = ga_format_list(format, arguments);
	va_end(arguments);
	fprintf(page->out, "  %s%-20s%s ", ga_style(page, GA_DIM), name, ga_style(page, GA_PLAIN));
	for (const char *at = value; at;) {
		size_t length = line_bytes(at, width);
		size_t end = length;
		while (end && at[end - 1] == ' ')
			end--;
		char *line = ga_format("%.*s", (int)end, at);
		fprintf(page->out, "%*s", at == value ? 0 : FACT_INDENT, "");
		ga_print_safe(page, line);
		fputc('\n', page->out);
		free(line);
		at = at[length] ? at + length + 1 : NULL;
	}
	free(value);
}

void ga_cell(struct ga_table *table, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	ga_strings_take(&table->cells, ga_format_list(format, arguments));
	va_end(arguments);
}
