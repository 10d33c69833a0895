/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of what a program did with memory its recording holds, and how that is said: every
 * command opens its answer with the same sentence, and none states a figure as if it were the whole
 * when it is not.
 *
 * Threads: one at a time per model.
 */
#ifndef GA_COVERAGE_H
#define GA_COVERAGE_H

#include "analyzer/blocks.h"
#include "analyzer/json_writer.h"

enum ga_coverage {
	GA_COVERS_ALL,	/* from the start to the end mark */
	GA_COVERS_CUT,	/* no end mark: all until the process was killed, or until now if it runs */
	GA_COVERS_PART, /* something is missing: figures are lower limits */
	GA_COVERS_NONE, /* memory was not to be recorded: nothing is known of it */
};

/** What an analysed recording covers. */
enum ga_coverage ga_coverage_of(const struct ga_memory *memory);

/** Whether figures are those of the whole program, as far as it came. */
static inline bool ga_coverage_whole(const struct ga_memory *memory)
{
	return ga_coverage_of(memory) <= GA_COVERS_CUT;
}

/** What is lacking, as a clause: "12 events are missing".  @return free() it; NULL: nothing */
char *ga_coverage_gap(const struct ga_memory *memory);

/**
 * The same, in one or two sentences: "Incomplete: 12 events are missing. Figures are lower
 * limits."
 *
 * @return "" for GA_COVERS_ALL; free() it
 */
char *ga_coverage_text(const struct ga_memory *memory);

/**
 * The headline of a command: what is lacking, and the answer as far as the recording has one.
 *
 * @param answer  begins with a small letter or a number and has no full stop
 * @return free() it
 */
char *ga_coverage_headline(const struct ga_memory *memory, const char *answer);

/** Member `complete`: whether figures are those of the whole program, as far as it came. */
void ga_coverage_json(const struct ga_memory *memory, struct ga_json *json);

#endif
