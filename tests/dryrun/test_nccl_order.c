/* SPDX-License-Identifier: Apache-2.0 */
/* When operations of the stand-in NCCL run: nobody's host waits, streams do, and graphs repeat. */
#include "tests/dryrun/nccl_test.h"

static void *number(const struct ranks *r, int device, float value)
{
	return filled(r, device, &value, sizeof(value));
}

static float value_at(const struct ranks *r, int device, const void *memory)
{
	float value;

	read_back(r, device, &value, memory, sizeof(value));
	return value;
}

static void sum(struct ncclComm *comm, void *memory, CUstream stream)
{
	OK((CUresult)ncclAllReduce(memory, memory, 1, GD_NCCL_Float32, GD_NCCL_SUM, comm, stream));
}

static _Atomic int gate;

static void CUDA_CB hold(void *unused)
{
	(void)unused;
	while (!gate)
		usleep(1000);
}

/* What is enqueued in a stream from now on waits for go_on. */
static void wait_in(CUstream stream)
{
	gate = 0;
	OK(cuLaunchHostFunc(stream, hold, NULL));
}

static void go_on(void)
{
	gate = 1;
}

/* No group: each call returns although the other rank has not come. */
TEST(the_host_does_not_wait)
{
	struct ranks r;
	void *memory[DEVICES];

	start_ranks(&r);
	for (int d = 0; d < DEVICES; d++)
		memory[d] = number(&r, d, 1.0f + (float)d);
	sum(r.comm[0], memory[0], r.stream[0]);
	EXPECT_EQ(cuStreamQuery(r.stream[0]), CUDA_ERROR_NOT_READY);
	sum(r.comm[1], memory[1], r.stream[1]);
	EXPECT(value_at(&r, 0, memory[0]) == 3 && value_at(&r, 1, memory[1]) == 3);
}

TEST(two_communicators_in_different_order)
{
	struct ranks r;
	struct ncclComm *other[DEVICES];
	CUstream stream[DEVICES];
	void *a[DEVICES], *b[DEVICES];

	start_ranks(&r);
	OK((CUresult)ncclCommInitAll(other, DEVICES, NULL));
	for (int d = 0; d < DEVICES; d++) {
		a[d] = number(&r, d, 1);
		b[d] = number(&r, d, 2);
		OK(cuStreamCreate(&stream[d], CU_STREAM_NON_BLOCKING));
	}
	sum(r.comm[0], a[0], r.stream[0]);
	sum(other[0], b[0], stream[0]);
	sum(other[1], b[1], stream[1]);
	sum(r.comm[1], a[1], r.stream[1]);
	for (int d = 0; d < DEVICES; d++) {
		use(&r, d);
		EXPECT(ends(r.stream[d]) && ends(stream[d]));
		EXPECT(value_at(&r, d, a[d]) == 2 && value_at(&r, d, b[d]) == 4);
	}
}

/* Of one communicator the second waits for the first, in whatever stream. */
TEST(one_communicator_in_two_streams_keeps_its_order)
{
	struct ranks r;
	CUstream second;
	void *memory[DEVICES];

	start_ranks(&r);
	for (int d = 0; d < DEVICES; d++)
		memory[d] = number(&r, d, 1);
	use(&r, 0);
	OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	sum(r.comm[0], memory[0], r.stream[0]);
	sum(r.comm[0], memory[0], second);
	sum(r.comm[1], memory[1], r.stream[1]);
	EXPECT(ends(r.stream[0]));
	EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
	sum(r.comm[1], memory[1], r.stream[1]);
	EXPECT(ends(second));
	EXPECT(value_at(&r, 0, memory[0]) == 4);
}

TEST(work_of_the_stream_before_and_behind)
{
	struct ranks r;
	CUdeviceptr after;
	float *pinned;
	void *memory[DEVICES];

	start_ranks(&r);
	for (int d = 0; d < DEVICES; d++)
		memory[d] = number(&r, d, 1);
	use(&r, 0);
	OK(cuMemAlloc_v2(&after, sizeof(float)));
	OK(cuMemHostAlloc((void **)&pinned, sizeof(float), 0));
	*pinned = 5;
	OK(cuMemcpyHtoDAsync_v2(
	    (CUdeviceptr)(uintptr_t)memory[0], pinned, sizeof(float), r.stream[0]));
	sum(r.comm[0], memory[0], r.stream[0]);
	OK(cuMemcpyDtoDAsync_v2(
	    after, (CUdeviceptr)(uintptr_t)memory[0], sizeof(float), r.stream[0]));
	sum(r.comm[1], memory[1], r.stream[1]);
	EXPECT(value_at(&r, 0, (void *)(uintptr_t)after) == 6);
	abort_all(r.comm, DEVICES);
}

/* The kernel of a group runs in its first stream; the other's work is in order with it all the
 * same. */
TEST(messages_of_a_group_in_two_streams)
{
	struct ranks r;
	CUstream second;
	float *pinned, *got;
	void *out, *in, *peer;

	start_ranks(&r);
	peer = number(&r, 1, 7);
	out = number(&r, 0, 1);
	in = number(&r, 0, 0);
	use(&r, 0);
	OK(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
	OK(cuMemHostAlloc((void **)&pinned, 2 * sizeof(float), 0));
	got = pinned + 1;
	*pinned = 5;
	wait_in(second);
	OK(cuMemcpyHtoDAsync_v2((CUdeviceptr)(uintptr_t)out, pinned, sizeof(float), second));
	OK((CUresult)ncclGroupStart());
	OK((CUresult)ncclRecv(in, 1, GD_NCCL_Float32, 1, r.comm[0], r.stream[0]));
	OK((CUresult)ncclSend(out, 1, GD_NCCL_Float32, 1, r.comm[0], second));
	OK((CUresult)ncclGroupEnd());
	OK(cuMemcpyDtoHAsync_v2(got, (CUdeviceptr)(uintptr_t)in, sizeof(float), second));
	EXPECT_EQ(cuStreamQuery(r.stream[0]), CUDA_ERROR_NOT_READY);
	OK((CUresult)ncclGroupStart());
	OK((CUresult)ncclSend(peer, 1, GD_NCCL_Float32, 0, r.comm[1], r.stream[1]));
	OK((CUresult)ncclRecv(peer, 1, GD_NCCL_Float32, 0, r.comm[1], r.stream[1]));
	OK((CUresult)ncclGroupEnd());
	EXPECT_EQ(cuStreamQuery(r.stream[1]), CUDA_ERROR_NOT_READY);
	go_on();
	EXPECT(value_at(&r, 1, peer) == 5);
	use(&r, 0);
	OK(cuStreamSynchronize(second));
	EXPECT(*got == 7);
}

TEST(graphs_repeat_it)
{
	struct ranks r;
	CUgraph graph;
	CUgraphExec exec[DEVICES];
	void *memory[DEVICES];

	start_ranks(&r);
	for (int d = 0; d < DEVICES; d++) {
		memory[d] = number(&r, d, 1);
		use(&r, d);
		OK(cuStreamBeginCapture_v2(r.stream[d], CU_STREAM_CAPTURE_MODE_GLOBAL));
		sum(r.comm[d], memory[d], r.stream[d]);
		OK(cuStreamEndCapture(r.stream[d], &graph));
		OK(cuGraphInstantiateWithFlags(&exec[d], graph, 0));
		OK(cuGraphDestroy(graph));
	}
	for (int i = 0; i < 3; i++) {
		for (int d = 0; d < DEVICES; d++) {
			use(&r, d);
			OK(cuGraphLaunch(exec[d], r.stream[d]));
		}
	}
	EXPECT(value_at(&r, 0, memory[0]) == 8 && value_at(&r, 1, memory[1]) == 8);
	OK(cuGraphExecDestroy(exec[0]));
	OK((CUresult)ncclCommDestroy(r.comm[0])); /* the other graph still names its own */
	OK((CUresult)ncclCommDestroy(r.comm[1]));
	OK(cuGraphExecDestroy(exec[1]));
}

/* 64 MB over a link of 1 GB/s: each of two ranks sends as many bytes as there are. */
TEST(the_clock_knows_the_link)
{
	struct ranks r;
	CUevent begin, end;
	CUdeviceptr memory[DEVICES];
	float milliseconds;
	const size_t count = 16000000;

	setenv("GPUSHIM_DRYRUN_CLOCK", "model", 1);
	start_ranks(&r);
	for (int d = 0; d < DEVICES; d++) {
		use(&r, d);
		OK(cuMemAlloc_v2(&memory[d], count * sizeof(float)));
	}
	use(&r, 0);
	OK(cuEventCreate(&begin, 0));
	OK(cuEventCreate(&end, 0));
	OK(cuEventRecord(begin, r.stream[0]));
	for (int d = 0; d < DEVICES; d++)
		OK((CUresult)ncclAllReduce((void *)memory[d], (void *)memory[d], count,
		    GD_NCCL_Float32, GD_NCCL_SUM, r.comm[d], r.stream[d]));
	use(&r, 0);
	OK(cuEventRecord(end, r.stream[0]));
	OK(cuEventSynchronize(end));
	OK(cuEventElapsedTime(&milliseconds, begin, end));
	EXPECT(milliseconds > 64 && milliseconds < 80);
	abort_all(r.comm, DEVICES);
}

/* The earlier rank's kernel lasts until the later one has come. */
TEST(the_clock_waits_for_the_last)
{
	struct ranks r;
	CUevent begin, end;
	float milliseconds;
	void *memory[DEVICES];

	setenv("GPUSHIM_DRYRUN_CLOCK", "model", 1);
	start_ranks(&r);
	for (int d = 0; d < DEVICES; d++)
		memory[d] = number(&r, d, 1);
	use(&r, 0);
	OK(cuEventCreate(&begin, 0));
	OK(cuEventCreate(&end, 0));
	OK(cuEventRecord(begin, r.stream[0]));
	sum(r.comm[0], memory[0], r.stream[0]);
	OK(cuEventRecord(end, r.stream[0]));
	usleep(50000);
	sum(r.comm[1], memory[1], r.stream[1]);
	use(&r, 0);
	OK(cuEventSynchronize(end));
	OK(cuEventElapsedTime(&milliseconds, begin, end));
	EXPECT(milliseconds >= 45);
	abort_all(r.comm, DEVICES);
}
