/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of golden allocator recordings: zstd text, a JSON line, then one record a line: what went
 * into PyTorch's allocator and what its own history says came out.
 *
 * Threads: any, no shared state.
 */
#ifndef GOLDEN_READER_H
#define GOLDEN_READER_H

#include "analyzer/allocator_trace.h"

struct golden {
	struct ga_alloc_trace trace;
	struct ga_history_entry *history; /* PyTorch's, in order */
	size_t history_count, history_capacity;
	struct ga_history_entry *segments; /* the segment events among them */
	size_t segment_count, segment_capacity;
	bool whole; /* the history was on until the end of the program */
	uint64_t peak_reserved, peak_allocated, retries, ooms; /* PyTorch's own counters */
	char program[256];
	char text[256]; /* of the settings */
};

/**
 * Read a recording.
 *
 * @param path    file, .zst or plain
 * @param golden  set only on success; golden_free it
 * @param error   may be NULL
 */
enum gf_status golden_read(const char *path, struct golden *golden, struct gf_error *error);

/** Free what a recording owns. */
void golden_free(struct golden *golden);

#endif
