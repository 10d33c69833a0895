/* SPDX-License-Identifier: Apache-2.0 */
/* NCCL: version and texts.  Communicators are refused by the stubs. */
#include "gd_export.h"
#include "unprovided.h"

#define GD_NCCL_VERSION 23007 /* at least what PyTorch 2.15 was built with */

GD_EXPORT int ncclGetVersion(int *version);
GD_EXPORT const char *ncclGetErrorString(int status);
GD_EXPORT const char *ncclGetLastError(const void *communicator);

int ncclGetVersion(int *version)
{
	if (!version)
		return 4; /* ncclInvalidArgument */
	*version = GD_NCCL_VERSION;
	return 0;
}

const char *ncclGetErrorString(int status)
{
	static const char *const texts[] = {"no error", "unhandled cuda error",
	    "unhandled system error", "internal error", "invalid argument", "invalid usage",
	    "remote process exited or there was a network error", "operation in progress"};

	if (status < 0 || (unsigned)status >= sizeof(texts) / sizeof(*texts))
		return "unknown result code";
	return texts[status];
}

const char *ncclGetLastError(const void *communicator)
{
	return "refused by the stand-in NCCL";
}
