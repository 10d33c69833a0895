/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_reduce.h"

#include <math.h>
#include <string.h>

#include "nccl_driver.h"

#define GD_CHUNK 512

enum class { FLOATING, SIGNED, UNSIGNED };

union value {
	double f;
	int64_t i;
	uint64_t u;
};

static enum class class_of(uint32_t type) {
	switch (type){
		case GD_NCCL_Int8 : case GD_NCCL_Int32 : case GD_NCCL_Int64 : return SIGNED;
		case GD_NCCL_Uint8 : case GD_NCCL_Uint32 : case GD_NCCL_Uint64 : return UNSIGNED;
		default : return FLOATING;
	}
}

/* ---- floating point of 8 and 16 bits ---- */

struct small_float {
	int exponent_bits, mantissa_bits;
	bool finite; /* no infinity: all bits set is the only NaN */
};

static struct small_float layout(uint32_t type)
{
	switch (type) {
	case GD_NCCL_Float8e4m3:
		return (struct small_float){4, 3, true};
	case GD_NCCL_Float8e5m2:
		return (struct small_float){5, 2, false};
	case GD_NCCL_Bfloat16:
		return (struct small_float){8, 7, false};
	default:
		return (struct small_float){5, 10, false};
	}
}

static int bias_of(struct small_float l)
{
	return (1 << (l.exponent_bits - 1)) - 1;
}

static unsigned magnitude_mask(struct small_float l)
{
	return (1u << (l.exponent_bits + l.mantissa_bits)) - 1;
}

static double decode(struct small_float l, unsigned bits)
{
	unsigned magnitude = bits & magnitude_mask(l), ones = (1u << l.exponent_bits) - 1;
	unsigned mantissa = magnitude & ((1u << l.mantissa_bits) - 1);
	unsigned exponent = magnitude >> l.mantissa_bits;
	double value;

	if (l.finite ? magnitude == magnitude_mask(l) : exponent == ones && mantissa)
		return NAN;
	if (!l.finite && exponent == ones)
		value = INFINITY;
	else if (exponent)
		value = ldexp(
		    mantissa | 1u << l.mantissa_bits, (int)exponent - bias_of(l) - l.mantissa_bits);
	else
		value = ldexp(mantissa, 1 - bias_of(l) - l.mantissa_bits);
	return bits > magnitude_mask(l) ? -value : value;
}

/* Largest finite magnitude; one above it is infinity, or the NaN. */
static unsigned largest(struct small_float l)
{
	unsigned mask = magnitude_mask(l);

	return l.finite ? mask - 1 : mask - (1u << l.mantissa_bits);
}

/* To the nearest, of two equally near the even one; a format without infinity saturates. */
static unsigned encode(struct small_float l, double value)
{
	unsigned sign = signbit(value) ? magnitude_mask(l) + 1 : 0, magnitude;
	int exponent = 1 - bias_of(l);
	double scaled;

	if (isnan(value))
		return magnitude_mask(l);
	value = fabs(value);
	if (value > 0 && !isinf(value) && ilogb(value) > exponent)
		exponent = ilogb(value);
	scaled = rint(ldexp(value, l.mantissa_bits - exponent));
	if (scaled > (double)(2u << l.mantissa_bits) || exponent > bias_of(l) + l.finite)
		magnitude = largest(l) + !l.finite;
	else
		magnitude =
		    (unsigned)scaled + ((unsigned)(exponent + bias_of(l) - 1) << l.mantissa_bits);
	if (magnitude > largest(l))
		magnitude = largest(l) + !l.finite;
	return sign | magnitude;
}

/* ---- rows of any type, as wide values and back ---- */

#define GD_LOAD(field, type) \
	for (uint64_t i = 0; i < count; i++) { \
		type element; \
		memcpy(&element, row + i * sizeof(element), sizeof(element)); \
		out[i].field = element; \
	} \
	break
#define GD_STORE(field, type) \
	for (uint64_t i = 0; i < count; i++) { \
		type element = (type)values[i].field; \
		memcpy(row + i * sizeof(element), &element, sizeof(element)); \
	} \
	break

static void load_small(uint32_t type, const char *row, uint64_t count, union value *out)
{
	struct small_float l = layout(type);
	unsigned bytes = gd_nccl_type_bytes(type);

	for (uint64_t i = 0; i < count; i++) {
		uint16_t bits = 0;

		memcpy(&bits, row + i * bytes, bytes);
		out[i].f = decode(l, bits);
	}
}

static void store_small(uint32_t type, const union value *values, uint64_t count, char *row)
{
	struct small_float l = layout(type);
	unsigned bytes = gd_nccl_type_bytes(type);

	for (uint64_t i = 0; i < count; i++) {
		uint16_t bits = (uint16_t)encode(l, values[i].f);

		memcpy(row + i * bytes, &bits, bytes);
	}
}

static void load(uint32_t type, const char *row, uint64_t count, union value *out)
{
	switch (type) {
	case GD_NCCL_Int8:
		GD_LOAD(i, int8_t);
	case GD_NCCL_Uint8:
		GD_LOAD(u, uint8_t);
	case GD_NCCL_Int32:
		GD_LOAD(i, int32_t);
	case GD_NCCL_Uint32:
		GD_LOAD(u, uint32_t);
	case GD_NCCL_Int64:
		GD_LOAD(i, int64_t);
	case GD_NCCL_Uint64:
		GD_LOAD(u, uint64_t);
	case GD_NCCL_Float32:
		GD_LOAD(f, float);
	case GD_NCCL_Float64:
		GD_LOAD(f, double);
	default:
		load_small(type, row, count, out);
	}
}

static void store(uint32_t type, const union value *values, uint64_t count, char *row)
{
	switch (type) {
	case GD_NCCL_Int8:
		GD_STORE(i, int8_t);
	case GD_NCCL_Uint8:
		GD_STORE(u, uint8_t);
	case GD_NCCL_Int32:
		GD_STORE(i, int32_t);
	case GD_NCCL_Uint32:
		GD_STORE(u, uint32_t);
	case GD_NCCL_Int64:
		GD_STORE(i, int64_t);
	case GD_NCCL_Uint64:
		GD_STORE(u, uint64_t);
	case GD_NCCL_Float32:
		GD_STORE(f, float);
	case GD_NCCL_Float64:
		GD_STORE(f, double);
	default:
		store_small(type, values, count, row);
	}
}

/* ---- operators ---- */

#define GD_COMBINE(field, sum, product, less) \
	for (uint64_t i = 0; i < count; i++) { \
		union value a = into[i], b = with[i]; \
		switch (op) { \
		case GD_NCCL_PROD: \
			into[i].field = product; \
			break; \
		case GD_NCCL_MAX: \
			into[i] = less ? b : a; \
			break; \
		case GD_NCCL_MIN: \
			into[i] = less ? a : b; \
			break; \
		default: \
			into[i].field = sum; \
		} \
	} \
	break

/* A NaN wins both ways. */
static bool float_less(uint32_t op, double a, double b)
{
	return a < b || isnan(op == GD_NCCL_MAX ? b : a);
}

static void combine(
    enum class class, uint32_t op, union value *into, const union value *with, uint64_t count)
{
	switch (class) {
	case FLOATING:
		GD_COMBINE(f, a.f + b.f, a.f * b.f, float_less(op, a.f, b.f));
	case SIGNED: /* wraps around in unsigned arithmetic */
		GD_COMBINE(u, a.u + b.u, a.u * b.u, a.i < b.i);
	case UNSIGNED:
		GD_COMBINE(u, a.u + b.u, a.u * b.u, a.u < b.u);
	}
}

/* The narrow sum is divided, as NCCL does it; 0 is not possible. */
static void divide(uint32_t type, union value *values, uint64_t count, int ranks)
{
	char narrow[8];

	for (uint64_t i = 0; i < count; i++) {
		if (class_of(type) == FLOATING) {
			values[i].f /= ranks;
			continue;
		}
		store(type, &values[i], 1, narrow);
		load(type, narrow, 1, &values[i]);
		if (class_of(type) == SIGNED)
			values[i].i /= ranks;
		else
			values[i].u /= (uint64_t)ranks;
	}
}

void gd_nccl_reduce(
    uint32_t type, uint32_t op, const char *const *from, int ranks, uint64_t count, char *result)
{
	union value sums[GD_CHUNK], others[GD_CHUNK];
	unsigned bytes = gd_nccl_type_bytes(type);

	for (uint64_t done = 0, part; done < count; done += part) {
		part = count - done < GD_CHUNK ? count - done : GD_CHUNK;
		load(type, from[0] + done * bytes, part, sums);
		for (int r = 1; r < ranks; r++) {
			load(type, from[r] + done * bytes, part, others);
			combine(class_of(type), op, sums, others, part);
		}
		if (op == GD_NCCL_AVG)
			divide(type, sums, part, ranks);
		store(type, sums, part, result + done * bytes);
	}
}

void gd_nccl_premultiply(const struct gd_nccl_task *task, char *row, int ranks)
{
	unsigned bytes = gd_nccl_type_bytes(task->type);
	uint64_t count = task->count;
	char scalar[8] = "";
	union value factor, value;

	if (!task->premultiply.used)
		return;
	memcpy(scalar, task->premultiply.value, sizeof(scalar));
	if (task->premultiply.address)
		gd_nccl_driver()->read(scalar, task->premultiply.address, bytes);
	load(task->type, scalar, 1, &factor);
	if (task->call == GD_NCCL_REDUCE_SCATTER)
		count *= (uint64_t)ranks;
	for (uint64_t i = 0; i < count; i++) {
		load(task->type, row + i * bytes, 1, &value);
		if (class_of(task->type) == FLOATING)
			value.f *= factor.f;
		else
			value.u *= factor.u;
		store(task->type, &value, 1, row + i * bytes);
	}
}
