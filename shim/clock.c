/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/clock.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

#define GS_CLOCK_UNIT_NS 8

bool gs_clock_counter;

void gs_clock_choose(void)
{
#if defined(__x86_64__)
	unsigned a, b, c, d;
	/* "Invariant TSC": the counter runs at one rate in all power states. */
	gs_clock_counter = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8);
#elif defined(__aarch64__)
	gs_clock_counter = true; /* the architecture promises it */
#endif
}

struct gs_clock_pair gs_clock_read(void)
{
	struct gs_clock_pair best = {0};
	uint64_t narrowest = UINT64_MAX;
	for (int i = 0; i < 4; i++) {
		uint64_t before = gs_now();
		uint64_t monotonic_ns = gs_clock_ns(CLOCK_MONOTONIC);
		uint64_t realtime_ns = gs_clock_ns(CLOCK_REALTIME);
		uint64_t width = gs_now() - before;
		if (width < narrowest) {
			narrowest = width;
			best = (struct gs_clock_pair){before + width / 2, monotonic_ns, realtime_ns};
		}
	}
	return best;
}

unsigned gs_clock_shift(void)
{
	struct gs_clock_pair first = gs_clock_read();
	struct timespec pause = {.tv_nsec = 2000000};
	nanosleep(&pause, NULL);
	struct gs_clock_pair last = gs_clock_read();
	uint64_t ticks = last.ticks - first.ticks;
	uint64_t ns = last.monotonic_ns - first.monotonic_ns;
	unsigned shift = 0;
	while (shift < 20 && ns && (2ull << shift) * ns <= GS_CLOCK_UNIT_NS * ticks)
		shift++;
	return shift;
}
