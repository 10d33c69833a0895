/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/clock_map.h"

#include <stdlib.h>

#define FRACTION_BITS 40
#define FRACTION_LIMIT (UINT64_C(1) << 60) /* about 10^6 ns a tick: more is no clock */
#define SECOND_NS UINT64_C(1000000000)

static int by_ticks(const void *left, const void *right)
{
	uint64_t a = ((const struct gf_clock *)left)->time,
		 b = ((const struct gf_clock *)right)->time;
	return a < b ? -1 : a > b;
}

/* ns per tick as a fixed-point number; 0 if that cannot be a clock. */
static uint64_t rate(uint64_t ns, uint64_t ticks)
{
	unsigned __int128 fraction = ((unsigned __int128)ns << FRACTION_BITS) / ticks;
	return fraction > 0 && fraction < FRACTION_LIMIT ? (uint64_t)fraction : 0;
}

/* Rounded to the nearest, while the rate is rounded down: a piece never ends behind the next. */
static uint64_t scale(uint64_t ticks, uint64_t fraction)
{
	unsigned __int128 half = (unsigned __int128)1 << (FRACTION_BITS - 1);
	return (uint64_t)(((unsigned __int128)ticks * fraction + half) >> FRACTION_BITS);
}

/* Monotonic ns at an instant, by the piece that it lies in or the nearest one. */
static uint64_t absolute_ns(struct gf_clock_map *map, uint64_t ticks)
{
	size_t at = map->last;
	const struct gf_clock_piece *pieces = map->pieces;
	if (ticks < pieces[at].ticks || (at + 1 < map->count && ticks >= pieces[at + 1].ticks)) {
		size_t low = 0, high = map->count;
		while (high - low > 1) {
			size_t middle = low + (high - low) / 2;
			if (pieces[middle].ticks <= ticks)
				low = middle;
			else
				high = middle;
		}
		map->last = at = low;
	}
	const struct gf_clock_piece *piece = &pieces[at];
	if (ticks >= piece->ticks)
		return piece->ns + scale(ticks - piece->ticks, piece->fraction);
	uint64_t back = scale(piece->ticks - ticks, piece->fraction);
	return back < piece->ns ? piece->ns - back : 0;
}

/* Piece i runs to record i + 1; the last record only ends one. */
static void add_pieces(struct gf_clock_map *map, const struct gf_clock *clocks, size_t count)
{
	const struct gf_clock *first = &clocks[0], *before = first;
	for (size_t i = 1; i < count; i++) {
		const struct gf_clock *clock = &clocks[i];
		if (clock->time <= before->time || clock->monotonic_ns <= before->monotonic_ns)
			continue;
		uint64_t fraction =
		    rate(clock->monotonic_ns - before->monotonic_ns, clock->time - before->time);
		if (!fraction)
			continue;
		map->pieces[map->count++] =
		    (struct gf_clock_piece){before->time, before->monotonic_ns, fraction};
		before = clock;
	}
	if (map->count)
		map->mean_fraction =
		    rate(before->monotonic_ns - first->monotonic_ns, before->time - first->time);
}

bool gf_clock_map_build(struct gf_clock_map *map, struct gf_clock *clocks, size_t count,
    uint64_t ticks_per_second, uint64_t first_ticks)
{
	map->pieces = malloc((count + 1) * sizeof(*map->pieces));
	map->count = map->last = 0;
	map->origin_realtime = 0;
	if (!map->pieces)
		return false;
	if (count) {
		qsort(clocks, count, sizeof(*clocks), by_ticks);
		add_pieces(map, clocks, count);
	}
	if (map->count == 0) {
		uint64_t fraction = ticks_per_second ? rate(SECOND_NS, ticks_per_second) : 0;
		map->mean_fraction = fraction ? fraction : UINT64_C(1) << FRACTION_BITS;
		map->pieces[map->count++] =
		    (struct gf_clock_piece){count ? clocks[0].time : first_ticks,
			count ? clocks[0].monotonic_ns : 0, map->mean_fraction};
	}
	map->origin_ns = absolute_ns(map, first_ticks);
	if (count && clocks[0].realtime_ns)
		map->origin_realtime =
		    clocks[0].realtime_ns + map->origin_ns - clocks[0].monotonic_ns;
	return true;
}

void gf_clock_map_free(struct gf_clock_map *map)
{
	free(map->pieces);
	map->pieces = NULL;
	map->count = 0;
}

uint64_t gf_clock_map_ns(struct gf_clock_map *map, uint64_t ticks)
{
	uint64_t ns = absolute_ns(map, ticks);
	return ns > map->origin_ns ? ns - map->origin_ns : 0;
}

uint64_t gf_clock_map_span_ns(const struct gf_clock_map *map, uint64_t ticks)
{
	return scale(ticks, map->mean_fraction);
}
