/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offline packing: how small a device could be if the whole future were known and blocks placed by
 * plan.  An upper bound of what planning needs; the exact answer is strongly NP-hard.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_PACKING_H
#define GA_PACKING_H

#include <stddef.h>
#include <stdint.h>

/* A block that is there from `start` to before `end`; moments are numbers in any order-keeping
 * unit. */
struct ga_lifetime {
	uint64_t size;
	uint32_t start, end;
};

/**
 * Place blocks, the largest first, and again by size x lifetime, each at the lowest address that is
 * free during its whole life.
 *
 * @param blocks      `end` above `start`
 * @param count       may be 0
 * @param steps_max   placed blocks looked at before it gives up: bounds the time
 * @return bytes of the better of both, 0 if it gave up (or there is no block)
 *
 * Cost: O(count^2), a step is about a nanosecond.
 * Source: greedy by size, as in the literature on static memory planning; usually within a few
 * percent of the lower bound.
 */
uint64_t ga_pack(const struct ga_lifetime *blocks, size_t count, uint64_t steps_max);

#endif
