/* SPDX-License-Identifier: Apache-2.0 */
/* PyTorch's OffsetCalculator (ATen/cuda/detail/OffsetCalculator.cuh; the same from 2.0 to 2.15). */
#include <string.h>

#include "shim/dryrun/kernel_model_parts.h"

bool gd_walk_read(const char *from, unsigned tensors, uint64_t count, struct gd_walk *walk_out)
{
	const char *strides = from + 4 + 12 * (size_t)GD_OFFSET_DIMS;
	struct gd_walk *walk = walk_out;
	uint64_t product = 1;
	memcpy(&walk->dims, from, sizeof(walk->dims));
	if (walk->dims > GD_KEPT_DIMS || tensors > GD_MAX_TENSORS)
		return false;
	walk->tensors = tensors;
	for (uint32_t d = 0; d < walk->dims; d++) {
		memcpy(&walk->sizes[d], from + 4 + 12 * (size_t)d, 4);
		memcpy(walk->strides[d], strides + 4 * (size_t)d * tensors, 4 * (size_t)tensors);
		product *= walk->sizes[d];
		if (!walk->sizes[d] || product > count)
			return false;
	}
	return product == count;
}

uint64_t gd_walk_offset(const struct gd_walk *walk, uint32_t index, unsigned tensor)
{
	uint64_t offset = 0;
	for (uint32_t d = 0; d < walk->dims; d++) {
		offset += (uint64_t)(index % walk->sizes[d]) * walk->strides[d][tensor];
		index /= walk->sizes[d];
	}
	return offset;
}

uint64_t gd_walk_extent(const struct gd_walk *walk, unsigned tensor)
{
	uint64_t last = 0;
	for (uint32_t d = 0; d < walk->dims; d++)
		last += (uint64_t)(walk->sizes[d] - 1) * walk->strides[d][tensor];
	return last;
}
