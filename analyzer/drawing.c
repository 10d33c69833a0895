/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "analyzer/render.h"
#include "analyzer/sizes.h"

#define ROWS 6
#define LABEL 12 /* columns of the labels at the left */

/* How much of a row is filled by a column, in eighths. */
static unsigned eighths(uint64_t bytes, uint64_t top, unsigned row)
{
	double filled = (double)bytes / (double)top * ROWS - row;
	return filled <= 0 ? 0 : filled >= 1 ? 8 : (unsigned)(filled * 8 + 0.5);
}

/* What one character of the drawing shows. */
enum ink { INK_NONE, INK_ALLOCATED, INK_RESERVED, INK_LIMIT };

static enum ink cell_ink(const struct ga_column *column, uint64_t top, unsigned row, bool limit_row)
{
	unsigned reserved = eighths(column->reserved, top, row);
	if (eighths(column->allocated, top, row) || (row == 0 && column->allocated))
		return INK_ALLOCATED; /* in the lowest row a little is not nothing */
	if (reserved >= 4 || (reserved && row == 0))
		return INK_RESERVED;
	return limit_row ? INK_LIMIT : INK_NONE;
}

static const char *cell_text(const struct ga_page *page, enum ink ink, unsigned filled)
{
	static const char *const blocks[] = {"▁", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
	static const char *const ascii[] = {" ", "#", ".", "-"};
	static const char *const unicode[] = {" ", "█", "░", "╌"};
	if (!page->unicode)
		return ascii[ink];
	return ink == INK_ALLOCATED ? blocks[filled] : unicode[ink];
}

static void put_row(const struct ga_page *page, const struct ga_column *columns, unsigned count,
    uint64_t top, unsigned row, bool limit_row)
{
	static const enum ga_style styles[] = {GA_PLAIN, GA_ACCENT, GA_DIM, GA_BAD};
	enum ink before = INK_NONE;
	while (count && !cell_ink(&columns[count - 1], top, row, limit_row))
		count--;
	for (unsigned i = 0; i < count; i++) {
		enum ink ink = cell_ink(&columns[i], top, row, limit_row);
		if (ink != before)
			fprintf(page->out, "%s%s", before ? ga_style(page, GA_PLAIN) : "",
			    ink ? ga_style(page, styles[ink]) : "");
		fputs(cell_text(page, ink, eighths(columns[i].allocated, top, row)), page->out);
		before = ink;
	}
	fprintf(page->out, "%s\n", before ? ga_style(page, GA_PLAIN) : "");
}

static void put_axis(const struct ga_page *page, unsigned columns, uint64_t begin_ns,
    uint64_t end_ns, bool with_limit)
{
	char from[GA_SIZE_TEXT], text[GA_SIZE_TEXT];
	ga_duration_text(begin_ns, from);
	ga_duration_text(end_ns, text);
	fprintf(page->out, "%*s %s", LABEL, "0", page->unicode ? "└" : "+");
	for (unsigned i = 0; i < columns; i++)
		fputs(page->unicode ? "─" : "-", page->out);
	fprintf(page->out, "\n%*s  %s%*s\n", LABEL, "", from, (int)(columns - strlen(from)), text);
	fprintf(page->out, "%*s  %s%s%s allocated  %s%s%s reserved", LABEL, "",
	    ga_style(page, GA_ACCENT), page->unicode ? "█" : "#", ga_style(page, GA_PLAIN),
	    ga_style(page, GA_DIM), page->unicode ? "░" : ".", ga_style(page, GA_PLAIN));
	if (with_limit)
		fprintf(page->out, "  %s%s%s size of the device", ga_style(page, GA_BAD),
		    page->unicode ? "╌" : "-", ga_style(page, GA_PLAIN));
	fputc('\n', page->out);
}

void ga_draw_memory(const struct ga_page *page, const struct ga_timeline *timeline, uint64_t limit,
    uint64_t begin_ns, uint64_t end_ns)
{
	struct ga_column columns[GA_TIMELINE_SLICES];
	unsigned count = page->width - LABEL - 3;
	if (count > GA_TIMELINE_SLICES)
		count = GA_TIMELINE_SLICES;
	ga_timeline_columns(timeline, columns, count);
	uint64_t top = 0;
	for (unsigned i = 0; i < count; i++) {
		top = columns[i].allocated > top ? columns[i].allocated : top;
		top = columns[i].reserved > top ? columns[i].reserved : top;
	}
	if (top == 0)
		return;
	/* The device's size is drawn only where it does not squeeze the rest flat. */
	bool show_limit = limit >= top && limit <= top + top / 2;
	if (show_limit)
		top = limit;
	for (unsigned row = ROWS; row-- > 0;) {
		char label[GA_SIZE_TEXT] = "";
		if (row == ROWS - 1 || row == ROWS / 2 - 1)
			ga_size_text(row == ROWS - 1 ? top : top / 2, label);
		fprintf(page->out, "%*s %s", LABEL, label, page->unicode ? "│" : "|");
		put_row(page, columns, count, top, row, show_limit && row == ROWS - 1);
	}
	put_axis(page, count, begin_ns, end_ns, show_limit);
}
