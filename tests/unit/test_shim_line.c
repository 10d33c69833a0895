/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/line.h"

#include "tests/test.h"

TEST(formats)
{
	char buffer[128];
	struct gs_line line;
	gs_line_start(&line, buffer, sizeof(buffer));
	gs_line_format(&line, "%s %d %u %x %lu %zu %c%% %lld", "text", -5, 7u, 255u, 1ul << 40,
	    (size_t)9, 'c', -1ll);
	EXPECT_STR(buffer, "text -5 7 ff 1099511627776 9 c% -1");
	EXPECT_EQ(line.length, strlen(buffer));
	EXPECT(!line.cut);
	gs_line_start(&line, buffer, sizeof(buffer));
	gs_line_text(&line, NULL);
	gs_line_number(&line, 5, 10, 3);
	EXPECT_STR(buffer, "(null)005");
	gs_line_start(&line, buffer, sizeof(buffer));
	gs_line_number(&line, UINT64_MAX, 10, 1);
	EXPECT_STR(buffer, "18446744073709551615");
}

TEST(what_does_not_fit_is_cut)
{
	char buffer[9];
	memset(buffer, '#', sizeof(buffer));
	struct gs_line line;
	gs_line_start(&line, buffer, 8);
	gs_line_format(&line, "%s", "0123456789");
	EXPECT_STR(buffer, "0123456");
	EXPECT(line.cut);
	EXPECT_EQ(buffer[8], '#');
}

TEST(json)
{
	char buffer[64];
	struct gs_line line;
	gs_line_start(&line, buffer, sizeof(buffer));
	gs_line_json(&line, "a\"b\\c\n\xc3\xa9", 8);
	EXPECT_STR(buffer, "\"a\\\"b\\\\c\\u000a\xc3\xa9\"");
}
