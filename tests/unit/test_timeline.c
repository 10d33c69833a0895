/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/timeline.h"

static struct ga_timeline timeline;
static struct ga_point points[GA_TIMELINE_POINTS];

static void add(uint64_t ticks, uint64_t allocated, uint64_t reserved)
{
	ga_timeline_add(&timeline, (struct ga_point){ticks, allocated, reserved});
}

TEST(few_points_come_back_as_they_are)
{
	ga_timeline_init(&timeline, 100, 100 + 480 * 10 - 1);
	add(100, 5, 9);
	add(113, 7, 9);
	add(4000, 1, 20);
	EXPECT_EQ(ga_timeline_points(&timeline, points), 3);
	EXPECT_EQ(points[0].ticks, 100);
	EXPECT_EQ(points[1].allocated, 7);
	EXPECT_EQ(points[2].reserved, 20);
}

TEST(extremes_of_a_slice_survive_in_order)
{
	ga_timeline_init(&timeline, 0, 480 * 1000 - 1);
	add(1, 50, 100);
	add(2, 90, 100); /* most allocated */
	add(3, 60, 300); /* most reserved */
	add(4, 10, 100); /* least allocated */
	add(5, 40, 100);
	add(6, 45, 100); /* last */
	EXPECT_EQ(ga_timeline_points(&timeline, points), 4);
	EXPECT_EQ(points[0].ticks, 2);
	EXPECT_EQ(points[1].ticks, 3);
	EXPECT_EQ(points[2].ticks, 4);
	EXPECT_EQ(points[3].ticks, 6);
}

TEST(a_long_run_stays_within_the_limit_and_keeps_its_peak)
{
	uint64_t most = 0, last_ticks = 0;
	ga_timeline_init(&timeline, 0, 3000000);
	for (uint64_t i = 0; i < 3000000; i++)
		add(i, i == 1234567 ? 1000000 : i * 7919 % 1000, 2000);
	size_t count = ga_timeline_points(&timeline, points);
	EXPECT(count <= GA_TIMELINE_POINTS && count > GA_TIMELINE_SLICES);
	for (size_t i = 0; i < count; i++) {
		most = points[i].allocated > most ? points[i].allocated : most;
		EXPECT(points[i].ticks >= last_ticks);
		last_ticks = points[i].ticks;
	}
	EXPECT_EQ(most, 1000000);
	EXPECT_EQ(last_ticks, 2999999);
}

TEST(times_outside_the_recording_are_kept_at_its_ends)
{
	ga_timeline_init(&timeline, 1000, 2000);
	add(5, 1, 1);
	add(1u << 30, 2, 2);
	add(1500, 3, 3);
	EXPECT_EQ(ga_timeline_points(&timeline, points), 3);
	EXPECT_EQ(points[0].allocated, 1);
	EXPECT_EQ(points[2].allocated, 2);
	ga_timeline_init(&timeline, UINT64_MAX - 3, UINT64_MAX); /* no overflow */
	add(UINT64_MAX, 4, 4);
	add(0, 5, 5);
	EXPECT(ga_timeline_points(&timeline, points) >= 1);
}

TEST(drawing_shows_where_memory_changed)
{
	struct ga_column columns[2];
	uint64_t begin, end;
	ga_timeline_init(&timeline, 1000, 1000 + 480 * 10 - 1);
	ga_timeline_span(&timeline, &begin, &end);
	EXPECT_EQ(begin, 1000);
	EXPECT_EQ(end, 1000 + 480 * 10 - 1);
	add(2000, 5, 9); /* slice 100 */
	add(3995, 7, 9); /* slice 299 */
	ga_timeline_span(&timeline, &begin, &end);
	EXPECT_EQ(begin, 2000);
	EXPECT_EQ(end, 4000);
	ga_timeline_columns(&timeline, columns, 2);
	EXPECT_EQ(columns[0].allocated, 5);
	EXPECT_EQ(columns[1].allocated, 7);
}

TEST(columns_carry_the_level_on)
{
	struct ga_column columns[4];
	ga_timeline_init(&timeline, 0, 480 * 10 - 1);
	add(0, 100, 200);
	add(2500, 40, 200); /* in the third quarter */
	add(4790, 40, 200);
	ga_timeline_columns(&timeline, columns, 4);
	EXPECT_EQ(columns[0].allocated, 100);
	EXPECT_EQ(columns[1].allocated, 100);
	EXPECT_EQ(columns[2].allocated, 100); /* it began at that level */
	EXPECT_EQ(columns[3].allocated, 40);
	EXPECT_EQ(columns[3].reserved, 200);
}
