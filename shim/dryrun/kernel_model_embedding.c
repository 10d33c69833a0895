/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The gradient of an embedding (ATen/native/cuda/Embedding.cu, 2.0 to 2.15) is not computed; the
 * rows that it adds to were known zeros and are forgotten: embedding_backward_feature_kernel<T,
 * accumulated, I>(const I *rows, const T *gradient, T *result, int count of rows, int64_t elements
 * of one, int row that is left out) Where a row's number is not known the kernel may add to any:
 * nothing says how many there are.
 */
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/kernel_model_parts.h"

struct embedding {
	uint64_t rows, result, row_bytes;
	uint32_t count;
	uint8_t row_type; /* of the numbers */
};

bool gd_embedding_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &after);
	match->computed = (uint8_t)gd_scalar_of_name(name, &after);
	match->types[1] = (uint8_t)gd_scalar_of_name(name, &after);
	return match->types[0] != GD_SCALAR_NONE && match->computed != GD_SCALAR_NONE &&
	       (match->types[1] == GD_SCALAR_I32 || match->types[1] == GD_SCALAR_I64);
}

static bool fits(const struct embedding *e)
{
	return gd_model_memory(e->rows, (uint64_t)e->count * gd_scalar_bytes(e->row_type));
}

size_t gd_embedding_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct embedding *e = plan;
	int64_t elements;
	int32_t count;
	if (!launch->parameters)
		return 0;
	memset(e, 0, sizeof(*e));
	memcpy(&e->rows, gd_model_argument(launch, 0), sizeof(e->rows));
	memcpy(&e->result, gd_model_argument(launch, 2), sizeof(e->result));
	memcpy(&count, gd_model_argument(launch, 3), sizeof(count));
	memcpy(&elements, gd_model_argument(launch, 4), sizeof(elements));
	if (count < 1 || count > GD_MODEL_ELEMENTS || elements < 1 || elements > INT32_MAX)
		return 0;
	e->count = (uint32_t)count;
	e->row_type = match->types[1];
	e->row_bytes = (uint64_t)elements * gd_scalar_bytes(match->types[0]);
	return fits(e) ? sizeof(*e) : 0;
}

void gd_embedding_run(const void *plan, uint16_t author)
{
	const struct embedding *e = plan;
	unsigned bytes = gd_scalar_bytes(e->row_type);
	for (uint32_t i = 0; i < e->count && fits(e); i++) {
		char number[8];
		uint64_t at = e->rows + (uint64_t)i * bytes, offset;
		if (!gd_space_known(at, bytes))
			continue;
		gd_space_load(number, at, bytes);
		int64_t row = gd_scalar_load(e->row_type, number).whole;
		if (row < 0 || __builtin_mul_overflow((uint64_t)row, e->row_bytes, &offset) ||
		    offset > INT64_MAX || !gd_model_memory(e->result + offset, e->row_bytes))
			continue;
		gd_model_forget(e->result + offset, e->row_bytes, author);
	}
}
