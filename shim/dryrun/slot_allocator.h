/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hands out runs of consecutive slots, numbered from 0: best fit by powers of two, neighbours merge
 * when given back.  The caller locks.
 */
#ifndef GD_SLOT_ALLOCATOR_H
#define GD_SLOT_ALLOCATOR_H

#include <stdbool.h>
#include <stdint.h>

#define GD_NO_SLOT UINT64_MAX

#define GD_SLOT_ENTRY_BYTES sizeof(void *) /* of the table, for each slot */

/**
 * Begin with `slots` free ones.
 *
 * @param table  GD_SLOT_ENTRY_BYTES for each slot, aligned, zeros; kept on success
 * @return false without memory
 */
bool gd_slots_start(uint64_t slots, void *table);

/** @return first slot of a run of `count` > 0, or GD_NO_SLOT */
uint64_t gd_slots_take(uint64_t count);

/** Give a run, or a part of one, back. */
void gd_slots_give(uint64_t first, uint64_t count);

#endif
