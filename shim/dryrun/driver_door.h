/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a stand-in library reaches the driver: dlopen, one dlsym, cuGetProcAddress, as the real ones
 * do with the runtime they carry inside.  No library here links libcuda or calls its exports.
 */
#ifndef GD_DRIVER_DOOR_H
#define GD_DRIVER_DOOR_H

#include <stdint.h>

/**
 * Ask the driver for a function.
 *
 * @param name     base name, without version or stream suffix
 * @param version  ABI version, e.g. 3020
 * @param flags    0, or 2 for the per-thread default stream
 * @return the function, or NULL when driver or function is missing
 *
 * Threads: any.  The first call opens the driver; a failure to do so is tried again.
 */
void *gd_driver_function(const char *name, int version, uint64_t flags);

/**
 * Look up one of the stand-in driver's own exports, which no real driver has.
 *
 * @param name  e.g. "gpushim_dryrun_missing"
 * @return its address or NULL
 */
void *gd_driver_extra(const char *name);

#endif
