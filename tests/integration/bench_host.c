/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the recorder adds to one call: the same driver function through the recorder's wrapper and
 * through its own address, in small batches as training makes them.
 *
 *   bench_host calls     ns added to a recorded call and to a block of the caching allocator
 *   bench_host filtered  the same where GPUSHIM_RECORD leaves the class out
 *   bench_host memory    resident bytes after a million calls, at 300 000 a second
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define BATCHES 200
#define CALLS 500

struct device {
	int8_t type, index;
};

/* Weak: there is no recorder in the runs that it is compared with. */
int cuStreamQuery(void *stream) __attribute__((weak));
void report_block(void *address, int64_t size, uint64_t allocated, uint64_t reserved,
    struct device device) __asm__("_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE")
    __attribute__((weak));

typedef int (*query)(void *stream);
static query through_hook, direct;
static unsigned long long block;

static double now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void need(bool condition, const char *what)
{
	if (!condition) {
		fprintf(stderr, "bench_host: failed: %s\n", what);
		exit(77);
	}
}

static void *plain_dlsym(void *handle, const char *name)
{
	void *c = dlopen("libc.so.6", RTLD_LAZY);
	static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17"};
	for (int i = 0; i < 3; i++) {
		void *found = dlvsym(c, "dlsym", versions[i]);
		if (found)
			return ((void *(*)(void *, const char *))found)(handle, name);
	}
	return NULL;
}

static void load(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	need(driver, "libcuda.so.1");
	int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
	int (*retain)(void **, int) =
	    (int (*)(void **, int))dlsym(driver, "cuDevicePrimaryCtxRetain");
	int (*set)(void *) = (int (*)(void *))dlsym(driver, "cuCtxSetCurrent");
	int (*alloc)(unsigned long long *, size_t) =
	    (int (*)(unsigned long long *, size_t))dlsym(driver, "cuMemAlloc_v2");
	through_hook = (query)dlsym(driver, "cuStreamQuery");
	direct = (query)plain_dlsym(driver, "cuStreamQuery");
	void *context;
	need(init && init(0) == 0 && retain(&context, 0) == 0 && set(context) == 0, "context");
	double start = now_ns();
	need(alloc(&block, 1 << 20) == 0, "cuMemAlloc_v2");
	printf("first recorded call: %.0f us\n", (now_ns() - start) / 1e3);
	need(direct && direct(NULL) == 0 && through_hook(NULL) == 0, "cuStreamQuery");
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_spread(const char *what, double *values)
{
	qsort(values, BATCHES, sizeof(*values), ascending);
	printf("%s: %.1f ns (quartiles %.1f to %.1f, least %.1f)\n", what, values[BATCHES / 2],
	    values[BATCHES / 4], values[3 * BATCHES / 4], values[0]);
}

static double batch(query function)
{
	double start = now_ns();
	for (int i = 0; i < CALLS; i++)
		function(NULL);
	return (now_ns() - start) / CALLS;
}

static void rest(void)
{
	struct timespec t = {.tv_nsec = 1500000}; /* 500 calls each 1.6 ms: 300 000 a second */
	nanosleep(&t, NULL);
}

static void compare(const char *what, query function)
{
	double added[BATCHES];
	for (int i = 0; i < BATCHES; i++) {
		rest();
		double plain = batch(direct);
		added[i] = batch(function) - plain;
	}
	print_spread(what, added);
}

static void blocks(void)
{
	double added[BATCHES];
	struct device device = {1, 0};
	if (!report_block)
		return;
	for (int i = 0; i < BATCHES; i++) {
		rest();
		double start = now_ns();
		for (int k = 0; k < CALLS; k++)
			report_block((void *)(uintptr_t)block, k % 2 ? -512 : 512, 512, 2 << 20, device);
		added[i] = (now_ns() - start) / CALLS;
	}
	print_spread("block event", added);
}

static void print_resident(void)
{
	char line[256];
	FILE *status = fopen("/proc/self/status", "r");
	while (status && fgets(line, sizeof(line), status))
		if (strncmp(line, "VmRSS", 5) == 0)
			printf("resident: %ld KiB\n", atol(line + 6));
	if (status)
		fclose(status);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "calls";
	load();
	if (strcmp(mode, "memory") == 0) {
		for (int i = 0; i < 1000000 / CALLS; i++) {
			batch(through_hook);
			rest();
		}
		print_resident();
		return 0;
	}
	bool filtered = strcmp(mode, "filtered") == 0;
	compare(filtered ? "filtered call" : "recorded call", through_hook);
	if (cuStreamQuery)
		compare(filtered ? "filtered call, linked" : "recorded call, linked", cuStreamQuery);
	if (!filtered)
		blocks();
	return 0;
}
