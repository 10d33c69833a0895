/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of device memory: whom an address belongs to, what is charged for it.
 *
 * Every block begins at a slot of its own.  Charged are its bytes rounded up to 512, the alignment
 * of the device; virtual memory is charged by slots.  Threads: any; blocks are found without a
 * lock, so a program that frees what another thread uses gets what it deserves, but no crash in
 * here.
 */
#ifndef GD_DEVICE_MEMORY_H
#define GD_DEVICE_MEMORY_H

#include <pthread.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/handles.h"

struct gd_context;
struct gd_graph_memory;
struct gd_pool;
struct gd_stream;

enum gd_block_kind {
	GD_BLOCK_PLAIN,	   /* cuMemAlloc and what modules and arrays hold */
	GD_BLOCK_POOLED,   /* from a memory pool */
	GD_BLOCK_RESERVED, /* addresses of cuMemAddressReserve */
	GD_BLOCK_PHYSICAL, /* memory of cuMemCreate: its own addresses are never shown */
};

/* One cuMemMap. */
struct gd_mapping {
	uint64_t address;
	uint64_t bytes;
	uint64_t offset; /* into the physical block */
	struct gd_block *physical;
	uint64_t access; /* a bit for each device that may use it; 0: leads nowhere */
};

struct gd_block {
	struct gd_object object;
	enum gd_block_kind kind;
	uint32_t device;
	uint64_t base;
	uint64_t bytes; /* as asked for */
	uint64_t slots;
	uint64_t charged_bytes;
	uint64_t context_id;	       /* 0: of no context */
	uint64_t id;		       /* of the buffer, never used again */
	struct gd_block *next, **link; /* all blocks; guarded by gd_memory_lock */
	bool internal;		       /* an array's or module's: cuMemFree refuses it */
	bool sync_memops;
	bool exportable; /* PHYSICAL: made for cuMemExportToShareableHandle */
	bool imported;	 /* another process's: charged there */
	bool leaving;	 /* the program freed it, perhaps behind queued work; atomic */
	struct gd_pool *pool;
	struct gd_graph_memory
	    *graph_memory; /* of a graph's allocation; guarded by gd_graph_lock */
	/* RESERVED: its mappings by address; guarded by gd_memory_lock */
	struct gd_mapping *mappings;
	uint32_t mapping_count, mapping_room;
	int share_file; /* 1 + descriptor of the file that it lies in, 0: none (ipc_memory.h) */
	/* PHYSICAL: guarded by gd_memory_lock */
	uint32_t references; /* handles that were not released; of an import, times it was opened */
	uint32_t mapped;     /* mappings that lead here */
};

extern pthread_mutex_t gd_memory_lock;

/**
 * Allocate.
 *
 * @param context    owner; the block ends with it; NULL for none
 * @param device     index
 * @param bytes      at least 1
 * @param charged    to take from the device's budget; 0 when a pool has paid
 * @param block_out  set on success
 * @return CUDA_SUCCESS or CUDA_ERROR_OUT_OF_MEMORY
 */
CUresult gd_memory_new(const struct gd_context *context, unsigned device, enum gd_block_kind kind,
    uint64_t bytes, uint64_t charged, struct gd_block **block_out);

/**
 * Tell the watcher of calls that a call allocates or frees device memory; only when gd_watched().
 *
 * @param kind    GD_NOTICE_ALLOCATED or GD_NOTICE_FREED
 * @param stream  of stream-ordered calls, else NULL
 */
void gd_memory_notice(
    const struct gd_block *block, enum gd_notice_kind kind, const struct gd_stream *stream);

/** The program frees a block. @return false when it did so before */
static inline bool gd_memory_leaves(struct gd_block *block)
{
	return !__atomic_exchange_n(&block->leaving, true, __ATOMIC_ACQ_REL);
}

/** @return a block that a function accepts under gd_memory_lock, or NULL */
struct gd_block *gd_memory_find(
    bool (*accept)(const struct gd_block *block, const void *argument), const void *argument);

/** Free a block and what is charged for it. */
void gd_memory_delete(struct gd_block *block);

/** @return the block whose bytes hold the address, or NULL */
struct gd_block *gd_memory_at(uint64_t address);

/** @return the block whose memory lies behind an address: of a mapped one the physical block */
struct gd_block *gd_memory_behind(uint64_t address);

/** @return whether an address of a reservation is mapped; the mapping is copied out */
bool gd_memory_mapping(
    const struct gd_block *block, uint64_t address, struct gd_mapping *mapping_out);

/** @return bytes as the device rounds and charges them */
static inline uint64_t gd_memory_rounded(uint64_t bytes)
{
	return (bytes + 511) & ~UINT64_C(511);
}

/**
 * Check a range that a copy or memset touches.
 *
 * @return whether it lies in one block (or in mapped addresses) and leads to memory
 */
bool gd_memory_range(uint64_t address, uint64_t bytes);

/** Free the blocks of a context. */
void gd_memory_drop_context(const struct gd_context *context);

#endif
