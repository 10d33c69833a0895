/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The program's environment as it is when a recording starts.
 *
 * Another thread may change it at any time, and then the list that was there is freed.  So it is copied
 * once, by reads that cannot fault.
 */
#ifndef GS_ENVIRONMENT_H
#define GS_ENVIRONMENT_H

#pragma GCC visibility push(hidden)

/** Copy it; without memory it counts as empty.  Threads: the helper, when a recording starts. */
void gs_environment_take(void);

/** The copy: `NAME=value` each, NULL at the end.  Valid until the next gs_environment_take. */
char *const *gs_environment(void);

/** Value of a variable in the copy, NULL if it is not there. */
const char *gs_environment_get(const char *name);

#pragma GCC visibility pop

#endif
