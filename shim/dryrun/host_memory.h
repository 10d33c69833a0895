/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Host memory that the driver knows: page-locked by cuMemHostAlloc, registered by the program, and
 * managed memory, which the host may touch and which is charged to the device as far as it fits
 * there (the rest would be paged out).  All of it is real memory.  Threads: any.
 */
#ifndef GD_HOST_MEMORY_H
#define GD_HOST_MEMORY_H

#include "shim/dryrun/cuda_api.h"

struct gd_context;

enum gd_host_kind { GD_HOST_PINNED, GD_HOST_REGISTERED, GD_HOST_MANAGED };

/* What was advised about managed memory.  Kept of whole allocations only. */
struct gd_host_advice {
	CUmemLocation preferred, prefetched; /* CU_MEM_LOCATION_TYPE_INVALID: none */
	uint64_t devices;		     /* advised to access it, a bit each */
	bool host;			     /* so is the host */
	bool read_mostly;
};

struct gd_host_range {
	uint64_t start;
	uint64_t bytes;
	enum gd_host_kind kind;
	uint32_t flags;
	uint32_t device;
	uint64_t context_id;
	uint64_t charged_bytes; /* MANAGED */
	uint64_t id;
	struct gd_host_advice advice; /* MANAGED */
};

/** @return whether a known range holds the address; copied out */
bool gd_host_find(uint64_t address, struct gd_host_range *range_out);

/**
 * Keep what was advised about managed memory.
 *
 * @param address  inside it
 * @param advice   replaces what was there
 */
void gd_host_advise(uint64_t address, const struct gd_host_advice *advice);

/** cuMemFree of managed memory. */
CUresult gd_host_free_managed(uint64_t address);

/** Free the memory of a context and forget what was registered in it. */
void gd_host_drop_context(const struct gd_context *context);

/** Managed memory for a variable of a module. @return NULL without memory */
void *gd_host_new_managed(const struct gd_context *context, size_t bytes);

#endif
