/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/ipc_memory.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_files.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/visible_devices.h"

_Static_assert(sizeof(struct gd_file_ticket) <= sizeof(CUipcMemHandle), "a handle holds a ticket");

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of imports and exports; outside memory */

bool gd_ipc_memory_capable(const struct gd_block *block)
{
	return block->kind == GD_BLOCK_PLAIN && !block->internal;
}

void gd_ipc_memory_ends(struct gd_block *block)
{
	if (!block->share_file)
		return;
	gd_space_unshare(block->base, block->slots);
	close(block->share_file - 1);
}

static void describe(const struct gd_block *block, struct gd_file_ticket *ticket)
{
	*ticket = (struct gd_file_ticket){.kind = GD_FILE_MEMORY,
	    .device = gd_physical[block->device],
	    .id = block->id,
	    .bytes = block->bytes};
}

/* Let a block lie in a file, once. */
static CUresult export_block(struct gd_block *block, struct gd_file_ticket *ticket_out)
{
	CUresult result = CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	if (block->share_file) {
		gd_file_ticket(block->share_file - 1, ticket_out);
	} else {
		describe(block, ticket_out);
		int file = gd_file_new(ticket_out, block->slots << GD_SLOT_SHIFT);
		if (file >= 0 && gd_space_share(block->base, block->slots, file, true)) {
			block->share_file = file + 1;
		} else {
			result = CUDA_ERROR_OUT_OF_MEMORY;
			if (file >= 0)
				close(file);
		}
	}
	pthread_mutex_unlock(&lock);
	return result;
}

/* @return the number that this process gives a device, -1 when it does not see it */
static int device_of(const struct gd_file_ticket *ticket)
{
	for (unsigned i = 0; i < gd_visible_count; i++) {
		if (gd_physical[i] == ticket->device)
			return (int)i;
	}
	return -1;
}

/* A new block that lies in the file, which becomes its own; the file is closed on failure. */
static CUresult import_block(const struct gd_context *context, enum gd_block_kind kind, int file,
    const struct gd_file_ticket *ticket, struct gd_block **block_out)
{
	int device = device_of(ticket);
	CUresult result = CUDA_ERROR_INVALID_DEVICE;
	if (device >= 0)
		result =
		    gd_memory_new(context, (unsigned)device, kind, ticket->bytes, 0, block_out);
	if (result != CUDA_SUCCESS) {
		close(file);
		return result;
	}
	(*block_out)->share_file = file + 1;
	(*block_out)->imported = true;
	if (gd_space_share((*block_out)->base, (*block_out)->slots, file, false))
		return CUDA_SUCCESS;
	gd_memory_delete(*block_out);
	return CUDA_ERROR_OUT_OF_MEMORY;
}

GD_API(cuIpcGetMemHandle, (CUipcMemHandle * handle_out, CUdeviceptr address), (handle_out, address))
{
	struct gd_file_ticket ticket;
	struct gd_block *block = gd_memory_at(address);
	if (!gd_context_current())
		return gd_context_error();
	if (!handle_out || !block || !gd_ipc_memory_capable(block))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = export_block(block, &ticket);
	if (result != CUDA_SUCCESS)
		return result;
	memset(handle_out, 0, sizeof(*handle_out));
	memcpy(handle_out, &ticket, sizeof(ticket));
	return CUDA_SUCCESS;
}

struct wanted {
	const struct gd_file_ticket *ticket;
	uint64_t context_id;
};

static bool is_wanted(const struct gd_block *block, const void *argument)
{
	const struct wanted *wanted = argument;
	struct gd_file_ticket ticket;
	return block->imported && block->kind == GD_BLOCK_PLAIN &&
	       block->context_id == wanted->context_id &&
	       gd_file_ticket(block->share_file - 1, &ticket) &&
	       ticket.pid == wanted->ticket->pid && ticket.id == wanted->ticket->id;
}

/* A context has one mapping of a handle, however often it is opened. */
static CUresult open_memory(
    CUdeviceptr *address_out, const struct gd_file_ticket *ticket, struct gd_context *context)
{
	const struct wanted wanted = {ticket, context->id};
	struct gd_block *block = gd_memory_find(is_wanted, &wanted);
	if (!block) {
		int file = gd_file_open(ticket);
		if (file < 0)
			return CUDA_ERROR_INVALID_HANDLE;
		CUresult result = import_block(context, GD_BLOCK_PLAIN, file, ticket, &block);
		if (result != CUDA_SUCCESS)
			return result;
		block->internal = true; /* cuMemFree refuses it */
	}
	block->references++;
	*address_out = block->base;
	return CUDA_SUCCESS;
}

static CUresult open_handle(CUdeviceptr *address_out, const CUipcMemHandle *handle, unsigned flags)
{
	struct gd_context *context = gd_context_current();
	struct gd_file_ticket ticket;
	memcpy(&ticket, handle, sizeof(ticket));
	if (!context)
		return gd_context_error();
	if (!address_out || flags & ~(unsigned)CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
		return CUDA_ERROR_INVALID_VALUE;
	if (ticket.kind != GD_FILE_MEMORY)
		return CUDA_ERROR_INVALID_HANDLE;
	if (ticket.pid == (int32_t)getpid())
		return CUDA_ERROR_INVALID_CONTEXT; /* only for other processes */
	pthread_mutex_lock(&lock);
	CUresult result = open_memory(address_out, &ticket, context);
	pthread_mutex_unlock(&lock);
	return result;
}

GD_API(cuIpcOpenMemHandle, (CUdeviceptr * address_out, CUipcMemHandle handle, unsigned int flags),
    (address_out, handle, flags))
{
	return open_handle(address_out, &handle, flags);
}

GD_API(cuIpcOpenMemHandle_v2,
    (CUdeviceptr * address_out, CUipcMemHandle handle, unsigned int flags),
    (address_out, handle, flags))
{
	return open_handle(address_out, &handle, flags);
}

GD_API(cuIpcCloseMemHandle, (CUdeviceptr address), (address))
{
	struct gd_block *block = gd_memory_at(address);
	if (!gd_context_current())
		return gd_context_error();
	if (!block || !block->imported || block->base != address)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_wait((int)block->device)) /* queued work may still use it */
		return CUDA_ERROR_NOT_PERMITTED;
	pthread_mutex_lock(&lock);
	bool last = --block->references == 0;
	if (last)
		gd_memory_delete(block);
	pthread_mutex_unlock(&lock);
	return CUDA_SUCCESS;
}

/* ---- memory of cuMemCreate, by file descriptors ---- */

GD_API(cuMemExportToShareableHandle,
    (void *handle_out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
	unsigned long long flags),
    (handle_out, handle, type, flags))
{
	struct gd_block *block = gd_object_get((const void *)(uintptr_t)handle, GD_TYPE_BLOCK);
	struct gd_file_ticket ticket;
	if (!handle_out || !block || block->kind != GD_BLOCK_PHYSICAL || flags ||
	    type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR || !block->exportable)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = export_block(block, &ticket);
	if (result != CUDA_SUCCESS)
		return result;
	int file = fcntl(block->share_file - 1, F_DUPFD_CLOEXEC, 0);
	if (file < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	memcpy(handle_out, &file, sizeof(file));
	return CUDA_SUCCESS;
}

GD_API(cuMemImportFromShareableHandle,
    (CUmemGenericAllocationHandle * handle_out, void *shareable, CUmemAllocationHandleType type),
    (handle_out, shareable, type))
{
	struct gd_file_ticket ticket;
	struct gd_block *block;
	int file = (int)(intptr_t)shareable;
	if (!handle_out || type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ||
	    !gd_file_ticket(file, &ticket) || ticket.kind != GD_FILE_MEMORY)
		return CUDA_ERROR_INVALID_VALUE;
	file = fcntl(file, F_DUPFD_CLOEXEC, 0);
	if (file < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	CUresult result = import_block(NULL, GD_BLOCK_PHYSICAL, file, &ticket, &block);
	if (result != CUDA_SUCCESS)
		return result;
	block->references = 1;
	block->exportable = true;
	*handle_out = (CUmemGenericAllocationHandle)(uintptr_t)block;
	return CUDA_SUCCESS;
}
