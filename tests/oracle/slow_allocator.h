/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second, slow model of PyTorch's caching allocator, to be compared with the first on random
 * events.  It is written from the description of the policy alone and shares no code with the
 * other: one linked list of all blocks, every question answered by walking over it.  Only the
 * settings, the driver and the form of the history are common.
 *
 * Threads: one model belongs to one thread.   Cost: O(blocks) per call and worse.
 */
#ifndef SLOW_ALLOCATOR_H
#define SLOW_ALLOCATOR_H

#include "analyzer/allocator_split.h"

struct slow;
struct slow_block;

/** A new allocator; the parameters are those of ga_allocator_new. */
struct slow *slow_new(const struct ga_allocator_settings *settings, uint64_t device_bytes,
    struct ga_alloc_driver *driver, ga_history_sink *sink, void *sink_self);
/** Free it. */
void slow_destroy(struct slow *slow);
/** Hand out a block; NULL: out of memory. */
struct slow_block *slow_allocate(
    struct slow *slow, uint64_t request, uint64_t stream, uint32_t pool);
/** The program frees a block. */
void slow_free(struct slow *slow, struct slow_block *block, bool waits);
/** The last event of a block that still waits is done. */
void slow_ready(struct slow *slow, struct slow_block *block);
/** Whether a block handed out before still waits. */
bool slow_waits(const struct slow *slow, const struct slow_block *block);
/** torch.cuda.empty_cache(). */
void slow_empty_cache(struct slow *slow);
/** A memory fraction, settings, captures: as in the other model. */
void slow_set_fraction(struct slow *slow, double fraction);
void slow_set_settings(struct slow *slow, const struct ga_allocator_settings *settings);
void slow_capture_begin(struct slow *slow, uint32_t pool);
void slow_capture_end(struct slow *slow);
void slow_pool_release(struct slow *slow, uint32_t pool);
/** Bytes held from the driver, counted anew. */
uint64_t slow_reserved(const struct slow *slow);
/** The five-way split, counted anew. */
struct ga_reserved_split slow_split(const struct slow *slow);

#endif
