/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/python_lines.h"

#include "formats/stack_layout.h"
#include "tests/test.h"

#define LINE(form, table, first, lasti) \
	ga_python_line((form), (const unsigned char *)(table), sizeof(table) - 1, (first), (lasti))

TEST(lnotab_counts_up_and_down)
{
	/* code 0: line 10, from byte 6: 11, from 12: 9, from 40: 9 + 127 + 3 */
	static const char table[] = "\x06\x01\x06\xfe\x1c\x7f\x00\x03";
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, 0), 10);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, 5), 10);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, 6), 11);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, 12), 9);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, 39), 9);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, 40), 139);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, 4000), 139);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, table, 10, -1), 10);
	EXPECT_EQ(LINE(GF_LINE_LNOTAB, "", 10, 3), 10);
}

TEST(rows_of_3_10)
{
	/* bytes 0..3: line 20; 4..9: no line; 10..13: line 18; an empty row of +5; 14..15: line 23 */
	static const char table[] = "\x04\x00\x06\x80\x04\xfe\x00\x05\x02\x00";
	EXPECT_EQ(LINE(GF_LINE_LINES, table, 20, 0), 20);
	EXPECT_EQ(LINE(GF_LINE_LINES, table, 20, 4), 0);
	EXPECT_EQ(LINE(GF_LINE_LINES, table, 20, 10), 18);
	EXPECT_EQ(LINE(GF_LINE_LINES, table, 20, 14), 23);
	EXPECT_EQ(LINE(GF_LINE_LINES, table, 20, 16), 0);
	EXPECT_EQ(LINE(GF_LINE_LINES, table, 20, -2), 20);
}

TEST(places_of_3_11)
{
	/* 1 unit short form, line +0; 2 units no columns, line +3; 1 unit one-line form +1 with two
	 * columns; 2 units without a place; 1 unit long form, line -2 (svarint 5), end +0, columns;
	 * 8 units no columns, line +100 (svarint 200: 0x48 0x03) */
	static const char table[] = "\x80\x11"
				    "\xe9\x06"
				    "\xd8\x04\x05"
				    "\xf9"
				    "\xf0\x05\x00\x01\x02"
				    "\xef\x48\x03";
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 0), 30);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 2), 33);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 5), 33);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 6), 34);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 8), 0);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 12), 32);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 14), 132);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 28), 132);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, 30), 0);
	EXPECT_EQ(LINE(GF_LINE_PLACES, table, 30, -4), 30);
}

TEST(any_bytes_are_survived)
{
	unsigned char table[64];
	uint32_t seed = 1;
	for (int round = 0; round < 20000; round++) {
		for (size_t i = 0; i < sizeof(table); i++) {
			seed = seed * 1664525u + 1013904223u;
			table[i] = (unsigned char)(seed >> 24);
		}
		size_t bytes = seed >> 8 & 63;
		for (unsigned form = 0; form <= 5; form++)
			EXPECT(ga_python_line(form, table, bytes, seed >> 20, (int32_t)(seed >> 16 & 255)) <=
			    INT32_MAX);
	}
	EXPECT_EQ(LINE(GF_LINE_NONE, "\x01\x01", 5, 0), 0);
	EXPECT_EQ(LINE(9, "\x01\x01", 5, 0), 0);
}
