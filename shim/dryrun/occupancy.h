/* SPDX-License-Identifier: Apache-2.0 */
/* How many blocks of a kernel a multiprocessor holds, from the device's limits.  Threads: any. */
#ifndef GD_OCCUPANCY_H
#define GD_OCCUPANCY_H

#include "shim/dryrun/modules.h"

/**
 * @param threads       of a block
 * @param shared_bytes  dynamic shared memory of a block
 * @return resident blocks per multiprocessor, 0 when not even one fits
 */
int gd_occupancy_blocks(const struct gd_function *function, int threads, size_t shared_bytes);

#endif
