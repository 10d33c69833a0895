/* SPDX-License-Identifier: Apache-2.0 */
/*
 * torch.cat and torch.stack of contiguous tensors (ATen/native/cuda/Shape.cu, 2.0 to 2.15):
 * CatArrayBatchedCopy*<T, uint32_t, dims, n, strides, ...>(T *out, Metadata, TensorSizeStride<4> of
 * out, int dimension, uint32_t stride of the dimension); Metadata is const T *input[n];
 * uint32_t offset[n], size[n], elements[n]; bool contiguous[n]; ...  blockIdx.y is the input.
 * CatArrayBatchedCopy_vectorized (2.15) ends with `..., bytes of a vector, elements of a vector>`
 * and joins the last dimension: `out` has everything behind the dimension in one, counted in
 * vectors.  What is too large to be copied is forgotten.
 */
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/kernel_model_parts.h"

#define MOST 128
#define MAX_DIMS 4

struct part {
	uint64_t from, to, row_bytes;
};

struct join {
	uint32_t parts, rows;
	uint64_t pitch; /* of rows in the result; those of an input lie one after the other */
	struct part part[];
};
_Static_assert(sizeof(struct join) + MOST * sizeof(struct part) <= GD_MODEL_PLAN, "room");

/* What all inputs share; in elements. */
struct output {
	uint64_t address;
	uint64_t row;	 /* of the result: everything from the dimension on */
	uint32_t rows;	 /* product of the sizes in front of the dimension */
	uint32_t stride; /* of the dimension */
	unsigned most, element;
};

/* OpaqueType<4>, or before 2.1 a type. */
static unsigned element_bytes(const char *name, const char *after)
{
	const char *opaque = strstr(after, "OpaqueTypeILj");
	if (!opaque)
		return gd_scalar_bytes(gd_scalar_of_name(name, &after));
	unsigned long bytes = strtoul(opaque + strlen("OpaqueTypeILj"), NULL, 10);
	return bytes <= 16 ? (unsigned)bytes : 0;
}

/* ...Li1ELi16ELi8E: elements of a vector; 0 when it is none. */
static unsigned vector_elements(const char *batch)
{
	static const char key[] = "ELi128ELi1ELi";
	if (strncmp(batch, key, strlen(key)) != 0)
		return 0;
	const char *at = strstr(batch + strlen(key), "ELi");
	unsigned long elements = at ? strtoul(at + 3, NULL, 10) : 0;
	return elements <= 16 ? (unsigned)elements : 0;
}

/* ...jLi<dims>ELi<n>E: 32 bit offsets, the number of dimensions, inputs at once.  The type that is
 * computed is the number of elements of a vector, that of the result the inputs at once. */
bool gd_join_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	const char *wide = strstr(after, "ELi128E"), *narrow = strstr(after, "ELi64E");
	const char *batch = wide ? wide : narrow;
	bool vectors = strstr(name, "BatchedCopy_vectorized");
	match->form = (uint8_t)element_bytes(name, after);
	match->operation = 1;
	if (!match->form || !batch || batch < after + 4 || strncmp(batch - 4, "jLi", 3) != 0 ||
	    !strstr(batch, "TensorSizeStrideI"))
		return false;
	match->inputs = (uint8_t)(batch[-1] - '0');
	match->result = wide ? MOST : MOST / 2;
	match->computed = vectors ? (uint8_t)vector_elements(batch) : 0;
	return match->inputs >= 1 && match->inputs <= MAX_DIMS && (!vectors || match->computed);
}

/* Rows one after the other, as the stride that is given separately says too. */
static bool read_output(
    const struct gd_model_match *match, const struct gd_model_launch *launch, struct output *out)
{
	uint32_t size[MAX_DIMS], stride[MAX_DIMS], dimension;
	unsigned dims = match->inputs;
	memcpy(&out->address, gd_model_argument(launch, 0), sizeof(out->address));
	memcpy(size, gd_model_argument(launch, 2), sizeof(size));
	memcpy(stride, gd_model_argument(launch, 2) + sizeof(size), sizeof(stride));
	memcpy(&dimension, gd_model_argument(launch, 3), sizeof(dimension));
	memcpy(&out->stride, gd_model_argument(launch, 4), sizeof(out->stride));
	out->most = match->result;
	out->element = match->form;
	if (dimension >= dims ||
	    (match->computed ? dimension != dims - 1 : out->stride != stride[dimension]))
		return false;
	bool dense = stride[dims - 1] == 1;
	uint64_t rows = 1;
	for (unsigned d = 0; d + 1 < dims; d++)
		dense &= stride[d] == (uint64_t)stride[d + 1] * size[d + 1];
	for (unsigned d = 0; d < dimension && rows <= GD_MODEL_ELEMENTS; d++)
		rows *= size[d];
	out->rows = (uint32_t)rows;
	out->row = (uint64_t)size[dimension] * (match->computed ? match->computed : out->stride);
	return dense && rows && rows <= GD_MODEL_ELEMENTS && out->row <= UINT32_MAX;
}

static bool part_fits(const struct part *part, uint32_t rows, uint64_t pitch)
{
	return gd_model_memory(part->from, part->row_bytes * rows) &&
	       gd_model_memory(part->to, pitch * (rows - 1) + part->row_bytes);
}

static bool read_part(const char *metadata, unsigned i, const struct output *out, struct part *part)
{
	uint32_t offset, size, elements;
	const char *words = metadata + 8 * (size_t)out->most;
	memcpy(&part->from, metadata + 8 * (size_t)i, 8);
	memcpy(&offset, words + 4 * (size_t)i, 4);
	memcpy(&size, words + 4 * ((size_t)out->most + i), 4);
	memcpy(&elements, words + 4 * (2 * (size_t)out->most + i), 4);
	uint64_t row = (uint64_t)size * out->stride, at = (uint64_t)offset * out->stride;
	if (words[12 * (size_t)out->most + i] != 1 || row > elements ||
	    row * out->rows != elements || at > out->row || row > out->row - at)
		return false;
	part->row_bytes = row * out->element;
	part->to = out->address + at * out->element;
	return part_fits(part, out->rows, out->row * out->element);
}

size_t gd_join_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct join *join = plan;
	struct output out;
	if (!launch->parameters || launch->grid[1] > match->result ||
	    !read_output(match, launch, &out))
		return 0;
	join->parts = launch->grid[1];
	join->rows = out.rows;
	join->pitch = out.row * out.element;
	for (unsigned i = 0; i < join->parts; i++) {
		if (!read_part(gd_model_argument(launch, 1), i, &out, &join->part[i]))
			return 0;
	}
	return sizeof(*join) + join->parts * sizeof(join->part[0]);
}

/* What is known of the inputs goes along with their bytes. */
static void run_part(const struct join *join, const struct part *part, uint16_t author)
{
	bool large = part->row_bytes * join->rows > gd_copies_limit();
	for (uint32_t row = 0; row < join->rows; row++) {
		uint64_t to = part->to + row * join->pitch;
		if (large)
			gd_model_forget(to, part->row_bytes, author);
		else
			gd_space_move(to, part->from + row * part->row_bytes, part->row_bytes);
	}
}

void gd_join_run(const void *plan, uint16_t author)
{
	const struct join *join = plan;
	for (uint32_t i = 0; i < join->parts; i++) {
		if (part_fits(&join->part[i], join->rows, join->pitch))
			run_part(join, &join->part[i], author);
	}
}
