/* SPDX-License-Identifier: Apache-2.0 */
/* CUDA arrays: device memory in rows, as far as copies need it; nothing samples from them.
 * Threads: any. */
#ifndef GD_ARRAYS_H
#define GD_ARRAYS_H

#include "shim/dryrun/cuda_api.h"
#include "shim/dryrun/handles.h"

struct gd_block;

struct gd_array {
	struct gd_object object;
	struct gd_block *block;
	uint64_t block_id; /* the block may end with its context, and be another one then */
	bool owned;	   /* a level of a mipmapped array: not the program's to destroy */
	uint64_t address;
	uint64_t element; /* bytes of one, with all its channels */
	uint64_t pitch;	  /* bytes of a row */
	uint64_t rows, slices;
	CUDA_ARRAY3D_DESCRIPTOR description;
};

/** @return the array behind a handle, or NULL */
static inline struct gd_array *gd_array_get(CUarray handle)
{
	return gd_object_get(handle, GD_TYPE_ARRAY);
}

/** @return whether its memory is still there */
bool gd_array_lives(const struct gd_array *array);

#endif
