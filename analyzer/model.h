/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One recording as the commands see it: the open trace, its facts, and everything that limits it.
 *
 * Threads: one at a time per model.
 */
#ifndef GA_MODEL_H
#define GA_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/stacks.h"
#include "analyzer/xalloc.h"
#include "formats/reader.h"

#define GA_UNKNOWN UINT64_MAX /* a number that is not known: null in JSON, "unknown" in text */

/* Who hands out blocks of device memory. */
enum ga_backend {
	GA_BACKEND_NATIVE, /* PyTorch's caching allocator */
	GA_BACKEND_ASYNC,  /* the driver's pools, backend:cudaMallocAsync */
	GA_BACKEND_DIRECT, /* each block is an allocation of the driver: no caching, or no PyTorch
			    */
};

struct ga_model {
	struct gf_reader *reader;
	const struct gf_summary *summary;
	struct ga_stacks *stacks;
	char *path; /* as the user gave it */
	enum ga_backend backend;
	bool dryrun;
};

/**
 * Open a trace.
 *
 * @param path       NAME.gst, its journal, or "-"
 * @param model_out  set only on success; close with ga_model_close
 * @return GF_OK also for a damaged trace; else as gf_reader_open
 */
enum gf_status ga_model_open(const char *path, struct ga_model *model_out, struct gf_error *error);
void ga_model_close(struct ga_model *model);

/** A property of the recording, NULL if it is not known. */
static inline const char *ga_model_property(const struct ga_model *model, const char *name)
{
	return gf_reader_property(model->reader, name);
}

/** A property that is a whole number, GA_UNKNOWN if it is none. */
uint64_t ga_model_number(const struct ga_model *model, const char *name);

/** Property `device.N.what`, NULL if it is not known. */
const char *ga_model_device(const struct ga_model *model, unsigned device, const char *what);

/** The same as a whole number, GA_UNKNOWN if it is none. */
uint64_t ga_model_device_number(const struct ga_model *model, unsigned device, const char *what);

/** The settings that PyTorch's allocator had from the start, as a text; "" where no variable that
 * this release reads set any, NULL if that is not known. */
const char *ga_model_allocator_settings(const struct ga_model *model);

/** Value of one of the allocator's settings ("expandable_segments"), copied; free() it; NULL. */
char *ga_model_setting(const struct ga_model *model, const char *name);

/** Events that the recording lacks, all reasons together. */
uint64_t ga_model_lost(const struct ga_model *model);

/** Whether bytes of the trace could not be read, as far as it was read until now. */
bool ga_model_damaged(const struct ga_model *model);

/**
 * Whether a sound trace has no end and its journal, which has the rest, was not found.
 *
 * Property `journal_folded` tells that the journal was read into the trace and then removed.
 */
bool ga_model_journal_missing(const struct ga_model *model);

/** The same in a sentence.  free() it. */
char *ga_model_journal_text(const struct ga_model *model);

/** Whether a part of what was recorded is damaged or not here. */
static inline bool ga_model_incomplete(const struct ga_model *model)
{
	return ga_model_damaged(model) || ga_model_journal_missing(model);
}

/**
 * What is missing in the recording, as a clause: "12 events are missing".
 *
 * The end of a process that was killed is no gap: nothing came behind it.
 *
 * @return free() it; NULL if nothing is known to be missing
 */
char *ga_model_gap(const struct ga_model *model);

/** Whether a class of events was to be recorded: memory, copies, kernels, api (GPUSHIM_RECORD). */
bool ga_model_records(const struct ga_model *model, const char *class_name);

/** Wall-clock time of the first event, ISO 8601 in UTC; "" if not known.  @return out */
const char *ga_model_start(const struct ga_model *model, char out[40]);

/** Length of the recording in ns. */
uint64_t ga_model_duration_ns(const struct ga_model *model);

/** Nanoseconds from the recording's first event to `ticks`. */
static inline uint64_t ga_model_ns(const struct ga_model *model, uint64_t ticks)
{
	return gf_reader_ns(model->reader, ticks);
}

/** Damage of the file in a sentence, nothing if there is none. */
void ga_model_damage_notice(const struct ga_model *model, struct ga_strings *notices);

/** What is missing in the recording, in sentences. */
void ga_model_missing_notices(const struct ga_model *model, struct ga_strings *notices);

/** The same, and what else limits the recording as such; more may come from an analysis. */
void ga_model_notices(const struct ga_model *model, struct ga_strings *notices);

/**
 * The program's arguments; nothing is added if they are not known.
 *
 * The trace holds them as a JSON list of strings; what is no such list ends the arguments.
 */
void ga_model_program(const struct ga_model *model, struct ga_strings *arguments);

/**
 * The same as one line for people, "unknown program" if not known.  free() it.
 *
 * @param ellipsis  stands for the further lines of an argument
 */
char *ga_model_program_line(const struct ga_model *model, const char *ellipsis);

#endif
