/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writers of foreign formats.  Each streams: memory does not grow with the recording.
 *
 * Threads: one at a time.
 */
#ifndef GA_EXPORT_H
#define GA_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "analyzer/hash_map.h"
#include "analyzer/model.h"

/**
 * One row an event in order of time, with a heading row (RFC 4180, but lines end in \n).
 *
 * @param safe  names lose what could steer a terminal; else they are as the program has them
 * @return GF_OK also for damaged traces; GF_NO_MEMORY
 */
enum gf_status ga_export_csv(struct ga_model *model, FILE *out, bool safe, struct gf_error *error);

/** JSON of the Trace Event Format: calls as slices, memory as counters, out-of-memory as instants.
 */
enum gf_status ga_export_chrome(struct ga_model *model, FILE *out, struct gf_error *error);

/** The event's call, or the name of its kind, or that of its record type. */
const char *ga_export_name(const struct ga_model *model, unsigned tag, unsigned kind, unsigned api);

/** Names of device functions; learnt on the way, because drivers reuse handles. */
struct ga_kernel_names {
	struct ga_map by_handle;
};

void ga_kernel_names_init(struct ga_kernel_names *names);
void ga_kernel_names_free(struct ga_kernel_names *names);

/** Learn from an event; only look-ups of functions tell anything. */
void ga_kernel_names_learn(struct ga_kernel_names *names, const struct gf_event_ref *event);

/** Name of a function as the driver has it, NULL if it was never looked up.  Borrowed. */
const char *ga_kernel_name(
    const struct ga_kernel_names *names, const struct ga_model *model, uint64_t function);

#endif
