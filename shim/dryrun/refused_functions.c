/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of features that the device's attributes say it has not: they answer "not supported"
 * as a real device without the feature does, and are not listed as missing.
 */
#include "shim/dryrun/gd_export.h"
#include "shim/dryrun/not_provided.h"

/* No CUDA header here: the symbols are declared without their parameters. */
/* clang-format off */
#define REFUSED(R) \
	/* shareable handles of pools and address ranges */ \
	R(cuMemGetHandleForAddressRange) R(cuMemPoolExportPointer) \
	R(cuMemPoolExportToShareableHandle) R(cuMemPoolImportFromShareableHandle) \
	R(cuMemPoolImportPointer) \
	/* multicast */ \
	R(cuMulticastAddDevice) R(cuMulticastBindAddr) R(cuMulticastBindAddr_v2) \
	R(cuMulticastBindMem) R(cuMulticastBindMem_v2) R(cuMulticastCreate) \
	R(cuMulticastGetGranularity) R(cuMulticastUnbind) \
	/* green contexts */ \
	R(cuGreenCtxCreate) R(cuGreenCtxDestroy) R(cuGreenCtxGetDevResource) R(cuGreenCtxGetId) \
	R(cuGreenCtxRecordEvent) R(cuGreenCtxStreamCreate) R(cuGreenCtxWaitEvent) \
	R(cuCtxFromGreenCtx) R(cuCtxGetDevResource) R(cuDeviceGetDevResource) \
	R(cuDevResourceGenerateDesc) R(cuDevSmResourceSplitByCount) \
	/* other devices and interfaces */ \
	R(cuImportExternalMemory) R(cuDestroyExternalMemory) R(cuExternalMemoryGetMappedBuffer) \
	R(cuExternalMemoryGetMappedMipmappedArray) R(cuImportExternalSemaphore) \
	R(cuDestroyExternalSemaphore) R(cuSignalExternalSemaphoresAsync) \
	R(cuSignalExternalSemaphoresAsync_ptsz) R(cuWaitExternalSemaphoresAsync) \
	R(cuWaitExternalSemaphoresAsync_ptsz) R(cuFlushGPUDirectRDMAWrites) R(cuDeviceGetLuid) \
	R(cuDeviceGetNvSciSyncAttributes) R(cuMemBatchDecompressAsync) \
	R(cuMemBatchDecompressAsync_ptsz) R(cuLaunchCooperativeKernelMultiDevice) \
	R(cuLibraryGetUnifiedFunction) R(cuMemMapArrayAsync) R(cuMemMapArrayAsync_ptsz)
/* clang-format on */

#define BODY(name) \
	GD_EXPORT int name(void); \
	GD_EXPORT int name(void) \
	{ \
		return gd_refused(#name); \
	}
REFUSED(BODY)
