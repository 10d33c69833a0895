/* SPDX-License-Identifier: Apache-2.0 */
/*
 * PyTorch's reductions (ATen/native/cuda/Reduce.cuh; the same from 2.0 to 2.15):
 * reduce_kernel<threads, outputs at once, ReduceOp<T, F, uint32_t, result, ...>>(ReduceOp), which
 * holds F ops; arg_t ident; ReduceConfig (16 words); OffsetCalculator<1> of the inputs;
 *   OffsetCalculator<2> of outputs and inputs; const void *src; char *dst[2]; void *acc_buf,
 *   *cta_buf; int *semaphores; int64_t base_idx; bool accumulate, final_output; int noutputs
 * The configuration repeats grid and block, which tells whether it was read at the right place.
 */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/kernel_functors.h"

#define CONFIG_BYTES 64

enum operation {
	NONE,
	SUM,
	MEAN,
	PRODUCT,
	ANY,
	ALL,
	LARGEST,
	SMALLEST,
	WHERE_LARGEST,
	WHERE_SMALLEST,
	BOTH_LARGEST,
	BOTH_SMALLEST,
	NORM
};

struct row {
	const char *key;
	uint8_t operation;
};

static const struct row rows[] = {
    {"11sum_functorI", SUM},
    {"7MeanOpsI", MEAN},
    {"12prod_functorI", PRODUCT},
    {"14or_kernel_cuda", ANY},
    {"15and_kernel_cuda", ALL},
    {"13MaxNanFunctorI", LARGEST},
    {"13MinNanFunctorI", SMALLEST},
    {"9ArgMaxOpsI", WHERE_LARGEST},
    {"9ArgMinOpsI", WHERE_SMALLEST},
    {"6MaxOpsI", BOTH_LARGEST},
    {"6MinOpsI", BOTH_SMALLEST},
    {"10NormTwoOpsI", NORM},
};

struct reduction {
	uint8_t operation, type, result, computed; /* operation NONE: only the outputs are known */
	bool both;				   /* there is a second result, the index */
	uint32_t inputs, outputs;
	double factor;
	uint64_t from, to[2];
	struct gd_walk input, output; /* output: tensor 0 of it, 1 of the input */
};
_Static_assert(sizeof(struct reduction) <= GD_MODEL_PLAN, "room");

/* ReduceOp<T, ..., uint32_t, result, ...>: the result type stands behind the index type `j`. */
static unsigned result_type(const char *name, const char *after)
{
	const char *end = strstr(after, "Li4E");
	for (const char *at = end; at && at > after; at--) {
		const char *type = at;
		if (at[-1] == 'j' && gd_scalar_of_name(name, &type) != GD_SCALAR_NONE &&
		    type == end) {
			type = at;
			return gd_scalar_of_name(name, &type);
		}
	}
	return GD_SCALAR_NONE;
}

/* The form says whether there is a factor. */
bool gd_reduction_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	const char *at = after;
	match->types[0] = (uint8_t)gd_scalar_of_name(name, &at);
	match->result = (uint8_t)result_type(name, after);
	match->computed = (uint8_t)gd_scalar_computed(match->types[0]);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!strstr(after, rows[i].key))
			continue;
		match->operation = rows[i].operation;
		match->form = rows[i].operation == MEAN;
	}
	if (match->operation == ANY || match->operation == ALL)
		match->computed = GD_SCALAR_BOOL;
	else if (match->operation == SUM || match->operation == PRODUCT || match->operation == NORM)
		match->computed = (uint8_t)gd_scalar_computed(match->result);
	return match->operation && match->types[0] != GD_SCALAR_NONE &&
	       match->result != GD_SCALAR_NONE && match->computed != GD_SCALAR_NONE;
}

static uint32_t word(const char *from, size_t index)
{
	uint32_t value;
	memcpy(&value, from + 4 * index, sizeof(value));
	return value;
}

static uint64_t pointer(const char *from, size_t index)
{
	uint64_t value;
	memcpy(&value, from + 8 * index, sizeof(value));
	return value;
}

/* 0 element size, 1 inputs, 2 outputs, 4 output step, 5 blocks per output, 11 and 12 block,
 * 13 threads, 15 outputs at once. */
static bool config_fits(const char *config, const struct gd_model_launch *launch)
{
	uint64_t outputs = word(config, 2), at_once = word(config, 15), step = word(config, 4);
	if (!word(config, 1) || !outputs || !at_once || !step)
		return false;
	return word(config, 11) == launch->block[0] && word(config, 12) == launch->block[1] &&
	       word(config, 13) == launch->block[0] * launch->block[1] &&
	       word(config, 5) == launch->grid[1] &&
	       (outputs / at_once + step - 1) / step == launch->grid[0];
}

/* F and the identity precede it, whose sizes the name does not tell for all types. */
static const char *find_config(const char *op, const struct gd_model_launch *launch)
{
	static const uint8_t places[] = {4, 8, 12, 16, 24};
	for (size_t i = 0; i < sizeof(places); i++) {
		if (config_fits(op + places[i], launch))
			return op + places[i];
	}
	return NULL;
}

static bool read_reduction(const char *config, const char *op, struct reduction *r)
{
	const char *inputs = config + CONFIG_BYTES, *outputs = inputs + GD_OFFSETS_BYTES(1);
	size_t tail = (size_t)(outputs + GD_OFFSETS_BYTES(2) - op);
	const char *pointers = op + ((tail + 7) & ~(size_t)7);
	const char *flags = pointers + 7 * 8; /* accumulate, final_output */
	r->inputs = word(config, 1);
	r->outputs = word(config, 2);
	r->from = pointer(pointers, 0);
	r->to[0] = pointer(pointers, 1);
	r->to[1] = pointer(pointers, 2);
	return gd_walk_read(inputs, 1, r->inputs, &r->input) &&
	       gd_walk_read(outputs, 2, r->outputs, &r->output) && flags[0] == 0 && flags[1] == 1;
}

size_t gd_reduction_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct reduction *r = plan;
	if (!launch->parameters)
		return 0;
	memset(r, 0, sizeof(*r));
	const char *op = gd_model_argument(launch, 0);
	const char *config = find_config(op, launch);
	if (!config || !read_reduction(config, op, r))
		return 0;
	if ((uint64_t)r->inputs * r->outputs <= GD_MODEL_ELEMENTS)
		r->operation = match->operation;
	r->both = match->operation == BOTH_LARGEST || match->operation == BOTH_SMALLEST;
	r->type = match->types[0];
	r->result = match->result;
	r->computed = match->computed;
	if (match->form) /* MeanOps begins with its factor */
		r->factor = gd_number_real(gd_scalar_load(match->computed, op));
	return sizeof(*r);
}

/* From the first to behind the last byte. */
static uint64_t input_extent(const struct reduction *r)
{
	return gd_walk_extent(&r->input, 0) + gd_walk_extent(&r->output, 1) +
	       gd_scalar_bytes(r->type);
}

/* Where a result lies; the second one's strides are those of the first, by its own type's size. */
static uint64_t result_at(const struct reduction *r, uint64_t offset, bool second)
{
	return second ? r->to[1] + offset / gd_scalar_bytes(r->result) * 8 : r->to[0] + offset;
}

static unsigned result_bytes(const struct reduction *r, bool second)
{
	return second ? 8 : gd_scalar_bytes(r->result);
}

static bool results_fit(const struct reduction *r)
{
	uint64_t last = gd_walk_extent(&r->output, 0);
	for (unsigned second = 0; second <= r->both; second++) {
		uint64_t end = result_at(r, last, second) + result_bytes(r, second);
		if (end < r->to[second] || !gd_model_memory(r->to[second], end - r->to[second]))
			return false;
	}
	return true;
}

/* So far `best`, found at `index`; not a number wins. */
static bool better(const struct reduction *r, struct gd_number value, struct gd_number best)
{
	bool largest = r->operation == LARGEST || r->operation == WHERE_LARGEST ||
		       r->operation == BOTH_LARGEST;
	if (!value.floating)
		return largest ? value.whole > best.whole : value.whole < best.whole;
	if (isnan(best.real) || isnan(value.real))
		return isnan(value.real) && !isnan(best.real);
	return largest ? value.real > best.real : value.real < best.real;
}

struct state {
	struct gd_number value;
	uint32_t index;
};

static void combine(
    const struct reduction *r, struct gd_number value, uint32_t index, struct state *state)
{
	struct gd_number *so_far = &state->value;
	switch (r->operation) {
	case SUM:
	case MEAN:
		*so_far = value.floating
			      ? gd_number_of(so_far->real + value.real)
			      : gd_number_whole(
				    (int64_t)((uint64_t)so_far->whole + (uint64_t)value.whole));
		break;
	case PRODUCT:
		*so_far = value.floating
			      ? gd_number_of(so_far->real * value.real)
			      : gd_number_whole(
				    (int64_t)((uint64_t)so_far->whole * (uint64_t)value.whole));
		break;
	case NORM:
		so_far->real += value.real * value.real;
		break;
	case ANY:
		so_far->whole |= gd_number_true(value);
		break;
	case ALL:
		so_far->whole &= gd_number_true(value);
		break;
	default:
		if (index == 0 || better(r, value, *so_far))
			*state = (struct state){value, index};
	}
}

static struct state first_state(const struct reduction *r)
{
	bool one = r->operation == PRODUCT || r->operation == ALL;
	struct state state = {.value = gd_number_whole(one)};
	if (gd_scalar_floating(r->computed))
		state.value = gd_number_of(one);
	return state;
}

static struct gd_number finish(const struct reduction *r, const struct state *state)
{
	switch (r->operation) {
	case MEAN:
		return gd_number_of(gd_number_real(state->value) * r->factor);
	case NORM:
		return gd_number_of(sqrt(state->value.real));
	case WHERE_LARGEST:
	case WHERE_SMALLEST:
		return gd_number_whole(state->index);
	default:
		return state->value;
	}
}

/* Results of many at once, with what lies between them. */
static void forget_all(const struct reduction *r, uint16_t author)
{
	uint64_t last = gd_walk_extent(&r->output, 0);
	for (unsigned second = 0; second <= r->both; second++) {
		uint64_t end = result_at(r, last, second) + result_bytes(r, second);
		gd_model_forget(r->to[second], end - r->to[second], author);
	}
}

static void forget(const struct reduction *r, uint32_t output, uint16_t author)
{
	uint64_t offset = gd_walk_offset(&r->output, output, 0);
	for (unsigned second = 0; second <= r->both; second++)
		gd_model_forget(result_at(r, offset, second), result_bytes(r, second), author);
}

/* @return 0, or the address of an input of this output that is not known */
static uint64_t unknown_input(const struct reduction *r, uint64_t from)
{
	if (gd_space_known(from, gd_walk_extent(&r->input, 0) + gd_scalar_bytes(r->type)))
		return 0;
	for (uint32_t i = 0; i < r->inputs; i++) {
		uint64_t at = from + gd_walk_offset(&r->input, i, 0);
		if (!gd_space_known(at, gd_scalar_bytes(r->type)))
			return at;
	}
	return 0;
}

/* One known True makes any() true, one known False all() false. */
static bool decided(const struct reduction *r, uint64_t from)
{
	unsigned bytes = gd_scalar_bytes(r->type);
	char number[8];
	for (uint32_t i = 0; (r->operation == ANY || r->operation == ALL) && i < r->inputs; i++) {
		uint64_t at = from + gd_walk_offset(&r->input, i, 0);
		gd_space_load(number, at, bytes);
		bool value = gd_number_true(gd_scalar_load(r->type, number));
		if (value == (r->operation == ANY) && gd_space_known(at, bytes))
			return true;
	}
	return false;
}

static void reduce(const struct reduction *r, uint32_t output, uint16_t author)
{
	uint64_t from = r->from + gd_walk_offset(&r->output, output, 1);
	uint64_t unknown = unknown_input(r, from);
	if (unknown && !decided(r, from)) {
		forget(r, output, gd_model_blame(unknown, author));
		return;
	}
	struct state state = first_state(r);
	char bytes[8];
	for (uint32_t i = 0; i < r->inputs; i++) {
		gd_space_load(
		    bytes, from + gd_walk_offset(&r->input, i, 0), gd_scalar_bytes(r->type));
		struct gd_number value = gd_scalar_load(r->type, bytes);
		combine(r, gd_scalar_convert(r->computed, value), i, &state);
	}
	uint64_t offset = gd_walk_offset(&r->output, output, 0);
	gd_scalar_store(r->result, bytes, finish(r, &state));
	gd_space_store(result_at(r, offset, false), bytes, result_bytes(r, false));
	if (!r->both)
		return;
	gd_scalar_store(GD_SCALAR_I64, bytes, gd_number_whole(state.index));
	gd_space_store(result_at(r, offset, true), bytes, result_bytes(r, true));
}

void gd_reduction_run(const void *plan, uint16_t author)
{
	const struct reduction *r = plan;
	if (!results_fit(r) || !gd_model_memory(r->from, input_extent(r)))
		return;
	if (r->outputs > GD_MODEL_ELEMENTS) {
		forget_all(r, author);
		return;
	}
	for (uint32_t output = 0; output < r->outputs; output++) {
		if (r->operation != NONE)
			reduce(r, output, author);
		else
			forget(r, output, author);
	}
}
