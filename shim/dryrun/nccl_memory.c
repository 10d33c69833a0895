/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: the buffers that a communicator takes on its device, and what programs take and register.
 *
 * The model of the buffers, a guess: a ring of 2 channels over PCIe, of 16 over NVLink; for each
 * channel the buffers of NCCL's three protocols in their documented sizes, 4 MiB, 512 KiB and
 * 4.6875 MiB.  A communicator of one rank takes none, nor one that shares those of its parent.
 * Real sizes depend on the machine's topology, the release and what is called.
 */
#include <stdlib.h>
#include <string.h>

#include "device_table.h"
#include "nccl_communicator.h"
#include "nccl_driver.h"
#include "nccl_errors.h"

#define GD_CHANNEL_BYTES ((UINT64_C(4) << 20) + (UINT64_C(512) << 10) + UINT64_C(4915200))
#define GD_GRANULARITY (UINT64_C(2) << 20)

static uint64_t rounded(uint64_t bytes)
{
	return (bytes + GD_GRANULARITY - 1) / GD_GRANULARITY * GD_GRANULARITY;
}

static bool nvlink;

static void read_table(void)
{
	nvlink = gd_device_table_start() && gd_facts.nvlink_per_s;
}

int gd_nccl_channels(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, read_table);
	return nvlink ? 16 : 2;
}

size_t gd_nccl_buffer_bytes(int ranks)
{
	return ranks > 1 ? rounded((uint64_t)gd_nccl_channels() * GD_CHANNEL_BYTES) : 0;
}

/* Physical memory that nobody maps: what matters is that it is taken.  Unlike cuMemFree, giving it
 * back waits for no work, which an abort could not do. */
int gd_nccl_take_buffers(struct ncclComm *comm)
{
	CUmemAllocationProp what = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = comm->device}};
	size_t bytes = comm->shares_buffers ? 0 : gd_nccl_buffer_bytes(comm->ranks);
	CUresult result = CUDA_SUCCESS;

	if (bytes)
		result = gd_nccl_driver()->create(&comm->buffers, bytes, &what, 0);
	if (result != CUDA_SUCCESS)
		return gd_nccl_cuda_failure(result, "cuMemCreate");
	comm->buffer_bytes = bytes;
	return GD_NCCL_Success;
}

void gd_nccl_give_buffers(struct ncclComm *comm)
{
	if (comm->buffer_bytes)
		gd_nccl_driver()->release(comm->buffers);
	comm->buffer_bytes = 0;
}

int ncclCommSuspend(struct ncclComm *comm, int flags)
{
	if (!gd_nccl_valid(comm, "ncclCommSuspend"))
		return GD_NCCL_InvalidArgument;
	if (flags != 1 || comm->suspended)
		return gd_nccl_fail(GD_NCCL_InvalidUsage, "ncclCommSuspend: flags %d%s", flags,
		    comm->suspended ? ", suspended already" : "");
	gd_nccl_give_buffers(comm);
	comm->suspended = true;
	return GD_NCCL_Success;
}

int ncclCommResume(struct ncclComm *comm)
{
	int status;

	if (!gd_nccl_valid(comm, "ncclCommResume"))
		return GD_NCCL_InvalidArgument;
	if (!comm->suspended)
		return gd_nccl_fail(GD_NCCL_InvalidUsage, "ncclCommResume: not suspended");
	status = gd_nccl_take_buffers(comm);
	comm->suspended = status != GD_NCCL_Success;
	return status;
}

int ncclCommMemStats(struct ncclComm *comm, int statistic, uint64_t *value)
{
	if (!gd_nccl_valid(comm, "ncclCommMemStats"))
		return GD_NCCL_InvalidArgument;
	if (!value || statistic < GD_NCCL_MEMORY_SUSPENDABLE || statistic > GD_NCCL_MEMORY_TOTAL)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclCommMemStats");
	if (statistic == GD_NCCL_MEMORY_SUSPENDED)
		*value = comm->suspended;
	else
		*value = statistic == GD_NCCL_MEMORY_PERSISTENT ? 0 : comm->buffer_bytes;
	return GD_NCCL_Success;
}

int ncclMemAlloc(void **address, size_t bytes)
{
	const struct gd_nccl_driver *driver = gd_nccl_driver();
	CUdeviceptr memory;
	CUresult result;

	if (!address || !bytes)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclMemAlloc: nothing asked for");
	if (!driver)
		return GD_NCCL_UnhandledCudaError;
	if (bytes > SIZE_MAX - GD_GRANULARITY)
		return gd_nccl_cuda_failure(CUDA_ERROR_OUT_OF_MEMORY, "ncclMemAlloc");
	result = driver->allocate(&memory, rounded(bytes));
	if (result != CUDA_SUCCESS)
		return gd_nccl_cuda_failure(result, "ncclMemAlloc");
	*address = (void *)(uintptr_t)memory;
	return GD_NCCL_Success;
}

int ncclMemFree(void *address)
{
	const struct gd_nccl_driver *driver = gd_nccl_driver();
	CUresult result;

	if (!driver)
		return GD_NCCL_UnhandledCudaError;
	result = driver->free_memory((CUdeviceptr)(uintptr_t)address);
	return result == CUDA_SUCCESS ? GD_NCCL_Success
				      : gd_nccl_cuda_failure(result, "ncclMemFree");
}

/* Registered buffers are read and written like others. */
int ncclCommRegister(struct ncclComm *comm, void *buffer, size_t bytes, void **handle)
{
	if (!gd_nccl_valid(comm, "ncclCommRegister"))
		return GD_NCCL_InvalidArgument;
	if (!buffer || !bytes || !handle)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclCommRegister: no buffer");
	*handle = buffer;
	return GD_NCCL_Success;
}

int ncclCommDeregister(struct ncclComm *comm, void *handle)
{
	return gd_nccl_valid(comm, "ncclCommDeregister") ? GD_NCCL_Success
							 : GD_NCCL_InvalidArgument;
}
