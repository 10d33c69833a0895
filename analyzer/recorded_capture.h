/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which blocks a CUDA graph capture takes, from a recording.  PyTorch gives a request to the
 * capture under way if the request's stream is being captured, whichever thread asks: autograd's
 * threads take part.  A recording has the driver's handle of that stream, but blocks carry
 * PyTorch's id of theirs: the stream that the capturing thread uses first is the one, and others
 * that this thread uses meanwhile have joined the capture.
 *
 * Threads: one at a time.
 */
#ifndef GA_RECORDED_CAPTURE_H
#define GA_RECORDED_CAPTURE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/hash_map.h"

/* Zero-initialise. */
struct ga_recorded_capture {
	uint32_t pool;	 /* of the capture under way, 0: none is; the reader may change it */
	uint64_t stream; /* its handle */
	uint32_t thread; /* that captures */
	uint32_t pools;	 /* numbers given out */
	uint64_t *ids;	 /* of the streams known to be captured */
	size_t id_count, id_capacity;
	struct ga_map known; /* handle of a stream that was captured -> its id; once initialised */
	bool has_known;
};

/** A capture began on a stream: a new pool. */
void ga_recorded_capture_begin(
    struct ga_recorded_capture *capture, uint32_t thread, uint64_t stream);

/**
 * Whether a request belongs to the capture under way.
 *
 * @param thread  that asks
 * @param id      PyTorch's id of the stream, NULL if it is not known: then the thread decides
 */
bool ga_recorded_capture_takes(
    struct ga_recorded_capture *capture, uint32_t thread, const uint64_t *id);

/** Free what it owns. */
void ga_recorded_capture_clear(struct ga_recorded_capture *capture);

#endif
