/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Retries of the caching allocator that its driver calls alone do not tell, told by a replay.
 *
 * Threads: one at a time per model.
 */
#ifndef GA_REPLAYED_RETRIES_H
#define GA_REPLAYED_RETRIES_H

#include "analyzer/blocks.h"

/**
 * Replay the devices whose number of retries is not certain, and take the replay's where it
 * reproduces the recording to the end.  Elsewhere they stay unknown.
 *
 * @param memory  counted to the end
 * @return GF_OK also where nothing could be replayed; GF_NO_MEMORY
 *
 * Cost: nothing where all is certain; else two passes over the trace and a replay a device.
 */
enum gf_status ga_retries_settle(struct ga_memory *memory, struct gf_error *error);

#endif
