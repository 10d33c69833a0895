/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hashes to small numbers: which stacks, code objects and libraries the trace already defines.
 *
 * A fixed, lock-free, open-addressed table in an own mapping that only grows.  Numbers count from 1
 * in order of first appearance.  Whoever adds a hash writes its definition; when that fails (no
 * room in the journal) the next one who asks tries again.
 *
 * Threads: any.  Looking up writes nothing, so there is no shared cache line to fight for.
 */
#ifndef GS_INTERN_TABLE_H
#define GS_INTERN_TABLE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct gs_intern_slot {
	uint64_t hash; /* 0: free */
	uint32_t id;   /* 0: just being added */
	uint32_t lost; /* 1: its definition is not in the trace */
};

struct gs_intern_table {
	struct gs_intern_slot *slots; /* NULL: not there */
	uint32_t mask;                /* slots - 1 */
	uint32_t limit;               /* most entries */
	uint32_t count;
	uint32_t epoch; /* changes when numbers that were given out may be wrong */
};

/*
 * Numbers that one thread asked for lately, in a few cache lines instead of all over the table, of
 * which a step of a training leaves nothing in the processor's caches.  A set is one line.
 */
#define GS_RECENT_SETS 512u /* power of two */
#define GS_RECENT_WAYS 5u
struct gs_intern_recent {
	struct gs_recent_set {
		uint64_t hashes[GS_RECENT_WAYS];
		uint32_t ids[GS_RECENT_WAYS], next;
	} sets[GS_RECENT_SETS];
	uint32_t epoch; /* of the table */
} __attribute__((aligned(64))); /* zero-initialised */

/**
 * Map an empty table.
 *
 * @param slots_log2  table size, up to 2^24; three quarters of it may be used
 * @return false if there is no memory; the table then answers 0 to everything
 */
bool gs_intern_init(struct gs_intern_table *table, unsigned slots_log2);

/** Empty a table again: a recording begins, or a fork child forgets.  One thread, no others. */
void gs_intern_reset(struct gs_intern_table *table);

/**
 * Number of a hash.
 *
 * @param hash     any but 0
 * @param new_out  set to true if the caller has to write the definition (and to call
 *                 gs_intern_failed if it cannot), else to false
 * @return the number; 0 if the table is full or another thread that adds the hash got stuck
 */
uint32_t gs_intern(struct gs_intern_table *table, uint64_t hash, bool *new_out);

/** The same, looking into the thread's own memory first. */
static inline uint32_t gs_intern_recently(struct gs_intern_table *table,
    struct gs_intern_recent *recent, uint64_t hash, bool *new_out)
{
	uint32_t epoch = __atomic_load_n(&table->epoch, __ATOMIC_ACQUIRE);
	if (__builtin_expect(recent->epoch != epoch, 0)) {
		memset(recent, 0, sizeof(*recent));
		recent->epoch = epoch;
	}
	struct gs_recent_set *set = &recent->sets[hash % GS_RECENT_SETS];
	*new_out = false;
	for (unsigned way = 0; way < GS_RECENT_WAYS; way++)
		if (set->hashes[way] == hash)
			return set->ids[way];
	uint32_t id = gs_intern(table, hash, new_out);
	/* If its definition fails meanwhile, here or in another thread, the epoch changes. */
	if (id) {
		set->hashes[set->next % GS_RECENT_WAYS] = hash;
		set->ids[set->next++ % GS_RECENT_WAYS] = id;
	}
	return id;
}

/** Whether there is no room for another hash. */
static inline bool gs_intern_full(const struct gs_intern_table *table)
{
	return __atomic_load_n(&table->count, __ATOMIC_RELAXED) >= table->limit;
}

/** The definition of `hash` could not be written. */
void gs_intern_failed(struct gs_intern_table *table, uint64_t hash);

#endif
