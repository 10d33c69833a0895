/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the contents of device memory are worth, byte by byte.
 *
 * Known is what a copy, a memset or a modelled kernel stored; the rest reads as zeros only because
 * the kernel that would have computed it was not executed.
 *
 * A grain is 512 bytes, the least that PyTorch's allocator hands out.  One bit says that a grain is
 * known as a whole; one that it is known in part, which bytes a mask of its own tells.  So large
 * tensors cost next to nothing, and a number stored beside an unknown one does not vouch for it.
 *
 * For small blocks it is also kept which kernel, of those that are not executed, would have filled
 * them (unknown_results.h).
 *
 * Offsets are into the data region (address_space.h).  Threads: any; whoever orders accesses to the
 * bytes orders these as well.
 */
#ifndef GD_KNOWN_MEMORY_H
#define GD_KNOWN_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#define GD_NO_AUTHOR 0
#define GD_AUTHORED_BYTES 8192 /* larger blocks have no author */

#define GD_KNOWN_GRAINS 4096 /* in a slot */
#define GD_KNOWN_BYTES_PER_SLOT (GD_KNOWN_GRAINS * (64 + 2) + 2 * (GD_KNOWN_GRAINS / 8) + 8)

/**
 * Lay out the tables; once.
 *
 * @param table  GD_KNOWN_BYTES_PER_SLOT bytes for each slot of data, zeros; borrowed for ever
 */
void gd_known_start(char *table, uint64_t slots);

void gd_known_set(uint64_t offset, uint64_t bytes);
void gd_known_clear(uint64_t offset, uint64_t bytes);

/** @return whether all of the range is known */
bool gd_known(uint64_t offset, uint64_t bytes);

/** @return whether anything in the range may be known: false is certain */
bool gd_known_any(uint64_t offset, uint64_t bytes);

/** Enter who fills a range of at most GD_AUTHORED_BYTES, a number of gd_unmodelled_note. */
void gd_known_set_author(uint64_t offset, uint64_t bytes, uint16_t author);

/** @return GD_NO_AUTHOR when nobody was entered */
uint16_t gd_known_author(uint64_t offset);

#endif
