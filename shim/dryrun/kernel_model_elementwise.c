/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's element-wise kernels (ATen/native/cuda/CUDALoops.cuh; the same from 2.0 to 2.15):
 *   vectorized_elementwise_kernel<vec, F, array<char *, n>>(int N, F f, array data)
 *   unrolled_elementwise_kernel<F, array, ...>(int N, F f, array data, input and output offsets,
 *       LoadWithCast<n - 1> or LoadWithoutCast, StoreWithCast<1> or StoreWithoutCast)
 *   elementwise_kernel<threads, per thread, lambda>(int N, lambda), which holds
 * OffsetCalculator<n>, the array, f, and if it casts array<ScalarType, n>: for tensors that are not
 * contiguous data[0] is the output.
 */
#include <stddef.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/kernel_functors.h"
#include "shim/dryrun/torch_release.h"

#define CHUNK 128
#define WITH_CAST 128 /* beside the number of inputs: types in memory come with the launch */

struct elements {
	struct gd_functor_call call;
	uint32_t count;
	uint8_t inputs;
	bool contiguous;   /* else as the walk says */
	uint8_t memory[4]; /* types in memory: output, inputs */
	uint8_t types[3], result;
	uint64_t addresses[4];
	struct gd_walk walk; /* contiguous plans end in front of it */
};
#define SHORT_PLAN offsetof(struct elements, walk)

/* When nothing but the output is known. */
struct forget {
	uint32_t forgets; /* where gd_functor_call of struct elements has its operation */
	uint64_t address, bytes;
};
#define FORGETS UINT32_MAX

bool gd_model_grid_fits(const struct gd_model_launch *launch, int32_t count)
{
	if (count <= 0 || launch->grid[1] != 1 || launch->grid[2] != 1 || launch->block[1] != 1)
		return false;
	for (uint64_t per_block = launch->block[0]; per_block <= launch->block[0] * UINT64_C(32);
	     per_block *= 2) {
		if (launch->grid[0] == ((uint64_t)count + per_block - 1) / per_block)
			return true;
	}
	return false;
}

bool gd_elementwise_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	unsigned pointers = gd_model_pointers(name);
	gd_functor_find(name, match);
	if (!pointers || pointers > GD_MAX_TENSORS || strstr(name, "16OffsetCalculatorI"))
		return false;
	if (match->operation && pointers != match->inputs + 1U)
		match->operation = 0;
	match->inputs = (uint8_t)(pointers - 1);
	if (strstr(name, "12LoadWithCastI") && strstr(name, "13StoreWithCastI"))
		match->inputs |= WITH_CAST;
	else if (strstr(name, "LoadWithCastI") || strstr(name, "StoreWithCastI"))
		return false;
	return true;
}

static size_t plan_forget(uint64_t address, uint64_t bytes, void *plan)
{
	struct forget forget = {FORGETS, address, bytes};
	if (!gd_model_memory(address, bytes))
		return 0;
	memcpy(plan, &forget, sizeof(forget));
	return sizeof(forget);
}

static void fill_in(const struct gd_model_match *match, const char *functor, int32_t count,
    const char *data, struct elements *e)
{
	memset(e, 0, SHORT_PLAN);
	e->call.operation = match->operation;
	e->call.computed = match->computed;
	e->call.side = (uint8_t)gd_functor_side(match);
	e->call.variant = (uint8_t)gd_functor_read(match, functor, e->call.scalars);
	e->count = (uint32_t)count;
	e->contiguous = true;
	e->inputs = match->inputs & (WITH_CAST - 1);
	e->result = e->memory[0] = match->result;
	memcpy(e->types, match->types, sizeof(e->types));
	memcpy(e->memory + 1, match->types, sizeof(e->types));
	memcpy(e->addresses, data, (e->inputs + 1U) * 8);
}

/* LoadWithCast<n>: ScalarType dtypes[n]; uint32_t element_sizes[n].  StoreWithCast<1> is alike.
 * @return the type of one, GD_SCALAR_NONE when it is none that is modelled */
static unsigned read_cast(const char *from, unsigned count, unsigned index)
{
	uint32_t bytes;
	unsigned type = (uint8_t)from[index];
	memcpy(&bytes, from + ((count + 3U) & ~3U) + 4 * (size_t)index, sizeof(bytes));
	return gd_scalar_bytes(type) && bytes == gd_scalar_bytes(type) ? type : GD_SCALAR_NONE;
}

static bool read_casts(const struct gd_model_launch *launch, struct elements *e)
{
	const char *load = gd_model_argument(launch, 5), *store = gd_model_argument(launch, 6);
	bool sound = true;
	for (unsigned i = 0; i <= e->inputs; i++) {
		unsigned type = i ? read_cast(load, e->inputs, i - 1) : read_cast(store, 1, 0);
		e->memory[i] = (uint8_t)type;
		sound &= type != GD_SCALAR_NONE;
	}
	return sound;
}

/* Bytes of an element of the output, also when the functor is unknown; at least 1. */
static unsigned output_bytes(
    const struct gd_model_match *match, const struct gd_model_launch *launch)
{
	unsigned type = match->result;
	if (match->inputs & WITH_CAST)
		type = read_cast(gd_model_argument(launch, 6), 1, 0);
	return gd_scalar_bytes(type) ? gd_scalar_bytes(type) : 1;
}

size_t gd_elementwise_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct elements *e = plan;
	int32_t count;
	uint64_t out;
	if (!launch->parameters)
		return 0;
	memcpy(&count, gd_model_argument(launch, 0), sizeof(count));
	memcpy(&out, gd_model_argument(launch, 2), sizeof(out));
	if (!gd_model_grid_fits(launch, count))
		return 0;
	if (match->operation && count <= GD_MODEL_ELEMENTS) {
		fill_in(
		    match, gd_model_argument(launch, 1), count, gd_model_argument(launch, 2), e);
		if (!(match->inputs & WITH_CAST) || read_casts(launch, e))
			return SHORT_PLAN;
	}
	return plan_forget(out, (uint64_t)count * output_bytes(match, launch), plan);
}

/* ---- what is not contiguous ---- */

/* Whose lambda it is.  2.0 had gpu_kernel_impl alone, whose second lambda casts; later there is
 * gpu_kernel_impl_nocast, and gpu_kernel_impl's only one casts. */
enum casts { UNSURE, NEVER, ALWAYS };

static enum casts casts_of(const char *after)
{
	bool first = strstr(after, "EUliE_EEvi"), second = strstr(after, "EUliE0_EEvi");
	if (strncmp(after, "_nocastI", 8) == 0)
		return NEVER;
	if (*after != 'I' || first == second)
		return UNSURE;
	unsigned release = gd_torch_release();
	if (release == GD_TORCH(2, 0))
		return first ? NEVER : ALWAYS;
	return first && release >= GD_TORCH(2, 3) ? ALWAYS : UNSURE;
}

bool gd_strided_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	gd_functor_find(name, match);
	enum casts casts = casts_of(after);
	if (casts == ALWAYS)
		match->inputs |= WITH_CAST;
	if (casts == UNSURE)
		match->operation = 0;
	return true;
}

/* The types in memory follow the functor, a byte each; one at least is not what it computes with.
 */
static bool read_types(const char *types, struct elements *e)
{
	bool sound = true, differs = false;
	for (unsigned i = 0; i <= e->inputs; i++) {
		uint8_t type = (uint8_t)types[i];
		differs |= type != e->memory[i];
		sound &= gd_scalar_bytes(type) != 0;
		e->memory[i] = type;
	}
	return sound && differs;
}

/* All that is sure of a lambda with an unknown functor is that it begins with the offsets and the
 * pointers of so many tensors; how many, tells whether they are device memory. */
static bool tensors_fit(const char *lambda, unsigned tensors, uint32_t count, struct elements *e)
{
	const char *data = lambda + ((GD_OFFSETS_BYTES(tensors) + 7) & ~(size_t)7);
	if (!gd_walk_read(lambda, tensors, count, &e->walk))
		return false;
	memcpy(e->addresses, data, 8 * (size_t)tensors);
	for (unsigned t = 0; t < tensors; t++) {
		if (!gd_model_memory(e->addresses[t], gd_walk_extent(&e->walk, t) + 1))
			return false;
	}
	return true;
}

static size_t plan_forget_strided(
    const struct gd_model_match *match, const char *lambda, uint32_t count, struct elements *e)
{
	unsigned fitting = 0, tensors = 0;
	memset(e, 0, sizeof(*e));
	for (unsigned t = 1; t <= GD_MAX_TENSORS; t++) {
		if (tensors_fit(lambda, t, count, e)) {
			tensors = t;
			fitting++;
		}
	}
	if (fitting != 1 || !tensors_fit(lambda, tensors, count, e))
		return 0;
	e->count = count;
	e->memory[0] = gd_scalar_bytes(match->result) ? match->result : GD_SCALAR_U8;
	return sizeof(*e);
}

size_t gd_strided_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct elements *e = plan;
	int32_t count;
	unsigned tensors = (match->inputs & (WITH_CAST - 1)) + 1U;
	if (!launch->parameters)
		return 0;
	memcpy(&count, gd_model_argument(launch, 0), sizeof(count));
	if (!gd_model_grid_fits(launch, count))
		return 0;
	const char *lambda = gd_model_argument(launch, 1);
	if (!match->operation || count > GD_MODEL_ELEMENTS)
		return plan_forget_strided(match, lambda, (uint32_t)count, e);
	const char *data = lambda + ((GD_OFFSETS_BYTES(tensors) + 7) & ~(size_t)7);
	const char *functor = data + 8 * (size_t)tensors;
	fill_in(match, functor, count, data, e);
	e->contiguous = false;
	if ((match->inputs & WITH_CAST) && !read_types(functor + gd_functor_bytes(match), e))
		return 0;
	return gd_walk_read(lambda, tensors, e->count, &e->walk) ? sizeof(*e) : 0;
}

/* ---- doing it ---- */

static uint64_t offset_of(const struct elements *e, uint32_t index, unsigned tensor)
{
	return e->contiguous ? (uint64_t)index * gd_scalar_bytes(e->memory[tensor])
			     : gd_walk_offset(&e->walk, index, tensor);
}

/* Bytes from a tensor's address to behind its last element. */
static uint64_t extent(const struct elements *e, unsigned tensor)
{
	unsigned bytes = gd_scalar_bytes(e->memory[tensor]);
	return e->contiguous ? (uint64_t)e->count * bytes
			     : gd_walk_extent(&e->walk, tensor) + bytes;
}

/* @return 0, or the address of an element that is not known */
static uint64_t unknown_input(const struct elements *e)
{
	for (unsigned t = 1; t <= e->inputs; t++) {
		unsigned bytes = gd_scalar_bytes(e->memory[t]);
		if (gd_space_known(e->addresses[t], extent(e, t)))
			continue;
		for (uint32_t i = 0; i < e->count; i++) {
			uint64_t at = e->addresses[t] + offset_of(e, i, t);
			if (!gd_space_known(at, bytes))
				return at;
		}
	}
	return 0;
}

/* One by one what is not large: what lies between the elements stays. */
static void forget_output(const struct elements *e, uint16_t author)
{
	if (e->contiguous || e->count > GD_MODEL_ELEMENTS) {
		gd_model_forget(e->addresses[0], extent(e, 0), author);
		return;
	}
	for (uint32_t i = 0; i < e->count; i++)
		gd_model_forget(
		    e->addresses[0] + offset_of(e, i, 0), gd_scalar_bytes(e->memory[0]), author);
}

/* Numbers of one input as the functor takes them. */
static void load(const struct elements *e, uint32_t first, uint32_t count, unsigned tensor,
    struct gd_number *numbers)
{
	char row[CHUNK * 8];
	unsigned type = e->memory[tensor], taken = e->types[tensor - 1];
	unsigned bytes = gd_scalar_bytes(type);
	if (e->contiguous)
		gd_space_load(row, e->addresses[tensor] + (uint64_t)first * bytes, count * bytes);
	for (uint32_t i = 0; !e->contiguous && i < count; i++)
		gd_space_load(
		    row + i * bytes, e->addresses[tensor] + offset_of(e, first + i, tensor), bytes);
	gd_scalar_load_row(type, row, count, numbers);
	for (uint32_t i = 0; type != taken && i < count; i++)
		numbers[i] = gd_scalar_convert(taken, numbers[i]);
}

static void store(
    const struct elements *e, uint32_t first, uint32_t count, const struct gd_number numbers[CHUNK])
{
	char row[CHUNK * 8];
	unsigned bytes = gd_scalar_bytes(e->memory[0]);
	gd_scalar_store_row(e->memory[0], row, count, numbers);
	if (e->contiguous)
		gd_space_store(e->addresses[0] + (uint64_t)first * bytes, row, count * bytes);
	for (uint32_t i = 0; !e->contiguous && i < count; i++)
		gd_space_store(
		    e->addresses[0] + offset_of(e, first + i, 0), row + i * bytes, bytes);
}

static void compute(const struct elements *e, uint32_t first, uint32_t count)
{
	struct gd_number inputs[3][CHUNK], results[CHUNK];
	for (unsigned t = 0; t < e->inputs; t++)
		load(e, first, count, t + 1, inputs[t]);
	for (uint32_t i = 0; i < count; i++) {
		const struct gd_number numbers[3] = {
		    e->inputs > 0 ? inputs[0][i] : gd_number_whole(0),
		    e->inputs > 1 ? inputs[1][i] : gd_number_whole(0),
		    e->inputs > 2 ? inputs[2][i] : gd_number_whole(0)};
		results[i] = gd_functor_compute(&e->call, numbers);
		if (e->result != e->memory[0]) /* else storing converts */
			results[i] = gd_scalar_convert(e->result, results[i]);
	}
	store(e, first, count, results);
}

static bool decided(const struct elements *e, uint32_t index)
{
	struct gd_number numbers[3] = {{.whole = 0}};
	bool known[3] = {false};
	for (unsigned t = 0; t < e->inputs; t++) {
		load(e, index, 1, t + 1, &numbers[t]);
		known[t] = gd_space_known(e->addresses[t + 1] + offset_of(e, index, t + 1),
		    gd_scalar_bytes(e->memory[t + 1]));
	}
	return gd_functor_decided(&e->call, numbers, known);
}

/* Unknown inputs read as zeros: elements that do not depend on them are computed. */
static void compute_decided(const struct elements *e, uint16_t author)
{
	for (uint32_t i = 0; i < e->count; i++) {
		if (decided(e, i))
			compute(e, i, 1);
		else
			gd_model_forget(e->addresses[0] + offset_of(e, i, 0),
			    gd_scalar_bytes(e->memory[0]), author);
	}
}

void gd_elementwise_run(const void *plan, uint16_t author)
{
	const struct elements *e = plan;
	struct forget forget;
	memcpy(&forget, plan, sizeof(forget));
	if (forget.forgets == FORGETS) {
		if (gd_model_memory(forget.address, forget.bytes))
			gd_model_forget(forget.address, forget.bytes, author);
		return;
	}
	for (unsigned i = 0; i <= e->inputs; i++) {
		if (!gd_model_memory(e->addresses[i], extent(e, i)))
			return;
	}
	if (!e->call.operation) {
		forget_output(e, author);
		return;
	}
	uint64_t unknown = unknown_input(e);
	if (unknown) {
		author = gd_model_blame(unknown, author);
		if (e->inputs > 1 && gd_functor_may_decide(&e->call))
			compute_decided(e, author);
		else
			forget_output(e, author);
		return;
	}
	for (uint32_t first = 0; first < e->count; first += CHUNK)
		compute(e, first, e->count - first < CHUNK ? e->count - first : CHUNK);
}

void gd_strided_run(const void *plan, uint16_t author)
{
	gd_elementwise_run(plan, author);
}
