/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every driver function has an exported symbol.  driver_stubs.c defines all of them weakly: the
 * stub notes that it was reached and answers CUDA_ERROR_NOT_SUPPORTED.  A file with a real body
 * defines the symbol again and wins.  Threads: any.
 */
#ifndef GD_DRIVER_STUBS_H
#define GD_DRIVER_STUBS_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Find the function for a base name, as cuGetProcAddress does.
 *
 * @param base        e.g. cuMemAlloc
 * @param version     the CUDA version whose ABI is asked for, e.g. 12040
 * @param per_thread  whether a function for per-thread default streams is preferred
 * @param known_out   set to whether the name exists in any version
 * @return the function of the newest version that is not above, or NULL
 */
void *gd_driver_find(const char *base, int version, bool per_thread, bool *known_out);

#endif
