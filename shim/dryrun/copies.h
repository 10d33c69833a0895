/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies and memsets, whatever call they come from.
 *
 * Device to host is always real: what was never stored reads as zeros.  Host to device and device
 * to device are real up to GPUSHIM_DRYRUN_REAL_COPY bytes (1 MiB); of a larger one the target reads
 * as zeros afterwards.  Memsets likewise; a memset to zero is always real.  Threads: any.
 */
#ifndef GD_COPIES_H
#define GD_COPIES_H

#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/streams.h"

/* One side: rows of `width` bytes, `pitch` apart, in slices `slice` apart. */
struct gd_side {
	uint64_t address; /* of the first byte; host or device */
	uint64_t pitch, slice;
	enum gd_memory_kind kind;
	uint32_t device;
	bool in_space; /* the address is a device address */
};

struct gd_copy {
	struct gd_side to, from;
	uint64_t width, height, depth;
};

struct gd_memset {
	uint64_t address, pitch;
	uint32_t value;
	uint32_t element;	/* bytes: 1, 2, 4 */
	uint64_t width, height; /* width in elements */
	bool in_space;
};

/** @return a plain side; its kind follows from the address */
struct gd_side gd_side_of(uint64_t address);

/** @return the copy of consecutive bytes */
struct gd_copy gd_copy_linear(uint64_t to, uint64_t from, uint64_t bytes);

/**
 * Check a copy and put it into a stream, or into the stream's capture; count it.
 *
 * @param wait  the call returns after the copy, as the ones without Async do
 * @return CUDA_SUCCESS; CUDA_ERROR_INVALID_VALUE for a range that is not memory; capture codes
 */
CUresult gd_copy_enqueue(struct gd_stream *stream, const struct gd_copy *copy, bool wait);

/** The same for a memset. */
CUresult gd_memset_enqueue(struct gd_stream *stream, const struct gd_memset *set, bool wait);

/** Check alone: what a graph node is made of. */
CUresult gd_copy_check(const struct gd_copy *copy);
CUresult gd_memset_check(const struct gd_memset *set);

/** Do it now: effects of operations, arguments are struct gd_copy and struct gd_memset. */
void gd_copy_effect(const void *copy);
void gd_memset_effect(const void *set);

/** Describe it for the clock and the observer. */
void gd_copy_describe(const struct gd_copy *copy, struct gd_operation *operation_out);
void gd_memset_describe(const struct gd_memset *set, struct gd_operation *operation_out);

/** Read GPUSHIM_DRYRUN_REAL_COPY; once. */
void gd_copies_start(void);

/** @return largest copy that really moves bytes into device memory */
uint64_t gd_copies_limit(void);

static inline uint64_t gd_copy_bytes(const struct gd_copy *copy)
{
	return copy->width * copy->height * copy->depth;
}

#endif
