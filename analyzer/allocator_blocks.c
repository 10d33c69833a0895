/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_blocks.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/xalloc.h"

static uint64_t key_of(uint64_t size, uint32_t block)
{
	return size >> 9 << 32 | block;
}

/* Whether the block of `key` comes before (size units, tie). */
static inline bool is_before(
    const struct ga_cached_block *blocks, uint64_t key, uint64_t units, uint64_t tie)
{
	return key >> 32 != units ? key >> 32 < units : blocks[(uint32_t)key].tie < tie;
}

/* First of the sorted keys with at least this size; without branches that sizes decide. */
static inline size_t first_of_size(const uint64_t *keys, size_t count, uint64_t units)
{
	uint64_t wanted = units << 32;
	size_t from = 0;
	while (count > 1) {
		size_t half = count / 2;
		from += keys[from + half - 1] < wanted ? half : 0;
		count -= half;
	}
	return from + (count && keys[from] < wanted);
}

/* First place that does not come before (size units, tie); may be past a chunk's last key. */
static struct ga_free_place place_of(const struct ga_free_list *list,
    const struct ga_cached_block *blocks, uint64_t units, uint64_t tie)
{
	struct ga_free_place place = {0, 0};
	if (!list->count)
		return place;
	size_t low = 0, high = list->count - 1; /* the last chunk whose first key comes before */
	while (low < high) {
		size_t middle = (low + high + 1) / 2;
		if (is_before(blocks, list->chunks[middle]->keys[0], units, tie))
			low = middle;
		else
			high = middle - 1;
	}
	const struct ga_free_chunk *chunk = list->chunks[low];
	size_t from = first_of_size(chunk->keys, chunk->count, units);
	size_t count = first_of_size(chunk->keys + from, chunk->count - from, units + 1);
	while (count) { /* among blocks of this size */
		size_t half = count / 2;
		if (blocks[(uint32_t)chunk->keys[from + half]].tie < tie) {
			from += half + 1;
			count -= half + 1;
		} else {
			count = half;
		}
	}
	place.chunk = low;
	place.index = from;
	return place;
}

static struct ga_free_chunk *chunk_new(struct ga_free_list *list)
{
	struct ga_free_chunk *chunk = list->spare;
	if (chunk)
		list->spare = chunk->spare;
	else
		chunk = ga_xalloc(1, sizeof(*chunk));
	chunk->count = 0;
	return chunk;
}

static void chunk_insert(struct ga_free_list *list, size_t at, struct ga_free_chunk *chunk)
{
	list->chunks = ga_xgrow(list->chunks, list->count, &list->capacity, sizeof(chunk));
	memmove(list->chunks + at + 1, list->chunks + at, (list->count - at) * sizeof(chunk));
	list->chunks[at] = chunk;
	list->count++;
}

/* Give the upper half of a full chunk to a new one behind it. */
static void chunk_split(struct ga_free_list *list, size_t at)
{
	struct ga_free_chunk *low = list->chunks[at], *high = chunk_new(list);
	low->count = GA_FREE_KEYS / 2;
	high->count = GA_FREE_KEYS - low->count;
	memcpy(high->keys, low->keys + low->count, high->count * sizeof(high->keys[0]));
	chunk_insert(list, at + 1, high);
}

void ga_free_list_add(
    struct ga_free_list *list, const struct ga_cached_block *blocks, uint32_t block)
{
	uint64_t size = blocks[block].size;
	if (!list->count)
		chunk_insert(list, 0, chunk_new(list));
	struct ga_free_place place = place_of(list, blocks, size >> 9, blocks[block].tie);
	if (list->chunks[place.chunk]->count == GA_FREE_KEYS) {
		chunk_split(list, place.chunk);
		if (place.index > list->chunks[place.chunk]->count) {
			place.index -= list->chunks[place.chunk]->count;
			place.chunk++;
		}
	}
	struct ga_free_chunk *chunk = list->chunks[place.chunk];
	memmove(chunk->keys + place.index + 1, chunk->keys + place.index,
	    (chunk->count - place.index) * sizeof(chunk->keys[0]));
	chunk->keys[place.index] = key_of(size, block);
	chunk->count++;
	list->blocks++;
}

void ga_free_list_remove(
    struct ga_free_list *list, const struct ga_cached_block *blocks, uint32_t block)
{
	struct ga_free_place place =
	    place_of(list, blocks, blocks[block].size >> 9, blocks[block].tie);
	if (place.index == list->chunks[place.chunk]->count) /* the first of the chunk behind */
		place = (struct ga_free_place){place.chunk + 1, 0};
	/* Ties are equal only where a wrong recording gives an address twice. */
	while (ga_free_list_at(list, place) != block)
		place = ga_free_list_next(list, place);
	ga_free_list_remove_at(list, place);
}

void ga_free_list_remove_at(struct ga_free_list *list, struct ga_free_place place)
{
	struct ga_free_chunk *chunk = list->chunks[place.chunk];
	chunk->count--;
	list->blocks--;
	memmove(chunk->keys + place.index, chunk->keys + place.index + 1,
	    (chunk->count - place.index) * sizeof(chunk->keys[0]));
	if (chunk->count)
		return;
	chunk->spare = list->spare;
	list->spare = chunk;
	list->count--;
	memmove(list->chunks + place.chunk, list->chunks + place.chunk + 1,
	    (list->count - place.chunk) * sizeof(chunk));
}

struct ga_free_place ga_free_list_find(const struct ga_free_list *list, uint64_t size)
{
	uint64_t units = (size + 511) >> 9;
	if (units > UINT32_MAX)
		return (struct ga_free_place){list->count, 0};
	struct ga_free_place place = {0, 0};
	if (!list->count)
		return place;
	size_t low = 0, high = list->count - 1;
	while (low < high) {
		size_t middle = (low + high + 1) / 2;
		if (list->chunks[middle]->keys[0] >> 32 < units)
			low = middle;
		else
			high = middle - 1;
	}
	const struct ga_free_chunk *chunk = list->chunks[low];
	size_t from = first_of_size(chunk->keys, chunk->count, units);
	place.chunk = low + (from == chunk->count);
	place.index = from == chunk->count ? 0 : from;
	return place;
}

void ga_free_list_clear(struct ga_free_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->chunks[i]);
	for (struct ga_free_chunk *chunk = list->spare, *next; chunk; chunk = next) {
		next = chunk->spare;
		free(chunk);
	}
	free(list->chunks);
	*list = (struct ga_free_list){0};
}
