/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arange: elementwise_kernel_with_index<int, F>(int N, F f, T *out) (RangeFactories.cu, 2.0
 * to 2.15).
 */
#include <stddef.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/kernel_functors.h"

struct sequence {
	uint64_t address;
	uint32_t count, type;
	union gd_functor_scalar start, step;
};

/* The type is what the pointer points to: the lambda's result, told by its place in the dispatch.
 * Floats hold start and step as floats, whole numbers as 64 bits. */
bool gd_sequence_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	static const struct {
		const char *lambda;
		uint8_t type;
	} places[] = {{"clEvENKUlvE1_clEvEUllE_", GD_SCALAR_I32},
	    {"clEvENKUlvE2_clEvEUllE_", GD_SCALAR_I64},
	    {"clEvENKUlvE5_clEvEUllE_", GD_SCALAR_FLOAT},
	    {"clEvENKUlvE4_clEvEUllE_", GD_SCALAR_DOUBLE}};
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		if (strstr(after, places[i].lambda)) {
			match->operation = 1;
			match->result = places[i].type;
		}
	}
	return match->operation;
}

size_t gd_sequence_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct sequence *s = plan;
	int32_t count;
	if (!launch->parameters)
		return 0;
	memcpy(&count, gd_model_argument(launch, 0), sizeof(count));
	memcpy(&s->address, gd_model_argument(launch, 2), sizeof(s->address));
	s->count = (uint32_t)count;
	s->type = match->result;
	if (!gd_model_grid_fits(launch, count) || count > GD_MODEL_ELEMENTS ||
	    !gd_model_memory(s->address, (uint64_t)s->count * gd_scalar_bytes(s->type)))
		return 0;
	const char *lambda = gd_model_argument(launch, 1);
	unsigned type = gd_scalar_floating(s->type) ? s->type : GD_SCALAR_I64;
	struct gd_number start = gd_scalar_load(type, lambda);
	struct gd_number step = gd_scalar_load(type, lambda + gd_scalar_bytes(type));
	s->start.whole = start.whole;
	s->step.whole = step.whole;
	if (start.floating) {
		s->start.real = start.real;
		s->step.real = step.real;
	}
	return sizeof(*s);
}

void gd_sequence_run(const void *plan, uint16_t author)
{
	const struct sequence *s = plan;
	unsigned bytes = gd_scalar_bytes(s->type);
	if (!gd_model_memory(s->address, (uint64_t)s->count * bytes))
		return;
	for (uint32_t i = 0; i < s->count; i++) {
		char value[8];
		struct gd_number number =
		    gd_scalar_floating(s->type)
			? gd_number_of(s->start.real + s->step.real * i)
			: gd_number_whole(s->start.whole + s->step.whole * (int64_t)i);
		gd_scalar_store(s->type, value, number);
		gd_space_store(s->address + (uint64_t)i * bytes, value, bytes);
	}
}
