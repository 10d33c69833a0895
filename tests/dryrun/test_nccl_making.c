/* SPDX-License-Identifier: Apache-2.0 */
/* How communicators of the stand-in NCCL come about: groups, those that do not block, children. */
#include <pthread.h>

#include "tests/dryrun/nccl_test.h"

static struct gd_nccl_config unblocked(void)
{
	return (struct gd_nccl_config){.size = sizeof(struct gd_nccl_config),
	    .magic = GD_NCCL_CONFIG_MAGIC,
	    .version = GD_NCCL_VERSION,
	    .split_share = INT_MIN,
	    .shrink_share = INT_MIN};
}

static int status_of(struct ncclComm *comm)
{
	int status;

	OK((CUresult)ncclCommGetAsyncError(comm, &status));
	return status;
}

/* What it comes to within two seconds. */
static int settled(struct ncclComm *comm)
{
	for (int i = 0; i < 2000 && status_of(comm) == GD_NCCL_InProgress; i++)
		usleep(1000);
	return status_of(comm);
}

static void expect_place(const struct ncclComm *comm, int rank, int count)
{
	int got;

	OK((CUresult)ncclCommUserRank(comm, &got));
	EXPECT_EQ(got, rank);
	OK((CUresult)ncclCommCount(comm, &got));
	EXPECT_EQ(got, count);
}

/* One rank of a group is wrong: the others do not wait for it. */
TEST(a_group_with_a_wrong_rank_makes_nothing)
{
	struct ranks r;
	struct gd_nccl_id id;
	struct ncclComm *comm[DEVICES] = {NULL};

	start_ranks(&r);
	OK((CUresult)ncclGetUniqueId(&id));
	OK((CUresult)ncclGroupStart());
	use(&r, 0);
	OK((CUresult)ncclCommInitRank(&comm[0], 2, id, 0));
	EXPECT_EQ(ncclCommInitRank(&comm[1], 2, id, 5), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclGroupEnd(), GD_NCCL_InvalidArgument);
	EXPECT(!comm[0] && !comm[1]);
	abort_all(r.comm, DEVICES);
}

/* By descending key; the second rank stays out of the second split. */
TEST(splits_of_one_thread)
{
	struct ranks r;
	struct ncclComm *half[DEVICES], *own[DEVICES];

	start_ranks(&r);
	OK((CUresult)ncclGroupStart());
	for (int d = 0; d < DEVICES; d++) {
		OK((CUresult)ncclCommSplit(r.comm[d], 7, -d, &half[d], NULL));
		OK((CUresult)ncclCommSplit(r.comm[d], d ? GD_NCCL_NO_COLOR : 0, 0, &own[d], NULL));
	}
	OK((CUresult)ncclGroupEnd());
	for (int d = 0; d < DEVICES; d++)
		expect_place(half[d], 1 - d, 2);
	expect_place(own[0], 0, 1);
	EXPECT(own[1] == NULL);
	EXPECT_EQ(ncclCommSplit(r.comm[0], -2, 0, &own[0], NULL), GD_NCCL_InvalidArgument);
	abort_all(half, DEVICES);
	abort_all(own, 1);
	abort_all(r.comm, DEVICES);
}

TEST(splits_without_waiting)
{
	struct ranks r;
	struct gd_nccl_config config = unblocked();
	struct ncclComm *first[DEVICES], *second[DEVICES];

	start_ranks(&r);
	for (int d = 0; d < DEVICES; d++) {
		EXPECT_EQ(ncclCommSplit(r.comm[d], 0, d, &first[d], &config), GD_NCCL_InProgress);
		EXPECT_EQ(ncclCommSplit(r.comm[d], 0, -d, &second[d], &config), GD_NCCL_InProgress);
		if (d == 0)
			EXPECT_EQ(status_of(first[0]), GD_NCCL_InProgress);
	}
	for (int d = 0; d < DEVICES; d++) {
		EXPECT_EQ(settled(first[d]), GD_NCCL_Success);
		EXPECT_EQ(settled(second[d]), GD_NCCL_Success);
		expect_place(first[d], d, 2);
		expect_place(second[d], 1 - d, 2);
	}
	abort_all(first, DEVICES);
	abort_all(second, DEVICES);
	abort_all(r.comm, DEVICES);
}

/* Nothing can be done with one that is not ready, but to abort it. */
TEST(what_is_being_made_can_be_aborted)
{
	struct ranks r;
	struct gd_nccl_config config = unblocked();
	struct gd_nccl_id id;
	struct ncclComm *comm, *child;

	start_ranks(&r);
	OK((CUresult)ncclGetUniqueId(&id));
	EXPECT_EQ(ncclCommInitRankConfig(&comm, 2, id, 0, &config), GD_NCCL_InProgress);
	EXPECT_EQ(ncclCommDestroy(comm), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclCommSplit(comm, 0, 0, &child, NULL), GD_NCCL_InvalidArgument);
	OK((CUresult)ncclCommAbort(comm));
	EXPECT_EQ(ncclCommSplit(r.comm[0], 0, 0, &child, &config), GD_NCCL_InProgress);
	OK((CUresult)ncclCommAbort(child));
	abort_all(r.comm, DEVICES);
}

static void *abort_soon(void *comm)
{
	usleep(50000);
	OK((CUresult)ncclCommAbort(comm));
	return NULL;
}

/* What a watchdog does. */
TEST(a_parent_that_is_aborted_frees_who_splits)
{
	struct ranks r;
	struct ncclComm *child;
	pthread_t thread;

	start_ranks(&r);
	REQUIRE(pthread_create(&thread, NULL, abort_soon, r.comm[0]) == 0);
	EXPECT_EQ(ncclCommSplit(r.comm[0], 0, 0, &child, NULL), GD_NCCL_InternalError);
	EXPECT(child == NULL);
	pthread_join(thread, NULL);
	abort_all(&r.comm[1], 1);
}

TEST(finalizing_without_waiting)
{
	struct ranks r;
	struct gd_nccl_config config = unblocked();
	struct gd_nccl_id id;
	struct ncclComm *comm[DEVICES];
	CUdeviceptr memory;

	start_ranks(&r);
	OK((CUresult)ncclGetUniqueId(&id));
	for (int d = 0; d < DEVICES; d++) {
		use(&r, d);
		EXPECT_EQ(ncclCommInitRankConfig(&comm[d], 2, id, d, &config), GD_NCCL_InProgress);
	}
	for (int d = 0; d < DEVICES; d++)
		EXPECT_EQ(settled(comm[d]), GD_NCCL_Success);
	for (int d = 0; d < DEVICES; d++) {
		use(&r, d);
		OK(cuMemAlloc_v2(&memory, 4));
		OK((CUresult)ncclBcast((void *)memory, 1, GD_NCCL_Int32, 1, comm[d], r.stream[d]));
		EXPECT_EQ(ncclCommFinalize(comm[d]), GD_NCCL_InProgress);
		if (d == 0)
			EXPECT_EQ(status_of(comm[0]), GD_NCCL_InProgress);
	}
	for (int d = 0; d < DEVICES; d++) {
		EXPECT_EQ(settled(comm[d]), GD_NCCL_Success);
		EXPECT_EQ(ncclCommFinalize(comm[d]), GD_NCCL_InvalidArgument);
		OK((CUresult)ncclCommDestroy(comm[d]));
	}
	abort_all(r.comm, DEVICES);
}

/* One device alone, then both: the new rank gets the id from the old one. */
TEST(grown)
{
	struct ranks r;
	struct gd_nccl_id id;
	struct ncclComm *alone, *grown[DEVICES], *none;

	start_ranks(&r);
	use(&r, 0);
	OK((CUresult)ncclGetUniqueId(&id));
	OK((CUresult)ncclCommInitRank(&alone, 1, id, 0));
	OK((CUresult)ncclCommGetUniqueId(alone, &id));
	EXPECT_EQ(ncclCommGrow(alone, 1, &id, -1, &none, NULL), GD_NCCL_InvalidArgument);
	EXPECT_EQ(ncclCommGrow(NULL, 2, NULL, 1, &none, NULL), GD_NCCL_InvalidArgument);
	OK((CUresult)ncclGroupStart());
	OK((CUresult)ncclCommGrow(alone, 2, &id, -1, &grown[0], NULL));
	use(&r, 1);
	OK((CUresult)ncclCommGrow(NULL, 2, &id, 1, &grown[1], NULL));
	OK((CUresult)ncclGroupEnd());
	for (int d = 0; d < DEVICES; d++)
		expect_place(grown[d], d, 2);
	abort_all(grown, DEVICES);
	abort_all(&alone, 1);
	abort_all(r.comm, DEVICES);
}

/* A machine without symmetric memory: registered for nothing, refused where it is needed. */
TEST(windows)
{
	struct ranks r;
	CUdeviceptr memory;
	void *window = &r, *address = &r;

	start_ranks(&r);
	use(&r, 0);
	OK(cuMemAlloc_v2(&memory, 4096));
	OK((CUresult)ncclCommWindowRegister(r.comm[0], (void *)memory, 4096, &window, 1));
	EXPECT(window == NULL);
	OK((CUresult)ncclWinGetUserPtr(r.comm[0], window, &address));
	EXPECT(address == NULL);
	OK((CUresult)ncclCommWindowDeregister(r.comm[0], window));
	EXPECT_EQ(ncclDevCommCreate(r.comm[0], &r, &r), GD_NCCL_InvalidUsage);
	EXPECT_EQ(ncclSignal(1, 0, 0, 0, r.comm[0], r.stream[0]), GD_NCCL_InvalidUsage);
	EXPECT(strstr(ncclGetLastError(NULL), "symmetric") != NULL);
	abort_all(r.comm, DEVICES);
}

/* Run as a copy in a PyTorch's folder: says what it gets. */
static __attribute__((constructor)) void tell_version(void)
{
	int version = 0;

	if (!getenv("TELL_VERSION"))
		return;
	ncclGetVersion(&version);
	_exit(version == 22105);
}

static void copy_file(const char *from, const char *to)
{
	char command[600];

	snprintf(command, sizeof(command), "cp '%s' '%s'", from, to);
	REQUIRE(system(command) == 0);
}

static void write_metadata(const char *folder)
{
	char path[200];

	snprintf(path, sizeof(path), "%s/torch-2.6.0.dist-info/METADATA", folder);
	FILE *file = fopen(path, "w");
	REQUIRE(file != NULL);
	fputs("Name: torch\nRequires-Dist: filelock\n"
	      "Requires-Dist: nvidia-nccl-cu12==2.21.5; platform_system == \"Linux\"\n",
	    file);
	fclose(file);
}

/* The first file of the process is taken for the caller's library, as it lies where PyTorch's do.
 */
TEST(version_of_the_wheel)
{
	char folder[] = "/tmp/gpushim-nccl-XXXXXX", program[64], self[512], libraries[600];
	char command[800];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int version;

	REQUIRE(length > 0 && mkdtemp(folder));
	self[length] = 0;
	snprintf(libraries, sizeof(libraries), "%.*s/../lib/gpushim/dryrun",
	    (int)(strrchr(self, '/') - self), self);
	snprintf(command, sizeof(command), "mkdir -p %s/torch/lib %s/torch-2.6.0.dist-info", folder,
	    folder);
	REQUIRE(system(command) == 0);
	snprintf(program, sizeof(program), "%s/torch/lib/program", folder);
	copy_file(self, program);
	write_metadata(folder);
	snprintf(
	    command, sizeof(command), "TELL_VERSION=1 LD_LIBRARY_PATH='%s' %s", libraries, program);
	EXPECT_EQ(WEXITSTATUS(system(command)), 1);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	REQUIRE(system(command) == 0);
	/* Who is not PyTorch gets the newest. */
	OK((CUresult)ncclGetVersion(&version));
	EXPECT_EQ(version, GD_NCCL_VERSION);
}

TEST(texts)
{
	EXPECT_EQ(ncclGetVersion(NULL), GD_NCCL_InvalidArgument);
	EXPECT(strcmp(ncclGetErrorString(GD_NCCL_RemoteError), ncclGetErrorString(99)) != 0);
}
