/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One value into a row of elements: vectorized_elementwise_kernel<vec, FillFunctor<T>,
 * std::array<char *, 1>>(int, FillFunctor<T>, std::array<char *, 1>).  Rows that are not aligned go
 * through unrolled_elementwise_kernel, whose arguments begin alike.  The only model that also takes
 * arguments packed into a buffer, and the only one with a larger limit, that of copies.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/kernel_model_parts.h"

struct fill {
	uint64_t address;
	int32_t count;
	uint32_t element_bytes;
	char value[16];
};

struct class_type {
	const char *mangled;
	uint8_t bytes;
};
static const struct class_type class_types[] = {
    {"N3c104HalfE", 2},
    {"N3c108BFloat16E", 2},
    {"N3c107complexIfEE", 8},
    {"N3c107complexIdEE", 16},
    {"N3c107complexINS", 4}, /* of Half, of BFloat16 */
    {"N3c1011Float8_e5m2E", 1},
    {"N3c1013Float8_e4m3fnE", 1},
    {"N3c1014Float8_e8m0fnuE", 1},
    {"N3c1015Float8_e4m3fnuzE", 1},
    {"N3c1015Float8_e5m2fnuzE", 1},
};

/* The form is the size of an element. */
bool gd_fill_recognise(const char *name, const char *after, struct gd_model_match *match)
{
	for (size_t i = 0; i < sizeof(class_types) / sizeof(class_types[0]); i++) {
		if (strncmp(after, class_types[i].mangled, strlen(class_types[i].mangled)) == 0)
			match->form = class_types[i].bytes;
	}
	if (!match->form)
		match->form = (uint8_t)gd_scalar_bytes(gd_scalar_of_name(name, &after));
	match->operation = 1;
	return match->form != 0;
}

static const char *buffer_of(void **extra, size_t least)
{
	const char *buffer = NULL;
	size_t bytes = 0;
	for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
			bytes = *(const size_t *)extra[1];
	}
	return bytes >= least ? buffer : NULL;
}

static size_t aligned(size_t offset, size_t alignment)
{
	return (offset + alignment - 1) & ~(alignment - 1);
}

size_t gd_fill_plan(
    const struct gd_model_match *match, const struct gd_model_launch *launch, void *plan)
{
	struct fill *fill = plan;
	size_t bytes = match->form, value_at = aligned(4, bytes);
	size_t address_at = aligned(value_at + bytes, 8);
	const char *packed = buffer_of(launch->extra, address_at + 8);
	if (!packed && !launch->parameters)
		return 0;
	memcpy(&fill->count, packed ? packed : gd_model_argument(launch, 0), sizeof(fill->count));
	memcpy(fill->value, packed ? packed + value_at : gd_model_argument(launch, 1), bytes);
	memcpy(&fill->address, packed ? packed + address_at : gd_model_argument(launch, 2),
	    sizeof(fill->address));
	fill->element_bytes = (uint32_t)bytes;
	bool sound = fill->count > 0 &&
		     gd_model_memory(fill->address, (uint64_t)fill->count * fill->element_bytes);
	return sound ? sizeof(*fill) : 0;
}

void gd_fill_run(const void *plan, uint16_t author)
{
	static const char zeros[16];
	const struct fill *fill = plan;
	uint64_t bytes = (uint64_t)fill->count * fill->element_bytes;
	if (!gd_model_memory(fill->address, bytes))
		return;
	if (bytes > gd_copies_limit() && memcmp(fill->value, zeros, fill->element_bytes) != 0)
		gd_space_clear(fill->address, bytes);
	else
		gd_space_fill(fill->address, fill->value, fill->element_bytes, (size_t)fill->count);
}
