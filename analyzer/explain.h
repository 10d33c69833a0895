/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `dryrun --explain`: which stand-in libraries answered whom, how the CUDA release was found, what
 * was made or refused at start, and which settings were in force.
 *
 * The processes of the run append what happened to a file of notes, one line each:
 * "PID kind word word ...", separated by tabs.  shim/dryrun/audit_notes.h lists the kinds.
 *
 * Threads: the main thread.
 */
#ifndef GA_EXPLAIN_H
#define GA_EXPLAIN_H

#include "analyzer/launch.h"

/**
 * Tell on stderr.
 *
 * @param notes   the file of notes; a line that is none is left out
 * @param folder  of the stand-in's libraries, without a slash at its end
 * @param launch  what the program was started with
 */
void ga_explain(const char *notes, const char *folder, const struct ga_launch *launch);

#endif
