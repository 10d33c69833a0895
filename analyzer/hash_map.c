/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/hash_map.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/xalloc.h"

#define FIRST_BITS 6

static uint64_t key_of(const void *item)
{
	return *(const uint64_t *)item;
}

static char *slot(const struct ga_map *map, size_t index)
{
	return map->slots + index * map->item_bytes;
}

/* Addresses differ in their middle bits: multiply and take the top (Fibonacci hashing). */
static size_t home(const struct ga_map *map, uint64_t key)
{
	return (size_t)((key * 0x9e3779b97f4a7c15u) >> map->shift);
}

static void make_slots(struct ga_map *map, unsigned bits)
{
	map->slots = ga_xalloc((size_t)1 << bits, map->item_bytes);
	map->mask = ((size_t)1 << bits) - 1;
	map->shift = 64 - bits;
}

void ga_map_init(struct ga_map *map, size_t item_bytes)
{
	*map = (struct ga_map){.item_bytes = item_bytes};
	make_slots(map, FIRST_BITS);
}

void ga_map_free(struct ga_map *map)
{
	free(map->slots);
	*map = (struct ga_map){0};
}

void *ga_map_find(const struct ga_map *map, uint64_t key)
{
	if (key == 0)
		return NULL;
	for (size_t i = home(map, key);; i = (i + 1) & map->mask) {
		char *item = slot(map, i);
		uint64_t there = key_of(item);
		if (there == key)
			return item;
		if (there == 0)
			return NULL;
	}
}

static char *free_slot(const struct ga_map *map, uint64_t key)
{
	size_t i = home(map, key);
	while (key_of(slot(map, i)) != 0)
		i = (i + 1) & map->mask;
	return slot(map, i);
}

static void grow(struct ga_map *map)
{
	struct ga_map old = *map;
	make_slots(map, 64 - old.shift + 1);
	for (size_t i = 0; i <= old.mask; i++) {
		char *item = slot(&old, i);
		if (key_of(item) != 0)
			memcpy(free_slot(map, key_of(item)), item, map->item_bytes);
	}
	free(old.slots);
}

void *ga_map_add(struct ga_map *map, uint64_t key)
{
	void *item = ga_map_find(map, key);
	if (item)
		return item;
	if ((map->count + 1) * 8 > (map->mask + 1) * 5) /* above 5/8 full probing gets slow */
		grow(map);
	item = free_slot(map, key);
	*(uint64_t *)item = key;
	map->count++;
	return item;
}

void ga_map_remove(struct ga_map *map, void *item)
{
	size_t hole = (size_t)((char *)item - map->slots) / map->item_bytes;
	/* Move back each item of the run behind that its home does not keep behind the hole. */
	for (size_t i = (hole + 1) & map->mask; key_of(slot(map, i)) != 0;
	     i = (i + 1) & map->mask) {
		size_t wanted = home(map, key_of(slot(map, i)));
		if (((i - wanted) & map->mask) >= ((i - hole) & map->mask)) {
			memcpy(slot(map, hole), slot(map, i), map->item_bytes);
			hole = i;
		}
	}
	memset(slot(map, hole), 0, map->item_bytes);
	map->count--;
}

void *ga_map_next(const struct ga_map *map, const void *item)
{
	size_t i = item ? (size_t)((const char *)item - map->slots) / map->item_bytes + 1 : 0;
	for (; i <= map->mask; i++)
		if (key_of(slot(map, i)) != 0)
			return slot(map, i);
	return NULL;
}
