/* SPDX-License-Identifier: Apache-2.0 */
/* The client's buffers: when the stand-in CUPTI asks for them, fills them, gives them back. */
#include "tests/dryrun/cupti_test.h"

static void record_kernels(const char *clock)
{
	start(clock);
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
}

static void launch_many(int times)
{
	for (int i = 0; i < times; i++)
		OK(launch(NULL));
}

static size_t dropped(void)
{
	size_t records = 12345;

	CUPTI(cuptiActivityGetNumDroppedRecords(NULL, 0, &records));
	return records;
}

static CUpti_ActivityKernel7 *kernel_at(size_t i)
{
	return (CUpti_ActivityKernel7 *)seen[i].copy;
}

TEST(asked_for_at_the_first_record)
{
	record_kernels("instant");
	EXPECT_EQ(buffers_given, 0);
	launch_many(1);
	EXPECT_EQ(buffers_given, 1);
	EXPECT_EQ(buffers_back, 0);
	CUPTI(cuptiActivityFlushAll(0));
	EXPECT_EQ(buffers_back, 1);
	EXPECT_EQ(seen_count, 1);
	CUPTI(cuptiActivityFlushAll(0)); /* nothing new: no buffer moves */
	EXPECT_EQ(buffers_given, 1);
	EXPECT_EQ(buffers_back, 1);
}

TEST(full_ones_come_back_by_themselves_and_in_order)
{
	give_bytes = 4096;
	record_kernels("instant");
	launch_many(1000);
	EXPECT(buffers_back > 10);
	EXPECT_EQ(buffers_given, buffers_back + 1);
	EXPECT(last_valid_bytes > 4096 - 256 && last_valid_bytes <= 4096);
	flush();
	EXPECT_EQ(seen_count, 1000);
	for (size_t i = 1; i < 1000; i++) {
		EXPECT(kernel_at(i)->gridId == kernel_at(i - 1)->gridId + 1);
		EXPECT(seen[i].buffer >= seen[i - 1].buffer);
	}
	EXPECT_EQ(dropped(), 0);
}

TEST(no_more_records_than_the_client_wants)
{
	give_most = 3;
	record_kernels("instant");
	launch_many(7);
	EXPECT_EQ(buffers_back, 2);
	EXPECT_EQ(seen_count, 6);
}

TEST(without_a_buffer_records_are_dropped_and_counted)
{
	give_none = true;
	record_kernels("instant");
	launch_many(5);
	EXPECT_EQ(dropped(), 5);
	EXPECT_EQ(dropped(), 0);
	give_none = false;
	launch_many(1);
	flush();
	EXPECT_EQ(seen_count, 1);
	give_bytes = 64; /* less than a record */
	launch_many(2);
	EXPECT_EQ(dropped(), 2);
	give_bytes = 4096;
	give_shift = 4;
	launch_many(3);
	EXPECT_EQ(dropped(), 3);
	EXPECT_EQ(buffers_back, buffers_given - 5); /* the useless ones went back too */
	EXPECT_EQ(cuptiActivityGetNumDroppedRecords(NULL, 0, NULL), CUPTI_ERROR_INVALID_PARAMETER);
}

TEST(what_still_runs_waits_for_its_end_or_for_force)
{
	record_kernels("200000000"); /* 200 ms a kernel */
	launch_many(2);
	CUPTI(cuptiActivityFlushAll(0));
	EXPECT_EQ(seen_count, 0);
	flush();
	EXPECT_EQ(seen_count, 2);
	EXPECT_EQ(kernel_at(0)->start, 0);
	EXPECT_EQ(kernel_at(0)->end, 0);
	OK(cudaDeviceSynchronize());
	launch_many(1);
	OK(cudaDeviceSynchronize());
	CUPTI(cuptiActivityFlushAll(0));
	EXPECT_EQ(seen_count, 3);
	EXPECT_EQ(kernel_at(2)->end - kernel_at(2)->start, 200000000);
}

TEST(cleared_unless_the_client_does_that)
{
	size_t bytes = 1;
	uint8_t yes = 1;

	record_kernels("instant");
	launch_many(1);
	flush();
	CUPTI(cuptiActivitySetAttribute(
	    CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &yes));
	uint8_t read = 0;
	CUPTI(cuptiActivityGetAttribute(
	    CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &bytes, &read));
	EXPECT_EQ(read, 1);
	bytes = 4;
	EXPECT_EQ(cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE, &bytes, &yes),
	    CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
	EXPECT_EQ(cuptiActivitySetAttribute((CUpti_ActivityAttribute)99, &bytes, &yes),
	    CUPTI_ERROR_INVALID_PARAMETER);
}

static void *launch_in_thread(void *unused)
{
	launch_many(3);
	return unused;
}

#define PER_THREAD ((CUpti_ActivityAttribute)9) /* since CUDA 12.3 */

/* What two threads' calls need of buffers. */
static unsigned buffers_of_threads(void)
{
	pthread_t thread;

	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	launch_many(3);
	REQUIRE(pthread_create(&thread, NULL, launch_in_thread, NULL) == 0);
	pthread_join(thread, NULL);
	flush();
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_RUNTIME), 6);
	return buffers_given;
}

TEST(a_buffer_for_each_thread_or_for_all)
{
	uint8_t now = 77;
	size_t bytes = 1;

	start("instant");
#if CUDART_VERSION >= 12000
	CUPTI(cuptiActivityGetAttribute(PER_THREAD, &bytes, &now));
	EXPECT_EQ(now, CUDART_VERSION >= 13000);
	EXPECT_EQ(buffers_of_threads(), CUDART_VERSION >= 13000 ? 2 : 1);
#else
	EXPECT_EQ(
	    cuptiActivityGetAttribute(PER_THREAD, &bytes, &now), CUPTI_ERROR_INVALID_PARAMETER);
	EXPECT_EQ(buffers_of_threads(), 1);
#endif
}

#if CUDART_VERSION >= 12000
TEST(the_other_way_on_request)
{
	uint8_t other = CUDART_VERSION < 13000;
	size_t bytes = 1;

	start("instant");
	CUPTI(cuptiActivitySetAttribute(PER_THREAD, &bytes, &other));
	EXPECT_EQ(buffers_of_threads(), CUDART_VERSION >= 13000 ? 1 : 2);
}
#endif

TEST(calls_come_back_before_their_work)
{
	start("instant");
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	CUPTI(cuptiActivityPushExternalCorrelationId(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 1));
	launch_many(1);
	flush();
	REQUIRE(seen_count == 3);
	EXPECT_EQ(seen[0].kind, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 1);
}

static size_t seen_so_far(void)
{
	size_t so_far;

	pthread_mutex_lock(&client_lock);
	so_far = seen_count;
	pthread_mutex_unlock(&client_lock);
	return so_far;
}

TEST(a_period_needs_no_flush)
{
	give_most = 1;
	record_kernels("20000000");
	CUPTI(cuptiActivityFlushPeriod(5));
	uint64_t begun = monotonic();
	launch_many(1);
	usleep(5000);
	size_t early = seen_so_far();
	EXPECT(early == 0 || monotonic() - begun > 20000000);
	for (int i = 0; i < 400 && !seen_so_far(); i++)
		usleep(5000);
	EXPECT_EQ(seen_so_far(), 1);
	CUPTI(cuptiActivityFlushPeriod(0));
}

TEST(all_come_back_at_the_end)
{
	record_kernels("instant");
	launch_many(4);
	CUPTI(cuptiFinalize());
	EXPECT_EQ(seen_count, 4);
	EXPECT_EQ(buffers_back, buffers_given);
	launch_many(4);
	EXPECT_EQ(buffers_back, buffers_given);
	EXPECT_EQ(cuptiActivityFlushAll(0), CUPTI_ERROR_INVALID_OPERATION);
	CUPTI(cuptiActivityRegisterCallbacks(give, take)); /* a second life */
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	launch_many(1);
	flush();
	EXPECT_EQ(seen_count, 5);
}

static int exit_pipe[2];

static void tell_what_came(void)
{
	unsigned char came = (unsigned char)seen_count;

	if (write(exit_pipe[1], &came, 1) != 1)
		_exit(9);
}

TEST(and_at_exit)
{
	unsigned char came = 0;
	int status;

	REQUIRE(pipe(exit_pipe) == 0);
	pid_t child = fork();
	if (!child) {
		atexit(tell_what_came); /* in front of CUPTI's, so it runs behind */
		record_kernels("instant");
		launch_many(3);
		exit(0);
	}
	REQUIRE(waitpid(child, &status, 0) == child && status == 0);
	REQUIRE(read(exit_pipe[0], &came, 1) == 1);
	EXPECT_EQ(came, 3);
}

TEST(a_forked_child_leaves_the_buffers_alone)
{
	int status;

	record_kernels("instant");
	launch_many(1);
	pid_t child = fork();
	if (!child) {
		EXPECT_EQ(cuptiActivityFlushAll(1), CUPTI_ERROR_NOT_INITIALIZED);
		EXPECT_EQ(cuptiFinalize(), CUPTI_ERROR_NOT_INITIALIZED);
		EXPECT_EQ(buffers_back, 0);
		exit(test_failures != 0);
	}
	REQUIRE(waitpid(child, &status, 0) == child);
	EXPECT_EQ(status, 0);
	flush();
	EXPECT_EQ(seen_count, 1);
}

static CUptiResult inner_flush;

static void CUPTIAPI take_and_flush(
    CUcontext context, uint32_t stream, uint8_t *buffer, size_t bytes, size_t valid)
{
	inner_flush = cuptiActivityFlushAll(0);
	take(context, stream, buffer, bytes, valid);
}

TEST(no_flush_from_a_callback)
{
	start("instant");
	CUPTI(cuptiActivityRegisterCallbacks(give, take_and_flush));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	launch_many(1);
	flush();
	EXPECT_EQ(inner_flush, CUPTI_ERROR_INVALID_OPERATION);
	EXPECT_EQ(seen_count, 1);
}

/* ---- kinds ---- */

TEST(kinds_that_do_not_go_together)
{
	start("instant");
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_KERNEL));
	EXPECT_EQ(
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), CUPTI_ERROR_NOT_COMPATIBLE);
	EXPECT_EQ(cuptiActivityEnable((CUpti_ActivityKind)0), CUPTI_ERROR_INVALID_KIND);
	EXPECT_EQ(cuptiActivityEnable((CUpti_ActivityKind)5000), CUPTI_ERROR_INVALID_KIND);
	EXPECT_EQ(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_COUNT), CUPTI_ERROR_INVALID_KIND);
	launch_many(1);
	CUPTI(cuptiActivityDisable(CUPTI_ACTIVITY_KIND_KERNEL));
	launch_many(1);
	flush();
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_KERNEL), 1);
	EXPECT_EQ(seen_count, 1);
}

/* ---- faults ---- */

TEST(a_kind_that_nobody_knows)
{
	setenv("GPUSHIM_DRYRUN_FAULTS", "cupti.unknown_kind:2=900", 1);
	record_kernels("instant");
	launch_many(3);
	flush();
	EXPECT_EQ(seen_count, 4);
	EXPECT_EQ(seen[1].kind, 900);
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 3);
}

TEST(a_buffer_that_is_lost)
{
	give_most = 2;
	setenv("GPUSHIM_DRYRUN_FAULTS", "cupti.buffer_dropped:2=1", 1);
	record_kernels("instant");
	launch_many(6);
	EXPECT_EQ(buffers_back, 3);
	EXPECT_EQ(seen_count, 4);
	EXPECT_EQ(dropped(), 2);
}

TEST(buffers_that_are_damaged)
{
	give_most = 4;
	setenv("GPUSHIM_DRYRUN_FAULTS",
	    "cupti.buffer_damaged:1=1,cupti.buffer_damaged:2=2,cuptiActivityEnable:2=35", 1);
	record_kernels("instant");
	EXPECT_EQ(
	    cuptiActivityEnable(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
	EXPECT_EQ(cuptiGetLastError(), CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
	EXPECT_EQ(cuptiGetLastError(), CUPTI_SUCCESS);
	launch_many(4);
	EXPECT_EQ(broken_buffers, 1);
	EXPECT_EQ(seen_count, 3);
	launch_many(4);
	EXPECT_EQ(broken_buffers, 2);
	EXPECT_EQ(seen_count, 4);
}
