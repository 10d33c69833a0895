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
};

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
 * @return the number, 0 if the table is full
 */
uint32_t gs_intern(struct gs_intern_table *table, uint64_t hash, bool *new_out);

/** The definition of `hash` could not be written. */
void gs_intern_failed(struct gs_intern_table *table, uint64_t hash);

#endif
