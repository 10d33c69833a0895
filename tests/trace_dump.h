/* SPDX-License-Identifier: Apache-2.0 */
/* A whole trace as text, for tests that compare it with what is expected. */
#ifndef TRACE_DUMP_H
#define TRACE_DUMP_H

#include <stdio.h>

/** Everything that can be read of a trace, damage included, or why it cannot be opened. */
void trace_dump(const char *path, FILE *out);

#endif
