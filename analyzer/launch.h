/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starting the program to be recorded: its environment, waiting for it, passing signals and its
 * status on.
 *
 * Threads: the main thread.
 */
#ifndef GA_LAUNCH_H
#define GA_LAUNCH_H

#include <stdbool.h>

#include "analyzer/options.h"

/** A program to be started. */
struct ga_launch {
	char **program;	  /* argv, ends with NULL; borrowed */
	char *trace_list; /* temporary file in which the recorder names its traces; or NULL */
	char *user_list;  /* the one that the caller wants; or NULL */
	struct ga_strings names, values; /* environment to be set, pair by pair */
	int signal; /* that killed it, 0 if none; set by ga_launch_run() */
	int status; /* what ga_launch_run() returned */
};

/** Set a variable of the program's environment; `value` made as by printf. */
void ga_launch_set(struct ga_launch *launch, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/**
 * Put files in front of a list variable such as LD_PRELOAD and keep what the caller has there.
 *
 * @param separator  what stands between the entries
 * @param files      entries, joined by the separator; those already in the list are not repeated
 */
void ga_launch_prepend(
    struct ga_launch *launch, const char *name, char separator, const struct ga_strings *files);

/** Free what the launch owns and remove its temporary file. */
void ga_launch_free(struct ga_launch *launch);

/**
 * A file that belongs to the program, found from where the executable lies, both in the build tree
 * and when installed.
 *
 * @param relative  e.g. "../lib/libgpushim.so"
 * @return its path, NULL if it is not there; free() it
 */
char *ga_launch_find(const char *relative);

/**
 * Make an empty temporary file.
 *
 * @param shared  in /dev/shm if possible, else in TMPDIR or /tmp
 * @return its path, NULL if it failed (told on stderr); free() it
 */
char *ga_launch_temporary(bool shared);

/**
 * Prepare recording: the preload library, the trace's path, --set, the list of traces.
 *
 * @return GA_EXIT_OK, or the exit code after a message
 */
int ga_launch_record(struct ga_launch *launch, const struct ga_options *options);

/**
 * Start the program and wait for it.
 *
 * Signals from the terminal reach the program by themselves; others sent to us are passed on.
 *
 * @return its exit status, 128 + signal if it was killed, 127 or 126 if it could not be started
 */
int ga_launch_run(struct ga_launch *launch);

/**
 * Tell on stderr where the traces went, one line each, and which signal killed the program.  Of a
 * program that could not be started the message before was enough.
 *
 * What killed processes left in journals is put into their traces first, so that each recording is
 * one file; where that cannot be, the journal stays beside the trace.
 */
void ga_launch_tell(const struct ga_launch *launch);

#endif
