/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's clock: the processor's counter where it runs at one rate on all cores whatever
 * they do, else CLOCK_MONOTONIC in nanoseconds.  Which one is decided once, in the constructor.
 *
 * Threads: any.  gs_now() is some 20 cycles and may be called anywhere.
 */
#ifndef GS_CLOCK_H
#define GS_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

/* Whether ticks are those of the processor's counter. */
extern bool gs_clock_counter __attribute__((visibility("hidden")));

/** Decide which clock to use.  Constructor only; no system call. */
void gs_clock_choose(void);

static inline uint64_t gs_clock_ns(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/** Ticks now. */
static inline uint64_t gs_now(void)
{
	if (__builtin_expect(gs_clock_counter, 1)) {
#if defined(__x86_64__)
		return __rdtsc();
#elif defined(__aarch64__)
		uint64_t ticks;
		__asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
		return ticks;
#endif
	}
	return gs_clock_ns(CLOCK_MONOTONIC);
}

/* One instant in all clocks. */
struct gs_clock_pair {
	uint64_t ticks, monotonic_ns, realtime_ns;
};

/** Read all clocks at (nearly) one instant: the narrowest of a few tries. */
struct gs_clock_pair gs_clock_read(void);

/**
 * Unit in which times are stored: 2^shift ticks, the largest that is not above 8 ns.
 *
 * Measures the rate for about 2 ms.  Threads: helper thread only, it sleeps.
 */
unsigned gs_clock_shift(void);

#endif
