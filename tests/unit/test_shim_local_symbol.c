/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/local_symbol.h"

#include <dlfcn.h>

#include "tests/test.h"

/* Not exported, and named like functions of C++ whose last letter is the type of a parameter. */
static __attribute__((noinline, used)) void local_function_of_this_test_long(void)
{
	__asm__ volatile("");
}

static __attribute__((noinline, used)) void local_function_of_this_test_a(void)
{
	__asm__ volatile("");
}

static const char prefix[] = "local_function_of_this_test_";

TEST(function_that_is_not_exported)
{
	Dl_info info;
	REQUIRE(dladdr((void *)local_function_of_this_test_a, &info) != 0);
	uintptr_t found = gs_local_function("/proc/self/exe", prefix);
	EXPECT(found == (uintptr_t)local_function_of_this_test_a - (uintptr_t)info.dli_fbase);
	EXPECT(gs_local_function("/proc/self/exe", "local_function_of_this_test_long") ==
	       (uintptr_t)local_function_of_this_test_long - (uintptr_t)info.dli_fbase);
	EXPECT_EQ(gs_local_function("/proc/self/exe", "no_such_function_of_this_test"), 0);
}

/* The first bytes of this program: tables that its header names are not there. */
static void write_cut(const char *path, size_t bytes)
{
	static char head[4096];
	FILE *from = fopen("/proc/self/exe", "rb"), *to = fopen(path, "wb");
	REQUIRE(from && to && fread(head, 1, bytes, from) == bytes);
	REQUIRE(fwrite(head, 1, bytes, to) == bytes);
	fclose(from);
	REQUIRE(fclose(to) == 0);
}

TEST(files_that_tell_nothing)
{
	char path[64];
	snprintf(path, sizeof(path), "/tmp/gpushim-local-%d", (int)getpid());
	EXPECT_EQ(gs_local_function(path, prefix), 0);
	EXPECT_EQ(gs_local_function("/proc/self/cmdline", prefix), 0);
	write_cut(path, 40);
	EXPECT_EQ(gs_local_function(path, prefix), 0);
	write_cut(path, 4096);
	EXPECT_EQ(gs_local_function(path, prefix), 0);
	unlink(path);
}
