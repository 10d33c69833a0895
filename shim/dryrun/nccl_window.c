/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows, signals and communicators for kernels: what NCCL answers on a machine whose devices have
 * no symmetric memory.  Registration succeeds without a window, everything that needs one is
 * refused.
 */
#include "nccl_communicator.h"
#include "nccl_errors.h"
#include "nccl_group.h"

static int refuse(const struct ncclComm *comm, const char *function)
{
	int status = GD_NCCL_InvalidArgument;

	if (gd_nccl_ready(comm, function))
		status = gd_nccl_fail(GD_NCCL_InvalidUsage,
		    "%s: Communicator does not support symmetric memory!", function);
	return gd_nccl_group_status(status);
}

int ncclCommWindowRegister(
    struct ncclComm *comm, void *buffer, size_t bytes, void **window, int flags)
{
	if (!gd_nccl_ready(comm, __func__))
		return GD_NCCL_InvalidArgument;
	if (!window || !buffer || !bytes)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: invalid pointer %p / size %zu",
		    __func__, buffer, bytes);
	*window = NULL;
	return GD_NCCL_Success;
}

int ncclCommWindowDeregister(struct ncclComm *comm, void *window)
{
	if (!gd_nccl_valid(comm, __func__))
		return GD_NCCL_InvalidArgument;
	return window ? gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: no such window", __func__)
		      : GD_NCCL_Success;
}

int ncclWinGetUserPtr(struct ncclComm *comm, void *window, void **address)
{
	if (!gd_nccl_valid(comm, __func__) || !address)
		return GD_NCCL_InvalidArgument;
	*address = NULL;
	return GD_NCCL_Success;
}

int ncclGetPeerDevicePointer(void *window, size_t offset, int peer, void **address)
{
	if (!address)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: result is NULL", __func__);
	*address = NULL;
	return gd_nccl_fail(GD_NCCL_InvalidArgument, "%s: no such window", __func__);
}

int ncclGetLsaMultimemDevicePointer(void *window, size_t offset, void **address)
{
	return ncclGetPeerDevicePointer(window, offset, 0, address);
}

int ncclDevCommCreate(struct ncclComm *comm, const void *requirements, void *made)
{
	return refuse(comm, __func__);
}

int ncclDevCommDestroy(struct ncclComm *comm, const void *made)
{
	return refuse(comm, __func__);
}

int ncclPutSignal(const void *from, size_t count, int type, int peer, void *window, size_t offset,
    int signal, int set, unsigned flags, struct ncclComm *comm, CUstream stream)
{
	return refuse(comm, __func__);
}

int ncclSignal(
    int peer, int signal, int set, unsigned flags, struct ncclComm *comm, CUstream stream)
{
	return refuse(comm, __func__);
}

int ncclWaitSignal(int count, const void *waits, struct ncclComm *comm, CUstream stream)
{
	return refuse(comm, __func__);
}
