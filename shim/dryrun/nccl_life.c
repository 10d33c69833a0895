/* SPDX-License-Identifier: Apache-2.0 */
/* Making and ending communicators, and what can be asked of one. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "nccl_driver.h"
#include "nccl_errors.h"
#include "nccl_group.h"

#define GD_NCCL_MOST_REAL (UINT64_C(64) << 20)

int ncclGetUniqueId(struct gd_nccl_id *id)
{
	const struct gd_nccl_driver *driver = gd_nccl_driver();
	uint64_t area_bytes;

	if (!id)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclGetUniqueId: id is NULL");
	if (!driver)
		return GD_NCCL_UnhandledCudaError;
	area_bytes = driver->real_copy();
	return gd_nccl_id_make(id, area_bytes < GD_NCCL_MOST_REAL ? area_bytes : GD_NCCL_MOST_REAL);
}

/* Joined at once, so that ranks of one thread meet whatever order they are completed in. */
static int init(struct ncclComm **comm_out, int ranks, const struct gd_nccl_id *id, int rank,
    const struct gd_nccl_config *config)
{
	struct gd_nccl_making *making = calloc(1, sizeof(*making));
	int status;

	if (!making)
		return gd_nccl_fail(GD_NCCL_SystemError, "no memory");
	status = gd_nccl_new(&making->comm, NULL, config);
	if (status == GD_NCCL_Success) {
		status = gd_nccl_enrol(making->comm, id, ranks, rank);
		if (status != GD_NCCL_Success)
			gd_nccl_drop(making->comm);
	}
	if (status != GD_NCCL_Success) {
		free(making);
		return status;
	}
	making->comm_out = comm_out;
	return gd_nccl_make(making, making->comm->config.blocking);
}

int ncclCommInitRankConfig(struct ncclComm **comm, int ranks, struct gd_nccl_id id, int rank,
    struct gd_nccl_config *config)
{
	if (!comm)
		return gd_nccl_group_status(
		    gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclCommInitRank: comm is NULL"));
	return gd_nccl_group_status(init(comm, ranks, &id, rank, config));
}

int ncclCommInitRank(struct ncclComm **comm, int ranks, struct gd_nccl_id id, int rank)
{
	return ncclCommInitRankConfig(comm, ranks, id, rank, NULL);
}

/* Several ids spread the work of a large start; one is enough to meet. */
int ncclCommInitRankScalable(struct ncclComm **comm, int ranks, int rank, int id_count,
    struct gd_nccl_id *ids, struct gd_nccl_config *config)
{
	if (!ids || id_count < 1 || id_count > ranks)
		return gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "improper usage of ncclCommInitRankScalable");
	return ncclCommInitRankConfig(comm, ranks, ids[0], rank, config);
}

static int init_on(
    struct ncclComm **comm, int count, const struct gd_nccl_id *id, int rank, CUdevice device)
{
	const struct gd_nccl_driver *driver = gd_nccl_driver();
	CUcontext context;
	CUresult result = driver->retain_primary(&context, device);

	if (result == CUDA_SUCCESS)
		result = driver->set_current(context);
	if (result != CUDA_SUCCESS)
		return gd_nccl_group_status(gd_nccl_cuda_failure(result, "cudaSetDevice"));
	return ncclCommInitRank(comm, count, *id, rank);
}

static int check_all(struct ncclComm **comms, int count, const int *devices)
{
	int present = 0;

	if (!comms || count < 1 || !gd_nccl_driver() ||
	    gd_nccl_driver()->device_count(&present) != CUDA_SUCCESS)
		return gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "Invalid device count requested : %d", count);
	for (int i = 0; i < count; i++) {
		int device = devices ? devices[i] : i;

		if (device < 0 || device >= present)
			return gd_nccl_fail(
			    GD_NCCL_UnhandledCudaError, "Invalid device : %d", device);
		for (int j = 0; devices && j < i; j++) {
			if (devices[j] == device)
				return gd_nccl_fail(
				    GD_NCCL_InvalidUsage, "Duplicate device : %d", device);
		}
	}
	return GD_NCCL_Success;
}

int ncclCommInitAll(struct ncclComm **comms, int count, const int *devices)
{
	struct gd_nccl_id id;
	CUcontext before = NULL;
	int status = check_all(comms, count, devices), ended;

	if (status == GD_NCCL_Success)
		status = ncclGetUniqueId(&id);
	if (status != GD_NCCL_Success)
		return status;
	gd_nccl_driver()->get_current(&before);
	ncclGroupStart();
	for (int i = 0; i < count && status == GD_NCCL_Success; i++)
		status = init_on(&comms[i], count, &id, i, devices ? devices[i] : i);
	ended = ncclGroupEnd();
	gd_nccl_driver()->set_current(before);
	return status ? status : ended;
}

/* Until all that was enqueued is done, or nothing more will be. */
static void flush(struct ncclComm *comm)
{
	pthread_mutex_lock(&comm->lock);
	while (comm->turn < atomic_load(&comm->enqueued) && !atomic_load(&comm->aborted) &&
	       atomic_load(&comm->failure) == GD_NCCL_Success) {
		struct timespec until;

		clock_gettime(CLOCK_REALTIME, &until);
		until.tv_sec++; /* a failure rings no bell here */
		pthread_cond_timedwait(&comm->changed, &comm->lock, &until);
	}
	pthread_mutex_unlock(&comm->lock);
}

struct finalizing {
	struct gd_nccl_job job;
	struct ncclComm *comm;
};

static int finalize(struct gd_nccl_job *job, bool wanted)
{
	struct ncclComm *comm = ((struct finalizing *)job)->comm;

	free(job);
	if (wanted)
		flush(comm);
	gd_nccl_job_ends(comm, GD_NCCL_Success);
	return GD_NCCL_Success;
}

int ncclCommFinalize(struct ncclComm *comm)
{
	struct finalizing *finalizing;

	if (!comm)
		return GD_NCCL_Success;
	if (!gd_nccl_ready(comm, "ncclCommFinalize"))
		return gd_nccl_group_status(GD_NCCL_InvalidArgument);
	if (comm->finalized)
		return gd_nccl_group_status(
		    gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclCommFinalize: finalized already"));
	finalizing = malloc(sizeof(*finalizing));
	if (!finalizing)
		return gd_nccl_group_status(gd_nccl_fail(GD_NCCL_SystemError, "no memory"));
	*finalizing = (struct finalizing){.job.run = finalize, .comm = comm};
	comm->finalized = true;
	gd_nccl_job_begins(comm);
	return gd_nccl_group_status(gd_nccl_job_start(&finalizing->job, comm->config.blocking));
}

/* Jobs look at `aborted` every now and then, so this is short. */
static void abort_jobs(struct ncclComm *comm)
{
	atomic_store(&comm->aborted, true);
	pthread_mutex_lock(&comm->lock);
	pthread_cond_broadcast(&comm->changed);
	while (atomic_load(&comm->jobs))
		pthread_cond_wait(&comm->changed, &comm->lock);
	pthread_mutex_unlock(&comm->lock);
}

static void end(struct ncclComm *comm, enum gd_nccl_presence presence)
{
	gd_nccl_leave(&comm->segment, presence);
	gd_nccl_stop(comm);
	gd_nccl_give_buffers(comm);
	comm->magic = 0;
	gd_nccl_drop(comm);
}

int ncclCommDestroy(struct ncclComm *comm)
{
	if (!comm)
		return GD_NCCL_Success;
	if (!gd_nccl_ready(comm, "ncclCommDestroy"))
		return GD_NCCL_InvalidArgument;
	flush(comm);
	end(comm, GD_NCCL_LEFT);
	return GD_NCCL_Success;
}

int ncclCommAbort(struct ncclComm *comm)
{
	if (!comm)
		return GD_NCCL_Success;
	if (!gd_nccl_valid(comm, "ncclCommAbort"))
		return GD_NCCL_InvalidArgument;
	gd_nccl_hold(comm);
	abort_jobs(comm);
	if (comm->magic) /* else a job that made it has failed and undone it */
		end(comm, GD_NCCL_ABORTED);
	gd_nccl_drop(comm);
	return GD_NCCL_Success;
}

int ncclCommRevoke(struct ncclComm *comm, int flags)
{
	if (!gd_nccl_ready(comm, "ncclCommRevoke"))
		return GD_NCCL_InvalidArgument;
	if (flags)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclCommRevoke: flags %d", flags);
	gd_nccl_stop(comm);
	return GD_NCCL_Success;
}

/* What can be asked at any time: the status, a number. */
static int answer(const struct ncclComm *comm, const char *function, int value, int *out)
{
	if (!out)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: result is NULL", function);
	*out = value;
	return GD_NCCL_Success;
}

int ncclCommGetAsyncError(struct ncclComm *comm, int *status)
{
	if (!gd_nccl_valid(comm, __func__))
		return GD_NCCL_InvalidArgument;
	return answer(comm, __func__,
	    atomic_load(&comm->jobs) ? GD_NCCL_InProgress : atomic_load(&comm->failure), status);
}

int ncclCommCount(const struct ncclComm *comm, int *count)
{
	if (!gd_nccl_valid(comm, __func__))
		return GD_NCCL_InvalidArgument;
	return answer(comm, __func__, comm->ranks, count);
}

int ncclCommUserRank(const struct ncclComm *comm, int *rank)
{
	if (!gd_nccl_valid(comm, __func__))
		return GD_NCCL_InvalidArgument;
	return answer(comm, __func__, comm->rank, rank);
}

int ncclCommCuDevice(const struct ncclComm *comm, int *device)
{
	if (!gd_nccl_valid(comm, __func__))
		return GD_NCCL_InvalidArgument;
	return answer(comm, __func__, comm->device, device);
}
