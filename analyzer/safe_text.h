/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that others wrote, on its way to a terminal: names in a trace, file names, arguments.
 *
 * Threads: any.
 */
#ifndef GA_SAFE_TEXT_H
#define GA_SAFE_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/**
 * The UTF-8 character at the beginning of a text.
 *
 * @return its bytes; 0 when it is none: cut, longer than needed, a surrogate or beyond Unicode
 */
unsigned ga_character(const char *text, uint32_t *code_out);

/**
 * Whether a character may steer a terminal: control characters (C0, DEL, C1), characters that turn
 * the direction of writing or end a line (Unicode 15, 23.2 and 9.1).
 */
bool ga_steers(uint32_t code);

/** Write text with '?' for characters that steer and bytes that are no UTF-8. */
void ga_put_safe(FILE *out, const char *text);

/** The same as a text.  free() it. */
char *ga_safe_text(const char *text);

/** Tell something on stderr, as one line "gpushim: ..." of safe text. */
void ga_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
