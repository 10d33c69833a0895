/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers of device memory as the models of kernels compute with them: types by PyTorch's own
 * numbers (c10::ScalarType), types in mangled names, conversions.  Threads: any, no state.
 */
#ifndef GD_KERNEL_VALUES_H
#define GD_KERNEL_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* T(name, number, bytes, code in the Itanium mangling or 0) */
#define GD_SCALARS(T) \
	T(U8, 0, 1, 'h') \
	T(I8, 1, 1, 'a') \
	T(I16, 2, 2, 's') \
	T(I32, 3, 4, 'i') \
	T(I64, 4, 8, 'l') \
	T(HALF, 5, 2, 0) \
	T(FLOAT, 6, 4, 'f') \
	T(DOUBLE, 7, 8, 'd') \
	T(BOOL, 11, 1, 'b') \
	T(BF16, 15, 2, 0) \
	T(U16, 27, 2, 't') \
	T(U32, 28, 4, 'j') \
	T(U64, 29, 8, 'm')

enum gd_scalar {
#define GD_SCALAR_ENUM(name, number, bytes, code) GD_SCALAR_##name = number,
	GD_SCALARS(GD_SCALAR_ENUM)
#undef GD_SCALAR_ENUM
	    GD_SCALAR_NONE = 255
};

/* A whole number or a floating point one. */
struct gd_number {
	bool floating;
	union {
		int64_t whole; /* else */
		double real;   /* floating */
	};
};

/** @return bytes of a type, 0 for one that is not modelled */
unsigned gd_scalar_bytes(unsigned type);

/** @return whether numbers of the type have a fraction */
bool gd_scalar_floating(unsigned type);

/** @return the type that PyTorch computes in: float for half and bfloat16, else the type */
unsigned gd_scalar_computed(unsigned type);

/**
 * Read a type out of a mangled name.
 *
 * @param name  the whole name, for substitutions
 * @param at    where the type begins; moved behind it on success
 * @return its number or GD_SCALAR_NONE
 */
unsigned gd_scalar_of_name(const char *name, const char **at);

/** Read and write one number; writing converts as C++ does, floats into floats by rounding. */
struct gd_number gd_scalar_load(unsigned type, const void *from);
void gd_scalar_store(unsigned type, void *to, struct gd_number value);

/** The same for a row of them, one behind the other. */
void gd_scalar_load_row(
    unsigned type, const char *from, uint32_t count, struct gd_number *numbers_out);
void gd_scalar_store_row(unsigned type, char *to, uint32_t count, const struct gd_number *numbers);

/** @return the number as a value of the type would have it */
struct gd_number gd_scalar_convert(unsigned type, struct gd_number value);

struct gd_number gd_number_of(double real);
struct gd_number gd_number_whole(int64_t whole);
double gd_number_real(struct gd_number value);
bool gd_number_true(struct gd_number value);

#endif
