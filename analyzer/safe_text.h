/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text that others wrote, on its way to a terminal: names in a trace, file names, arguments.
 *
 * Threads: any.
 */
#ifndef GA_SAFE_TEXT_H
#define GA_SAFE_TEXT_H

#include <stdio.h>

/**
 * Write text so that it cannot steer the terminal: control characters (C0, DEL, C1), characters
 * that turn the direction of writing or end a line (Unicode 15, 23.2 and 9.1), and bytes that are
 * no UTF-8 become '?'.
 */
void ga_put_safe(FILE *out, const char *text);

/** Tell something on stderr, as one line "gpushim: ..." of safe text. */
void ga_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
