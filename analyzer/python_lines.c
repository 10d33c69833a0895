/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/python_lines.h"

#include <stdbool.h>

#include "formats/stack_layout.h"

static uint32_t line_or_none(int64_t line)
{
	return line > 0 && line <= INT32_MAX ? (uint32_t)line : 0;
}

/* Pairs: bytes of code since the pair before, lines since then (signed). */
static uint32_t line_of_lnotab(
    const unsigned char *table, size_t bytes, uint32_t first_line, int32_t lasti)
{
	int64_t line = first_line, place = 0;
	for (size_t i = 0; i + 1 < bytes; i += 2) {
		place += table[i];
		if (place > lasti)
			break;
		line += (signed char)table[i + 1];
	}
	return line_or_none(line);
}

/* Pairs: bytes of code of this row, its line minus that of the row before; -128: it has no line. */
static uint32_t line_of_rows(
    const unsigned char *table, size_t bytes, uint32_t first_line, int32_t lasti)
{
	const signed char none = -128;
	int64_t line = first_line, end = 0;
	for (size_t i = 0; i + 1 < bytes; i += 2) {
		signed char step = (signed char)table[i + 1];
		end += table[i];
		if (step != none)
			line += step;
		if (lasti < end)
			return step == none ? 0 : line_or_none(line);
	}
	return 0;
}

/* Numbers of 6 bits a byte, lowest first; bit 6 says that another byte follows. */
static uint64_t read_number(const unsigned char *table, size_t bytes, size_t *at)
{
	uint64_t value = 0;
	for (unsigned shift = 0; *at < bytes && shift < 60; shift += 6) {
		unsigned char byte = table[(*at)++];
		value |= (uint64_t)(byte & 0x3f) << shift;
		if (!(byte & 0x40))
			break;
	}
	return value;
}

/* A step between lines; more than the longest file is damage and reads as 0. */
static int64_t read_step(const unsigned char *table, size_t bytes, size_t *at)
{
	uint64_t value = read_number(table, bytes, at);
	int64_t step = value >> 1 <= INT32_MAX ? (int64_t)(value >> 1) : 0;
	return value & 1 ? -step : step;
}

/* Entries: a byte with bit 7, kind and length in units of 2 bytes; then what the kind asks for. */
static uint32_t line_of_places(
    const unsigned char *table, size_t bytes, uint32_t first_line, int32_t lasti)
{
	enum { ONE_LINE = 10, NO_COLUMNS = 13, LONG = 14, NO_PLACE = 15 };
	int64_t line = first_line, end = 0;
	for (size_t at = 0; at < bytes;) {
		unsigned head = table[at++], kind = head >> 3 & 15;
		if (!(head & 0x80))
			return 0;
		end += ((head & 7) + 1) * 2;
		if (kind == LONG || kind == NO_COLUMNS)
			line += read_step(table, bytes, &at);
		else if (kind >= ONE_LINE && kind < NO_COLUMNS)
			line += kind - ONE_LINE;
		if (lasti < end)
			return kind == NO_PLACE ? 0 : line_or_none(line);
		while (at < bytes && !(table[at] & 0x80)) /* columns */
			at++;
	}
	return 0;
}

uint32_t ga_python_line(
    unsigned form, const unsigned char *table, size_t bytes, uint32_t first_line, int32_t lasti)
{
	if (lasti < 0)
		return line_or_none(first_line);
	switch (form) {
	case GF_LINE_LNOTAB:
		return line_of_lnotab(table, bytes, first_line, lasti);
	case GF_LINE_LINES:
		return line_of_rows(table, bytes, first_line, lasti);
	case GF_LINE_PLACES:
		return line_of_places(table, bytes, first_line, lasti);
	default:
		return 0;
	}
}
