/* SPDX-License-Identifier: Apache-2.0 */
/* Many threads launch while records are flushed, kinds are switched, ids are pushed; the same
 * program is what a thread sanitizer is pointed at. */
#include "tests/dryrun/cupti_test.h"

#define THREADS 16
#define LAUNCHES 1000

static int done; /* atomic */

static void *work(void *number)
{
	cudaStream_t stream;
	uint64_t id;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	for (uintptr_t i = 0; i < LAUNCHES; i++) {
		CUPTI(cuptiActivityPushExternalCorrelationId(
		    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, i));
		OK(launch(stream));
		CUPTI(cuptiActivityPopExternalCorrelationId(
		    CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &id));
		EXPECT_EQ(id, i);
	}
	OK(cudaStreamSynchronize(stream));
	__atomic_add_fetch(&done, 1, __ATOMIC_ACQ_REL);
	return number;
}

static void run(void)
{
	pthread_t threads[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
	while (__atomic_load_n(&done, __ATOMIC_ACQUIRE) < THREADS) {
		CUPTI(cuptiActivityFlushAll(0));
		CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_MEMCPY));
		CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY));
		usleep(500);
	}
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static int by_correlation(const void *a, const void *b)
{
	uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

static void check(void)
{
	uint32_t *kernels = malloc(MOST_RECORDS * sizeof(*kernels)), found = 0, doubles = 0;
	size_t calls = 0;

	for (size_t i = 0; i < seen_count; i++) {
		CUpti_ActivityAPI *api = (CUpti_ActivityAPI *)seen[i].copy;

		if (seen[i].kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)
			kernels[found++] = ((CUpti_ActivityKernel7 *)seen[i].copy)->correlationId;
		if (seen[i].kind == CUPTI_ACTIVITY_KIND_RUNTIME)
			calls += api->cbid == CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
	}
	qsort(kernels, found, sizeof(*kernels), by_correlation);
	for (uint32_t i = 1; i < found; i++)
		doubles += kernels[i] == kernels[i - 1];
	EXPECT_EQ(found, THREADS * LAUNCHES);
	EXPECT_EQ(doubles, 0);
	EXPECT_EQ(calls, THREADS * LAUNCHES);
	EXPECT_EQ(broken_buffers, 0);
	free(kernels);
}

static void many_threads(const char *clock, uint8_t per_thread)
{
	size_t dropped;

	give_bytes = 8192;
	start(clock);
#if CUDART_VERSION >= 12000
	size_t bytes = 1;
	CUPTI(cuptiActivitySetAttribute((CUpti_ActivityAttribute)9, &bytes, &per_thread));
#endif
	CUPTI(cuptiActivityFlushPeriod(1));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	run();
	CUPTI(cuptiActivityFlushPeriod(0));
	flush();
	check();
	CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped));
	EXPECT_EQ(dropped, 0);
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION), THREADS * LAUNCHES);
}

TEST(buffers_of_their_own)
{
	many_threads("instant", 1);
}

TEST(one_buffer_and_a_clock)
{
	many_threads("model", 0);
}

#define ROUNDS 1500

static void *launch_once(void *unused)
{
	OK(launch(NULL));
	return unused;
}

/* A thread that ends leaves its records behind; whoever flushes just then has to take them. */
static void *come_and_go(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		pthread_t threads[4];

		for (int t = 0; t < 4; t++)
			REQUIRE(pthread_create(&threads[t], NULL, launch_once, NULL) == 0);
		for (int t = 0; t < 4; t++)
			pthread_join(threads[t], NULL);
	}
	__atomic_store_n(&done, 1, __ATOMIC_RELEASE);
	return unused;
}

TEST(threads_that_end_while_others_flush)
{
	pthread_t thread;

	give_bytes = 1024;
	start("instant");
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	REQUIRE(pthread_create(&thread, NULL, come_and_go, NULL) == 0);
	while (!__atomic_load_n(&done, __ATOMIC_ACQUIRE))
		CUPTI(cuptiActivityFlushAll(0));
	pthread_join(thread, NULL);
	flush();
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_RUNTIME), 4 * ROUNDS);
	EXPECT_EQ(buffers_back, buffers_given);
}
