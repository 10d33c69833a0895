/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit test harness: TEST(name) { EXPECT...; }, a child process per test, TAP on stdout.
 * A test that exits 77 is skipped.  Include it in exactly one file per test program.
 */
#ifndef TEST_H
#define TEST_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct test {
	const char *name;
	void (*run)(void);
	struct test *next;
	bool everywhere;
};
static struct test *test_first, **test_end = &test_first;
static int test_failures;

/* A list filled by constructors: an ELF-section array breaks under the address sanitizer. */
#define TEST(id) TEST_CALLED(id, #id, false)
/* With words in place of the name.  `everywhere`: it holds on a real driver, too (check-gpu). */
#define TEST_CALLED(id, words, everywhere) \
	static void test_##id(void); \
	__attribute__((constructor)) static void test_add_##id(void) \
	{ \
		static struct test t = {words, test_##id, NULL, everywhere}; \
		*test_end = &t; \
		test_end = &t.next; \
	} \
	static void test_##id(void)

#define EXPECT(condition) \
	do { \
		if (!(condition) && ++test_failures) \
			printf("# %s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
	} while (0)
#define EXPECT_EQ(got, want) \
	do { \
		long long got_ = (long long)(got), want_ = (long long)(want); \
		if (got_ != want_ && ++test_failures) \
			printf("# %s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #got, got_, \
			    want_); \
	} while (0)
#define EXPECT_STR(got, want) \
	do { \
		const char *got_ = (got), *want_ = (want); \
		if ((!got_ || strcmp(got_, want_) != 0) && ++test_failures) \
			printf("# %s:%d: %s is \"%s\", not \"%s\"\n", __FILE__, __LINE__, #got, \
			    got_ ? got_ : "(null)", want_); \
	} while (0)
/* For what the rest of the test cannot do without. */
#define REQUIRE(condition) \
	do { \
		if (!(condition)) { \
			printf("# %s:%d: required: %s\n", __FILE__, __LINE__, #condition); \
			exit(1); \
		} \
	} while (0)

#ifndef TEST_SECONDS
#define TEST_SECONDS 60
#endif

int main(int argc, char **argv)
{
	int count = 0, failed = 0;
	const bool real = getenv("GPUSHIM_TEST_REAL") != NULL;
	for (struct test *t = test_first; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]))
			continue;
		if (real && !t->everywhere) {
			printf("ok %d - %s # SKIP\n", ++count, t->name);
			continue;
		}
		fflush(stdout); /* else the child prints our lines again */
		pid_t child = fork();
		if (child == 0) {
			alarm(TEST_SECONDS);
			t->run();
			exit(test_failures != 0);
		}
		int status = -1;
		bool ran = child > 0 && waitpid(child, &status, 0) == child;
		int code = ran && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
		/* 127: the dynamic linker found no such function in an older real driver. */
		bool skip = code == 77 || (code == 127 && real);
		bool bad = !skip && status != 0;
		failed += bad;
		printf("%sok %d - %s", bad ? "not " : "", ++count, t->name);
		if (ran && WIFSIGNALED(status))
			printf(" # signal %d", WTERMSIG(status));
		puts(skip ? " # SKIP" : "");
	}
	printf("1..%d\n", count);
	return failed != 0;
}

#endif
