/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/timeline.h"

#include <string.h>

void ga_timeline_init(struct ga_timeline *timeline, uint64_t first, uint64_t last)
{
	memset(timeline, 0, sizeof(*timeline));
	timeline->first = first;
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

void ga_timeline_columns(const struct ga_timeline *timeline, struct ga_column *out, unsigned count)
{
	struct ga_column before = {0, 0};
	unsigned slice = 0;
	for (unsigned i = 0; i < count; i++) {
		unsigned end = (unsigned)((uint64_t)(i + 1) * GA_TIMELINE_SLICES / count);
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
