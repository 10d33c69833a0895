/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing by index: x[i], x[i] = y (ATen/native/cuda/IndexKernel.cu, 2.0 to 2.15):
 * index_elementwise_kernel<threads, per thread, lambda>(int or int64_t N, lambda), which holds
 *   OffsetCalculator<3> of output, input, index; char *out, *in; int or size_t indices;
 *   char *index[25]; int64_t size[25], stride[25]
 * The tensor that is indexed is walked with stride 0 in the indexed dimensions; `stride` is in
 * bytes.
 *
 * index_fill_, index_copy_: the same kernel's lambda holds OffsetCalculator<2> or <3> of x, index
 * and source; char *x, *index[, *source]; int64_t size of the dimension, stride in elements[; T
 * number]
 *
 * Of scatter (ScatterGatherKernel.cu) only is known what it may write:
 * _scatter_gather_elementwise_kernel<threads, per thread, lambda>(int N, lambda), which holds
 *   OffsetCalculator<3>, or <2> when it stores a number; char *index; int64_t size; F (empty);
 *   char *self; int64_t stride, elements of self ...
 *
 * What is larger than can be computed is forgotten: what x[i] = y left as it was would be wrong.
 */
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/kernel_model_parts.h"

#define TENSORS 3
#define MAX_INDICES 4
#define NO_MEMORY (UINT64_C(1) << 62) /* longer than any */
#define AT_POINTERS ((GD_OFFSETS_BYTES(TENSORS) + 7) & ~(size_t)7)
#define AT_INDICES (AT_POINTERS + 24)
#define AT_SIZES (AT_INDICES + 8 * (size_t)GD_OFFSET_DIMS)
#define AT_STRIDES (AT_SIZES + 8 * (size_t)GD_OFFSET_DIMS)

enum { OUT, IN, INDEX };

struct index {
	uint32_t count, element;
	uint32_t indices;
	bool put; /* else get */
	uint64_t address[2];
	uint64_t index[MAX_INDICES];
	int64_t size[MAX_INDICES], stride[MAX_INDICES];
	struct gd_walk walk;
};
_Static_assert(sizeof(struct index) <= GD_MODEL_PLAN, "room");

static unsigned element_bytes(const char *after)
{
	static const char key[] = "10OpaqueTypeILi";
	const char *at = strstr(after, key);
	unsigned long bytes = at ? strtoul(at + strlen(key), NULL, 10) : 0;
	return bytes <= 16 ? (unsigned)bytes : 0;
}

static bool recognise(const char *after, struct gd_model_match *match)
{
	match->form = (uint8_t)element_bytes(after);
	match->operation = 1;
	return match->form != 0;
}

bool gd_index_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	return recognise(after, match);
}

bool gd_index_put_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	return recognise(after, match);
}

static uint64_t number_at(const char *from, size_t at)
{
	uint64_t number;
	memcpy(&number, from + at, sizeof(number));
	return number;
}

/* @return where the last of so many lies, behind `last`; what is no memory's length for too much */
static uint64_t reach(uint64_t last, int64_t size, int64_t stride)
{
	uint64_t bytes;
	bool fits = !__builtin_mul_overflow((uint64_t)size - 1, (uint64_t)stride, &bytes) &&
		    bytes < NO_MEMORY && last < NO_MEMORY;
	return fits ? last + bytes : NO_MEMORY;
}

/* From the address of the indexed tensor: the strides of its other dimensions are in the walk. */
static uint64_t indexed_extent(const struct index *x)
{
	uint64_t last = gd_walk_extent(&x->walk, x->put ? OUT : IN);
	for (uint32_t i = 0; i < x->indices; i++)
		last = reach(last, x->size[i], x->stride[i]);
	return last + x->element;
}

static bool fits(const struct index *x)
{
	unsigned plain = x->put ? IN : OUT;
	uint64_t bytes = gd_walk_extent(&x->walk, plain) + x->element;
	for (uint32_t i = 0; i < x->indices; i++) {
		if (!gd_model_memory(x->index[i], gd_walk_extent(&x->walk, INDEX) + 8))
			return false;
	}
	return gd_model_memory(x->address[plain], bytes) &&
	       gd_model_memory(x->address[!plain], indexed_extent(x));
}

static bool read_indices(const char *lambda, struct index *x)
{
	memcpy(&x->indices, lambda + AT_POINTERS + 16, sizeof(x->indices));
	if (!x->indices || x->indices > MAX_INDICES)
		return false;
	for (uint32_t i = 0; i < x->indices; i++) {
		x->index[i] = number_at(lambda, AT_INDICES + 8 * (size_t)i);
		x->size[i] = (int64_t)number_at(lambda, AT_SIZES + 8 * (size_t)i);
		x->stride[i] = (int64_t)number_at(lambda, AT_STRIDES + 8 * (size_t)i);
		if (x->size[i] < 1 || x->size[i] > UINT32_MAX || x->stride[i] < 0 ||
		    x->stride[i] > UINT32_MAX)
			return false;
	}
	return true;
}

static size_t plan_index(const struct gd_model_match *match, const struct gd_model_launch *launch,
    bool put, struct index *x)
{
	int32_t count; /* the low half of 64 bits, too */
	if (!launch->parameters)
		return 0;
	memcpy(&count, gd_model_argument(launch, 0), sizeof(count));
	if (!gd_model_grid_fits(launch, count))
		return 0;
	const char *lambda = gd_model_argument(launch, 1);
	memset(x, 0, sizeof(*x));
	x->count = (uint32_t)count;
	x->element = match->form;
	x->put = put;
	x->address[OUT] = number_at(lambda, AT_POINTERS);
	x->address[IN] = number_at(lambda, AT_POINTERS + 8);
	bool sound =
	    gd_walk_read(lambda, TENSORS, x->count, &x->walk) && read_indices(lambda, x) && fits(x);
	return sound ? sizeof(*x) : 0;
}

size_t gd_index_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	return plan_index(match, launch, false, plan);
}

size_t gd_index_put_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	return plan_index(match, launch, true, plan);
}

/* @return 0; else the address of an index that is not known, or GD_NO_ADDRESS for a wrong one */
#define GD_NO_ADDRESS UINT64_MAX
static uint64_t index_of(const struct index *x, uint32_t element, uint64_t *offset_out)
{
	*offset_out = 0;
	for (uint32_t i = 0; i < x->indices; i++) {
		uint64_t at = x->index[i] + gd_walk_offset(&x->walk, element, INDEX);
		int64_t index;
		if (!gd_space_known(at, sizeof(index)))
			return at;
		gd_space_load(&index, at, sizeof(index));
		if (index < -x->size[i] || index >= x->size[i])
			return GD_NO_ADDRESS;
		index += index < 0 ? x->size[i] : 0;
		*offset_out += (uint64_t)index * (uint64_t)x->stride[i];
	}
	return 0;
}

static void forget_result(const struct index *x, uint16_t author)
{
	gd_model_forget(x->address[OUT],
	    x->put ? indexed_extent(x) : gd_walk_extent(&x->walk, OUT) + x->element, author);
}

static void run(const struct index *x, uint16_t author)
{
	bool sound = fits(x), large = x->count > GD_MODEL_ELEMENTS;
	if (sound && large)
		forget_result(x, author);
	for (uint32_t i = 0; sound && !large && i < x->count; i++) {
		uint64_t offset, unknown = index_of(x, i, &offset);
		uint64_t out = x->address[OUT] + gd_walk_offset(&x->walk, i, OUT);
		uint64_t in = x->address[IN] + gd_walk_offset(&x->walk, i, IN);
		if (unknown == GD_NO_ADDRESS)
			continue; /* an assertion of the device */
		if (!unknown)
			gd_space_move(
			    x->put ? out + offset : out, x->put ? in : in + offset, x->element);
		else if (!x->put)
			gd_model_forget(out, x->element, gd_model_blame(unknown, author));
		else /* it may lie anywhere */
			forget_result(x, gd_model_blame(unknown, author));
	}
}

void gd_index_run(const void *plan, uint16_t author)
{
	run(plan, author);
}

void gd_index_put_run(const void *plan, uint16_t author)
{
	run(plan, author);
}

/* ---- index_fill_, index_copy_ ---- */

struct index_fill {
	uint32_t count, element;
	uint64_t self, index;
	int64_t size, stride; /* stride in bytes */
	uint64_t source;      /* 0: the value for all */
	char value[16];
	struct gd_walk walk; /* self, index, source */
};

bool gd_index_fill_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->inputs = strstr(name, "22index_copy_kernel_impl") ? 3 : 2;
	return recognise(after, match);
}

static uint64_t filled_bytes(const struct index_fill *x)
{
	return reach(gd_walk_extent(&x->walk, 0), x->size, x->stride) + x->element;
}

static bool fill_fits(const struct index_fill *x)
{
	return gd_model_memory(x->self, filled_bytes(x)) &&
	       gd_model_memory(x->index, gd_walk_extent(&x->walk, 1) + 8) &&
	       (!x->source || gd_model_memory(x->source, gd_walk_extent(&x->walk, 2) + x->element));
}

size_t gd_index_fill_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct index_fill *x = plan;
	unsigned tensors = match->inputs;
	int32_t count;
	if (!launch->parameters)
		return 0;
	const char *lambda = gd_model_argument(launch, 1);
	const char *held = lambda + ((GD_OFFSETS_BYTES(tensors) + 7) & ~(size_t)7);
	memcpy(&count, gd_model_argument(launch, 0), sizeof(count));
	if (!gd_model_grid_fits(launch, count))
		return 0;
	memset(x, 0, sizeof(*x));
	x->count = (uint32_t)count;
	x->element = match->form;
	x->self = number_at(held, 0);
	x->index = number_at(held, 8);
	x->source = tensors == 3 ? number_at(held, 16) : 0;
	x->size = (int64_t)number_at(held, 8 * (size_t)tensors);
	x->stride = (int64_t)number_at(held, 8 * (size_t)tensors + 8);
	if (x->size < 1 || x->size > UINT32_MAX || x->stride < 0 || x->stride > UINT32_MAX)
		return 0;
	x->stride *= x->element;
	if (tensors == 2)
		memcpy(x->value, held + 32, x->element);
	else if (!x->source)
		return 0;
	return gd_walk_read(lambda, tensors, x->count, &x->walk) && fill_fits(x) ? sizeof(*x) : 0;
}

void gd_index_fill_run(const void *plan, uint16_t author)
{
	const struct index_fill *x = plan;
	bool sound = fill_fits(x), large = x->count > GD_MODEL_ELEMENTS;
	if (sound && large)
		gd_model_forget(x->self, filled_bytes(x), author);
	for (uint32_t i = 0; sound && !large && i < x->count; i++) {
		uint64_t at = x->index + gd_walk_offset(&x->walk, i, 1);
		int64_t index;
		if (!gd_space_known(at, sizeof(index))) { /* it may lie anywhere */
			gd_model_forget(x->self, filled_bytes(x), gd_model_blame(at, author));
			continue;
		}
		gd_space_load(&index, at, sizeof(index));
		index += index < 0 ? x->size : 0;
		if (index < 0 || index >= x->size)
			continue;
		uint64_t to = x->self + gd_walk_offset(&x->walk, i, 0) +
			      (uint64_t)index * (uint64_t)x->stride;
		if (x->source)
			gd_space_move(to, x->source + gd_walk_offset(&x->walk, i, 2), x->element);
		else
			gd_space_store(to, x->value, x->element);
	}
}

/* ---- scatter ---- */

struct scatter {
	uint64_t address, bytes;
};

bool gd_scatter_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	bool fill = *after == 'I'; /* scatter_fill_internal_kernel<T>, internal_kernel<true, T> */
	const char *type = fill ? after + 1 : after;
	unsigned bytes = element_bytes(after);
	if (!bytes)
		bytes = gd_scalar_bytes(gd_scalar_of_name(name, &type));
	match->operation = 0;
	match->inputs = fill ? 2 : 3;
	match->form = bytes ? (uint8_t)bytes : 1;
	return true;
}

size_t gd_scatter_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct scatter *scatter = plan;
	if (!launch->parameters)
		return 0;
	const char *pointers =
	    gd_model_argument(launch, 1) + ((GD_OFFSETS_BYTES(match->inputs) + 7) & ~(size_t)7);
	uint64_t elements = number_at(pointers, 40);
	scatter->address = number_at(pointers, 24);
	if (!elements || elements > UINT32_MAX)
		return 0;
	scatter->bytes = elements * match->form;
	return gd_model_memory(scatter->address, scatter->bytes) ? sizeof(*scatter) : 0;
}

void gd_scatter_run(const void *plan, uint16_t author)
{
	const struct scatter *scatter = plan;
	if (gd_model_memory(scatter->address, scatter->bytes))
		gd_model_forget(scatter->address, scatter->bytes, author);
}
