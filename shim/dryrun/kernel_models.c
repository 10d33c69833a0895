/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/kernel_models.h"

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/copies.h"
#include "shim/dryrun/device_memory.h"

struct gd_kernel_model {
	const char *parts[2]; /* both must be in the name, in this order */
	bool (*recognise)(
	    const char *after, struct gd_model_match *match); /* text behind parts[1] */
	void (*run)(const struct gd_model_match *match, const char *const *arguments);
};

/* Builtin types in the Itanium mangling. */
static unsigned builtin_bytes(char code)
{
	switch (code) {
	case 'a': /* signed char */
	case 'b': /* bool */
	case 'c':
	case 'h': /* unsigned char */
		return 1;
	case 's':
	case 't':
		return 2;
	case 'f':
	case 'i':
	case 'j':
		return 4;
	case 'd':
	case 'l':
	case 'm':
	case 'x':
	case 'y':
		return 8;
	default:
		return 0;
	}
}

struct class_type {
	const char *mangled;
	unsigned bytes;
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

/* Size of the type at the start of a piece of mangled name; 0 when it is none we know. */
static unsigned type_bytes(const char *text)
{
	for (size_t i = 0; i < sizeof(class_types) / sizeof(class_types[0]); i++) {
		if (strncmp(text, class_types[i].mangled, strlen(class_types[i].mangled)) == 0)
			return class_types[i].bytes;
	}
	return builtin_bytes(*text);
}

/* vectorized_elementwise_kernel<vec, FillFunctor<T>, std::array<char *, 1>>(int, FillFunctor<T>,
 * std::array<char *, 1>): one value into a row of elements.  Rows that are not aligned go through
 * unrolled_elementwise_kernel, whose arguments begin alike. */
static bool recognise_fill(const char *after, struct gd_model_match *match)
{
	unsigned bytes = type_bytes(after);
	if (!bytes)
		return false;
	match->element_bytes = (uint8_t)bytes;
	match->argument_count = 3;
	match->argument_bytes[0] = 4;
	match->argument_bytes[1] = (uint8_t)bytes;
	match->argument_bytes[2] = 8;
	return true;
}

static void run_fill(const struct gd_model_match *match, const char *const *arguments)
{
	int32_t count;
	uint64_t address, bytes;
	memcpy(&count, arguments[0], sizeof(count));
	memcpy(&address, arguments[2], sizeof(address));
	if (count <= 0)
		return;
	bytes = (uint64_t)count * match->element_bytes;
	if (!gd_space_holds(address) || !gd_memory_range(address, bytes))
		return;
	static const char zeros[16];
	if (bytes > gd_copies_limit() && memcmp(arguments[1], zeros, match->element_bytes) != 0)
		gd_space_clear(address, bytes);
	else
		gd_space_fill(address, arguments[1], match->element_bytes, (size_t)count);
}

static const struct gd_kernel_model models[] = {
    {{"vectorized_elementwise_kernel", "11FillFunctorI"}, recognise_fill, run_fill},
    {{"unrolled_elementwise_kernel", "11FillFunctorI"}, recognise_fill, run_fill},
};

void gd_model_find(const char *name, struct gd_model_match *match_out)
{
	memset(match_out, 0, sizeof(*match_out));
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		const char *first = strstr(name, models[i].parts[0]);
		const char *second = first ? strstr(first, models[i].parts[1]) : NULL;
		if (second && models[i].recognise(second + strlen(models[i].parts[1]), match_out)) {
			match_out->model = &models[i];
			return;
		}
	}
}

static size_t aligned(size_t offset, unsigned bytes)
{
	size_t alignment = bytes & -bytes;
	if (alignment > 16)
		alignment = 16;
	return (offset + alignment - 1) & ~(alignment - 1);
}

size_t gd_model_argument_bytes(const struct gd_model_match *match)
{
	size_t offset = 0;
	for (unsigned i = 0; i < match->argument_count; i++)
		offset = aligned(offset, match->argument_bytes[i]) + match->argument_bytes[i];
	return offset;
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

bool gd_model_gather(
    const struct gd_model_match *match, void **parameters, void **extra, char *buffer)
{
	size_t total = gd_model_argument_bytes(match), offset = 0;
	const char *packed = buffer_of(extra, total);
	if (packed)
		memcpy(buffer, packed, total);
	if (packed || !parameters)
		return packed != NULL;
	for (unsigned i = 0; i < match->argument_count; i++) {
		offset = aligned(offset, match->argument_bytes[i]);
		memcpy(buffer + offset, parameters[i], match->argument_bytes[i]);
		offset += match->argument_bytes[i];
	}
	return true;
}

void gd_model_run(const struct gd_model_match *match, const char *buffer)
{
	const char *arguments[GD_MODEL_ARGUMENTS];
	size_t offset = 0;
	for (unsigned i = 0; i < match->argument_count; i++) {
		offset = aligned(offset, match->argument_bytes[i]);
		arguments[i] = buffer + offset;
		offset += match->argument_bytes[i];
	}
	match->model->run(match, arguments);
}
