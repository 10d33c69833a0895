/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/host_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"

/* Ranges in order of address; they never overlap. */
static struct gd_host_range *ranges;
static size_t range_count, range_room;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;

/* Index of the first range that starts above the address. */
static size_t above(uint64_t address)
{
	size_t low = 0, high = range_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (ranges[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct gd_host_range *find(uint64_t address)
{
	size_t next = above(address);
	if (!next || address - ranges[next - 1].start >= ranges[next - 1].bytes)
		return NULL;
	return &ranges[next - 1];
}

bool gd_host_find(uint64_t address, struct gd_host_range *range_out)
{
	if (!__atomic_load_n(&range_count, __ATOMIC_ACQUIRE))
		return false;
	pthread_rwlock_rdlock(&lock);
	const struct gd_host_range *range = find(address);
	if (range)
		*range_out = *range;
	pthread_rwlock_unlock(&lock);
	return range != NULL;
}

void gd_host_advise(uint64_t address, const struct gd_host_advice *advice)
{
	pthread_rwlock_wrlock(&lock);
	struct gd_host_range *range = (struct gd_host_range *)find(address);
	if (range)
		range->advice = *advice;
	pthread_rwlock_unlock(&lock);
}

static CUresult insert(const struct gd_host_range *range)
{
	CUresult result = CUDA_SUCCESS;
	pthread_rwlock_wrlock(&lock);
	size_t at = above(range->start);
	if ((at && range->start - ranges[at - 1].start < ranges[at - 1].bytes) ||
	    (at < range_count && ranges[at].start - range->start < range->bytes)) {
		result = CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
	} else if (range_count == range_room) {
		size_t room = range_room ? range_room * 2 : 64;
		void *more = realloc(ranges, room * sizeof(*ranges));
		if (more) {
			ranges = more;
			range_room = room;
		} else {
			result = CUDA_ERROR_OUT_OF_MEMORY;
		}
	}
	if (result == CUDA_SUCCESS) {
		memmove(&ranges[at + 1], &ranges[at], (range_count - at) * sizeof(*ranges));
		ranges[at] = *range;
		__atomic_store_n(&range_count, range_count + 1, __ATOMIC_RELEASE);
	}
	pthread_rwlock_unlock(&lock);
	return result;
}

static void withdraw(size_t at)
{
	memmove(&ranges[at], &ranges[at + 1], (range_count - at - 1) * sizeof(*ranges));
	__atomic_store_n(&range_count, range_count - 1, __ATOMIC_RELEASE);
}

/* Take out the range of that kind that starts at the address. */
static bool take_out(uint64_t address, enum gd_host_kind kind, struct gd_host_range *range_out)
{
	bool found = false;
	pthread_rwlock_wrlock(&lock);
	size_t next = above(address);
	if (next && ranges[next - 1].start == address && ranges[next - 1].kind == kind) {
		*range_out = ranges[next - 1];
		withdraw(next - 1);
		found = true;
	}
	pthread_rwlock_unlock(&lock);
	return found;
}

static void give_back(const struct gd_host_range *range)
{
	if (range->charged_bytes)
		gd_budget_give(range->device, range->charged_bytes, false);
	if (range->kind != GD_HOST_REGISTERED)
		munmap((void *)(uintptr_t)range->start, range->bytes);
}

void gd_host_drop_context(const struct gd_context *context)
{
	pthread_rwlock_wrlock(&lock);
	for (size_t i = range_count; i-- > 0;) {
		if (ranges[i].context_id != context->id)
			continue;
		give_back(&ranges[i]);
		withdraw(i);
	}
	pthread_rwlock_unlock(&lock);
}

static CUresult add(const struct gd_context *context, uint64_t start, uint64_t bytes,
    enum gd_host_kind kind, unsigned flags)
{
	struct gd_host_range range = {.start = start,
	    .bytes = bytes,
	    .kind = kind,
	    .flags = flags,
	    .device = context->device,
	    .context_id = context->id,
	    .id = gd_next_id()};
	if (kind == GD_HOST_MANAGED)
		range.charged_bytes = gd_budget_take_some(
		    context->device, gd_memory_rounded(bytes), gd_facts.total_bytes);
	CUresult result = insert(&range);
	if (result != CUDA_SUCCESS && range.charged_bytes)
		gd_budget_give(context->device, range.charged_bytes, false);
	return result;
}

static CUresult map_new(const struct gd_context *context, size_t bytes, enum gd_host_kind kind,
    unsigned flags, void **memory_out)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (memory == MAP_FAILED)
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = add(context, (uint64_t)(uintptr_t)memory, bytes, kind, flags);
	if (result == CUDA_SUCCESS)
		*memory_out = memory;
	else
		munmap(memory, bytes);
	return result;
}

void *gd_host_new_managed(const struct gd_context *context, size_t bytes)
{
	void *memory = NULL;
	map_new(context, bytes, GD_HOST_MANAGED, CU_MEM_ATTACH_GLOBAL, &memory);
	return memory;
}

static void tell(const struct gd_host_range *range, enum gd_notice_kind kind)
{
	if (gd_watched())
		gd_notice_send(&(struct gd_notice){.kind = kind,
		    .device = range->device,
		    .context_id = range->context_id,
		    .memory = range->kind == GD_HOST_MANAGED ? GD_MEMORY_MANAGED : GD_MEMORY_PINNED,
		    .address = range->start,
		    .bytes = range->bytes});
}

static CUresult allocate(void **memory_out, size_t bytes, enum gd_host_kind kind, unsigned flags)
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	if (!memory_out || !bytes)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = gd_gate_size(bytes);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_unsafe();
	if (result == CUDA_SUCCESS)
		result = map_new(context, bytes, kind, flags, memory_out);
	struct gd_host_range range;
	if (result == CUDA_SUCCESS && gd_watched() &&
	    gd_host_find((uint64_t)(uintptr_t)*memory_out, &range))
		tell(&range, GD_NOTICE_ALLOCATED);
	return result;
}

GD_API(cuMemAllocHost_v2, (void **memory_out, size_t bytes), (memory_out, bytes))
{
	return allocate(memory_out, bytes, GD_HOST_PINNED,
	    CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

GD_API(cuMemHostAlloc, (void **memory_out, size_t bytes, unsigned int flags),
    (memory_out, bytes, flags))
{
	if (flags & ~(unsigned)(CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP |
				CU_MEMHOSTALLOC_WRITECOMBINED))
		return CUDA_ERROR_INVALID_VALUE;
	/* With unified addresses every allocation is portable and mapped. */
	return allocate(memory_out, bytes, GD_HOST_PINNED,
	    flags | CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
}

GD_API(cuMemFreeHost, (void *memory), (memory))
{
	struct gd_host_range range;
	if (!gd_context_current())
		return gd_context_error();
	if (!memory)
		return CUDA_SUCCESS;
	CUresult result = gd_capture_refuse_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	if (!gd_device_wait(-1)) /* queued copies may still use it, on every device */
		return CUDA_ERROR_NOT_PERMITTED;
	if (!take_out((uint64_t)(uintptr_t)memory, GD_HOST_PINNED, &range))
		return CUDA_ERROR_INVALID_VALUE;
	tell(&range, GD_NOTICE_FREED);
	give_back(&range);
	return CUDA_SUCCESS;
}

GD_API(cuMemAllocManaged, (CUdeviceptr * address_out, size_t bytes, unsigned int flags),
    (address_out, bytes, flags))
{
	void *memory;
	if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = allocate(address_out ? &memory : NULL, bytes, GD_HOST_MANAGED, flags);
	if (result != CUDA_SUCCESS)
		return result;
	*address_out = (CUdeviceptr)(uintptr_t)memory;
	GD_COUNT(gd_context_current()->device, mallocs, 1);
	return CUDA_SUCCESS;
}

CUresult gd_host_free_managed(uint64_t address)
{
	struct gd_host_range range;
	if (!take_out(address, GD_HOST_MANAGED, &range))
		return CUDA_ERROR_INVALID_VALUE;
	GD_COUNT(range.device, frees, 1);
	tell(&range, GD_NOTICE_FREED);
	give_back(&range);
	return CUDA_SUCCESS;
}

static CUresult register_memory(void *memory, size_t bytes, unsigned flags)
{
	struct gd_context *context = gd_context_current();
	const unsigned known = CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP |
			       CU_MEMHOSTREGISTER_IOMEMORY | CU_MEMHOSTREGISTER_READ_ONLY;
	if (!context)
		return gd_context_error();
	if (!memory || !bytes || flags & ~known)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = gd_capture_refuse_unsafe();
	if (result != CUDA_SUCCESS)
		return result;
	return add(context, (uint64_t)(uintptr_t)memory, bytes, GD_HOST_REGISTERED, flags);
}

GD_API(
    cuMemHostRegister_v2, (void *memory, size_t bytes, unsigned int flags), (memory, bytes, flags))
{
	return register_memory(memory, bytes, flags);
}

GD_API(cuMemHostRegister, (void *memory, size_t bytes, unsigned int flags), (memory, bytes, flags))
{
	return register_memory(memory, bytes, flags);
}

GD_API(cuMemHostUnregister, (void *memory), (memory))
{
	struct gd_host_range range;
	if (!gd_context_current())
		return gd_context_error();
	if (!memory)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_device_wait(-1))
		return CUDA_ERROR_NOT_PERMITTED;
	if (!take_out((uint64_t)(uintptr_t)memory, GD_HOST_REGISTERED, &range))
		return CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED;
	return CUDA_SUCCESS;
}

GD_API(cuMemHostGetDevicePointer_v2, (CUdeviceptr * address_out, void *memory, unsigned int flags),
    (address_out, memory, flags))
{
	struct gd_host_range range;
	if (!address_out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_host_find((uint64_t)(uintptr_t)memory, &range))
		return CUDA_ERROR_INVALID_VALUE;
	*address_out = (CUdeviceptr)(uintptr_t)memory;
	return CUDA_SUCCESS;
}

GD_API(cuMemHostGetFlags, (unsigned int *flags_out, void *memory), (flags_out, memory))
{
	struct gd_host_range range;
	if (!flags_out || !gd_host_find((uint64_t)(uintptr_t)memory, &range) ||
	    range.kind == GD_HOST_MANAGED)
		return CUDA_ERROR_INVALID_VALUE;
	*flags_out = range.flags;
	return CUDA_SUCCESS;
}
