/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the stand-in CUPTI share: a client that gives buffers and keeps the records. */
#ifndef GD_CUPTI_TEST_H
#define GD_CUPTI_TEST_H

#include <cupti.h>
#include <pthread.h>
#include <time.h>

#include "tests/dryrun/runtime_test.h"

#define MOST_RECORDS 400000

/* A record as it came: a copy, and which buffer it lay in. */
struct seen {
	unsigned kind;
	size_t bytes; /* to the next record */
	unsigned buffer;
	char copy[256];
};
static struct seen *seen;
static size_t seen_count;
static unsigned buffers_given, buffers_back, broken_buffers;
static size_t give_bytes = 1 << 16, give_most, give_shift, last_valid_bytes;
static bool give_none;
static pthread_mutex_t client_lock = PTHREAD_MUTEX_INITIALIZER;

static void CUPTIAPI give(uint8_t **buffer, size_t *bytes, size_t *most)
{
	pthread_mutex_lock(&client_lock);
	*buffer = give_none ? NULL : aligned_alloc(64, (give_bytes + 127) / 64 * 64);
	if (*buffer) {
		memset(*buffer, 0xee, give_bytes);
		*buffer += give_shift;
	}
	*bytes = give_bytes;
	*most = give_most;
	buffers_given++;
	pthread_mutex_unlock(&client_lock);
}

static void CUPTIAPI take(
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	CUpti_Activity *record = NULL;
	CUptiResult result;

	pthread_mutex_lock(&client_lock);
	last_valid_bytes = valid;
	while ((result = cuptiActivityGetNextRecord(buffer, valid, &record)) == CUPTI_SUCCESS) {
		size_t left = valid - (size_t)((uint8_t *)record - buffer);
		struct seen *to = &seen[seen_count];

		REQUIRE(seen_count < MOST_RECORDS && (uintptr_t)record % 8 == 0);
		to->kind = record->kind;
		to->buffer = buffers_back;
		memcpy(to->copy, record, left < sizeof(to->copy) ? left : sizeof(to->copy));
		seen_count++;
	}
	broken_buffers += result != CUPTI_ERROR_MAX_LIMIT_REACHED;
	buffers_back++;
	free(buffer - give_shift);
	pthread_mutex_unlock(&client_lock);
}

static uint64_t monotonic(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#define CUPTI(call) \
	do { \
		CUptiResult cupti_ = (call); \
		if (cupti_ != CUPTI_SUCCESS) { \
			printf( \
			    "# %s:%d: %s answers %d\n", __FILE__, __LINE__, #call, (int)cupti_); \
			exit(1); \
		} \
	} while (0)

static CUfunction kernel;

static const char kernels_ptx[] = ".version 7.0\n.target sm_80\n.address_size 64\n"
				  ".visible .entry nothing() { ret; }\n";

/* A device, a kernel, a client; nothing is recorded yet. */
static __attribute__((unused)) void start(const char *clock)
{
	CUmodule module;

	setenv("GPUSHIM_DRYRUN_DEVICE", "name=Test GPU;total=1073741824;cc=8.0;sm=108", 1);
	setenv("GPUSHIM_DRYRUN_COUNT", "2", 1);
	setenv("GPUSHIM_DRYRUN_CLOCK", clock, 1);
	seen = calloc(MOST_RECORDS, sizeof(*seen));
	REQUIRE(seen);
	OK(cudaFree(NULL));
	OK(cuModuleLoadData(&module, kernels_ptx));
	OK(cuModuleGetFunction(&kernel, module, "nothing"));
	CUPTI(cuptiActivityRegisterTimestampCallback(monotonic));
	CUPTI(cuptiActivityRegisterCallbacks(give, take));
}

static __attribute__((unused)) cudaError_t launch(cudaStream_t stream)
{
	dim3 grid = {3, 2, 1}, block = {64, 1, 1};

	return cudaLaunchKernel((const void *)kernel, grid, block, NULL, 0, stream);
}

static __attribute__((unused)) size_t count(unsigned kind)
{
	size_t found = 0;

	for (size_t i = 0; i < seen_count; i++)
		found += seen[i].kind == kind;
	return found;
}

/* The record of a kind that came n-th, counted from 0. */
static __attribute__((unused)) void *nth(unsigned kind, size_t n)
{
	for (size_t i = 0; i < seen_count; i++) {
		if (seen[i].kind == kind && n-- == 0)
			return seen[i].copy;
	}
	REQUIRE(!"a record of that kind");
	return NULL;
}

static __attribute__((unused)) void flush(void)
{
	CUPTI(cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED));
}

/* The record of a call by its number. */
static __attribute__((unused)) CUpti_ActivityAPI *call_record(unsigned kind, unsigned call)
{
	for (size_t i = 0; i < seen_count; i++) {
		CUpti_ActivityAPI *api = (CUpti_ActivityAPI *)seen[i].copy;

		if (seen[i].kind == kind && api->cbid == call)
			return api;
	}
	return NULL;
}

#endif
