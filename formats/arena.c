/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/arena.h"

#include <stdint.h>
#include <stdlib.h>

#define BLOCK_BYTES 65536u
#define ARRAY_FIRST 16u

struct gf_arena_block {
	struct gf_arena_block *before;
	_Alignas(16) unsigned char bytes[];
};

void *gf_arena_take(struct gf_arena *arena, size_t bytes)
{
	if (bytes > SIZE_MAX / 2)
		return NULL;
	bytes = (bytes + 15) & ~(size_t)15;
	if (!arena->last || bytes > arena->size - arena->used) {
		size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		struct gf_arena_block *block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
		block->before = arena->last;
		arena->last = block;
		arena->used = 0;
		arena->size = size;
	}
	arena->used += bytes;
	return arena->last->bytes + arena->used - bytes;
}

void gf_arena_free(struct gf_arena *arena)
{
	while (arena->last) {
		struct gf_arena_block *before = arena->last->before;
		free(arena->last);
		arena->last = before;
	}
	arena->used = arena->size = 0;
}

bool gf_array_room(void **array, size_t *room, size_t count, size_t more, size_t bytes)
{
	if (more <= *room - count)
		return true;
	size_t wanted = *room ? 2 * *room : ARRAY_FIRST;
	if (wanted < count + more)
		wanted = count + more;
	void *grown = realloc(*array, wanted * bytes);
	if (!grown)
		return false;
	*array = grown;
	*room = wanted;
	return true;
}
