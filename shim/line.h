/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text built in a buffer of fixed size, without malloc and locale: what does not fit is cut.
 *
 * Threads: any; a line belongs to its caller.  Safe in hooks.
 */
#ifndef GS_LINE_H
#define GS_LINE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct gs_line {
	char *bytes;     /* always ends in a zero byte */
	uint32_t length; /* without it */
	uint32_t room;   /* of the buffer, the zero byte included */
	bool cut;        /* something did not fit */
};

/** Begin an empty line in `buffer` of `room` >= 1 bytes. */
void gs_line_start(struct gs_line *line, char *buffer, size_t room);

/** Append `count` bytes as they are. */
void gs_line_bytes(struct gs_line *line, const char *bytes, size_t count);

/** Append a text; NULL is written as "(null)". */
void gs_line_text(struct gs_line *line, const char *text);

/** Append a number in base 10 or 16, with leading zeros up to `digits`. */
void gs_line_number(struct gs_line *line, uint64_t value, unsigned base, unsigned digits);

/**
 * Append by a format.  Known are %s, %d, %u, %x, with l or ll or z before d, u and x, %c and %%;
 * anything else is copied.
 */
void gs_line_format(struct gs_line *line, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void gs_line_format_list(struct gs_line *line, const char *format, va_list list)
    __attribute__((format(printf, 2, 0)));

/** Append `count` bytes as a quoted JSON string; bytes outside ASCII go through as they are. */
void gs_line_json(struct gs_line *line, const char *bytes, size_t count);

#endif
