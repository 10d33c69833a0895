/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/kernel_functors.h"

#include <math.h>
#include <string.h>

/* Where the types of a functor stand behind its key. */
enum types { TEMPLATE, LAMBDA };

/* What a functor holds; a scalar is of the type it computes in (OWN: of the tensors' type). */
enum holds { NOTHING, VARIANT, VARIANT_OWN, ONE, TWO, VARIANT_TWO, OWN };

enum result { SAME, BOOLEAN, SECOND, TO_HALF, TO_BRAIN };

struct row {
	const char *key;
	uint8_t operation, inputs, types, result, holds;
};

/* Length and name, as mangled names have them: no name is found inside another. */
static const struct row rows[] = {
    {"11FillFunctorI", GD_FUNCTOR_FILL, 0, TEMPLATE, SAME, OWN},
    {"23direct_copy_kernel_cuda", GD_FUNCTOR_COPY, 1, LAMBDA, SAME, NOTHING},
    {"27converting_copy_kernel_cudaI", GD_FUNCTOR_COPY, 1, TEMPLATE, SECOND, NOTHING},
    {"24float16_copy_kernel_cuda", GD_FUNCTOR_COPY, 1, LAMBDA, TO_HALF, NOTHING},
    {"25bfloat16_copy_kernel_cuda", GD_FUNCTOR_COPY, 1, LAMBDA, TO_BRAIN, NOTHING},
    {"16CompareEqFunctorI", GD_FUNCTOR_EQUAL, 2, TEMPLATE, BOOLEAN, VARIANT},
    {"14CompareFunctorI", GD_FUNCTOR_COMPARE, 2, TEMPLATE, BOOLEAN, VARIANT},
    {"21compare_scalar_kernelI", GD_FUNCTOR_COMPARE, 1, TEMPLATE, BOOLEAN, VARIANT_OWN},
    {"15CUDAFunctor_addI", GD_FUNCTOR_ADD, 2, TEMPLATE, SAME, ONE},
    {"21CUDAFunctorOnSelf_addI", GD_FUNCTOR_ADD_SELF, 1, TEMPLATE, SAME, TWO},
    {"22CUDAFunctorOnOther_addI", GD_FUNCTOR_ADD_OTHER, 1, TEMPLATE, SAME, TWO},
    {"10MulFunctorI", GD_FUNCTOR_MULTIPLY, 2, TEMPLATE, SAME, NOTHING},
    {"10DivFunctorI", GD_FUNCTOR_DIVIDE, 2, TEMPLATE, SAME, NOTHING},
    {"17BitwiseAndFunctorI", GD_FUNCTOR_AND, 2, TEMPLATE, SAME, NOTHING},
    {"16BitwiseOrFunctorI", GD_FUNCTOR_OR, 2, TEMPLATE, SAME, NOTHING},
    {"17BitwiseXorFunctorI", GD_FUNCTOR_XOR, 2, TEMPLATE, SAME, NOTHING},
    {"23logical_and_kernel_cuda", GD_FUNCTOR_LOGICAL_AND, 2, LAMBDA, BOOLEAN, NOTHING},
    {"22logical_or_kernel_cuda", GD_FUNCTOR_LOGICAL_OR, 2, LAMBDA, BOOLEAN, NOTHING},
    {"23logical_not_kernel_cuda", GD_FUNCTOR_LOGICAL_NOT, 1, LAMBDA, BOOLEAN, NOTHING},
    {"23bitwise_not_kernel_cuda", GD_FUNCTOR_NOT, 1, LAMBDA, SAME, NOTHING},
    {"15neg_kernel_cuda", GD_FUNCTOR_NEGATE, 1, LAMBDA, SAME, NOTHING},
    {"10AbsFunctorI", GD_FUNCTOR_ABSOLUTE, 1, TEMPLATE, SAME, NOTHING},
    {"22reciprocal_kernel_cuda", GD_FUNCTOR_RECIPROCAL, 1, LAMBDA, SAME, NOTHING},
    {"16sqrt_kernel_cuda", GD_FUNCTOR_SQUARE_ROOT, 1, LAMBDA, SAME, NOTHING},
    {"17floor_kernel_cuda", GD_FUNCTOR_FLOOR, 1, LAMBDA, SAME, NOTHING},
    {"16ceil_kernel_cuda", GD_FUNCTOR_CEIL, 1, LAMBDA, SAME, NOTHING},
    {"17round_kernel_cuda", GD_FUNCTOR_ROUND, 1, LAMBDA, SAME, NOTHING},
    {"17trunc_kernel_cuda", GD_FUNCTOR_TRUNCATE, 1, LAMBDA, SAME, NOTHING},
    {"29pow_tensor_scalar_kernel_implI", GD_FUNCTOR_SQUARE, 1, TEMPLATE, SAME, NOTHING},
    {"19maximum_kernel_cuda", GD_FUNCTOR_LARGER, 2, LAMBDA, SAME, NOTHING},
    {"19minimum_kernel_cuda", GD_FUNCTOR_SMALLER, 2, LAMBDA, SAME, NOTHING},
    {"17where_kernel_impl", GD_FUNCTOR_WHERE, 3, LAMBDA, SECOND, NOTHING},
    {"19launch_clamp_scalar", GD_FUNCTOR_CLAMP, 1, LAMBDA, SAME, VARIANT_TWO},
    {"18masked_fill_kernel", GD_FUNCTOR_MASKED_FILL, 2, LAMBDA, SAME, OWN},
    {"21remainder_kernel_cuda", GD_FUNCTOR_REMAINDER, 2, LAMBDA, SAME, NOTHING},
    {"21div_floor_kernel_cuda", GD_FUNCTOR_FLOOR_DIVIDE, 2, LAMBDA, SAME, NOTHING},
};

enum form { PLAIN = 0, BINARY = 16, LEFT = 32, RIGHT = 48, FORM_WRAP = 48, FORM_HOLDS = 15 };

static unsigned wrapper(const char *name, const char **types_out)
{
	static const struct {
		const char *key;
		unsigned form;
	} wrappers[] = {
	    {"13AUnaryFunctorI", LEFT}, {"13BUnaryFunctorI", RIGHT}, {"13BinaryFunctorI", BINARY}};
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(wrappers[0]); i++) {
		const char *at = strstr(name, wrappers[i].key);
		*types_out = at ? at + strlen(wrappers[i].key) : NULL;
		if (at)
			return wrappers[i].form;
	}
	return PLAIN;
}

static unsigned next_type(const char *name, const char **at)
{
	return *at ? gd_scalar_of_name(name, at) : GD_SCALAR_NONE;
}

/* Types of a functor without a wrapper. */
static bool own_types(
    const char *name, const char *at, const struct row *row, struct gd_model_match *match)
{
	unsigned first = next_type(name, &at), second = GD_SCALAR_NONE;
	if (row->types == LAMBDA || row->result == SECOND)
		second = next_type(name, &at);
	match->types[0] = (uint8_t)first;
	match->types[1] = (uint8_t)(row->types == LAMBDA ? second : first);
	match->types[2] = match->types[1];
	match->computed =
	    (uint8_t)gd_scalar_computed(row->operation == GD_FUNCTOR_WHERE ? second : first);
	match->scalar =
	    (uint8_t)(row->holds == OWN || row->holds == VARIANT_OWN ? first
								     : gd_scalar_computed(first));
	const unsigned results[] = {first, GD_SCALAR_BOOL, second, GD_SCALAR_HALF, GD_SCALAR_BF16};
	match->result = (uint8_t)results[row->result];
	return first != GD_SCALAR_NONE && match->result != GD_SCALAR_NONE &&
	       (row->inputs < 2 || match->types[1] != GD_SCALAR_NONE);
}

/* AUnaryFunctor<left, right, result, f>: f takes, and a scalar is, what f's own types say. */
static bool wrapped_types(const char *name, const char *at, const char *types,
    const struct row *row, unsigned wrap, struct gd_model_match *match)
{
	unsigned left = next_type(name, &types), right = GD_SCALAR_NONE, result = GD_SCALAR_NONE;
	if (left != GD_SCALAR_NONE)
		right = next_type(name, &types);
	if (right != GD_SCALAR_NONE)
		result = next_type(name, &types);
	unsigned computed = next_type(name, &at);
	match->inputs = wrap == BINARY ? 2 : 1;
	match->types[0] = (uint8_t)(wrap == LEFT ? right : left);
	match->types[1] = (uint8_t)right;
	match->computed = (uint8_t)gd_scalar_computed(computed);
	match->scalar = (uint8_t)computed;
	match->result = (uint8_t)result;
	return result != GD_SCALAR_NONE && computed != GD_SCALAR_NONE && row->inputs == 2;
}

/* Whole numbers alone: those of floats have corners of their own. */
static bool provided(const struct row *row, const char *at, unsigned computed)
{
	bool whole =
	    row->operation == GD_FUNCTOR_REMAINDER || row->operation == GD_FUNCTOR_FLOOR_DIVIDE;
	if (row->operation == GD_FUNCTOR_SQUARE && !strstr(at, "E_St") && !strstr(at, "E_NS"))
		return false; /* the first lambda is the square, others are other powers */
	return !whole || !gd_scalar_floating(computed);
}

static const char *types_of(const struct row *row, const char *at)
{
	if (row->types == TEMPLATE)
		return at;
	at = strstr(at, "EUl");
	return at ? at + 3 : NULL;
}

static bool read_row(const char *name, const struct row *row, struct gd_model_match *match)
{
	const char *types, *key = strstr(name, row->key);
	if (!key)
		return false;
	unsigned wrap = wrapper(name, &types);
	const char *at = types_of(row, key + strlen(row->key));
	match->operation = row->operation;
	match->inputs = row->inputs;
	match->form = (uint8_t)(wrap | row->holds);
	return at &&
	       (wrap == PLAIN ? own_types(name, at, row, match)
			      : wrapped_types(name, at, types, row, wrap, match)) &&
	       provided(row, at, match->computed);
}

/* How large an element is may be told by the functor even when what it does is unknown: most give
 * what they take, EUlfE_ or SomeFunctor<float>. */
static unsigned likely_type(const char *name)
{
	static const char *const keys[] = {"EUl", "FunctorI"};
	for (size_t i = 0; i < 2; i++) {
		const char *at = strstr(name, keys[i]);
		if (at)
			return (at += strlen(keys[i]), gd_scalar_of_name(name, &at));
	}
	return GD_SCALAR_NONE;
}

void gd_functor_find(const char *name, struct gd_model_match *match)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (read_row(name, &rows[i], match))
			return;
		memset(match, 0, sizeof(*match));
	}
	match->result = (uint8_t)likely_type(name);
}

static union gd_functor_scalar scalar_at(unsigned type, const char *bytes)
{
	struct gd_number number = gd_scalar_load(type, bytes);
	union gd_functor_scalar scalar;
	if (number.floating)
		scalar.real = number.real;
	else
		scalar.whole = number.whole;
	return scalar;
}

/* How a functor's numbers lie in it. */
struct functor_layout {
	unsigned at, count, width; /* of the scalars */
	unsigned bytes;		   /* of all */
	bool variant;
};

static struct functor_layout lay_out(const struct gd_model_match *match)
{
	unsigned holds = match->form & FORM_HOLDS;
	struct functor_layout l = {.width = gd_scalar_bytes(match->scalar),
	    .variant = holds == VARIANT || holds == VARIANT_OWN || holds == VARIANT_TWO};
	unsigned alignment = l.variant ? 4 : 1;
	l.at = l.variant ? 4 : 0;
	if (holds == ONE || holds == OWN || holds == VARIANT_OWN)
		l.count = 1;
	else if (holds == TWO || holds == VARIANT_TWO)
		l.count = 2;
	if (gd_functor_side(match)) {
		l.count = 1;
		l.at = l.at ? l.at : 1; /* behind an empty object */
	}
	if (l.count && l.width > alignment)
		alignment = l.width;
	l.at = l.count && l.width ? (l.at + l.width - 1) & ~(l.width - 1) : l.at;
	l.bytes = (l.at + l.count * l.width + alignment - 1) & ~(alignment - 1);
	l.bytes = l.bytes ? l.bytes : 1; /* an empty object */
	return l;
}

unsigned gd_functor_bytes(const struct gd_model_match *match)
{
	return lay_out(match).bytes;
}

unsigned gd_functor_read(
    const struct gd_model_match *match, const char *functor, union gd_functor_scalar scalars_out[2])
{
	struct functor_layout l = lay_out(match);
	int32_t variant = 0;
	if (l.variant)
		memcpy(&variant, functor, sizeof(variant));
	for (unsigned i = 0; i < l.count; i++)
		scalars_out[i] = scalar_at(match->scalar, functor + l.at + i * l.width);
	return (unsigned)variant;
}

unsigned gd_functor_side(const struct gd_model_match *match)
{
	unsigned wrap = match->form & FORM_WRAP;
	if ((match->form & FORM_HOLDS) == VARIANT_OWN)
		return 2;
	return wrap == LEFT ? 1 : wrap == RIGHT ? 2 : 0;
}

static struct gd_number scalar_of(const struct gd_functor_call *call, unsigned i)
{
	return gd_scalar_floating(call->computed) ? gd_number_of(call->scalars[i].real)
						  : gd_number_whole(call->scalars[i].whole);
}

static int64_t wrapping(int64_t a, int64_t b, bool product)
{
	return (int64_t)(product ? (uint64_t)a * (uint64_t)b : (uint64_t)a + (uint64_t)b);
}

static struct gd_number add(struct gd_number a, struct gd_number b)
{
	if (a.floating || b.floating)
		return gd_number_of(gd_number_real(a) + gd_number_real(b));
	return gd_number_whole(wrapping(a.whole, b.whole, false));
}

static struct gd_number multiply(struct gd_number a, struct gd_number b)
{
	if (a.floating || b.floating)
		return gd_number_of(gd_number_real(a) * gd_number_real(b));
	return gd_number_whole(wrapping(a.whole, b.whole, true));
}

/* -1, 0, 1; 2 when one of them is not a number. */
static int order(const struct gd_functor_call *call, struct gd_number a, struct gd_number b)
{
	if (a.floating || b.floating) {
		double x = gd_number_real(a), y = gd_number_real(b);
		return isnan(x) || isnan(y) ? 2 : (x > y) - (x < y);
	}
	if (call->computed == GD_SCALAR_U64)
		return ((uint64_t)a.whole > (uint64_t)b.whole) -
		       ((uint64_t)a.whole < (uint64_t)b.whole);
	return (a.whole > b.whole) - (a.whole < b.whole);
}

static bool compares(unsigned variant, int order)
{
	if (order == 2)
		return false;
	return variant == 0   ? order >= 0
	       : variant == 1 ? order > 0
	       : variant == 2 ? order <= 0
			      : order < 0;
}

/* Not a number wins. */
static struct gd_number extreme(
    const struct gd_functor_call *call, struct gd_number a, struct gd_number b, bool larger)
{
	int which = order(call, a, b);
	if (which == 2)
		return isnan(gd_number_real(a)) ? a : b;
	return (which > 0) == larger ? a : b;
}

static struct gd_number clamp(const struct gd_functor_call *call, struct gd_number a)
{
	if (a.floating && isnan(a.real))
		return a;
	if (call->variant != 1)
		a = extreme(call, a, scalar_of(call, 0), true);
	return call->variant != 0 ? extreme(call, a, scalar_of(call, 1), false) : a;
}

/* Python's: the remainder has the sign of the divisor.  Dividing by 0 is undefined on the device.
 */
static struct gd_number floor_divide(int64_t a, int64_t b, bool remainder)
{
	if (b == 0 || b == -1)
		return gd_number_whole(remainder || b == 0 ? 0 : wrapping(-1, a, true));
	int64_t quotient = a / b, rest = a % b;
	bool down = rest && (rest < 0) != (b < 0);
	return gd_number_whole(remainder ? rest + (down ? b : 0) : quotient - down);
}

static struct gd_number of_one(const struct gd_functor_call *call, struct gd_number a)
{
	bool boolean = call->computed == GD_SCALAR_BOOL;
	double real = gd_number_real(a);
	switch (call->operation) {
	case GD_FUNCTOR_ADD_SELF:
		return add(a, multiply(scalar_of(call, 1), scalar_of(call, 0)));
	case GD_FUNCTOR_ADD_OTHER:
		return add(scalar_of(call, 0), multiply(scalar_of(call, 1), a));
	case GD_FUNCTOR_LOGICAL_NOT:
		return gd_number_whole(!gd_number_true(a));
	case GD_FUNCTOR_NOT:
		return gd_number_whole(boolean ? !a.whole : ~a.whole);
	case GD_FUNCTOR_NEGATE:
		return a.floating ? gd_number_of(-real)
				  : gd_number_whole(wrapping(-1, a.whole, true));
	case GD_FUNCTOR_ABSOLUTE:
		if (a.floating)
			return gd_number_of(fabs(real));
		return a.whole < 0 ? gd_number_whole(wrapping(-1, a.whole, true)) : a;
	case GD_FUNCTOR_RECIPROCAL:
		return gd_number_of(1 / real);
	case GD_FUNCTOR_SQUARE_ROOT:
		return gd_number_of(sqrt(real));
	case GD_FUNCTOR_FLOOR:
		return gd_number_of(floor(real));
	case GD_FUNCTOR_CEIL:
		return gd_number_of(ceil(real));
	case GD_FUNCTOR_ROUND:
		return gd_number_of(nearbyint(real));
	case GD_FUNCTOR_TRUNCATE:
		return gd_number_of(trunc(real));
	case GD_FUNCTOR_SQUARE:
		return multiply(a, a);
	case GD_FUNCTOR_CLAMP:
		return clamp(call, a);
	default:
		return a;
	}
}

static struct gd_number of_two(
    const struct gd_functor_call *call, struct gd_number a, struct gd_number b)
{
	switch (call->operation) {
	case GD_FUNCTOR_ADD:
		return add(a, multiply(scalar_of(call, 0), b));
	case GD_FUNCTOR_MULTIPLY:
		return multiply(a, b);
	case GD_FUNCTOR_DIVIDE:
		return gd_number_of(gd_number_real(a) / gd_number_real(b));
	case GD_FUNCTOR_EQUAL:
		return gd_number_whole((order(call, a, b) == 0) == (call->variant == 0));
	case GD_FUNCTOR_COMPARE:
		return gd_number_whole(compares(call->variant, order(call, a, b)));
	case GD_FUNCTOR_AND:
		return gd_number_whole(a.whole & b.whole);
	case GD_FUNCTOR_OR:
		return gd_number_whole(a.whole | b.whole);
	case GD_FUNCTOR_XOR:
		return gd_number_whole(a.whole ^ b.whole);
	case GD_FUNCTOR_LOGICAL_AND:
		return gd_number_whole(gd_number_true(a) && gd_number_true(b));
	case GD_FUNCTOR_LOGICAL_OR:
		return gd_number_whole(gd_number_true(a) || gd_number_true(b));
	case GD_FUNCTOR_LARGER:
	case GD_FUNCTOR_SMALLER:
		return extreme(call, a, b, call->operation == GD_FUNCTOR_LARGER);
	case GD_FUNCTOR_REMAINDER:
	case GD_FUNCTOR_FLOOR_DIVIDE:
		return floor_divide(a.whole, b.whole, call->operation == GD_FUNCTOR_REMAINDER);
	default:
		return a;
	}
}

bool gd_functor_may_decide(const struct gd_functor_call *call)
{
	switch (call->operation) {
	case GD_FUNCTOR_AND:
	case GD_FUNCTOR_OR:
	case GD_FUNCTOR_LOGICAL_AND:
	case GD_FUNCTOR_LOGICAL_OR:
	case GD_FUNCTOR_WHERE:
	case GD_FUNCTOR_MASKED_FILL:
		return !call->side;
	case GD_FUNCTOR_MULTIPLY:
		return !call->side && !gd_scalar_floating(call->computed);
	default:
		return false;
	}
}

/* Whether one input of two is enough. */
static bool decides(const struct gd_functor_call *call, struct gd_number input)
{
	int64_t ones = call->computed == GD_SCALAR_BOOL ? 1 : -1;
	switch (call->operation) {
	case GD_FUNCTOR_AND:
	case GD_FUNCTOR_MULTIPLY: /* of whole numbers: 0 times infinity is not 0 */
		return input.whole == 0;
	case GD_FUNCTOR_OR:
		return input.whole == ones;
	case GD_FUNCTOR_LOGICAL_AND:
		return !gd_number_true(input);
	case GD_FUNCTOR_LOGICAL_OR:
		return gd_number_true(input);
	default:
		return false;
	}
}

bool gd_functor_decided(
    const struct gd_functor_call *call, const struct gd_number inputs[3], const bool known[3])
{
	if (call->operation == GD_FUNCTOR_WHERE)
		return known[0] && known[gd_number_true(inputs[0]) ? 1 : 2];
	if (call->operation == GD_FUNCTOR_MASKED_FILL)
		return known[1] && (known[0] || gd_number_true(inputs[1]));
	return (known[0] && decides(call, inputs[0])) || (known[1] && decides(call, inputs[1])) ||
	       (known[0] && known[1]);
}

struct gd_number gd_functor_compute(
    const struct gd_functor_call *call, const struct gd_number inputs[3])
{
	struct gd_number a = inputs[0], b = inputs[1];
	if (call->operation == GD_FUNCTOR_FILL)
		return scalar_of(call, 0);
	if (call->operation == GD_FUNCTOR_WHERE)
		return gd_number_true(a) ? b : inputs[2];
	if (call->operation == GD_FUNCTOR_MASKED_FILL)
		return gd_number_true(b) ? scalar_of(call, 0) : a;
	if (call->side) {
		b = call->side == 1 ? a : scalar_of(call, 0);
		a = call->side == 1 ? scalar_of(call, 0) : a;
	}
	struct gd_number result = of_two(call, a, b);
	return of_one(call, result);
}
