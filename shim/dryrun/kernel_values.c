/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/kernel_values.h"

#include <math.h>
#include <string.h>

unsigned gd_scalar_bytes(unsigned type)
{
	switch (type) {
#define GD_SCALAR_BYTES(name, number, bytes, code) \
	case number: \
		return bytes;
		GD_SCALARS(GD_SCALAR_BYTES)
#undef GD_SCALAR_BYTES
	default:
		return 0;
	}
}

bool gd_scalar_floating(unsigned type)
{
	return type == GD_SCALAR_HALF || type == GD_SCALAR_FLOAT || type == GD_SCALAR_DOUBLE ||
	       type == GD_SCALAR_BF16;
}

unsigned gd_scalar_computed(unsigned type)
{
	return type == GD_SCALAR_HALF || type == GD_SCALAR_BF16 ? GD_SCALAR_FLOAT : type;
}

static unsigned builtin(char code)
{
	switch ((unsigned)(unsigned char)code) { /* no letter: a case that no code reaches */
#define GD_SCALAR_CODE(name, number, bytes, letter) \
	case (letter) ? (letter): \
		256 + (number) : return number;
		GD_SCALARS(GD_SCALAR_CODE)
#undef GD_SCALAR_CODE
	case 'x':
		return GD_SCALAR_I64;
	case 'c':
		return GD_SCALAR_I8;
	default:
		return GD_SCALAR_NONE;
	}
}

/* A substitution stands for a class named before; when only one fits it is that one. */
static unsigned substituted(const char *name)
{
	bool half = strstr(name, "N3c104HalfE") || strstr(name, "_4HalfE");
	bool brain = strstr(name, "N3c108BFloat16E") || strstr(name, "_8BFloat16E");
	if (half == brain)
		return GD_SCALAR_NONE;
	return half ? GD_SCALAR_HALF : GD_SCALAR_BF16;
}

/* N3c104HalfE, or NS5_4HalfE when c10 was named before. */
static unsigned nested(const char *text, size_t *length_out)
{
	const char *end = strchr(text, 'E');
	static const struct {
		const char *tail;
		unsigned type;
	} classes[] = {{"4Half", GD_SCALAR_HALF}, {"8BFloat16", GD_SCALAR_BF16}};
	for (size_t i = 0; end && i < 2; i++) {
		size_t tail = strlen(classes[i].tail);
		size_t length = (size_t)(end - text);
		bool space = strncmp(text, "N3c10", 5) == 0 || strncmp(text, "NS", 2) == 0;
		if (space && length > tail && length < 16 &&
		    memcmp(end - tail, classes[i].tail, tail) == 0) {
			*length_out = length + 1;
			return classes[i].type;
		}
	}
	return GD_SCALAR_NONE;
}

unsigned gd_scalar_of_name(const char *name, const char **at)
{
	size_t length = 1;
	unsigned type = builtin(**at);
	if (**at == 'N') {
		type = nested(*at, &length);
	} else if (**at == 'S') {
		length = strspn(*at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ") + 2;
		type = (*at)[length - 1] == '_' ? substituted(name) : GD_SCALAR_NONE;
	}
	if (type != GD_SCALAR_NONE)
		*at += length;
	return type;
}

struct gd_number gd_number_of(double real)
{
	return (struct gd_number){.floating = true, .real = real};
}

struct gd_number gd_number_whole(int64_t whole)
{
	return (struct gd_number){.whole = whole};
}

double gd_number_real(struct gd_number value)
{
	return value.floating ? value.real : (double)value.whole;
}

bool gd_number_true(struct gd_number value)
{
	return value.floating ? value.real != 0 : value.whole != 0;
}

/* What does not fit is undefined in C++; the device saturates. */
static int64_t whole_of(struct gd_number value)
{
	if (!value.floating)
		return value.whole;
	if (isnan(value.real))
		return 0;
	if (value.real >= 9223372036854775808.0)
		return INT64_MAX;
	return value.real < -9223372036854775808.0 ? INT64_MIN : (int64_t)value.real;
}

static double half_to_real(uint16_t bits)
{
	int exponent = bits >> 10 & 31;
	double fraction = bits & 1023, sign = bits & 0x8000 ? -1 : 1;
	if (exponent == 31)
		return fraction != 0 ? (double)NAN : sign * (double)INFINITY;
	return sign * (exponent ? ldexp(fraction + 1024, exponent - 25) : ldexp(fraction, -24));
}

/* To nearest, ties to even. */
static uint16_t real_to_half(double value)
{
	uint16_t sign = signbit(value) ? 0x8000 : 0;
	double size = fabs(value);
	int exponent;
	if (isnan(value))
		return 0x7fff;
	if (size >= 65520)
		return sign | 0x7c00;
	if (size < 0x1p-14)
		return sign | (uint16_t)nearbyint(ldexp(size, 24));
	frexp(size, &exponent); /* size is in [2^(exponent - 1), 2^exponent) */
	double fraction = nearbyint(ldexp(size, 11 - exponent));
	return sign | (uint16_t)(((exponent + 13) << 10) + (int)fraction);
}

static float brain_to_float(uint16_t bits)
{
	uint32_t wide = (uint32_t)bits << 16;
	float value;
	memcpy(&value, &wide, sizeof(value));
	return value;
}

static uint16_t float_to_brain(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof(bits));
	if (isnan(value))
		return 0x7fc0;
	return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* F(name, C type): types that C has. */
#define NATIVE_FLOATS(F) F(FLOAT, float) F(DOUBLE, double)
#define NATIVE_WHOLES(F) \
	F(U8, uint8_t) \
	F(I8, int8_t) \
	F(I16, int16_t) \
	F(I32, int32_t) \
	F(I64, int64_t) \
	F(U16, uint16_t) \
	F(U32, uint32_t) \
	F(U64, uint64_t)

struct gd_number gd_scalar_load(unsigned type, const void *from)
{
	uint16_t bits;
	switch (type) {
#define LOAD(name, ctype, make) \
	case GD_SCALAR_##name: { \
		ctype value; \
		memcpy(&value, from, sizeof(value)); \
		return make; \
	}
#define LOAD_FLOAT(name, ctype) LOAD(name, ctype, gd_number_of((double)value))
#define LOAD_WHOLE(name, ctype) LOAD(name, ctype, gd_number_whole((int64_t)value))
		NATIVE_FLOATS(LOAD_FLOAT)
		NATIVE_WHOLES(LOAD_WHOLE)
	case GD_SCALAR_BOOL:
		return gd_number_whole(*(const uint8_t *)from != 0);
	default:
		memcpy(&bits, from, sizeof(bits));
		return gd_number_of(
		    type == GD_SCALAR_HALF ? half_to_real(bits) : (double)brain_to_float(bits));
	}
}

void gd_scalar_store(unsigned type, void *to, struct gd_number value)
{
	uint16_t bits;
	switch (type) {
#define STORE(name, ctype, from) \
	case GD_SCALAR_##name: { \
		ctype stored = (ctype)(from); \
		memcpy(to, &stored, sizeof(stored)); \
		return; \
	}
#define STORE_FLOAT(name, ctype) STORE(name, ctype, gd_number_real(value))
#define STORE_WHOLE(name, ctype) STORE(name, ctype, whole_of(value))
		NATIVE_FLOATS(STORE_FLOAT)
		NATIVE_WHOLES(STORE_WHOLE)
	case GD_SCALAR_BOOL:
		*(uint8_t *)to = gd_number_true(value);
		return;
	default: /* by way of float, as PyTorch does */
		bits = type == GD_SCALAR_HALF ? real_to_half((double)(float)gd_number_real(value))
					      : float_to_brain((float)gd_number_real(value));
		memcpy(to, &bits, sizeof(bits));
	}
}

/* The type is asked for once: a row of bool or int64_t is what most masks and labels are. */
void gd_scalar_load_row(
    unsigned type, const char *from, uint32_t count, struct gd_number *numbers_out)
{
	unsigned bytes = gd_scalar_bytes(type);
	switch (type) {
#define LOAD_ROW(name, ctype, make) \
	case GD_SCALAR_##name: \
		for (uint32_t i = 0; i < count; i++) { \
			ctype value; \
			memcpy(&value, from + i * sizeof(value), sizeof(value)); \
			numbers_out[i] = make; \
		} \
		return;
		LOAD_ROW(FLOAT, float, gd_number_of((double)value))
		LOAD_ROW(I64, int64_t, gd_number_whole(value))
		LOAD_ROW(BOOL, uint8_t, gd_number_whole(value != 0))
	default:
		for (uint32_t i = 0; i < count; i++)
			numbers_out[i] = gd_scalar_load(type, from + i * bytes);
	}
}

void gd_scalar_store_row(unsigned type, char *to, uint32_t count, const struct gd_number *numbers)
{
	unsigned bytes = gd_scalar_bytes(type);
	switch (type) {
#define STORE_ROW(name, ctype, from) \
	case GD_SCALAR_##name: \
		for (uint32_t i = 0; i < count; i++) { \
			ctype value = (ctype)(from); \
			memcpy(to + i * sizeof(value), &value, sizeof(value)); \
		} \
		return;
		STORE_ROW(FLOAT, float, gd_number_real(numbers[i]))
		STORE_ROW(I64, int64_t, whole_of(numbers[i]))
		STORE_ROW(BOOL, uint8_t, gd_number_true(numbers[i]))
	default:
		for (uint32_t i = 0; i < count; i++)
			gd_scalar_store(type, to + i * bytes, numbers[i]);
	}
}

struct gd_number gd_scalar_convert(unsigned type, struct gd_number value)
{
	char bytes[8] = {0};
	gd_scalar_store(type, bytes, value);
	return gd_scalar_load(type, bytes);
}
