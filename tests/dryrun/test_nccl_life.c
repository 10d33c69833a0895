/* SPDX-License-Identifier: Apache-2.0 */
/* Communicators of the stand-in NCCL: made, split, lost, aborted; what they take and give back. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/dryrun/nccl_test.h"

static int open_files(void)
{
	int count = 0;
	DIR *folder = opendir("/proc/self/fd");

	while (folder && readdir(folder))
		count++;
	if (folder)
		closedir(folder);
	return count;
}

static void *one_float(float value)
{
	CUdeviceptr memory;

	OK(cuMemAlloc_v2(&memory, sizeof(value)));
	OK(cuMemcpyHtoD_v2(memory, &value, sizeof(value)));
	return (void *)(uintptr_t)memory;
}

static float first_float(const void *memory)
{
	float value;

	OK(cuMemcpyDtoH_v2(&value, (CUdeviceptr)(uintptr_t)memory, sizeof(value)));
	return value;
}

static void sum(struct ncclComm *comm, void *memory, CUstream stream)
{
	OK((CUresult)ncclAllReduce(memory, memory, 1, GD_NCCL_Float32, GD_NCCL_SUM, comm, stream));
}

/* ---- two processes: the parent is rank 0 on device 0, the child rank 1 on device 1 ---- */

struct pair {
	struct gd_nccl_id id;
	_Atomic int ready; /* the id is there */
	_Atomic int go;	   /* a step of the test */
};

struct process {
	struct pair *pair;
	int rank;
	pid_t child;
	struct ncclComm *comm;
	CUstream stream;
};

static void start_pair(struct process *p)
{
	CUcontext context;

	p->pair =
	    mmap(NULL, sizeof(*p->pair), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	REQUIRE(p->pair != MAP_FAILED);
	p->child = fork();
	p->rank = p->child == 0;
	if (p->rank == 1)
		alarm(TEST_SECONDS);
	start_devices();
	OK(cuDevicePrimaryCtxRetain(&context, p->rank));
	OK(cuCtxSetCurrent(context));
	OK(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING));
	if (p->rank == 0)
		OK((CUresult)ncclGetUniqueId(&p->pair->id));
	p->pair->ready |= p->rank == 0;
	while (!p->pair->ready)
		usleep(100);
	OK((CUresult)ncclCommInitRank(&p->comm, 2, p->pair->id, p->rank));
}

static void end_child(const struct process *p)
{
	int status;

	if (p->rank == 1)
		exit(test_failures != 0);
	REQUIRE(waitpid(p->child, &status, 0) == p->child);
	EXPECT_EQ(status, 0);
}

TEST(two_processes)
{
	struct process p;
	void *memory;

	start_pair(&p);
	memory = one_float(1.0f + (float)p.rank);
	for (int i = 0; i < 100; i++)
		sum(p.comm, memory, p.stream);
	OK(cuStreamSynchronize(p.stream));
	EXPECT(first_float(memory) == 0x1.8p100f);
	OK((CUresult)ncclCommFinalize(p.comm));
	OK((CUresult)ncclCommDestroy(p.comm));
	end_child(&p);
}

static int async_error(struct ncclComm *comm)
{
	int status;

	OK((CUresult)ncclCommGetAsyncError(comm, &status));
	return status;
}

TEST(a_rank_that_dies_is_noticed_and_abort_frees_the_stream)
{
	struct process p;

	start_pair(&p);
	if (p.rank == 1)
		raise(SIGKILL);
	sum(p.comm, one_float(1), p.stream);
	for (int i = 0; i < 200 && async_error(p.comm) == GD_NCCL_Success; i++)
		usleep(10000);
	EXPECT_EQ(async_error(p.comm), GD_NCCL_RemoteError);
	EXPECT(strstr(ncclGetLastError(p.comm), "rank 1") != NULL);
	EXPECT_EQ(cuStreamQuery(p.stream), CUDA_ERROR_NOT_READY);
	OK((CUresult)ncclCommAbort(p.comm));
	EXPECT(ends(p.stream));
}

/* Only who needs it hears of it: programs end without destroying their communicators. */
TEST(a_rank_that_ends_when_nobody_waits_is_no_error)
{
	struct process p;
	int status;

	start_pair(&p);
	if (p.rank == 1)
		_exit(0);
	REQUIRE(waitpid(p.child, &status, 0) == p.child);
	usleep(200000);
	EXPECT_EQ(async_error(p.comm), GD_NCCL_Success);
	OK((CUresult)ncclCommDestroy(p.comm));
}

TEST(a_rank_that_dies_before_it_joins)
{
	struct gd_nccl_id id;
	struct ncclComm *comm;
	int pipes[2], status;
	pid_t child;

	REQUIRE(pipe(pipes) == 0);
	child = fork();
	start_devices();
	if (child == 0) {
		OK((CUresult)ncclGetUniqueId(&id));
		REQUIRE(write(pipes[1], &id, sizeof(id)) == sizeof(id));
		_exit(0);
	}
	REQUIRE(read(pipes[0], &id, sizeof(id)) == sizeof(id));
	REQUIRE(waitpid(child, &status, 0) == child);
	EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 0), GD_NCCL_RemoteError);
}

TEST(abort_ends_what_waits)
{
	struct ranks r;
	void *memory;

	start_ranks(&r);
	use(&r, 0);
	memory = one_float(1);
	sum(r.comm[0], memory, r.stream[0]);
	sum(r.comm[0], memory, r.stream[0]);
	EXPECT_EQ(cuStreamQuery(r.stream[0]), CUDA_ERROR_NOT_READY);
	OK((CUresult)ncclCommAbort(r.comm[0]));
	EXPECT(ends(r.stream[0]));
	/* The other rank hears of it when it waits. */
	use(&r, 1);
	for (int i = 0; i < 2; i++) /* the other may have posted its first */
		sum(r.comm[1], one_float(1), r.stream[1]);
	for (int i = 0; i < 200 && async_error(r.comm[1]) == GD_NCCL_Success; i++)
		usleep(10000);
	EXPECT_EQ(async_error(r.comm[1]), GD_NCCL_RemoteError);
	OK((CUresult)ncclCommAbort(r.comm[1]));
	EXPECT(ends(r.stream[1]));
}

TEST(revoked_communicators_end_and_can_shrink)
{
	struct ranks r;
	struct ncclComm *alone;
	int count, other = 1;

	start_ranks(&r);
	use(&r, 0);
	sum(r.comm[0], one_float(1), r.stream[0]);
	OK((CUresult)ncclCommRevoke(r.comm[0], 0));
	EXPECT(ends(r.stream[0]));
	OK((CUresult)ncclCommShrink(r.comm[0], &other, 1, &alone, NULL, 1));
	OK((CUresult)ncclCommCount(alone, &count));
	EXPECT_EQ(count, 1);
	sum(alone, one_float(1), r.stream[0]);
	EXPECT(ends(r.stream[0]));
	abort_all(&alone, 1);
	abort_all(r.comm, DEVICES);
}

TEST(two_ranks_on_one_device_are_refused)
{
	struct gd_nccl_id id;
	struct ncclComm *comm[2];
	const int same[2] = {1, 1};

	start_devices();
	OK((CUresult)ncclGetUniqueId(&id));
	OK((CUresult)ncclGroupStart());
	for (int i = 0; i < 2; i++)
		OK((CUresult)ncclCommInitRank(&comm[i], 2, id, i));
	EXPECT_EQ(ncclGroupEnd(), GD_NCCL_InvalidUsage);
	EXPECT(strstr(ncclGetLastError(NULL), "Duplicate GPU") != NULL);
	EXPECT(!comm[0] && !comm[1]);
	EXPECT_EQ(ncclCommInitAll(comm, 2, same), GD_NCCL_InvalidUsage);
	EXPECT_EQ(ncclCommInitAll(comm, 3, NULL), GD_NCCL_UnhandledCudaError);
}

TEST(wrong_ids_and_ranks)
{
	struct gd_nccl_id id = {{0}};
	struct ncclComm *comm;

	start_devices();
	EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 0), GD_NCCL_InvalidArgument);
	OK((CUresult)ncclGetUniqueId(&id));
	EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclCommInitRank(NULL, 1, id, 0), GD_NCCL_InvalidArgument);
	OK((CUresult)ncclCommInitRank(&comm, 1, id, 0));
	OK((CUresult)ncclCommDestroy(comm));
	EXPECT_EQ(ncclCommDestroy(NULL), GD_NCCL_Success);
}

TEST(buffers_are_taken_and_given_back)
{
	struct ranks r;
	size_t free_before, free_with, total;
	uint64_t bytes;
	int files;

	start_ranks(&r); /* opens what is opened once */
	files = open_files();
	use(&r, 0);
	OK(cuMemGetInfo_v2(&free_with, &total));
	OK((CUresult)ncclCommMemStats(r.comm[0], GD_NCCL_MEMORY_TOTAL, &bytes));
	OK((CUresult)ncclCommSuspend(r.comm[0], 1));
	OK(cuMemGetInfo_v2(&free_before, &total));
	EXPECT(bytes > MIB && free_before - free_with == bytes);
	OK((CUresult)ncclCommResume(r.comm[0]));
	for (int d = 0; d < DEVICES; d++)
		OK((CUresult)ncclCommDestroy(r.comm[d]));
	OK(cuMemGetInfo_v2(&free_with, &total));
	EXPECT_EQ(free_with, free_before);
	OK((CUresult)ncclCommInitAll(r.comm, DEVICES, NULL));
	for (int d = 0; d < DEVICES; d++)
		OK((CUresult)ncclCommAbort(r.comm[d]));
	EXPECT_EQ(open_files(), files);
}

TEST(memory_of_its_own)
{
	void *memory, *handle;
	struct ranks r;

	start_ranks(&r);
	use(&r, 0);
	OK((CUresult)ncclMemAlloc(&memory, 5));
	OK((CUresult)ncclCommRegister(r.comm[0], memory, 5, &handle));
	OK((CUresult)ncclCommDeregister(r.comm[0], handle));
	OK((CUresult)ncclMemFree(memory));
	EXPECT_EQ(ncclMemFree(memory), GD_NCCL_UnhandledCudaError);
	EXPECT_EQ(ncclMemAlloc(&memory, (size_t)1 << 40), GD_NCCL_UnhandledCudaError);
	abort_all(r.comm, DEVICES);
}

/* As on a machine whose memory is full: the communicator is not made, nothing stays behind. */
TEST(no_memory_for_buffers)
{
	struct gd_nccl_id id;
	struct ncclComm *comm[2];
	CUdeviceptr memory;
	size_t free_before, free_after, total;
	CUcontext context;

	start_devices();
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	OK(cuCtxSetCurrent(context));
	OK(cuMemGetInfo_v2(&free_before, &total));
	OK(cuMemAlloc_v2(&memory, free_before - MIB));
	OK(cuMemGetInfo_v2(&free_before, &total));
	OK((CUresult)ncclGetUniqueId(&id));
	OK((CUresult)ncclGroupStart());
	for (int i = 0; i < 2; i++) {
		OK(cuDevicePrimaryCtxRetain(&context, i));
		OK(cuCtxSetCurrent(context));
		OK((CUresult)ncclCommInitRank(&comm[i], 2, id, i));
	}
	EXPECT_EQ(ncclGroupEnd(), GD_NCCL_UnhandledCudaError);
	EXPECT(strstr(ncclGetLastError(NULL), "out of memory") != NULL);
	EXPECT(comm[1] == NULL);
	OK(cuMemGetInfo_v2(&free_after, &total));
	EXPECT_EQ(free_after, free_before);
	abort_all(comm, 1);
}

/* No signal: the program did not write a file. */
TEST(a_limit_of_files_is_an_error)
{
	struct gd_nccl_id id;
	const struct rlimit limit = {MIB, MIB};

	start_devices();
	REQUIRE(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	EXPECT_EQ(ncclGetUniqueId(&id), GD_NCCL_SystemError);
}
