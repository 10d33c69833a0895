/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that graphs allocate.
 *
 * It is taken when the node is made, so that its address is known, and charged to the device from
 * then on.  It is in use from a launch until it is freed, by a node or by the program, and ends
 * when it is not in use and no graph names it.  Apart from pools, as cuDeviceGetGraphMemAttribute
 * shows. All functions: gd_graph_lock is held.
 */
#ifndef GD_GRAPH_MEMORY_H
#define GD_GRAPH_MEMORY_H

#include "shim/dryrun/device_memory.h"

struct gd_graph_memory {
	uint32_t references; /* nodes and steps that allocate it */
	bool in_use;
	struct gd_block *block;
	CUDA_MEM_ALLOC_NODE_PARAMS parameters;
};

/**
 * Take memory.
 *
 * @param parameters  of the node; the address is filled in
 * @param memory_out  with one reference
 * @return CUDA_SUCCESS or CUDA_ERROR_OUT_OF_MEMORY
 */
CUresult gd_graph_memory_new(
    CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct gd_graph_memory **memory_out);

/** One more reference. */
void gd_graph_memory_hold(struct gd_graph_memory *memory);

/** Drop a reference. */
void gd_graph_memory_drop(struct gd_graph_memory *memory);

/** A launch allocates it. */
void gd_graph_memory_use(struct gd_graph_memory *memory);

/** It is freed; nothing happens when it is not in use. */
void gd_graph_memory_free(struct gd_graph_memory *memory);

#endif
