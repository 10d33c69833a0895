/* SPDX-License-Identifier: Apache-2.0 */
/* Every driver call as a line "function result" in a file of the user's choice.  Any thread. */
#ifndef GD_CALL_LOG_H
#define GD_CALL_LOG_H

#include <stdbool.h>

/**
 * Open the log for appending.
 *
 * @param path  file, `%p` stands for the process id; NULL or empty turns the log off
 * @return whether calls are to be logged
 */
bool gd_call_log_open(const char *path);

/** Append one line with one write, so that lines of several processes do not mix. */
void gd_call_log_write(const char *name, int result);

#endif
