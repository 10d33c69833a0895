/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What PyTorch's element-wise kernels compute, told from the functor in their names, and the
 * arithmetic of it.  Threads: any, no state.
 */
#ifndef GD_KERNEL_FUNCTORS_H
#define GD_KERNEL_FUNCTORS_H

#include "shim/dryrun/kernel_model_parts.h"

enum gd_functor {
	GD_FUNCTOR_NONE,
	GD_FUNCTOR_COPY,
	GD_FUNCTOR_FILL,      /* scalar 0 */
	GD_FUNCTOR_ADD,	      /* a + scalar 0 * b */
	GD_FUNCTOR_ADD_SELF,  /* a + scalar 1 * scalar 0 */
	GD_FUNCTOR_ADD_OTHER, /* scalar 0 + scalar 1 * a */
	GD_FUNCTOR_MULTIPLY,
	GD_FUNCTOR_DIVIDE,
	GD_FUNCTOR_EQUAL,   /* variant 0 equal, 1 not equal */
	GD_FUNCTOR_COMPARE, /* variant 0 >=, 1 >, 2 <=, 3 < */
	GD_FUNCTOR_AND,
	GD_FUNCTOR_OR,
	GD_FUNCTOR_XOR,
	GD_FUNCTOR_LOGICAL_AND,
	GD_FUNCTOR_LOGICAL_OR,
	GD_FUNCTOR_LOGICAL_NOT,
	GD_FUNCTOR_NOT,
	GD_FUNCTOR_NEGATE,
	GD_FUNCTOR_ABSOLUTE,
	GD_FUNCTOR_RECIPROCAL,
	GD_FUNCTOR_SQUARE_ROOT,
	GD_FUNCTOR_FLOOR,
	GD_FUNCTOR_CEIL,
	GD_FUNCTOR_ROUND,
	GD_FUNCTOR_TRUNCATE,
	GD_FUNCTOR_SQUARE,
	GD_FUNCTOR_LARGER,
	GD_FUNCTOR_SMALLER,
	GD_FUNCTOR_WHERE,
	GD_FUNCTOR_CLAMP, /* variant 0 from below by scalar 0, 1 from above by scalar 1, 2 both */
	GD_FUNCTOR_MASKED_FILL,
	GD_FUNCTOR_REMAINDER,
	GD_FUNCTOR_FLOOR_DIVIDE,
};

/* The scalars of a functor; which half counts follows from its computing type. */
union gd_functor_scalar {
	double real;
	int64_t whole;
};

/**
 * Tell operation, types, inputs and form from a name; types[0] is GD_SCALAR_NONE when the functor
 * is unknown, operation then 0.
 */
void gd_functor_find(const char *name, struct gd_model_match *match);

/**
 * Read what a functor holds.
 *
 * @param functor  its bytes
 * @return its variant, 0 when it has none
 */
unsigned gd_functor_read(const struct gd_model_match *match, const char *functor,
    union gd_functor_scalar scalars_out[2]);

/** @return bytes of the functor in the arguments of a kernel */
unsigned gd_functor_bytes(const struct gd_model_match *match);

/* What computing takes beside the numbers. */
struct gd_functor_call {
	uint8_t operation, variant, computed;
	uint8_t side; /* where scalar 0 stands instead of a tensor: 0 nowhere, 1 left, 2 right */
	union gd_functor_scalar scalars[2];
};

/** Where scalar 0 stands in for a tensor, see gd_functor_call. */
unsigned gd_functor_side(const struct gd_model_match *match);

/**
 * Whether an element is known although not all of its inputs are: False and anything is False, True
 * or anything is True, and of two values only the one chosen counts.
 *
 * @param inputs  as for gd_functor_compute; unknown ones are zeros
 * @param known   which of them are known
 */
bool gd_functor_decided(const struct gd_functor_call *call, const struct gd_number inputs[3],
    const bool known[3]);

/** @return whether gd_functor_decided can ever say so */
bool gd_functor_may_decide(const struct gd_functor_call *call);

/**
 * Compute one element.
 *
 * @param inputs  as the functor takes them
 * @return the result, not yet of the type of the output
 */
struct gd_number gd_functor_compute(
    const struct gd_functor_call *call, const struct gd_number inputs[3]);

#endif
