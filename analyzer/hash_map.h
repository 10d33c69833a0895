/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash map from 64-bit keys (addresses, handles, numbers) to small structs kept inline: open
 * addressing, linear probing, removal without tombstones.
 *
 * Threads: one at a time.
 */
#ifndef GA_HASH_MAP_H
#define GA_HASH_MAP_H

#include <stddef.h>
#include <stdint.h>

/* An item is a struct whose first member is its uint64_t key; key 0 marks an empty slot. */
struct ga_map {
	char *slots;
	size_t item_bytes; /* a multiple of 8 */
	size_t count;
	size_t mask;	/* slots - 1; slots are a power of two */
	unsigned shift; /* 64 - log2(slots) */
};

/** An empty map of items of `item_bytes` bytes. */
void ga_map_init(struct ga_map *map, size_t item_bytes);

/** Free its memory. */
void ga_map_free(struct ga_map *map);

/** The item of `key`, NULL if there is none or key is 0.  Valid until the next add or remove. */
void *ga_map_find(const struct ga_map *map, uint64_t key);

/**
 * The item of `key`, made zeroed with that key if it was not there.
 *
 * @param key  not 0
 * @return valid until the next add or remove
 *
 * Cost: amortised O(1).
 */
void *ga_map_add(struct ga_map *map, uint64_t key);

/** Remove an item that ga_map_find or ga_map_add returned; other items may move. */
void ga_map_remove(struct ga_map *map, void *item);

/**
 * Walk over all items in no order.
 *
 * @param item  NULL to begin, else the item before
 * @return the next item, NULL at the end; no add or remove during the walk
 */
void *ga_map_next(const struct ga_map *map, const void *item);

#endif
