/* SPDX-License-Identifier: Apache-2.0 */
/* What the operations of the stand-in NCCL compute and where they leave it. */
#include <dlfcn.h>
#include <math.h>
#include <stdint.h>

#include "tests/dryrun/nccl_test.h"

/* One element of a type as bytes, and what two ranks get from 3 and 5. */
struct sample {
	int type;
	unsigned bytes;
	unsigned char three[8], five[8], sum[8], product[8], most[8], least[8], mean[8];
};
#define INTEGER(type, bytes) \
	{ \
		type, bytes, {3}, {5}, {8}, {15}, {5}, {3}, \
		{ \
			4 \
		} \
	}
static const struct sample samples[] = {
    INTEGER(GD_NCCL_Int8, 1),
    INTEGER(GD_NCCL_Uint8, 1),
    INTEGER(GD_NCCL_Int32, 4),
    INTEGER(GD_NCCL_Uint32, 4),
    INTEGER(GD_NCCL_Int64, 8),
    INTEGER(GD_NCCL_Uint64, 8),
    {GD_NCCL_Float16, 2, {0, 0x42}, {0, 0x45}, {0, 0x48}, {0x80, 0x4b}, {0, 0x45}, {0, 0x42},
	{0, 0x44}},
    {GD_NCCL_Float32, 4, {0, 0, 0x40, 0x40}, {0, 0, 0xa0, 0x40}, {0, 0, 0, 0x41},
	{0, 0, 0x70, 0x41}, {0, 0, 0xa0, 0x40}, {0, 0, 0x40, 0x40}, {0, 0, 0x80, 0x40}},
    {GD_NCCL_Float64, 8, {[6] = 0x08, 0x40}, {[6] = 0x14, 0x40}, {[6] = 0x20, 0x40},
	{[6] = 0x2e, 0x40}, {[6] = 0x14, 0x40}, {[6] = 0x08, 0x40}, {[6] = 0x10, 0x40}},
    {GD_NCCL_Bfloat16, 2, {0x40, 0x40}, {0xa0, 0x40}, {0, 0x41}, {0x70, 0x41}, {0xa0, 0x40},
	{0x40, 0x40}, {0x80, 0x40}},
    {GD_NCCL_Float8e4m3, 1, {0x44}, {0x4a}, {0x50}, {0x57}, {0x4a}, {0x44}, {0x48}},
    /* 15 lies between 14 and 16: the even one */
    {GD_NCCL_Float8e5m2, 1, {0x42}, {0x45}, {0x48}, {0x4c}, {0x45}, {0x42}, {0x44}},
};

static void reduce_sample(const struct ranks *r, const struct sample *s, int op, const void *want)
{
	unsigned char got[8] = {0};
	void *memory[DEVICES] = {filled(r, 0, s->three, s->bytes), filled(r, 1, s->five, s->bytes)};

	OK((CUresult)ncclGroupStart());
	for (int d = 0; d < DEVICES; d++)
		OK((CUresult)ncclAllReduce(
		    memory[d], memory[d], 1, s->type, op, r->comm[d], r->stream[d]));
	OK((CUresult)ncclGroupEnd());
	for (int d = 0; d < DEVICES; d++) {
		read_back(r, d, got, memory[d], s->bytes);
		if (memcmp(got, want, s->bytes) != 0)
			printf("# type %d, operator %d: %02x %02x %02x %02x\n", s->type, op, got[0],
			    got[1], got[2], got[3]);
		EXPECT(memcmp(got, want, s->bytes) == 0);
		OK(cuMemFree_v2((CUdeviceptr)(uintptr_t)memory[d]));
	}
}

TEST(every_type_by_every_operator)
{
	struct ranks r;

	start_ranks(&r);
	for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
		const struct sample *s = &samples[i];

		reduce_sample(&r, s, GD_NCCL_SUM, s->sum);
		reduce_sample(&r, s, GD_NCCL_PROD, s->product);
		reduce_sample(&r, s, GD_NCCL_MAX, s->most);
		reduce_sample(&r, s, GD_NCCL_MIN, s->least);
		reduce_sample(&r, s, GD_NCCL_AVG, s->mean);
	}
}

/* Four floats on each device: 0 1 2 3 and 10 11 12 13; receive buffers of four. */
struct floats {
	struct ranks r;
	float *send[DEVICES], *receive[DEVICES];
};

static void start_floats(struct floats *f)
{
	const float values[DEVICES][4] = {{0, 1, 2, 3}, {10, 11, 12, 13}},
		    none[4] = {-1, -1, -1, -1};

	start_ranks(&f->r);
	for (int d = 0; d < DEVICES; d++) {
		f->send[d] = filled(&f->r, d, values[d], sizeof(values[d]));
		f->receive[d] = filled(&f->r, d, none, sizeof(none));
	}
}

static void expect_floats(const struct floats *f, int device, const float want[4])
{
	float got[4];

	read_back(&f->r, device, got, f->receive[device], sizeof(got));
	for (int i = 0; i < 4; i++) {
		if (got[i] != want[i])
			printf("# device %d, element %d: %g, not %g\n", device, i, (double)got[i],
			    (double)want[i]);
		EXPECT(got[i] == want[i]);
	}
}

#define BOTH(f, call) \
	do { \
		OK((CUresult)ncclGroupStart()); \
		for (int d = 0; d < DEVICES; d++) { \
			struct ncclComm *comm = (f)->r.comm[d]; \
			CUstream stream = (f)->r.stream[d]; \
			const float *send = (f)->send[d]; \
			float *receive = (f)->receive[d]; \
			(void)stream, (void)send, (void)receive; \
			OK((CUresult)(call)); \
		} \
		OK((CUresult)ncclGroupEnd()); \
	} while (0)
#define EXPECT_BOTH(f, first, second) \
	do { \
		expect_floats(f, 0, (const float[4]){GD_LIST_OF first}); \
		expect_floats(f, 1, (const float[4]){GD_LIST_OF second}); \
	} while (0)
#define GD_LIST_OF(...) __VA_ARGS__
#define F32 GD_NCCL_Float32

TEST(broadcast)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, ncclBroadcast(send, receive, 4, F32, 1, comm, stream));
	EXPECT_BOTH(&f, (10, 11, 12, 13), (10, 11, 12, 13));
}

TEST(reduce)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, ncclReduce(send, receive, 4, F32, GD_NCCL_SUM, 1, comm, stream));
	EXPECT_BOTH(&f, (-1, -1, -1, -1), (10, 12, 14, 16));
}

TEST(all_gather)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, ncclAllGather(send, receive, 2, F32, comm, stream));
	EXPECT_BOTH(&f, (0, 1, 10, 11), (0, 1, 10, 11));
}

TEST(reduce_scatter)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, ncclReduceScatter(send, receive, 2, F32, GD_NCCL_SUM, comm, stream));
	EXPECT_BOTH(&f, (10, 12, -1, -1), (14, 16, -1, -1));
}

TEST(all_to_all)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, ncclAlltoAll(send, receive, 2, F32, comm, stream));
	EXPECT_BOTH(&f, (0, 1, 10, 11), (2, 3, 12, 13));
}

TEST(gather_and_scatter)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, ncclGather(send, receive, 2, F32, 0, comm, stream));
	EXPECT_BOTH(&f, (0, 1, 10, 11), (-1, -1, -1, -1));
	BOTH(&f, ncclScatter(send, receive, 2, F32, 1, comm, stream));
	EXPECT_BOTH(&f, (10, 11, 10, 11), (12, 13, -1, -1));
}

TEST(in_place)
{
	struct floats f;
	start_floats(&f);
	for (int d = 0; d < DEVICES; d++)
		f.receive[d] = f.send[d];
	BOTH(&f, ncclAllGather(receive + 2 * d, receive, 2, F32, comm, stream));
	EXPECT_BOTH(&f, (0, 1, 12, 13), (0, 1, 12, 13));
	BOTH(&f, ncclReduceScatter(send, receive + 2 * d, 2, F32, GD_NCCL_SUM, comm, stream));
	EXPECT_BOTH(&f, (0, 2, 12, 13), (0, 1, 24, 26));
	BOTH(&f, ncclBcast(receive, 4, F32, 0, comm, stream));
	EXPECT_BOTH(&f, (0, 2, 12, 13), (0, 2, 12, 13));
}

/* Both send before they receive: only a group lets that end when messages are large. */
TEST(messages)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, ncclSend(send, 4, F32, !d, comm, stream) ||
		     ncclRecv(receive, 4, F32, !d, comm, stream));
	EXPECT_BOTH(&f, (10, 11, 12, 13), (0, 1, 2, 3));
}

TEST(several_messages_between_two_keep_their_order)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, d == 0 ? ncclSend(send, 1, F32, 1, comm, stream) ||
			      ncclSend(send + 2, 2, F32, 1, comm, stream)
			: ncclRecv(receive + 3, 1, F32, 0, comm, stream) ||
			      ncclRecv(receive, 2, F32, 0, comm, stream));
	EXPECT_BOTH(&f, (-1, -1, -1, -1), (2, 3, -1, 0));
}

TEST(a_message_to_oneself)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f,
	    ncclSend(send, 2, F32, d, comm, stream) || ncclRecv(receive, 2, F32, d, comm, stream));
	EXPECT_BOTH(&f, (0, 1, -1, -1), (10, 11, -1, -1));
}

TEST(factors_from_host_and_device)
{
	struct floats f;
	float factor = 0.5f;
	int op[DEVICES];

	start_floats(&f);
	for (int residence = 0; residence < 2; residence++) {
		BOTH(&f, ncclRedOpCreatePreMulSum(&op[d],
			     residence ? &factor : filled(&f.r, d, &factor, sizeof(factor)), F32,
			     residence, comm));
		BOTH(&f, ncclAllReduce(send, receive, 4, F32, op[d], comm, stream) ||
			     ncclRedOpDestroy(op[d], comm));
		EXPECT_BOTH(&f, (5, 6, 7, 8), (5, 6, 7, 8));
	}
	EXPECT_EQ(ncclRedOpDestroy(op[0], f.r.comm[0]), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclAllReduce(f.send[0], f.receive[0], 4, F32, op[0], f.r.comm[0], NULL),
	    GD_NCCL_InvalidArgument);
}

TEST(nan_wins)
{
	struct floats f;
	const float nan[4] = {NAN, 1, NAN, 1};
	float got[2];

	start_floats(&f);
	f.send[0] = filled(&f.r, 0, nan, sizeof(nan));
	BOTH(&f, ncclAllReduce(send, receive, 1, F32, GD_NCCL_MAX, comm, stream) ||
		     ncclAllReduce(send + 2, receive + 1, 1, F32, GD_NCCL_MIN, comm, stream));
	read_back(&f.r, 1, got, f.receive[1], sizeof(got));
	EXPECT(isnan(got[0]) && isnan(got[1]));
}

static bool known(const void *memory, size_t bytes)
{
	static int (*load)(void *, unsigned long long, size_t);
	char room[64];
	if (!load)
		load = (int (*)(void *, unsigned long long, size_t))dlsym(
		    RTLD_DEFAULT, "gpushim_dryrun_load");
	REQUIRE(load && bytes <= sizeof(room));
	return load(room, (uintptr_t)memory, bytes) == 1;
}

/* Memory of a device of which only the first two floats of four are known. */
static void start_unknown(struct floats *f)
{
	CUdeviceptr memory;
	start_floats(f);
	use(&f->r, 1);
	OK(cuMemAlloc_v2(&memory, 16));
	OK(cuMemsetD32_v2(memory, 0x3f800000, 2));
	f->send[1] = (void *)(uintptr_t)memory;
}

#define EXPECT_KNOWN(f, d, at, is) EXPECT_EQ(known((char *)(f)->receive[d] + 4 * (at), 8), is)

TEST(what_a_rank_does_not_know_stays_unknown)
{
	struct floats f;
	start_unknown(&f);
	BOTH(&f, ncclAllReduce(send, receive, 4, F32, GD_NCCL_SUM, comm, stream));
	EXPECT_BOTH(&f, (1, 2, 0, 0), (1, 2, 0, 0));
	for (int d = 0; d < DEVICES; d++) {
		EXPECT_KNOWN(&f, d, 0, true);
		EXPECT_KNOWN(&f, d, 2, false);
	}
	BOTH(&f, ncclReduceScatter(send, receive, 2, F32, GD_NCCL_SUM, comm, stream));
	EXPECT_BOTH(&f, (1, 2, 0, 0), (0, 0, 0, 0));
	EXPECT_KNOWN(&f, 0, 0, true);
	EXPECT_KNOWN(&f, 1, 0, false);
	BOTH(&f, ncclBroadcast(send, receive, 4, F32, 1, comm, stream));
	EXPECT_BOTH(&f, (1, 1, 0, 0), (1, 1, 0, 0));
	EXPECT_KNOWN(&f, 0, 0, true);
	EXPECT_KNOWN(&f, 0, 2, false);
	BOTH(&f, ncclAlltoAll(send, receive, 2, F32, comm, stream));
	EXPECT_BOTH(&f, (0, 1, 1, 1), (2, 3, 0, 0));
	EXPECT_KNOWN(&f, 0, 2, true);
	EXPECT_KNOWN(&f, 1, 0, true);
	EXPECT_KNOWN(&f, 1, 2, false);
	BOTH(&f, ncclAllReduce(receive, receive, 2, F32, GD_NCCL_SUM, comm, stream));
	EXPECT_BOTH(&f, (2, 4, 1, 1), (2, 4, 0, 0)); /* all is known: nothing is left of before */
	EXPECT_KNOWN(&f, 0, 0, true);
}

TEST(what_a_sender_does_not_know_stays_unknown)
{
	struct floats f;
	start_unknown(&f);
	for (int i = 0; i < 2; i++) {
		BOTH(&f, ncclSend(send, 4, F32, !d, comm, stream) ||
			     ncclRecv(receive, 4, F32, !d, comm, stream));
		EXPECT_BOTH(&f, (1, 1, 0, 0), (0, 1, 2, 3));
		EXPECT_KNOWN(&f, 0, 0, true);
		EXPECT_KNOWN(&f, 0, 2, false);
		EXPECT_KNOWN(&f, 1, 2, true);
	}
}

/* Beyond the limit nothing is kept, and the stream's order stays. */
TEST(large_messages_leave_zeros)
{
	struct floats f;
	size_t count = (1 << 20) / sizeof(float) + 4096;
	CUdeviceptr memory[DEVICES];
	float got[2];

	start_floats(&f);
	for (int d = 0; d < DEVICES; d++) {
		use(&f.r, d);
		OK(cuMemAlloc_v2(&memory[d], count * sizeof(float)));
		OK(cuMemsetD32_v2(memory[d], 0x3f800000, 100));
	}
	BOTH(&f, ncclAllReduce(
		     (void *)memory[d], (void *)memory[d], count, F32, GD_NCCL_SUM, comm, stream) ||
		     ncclAllReduce(send, receive, 4, F32, GD_NCCL_SUM, comm, stream));
	EXPECT_BOTH(&f, (10, 12, 14, 16), (10, 12, 14, 16));
	read_back(&f.r, 0, got, (void *)memory[0], sizeof(got));
	EXPECT(got[0] == 0 && got[1] == 0);
}

TEST(nothing_to_do_launches_nothing)
{
	struct floats f;
	start_floats(&f);
	OK((CUresult)ncclAllReduce(
	    f.send[0], f.receive[0], 0, F32, GD_NCCL_SUM, f.r.comm[0], f.r.stream[0]));
	OK(cuStreamQuery(f.r.stream[0]));
	abort_all(f.r.comm, DEVICES);
}

TEST(wrong_arguments)
{
	struct floats f;
	struct ncclComm *c;
	CUstream s = NULL;

	start_floats(&f);
	c = f.r.comm[0];
	EXPECT_EQ(ncclAllReduce(NULL, f.receive[0], 4, F32, 0, c, s), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclAllReduce(f.send[0], f.receive[0], 4, 12, 0, c, s), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclAllReduce(f.send[0], f.receive[0], 4, F32, 5, c, s), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclBroadcast(f.send[0], f.receive[0], 4, F32, 2, c, s), GD_NCCL_InvalidArgument);
	EXPECT_EQ(
	    ncclBroadcast(f.send[0], f.receive[0], 4, F32, -1, c, s), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclSend(f.send[0], 4, F32, 2, c, s), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclSend(f.send[0], 4, F32, 1, NULL, s), GD_NCCL_InvalidArgument);
	EXPECT(strstr(ncclGetLastError(NULL), "Send") != NULL);
	EXPECT_EQ(ncclGroupEnd(), GD_NCCL_InvalidUsage);
	/* An error in a group ends it without a launch. */
	OK((CUresult)ncclGroupStart());
	OK((CUresult)ncclSend(f.send[0], 4, F32, 1, c, f.r.stream[0]));
	EXPECT_EQ(ncclSend(f.send[0], 4, 99, 1, c, f.r.stream[0]), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclGroupEnd(), GD_NCCL_InvalidArgument);
	OK(cuStreamQuery(f.r.stream[0]));
	abort_all(f.r.comm, DEVICES);
}

/* Different counts would write past the end on a real machine. */
TEST(ranks_that_differ_exchange_nothing)
{
	struct floats f;
	int status;

	start_floats(&f);
	BOTH(&f, ncclAllGather(send, receive, d ? 1 : 2, F32, comm, stream));
	EXPECT_BOTH(&f, (-1, -1, -1, -1), (-1, -1, -1, -1));
	OK((CUresult)ncclCommGetAsyncError(f.r.comm[1], &status));
	EXPECT_EQ(status, GD_NCCL_InvalidUsage);
}

TEST(messages_that_differ_are_not_delivered)
{
	struct floats f;
	start_floats(&f);
	BOTH(&f, d ? ncclRecv(receive, 2, F32, 0, comm, stream)
		   : ncclSend(send, 4, F32, 1, comm, stream));
	EXPECT_BOTH(&f, (-1, -1, -1, -1), (-1, -1, -1, -1));
}
