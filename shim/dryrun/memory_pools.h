/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools and stream-ordered allocation.  Threads: any. */
#ifndef GD_MEMORY_POOLS_H
#define GD_MEMORY_POOLS_H

#include "shim/dryrun/device_memory.h"

/** Make the default pool of each device; once. */
bool gd_pools_start(void);

/** Free a block that came from a pool; the pool keeps its memory as its threshold says. */
void gd_pool_give_block(struct gd_block *block);

/** Free memory of a pool for the program; that of a graph only stops being in use. */
void gd_pool_free(struct gd_block *block);

/** The device is synchronized: pools give back what they hold above their threshold. */
void gd_pools_trim(unsigned device);

#endif
