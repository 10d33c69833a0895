/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/held_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/xalloc.h"

/* Number of ranges that begin at or below an address. */
static size_t begun_at(const struct ga_held_ranges *ranges, uint64_t address)
{
	size_t low = 0, high = ranges->count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (ranges->items[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void ga_held_ranges_add(struct ga_held_ranges *ranges, const struct ga_held_range *range)
{
	size_t place = begun_at(ranges, range->address);
	if (place && ranges->items[place - 1].address == range->address) {
		ranges->items[place - 1] = *range;
		return;
	}
	ranges->items =
	    ga_xgrow(ranges->items, ranges->count, &ranges->capacity, sizeof(*ranges->items));
	memmove(ranges->items + place + 1, ranges->items + place,
	    (ranges->count - place) * sizeof(*ranges->items));
	ranges->items[place] = *range;
	ranges->count++;
}

struct ga_held_range *ga_held_ranges_find(const struct ga_held_ranges *ranges, uint64_t address)
{
	size_t place = begun_at(ranges, address);
	struct ga_held_range *range = place ? &ranges->items[place - 1] : NULL;
	return range && address - range->address < range->size ? range : NULL;
}

void ga_held_ranges_remove(struct ga_held_ranges *ranges, struct ga_held_range *range)
{
	size_t place = (size_t)(range - ranges->items);
	ranges->count--;
	memmove(range, range + 1, (ranges->count - place) * sizeof(*range));
}

void ga_held_ranges_clear(struct ga_held_ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct ga_held_ranges){0};
}
