/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines put in order of time within a window: a call is recorded at its end under the time of its
 * start, so that what it called comes before it in the trace.
 *
 * Threads: one at a time.
 */
#ifndef GA_LINE_SORTER_H
#define GA_LINE_SORTER_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define GA_SORTER_LINES 65536 /* lines held back */

struct ga_sorter_line;

/** Zero-initialise but for `out`. */
struct ga_sorter {
	FILE *out;
	struct ga_sorter_line *heap;
	size_t count;
	uint64_t added;
};

/** Take a line over; free()s it once it is written. */
void ga_sorter_add(struct ga_sorter *sorter, uint64_t ns, char *line);

/** Write what is held back and free the memory. */
void ga_sorter_end(struct ga_sorter *sorter);

#endif
