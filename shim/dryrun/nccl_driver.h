/* SPDX-License-Identifier: Apache-2.0 */
/* The driver as the stand-in NCCL uses it.  Threads: any. */
#ifndef GD_NCCL_DRIVER_H
#define GD_NCCL_DRIVER_H

#include <cuda.h>
#include <stddef.h>

#include "launcher_api.h"

struct gd_nccl_driver {
	CUresult (*get_current)(CUcontext *context);
	CUresult (*set_current)(CUcontext context);
	CUresult (*get_device)(CUdevice *device);
	CUresult (*retain_primary)(CUcontext *context, CUdevice device);
	CUresult (*device_count)(int *count);
	CUresult (*pci_address)(char *text, int room, CUdevice device);
	CUresult (*allocate)(CUdeviceptr *address, size_t bytes);
	CUresult (*free_memory)(CUdeviceptr address);
	CUresult (*create)(CUmemGenericAllocationHandle *handle, size_t bytes,
	    const CUmemAllocationProp *what, unsigned long long flags);
	CUresult (*release)(CUmemGenericAllocationHandle handle);
	CUresult (*create_event)(CUevent *event, unsigned flags);
	CUresult (*record_event)(CUevent event, CUstream stream);
	CUresult (*wait_event)(CUstream stream, CUevent event, unsigned flags);
	CUresult (*destroy_event)(CUevent event);
	/* launcher_api.h */
	int (*meet)(const struct gd_meeting *meeting);
	int (*read)(void *to, const void *from, size_t bytes);
	int (*write)(void *to, const void *from, size_t bytes);
	int (*unknown)(char *unknown_out, const void *from, size_t bytes);
	void (*forget)(void *to, const char *unknown, size_t bytes);
	size_t (*real_copy)(void);
};

/** @return the functions, or NULL (after keeping the words) when there is no such driver */
const struct gd_nccl_driver *gd_nccl_driver(void);

/**
 * Make a context current for a while.
 *
 * @param before_out  for gd_nccl_restore
 * @return GD_NCCL_Success or GD_NCCL_UnhandledCudaError
 */
int gd_nccl_enter(CUcontext context, CUcontext *before_out);
void gd_nccl_restore(CUcontext context, CUcontext before);

/** Keep the words for a failed call. @return GD_NCCL_UnhandledCudaError */
int gd_nccl_cuda_failure(CUresult result, const char *what);

#endif
