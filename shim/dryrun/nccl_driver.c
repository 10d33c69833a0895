/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_driver.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "driver_door.h"
#include "nccl_api.h"
#include "nccl_errors.h"

static struct gd_nccl_driver driver;
static bool complete;

static void open_driver(void)
{
	const struct {
		void *slot;
		const char *name;
		int version; /* 0: the stand-in's own */
	} functions[] = {
	    {&driver.get_current, "cuCtxGetCurrent", 4000},
	    {&driver.set_current, "cuCtxSetCurrent", 4000},
	    {&driver.get_device, "cuCtxGetDevice", 2000},
	    {&driver.retain_primary, "cuDevicePrimaryCtxRetain", 7000},
	    {&driver.device_count, "cuDeviceGetCount", 2000},
	    {&driver.pci_address, "cuDeviceGetPCIBusId", 4010},
	    {&driver.allocate, "cuMemAlloc", 3020},
	    {&driver.free_memory, "cuMemFree", 3020},
	    {&driver.create, "cuMemCreate", 10020},
	    {&driver.release, "cuMemRelease", 10020},
	    {&driver.create_event, "cuEventCreate", 2000},
	    {&driver.record_event, "cuEventRecord", 2000},
	    {&driver.wait_event, "cuStreamWaitEvent", 3020},
	    {&driver.destroy_event, "cuEventDestroy", 4000},
	    {&driver.meet, "gpushim_dryrun_meet", 0},
	    {&driver.read, "gpushim_dryrun_read", 0},
	    {&driver.write, "gpushim_dryrun_write", 0},
	    {&driver.unknown, "gpushim_dryrun_unknown", 0},
	    {&driver.forget, "gpushim_dryrun_forget", 0},
	    {&driver.real_copy, "gpushim_dryrun_real_copy", 0},
	};

	complete = true;
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
		const char *name = functions[i].name;
		int version = functions[i].version;
		void *function =
		    version ? gd_driver_function(name, version, 0) : gd_driver_extra(name);

		memcpy(functions[i].slot, &function, sizeof(function));
		complete = complete && function;
	}
}

const struct gd_nccl_driver *gd_nccl_driver(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, open_driver);
	if (!complete)
		gd_nccl_fail(GD_NCCL_UnhandledCudaError, "no stand-in driver to communicate over");
	return complete ? &driver : NULL;
}

int gd_nccl_cuda_failure(CUresult result, const char *what)
{
	const char *text = result == CUDA_ERROR_OUT_OF_MEMORY ? "out of memory" : what;

	return gd_nccl_fail(
	    GD_NCCL_UnhandledCudaError, "Cuda failure %d '%s' in %s", (int)result, text, what);
}

int gd_nccl_enter(CUcontext context, CUcontext *before_out)
{
	CUresult result = driver.get_current(before_out);

	if (result == CUDA_SUCCESS && *before_out != context)
		result = driver.set_current(context);
	return result == CUDA_SUCCESS ? GD_NCCL_Success
				      : gd_nccl_cuda_failure(result, "cuCtxSetCurrent");
}

void gd_nccl_restore(CUcontext context, CUcontext before)
{
	if (before != context)
		driver.set_current(before);
}
