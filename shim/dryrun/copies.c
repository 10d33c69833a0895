/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/copies.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/graphs.h"
#include "shim/dryrun/host_memory.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/unknown_results.h"

static uint64_t real_limit = UINT64_C(1) << 20;

void gd_copies_start(void)
{
	const char *text = getenv("GPUSHIM_DRYRUN_REAL_COPY");
	char *end;
	if (!text || !*text)
		return;
	uint64_t value = strtoull(text, &end, 10);
	if (*text < '0' || *text > '9' || *end)
		fprintf(stderr, "gpushim dryrun: GPUSHIM_DRYRUN_REAL_COPY: not a number: \"%s\"\n",
		    text);
	else
		real_limit = value;
}

uint64_t gd_copies_limit(void)
{
	return real_limit;
}

struct gd_side gd_side_of(uint64_t address)
{
	struct gd_side side = {.address = address};
	struct gd_host_range range;
	if (gd_space_holds(address)) {
		const struct gd_block *block = gd_memory_behind(address);
		side.kind = GD_MEMORY_DEVICE;
		side.device = block ? block->device : 0;
		side.in_space = true;
	} else if (gd_host_find(address, &range)) {
		side.kind = range.kind == GD_HOST_MANAGED ? GD_MEMORY_MANAGED : GD_MEMORY_PINNED;
		side.device = range.device;
	}
	return side;
}

struct gd_copy gd_copy_linear(uint64_t to, uint64_t from, uint64_t bytes)
{
	struct gd_copy copy = {.to = gd_side_of(to), .from = gd_side_of(from)};
	copy.width = copy.to.pitch = copy.from.pitch = bytes;
	copy.to.slice = copy.from.slice = bytes;
	copy.height = copy.depth = 1;
	return copy;
}

static bool whole(const struct gd_copy *copy)
{
	return (copy->height == 1 ||
		   (copy->to.pitch == copy->width && copy->from.pitch == copy->width)) &&
	       (copy->depth == 1 || (copy->to.slice == copy->width * copy->height &&
					copy->from.slice == copy->width * copy->height));
}

static void read_back(void *target, uint64_t from, uint64_t bytes)
{
	gd_result_read(from, bytes);
	gd_space_load(target, from, bytes);
}

/* One row; `real` says whether bytes that go into device memory are kept. */
static void move_row(const struct gd_side *to, uint64_t to_address, const struct gd_side *from,
    uint64_t from_address, uint64_t bytes, bool real)
{
	void *target = (void *)(uintptr_t)to_address;
	const void *source = (const void *)(uintptr_t)from_address;
	if (!to->in_space && !from->in_space)
		memmove(target, source, bytes);
	else if (!to->in_space)
		read_back(target, from_address, bytes);
	else if (!real)
		gd_space_clear(to_address, bytes);
	else if (from->in_space)
		gd_space_move(to_address, from_address, bytes);
	else
		gd_space_store(to_address, source, bytes);
}

void gd_copy_effect(const void *argument)
{
	const struct gd_copy *copy = argument;
	bool real = gd_copy_bytes(copy) <= real_limit;
	if (whole(copy)) {
		move_row(&copy->to, copy->to.address, &copy->from, copy->from.address,
		    gd_copy_bytes(copy), real);
		return;
	}
	for (uint64_t z = 0; z < copy->depth; z++) {
		for (uint64_t y = 0; y < copy->height; y++)
			move_row(&copy->to,
			    copy->to.address + z * copy->to.slice + y * copy->to.pitch, &copy->from,
			    copy->from.address + z * copy->from.slice + y * copy->from.pitch,
			    copy->width, real);
	}
}

void gd_memset_effect(const void *argument)
{
	const struct gd_memset *set = argument;
	uint64_t bytes = set->width * set->height * set->element;
	bool real = set->value == 0 || bytes <= real_limit;
	uint64_t rows = set->height, width = set->width;
	if (rows > 1 && set->pitch == width * set->element) {
		width *= rows;
		rows = 1;
	}
	for (uint64_t y = 0; y < rows; y++) {
		uint64_t address = set->address + y * set->pitch;
		if (set->in_space && !real) {
			gd_space_clear(address, width * set->element);
		} else if (set->in_space) {
			gd_space_fill(address, &set->value, set->element, width);
		} else {
			char *target = (char *)(uintptr_t)address;
			for (uint64_t x = 0; x < width; x++)
				memcpy(target + x * set->element, &set->value, set->element);
		}
	}
}

/* Bytes from the first to behind the last; false when that does not fit in 64 bits. */
static bool extent(const struct gd_side *side, const struct gd_copy *copy, uint64_t *bytes_out)
{
	uint64_t slices, rows;
	if (__builtin_mul_overflow(copy->depth - 1, side->slice, &slices) ||
	    __builtin_mul_overflow(copy->height - 1, side->pitch, &rows))
		return false;
	return !__builtin_add_overflow(slices, rows, bytes_out) &&
	       !__builtin_add_overflow(*bytes_out, copy->width, bytes_out);
}

static bool side_fits(const struct gd_side *side, const struct gd_copy *copy)
{
	uint64_t bytes;
	if (!extent(side, copy, &bytes) || !side->address)
		return false;
	return !side->in_space || gd_memory_range(side->address, bytes);
}

CUresult gd_copy_check(const struct gd_copy *copy)
{
	bool fits = side_fits(&copy->to, copy) && side_fits(&copy->from, copy);
	return fits ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void gd_copy_describe(const struct gd_copy *copy, struct gd_operation *operation_out)
{
	memset(operation_out, 0, sizeof(*operation_out));
	operation_out->kind = GD_OPERATION_COPY;
	operation_out->from = copy->from.kind;
	operation_out->to = copy->to.kind;
	operation_out->device = copy->from.in_space ? copy->from.device : copy->to.device;
	operation_out->from_device = operation_out->device;
	operation_out->to_device = copy->to.in_space ? copy->to.device : operation_out->device;
	operation_out->bytes = gd_copy_bytes(copy);
}

/* A copy with the bytes it brings along. */
struct staged {
	struct gd_copy copy;
	char bytes[];
};

static void staged_effect(const void *argument)
{
	const struct staged *staged = argument;
	struct gd_copy copy = staged->copy;
	copy.from.address = (uint64_t)(uintptr_t)staged->bytes;
	gd_copy_effect(&copy);
}

/* Bytes of pageable memory are taken when the call is made: the copy may have to wait. */
static void enqueue_staged(
    struct gd_stream *stream, const struct gd_operation *operation, const struct gd_copy *copy)
{
	uint64_t bytes = gd_copy_bytes(copy);
	struct staged *staged = malloc(sizeof(*staged) + bytes);
	if (!staged) {
		gd_stream_wait(stream);
		gd_enqueue(stream, operation, gd_copy_effect, copy, sizeof(*copy));
		return;
	}
	staged->copy = *copy;
	struct gd_copy gather = *copy;
	gather.to = gd_side_of((uint64_t)(uintptr_t)staged->bytes);
	gather.to.in_space = false;
	gather.to.pitch = copy->width;
	gather.to.slice = copy->width * copy->height;
	gd_copy_effect(&gather);
	staged->copy.from.pitch = gather.to.pitch;
	staged->copy.from.slice = gather.to.slice;
	gd_enqueue(stream, operation, staged_effect, staged, sizeof(*staged) + bytes);
	free(staged);
}

/* @return whether *result_out is the answer; otherwise the copy is to be enqueued as usual. */
static bool capture_copy(
    struct gd_stream *stream, const struct gd_copy *copy, bool wait, CUresult *result_out)
{
	if (wait) {
		*result_out = gd_capture_refuse_unsafe();
		if (*result_out == CUDA_SUCCESS)
			*result_out = gd_capture_refuse_stream(stream);
		return *result_out != CUDA_SUCCESS;
	}
	if (!gd_capture_touches(stream))
		return false;
	struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_MEMCPY, .copy = *copy};
	*result_out = gd_capture_add(stream, &work);
	return *result_out != CUDA_ERROR_NOT_READY;
}

static void count_copy(const struct gd_stream *stream, uint64_t bytes)
{
	GD_COUNT(stream->device, copies, 1);
	GD_COUNT(stream->device, copy_bytes, bytes);
}

CUresult gd_copy_enqueue(struct gd_stream *stream, const struct gd_copy *copy, bool wait)
{
	struct gd_operation operation;
	CUresult result = CUDA_SUCCESS;
	uint64_t bytes = gd_copy_bytes(copy);
	if (!bytes)
		return wait ? gd_capture_refuse_stream(stream) : CUDA_SUCCESS;
	result = gd_copy_check(copy);
	if (result != CUDA_SUCCESS)
		return result;
	if (!gd_capture_none() && capture_copy(stream, copy, wait, &result)) {
		if (result == CUDA_SUCCESS)
			count_copy(stream, bytes);
		return result;
	}
	count_copy(stream, bytes);
	gd_copy_describe(copy, &operation);
	operation.asynchronous = !wait;
	if (!gd_operations_simple() && copy->from.kind == GD_MEMORY_PAGEABLE &&
	    bytes <= real_limit && copy->to.in_space)
		enqueue_staged(stream, &operation, copy);
	else
		gd_enqueue(stream, &operation, gd_copy_effect, copy, sizeof(*copy));
	/* The host waits for copies that touch its memory, but not for one inside the device;
	 * nothing may arrive in pageable memory after the call. */
	bool host = !copy->to.in_space || !copy->from.in_space;
	if ((wait && host) ||
	    (!gd_operations_simple() && !copy->to.in_space && copy->to.kind == GD_MEMORY_PAGEABLE))
		gd_stream_wait(stream);
	return CUDA_SUCCESS;
}

CUresult gd_memset_check(const struct gd_memset *set)
{
	uint64_t row, rows, bytes;
	if (!set->address || set->address % set->element ||
	    (set->height > 1 && set->pitch % set->element) ||
	    __builtin_mul_overflow(set->width, set->element, &row) ||
	    (set->height > 1 && set->pitch < row) ||
	    __builtin_mul_overflow(set->height - 1, set->pitch, &rows) ||
	    __builtin_add_overflow(row, rows, &bytes))
		return CUDA_ERROR_INVALID_VALUE;
	if (set->in_space)
		return gd_memory_range(set->address, bytes) ? CUDA_SUCCESS
							    : CUDA_ERROR_INVALID_VALUE;
	struct gd_host_range range;
	bool known = gd_host_find(set->address, &range) &&
		     bytes <= range.bytes - (set->address - range.start);
	return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

void gd_memset_describe(const struct gd_memset *set, struct gd_operation *operation_out)
{
	memset(operation_out, 0, sizeof(*operation_out));
	operation_out->kind = GD_OPERATION_MEMSET;
	operation_out->to = gd_side_of(set->address).kind;
	operation_out->value = set->value;
	operation_out->bytes = set->width * set->height * set->element;
}

CUresult gd_memset_enqueue(struct gd_stream *stream, const struct gd_memset *set, bool wait)
{
	struct gd_operation operation;
	if (!set->width || !set->height)
		return CUDA_SUCCESS;
	CUresult result = gd_memset_check(set);
	if (result == CUDA_SUCCESS && wait && !gd_capture_none()) {
		result = gd_capture_refuse_unsafe();
		if (result == CUDA_SUCCESS)
			result = gd_capture_refuse_stream(stream);
	}
	if (result != CUDA_SUCCESS)
		return result;
	if (!wait && gd_capture_touches(stream)) {
		struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_MEMSET, .set = *set};
		result = gd_capture_add(stream, &work);
		if (result == CUDA_SUCCESS)
			GD_COUNT(stream->device, memsets, 1);
		if (result != CUDA_ERROR_NOT_READY)
			return result;
	}
	GD_COUNT(stream->device, memsets, 1);
	gd_memset_describe(set, &operation);
	gd_enqueue(stream, &operation, gd_memset_effect, set, sizeof(*set));
	return CUDA_SUCCESS;
}
