/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/test.h"

#include "analyzer/sizes.h"

static uint64_t size(const char *text)
{
	uint64_t bytes = 77;
	return ga_size_parse(text, &bytes) ? bytes : UINT64_MAX;
}

static uint64_t duration(const char *text)
{
	uint64_t ns = 77;
	return ga_duration_parse(text, &ns) ? ns : UINT64_MAX;
}

TEST(sizes_with_units)
{
	EXPECT_EQ(size("0"), 0);
	EXPECT_EQ(size("4096"), 4096);
	EXPECT_EQ(size("512M"), 512ull << 20);
	EXPECT_EQ(size("24G"), 24ull << 30);
	EXPECT_EQ(size("80GiB"), 80ull << 30);
	EXPECT_EQ(size("80 gib"), 80ull << 30);
	EXPECT_EQ(size("1.5K"), 1536);
	EXPECT_EQ(size("2t"), 2ull << 40);
	EXPECT_EQ(size("12B"), 12);
	EXPECT_EQ(size("9007199254740993"), 9007199254740993); /* not through a double */
}

TEST(what_is_no_size)
{
	static const char *const wrong[] = {"", "-1", "G", "1.G", "1.", "12x", "1 2", "9999999999T",
	    "99999999999999999999", "0x10", "1e3", " 1", "1G ", "8388608T"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (size(wrong[i]) != UINT64_MAX && ++test_failures)
			printf("# '%s' is taken for a size\n", wrong[i]);
}

TEST(durations)
{
	EXPECT_EQ(duration("500us"), 500000);
	EXPECT_EQ(duration("1.5ms"), 1500000);
	EXPECT_EQ(duration("2s"), 2000000000);
	EXPECT_EQ(duration("90"), 90);
	EXPECT_EQ(duration("90ns"), 90);
	EXPECT_EQ(duration("5m"), UINT64_MAX);
	EXPECT_EQ(duration("model"), UINT64_MAX);
}

TEST(size_texts)
{
	char out[GA_SIZE_TEXT];
	EXPECT_STR(ga_size_text(0, out), "0 bytes");
	EXPECT_STR(ga_size_text(1, out), "1 byte");
	EXPECT_STR(ga_size_text(1023, out), "1023 bytes");
	EXPECT_STR(ga_size_text(1536, out), "1.50 KiB");
	EXPECT_STR(ga_size_text((1ull << 20) - 1, out), "1.00 MiB");
	EXPECT_STR(ga_size_text(25394302976, out), "23.65 GiB");
	EXPECT_STR(ga_size_text(UINT64_MAX, out), "16.00 EiB");
}

TEST(duration_texts)
{
	char out[GA_SIZE_TEXT];
	EXPECT_STR(ga_duration_text(999, out), "999 ns");
	EXPECT_STR(ga_duration_text(12340, out), "12.3 us");
	EXPECT_STR(ga_duration_text(4560000, out), "4.56 ms");
	EXPECT_STR(ga_duration_text(1230000000, out), "1.23 s");
	EXPECT_STR(ga_duration_text(723000000000, out), "12 min 3 s");
	EXPECT_STR(ga_duration_text(7260000000000, out), "2 h 1 min");
}

TEST(counts_in_groups)
{
	char out[GA_SIZE_TEXT];
	EXPECT_STR(ga_count_text(0, out), "0");
	EXPECT_STR(ga_count_text(999, out), "999");
	EXPECT_STR(ga_count_text(1000, out), "1 000");
	EXPECT_STR(ga_count_text(12345678, out), "12 345 678");
	EXPECT_STR(ga_count_text(UINT64_MAX, out), "18 446 744 073 709 551 615");
}

TEST(things)
{
	char out[GA_THINGS_TEXT];
	EXPECT_STR(ga_things_text(0, "event", out), "0 events");
	EXPECT_STR(ga_things_text(1, "event", out), "1 event");
	EXPECT_STR(ga_things_text(12345, "event", out), "12 345 events");
	ga_things_text(UINT64_MAX, "thing of at most thirty letters", out);
	EXPECT_EQ(strlen(out), 26 + 1 + 31 + 1);
}
