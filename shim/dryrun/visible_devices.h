/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices that this process may see.
 *
 * CUDA_VISIBLE_DEVICES lists them by number or by the beginning of GPU-<uuid>; the list ends at the
 * first entry that is no device, or one named before.  The driver's device numbers count the
 * visible ones; budget, counts, identity and PCI address belong to the device itself (gd_physical).
 */
#ifndef GD_VISIBLE_DEVICES_H
#define GD_VISIBLE_DEVICES_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <stdbool.h>

extern unsigned gd_visible_count; /* constant after gd_visible_start */

/** @return whether a number is one of them */
static inline bool gd_device_visible(CUdevice device)
{
	return device >= 0 && (unsigned)device < gd_visible_count;
}

/** @return whether a place is the memory of one of them */
static inline bool gd_location_visible(const CUmemLocation *location)
{
	return location->type == CU_MEM_LOCATION_TYPE_DEVICE && gd_device_visible(location->id);
}

/** Read the environment after the device table; once. */
void gd_visible_start(void);

#endif
