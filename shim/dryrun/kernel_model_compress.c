/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Row numbers of a sparse matrix, in order, into offsets of its rows; what sizes depend on.
 *
 * PyTorch's convert_indices_from_coo_to_csr_cuda_kernel<In, Out>(Out *, const In *, int64_t rows,
 * int64_t count) (SparseCsrTensorMath.cu, 1.9 to 2.15), and gpushim_coo2csr of the stand-in
 * cuSPARSE, which has `int base` besides.  Numbers that are not in order are none of a matrix.
 */
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/kernel_model_parts.h"

#define OF_LIBRARY 1 /* match->form */

struct compress {
	uint64_t to, from;
	int64_t rows, count;
	int32_t base;
	uint8_t from_type, to_type;
};

bool gd_compress_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->operation = 1;
	if (!*after) {
		match->form = OF_LIBRARY;
		match->types[0] = match->result = GD_SCALAR_I32;
		return true;
	}
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &after);
	match->result = (uint8_t)gd_scalar_of_name(name, &after);
	return (match->types[0] == GD_SCALAR_I32 || match->types[0] == GD_SCALAR_I64) &&
	       (match->result == GD_SCALAR_I32 || match->result == GD_SCALAR_I64);
}

static uint64_t read_bytes(const struct compress *c)
{
	return (uint64_t)c->count * gd_scalar_bytes(c->from_type);
}

static uint64_t written_bytes(const struct compress *c)
{
	return ((uint64_t)c->rows + 1) * gd_scalar_bytes(c->to_type);
}

static bool in_memory(const struct compress *c)
{
	return gd_model_memory(c->to, written_bytes(c)) &&
	       (!c->count || gd_model_memory(c->from, read_bytes(c)));
}

size_t gd_compress_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct compress *c = plan;

	if (!launch->parameters)
		return 0;
	memset(c, 0, sizeof(*c));
	memcpy(&c->to, gd_model_argument(launch, 0), sizeof(c->to));
	memcpy(&c->from, gd_model_argument(launch, 1), sizeof(c->from));
	memcpy(&c->rows, gd_model_argument(launch, 2), sizeof(c->rows));
	memcpy(&c->count, gd_model_argument(launch, 3), sizeof(c->count));
	if (match->form == OF_LIBRARY)
		memcpy(&c->base, gd_model_argument(launch, 4), sizeof(c->base));
	c->from_type = match->types[0];
	c->to_type = match->result;
	bool sound = c->rows >= 0 && c->rows < INT32_MAX && c->count >= 0 && c->count < INT32_MAX &&
		     in_memory(c);
	return sound ? sizeof(*c) : 0;
}

static void store(const struct compress *c, int64_t row, int64_t offset)
{
	char value[8];
	unsigned bytes = gd_scalar_bytes(c->to_type);

	gd_scalar_store(c->to_type, value, gd_number_whole(offset + c->base));
	gd_space_store(c->to + (uint64_t)row * bytes, value, bytes);
}

static bool convert(const struct compress *c)
{
	unsigned bytes = gd_scalar_bytes(c->from_type);
	int64_t next = 0; /* row whose offset comes next */

	for (int64_t i = 0; i < c->count; i++) {
		char value[8];
		gd_space_load(value, c->from + (uint64_t)i * bytes, bytes);
		int64_t row = gd_scalar_load(c->from_type, value).whole - c->base;
		if (row < next - 1 || row < 0 || row >= c->rows)
			return false;
		for (; next <= row; next++)
			store(c, next, i);
	}
	for (; next <= c->rows; next++)
		store(c, next, c->count);
	return true;
}

void gd_compress_run(const void *plan, uint16_t author)
{
	const struct compress *c = plan;

	if (!in_memory(c))
		return;
	if (read_bytes(c) > gd_copies_limit() || written_bytes(c) > gd_copies_limit() ||
	    (c->count && !gd_space_known(c->from, read_bytes(c))) || !convert(c))
		gd_model_forget(c->to, written_bytes(c), gd_model_blame(c->from, author));
}
