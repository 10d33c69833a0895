/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts made from the tables of options.h: overview, help of a command, manual page.
 *
 * Threads: any; each writes to the caller's stream.
 */
#ifndef GA_USAGE_H
#define GA_USAGE_H

#include <stdio.h>

#include "analyzer/options.h"

/** What `gpushim` and `gpushim help` print: every command with one line. */
void ga_usage_overview(FILE *out);

/** Help of one command: usage line, text, options. */
void ga_usage_command(FILE *out, enum ga_command command);

/** The variables that set up the recorder, with ranges and defaults. */
void ga_usage_environment(FILE *out);

/** The whole manual page gpushim(1) in roff. */
void ga_usage_man(FILE *out);

#endif
