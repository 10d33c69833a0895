/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Address space for more than the machine has: nothing but the pages that are written costs memory.
 *
 * Writable private memory counts in full against a limit of data (ulimit -d) and a strict
 * vm.overcommit_memory, however little of it is used; memory that could be shared does not.  So a
 * region is private where that is granted, and else of the other kind, whose pages are given back
 * by another madvise.  Threads: any.
 */
#ifndef GD_REGIONS_H
#define GD_REGIONS_H

#include <stdbool.h>
#include <stdint.h>

struct gd_region {
	char *start; /* of a page */
	uint64_t bytes;
	bool shared; /* give pages back with MADV_REMOVE, not MADV_DONTNEED */
};

/** Reserve addresses that nobody may touch. @return false when the kernel refuses */
bool gd_region_reserve(uint64_t bytes, struct gd_region *region_out);

/** The same, readable and writable, full of zeros. */
bool gd_region_new(uint64_t bytes, struct gd_region *region_out);

/**
 * Put fresh pages, zeros, into a part of a region.
 *
 * @param at     of a page inside the region
 * @param bytes  whole pages
 * @return false when the kernel refuses: nothing changed
 */
bool gd_region_renew(const struct gd_region *region, void *at, uint64_t bytes);

/** Give a region back. */
void gd_region_end(const struct gd_region *region);

/** @return bytes of address space that this process may still take; UINT64_MAX: no limit */
uint64_t gd_region_room(void);

/** Say on stderr which limit did not allow a region. @param bytes  that were needed at least */
void gd_region_say_why(uint64_t bytes);

#endif
