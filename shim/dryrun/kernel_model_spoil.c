/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that are not computed but change tensors which may have been known: what they write is
 * forgotten, or a program would go by numbers that were there before.
 *   gpushim_gemm_* of the stand-in's math libraries (const void *result, uint64_t bytes of it)
 *   *SortKVInPlace<..., K, V, ..., uint32_t>(TensorInfo<K> keys, uint32_t slices, slice size, slice
 *       stride, TensorInfo<V> values, ...); TensorInfo begins with the pointer (Sort.cu,
 *       SortingCommon)
 *   kernelHistogram1D<T, U, I, ...>(TensorInfo<T, I>, ...)
 *   indexFunc*Index<T, U, I, ...>(TensorInfo<T, I> result, source, index, int dimension of the
 *       result, ..., int64_t size of it, ...): the TensorInfo says 1 for that dimension
 *   triu_tril_kernel<T, I, ...>(TensorInfo<T, I> result, ...)
 *   tensor_kernel_scan_outer_dim<T, ...>(T *result, const T *, uint32_t outer rows, inner rows, row
 *       size, ...), tensor_kernel_scan_innermost_dim<T, ...>(T *result, const T *, uint32_t rows,
 * row size, ...) (ScanUtils.cuh) distribution_elementwise_grid_stride_kernel<...>(number of
 * elements, generator, distribution, lambda), which holds char *out; int bytes from one element to
 * the next (DistributionTemplates.h)
 */
#include <string.h>

#include "shim/dryrun/kernel_model_parts.h"

#define MOST 2

struct spoil {
	struct {
		uint64_t address, bytes;
	} range[MOST];
};

static uint64_t word_at(const struct gd_model_launch *launch, unsigned argument, unsigned bytes)
{
	uint64_t word = 0;
	memcpy(&word, gd_model_argument(launch, argument), bytes);
	return word;
}

/* Integers of a list of template arguments: Lin2ELin1ELi32E. */
static const char *behind_numbers(const char *at)
{
	while (at && *at == 'L') {
		at = strchr(at, 'E');
		at = at ? at + 1 : NULL;
	}
	return at;
}

static unsigned width_of(const char *name, const char **at)
{
	unsigned bytes = gd_scalar_bytes(gd_scalar_of_name(name, at));
	return bytes ? bytes : 1;
}

/* The form is the bytes of a key, the scalar those of a value. */
bool gd_sort_in_place_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	const char *at = behind_numbers(after);
	if (!at)
		return false;
	match->form = (uint8_t)width_of(name, &at);
	match->scalar = (uint8_t)width_of(name, &at);
	return true;
}

static size_t checked(struct spoil *s)
{
	for (unsigned i = 0; i < MOST; i++) {
		if (s->range[i].bytes && !gd_model_memory(s->range[i].address, s->range[i].bytes))
			return 0;
	}
	return sizeof(*s);
}

size_t gd_sort_in_place_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct spoil *s = plan;
	if (!launch->parameters)
		return 0;
	uint64_t count = word_at(launch, 1, 4) * word_at(launch, 2, 4);
	if (!count || count > UINT32_MAX)
		return 0;
	s->range[0].address = word_at(launch, 0, 8);
	s->range[0].bytes = count * match->form;
	s->range[1].address = word_at(launch, 4, 8);
	s->range[1].bytes = count * match->scalar;
	return checked(s);
}

void gd_sort_in_place_run(const void *plan, uint16_t author)
{
	const struct spoil *s = plan;
	for (unsigned i = 0; i < MOST; i++) {
		if (s->range[i].bytes && gd_model_memory(s->range[i].address, s->range[i].bytes))
			gd_model_forget(s->range[i].address, s->range[i].bytes, author);
	}
}

/* ---- products ---- */

bool gd_product_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	return true;
}

size_t gd_product_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct spoil *s = plan;
	if (!launch->parameters)
		return 0;
	memset(s, 0, sizeof(*s));
	s->range[0].address = word_at(launch, 0, 8);
	s->range[0].bytes = word_at(launch, 1, 8);
	return checked(s);
}

void gd_product_run(const void *plan, uint16_t author)
{
	gd_sort_in_place_run(plan, author);
}

/* ---- TensorInfo ---- */

#define INFO_DIMS 25

/* <T, type of the indices or numbers, I, ...>.  The form is the bytes of T, the scalar those of I.
 */
bool gd_first_tensor_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->form = (uint8_t)width_of(name, &after);
	width_of(name, &after);
	match->scalar = (uint8_t)width_of(name, &after);
	return match->scalar == 4 || match->scalar == 8;
}

/* One dimension that counts with another size than it has; the number of dimensions: none. */
struct whole_dim {
	uint32_t dim;
	uint64_t size;
};

/* T *data; I sizes[25], strides[25]; int dims.
 * @return bytes from the first element to behind the last, 0 when it makes none */
static uint64_t info_bytes(
    const char *info, unsigned width, unsigned element, struct whole_dim whole)
{
	const char *sizes = info + 8, *strides = sizes + INFO_DIMS * width;
	uint64_t last = 0;
	uint32_t dims;
	memcpy(&dims, strides + INFO_DIMS * width, sizeof(dims));
	if (dims < 1 || dims > INFO_DIMS)
		return 0;
	for (uint32_t d = 0; d < dims; d++) {
		uint64_t size = 0, stride = 0;
		memcpy(&size, sizes + d * width, width);
		memcpy(&stride, strides + d * width, width);
		if (d == whole.dim)
			size = whole.size;
		if (!size || size > UINT32_MAX || stride > UINT32_MAX)
			return 0;
		last += (size - 1) * stride;
	}
	return (last + 1) * element;
}

static size_t plan_tensor(const struct gd_model_match *match, const struct gd_model_launch *launch,
    struct whole_dim whole, struct spoil *s)
{
	const char *info = gd_model_argument(launch, 0);
	memset(s, 0, sizeof(*s));
	s->range[0].address = word_at(launch, 0, 8);
	s->range[0].bytes = info_bytes(info, match->scalar, match->form, whole);
	return s->range[0].bytes ? checked(s) : 0;
}

size_t gd_first_tensor_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	const struct whole_dim none = {INFO_DIMS, 0};
	return launch->parameters ? plan_tensor(match, launch, none, plan) : 0;
}

void gd_first_tensor_run(const void *plan, uint16_t author)
{
	gd_sort_in_place_run(plan, author);
}

/* Which argument has the size of the dimension that is added to: Large has one more in front. */
bool gd_index_add_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->inputs = strstr(name, "LargeIndexI") ? 7 : 6;
	return gd_first_tensor_recognise(name, after, match);
}

size_t gd_index_add_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	if (!launch->parameters)
		return 0;
	const struct whole_dim added = {
	    (uint32_t)word_at(launch, 3, 4), word_at(launch, match->inputs, 8)};
	return plan_tensor(match, launch, added, plan);
}

void gd_index_add_run(const void *plan, uint16_t author)
{
	gd_sort_in_place_run(plan, author);
}

bool gd_triangle_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->form = (uint8_t)width_of(name, &after);
	match->scalar = (uint8_t)width_of(name, &after);
	return match->scalar == 4 || match->scalar == 8;
}

size_t gd_triangle_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	return gd_first_tensor_plan(match, launch, plan);
}

void gd_triangle_run(const void *plan, uint16_t author)
{
	gd_sort_in_place_run(plan, author);
}

/* ---- running sums and products in any dimension ---- */

/* The form is the bytes of an element, the inputs how many numbers make up their count. */
bool gd_row_scan_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->form = (uint8_t)width_of(name, &after);
	match->inputs = strstr(name, "scan_outer_dimI") ? 3 : 2;
	return true;
}

size_t gd_row_scan_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct spoil *s = plan;
	uint64_t count = 1;
	if (!launch->parameters)
		return 0;
	for (unsigned i = 0; i < match->inputs && count <= UINT32_MAX; i++)
		count *= word_at(launch, 2 + i, 4);
	memset(s, 0, sizeof(*s));
	s->range[0].address = word_at(launch, 0, 8);
	s->range[0].bytes = count * match->form;
	return count && count <= UINT32_MAX ? checked(s) : 0;
}

void gd_row_scan_run(const void *plan, uint16_t author)
{
	gd_sort_in_place_run(plan, author);
}

/* ---- random numbers ---- */

/* The form is the bytes of the number of elements. */
bool gd_random_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->form = strstr(after, "EvlNS_15PhiloxCudaStateE") ? 8 : 4;
	return match->form == 8 || strstr(after, "EviNS_15PhiloxCudaStateE");
}

size_t gd_random_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct spoil *s = plan;
	int32_t stride;
	if (!launch->parameters)
		return 0;
	uint64_t count = word_at(launch, 0, match->form);
	memset(s, 0, sizeof(*s));
	memcpy(&stride, gd_model_argument(launch, 3) + 8, sizeof(stride));
	if (!count || count > UINT32_MAX || stride < 1 || stride > 16 || (stride & (stride - 1)))
		return 0;
	s->range[0].address = word_at(launch, 3, 8);
	s->range[0].bytes = count * (uint64_t)stride;
	return checked(s);
}

void gd_random_run(const void *plan, uint16_t author)
{
	gd_sort_in_place_run(plan, author);
}
