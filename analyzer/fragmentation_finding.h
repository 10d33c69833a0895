/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recording tells about the fragmentation of one device's memory: whether the replay of the
 * recorded settings is exact, and only then where reserved bytes went and what others would have
 * needed.
 *
 * Threads: one at a time per model.
 */
#ifndef GA_FRAGMENTATION_FINDING_H
#define GA_FRAGMENTATION_FINDING_H

#include "analyzer/blocks.h"
#include "analyzer/fragmentation.h"
#include "analyzer/recorded_allocator.h"

struct ga_finding {
	const struct ga_memory *memory;
	const struct ga_account *account;
	uint64_t peak;		   /* highest reserved bytes, GA_UNKNOWN if they are hidden */
	bool is_replayed;	   /* `result` holds something */
	bool is_exact;		   /* the replay matched to the end: all of `result` holds */
	char *why;		   /* why it is not exact; NULL if it is */
	uint64_t events_recorded;  /* segment events, GA_UNKNOWN without caching allocator */
	uint64_t unknown_requests; /* blocks without the requested size */
	bool no_limit;		   /* the device's size is not known */
	const char *settings;	   /* recorded text, "" for defaults */
	struct ga_fragmentation result;
};

/* The parts of the reserved bytes, members of ga_reserved_split: P(name, what it is). */
#define GA_FINDING_PARTS(P) \
	P(requested, "asked for by live blocks") \
	P(rounding, "added to them by rounding") \
	P(pending, "freed, another stream still used it") \
	P(releasable, "cached, the driver could have it back") \
	P(stuck, "cached, shares its segment or page with live blocks")

/**
 * Replay and measure one device.
 *
 * @param memory, account  borrowed
 * @param finding          ga_finding_clear it, also after an error
 * @return GF_OK also where nothing could be replayed; GF_NO_MEMORY
 *
 * Cost: as ga_fragmentation_measure, with ranges.
 */
enum gf_status ga_finding_examine(const struct ga_memory *memory, const struct ga_account *account,
    struct ga_finding *finding, struct gf_error *error);

/**
 * Why the calls of a recording cannot be replayed.
 *
 * @return free() it; NULL: nothing is in the way
 */
char *ga_finding_obstacle(const struct ga_model *model, const struct ga_recorded_allocator *input);

/** Free what it owns. */
void ga_finding_clear(struct ga_finding *finding);

/** Bytes that no allocator can do without unless it moves blocks; GA_UNKNOWN. */
uint64_t ga_finding_floor(const struct ga_finding *finding);

/** Bytes of the packing by plan; GA_UNKNOWN. */
uint64_t ga_finding_packing(const struct ga_finding *finding);

/** Whether a part is known.  @param part  member of finding->result.at_peak */
bool ga_finding_part_known(const struct ga_finding *finding, const uint64_t *part);

/** Settings of a row as in PYTORCH_CUDA_ALLOC_CONF. */
const char *ga_finding_row_text(const struct ga_finding *finding, const struct ga_grid_row *row);

/** The setting that grants everything and needs least, by the upper end of its range; or NULL. */
const struct ga_grid_row *ga_finding_best(const struct ga_finding *finding);

/** The first setting that grants what failed or, if nothing did, needs fewer retries; NULL. */
const struct ga_grid_row *ga_finding_cure(const struct ga_finding *finding);

/** Whether it is not known which release of PyTorch ran, so that none may be told to set anything.
 */
bool ga_finding_release_unknown(const struct ga_finding *finding);

/** Whether the recorded release is known and reads GA_FIRST_VARIABLE alone. */
bool ga_finding_one_variable(const struct ga_finding *finding);

/** How far the figures of a row hold: up to the "end" of the recording, a "granted_request" that it
 * saw refused, or a "refused_request" that it saw granted. */
const char *ga_finding_known_until(const struct ga_grid_row *row);

/**
 * What a row needs beside PYTORCH_CUDA_ALLOC_CONF in the recorded release: "PyTorch 2.11", a call,
 * a change of the program.
 *
 * @return free() it; NULL: nothing
 */
char *ga_finding_needs(const struct ga_grid_row *row);

/**
 * First release that has a row's options: "2.11", "unreleased"; NULL: the recorded one has them.
 *
 * @param torch  ga_grid_row.needs_torch
 * @param out    may hold the result
 */
const char *ga_finding_release(int torch, char out[16]);

#endif
