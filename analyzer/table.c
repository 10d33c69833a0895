/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/render.h"

#define FOLDED_GOOD 36	/* columns of a folded text that reads well */
#define FOLDED_LEAST 16 /* and that it keeps in any case */
#define FOLDED_INDENT 2 /* before what goes on below */
#define STACKED_MOST 8	/* rows that may be printed one below the other */

/* ---- folding ---- */

/* How well a text parts behind a byte: best before parentheses, then between words, then in one. */
static unsigned parting_rank(const char *text, const char *at)
{
	if (*at == ' ' && (at == text || !ga_text_parts(at)))
		return 0;
	if (*at == ' ' || *at == ',')
		return at[0] == ' ' && at[1] == '(' ? 3 : 2;
	return *at == '_' || *at == ':' || *at == '/';
}

/* Bytes of `text` for one line, up to the best place to part if there is one. */
static size_t fold(const char *text, unsigned columns)
{
	size_t at = 0, parting = 0;
	unsigned best = 1;
	if (ga_text_columns(text) <= columns)
		return strlen(text);
	for (unsigned used = 0; text[at]; at++) {
		bool begins = ((unsigned char)text[at] & 0xc0) != 0x80;
		unsigned rank = parting_rank(text, text + at);
		if (begins && used == columns && text[at] != ' ')
			break;
		if (rank >= best) {
			best = rank;
			parting = text[at] == ' ' ? at : at + 1;
		}
		if (begins && used == columns)
			break;
		used += begins;
	}
	return parting ? parting : at;
}

static const char *behind(const char *text, size_t length)
{
	return text + length + strspn(text + length, " ");
}

static unsigned folded_lines(const char *text, unsigned columns)
{
	unsigned lines = 1;
	for (text = behind(text, fold(text, columns)); *text; lines++)
		text = behind(text, fold(text, columns));
	return lines;
}

static unsigned longest_word(const char *text)
{
	unsigned longest = 0;
	while (*text) {
		size_t length = strcspn(text, " ");
		char *word = ga_format("%.*s", (int)length, text);
		unsigned columns = ga_text_columns(word);
		longest = columns > longest ? columns : longest;
		free(word);
		text = behind(text, length);
	}
	return longest;
}

/* ---- widths ---- */

static bool is_left(const struct ga_table *table, unsigned column)
{
	return column == 0 || (table->left & 1u << column);
}

static unsigned total(const unsigned *widths, unsigned shown)
{
	unsigned sum = 0;
	for (unsigned i = 0; i < shown; i++)
		sum += 2 + widths[i];
	return sum;
}

/* Widest cell of each column, its heading as it is or folded. */
static void measure(const struct ga_table *table, bool folded, unsigned *widths)
{
	for (unsigned i = 0; i < table->columns; i++)
		widths[i] = folded ? longest_word(table->cells.items[i])
				   : ga_text_columns(table->cells.items[i]);
	for (size_t i = table->columns; i < table->cells.count; i++) {
		unsigned columns = ga_text_columns(table->cells.items[i]);
		if (columns > widths[i % table->columns])
			widths[i % table->columns] = columns;
	}
}

/* Widths with headings folded, the one that gains most first, while the table is too wide. */
static void fold_headings(
    const struct ga_table *table, unsigned room, unsigned shown, unsigned *widths)
{
	unsigned *folded = ga_xalloc(table->columns, sizeof(*folded));
	measure(table, false, widths);
	measure(table, true, folded);
	while (total(widths, shown) > room) {
		unsigned best = 0;
		for (unsigned i = 1; i < shown; i++)
			if (widths[i] - folded[i] > widths[best] - folded[best])
				best = i;
		if (widths[best] == folded[best])
			break;
		widths[best] = folded[best];
	}
	free(folded);
}

/* Fold texts down to `least` columns, the widest first.  @return whether the table fits now */
static bool fold_texts(
    const struct ga_table *table, unsigned room, unsigned shown, unsigned least, unsigned *widths)
{
	unsigned wide;
	while ((wide = total(widths, shown)) > room) {
		unsigned widest = 0, excess = wide - room;
		for (unsigned i = 1; i < shown; i++)
			if (is_left(table, i) && widths[i] > widths[widest])
				widest = i;
		if (widths[widest] <= least)
			return false;
		unsigned most = widths[widest] - least;
		widths[widest] -= excess < most ? excess : most;
	}
	return true;
}

/* Find widths for the page and how many columns are shown.  @return whether the table fits */
static bool fit(const struct ga_table *table, unsigned room, unsigned *shown_out, unsigned *widths)
{
	unsigned shown = table->columns;
	fold_headings(table, room, shown, widths);
	if (!fold_texts(table, room, shown, FOLDED_GOOD, widths)) {
		while (table->least && shown > table->least && total(widths, shown) > room)
			shown--;
		fold_headings(table, room, shown, widths);
	}
	*shown_out = shown;
	return fold_texts(table, room, shown, FOLDED_LEAST, widths);
}

/* ---- printing ---- */

/* The next line of every cell of a row; `rest` moves on.  Headings stand on the lowest line. */
static void put_line(const struct ga_page *page, const struct ga_table *table,
    const unsigned *widths, unsigned shown, const char **rest, bool first, unsigned *skip)
{
	unsigned blanks = 0;
	const char *begin = skip ? ga_style(page, GA_DIM) : "";
	for (unsigned i = 0; i < shown; i++) {
		bool waits = skip && skip[i] > 0;
		bool left = is_left(table, i);
		unsigned indent = first || skip || !left ? 0 : FOLDED_INDENT;
		size_t length = waits ? 0 : fold(rest[i], widths[i] - indent);
		char *piece = ga_format("%.*s", (int)length, rest[i]);
		unsigned padding = widths[i] - indent - ga_text_columns(piece);
		blanks += 2 + indent + (left ? 0 : padding);
		if (*piece) {
			fprintf(page->out, "%*s%s", (int)blanks, "", begin);
			ga_print_safe(page, piece);
			fputs(*begin ? ga_style(page, GA_PLAIN) : "", page->out);
			blanks = 0;
		}
		blanks += left ? padding : 0;
		free(piece);
		if (waits)
			skip[i]--;
		else
			rest[i] = behind(rest[i], length);
	}
	fputc('\n', page->out);
}

static void put_row(const struct ga_page *page, const struct ga_table *table,
    const unsigned *widths, unsigned shown, size_t row)
{
	const char **rest = ga_xalloc(shown, sizeof(*rest));
	unsigned *skip = row == 0 ? ga_xalloc(shown, sizeof(*skip)) : NULL;
	unsigned lines = 1;
	bool more = true;
	for (unsigned i = 0; i < shown; i++)
		rest[i] = table->cells.items[row * table->columns + i];
	for (unsigned i = 0; skip && i < shown; i++) {
		skip[i] = folded_lines(rest[i], widths[i]);
		lines = skip[i] > lines ? skip[i] : lines;
	}
	for (unsigned i = 0; skip && i < shown; i++)
		skip[i] = lines - skip[i];
	for (bool first = true; more; first = false) {
		put_line(page, table, widths, shown, rest, first, skip);
		more = false;
		for (unsigned i = 0; i < shown; i++)
			more |= *rest[i] != 0;
	}
	free(rest);
	free(skip);
}

/* A row as its name and one line for each figure. */
static void put_stacked(const struct ga_page *page, const struct ga_table *table, size_t row)
{
	unsigned width = 0;
	for (unsigned i = 1; i < table->columns; i++) {
		unsigned columns = ga_text_columns(table->cells.items[i]);
		width = columns > width ? columns : width;
	}
	char *title = ga_format(
	    "%s %s", table->cells.items[0], table->cells.items[row * table->columns]);
	ga_paragraph(page, "  ", title);
	free(title);
	for (unsigned i = 1; i < table->columns; i++) {
		const char *name = table->cells.items[i];
		const char *cell = table->cells.items[row * table->columns + i];
		if (!*cell)
			continue;
		fprintf(page->out, "    %s%s%s%*s  ", ga_style(page, GA_DIM), name,
		    ga_style(page, GA_PLAIN), (int)(width - ga_text_columns(name)), "");
		ga_print_safe(page, cell);
		fputc('\n', page->out);
	}
}

void ga_table_print(const struct ga_page *page, struct ga_table *table)
{
	unsigned *widths = ga_xalloc(table->columns, sizeof(*widths)), shown;
	size_t rows = table->cells.count / table->columns;
	bool fits = fit(table, page->width, &shown, widths);
	bool stacked = !fits && rows <= 1 + STACKED_MOST;
	for (size_t i = 0; i < rows; i++) {
		if (!stacked)
			put_row(page, table, widths, shown, i);
		else if (i > 0)
			put_stacked(page, table, i);
	}
	free(widths);
	ga_strings_clear(&table->cells);
}
