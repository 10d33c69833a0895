/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One file of two: what a killed recording left in its journal becomes frames of its trace.
 *
 * Users copy the trace and forget the journal.  Dying in the middle loses and doubles nothing: the
 * new frames name their sources like any others, so what both files have is read once, and the
 * journal is removed only after the trace is on the disk and was read again.
 */
#ifndef GF_JOURNAL_FOLD_H
#define GF_JOURNAL_FOLD_H

#include "formats/status.h"

/**
 * Move what the journal of a trace holds into the trace and remove the journal; where a link leads
 * to it, both.
 *
 * Nothing is touched while the process that wrote it lives, or if either file is damaged in any
 * way: then both stay as they are.  Unless the
 * journal says that the process ended by itself no END mark is added: the trace still tells that it
 * was cut.
 * Losses told only by the journal's header become LOST records, and the property `journal_folded`
 * tells that nothing is missing beside the trace.
 *
 * @param path   NAME.gst; it may be missing
 * @param error  may be NULL
 * @return GF_OK; GF_END if there is no journal; GF_USAGE if its process lives or another program is
 *         folding; GF_BAD_FILE if something is damaged; GF_UNSUPPORTED if it has records of another
 *         version; GF_IO, GF_NO_SPACE, GF_NO_MEMORY
 *
 * Threads: any; one fold of a trace at a time, others get GF_USAGE.
 */
enum gf_status gf_journal_fold(const char *path, struct gf_error *error);

#endif
