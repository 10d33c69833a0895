/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory over time in bounded space: the recording is cut into equal slices, each keeps the
 * extremes and the last state, so that every peak survives.
 *
 * Threads: one at a time.
 */
#ifndef GA_TIMELINE_H
#define GA_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GA_TIMELINE_SLICES 480
#define GA_TIMELINE_POINTS (4 * GA_TIMELINE_SLICES) /* most points ga_timeline_points() gives */

/** State of a device at an instant (ticks of the trace). */
struct ga_point {
	uint64_t ticks, allocated, reserved;
};

/** What a slice keeps; `set` only if something happened in it. */
struct ga_slice {
	bool set;
	struct ga_point highest, lowest, widest, last; /* allocated most and least, reserved most */
};

struct ga_timeline {
	uint64_t first, last, width; /* ticks */
	uint64_t slice_end; /* of `current`: most events stay in the slice of the one before */
	struct ga_slice *current;
	struct ga_slice slices[GA_TIMELINE_SLICES];
};

/** Begin a timeline of the recording from tick `first` to `last`. */
void ga_timeline_init(struct ga_timeline *timeline, uint64_t first, uint64_t last);

/** Go to the slice of `ticks`; the slow half of ga_timeline_add(). */
void ga_timeline_move(struct ga_timeline *timeline, uint64_t ticks);

/** Note the state from `point.ticks` on; times outside the recording go to its first or last slice.
 */
static inline void ga_timeline_add(struct ga_timeline *timeline, struct ga_point point)
{
	if (point.ticks >= timeline->slice_end ||
	    point.ticks < timeline->slice_end - timeline->width)
		ga_timeline_move(timeline, point.ticks);
	struct ga_slice *slice = timeline->current;
	if (!slice->set) {
		*slice = (struct ga_slice){true, point, point, point, point};
		return;
	}
	if (point.allocated > slice->highest.allocated)
		slice->highest = point;
	if (point.allocated < slice->lowest.allocated)
		slice->lowest = point;
	if (point.reserved > slice->widest.reserved)
		slice->widest = point;
	slice->last = point;
}

/**
 * The kept points in order of time, each once.
 *
 * @param out  GA_TIMELINE_POINTS entries
 * @return points stored
 */
size_t ga_timeline_points(const struct ga_timeline *timeline, struct ga_point *out);

/** One column of a drawing. */
struct ga_column {
	uint64_t allocated, reserved; /* highest within the column */
};

/**
 * The part of the recording in which memory changed, in ticks; the whole if it never did.
 */
void ga_timeline_span(const struct ga_timeline *timeline, uint64_t *begin_out, uint64_t *end_out);

/**
 * Fit that part to `count` columns (1..GA_TIMELINE_SLICES); where nothing happened the state
 * before goes on.
 */
void ga_timeline_columns(const struct ga_timeline *timeline, struct ga_column *out, unsigned count);

#endif
