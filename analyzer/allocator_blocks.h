/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The records of the allocator model: blocks, the segments that they fill, and the sorted lists of
 * free blocks.  All of it is numbered instead of pointed to, so that the arrays may grow; number 0
 * is never used and means "none".
 *
 * Threads: one model belongs to one thread.
 */
#ifndef GA_ALLOCATOR_BLOCKS_H
#define GA_ALLOCATOR_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ga_cached_state {
	GA_CACHED_UNUSED,   /* the record is free for a new block */
	GA_CACHED_FREE,	    /* in the free list of its queue */
	GA_CACHED_LIVE,	    /* handed out */
	GA_CACHED_WAITING,  /* freed by the program, but another stream may still use it */
	GA_CACHED_UNMAPPED, /* address space of an expandable segment without memory behind it */
};

struct ga_cached_block {
	uint64_t address, size;
	uint64_t requested;  /* of a live or waiting block: bytes that the program asked for */
	uint64_t tie;	     /* decides among blocks of one size: the smaller comes first */
	uint32_t prev, next; /* neighbours in the segment */
	uint32_t queue;	     /* where it is free: pool and stream */
	uint32_t segment;
	uint32_t age_base;    /* searches of its pool when it entered the free list */
	uint32_t tag;	      /* of a live or waiting block: the caller's name of it */
	uint32_t next_unused; /* of an unused record */
	uint8_t state;	      /* enum ga_cached_state */
	uint8_t ready;	      /* of a waiting block: its last event is known to be done */
};

/* A range got by one driver allocation, or one reservation of address space. */
struct ga_cached_segment {
	uint64_t address, size;
	uint32_t number; /* order of creation */
	uint32_t next_unused;
	uint64_t page_bytes; /* 0: a classic segment */
};

/*
 * Free blocks of one queue in order of (size, tie): chunks of sorted keys behind a directory.
 * A key is the size in 512-byte units above the block's number: comparing keys needs the block
 * only where sizes are equal.
 */
#define GA_FREE_KEYS 126

struct ga_free_chunk {
	uint32_t count;
	struct ga_free_chunk *spare;
	uint64_t keys[GA_FREE_KEYS];
};

struct ga_free_list {
	struct ga_free_chunk **chunks; /* none of them empty */
	size_t count, capacity;	       /* chunks */
	size_t blocks;
	struct ga_free_chunk *spare;
};

/* A place in a free list; valid until the list changes. */
struct ga_free_place {
	size_t chunk, index;
};

/** Put a block in.  @param blocks  the records that numbers stand for.  Cost: O(log blocks). */
void ga_free_list_add(
    struct ga_free_list *list, const struct ga_cached_block *blocks, uint32_t block);

/** Take a block out; it must be in.  Cost: O(log blocks). */
void ga_free_list_remove(
    struct ga_free_list *list, const struct ga_cached_block *blocks, uint32_t block);

/** Take out the block at a place, which must hold one. */
void ga_free_list_remove_at(struct ga_free_list *list, struct ga_free_place place);

/** Place of the first block of at least `size` bytes; ga_free_list_at answers 0 if there is none.
 */
struct ga_free_place ga_free_list_find(const struct ga_free_list *list, uint64_t size);

/** Number of the block at a place, 0 past the end. */
static inline uint32_t ga_free_list_at(const struct ga_free_list *list, struct ga_free_place place)
{
	return place.chunk < list->count ? (uint32_t)list->chunks[place.chunk]->keys[place.index]
					 : 0;
}

/** The place after; the end stays the end. */
static inline struct ga_free_place ga_free_list_next(
    const struct ga_free_list *list, struct ga_free_place place)
{
	if (place.chunk < list->count && ++place.index == list->chunks[place.chunk]->count)
		place = (struct ga_free_place){place.chunk + 1, 0};
	return place;
}

/** Step to the place before.  @return false, and `place` unchanged, at the first place */
static inline bool ga_free_list_back(const struct ga_free_list *list, struct ga_free_place *place)
{
	if (place->index > 0) {
		place->index--;
		return true;
	}
	if (place->chunk == 0)
		return false;
	place->chunk--;
	place->index = list->chunks[place->chunk]->count - 1;
	return true;
}

/** Give its memory back; the list is empty and usable afterwards. */
void ga_free_list_clear(struct ga_free_list *list);

#endif
