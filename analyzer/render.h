/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people: where it goes, how wide it may be, colour, tables and the drawing of memory over
 * time.
 *
 * Threads: one at a time per page.
 */
#ifndef GA_RENDER_H
#define GA_RENDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analyzer/options.h"
#include "analyzer/timeline.h"

enum ga_style { GA_PLAIN, GA_BOLD, GA_DIM, GA_GOOD, GA_BAD, GA_WARN, GA_ACCENT };

/** Where a command prints. */
struct ga_page {
	FILE *out;
	const char *path; /* of --output; NULL: standard output */
	unsigned width;	  /* columns */
	bool color, unicode;
	bool terminal; /* somebody looks at it */
};

/**
 * Open what --output, --color and the terminal ask for.
 *
 * @return whether it worked; if not, the message is printed
 */
bool ga_page_open(struct ga_page *page, const struct ga_options *options);

/** Flush and close; a failed write is told here.  @return whether everything was written */
bool ga_page_close(struct ga_page *page);

/** Escape sequence that begins a style, "" without colour; GA_PLAIN ends all. */
const char *ga_style(const struct ga_page *page, enum ga_style style);

/** What stands for text that was cut off: one column, or three where that character cannot be
 * shown. */
const char *ga_ellipsis(const struct ga_page *page);

/** Columns that a UTF-8 text takes, counting code points. */
unsigned ga_text_columns(const char *text);

/** Whether a line may end at this blank inside a text: not between a number and its unit. */
bool ga_text_parts(const char *blank);

/** A heading with an empty line before it. */
void ga_heading(const struct ga_page *page, const char *text);

/** Text from the trace or the machine, so that it cannot steer the terminal: ga_put_safe. */
void ga_print_safe(const struct ga_page *page, const char *text);

/** A sentence filled to the page's width, with `bullet` in front and its lines indented alike. */
void ga_paragraph(const struct ga_page *page, const char *bullet, const char *text);

/** The same in a style, e.g. a verdict. */
void ga_styled_paragraph(
    const struct ga_page *page, enum ga_style style, const char *bullet, const char *text);

/** "name  value" with equal columns; a long value goes on below. */
void ga_fact(const struct ga_page *page, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/** A table being made: cells row by row.  Zero-initialise but for `columns`. */
struct ga_table {
	unsigned columns;
	unsigned left;		 /* bit n: column n is aligned left, as the first always is */
	unsigned least;		 /* columns that are kept on a narrow page; 0: all of them */
	struct ga_strings cells; /* the first row is the heading */
};

/** Add a cell. */
void ga_cell(struct ga_table *table, const char *format, ...) __attribute__((format(printf, 2, 3)));

/**
 * Print the table and free its cells.
 *
 * Where the page is too narrow, headings and texts are folded and columns behind `least` left out;
 * a short table that is still too wide is printed row by row, one line for each figure.
 */
void ga_table_print(const struct ga_page *page, struct ga_table *table);

/**
 * Draw memory over time: allocated filled, reserved above it.
 *
 * @param limit        bytes of the device for the dashed line, 0 if not known or far away
 * @param begin_ns, end_ns  of ga_timeline_span(), for the axis
 */
void ga_draw_memory(const struct ga_page *page, const struct ga_timeline *timeline, uint64_t limit,
    uint64_t begin_ns, uint64_t end_ns);

#endif
