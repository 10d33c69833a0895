/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers of foreign formats.  Each streams: memory does not grow with the recording.
 *
 * Threads: one at a time.
 */
#ifndef GA_EXPORT_H
#define GA_EXPORT_H

#include <stdio.h>

#include "analyzer/model.h"

/**
 * One row an event in order of time, with a heading row (RFC 4180, but lines end in \n).
 *
 * @return GF_OK also for damaged traces; GF_IO, GF_NO_MEMORY
 */
enum gf_status ga_export_csv(struct ga_model *model, FILE *out, struct gf_error *error);

/** JSON of the Trace Event Format: calls as slices, memory as counters, out-of-memory as instants.
 */
enum gf_status ga_export_chrome(struct ga_model *model, FILE *out, struct gf_error *error);

/** The event's call, or the name of its kind, or that of its record type. */
const char *ga_export_name(const struct ga_model *model, unsigned tag, unsigned kind, unsigned api);

#endif
