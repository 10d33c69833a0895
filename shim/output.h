/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a trace goes: file names from GPUSHIM_OUTPUT, the trace file and its journal.
 *
 * Threads: the helper thread, which has all signals blocked: a write beyond a limit is an error
 * code here and no signal in the program.
 */
#ifndef GS_OUTPUT_H
#define GS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/journal.h"
#include "shim/line.h"

#define GS_PATH_BYTES 4096

struct gs_output {
	char path[GS_PATH_BYTES];         /* absolute */
	char journal_path[GS_PATH_BYTES]; /* beside it, or elsewhere if `journal_elsewhere` */
	bool journal_elsewhere;
	struct gf_held_file file; /* the trace */
	struct gf_held_file journal_folder; /* the program may chroot away from its path */
	uint64_t journal_device, journal_inode; /* others may give its name to another file */
	uint64_t bytes;     /* length of what is good in the trace file */
	uint64_t trace_id[2];
};

/**
 * Create the trace file and the journal of this process.  Nothing is left behind on failure, which
 * is logged.
 *
 * @param out          out; without a file on failure
 * @param journal_out  out
 */
bool gs_output_open(struct gs_output *out, struct gf_journal *journal_out);

/** No files yet, or not ours any more. */
void gs_output_forget(struct gs_output *out);

/** Close what is open, unless the program has made something else of it. */
void gs_output_close(struct gs_output *out);

/**
 * Unlink the journal, if its name still leads to it, and, where it lies elsewhere, the link that leads
 * to it.
 */
void gs_output_remove_journal(const struct gs_output *out);

/**
 * Append to the trace file; all or nothing.
 *
 * @return 0, or the errno of the failure; the file then ends where it did before
 */
int gs_output_append(struct gs_output *out, const void *bytes, size_t count);

/**
 * Path of a new trace by a pattern, made absolute, with `.gst` at its end.
 *
 * @param line     out
 * @param pattern  GPUSHIM_OUTPUT; %p %h %r %n %t %%; an existing folder or a name that ends in `/`
 *                 gets the default file name
 * @return false: a device, pipe or socket has that name, with or without `.gst`
 */
bool gs_output_name(struct gs_line *line, const char *pattern);

/** Whether files on a file system of this type (statfs f_type) are on another machine. */
bool gs_output_is_remote(uint64_t type);

#endif
