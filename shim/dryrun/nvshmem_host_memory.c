/* SPDX-License-Identifier: Apache-2.0 */
/* NVSHMEM: functions that answer an address instead of a status have none to give. */
#include <stddef.h>

#include "gd_export.h"
#include "unprovided.h"

GD_EXPORT void *nvshmem_malloc(size_t bytes);
GD_EXPORT void *nvshmem_ptr(const void *address, int pe);
GD_EXPORT void *nvshmemx_mc_ptr(int team, const void *address);

void *nvshmem_malloc(size_t bytes)
{
	gd_unprovided(__func__);
	return NULL;
}

void *nvshmem_ptr(const void *address, int pe)
{
	gd_unprovided(__func__);
	return NULL;
}

void *nvshmemx_mc_ptr(int team, const void *address)
{
	gd_unprovided(__func__);
	return NULL;
}
