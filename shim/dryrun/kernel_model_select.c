/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes that programs read: x.nonzero(), x[mask], torch.unique (ATen/native/cuda/Nonzero.cu and
 * UniqueCub.cu over CUB; tried with 2.0, 2.6 and 2.15):
 *   DeviceReduceSingleTileKernel<..., NonZeroOp<T>, ...>(flags, int *out, number of items, ...)
 *   many items: DeviceReduceKernel<..., NonZeroOp<T>, ...>(flags, int *parts, number of items,
 * ...), a part for each block, and DeviceReduceSingleTileKernel<..., int *, ...>(parts, int *out,
 * int number of parts, plus, int first) DeviceSelectSweepKernel<..., NonZeroOp<T>, ...>(counting
 * from, flags, int64_t *out, int *number, tile state, ...): the places of what is not zero
 * DeviceSelectSweepKernel<... const T *, NullType *, T *, int64_t *...>(const T *in, ..., T *out,
 * number, tile state, ...): the first of equal neighbours both sweeps: argument 7 is the number of
 * items, 8 that of tiles, 32 bits each write_indices<I>(int64_t *places, I sizes[16], int
 * dimensions, I n[, int64_t *total, int64_t]): a place becomes one number for each dimension
 * `flags` is cub::TransformInputIterator, {NonZeroOp, const T *}, or thrust::transform_iterator
 * (since CUDA 13), which has the pointer first.
 */
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/kernel_model_parts.h"

#define MAX_SIZES 16

enum operation { NONE, COUNT, SUM, PLACES, DISTINCT };

struct selection {
	uint32_t operation, count;
	uint32_t parts; /* numbers that are written: the first is all, the others are nothing */
	uint8_t type, number_bytes, pad[2];
	uint64_t from, to, number; /* COUNT, SUM: no `to` */
	int64_t first;		   /* PLACES: that of the first item */
};

/* ---- names ---- */

/* The form is where the pointer lies in the flags. */
static bool recognise_flags(const char *name, struct gd_model_match *match)
{
	static const char key[] = "9NonZeroOpI";
	const char *type = strstr(name, key);
	bool cub = strstr(name, "22TransformInputIteratorI");
	bool thrust = strstr(name, "18transform_iteratorI");
	if (!type || cub == thrust)
		return false;
	type += strlen(key);
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &type);
	match->form = cub ? 8 : 0;
	return match->types[0] != GD_SCALAR_NONE;
}

/* The number of items is an int or 64 bits: in front of it stands the type of the result, unless
 * parts are made of that type. */
bool gd_count_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	bool wide = strstr(after, "EEPiy") || strstr(after, "EEy"), narrow = strstr(after, "EEPii");
	match->operation = COUNT;
	match->scalar = wide ? GD_SCALAR_I64 : GD_SCALAR_I32;
	return wide != narrow && recognise_flags(name, match);
}

bool gd_sum_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->operation = SUM;
	match->types[0] = match->scalar = GD_SCALAR_I32;
	return (strstr(name, "4plusI") || strstr(name, "3SumE")) && strstr(after, "_iS");
}

bool gd_select_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	static const char key[] = "PK";
	match->result = strstr(name, "PiN") ? GD_SCALAR_I32 : GD_SCALAR_I64;
	if (strstr(name, "9NonZeroOpI")) {
		match->operation = PLACES;
		return strstr(name, "ounting") && match->result == GD_SCALAR_I32 &&
		       recognise_flags(name, match);
	}
	/* T *in, NullType *, T *out */
	const char *type = strstr(after, key);
	bool distinct = strstr(name, "8EqualityE") || strstr(name, "8equal_toI");
	if (!type || !distinct || strstr(name, "iterator") || strstr(name, "Iterator"))
		return false;
	type += strlen(key);
	match->operation = DISTINCT;
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &type);
	return match->types[0] != GD_SCALAR_NONE && *type == 'P';
}

bool gd_write_indices_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	match->operation = 1;
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &after);
	match->form = strstr(after, "EEiS5_S3_l") != NULL; /* the two last arguments are there */
	return match->types[0] == GD_SCALAR_I32 || match->types[0] == GD_SCALAR_I64;
}

/* ---- selections ---- */

static uint64_t wide_at(const char *from)
{
	uint64_t value;
	memcpy(&value, from, sizeof(value));
	return value;
}

static bool fits(const struct selection *s)
{
	return gd_model_memory(s->from, (uint64_t)s->count * gd_scalar_bytes(s->type)) &&
	       gd_model_memory(s->number, (uint64_t)s->parts * s->number_bytes) &&
	       (s->operation <= SUM || gd_model_memory(s->to, 1));
}

size_t gd_count_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct selection *s = plan;
	if (!launch->parameters)
		return 0;
	const char *items = gd_model_argument(launch, 2);
	memset(s, 0, sizeof(*s));
	memcpy(&s->count, items, sizeof(s->count));
	if (match->scalar == GD_SCALAR_I64 && wide_at(items) != s->count)
		return 0;
	s->operation = match->operation;
	s->type = match->types[0];
	s->number_bytes = 4;
	s->parts = launch->grid[0];
	s->from = wide_at(gd_model_argument(launch, 0) + match->form);
	s->number = wide_at(gd_model_argument(launch, 1));
	return s->count && s->count <= GD_MODEL_ELEMENTS && s->parts <= s->count && fits(s)
		   ? sizeof(*s)
		   : 0;
}

size_t gd_sum_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	int32_t first;
	if (!launch->parameters || launch->grid[0] != 1)
		return 0;
	memcpy(&first, gd_model_argument(launch, 4), sizeof(first));
	return first == 0 ? gd_count_plan(match, launch, plan) : 0;
}

size_t gd_select_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct selection *s = plan;
	uint32_t tiles;
	if (!launch->parameters)
		return 0;
	memset(s, 0, sizeof(*s));
	memcpy(&s->count, gd_model_argument(launch, 7), sizeof(s->count));
	memcpy(&tiles, gd_model_argument(launch, 8), sizeof(tiles));
	bool places = match->operation == PLACES;
	s->operation = match->operation;
	s->type = match->types[0];
	s->number_bytes = (uint8_t)gd_scalar_bytes(match->result);
	s->parts = 1;
	s->first = places ? (int64_t)wide_at(gd_model_argument(launch, 0)) : 0;
	s->from = wide_at(
	    places ? gd_model_argument(launch, 1) + match->form : gd_model_argument(launch, 0));
	s->to = wide_at(gd_model_argument(launch, 2));
	s->number = wide_at(gd_model_argument(launch, 3));
	bool sound = s->count && s->count <= GD_MODEL_ELEMENTS && tiles && tiles <= s->count &&
		     (uint64_t)launch->grid[0] * launch->grid[1] == tiles;
	return sound && fits(s) ? sizeof(*s) : 0;
}

static void load(const struct selection *s, uint32_t index, char value[8])
{
	unsigned bytes = gd_scalar_bytes(s->type);
	memset(value, 0, 8);
	gd_space_load(value, s->from + (uint64_t)index * bytes, bytes);
}

/* @return whether the item belongs to the result */
static bool selected(
    const struct selection *s, uint32_t index, const char before[8], const char now[8])
{
	struct gd_number number = gd_scalar_load(s->type, now);
	if (s->operation != DISTINCT)
		return gd_number_true(number);
	struct gd_number last = gd_scalar_load(s->type, before);
	return !index || (number.floating ? number.real != last.real : number.whole != last.whole);
}

/* Nothing is written beyond what fits in the memory that is there. */
static void put(const struct selection *s, uint32_t place, uint32_t index, const char value[8])
{
	int64_t number = s->first + index;
	unsigned bytes = s->operation == PLACES ? 8 : gd_scalar_bytes(s->type);
	uint64_t to = s->to + (uint64_t)place * bytes;
	if (s->to && gd_model_memory(to, bytes))
		gd_space_store(to, s->operation == PLACES ? (const char *)&number : value, bytes);
}

void gd_count_run(const void *plan, uint16_t author)
{
	const struct selection *s = plan;
	uint32_t found = 0, sum = 0;
	char before[8], now[8] = {0};
	if (!fits(s))
		return;
	if (!gd_space_known(s->from, (uint64_t)s->count * gd_scalar_bytes(s->type))) {
		gd_model_forget(s->number, (uint64_t)s->parts * s->number_bytes,
		    gd_model_blame(s->from, author));
		if (s->to)
			gd_model_forget(s->to, 1, gd_model_blame(s->from, author));
		return;
	}
	for (uint32_t i = 0; i < s->count; i++) {
		memcpy(before, now, sizeof(before));
		load(s, i, now);
		sum += (uint32_t)gd_scalar_load(s->type, now).whole;
		if (selected(s, i, before, now))
			put(s, found++, i, now);
	}
	const uint64_t number = s->operation == SUM ? sum : found, nothing = 0;
	gd_space_fill(s->number, &nothing, s->number_bytes, s->parts);
	gd_space_store(s->number, &number, s->number_bytes);
}

void gd_sum_run(const void *plan, uint16_t author)
{
	gd_count_run(plan, author);
}

void gd_select_run(const void *plan, uint16_t author)
{
	gd_count_run(plan, author);
}

/* ---- places to indices ---- */

struct indices {
	uint64_t at, count;
	uint32_t dimensions, pad;
	uint64_t size[MAX_SIZES];
};

static bool indices_fit(const struct indices *x)
{
	return gd_model_memory(x->at, x->count * x->dimensions * 8);
}

size_t gd_write_indices_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct indices *x = plan;
	unsigned bytes = gd_scalar_bytes(match->types[0]);
	int32_t dimensions;
	if (!launch->parameters)
		return 0;
	memset(x, 0, sizeof(*x));
	x->at = wide_at(gd_model_argument(launch, 0));
	memcpy(&dimensions, gd_model_argument(launch, 2), sizeof(dimensions));
	memcpy(&x->count, gd_model_argument(launch, 3), bytes);
	if (dimensions < 1 || dimensions > MAX_SIZES || !x->count || x->count > GD_MODEL_ELEMENTS ||
	    (match->form && wide_at(gd_model_argument(launch, 4))))
		return 0;
	x->dimensions = (uint32_t)dimensions;
	for (uint32_t d = 0; d < x->dimensions; d++) {
		memcpy(&x->size[d], gd_model_argument(launch, 1) + (size_t)d * bytes, bytes);
		if (!x->size[d] || x->size[d] > INT64_MAX)
			return 0;
	}
	return indices_fit(x) ? sizeof(*x) : 0;
}

void gd_write_indices_run(const void *plan, uint16_t author)
{
	const struct indices *x = plan;
	if (!indices_fit(x))
		return;
	if (!gd_space_known(x->at, x->count * 8)) {
		gd_model_forget(x->at, x->count * x->dimensions * 8, gd_model_blame(x->at, author));
		return;
	}
	for (uint64_t i = 0; i < x->count; i++) {
		uint64_t place;
		gd_space_load(&place, x->at + i * 8, 8);
		for (uint32_t d = x->dimensions; d-- > 0; place /= x->size[d]) {
			uint64_t index = place % x->size[d];
			gd_space_store(x->at + (d * x->count + i) * 8, &index, 8);
		}
	}
}
