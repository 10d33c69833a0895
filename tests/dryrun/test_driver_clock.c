/* SPDX-License-Identifier: Apache-2.0 */
/* The clock of the stand-in driver: how long work takes, what it waits for, who may look. */
#include <dlfcn.h>
#include <time.h>

#include "shim/dryrun/operations.h"
#include "tests/dryrun/driver_test.h"

static double now_ms(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

TEST(kernels_take_the_time_that_the_clock_says)
{
	CUevent first, second;
	CUstream stream, other;
	CUfunction function;
	float ms;
	setenv("GPUSHIM_DRYRUN_CLOCK", "20000000", 1);
	start_small();
	function = load_kernel("nothing");
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&first, 0));
	OK(cuEventCreate(&second, 0));
	double begin = now_ms();
	OK(cuEventRecord(first, stream));
	OK(launch(function, stream));
	OK(launch(function, stream));
	OK(cuEventRecord(second, stream));
	EXPECT_EQ(cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
	EXPECT_EQ(cuEventQuery(second), CUDA_ERROR_NOT_READY);
	EXPECT_EQ(cuEventElapsedTime(&ms, first, second), CUDA_ERROR_NOT_READY);
	OK(cuStreamQuery(other));
	OK(cuStreamWaitEvent(other, second, 0));
	EXPECT_EQ(cuStreamQuery(other), CUDA_ERROR_NOT_READY);
	EXPECT(now_ms() - begin < 35);
	OK(cuStreamSynchronize(other));
	EXPECT(now_ms() - begin >= 40);
	OK(cuEventSynchronize(second));
	OK(cuEventElapsedTime(&ms, first, second));
	EXPECT(ms >= 39.9 && ms < 60);
}

TEST(the_legacy_stream_waits_for_blocking_ones)
{
	CUstream blocking, free_one;
	CUfunction function;
	unsigned out;
	CUdeviceptr a;
	setenv("GPUSHIM_DRYRUN_CLOCK", "30000000", 1);
	start_small();
	function = load_kernel("nothing");
	OK(cuMemAlloc_v2(&a, 100));
	OK(cuStreamCreate(&blocking, 0));
	OK(cuStreamCreate(&free_one, CU_STREAM_NON_BLOCKING));
	double begin = now_ms();
	OK(launch(function, free_one));
	OK(cuMemcpyDtoH_v2(&out, a, 4)); /* on the legacy stream */
	EXPECT(now_ms() - begin < 25);
	begin = now_ms();
	OK(launch(function, blocking));
	OK(cuMemcpyDtoH_v2(&out, a, 4));
	EXPECT(now_ms() - begin >= 30);
	begin = now_ms();
	OK(launch(function, NULL));
	OK(launch(function, blocking)); /* behind the legacy stream's kernel */
	OK(cuCtxSynchronize());
	EXPECT(now_ms() - begin >= 60);
}

TEST(the_model_gives_copies_and_kernels_time)
{
	CUstream stream;
	CUdeviceptr a;
	void *host;
	setenv("GPUSHIM_DRYRUN_CLOCK", "model", 1);
	start("total=8589934592;cc=8.0;pcie=1000000000;bandwidth=1000000000000");
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuMemAlloc_v2(&a, 64 * MIB));
	OK(cuMemHostAlloc(&host, 64 * MIB, 0));
	double begin = now_ms();
	OK(cuMemcpyHtoDAsync_v2(a, host, 40 * 1000 * 1000, stream)); /* 40 ms at 1 GB/s */
	EXPECT(now_ms() - begin < 30);
	OK(cuStreamSynchronize(stream));
	EXPECT(now_ms() - begin >= 40);
}

static struct gd_operation seen[8];
static unsigned seen_count;

static void see(const struct gd_operation *operation, void *user)
{
	if (user == &seen && seen_count < 8)
		seen[seen_count++] = *operation;
}

static void observe(bool on)
{
	void (*observe_call)(void (*)(const struct gd_operation *, void *), void *);
	*(void **)&observe_call = dlsym(RTLD_DEFAULT, "gpushim_dryrun_observe");
	REQUIRE(observe_call != NULL);
	observe_call(on ? see : NULL, on ? &seen : NULL);
}

TEST(an_observer_sees_what_is_enqueued)
{
	CUstream stream;
	CUdeviceptr a, pooled;
	unsigned long long id;
	static unsigned host;
	start_small();
	CUfunction function = load_kernel("nothing");
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamGetId(stream, &id));
	OK(cuMemAlloc_v2(&a, 1000));
	OK(launch(function, stream)); /* before anybody looks */
	observe(true);
	OK(cuLaunchKernel(function, 2, 3, 1, 64, 1, 1, 128, stream, NULL, NULL));
	OK(cuMemcpyHtoDAsync_v2(a, &host, 4, stream));
	OK(cuMemsetD16Async(a, 7, 10, stream));
	OK(cuMemAllocAsync(&pooled, 100, stream));
	OK(cuMemFreeAsync(pooled, stream)); /* no work of a device */
	observe(false);
	OK(launch(function, stream));
	REQUIRE(seen_count == 3);
	EXPECT_EQ(seen[0].kind, GD_OPERATION_KERNEL);
	EXPECT_STR(seen[0].name, "nothing");
	EXPECT(seen[0].grid[0] == 2 && seen[0].grid[1] == 3 && seen[0].block[0] == 64);
	EXPECT_EQ(seen[0].dynamic_shared_bytes, 128);
	EXPECT_EQ(seen[1].kind, GD_OPERATION_COPY);
	EXPECT(seen[1].from == GD_MEMORY_PAGEABLE && seen[1].to == GD_MEMORY_DEVICE);
	EXPECT(seen[1].bytes == 4 && seen[1].asynchronous);
	EXPECT_EQ(seen[2].kind, GD_OPERATION_MEMSET);
	EXPECT(seen[2].bytes == 20 && seen[2].value == 7 && seen[2].to == GD_MEMORY_DEVICE);
	for (unsigned i = 0; i < 3; i++) {
		EXPECT_EQ(seen[i].stream_id, id);
		EXPECT(seen[i].start_ns && seen[i].start_ns <= seen[i].end_ns);
		EXPECT(i == 0 || seen[i - 1].end_ns <= seen[i].start_ns);
	}
}

static void hint(unsigned long long flops)
{
	void (*hint_call)(unsigned long long, int);
	*(void **)&hint_call = dlsym(RTLD_DEFAULT, "gpushim_dryrun_hint");
	REQUIRE(hint_call != NULL);
	hint_call(flops, 0);
}

static uint64_t duration_us(unsigned i)
{
	REQUIRE(i < seen_count);
	return (seen[i].end_ns - seen[i].start_ns + 500) / 1000;
}

static void wait_a_little(void *unused)
{
	usleep(5000);
}

TEST(what_a_kernel_computes_stays_with_its_launch)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	setenv("GPUSHIM_DRYRUN_CLOCK", "model", 1);
	start("total=1073741824;cc=8.0;fp32=1000000000000"); /* 1e9 operations take 1 ms */
	CUfunction function = load_kernel("nothing");
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	observe(true);
	hint(1000000000);
	OK(launch(function, stream));
	OK(launch(function, stream));
	hint(1000000000);
	EXPECT_EQ(launch(NULL, stream), CUDA_ERROR_INVALID_HANDLE);
	OK(launch(function, stream));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	hint(2000000000);
	OK(launch(function, stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(launch(function, stream));
	OK(cuGraphLaunch(exec, stream));
	OK(cuLaunchHostFunc(stream, wait_a_little, NULL)); /* what follows waits for it */
	hint(3000000000);
	OK(launch(function, stream));
	OK(launch(function, stream));
	OK(cuStreamSynchronize(stream));
	observe(false);
	EXPECT_EQ(duration_us(0), 1003);
	EXPECT_EQ(duration_us(1), 5);
	EXPECT_EQ(duration_us(2), 5);
	EXPECT_EQ(duration_us(3), 5);
	EXPECT_EQ(duration_us(4), 2003);
	EXPECT(seen[4].graph_exec_id && seen[4].node_id && !seen[3].graph_exec_id);
	EXPECT_EQ(duration_us(5), 3003);
	EXPECT_EQ(duration_us(6), 5);
}

/* ---- times by name ---- */

static void write_times(const char *text)
{
	static char path[] = "/tmp/gpushim-times-XXXXXX";
	int file = mkstemp(path);
	REQUIRE(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	close(file);
	setenv("GPUSHIM_DRYRUN_TIMES", path, 1);
}

TEST(kernels_take_the_time_that_a_file_says)
{
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	write_times("# names as the compiler writes them\n\n"
		    "1s     thing*\n" /* fits no whole name */
		    "250us  ther   # a part\n"
		    "1.5ms  n?thing\n"
		    "1s     *\n");
	setenv("GPUSHIM_DRYRUN_CLOCK", "model", 1);
	start_small();
	unlink(getenv("GPUSHIM_DRYRUN_TIMES"));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	observe(true);
	OK(launch(load_kernel("other"), stream));
	hint(1000000000); /* the file knows better */
	OK(launch(load_kernel("nothing"), stream));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	OK(launch(load_kernel("other"), stream));
	OK(cuStreamEndCapture(stream, &graph));
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphLaunch(exec, stream));
	observe(false);
	EXPECT_EQ(duration_us(0), 250);
	EXPECT_EQ(duration_us(1), 1500);
	EXPECT_EQ(duration_us(2), 250);
}

TEST(a_file_of_times_that_is_wrong_starts_no_device)
{
	write_times("5us good\nfive bad\n");
	setenv("GPUSHIM_DRYRUN_CLOCK", "model", 1);
	setenv("GPUSHIM_DRYRUN_DEVICE", "total=1073741824", 1);
	EXPECT(cuInit(0) != CUDA_SUCCESS);
	unlink(getenv("GPUSHIM_DRYRUN_TIMES"));
}

/* ---- kernels share the device ---- */

/* Blocks of 1024 threads; the device holds 216. */
static void launch_blocks(CUfunction function, unsigned blocks, CUstream stream)
{
	OK(cuLaunchKernel(function, blocks, 1, 1, 1024, 1, 1, 0, stream, NULL, NULL));
}

/* Longer than any test: 10 s. */
static void fill_device(CUfunction function, CUstream stream)
{
	launch_blocks(function, 2000000000, stream);
}

static CUfunction start_sharing(CUstream *streams, unsigned count, int priority)
{
	setenv("GPUSHIM_DRYRUN_CLOCK", "model", 1);
	start("total=1073741824;cc=8.0;sm=108");
	for (unsigned i = 0; i < count; i++)
		OK(cuStreamCreateWithPriority(&streams[i], CU_STREAM_NON_BLOCKING, priority));
	observe(true);
	return load_kernel("nothing");
}

TEST(large_kernels_run_one_after_the_other)
{
	CUstream streams[2];
	CUfunction function = start_sharing(streams, 2, 0);
	fill_device(function, streams[0]);
	launch_blocks(function, 1, streams[1]);
	EXPECT(seen[1].start_ns == seen[0].end_ns);
}

TEST(small_kernels_run_beside_each_other)
{
	CUstream streams[5];
	CUfunction function = start_sharing(streams, 5, 0);
	fill_device(function, streams[0]);
	for (int i = 1; i < 5; i++)
		launch_blocks(function, 70, streams[i]);
	for (int i = 1; i < 4; i++)
		EXPECT(seen[i].start_ns == seen[0].end_ns);
	EXPECT(seen[4].start_ns == seen[1].end_ns); /* three fit */
}

TEST(a_higher_priority_does_not_wait_for_a_lower_one)
{
	CUstream low[2], high[1];
	CUfunction function = start_sharing(low, 2, 0);
	OK(cuStreamCreateWithPriority(high, CU_STREAM_NON_BLOCKING, -1));
	fill_device(function, low[0]);
	launch_blocks(function, 1000, high[0]);
	fill_device(function, high[0]);
	launch_blocks(function, 1000, low[1]);
	EXPECT(seen[1].start_ns == seen[1].enqueued_ns);
	EXPECT(seen[2].start_ns < seen[0].end_ns);
	/* The lower one waits for both. */
	EXPECT(seen[2].end_ns > seen[0].end_ns && seen[3].start_ns == seen[2].end_ns);
}

/* Hundreds of kernels of all sizes, behind one that holds them up. */
TEST(the_device_is_full_but_never_overfull)
{
	enum { KERNELS = 600, STREAMS = 8, ROOM = 216 };
	static struct gd_operation all[KERNELS];
	static unsigned blocks[KERNELS];
	CUstream streams[STREAMS];
	unsigned random = 1;
	uint64_t work = 0, end_ns = 0;
	CUfunction function = start_sharing(streams, STREAMS, 0);
	fill_device(function, streams[0]);
	uint64_t start_ns = seen[0].end_ns;
	for (unsigned i = 0; i < KERNELS; i++) {
		random = random * 1103515245 + 12345;
		blocks[i] = 1 + (random >> 16) % 100;
		seen_count = 0;
		launch_blocks(function, blocks[i], streams[i % STREAMS]);
		all[i] = seen[0];
		work += blocks[i] * (all[i].end_ns - all[i].start_ns);
		end_ns = all[i].end_ns > end_ns ? all[i].end_ns : end_ns;
		EXPECT(all[i].start_ns >= start_ns);
	}
	for (unsigned i = 0; i < KERNELS; i++) {
		unsigned at_once = 0;
		for (unsigned j = 0; j < KERNELS; j++)
			if (all[j].start_ns <= all[i].start_ns && all[i].start_ns < all[j].end_ns)
				at_once += blocks[j];
		EXPECT(at_once <= ROOM);
	}
	EXPECT(work > (end_ns - start_ns) * ROOM / 10 * 7);
}
