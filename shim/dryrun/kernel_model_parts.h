/* SPDX-License-Identifier: Apache-2.0 */
/* What the families of modelled kernels share.  Threads: any. */
#ifndef GD_KERNEL_MODEL_PARTS_H
#define GD_KERNEL_MODEL_PARTS_H

#include "shim/dryrun/kernel_models.h"
#include "shim/dryrun/kernel_values.h"

#define GD_OFFSET_DIMS 25 /* dimensions of an OffsetCalculator */
#define GD_KEPT_DIMS 6	  /* that models compute with */
#define GD_MAX_TENSORS 4

struct gd_kernel_model {
	const char *parts[2];  /* both must be in the name, in this order */
	const char *signature; /* types of its arguments in the name, see kernel_models.c */
	/* Reads the name; `after` is the text behind parts[1]. */
	bool (*recognise)(const char *name, const char *after, struct gd_model_match *match);
	size_t (*plan)(
	    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan);
	void (*run)(const void *plan, uint16_t author);
};

/* A family; sets everything of match but the model. */
#define GD_MODEL_FAMILY(family) \
	bool gd_##family##_recognise( \
	    const char *name, const char *after, struct gd_model_match *match); \
	size_t gd_##family##_plan( \
	    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan); \
	void gd_##family##_run(const void *plan, uint16_t author);
GD_MODEL_FAMILY(fill)
GD_MODEL_FAMILY(elementwise)
GD_MODEL_FAMILY(strided)
GD_MODEL_FAMILY(sequence)
GD_MODEL_FAMILY(index)
GD_MODEL_FAMILY(index_put)
GD_MODEL_FAMILY(scatter)
GD_MODEL_FAMILY(count)
GD_MODEL_FAMILY(sum)
GD_MODEL_FAMILY(select)
GD_MODEL_FAMILY(write_indices)
GD_MODEL_FAMILY(index_fill)
GD_MODEL_FAMILY(sort)
GD_MODEL_FAMILY(sort_pass)
GD_MODEL_FAMILY(sort_in_place)
GD_MODEL_FAMILY(random)
GD_MODEL_FAMILY(first_tensor)
GD_MODEL_FAMILY(index_add)
GD_MODEL_FAMILY(embedding)
GD_MODEL_FAMILY(triangle)
GD_MODEL_FAMILY(row_scan)
GD_MODEL_FAMILY(scan)
GD_MODEL_FAMILY(reduction)
GD_MODEL_FAMILY(list)
GD_MODEL_FAMILY(scaler)
GD_MODEL_FAMILY(join)
GD_MODEL_FAMILY(compress)
GD_MODEL_FAMILY(product)
#undef GD_MODEL_FAMILY

/* Argument number i of a launch, whose parameters are a list. */
static inline const char *gd_model_argument(const struct gd_model_launch *launch, unsigned i)
{
	return launch->parameters[i];
}

/** @return whether device memory of that length begins there */
bool gd_model_memory(uint64_t address, uint64_t bytes);

/** Let a result read as unknown zeros. @param author  the kernel that is to blame */
void gd_model_forget(uint64_t address, uint64_t bytes, uint16_t author);

/** @return who left an input unknown; when that is not known, `author` */
uint16_t gd_model_blame(uint64_t address, uint16_t author);

/* How an OffsetCalculator walks through tensors: the fastest dimension first, strides in bytes. */
struct gd_walk {
	uint32_t dims, tensors;
	uint32_t sizes[GD_KEPT_DIMS], strides[GD_KEPT_DIMS][GD_MAX_TENSORS];
};

/** @return bytes of an OffsetCalculator<tensors> in the arguments of a kernel */
#define GD_OFFSETS_BYTES(tensors) (4 + GD_OFFSET_DIMS * (12 + 4 * (size_t)(tensors)))

/**
 * Read an OffsetCalculator: int dims; {divisor, magic, shift} sizes[25]; uint32_t strides[25][n].
 *
 * @param count  elements that it must walk through
 * @return false when it does not, or has too many dimensions
 */
bool gd_walk_read(const char *from, unsigned tensors, uint64_t count, struct gd_walk *walk_out);

/** @return where element number `index` of a tensor lies, from its first */
uint64_t gd_walk_offset(const struct gd_walk *walk, uint32_t index, unsigned tensor);

/** @return where the last element in memory lies */
uint64_t gd_walk_extent(const struct gd_walk *walk, unsigned tensor);

/** @return whether each thread has 1, 2, 4 ... 32 elements, without a block too much */
bool gd_model_grid_fits(const struct gd_model_launch *launch, int32_t count);

/** @return number of tensors that a kernel's array of pointers has by its name, 0 when none */
unsigned gd_model_pointers(const char *name);

#endif
