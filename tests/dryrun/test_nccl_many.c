/* SPDX-License-Identifier: Apache-2.0 */
/* Eight processes of the stand-in NCCL, more than there are processors: nothing is lost or mixed
 * up. */
#include <sys/mman.h>

#include "tests/dryrun/nccl_test.h"

#define RANKS 8
#define ROUNDS 60

/* Shared by the processes of a test. */
struct meeting_place {
	struct gd_nccl_id id;
	_Atomic int ready;
};

struct rank {
	int number;
	struct ncclComm *comm, *reversed;
	CUstream stream, other;
	int32_t *send, *receive; /* of RANKS elements, on the device */
};

static void start_rank(struct rank *r, struct meeting_place *place)
{
	CUcontext context;
	CUdeviceptr memory[2];

	setenv("GPUSHIM_DRYRUN_COUNT", "8", 1);
	start("name=Test GPU;total=1073741824;cc=8.0;sm=108");
	OK(cuDevicePrimaryCtxRetain(&context, r->number));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&r->stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamCreate(&r->other, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 2; i++)
		OK(cuMemAlloc_v2(&memory[i], RANKS * sizeof(int32_t)));
	r->send = (int32_t *)(uintptr_t)memory[0];
	r->receive = (int32_t *)(uintptr_t)memory[1];
	if (r->number == 0)
		OK((CUresult)ncclGetUniqueId(&place->id));
	place->ready |= r->number == 0;
	while (!place->ready)
		usleep(1000);
	OK((CUresult)ncclCommInitRank(&r->comm, RANKS, place->id, r->number));
	OK((CUresult)ncclCommSplit(r->comm, 0, -r->number, &r->reversed, NULL));
}

static void put(const struct rank *r, int round)
{
	int32_t values[RANKS];

	for (int i = 0; i < RANKS; i++)
		values[i] = 10000 * round + 100 * r->number + i;
	OK(cuMemcpyHtoD_v2((CUdeviceptr)(uintptr_t)r->send, values, sizeof(values)));
}

static void expect(const struct rank *r, const int32_t want[RANKS], int count)
{
	int32_t got[RANKS];

	OK(cuStreamSynchronize(r->stream));
	OK(cuMemcpyDtoH_v2(got, (CUdeviceptr)(uintptr_t)r->receive, sizeof(got)));
	for (int i = 0; i < count; i++)
		EXPECT_EQ(got[i], want[i]);
}

static void sum_round(const struct rank *r, int round)
{
	int32_t want[RANKS];

	for (int i = 0; i < RANKS; i++)
		want[i] = RANKS * (10000 * round + i) + 100 * (RANKS * (RANKS - 1) / 2);
	OK((CUresult)ncclAllReduce(
	    r->send, r->receive, RANKS, GD_NCCL_Int32, GD_NCCL_SUM, r->comm, r->stream));
	expect(r, want, RANKS);
}

static void root_round(const struct rank *r, int round)
{
	int root = round % RANKS;
	int32_t want[RANKS];

	for (int i = 0; i < RANKS; i++)
		want[i] = 10000 * round + 100 * (RANKS - 1 - root) + i;
	OK((CUresult)ncclBroadcast(
	    r->send, r->receive, RANKS, GD_NCCL_Int32, root, r->reversed, r->stream));
	expect(r, want, RANKS);
}

static void exchange_round(const struct rank *r, int round)
{
	int32_t want[RANKS];

	OK((CUresult)ncclGroupStart());
	for (int i = 0; i < RANKS; i++) {
		want[i] = 10000 * round + 100 * i + r->number;
		OK((CUresult)ncclSend(r->send + i, 1, GD_NCCL_Int32, i, r->comm, r->stream));
		OK((CUresult)ncclRecv(r->receive + i, 1, GD_NCCL_Int32, i, r->comm, r->stream));
	}
	OK((CUresult)ncclGroupEnd());
	expect(r, want, RANKS);
}

/* Two communicators at once, enqueued in another order by every second rank. */
static void crossed_round(const struct rank *r, int round)
{
	const int32_t want[RANKS] = {10000 * round, 10000 * round + 100 * (RANKS - 1)};

	for (int i = 0; i < 2; i++) {
		if ((i + r->number) % 2)
			OK((CUresult)ncclAllReduce(r->send, r->receive, 1, GD_NCCL_Int32,
			    GD_NCCL_MIN, r->comm, r->stream));
		else
			OK((CUresult)ncclAllReduce(r->send, r->receive + 1, 1, GD_NCCL_Int32,
			    GD_NCCL_MAX, r->reversed, r->other));
	}
	OK(cuStreamSynchronize(r->other));
	expect(r, want, 2);
}

static void run_rank(int number, struct meeting_place *place)
{
	struct rank r = {.number = number};
	void (*const rounds[])(const struct rank *, int) = {
	    sum_round, root_round, exchange_round, crossed_round};

	start_rank(&r, place);
	for (int round = 0; round < ROUNDS; round++) {
		put(&r, round);
		rounds[round % 4](&r, round);
	}
	OK((CUresult)ncclCommDestroy(r.reversed));
	OK((CUresult)ncclCommDestroy(r.comm));
}

TEST(eight_processes)
{
	struct meeting_place *place =
	    mmap(NULL, sizeof(*place), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t children[RANKS];
	int status;

	REQUIRE(place != MAP_FAILED);
	for (int i = 0; i < RANKS; i++) {
		children[i] = fork();
		if (children[i])
			continue;
		alarm(TEST_SECONDS);
		run_rank(i, place);
		exit(test_failures != 0);
	}
	for (int i = 0; i < RANKS; i++) {
		REQUIRE(waitpid(children[i], &status, 0) == children[i]);
		EXPECT_EQ(status, 0);
	}
}
