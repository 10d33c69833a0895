/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline.h"

#include <string.h>

void ga_timeline_init(struct ga_timeline *timeline, uint64_t first, uint64_t last)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->first = first;
	timeline->last = last > first ? last : first;
	timeline->width = (last > first ? last - first : 0) / GA_TIMELINE_SLICES + 1;
	timeline->slice_end = first + timeline->width;
	timeline->current = timeline->slices;
}

void ga_timeline_move(struct ga_timeline *timeline, uint64_t ticks)
{
	uint64_t since = ticks > timeline->first ? ticks - timeline->first : 0;
	uint64_t index = since / timeline->width;
	if (index >= GA_TIMELINE_SLICES)
		index = GA_TIMELINE_SLICES - 1;
	timeline->current = &timeline->slices[index];
	timeline->slice_end = timeline->first + (index + 1) * timeline->width;
}

static bool same(const struct ga_point *a, const struct ga_point *b)
{
	return a->ticks == b->ticks && a->allocated == b->allocated && a->reserved == b->reserved;
}

/* Put a slice's points in order of time; equal ones once.  At most four: insertion is enough. */
static size_t slice_points(const struct ga_slice *slice, struct ga_point *out)
{
	const struct ga_point *kept[] = {
	    &slice->highest, &slice->lowest, &slice->widest, &slice->last};
	size_t count = 0;
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++) {
		size_t at = count;
		bool known = false;
		for (size_t j = 0; j < count; j++)
			known |= same(&out[j], kept[i]);
		if (known)
			continue;
		/* `last` comes last also among equal times. */
		while (at > 0 && out[at - 1].ticks > kept[i]->ticks) {
			out[at] = out[at - 1];
			at--;
		}
		out[at] = *kept[i];
		count++;
	}
	return count;
}

size_t ga_timeline_points(const struct ga_timeline *timeline, struct ga_point *out)
{
	size_t count = 0;
	for (unsigned i = 0; i < GA_TIMELINE_SLICES; i++)
		if (timeline->slices[i].set)
			count += slice_points(&timeline->slices[i], out + count);
	return count;
}

/* First and last slice in which something happened. */
static void used_slices(const struct ga_timeline *timeline, unsigned *from_out, unsigned *to_out)
{
	unsigned from = 0, to = GA_TIMELINE_SLICES - 1;
	while (from < to && !timeline->slices[from].set)
		from++;
	while (to > from && !timeline->slices[to].set)
		to--;
	bool none = !timeline->slices[from].set;
	*from_out = none ? 0 : from;
	*to_out = none ? GA_TIMELINE_SLICES - 1 : to;
}

void ga_timeline_span(const struct ga_timeline *timeline, uint64_t *begin_out, uint64_t *end_out)
{
	unsigned from, to;
	used_slices(timeline, &from, &to);
	*begin_out = timeline->first + from * timeline->width;
	*end_out = timeline->first + (to + 1) * timeline->width;
	if (to == GA_TIMELINE_SLICES - 1 || *end_out > timeline->last)
		*end_out = timeline->last;
}

void ga_timeline_columns(const struct ga_timeline *timeline, struct ga_column *out, unsigned count)
{
	struct ga_column before = {0, 0};
	unsigned from, to;
	used_slices(timeline, &from, &to);
	unsigned slice = from, slices = to - from + 1;
	for (unsigned i = 0; i < count; i++) {
		unsigned end = from + (unsigned)((uint64_t)(i + 1) * slices / count);
		struct ga_column column = before;
		for (; slice < end; slice++) {
			const struct ga_slice *s = &timeline->slices[slice];
			if (!s->set)
				continue;
			if (s->highest.allocated > column.allocated)
				column.allocated = s->highest.allocated;
			if (s->widest.reserved > column.reserved)
				column.reserved = s->widest.reserved;
			before = (struct ga_column){s->last.allocated, s->last.reserved};
		}
		out[i] = column;
	}
}
