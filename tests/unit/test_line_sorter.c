/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "analyzer/line_sorter.h"
#include "analyzer/xalloc.h"
#include "tests/test.h"

TEST(order_of_time)
{
	char *text = NULL;
	size_t bytes;
	struct ga_sorter sorter = {.out = open_memstream(&text, &bytes)};
	ga_sorter_add(&sorter, 5, ga_xstrdup("c"));
	ga_sorter_add(&sorter, 1, ga_xstrdup("a"));
	ga_sorter_add(&sorter, 5, ga_xstrdup("d"));
	ga_sorter_add(&sorter, 3, ga_xstrdup("b"));
	ga_sorter_end(&sorter);
	fclose(sorter.out);
	EXPECT_STR(text, "abcd");
	free(text);
}

TEST(window)
{
	FILE *out = tmpfile();
	struct ga_sorter sorter = {.out = out};
	REQUIRE(out);
	for (uint64_t i = 0; i < 2 * GA_SORTER_LINES; i++)
		ga_sorter_add(&sorter, i ^ 63, ga_format("%u\n", (unsigned)(i ^ 63)));
	ga_sorter_end(&sorter);
	rewind(out);
	char line[32];
	unsigned next = 0;
	while (fgets(line, sizeof(line), out))
		EXPECT_EQ(strtoul(line, NULL, 10), next++);
	EXPECT_EQ(next, 2 * GA_SORTER_LINES);
	fclose(out);
}

TEST(nothing)
{
	struct ga_sorter sorter = {.out = stdout};
	ga_sorter_end(&sorter);
	EXPECT_EQ(sorter.count, 0);
}
