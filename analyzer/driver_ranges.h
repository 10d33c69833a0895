/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The half of driver_memory.h that follows virtual memory management: reserved address ranges,
 * physical memory by handle, and mappings between them.
 *
 * Threads: one at a time.
 */
#ifndef GA_DRIVER_RANGES_H
#define GA_DRIVER_RANGES_H

#include "analyzer/driver_memory.h"

/** Make the maps of ranges, handles and mappings; the rest of `driver` stays as it is. */
void ga_ranges_init(struct ga_driver *driver);
void ga_ranges_free(struct ga_driver *driver);

/** One successful call on ranges, handles or mappings; others are ignored.  @return as
 * ga_driver_event */
struct ga_account *ga_ranges_event(struct ga_driver *driver, const struct gf_memory *record);

/** As ga_driver_claim, for a block inside a reserved range. */
bool ga_ranges_claim(struct ga_driver *driver, struct ga_account *account, uint64_t address);

#endif
