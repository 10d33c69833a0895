/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the frames of a trace file are.  One pass over headers and directories; behind damage the
 * pass goes on at the next sound frame header.
 *
 * Threads: an index belongs to one.
 */
#ifndef GF_TRACE_INDEX_H
#define GF_TRACE_INDEX_H

#include "formats/journal_read.h"
#include "formats/reader.h"

struct gf_frame_entry {
	struct gf_frame_info info;
	struct gf_frame_source first_source; /* sequence 0: unknown */
};

/* A part of a leftover chunk that a frame holds as well. */
struct gf_covered {
	size_t leftover; /* index in the journal copy */
	uint32_t begin, end;
};

struct gf_trace_index {
	struct gf_frame_entry *frames;
	size_t count, room;
	struct gf_covered *covered; /* by leftover, then begin */
	size_t covered_count, covered_room;
	uint64_t rows[GF_TAG_LIMIT]; /* records of each type in all frames */
	size_t folds;		     /* closing frames, with the losses of the journal's header */
};

/**
 * Index a file.
 *
 * @param fd, bytes  the file and how much of it to look at
 * @param from       where the first frame should be
 * @param journal    to find out what it has twice; NULL if there is none
 * @param damage     counts what is wrong
 * @param index_out  zero-initialised; set on success; free with gf_trace_index_free
 * @return GF_OK, GF_NO_MEMORY
 *
 * Cost: one or two reads a frame; behind damage all bytes up to the next frame.
 */
enum gf_status gf_trace_index_build(int fd, uint64_t bytes, uint64_t from,
    const struct gf_journal_copy *journal, struct gf_damage *damage,
    struct gf_trace_index *index_out, struct gf_error *error);
void gf_trace_index_free(struct gf_trace_index *index);

/**
 * Search for a frame, whatever else is in the file.
 *
 * @return offset of the first sound frame header in [from, bytes), else `bytes`
 */
uint64_t gf_trace_find_frame(int fd, uint64_t from, uint64_t bytes);

/** Count damage of `bytes` bytes at `offset` and keep the first text. */
void gf_damage_note(struct gf_damage *damage, uint64_t offset, uint64_t bytes, const char *text);

#endif
