/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that a program's allocator hands out begin as zeros. */
#include "shim/dryrun/capture.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/launcher_api.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/unknown_results.h"

struct range {
	uint64_t address, bytes;
};

static void clear_effect(const void *argument)
{
	const struct range *range = argument;
	gd_space_clear(range->address, range->bytes);
}

static bool valid(uint64_t address, size_t bytes)
{
	return bytes && gd_space_holds(address) && bytes <= gd_space_bytes &&
	       gd_space_holds(address + bytes - 1) && !gd_gate_forked();
}

GD_EXPORT void gpushim_dryrun_clear(void *address, size_t bytes)
{
	uint64_t at = (uint64_t)(uintptr_t)address;
	if (!valid(at, bytes))
		return;
	gd_space_clear(at, bytes);
	gd_result_handed_out(at, bytes);
}

/* The default stream is that of the memory's device: no context need be current. */
static struct gd_stream *find_stream(CUstream handle, uint64_t address)
{
	struct gd_stream *stream = NULL;
	const struct gd_block *block = gd_memory_behind(address);
	if (!handle || handle == CU_STREAM_LEGACY)
		return block ? gd_context_primary(block->device)->legacy : NULL;
	return gd_stream_get(handle, false, &stream) == CUDA_SUCCESS ? stream : NULL;
}

GD_EXPORT void gpushim_dryrun_clear_in_order(
    void *address, size_t bytes, void *(*stream_of)(void *user), void *user)
{
	uint64_t at = (uint64_t)(uintptr_t)address;
	struct range range = {at, bytes};
	struct gd_operation nothing = {.kind = GD_OPERATION_SILENT};
	if (!valid(at, bytes))
		return;
	struct gd_stream *stream =
	    gd_queue_any() ? find_stream((CUstream)stream_of(user), at) : NULL;
	if (!stream || gd_capture_touches(stream))
		gd_space_clear(at, bytes);
	else
		gd_enqueue(stream, &nothing, clear_effect, &range, sizeof(range));
	gd_result_handed_out(at, bytes);
}
