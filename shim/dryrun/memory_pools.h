/* SPDX-License-Identifier: Apache-2.0 */
/* Memory pools and stream-ordered allocation.  Threads: any. */
#ifndef GD_MEMORY_POOLS_H
#define GD_MEMORY_POOLS_H

#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/shared_state.h"

struct gd_pool {
	struct gd_object object;
	uint32_t device;
	bool standard;	      /* the device's default pool: never destroyed */
	bool destroyed;	      /* ends with its last allocation */
	pthread_mutex_t lock; /* everything below; the budget's lock nests in it */
	uint64_t threshold_bytes;
	uint64_t reserved_bytes, reserved_high_bytes;
	uint64_t used_bytes, used_high_bytes;
	uint64_t allocations;
	uint64_t most_bytes; /* of CUmemPoolProps.maxSize; 0: none */
	int reuse[3];	     /* attributes 1 to 3, kept for the caller */
	uint64_t access;     /* devices that may use it, besides its own */
};

extern struct gd_pool *gd_pools_standard[GD_MAX_DEVICES]; /* default pools; constant */
extern struct gd_pool *gd_pools_chosen[GD_MAX_DEVICES];	  /* cuDeviceSetMemPool; atomic */

/** @return the pool behind a handle, or NULL */
static inline struct gd_pool *gd_pool_get(CUmemoryPool handle)
{
	return gd_object_get(handle, GD_TYPE_POOL);
}

/** @return an empty pool, or NULL */
struct gd_pool *gd_pool_new(unsigned device);

/** End a pool without allocations. */
void gd_pool_delete(struct gd_pool *pool);

/** Give back what the pool holds above `keep` bytes and its allocations; its lock is held. */
void gd_pool_trim(struct gd_pool *pool, uint64_t keep);

/** @return what notices say about a pool */
struct gd_notice_pool gd_pool_figures(struct gd_pool *pool);

/** Make the default pool of each device; once. */
bool gd_pools_start(void);

/** Free a block that came from a pool; the pool keeps its memory as its threshold says. */
void gd_pool_give_block(struct gd_block *block);

/** Free memory of a pool for the program; that of a graph only stops being in use. */
void gd_pool_free(struct gd_block *block);

/** The device is synchronized: pools give back what they hold above their threshold. */
void gd_pools_trim(unsigned device);

#endif
