/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sorting and running sums of short rows, behind torch.unique, cumsum and repeat_interleave (CUB;
 * tried with 2.0, 2.6 and 2.15):
 *   DeviceRadixSortSingleTileKernel<policy<K, V, N>, descending, ...>(const K *in, K *out,
 *       const V *values, V *values out, N items, int first bit, int end bit, ...)
 * Sorting many takes passes that go to and fro between the result and a second array.  They are not
 * computed, so what they write is forgotten:
 *   DeviceRadixSortOnesweepKernel<policy<K, V, N>, ...>(4 pointers, K *out, const K *in, V *values
 *       out, const V *values, int items, ...)
 *   DeviceRadixSortDownsweepKernel<policy<K, V, N>, ...>(const K *in, K *out, const V *values,
 *       V *values out, N *, N items, ...)
 *   DeviceSegmentedRadixSortKernel<policy<K, V, int>, ...>(the same four pointers, {int items of a
 *       segment, int first}, ...), a block for each segment
 *   sort_postprocess_kernel<K>(const K *in, K *out, int64_t *values out, const int2 *, int
 * segments, int items of a segment) (Sort.cu) DeviceScanKernel<..., plus<T>, NullType, ...>(const T
 * *in, T *out, tile state, int first tile, plus, NullType, N items): inclusive
 */
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/kernel_model_parts.h"

struct order {
	uint32_t count;
	uint8_t type, value_bytes, descending;
	bool forgets; /* not computed: of floats, or too many */
	uint64_t from, to, values, values_to;
};

static uint64_t word_at(const struct gd_model_launch *launch, unsigned argument, unsigned bytes)
{
	uint64_t word = 0;
	memcpy(&word, gd_model_argument(launch, argument), bytes);
	return word;
}

static uint64_t key_bytes(const struct order *o)
{
	return (uint64_t)o->count * gd_scalar_bytes(o->type);
}

static bool fits(const struct order *o)
{
	uint64_t bytes = (uint64_t)o->count * o->value_bytes;
	return gd_model_memory(o->from, key_bytes(o)) && gd_model_memory(o->to, key_bytes(o)) &&
	       (!bytes ||
		   (gd_model_memory(o->values, bytes) && gd_model_memory(o->values_to, bytes)));
}

/* ---- sorting ---- */

/* The value behind the key: nothing, a number, some bytes. */
static bool read_value(const char *name, const char **at, uint8_t *bytes_out)
{
	static const char null[] = "NS0_8NullTypeE", opaque[] = "OpaqueTypeILi";
	const char *end = strchr(*at, 'E'), *bytes = strstr(*at, opaque);
	unsigned type = GD_SCALAR_NONE;
	*bytes_out = 0;
	if (strncmp(*at, null, strlen(null)) == 0) {
		*at += strlen(null);
		return true;
	}
	if (bytes && end && bytes < end) { /* ...OpaqueTypeILi8EEE */
		*bytes_out = (uint8_t)strtoul(bytes + strlen(opaque), NULL, 10);
		*at = end + 3;
		return *bytes_out >= 1 && *bytes_out <= 16;
	}
	type = gd_scalar_of_name(name, at);
	*bytes_out = (uint8_t)gd_scalar_bytes(type);
	return *bytes_out != 0;
}

/* The form is the bytes of a value, the scalar that of the number of items, `inputs` descending. */
bool gd_sort_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	const char *ascends = strstr(after, "ELb0E"), *descends = strstr(after, "ELb1E");
	if (!ascends && !descends) {
		ascends = strstr(after, "9SortOrderE0E");
		descends = strstr(after, "9SortOrderE1E");
	}
	match->operation = 1;
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &after);
	if (match->types[0] == GD_SCALAR_NONE || !read_value(name, &after, &match->form) ||
	    !ascends == !descends)
		return false;
	match->inputs = descends != NULL;
	match->scalar = *after == 'i' || *after == 'j' ? GD_SCALAR_I32 : GD_SCALAR_I64;
	return *after && strchr("ijlmy", *after);
}

size_t gd_sort_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct order *o = plan;
	if (!launch->parameters || launch->grid[0] != 1)
		return 0;
	uint64_t count = word_at(launch, 4, gd_scalar_bytes(match->scalar));
	memset(o, 0, sizeof(*o));
	o->type = match->types[0];
	o->value_bytes = match->form;
	o->descending = match->inputs;
	if (!count || count > GD_MODEL_ELEMENTS || word_at(launch, 5, 4) != 0 ||
	    word_at(launch, 6, 4) != gd_scalar_bytes(o->type) * 8)
		return 0;
	o->count = (uint32_t)count;
	o->from = word_at(launch, 0, 8);
	o->to = word_at(launch, 1, 8);
	o->values = o->value_bytes ? word_at(launch, 2, 8) : 0;
	o->values_to = o->value_bytes ? word_at(launch, 3, 8) : 0;
	return fits(o) ? sizeof(*o) : 0;
}

struct item {
	uint64_t rank;
	uint32_t index;
	char key[8], value[16];
};

/* Bits that sort as the numbers do. */
static uint64_t rank_of(const struct order *o, const char key[8])
{
	unsigned bits = gd_scalar_bytes(o->type) * 8;
	uint64_t word = 0, sign = UINT64_C(1) << (bits - 1), all = sign | (sign - 1);
	memcpy(&word, key, bits / 8);
	if (gd_scalar_floating(o->type))
		word = word & sign ? ~word & all : word | sign;
	else if (o->type == GD_SCALAR_I8 || o->type == GD_SCALAR_I16 || o->type == GD_SCALAR_I32 ||
		 o->type == GD_SCALAR_I64)
		word ^= sign;
	return o->descending ? ~word & all : word;
}

static int by_rank(const void *a, const void *b)
{
	const struct item *left = a, *right = b;
	if (left->rank != right->rank)
		return left->rank < right->rank ? -1 : 1;
	return (left->index > right->index) - (left->index < right->index);
}

static void sort(const struct order *o, struct item *items)
{
	unsigned bytes = gd_scalar_bytes(o->type);
	for (uint32_t i = 0; i < o->count; i++) {
		gd_space_load(items[i].key, o->from + (uint64_t)i * bytes, bytes);
		gd_space_load(
		    items[i].value, o->values + (uint64_t)i * o->value_bytes, o->value_bytes);
		items[i].rank = rank_of(o, items[i].key);
		items[i].index = i;
	}
	qsort(items, o->count, sizeof(*items), by_rank);
	for (uint32_t i = 0; i < o->count; i++) {
		gd_space_store(o->to + (uint64_t)i * bytes, items[i].key, bytes);
		gd_space_store(
		    o->values_to + (uint64_t)i * o->value_bytes, items[i].value, o->value_bytes);
	}
}

/* @return 0, or an address that is not known */
static uint64_t unknown_input(const struct order *o)
{
	if (!gd_space_known(o->from, key_bytes(o)))
		return o->from;
	uint64_t bytes = (uint64_t)o->count * o->value_bytes;
	return gd_space_known(o->values, bytes) ? 0 : o->values;
}

static void forget(const struct order *o, uint16_t author)
{
	gd_model_forget(o->to, key_bytes(o), author);
	gd_model_forget(o->values_to, (uint64_t)o->count * o->value_bytes, author);
}

void gd_sort_run(const void *plan, uint16_t author)
{
	const struct order *o = plan;
	if (!fits(o))
		return;
	uint64_t unknown = unknown_input(o);
	struct item *items = unknown ? NULL : malloc(o->count * sizeof(*items));
	if (items)
		sort(o, items);
	else
		forget(o, unknown ? gd_model_blame(unknown, author) : author);
	free(items);
}

/* ---- a pass of sorting many ---- */

/* Which arguments count; where there are segments `items` are those of one. */
#define A_BLOCK 255
static const struct pass {
	const char *key;
	uint8_t keys, values, items, segments; /* segments: an argument, A_BLOCK, or 0 for one */
} passes[] = {{"OnesweepKernelI", 4, 6, 8, 0}, {"DownsweepKernelI", 1, 3, 5, 0},
    {"SegmentedRadixSortKernelI", 1, 3, 4, A_BLOCK}, {"sort_postprocess_kernelI", 1, 2, 5, 4}};
#define PASSES (sizeof(passes) / sizeof(passes[0]))

/* CUB has floats of 16 bits by CUDA's own names. */
static unsigned read_key(const char *name, const char **at)
{
	static const char half[] = "6__half", brain[] = "13__nv_bfloat16";
	bool is_half = strncmp(*at, half, strlen(half)) == 0;
	if (!is_half && strncmp(*at, brain, strlen(brain)) != 0)
		return gd_scalar_of_name(name, at);
	*at += strlen(is_half ? half : brain);
	return is_half ? GD_SCALAR_HALF : GD_SCALAR_BF16;
}

/* The form is the bytes of a value, the scalar the number of the pass. */
bool gd_sort_pass_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	while (match->scalar < PASSES && !strstr(name, passes[match->scalar].key))
		match->scalar++;
	match->types[0] = (uint8_t)read_key(name, &after);
	match->form = 8; /* places */
	return match->scalar < PASSES && match->types[0] != GD_SCALAR_NONE &&
	       (*after == 'E' || read_value(name, &after, &match->form));
}

size_t gd_sort_pass_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	const struct pass *pass = &passes[match->scalar];
	struct order *o = plan;
	if (!launch->parameters)
		return 0;
	uint64_t count = word_at(launch, pass->items, 4);
	if (pass->segments)
		count *= pass->segments == A_BLOCK ? launch->grid[0]
						   : word_at(launch, pass->segments, 4);
	memset(o, 0, sizeof(*o));
	o->type = match->types[0];
	o->value_bytes = match->form;
	o->count = (uint32_t)count;
	o->from = o->to = word_at(launch, pass->keys, 8);
	o->values = o->values_to = o->value_bytes ? word_at(launch, pass->values, 8) : 0;
	return count && count <= UINT32_MAX && fits(o) ? sizeof(*o) : 0;
}

void gd_sort_pass_run(const void *plan, uint16_t author)
{
	const struct order *o = plan;
	if (fits(o))
		forget(o, author);
}

/* ---- running sums ---- */

bool gd_scan_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	const char *end = strstr(after, "NS0_8NullTypeE");
	match->operation = 1;
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &after); /* of St4plusI */
	if (!end || strstr(after, "InputValue") || match->types[0] == GD_SCALAR_NONE)
		return false;
	match->operation = !gd_scalar_floating(match->types[0]);
	end += strlen("NS0_8NullTypeE");
	match->scalar = *end == 'i' || *end == 'j' ? GD_SCALAR_I32 : GD_SCALAR_I64;
	return *end && strchr("ijlmy", *end);
}

size_t gd_scan_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct order *o = plan;
	if (!launch->parameters)
		return 0;
	uint64_t count = word_at(launch, 6, gd_scalar_bytes(match->scalar));
	memset(o, 0, sizeof(*o));
	if (!count || count > UINT32_MAX || word_at(launch, 3, 4) != 0)
		return 0;
	o->forgets = !match->operation || count > GD_MODEL_ELEMENTS;
	o->type = match->types[0];
	o->count = (uint32_t)count;
	o->from = word_at(launch, 0, 8);
	o->to = word_at(launch, 1, 8);
	return fits(o) ? sizeof(*o) : 0;
}

void gd_scan_run(const void *plan, uint16_t author)
{
	const struct order *o = plan;
	unsigned bytes = gd_scalar_bytes(o->type);
	struct gd_number sum = gd_number_whole(0);
	if (!fits(o))
		return;
	if (o->forgets || !gd_space_known(o->from, key_bytes(o))) {
		forget(o, o->forgets ? author : gd_model_blame(o->from, author));
		return;
	}
	for (uint32_t i = 0; i < o->count; i++) {
		char number[8];
		gd_space_load(number, o->from + (uint64_t)i * bytes, bytes);
		sum.whole = (int64_t)((uint64_t)sum.whole +
				      (uint64_t)gd_scalar_load(o->type, number).whole);
		gd_scalar_store(o->type, number, sum);
		gd_space_store(o->to + (uint64_t)i * bytes, number, bytes);
	}
}
