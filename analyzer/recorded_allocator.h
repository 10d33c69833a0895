/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From a recording to the calls of PyTorch's caching allocator on one device, as the replay wants
 * them.  What a recording does not tell is inferred, and where that is wrong the replay's fidelity
 * shows it:
 *  - torch.cuda.empty_cache() is a release of segments outside any allocation;
 *  - CUDA events recorded before a free on the same thread belong to that free, if the allocator
 *    asked about them at any time;
 *  - a capture takes its blocks from the pool that its first block lies in, else from a new one; its
 *    blocks are told as recorded_capture.h says;
 *  - streams are known by PyTorch's ids, which order the releases instead of the handles.
 *
 * Threads: one at a time per model.
 */
#ifndef GA_RECORDED_ALLOCATOR_H
#define GA_RECORDED_ALLOCATOR_H

#include "analyzer/allocator_trace.h"
#include "analyzer/model.h"

struct ga_recorded_allocator {
	struct ga_alloc_trace trace;
	struct ga_history_entry *segments; /* recorded segment events; streams are not known */
	size_t segment_count, segment_capacity;
	uint64_t blocks;	   /* handed out */
	uint64_t unknown_requests; /* of them, without the requested size: the block's is taken */
	uint64_t captures;	   /* of CUDA graphs */
	uint64_t unknown_frees;	   /* of blocks that the recording did not see handed out */
	bool hidden_limit; /* memory was refused or given back that the driver had not refused: a
			      memory fraction that the recording does not tell */
	bool no_limit; /* the device's size is not recorded: the trace's is one without limit */
};

/**
 * Read the calls on one device.
 *
 * @param model      its backend must be GA_BACKEND_NATIVE
 * @param input_out  set only on success; ga_recorded_allocator_clear it
 * @return GF_OK; GF_UNSUPPORTED if there is no caching allocator, or its settings are not
 *         understood; GF_NO_MEMORY
 *
 * Cost: two passes over the trace, the first over events and waits alone; 16 bytes an event and 12
 * a block.
 */
enum gf_status ga_recorded_allocator_read(struct ga_model *model, unsigned device,
    struct ga_recorded_allocator *input_out, struct gf_error *error);

/** Free what it owns. */
void ga_recorded_allocator_clear(struct ga_recorded_allocator *input);

#endif
