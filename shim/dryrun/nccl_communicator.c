/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_communicator.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "nccl_driver.h"
#include "nccl_errors.h"
#include "nccl_group.h"

#define GD_NCCL_COMM_MAGIC UINT64_C(0x4d4d4f4344504721)

bool gd_nccl_valid(const struct ncclComm *comm, const char *function)
{
	if (comm && comm->magic == GD_NCCL_COMM_MAGIC)
		return true;
	gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: %s communicator", function,
	    comm ? "corrupted or destroyed" : "NULL");
	return false;
}

bool gd_nccl_ready(const struct ncclComm *comm, const char *function)
{
	if (!gd_nccl_valid(comm, function))
		return false;
	if (!atomic_load(&comm->jobs))
		return true;
	gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: the communicator is not ready yet", function);
	return false;
}

void gd_nccl_hold(struct ncclComm *comm)
{
	atomic_fetch_add(&comm->references, 1);
}

/* May run on a thread of the driver, so it calls nothing of the driver. */
void gd_nccl_drop(struct ncclComm *comm)
{
	if (atomic_fetch_sub(&comm->references, 1) != 1)
		return;
	gd_nccl_close(&comm->segment);
	pthread_cond_destroy(&comm->changed);
	pthread_mutex_destroy(&comm->lock);
	free(comm);
}

/* A thread without a context gets the first device's, as the runtime would give it. */
static int use_current_device(struct ncclComm *comm)
{
	const struct gd_nccl_driver *driver = gd_nccl_driver();
	CUresult result;

	if (!driver)
		return GD_NCCL_UnhandledCudaError;
	result = driver->get_current(&comm->context);
	if (result == CUDA_SUCCESS && !comm->context) {
		result = driver->retain_primary(&comm->context, 0);
		if (result == CUDA_SUCCESS)
			result = driver->set_current(comm->context);
	}
	if (result == CUDA_SUCCESS)
		result = driver->get_device(&comm->device);
	if (result == CUDA_SUCCESS)
		result = driver->pci_address(comm->address, sizeof(comm->address), comm->device);
	return result == CUDA_SUCCESS ? GD_NCCL_Success
				      : gd_nccl_cuda_failure(result, "cuCtxGetDevice");
}

static void use_device_of(struct ncclComm *comm, const struct ncclComm *parent)
{
	comm->context = parent->context;
	comm->device = parent->device;
	memcpy(comm->address, parent->address, sizeof(comm->address));
}

/* Fields that the caller's release does not have stay undefined. */
static int read_config(struct gd_nccl_config *to, const struct gd_nccl_config *from)
{
	size_t known = sizeof(*to);

	*to = (struct gd_nccl_config){.size = known,
	    .magic = GD_NCCL_CONFIG_MAGIC,
	    .blocking = 1,
	    .split_share = INT_MIN,
	    .shrink_share = INT_MIN};
	if (!from)
		return GD_NCCL_Success;
	if (from->magic != GD_NCCL_CONFIG_MAGIC)
		return gd_nccl_fail(GD_NCCL_InvalidArgument,
		    "ncclConfig_t is not initialised by NCCL_CONFIG_INITIALIZER");
	memcpy(to, from, from->size < known ? from->size : known);
	to->size = known;
	if (to->blocking == INT_MIN)
		to->blocking = 1;
	if (to->blocking != 0 && to->blocking != 1)
		return gd_nccl_fail(GD_NCCL_InvalidArgument,
		    "Invalid config blocking attribute value %d", to->blocking);
	return GD_NCCL_Success;
}

int gd_nccl_new(
    struct ncclComm **comm_out, const struct ncclComm *parent, const struct gd_nccl_config *config)
{
	struct ncclComm *comm = calloc(1, sizeof(*comm));
	int status = GD_NCCL_Success;

	if (!comm)
		return gd_nccl_fail(GD_NCCL_SystemError, "no memory");
	if (!config && parent)
		config = &parent->config;
	if (parent)
		use_device_of(comm, parent);
	else
		status = use_current_device(comm);
	if (status == GD_NCCL_Success)
		status = read_config(&comm->config, config);
	if (status != GD_NCCL_Success) {
		free(comm);
		return status;
	}
	comm->magic = GD_NCCL_COMM_MAGIC;
	atomic_init(&comm->references, 1);
	pthread_mutex_init(&comm->lock, NULL);
	pthread_cond_init(&comm->changed, NULL);
	*comm_out = comm;
	return GD_NCCL_Success;
}

int gd_nccl_enrol(struct ncclComm *comm, const struct gd_nccl_id *id, int ranks, int rank)
{
	if (ranks < 1 || rank < 0 || rank >= ranks)
		return gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "Invalid rank requested : %d/%d", rank, ranks);
	if (ranks > GD_NCCL_MAX_RANKS)
		return gd_nccl_fail(GD_NCCL_InvalidUsage,
		    "%d ranks, but a stand-in machine has at most %d devices", ranks,
		    GD_NCCL_MAX_RANKS);
	comm->rank = rank;
	comm->ranks = ranks;
	comm->id = *id;
	return gd_nccl_join(&comm->segment, id, ranks, rank, comm->address);
}

uint64_t gd_nccl_everybody(const struct ncclComm *comm)
{
	return comm->ranks == 64 ? ~UINT64_C(0) : (UINT64_C(1) << comm->ranks) - 1;
}

static int check_devices(const struct ncclComm *comm)
{
	const struct gd_nccl_rank *all = comm->segment.shared->rank;

	for (int r = 0; r < comm->ranks; r++) {
		if (r != comm->rank && strcmp(all[r].device, all[comm->rank].device) == 0)
			return gd_nccl_fail(GD_NCCL_InvalidUsage,
			    "Duplicate GPU detected : rank %d and rank %d both on CUDA device %s",
			    comm->rank, r, all[r].device);
	}
	return GD_NCCL_Success;
}

static int wait_for_ranks(struct ncclComm *comm)
{
	const _Atomic bool *const stops[2] = {&comm->aborted};
	char notes[GD_NCCL_MAX_RANKS][GD_NCCL_NOTE_BYTES];
	const char note[GD_NCCL_NOTE_BYTES] = "";
	int status = gd_nccl_exchange(
	    &comm->segment, GD_NCCL_ROUND_ALL, gd_nccl_everybody(comm), note, notes, stops);

	if (status == GD_NCCL_Success)
		status = check_devices(comm);
	if (status == GD_NCCL_Success)
		status = gd_nccl_take_buffers(comm);
	return status;
}

/* The program has no handle of it yet. */
static void unmake(struct ncclComm *comm)
{
	gd_nccl_leave(&comm->segment, GD_NCCL_ABORTED);
	gd_nccl_give_buffers(comm);
	comm->magic = 0;
	gd_nccl_drop(comm);
}

bool gd_nccl_failed(struct ncclComm *comm, int status)
{
	int none = GD_NCCL_Success;

	return atomic_compare_exchange_strong(&comm->failure, &none, status);
}

void gd_nccl_job_begins(struct ncclComm *comm)
{
	gd_nccl_hold(comm);
	pthread_mutex_lock(&comm->lock);
	atomic_fetch_add(&comm->jobs, 1);
	pthread_mutex_unlock(&comm->lock);
}

void gd_nccl_job_ends(struct ncclComm *comm, int status)
{
	if (status != GD_NCCL_Success)
		gd_nccl_failed(comm, status);
	pthread_mutex_lock(&comm->lock);
	atomic_fetch_sub(&comm->jobs, 1);
	pthread_cond_broadcast(&comm->changed);
	pthread_mutex_unlock(&comm->lock);
	gd_nccl_drop(comm);
}

static int run_making(struct gd_nccl_job *job, bool wanted)
{
	struct gd_nccl_making *making = (struct gd_nccl_making *)job;
	struct ncclComm *comm = making->comm, **comm_out = making->comm_out;
	int status = wanted ? GD_NCCL_Success : GD_NCCL_InvalidUsage;

	if (making->find)
		status = making->find(making, wanted);
	free(making);
	if (!comm)
		return status;
	if (status == GD_NCCL_Success)
		status = wait_for_ranks(comm);
	gd_nccl_id_forget(&comm->id);
	if (status != GD_NCCL_Success && comm->config.blocking) {
		*comm_out = NULL;
		unmake(comm);
	}
	gd_nccl_job_ends(comm, status);
	return status;
}

int gd_nccl_make(struct gd_nccl_making *making, bool blocking)
{
	*making->comm_out = making->comm;
	making->job.run = run_making;
	if (making->comm)
		gd_nccl_job_begins(making->comm);
	return gd_nccl_group_status(gd_nccl_job_start(&making->job, blocking));
}

void gd_nccl_stop(struct ncclComm *comm)
{
	atomic_store(&comm->aborted, true);
	gd_nccl_ring(&comm->segment);
	pthread_mutex_lock(&comm->lock);
	pthread_cond_broadcast(&comm->changed);
	pthread_mutex_unlock(&comm->lock);
}
