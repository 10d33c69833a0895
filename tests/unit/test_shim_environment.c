/* SPDX-License-Identifier: Apache-2.0 */
/* The copy of an environment that others change meanwhile. */
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/environment.h"
#include "tests/test.h"

static size_t entries(void)
{
	size_t count = 0;
	while (gs_environment()[count])
		count++;
	return count;
}

TEST(before_it_was_taken_it_is_empty)
{
	EXPECT_EQ(entries(), 0);
	EXPECT(gs_environment_get("PATH") == NULL);
}

TEST(it_stays_as_it_was)
{
	char first[] = "A=1", second[] = "AB=2", *list[] = {second, first, NULL};
	environ = list;
	gs_environment_take();
	first[2] = '3';
	EXPECT_EQ(entries(), 2);
	EXPECT_STR(gs_environment_get("A"), "1");
	EXPECT_STR(gs_environment_get("AB"), "2");
	EXPECT(gs_environment_get("B") == NULL);
	gs_environment_take();
	EXPECT_STR(gs_environment_get("A"), "3");
}

/* The list was freed, and so was one of the strings. */
TEST(memory_that_is_gone)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	REQUIRE(memory != MAP_FAILED && munmap(memory + page, page) == 0);
	char **list = (char **)(void *)(memory + page) - 3; /* nothing ends it */
	list[0] = (char *)(uintptr_t)16;
	list[1] = memcpy(memory + 8, "HERE=x", 7);
	list[2] = memory + page + 1;
	environ = list;
	gs_environment_take();
	EXPECT_EQ(entries(), 1);
	EXPECT_STR(gs_environment_get("HERE"), "x");
}

TEST(long_entries_are_left_out)
{
	static char huge[1 << 20], small[] = "B=2", *list[] = {huge, small, NULL};
	memset(huge, 'A', sizeof(huge) - 1);
	environ = list;
	gs_environment_take();
	EXPECT_EQ(entries(), 1);
	EXPECT_STR(gs_environment_get("B"), "2");
}
