/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that only grows and is freed at once; pointers into it stay valid.
 *
 * Threads: an arena belongs to one.
 */
#ifndef GF_ARENA_H
#define GF_ARENA_H

#include <stddef.h>

struct gf_arena_block;

/** Zero-initialise. */
struct gf_arena {
	struct gf_arena_block *last;
	size_t used, size; /* of the last block */
};

/**
 * Take memory, 16-byte aligned, not zeroed.
 *
 * @return NULL when out of memory; the arena stays usable
 */
void *gf_arena_take(struct gf_arena *arena, size_t bytes);

/** Free everything; the arena is empty and may be used again. */
void gf_arena_free(struct gf_arena *arena);

#endif
