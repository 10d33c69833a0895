/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clock ticks of a trace to nanoseconds: straight lines from one clock record to the next, the
 * first and last of them continued.
 *
 * Threads: a map belongs to one (it remembers where it looked last).
 */
#ifndef GF_CLOCK_MAP_H
#define GF_CLOCK_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/records.h"

struct gf_clock_piece {
	uint64_t ticks;    /* where it begins */
	uint64_t ns;       /* CLOCK_MONOTONIC there */
	uint64_t fraction; /* ns a tick, in units of 2^-40 */
};

/** Zero-initialise, then gf_clock_map_build. */
struct gf_clock_map {
	struct gf_clock_piece *pieces;
	size_t count, last;
	uint64_t mean_fraction;    /* over all pieces */
	uint64_t origin_ns;        /* CLOCK_MONOTONIC at the first event */
	uint64_t origin_realtime;  /* CLOCK_REALTIME there, 0 if unknown */
};

/**
 * Build the map.
 *
 * @param clocks, count     clock records in any order; those that run backwards are left out;
 *                          sorted in place
 * @param ticks_per_second  used if there are fewer than two; 0: unknown, a tick is taken for 1 ns
 * @param first_ticks       the instant that becomes 0 ns
 * @return false when out of memory
 */
bool gf_clock_map_build(struct gf_clock_map *map, struct gf_clock *clocks, size_t count,
    uint64_t ticks_per_second, uint64_t first_ticks);
void gf_clock_map_free(struct gf_clock_map *map);

/** Nanoseconds since the first event; instants before it give 0. */
uint64_t gf_clock_map_ns(struct gf_clock_map *map, uint64_t ticks);

/** A span of ticks in nanoseconds, at the mean rate. */
uint64_t gf_clock_map_span_ns(const struct gf_clock_map *map, uint64_t ticks);

#endif
