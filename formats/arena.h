/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that only grows: arenas, which are freed at once and leave everything where it is, and
 * arrays.
 *
 * Threads: an arena or array belongs to one.
 */
#ifndef GF_ARENA_H
#define GF_ARENA_H

#include <stdbool.h>
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

/**
 * Make room for `more` elements behind the first `count` of an array.
 *
 * @param array  address of the pointer to it, NULL at first; the array may move
 * @param room   elements there is room for
 * @param bytes  of an element
 * @return false when out of memory; the array is as it was
 */
bool gf_array_room(void **array, size_t *room, size_t count, size_t more, size_t bytes);

#endif
