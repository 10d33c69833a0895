/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What taking a native call stack costs: the same stack again and again, and many known ones in turn.
 * Figures are the best of many thousand, since machines are busy; Python is measured by
 * tests/stacks/check_stacks.py.  Environment: O, the folder of the build.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 2000
#define DEPTHS 64

static unsigned (*take)(void);
static double (*cost)(unsigned rounds);

static __attribute__((noinline)) unsigned at_depth(unsigned depth)
{
	unsigned stack = depth ? at_depth(depth - 1) : take();
	__asm__ volatile("" ::: "memory"); /* no jump instead of the call */
	return stack;
}

static __attribute__((noinline)) double cost_at_depth(unsigned depth)
{
	double ns = depth ? cost_at_depth(depth - 1) : cost(ROUNDS);
	__asm__ volatile("" ::: "memory");
	return ns;
}

static double now_ns(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double cost_in_turn(void)
{
	double best = 1e18;
	for (unsigned round = 0; round < ROUNDS; round++) {
		double start = now_ns();
		for (unsigned depth = 0; depth < DEPTHS; depth++)
			at_depth(depth);
		double ns = (now_ns() - start) / DEPTHS;
		best = ns < best ? ns : best;
	}
	return best;
}

int main(void)
{
	char path[4096];
	const char *build = getenv("O");
	snprintf(path, sizeof(path), "%s/tests/stack_probe.so", build ? build : "build");
	void *probe = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	int (*start)(int) = probe ? (int (*)(int))dlsym(probe, "probe_start") : NULL;
	take = probe ? (unsigned (*)(void))dlsym(probe, "probe_take") : NULL;
	cost = probe ? (double (*)(unsigned))dlsym(probe, "probe_cost") : NULL;
	if (!start || !take || !cost || !start(3)) {
		fprintf(stderr, "bench_stacks: cannot use %s\n", path);
		return 1;
	}
	for (unsigned depth = 10; depth <= 90; depth += 20)
		printf("same stack, %2u native frames: %6.1f ns\n", depth, cost_at_depth(depth - 6));
	printf("%u stacks of 5 to %u native frames in turn: %6.1f ns each\n", DEPTHS, DEPTHS + 5,
	    cost_in_turn());
	return 0;
}
