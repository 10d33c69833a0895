/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the stand-in NCCL share.  Two devices over one process, or one each for two. */
#ifndef NCCL_TEST_H
#define NCCL_TEST_H

#include <time.h>

#include "shim/dryrun/nccl_api.h"
#include "tests/dryrun/driver_test.h"

#define DEVICES 2

struct ranks {
	CUcontext context[DEVICES];
	CUstream stream[DEVICES];
	struct ncclComm *comm[DEVICES];
};

static __attribute__((unused)) void start_devices(void)
{
	setenv("GPUSHIM_DRYRUN_COUNT", "2", 1);
	start("name=Test GPU;total=1073741824;cc=8.0;sm=108;nvlink=1000000000");
}

static __attribute__((unused)) void use(const struct ranks *r, int device)
{
	OK(cuCtxSetCurrent(r->context[device]));
}

/* A communicator of both devices, made by this thread. */
static __attribute__((unused)) void start_ranks(struct ranks *r)
{
	start_devices();
	for (int d = 0; d < DEVICES; d++) {
		OK(cuDevicePrimaryCtxRetain(&r->context[d], d));
		use(r, d);
		OK(cuStreamCreate(&r->stream[d], CU_STREAM_NON_BLOCKING));
	}
	OK((CUresult)ncclCommInitAll(r->comm, DEVICES, NULL));
}

/* Abort, as what they had to do may never be done. */
static __attribute__((unused)) void abort_all(struct ncclComm *const *comm, int count)
{
	for (int i = 0; i < count; i++)
		if (comm[i])
			OK((CUresult)ncclCommAbort(comm[i]));
}

/* Memory of a device that holds some bytes. */
static __attribute__((unused)) void *filled(
    const struct ranks *r, int device, const void *bytes, size_t size)
{
	CUdeviceptr memory;
	use(r, device);
	OK(cuMemAlloc_v2(&memory, size));
	OK(cuMemcpyHtoD_v2(memory, bytes, size));
	return (void *)(uintptr_t)memory;
}

/* What is there once the device's stream is done. */
static __attribute__((unused)) void read_back(
    const struct ranks *r, int device, void *to, const void *from, size_t size)
{
	use(r, device);
	OK(cuStreamSynchronize(r->stream[device]));
	OK(cuMemcpyDtoH_v2(to, (CUdeviceptr)(uintptr_t)from, size));
}

/* Whether a stream is done within two seconds. */
static __attribute__((unused)) bool ends(CUstream stream)
{
	for (int i = 0; i < 2000; i++) {
		if (cuStreamQuery(stream) == CUDA_SUCCESS)
			return true;
		usleep(1000);
	}
	return false;
}

#endif
