/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Virtual memory management: addresses are reserved, memory is created, the one is mapped to the
 * other.  Memory lives until it is released and unmapped; only then the budget gets it back.
 */
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/visible_devices.h"

static bool aligned(uint64_t value)
{
	return value % GD_SLOT_BYTES == 0;
}

static CUresult check_properties(const CUmemAllocationProp *properties)
{
	if (!properties || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!gd_location_visible(&properties->location))
		return CUDA_ERROR_INVALID_DEVICE;
	if (properties->requestedHandleTypes & ~(unsigned)CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
		return CUDA_ERROR_NOT_SUPPORTED;
	return CUDA_SUCCESS;
}

GD_API(cuMemGetAllocationGranularity,
    (size_t * granularity_out, const CUmemAllocationProp *properties,
	CUmemAllocationGranularity_flags option),
    (granularity_out, properties, option))
{
	CUresult result = check_properties(properties);
	if (result != CUDA_SUCCESS)
		return result;
	if (!granularity_out || (unsigned)option > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)
		return CUDA_ERROR_INVALID_VALUE;
	*granularity_out = GD_SLOT_BYTES;
	return CUDA_SUCCESS;
}

/* ---- addresses ---- */

/* A run with an alignment beyond a slot is cut out of a longer one. */
static struct gd_block *reserve(uint64_t bytes, uint64_t alignment)
{
	struct gd_block *block;
	uint64_t extra = alignment > GD_SLOT_BYTES ? alignment : 0;
	if (gd_memory_new(NULL, 0, GD_BLOCK_RESERVED, bytes + extra, 0, &block) != CUDA_SUCCESS)
		return NULL;
	if (!extra)
		return block;
	uint64_t start = (block->base + alignment - 1) / alignment * alignment;
	uint64_t before = (start - block->base) >> GD_SLOT_SHIFT;
	uint64_t after = block->slots - before - gd_slots(bytes);
	uint64_t end = start + (gd_slots(bytes) << GD_SLOT_SHIFT);
	gd_space_set_block(block->base, before, NULL);
	gd_space_set_block(end, after, NULL);
	if (before)
		gd_space_give(block->base, before);
	if (after)
		gd_space_give(end, after);
	block->base = start;
	block->slots = gd_slots(bytes);
	block->bytes = bytes;
	return block;
}

GD_API(cuMemAddressReserve,
    (CUdeviceptr * address_out, size_t bytes, size_t alignment, CUdeviceptr hint,
	unsigned long long flags),
    (address_out, bytes, alignment, hint, flags))
{
	if (!address_out || !bytes || !aligned(bytes) || flags || (alignment & (alignment - 1)))
		return CUDA_ERROR_INVALID_VALUE;
	if (bytes > UINT64_MAX / 4 || alignment > UINT64_MAX / 4)
		return CUDA_ERROR_OUT_OF_MEMORY;
	struct gd_block *block = reserve(bytes, alignment);
	if (!block)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*address_out = block->base;
	return CUDA_SUCCESS;
}

/* The reservation that holds a range, or NULL. */
static struct gd_block *reservation(uint64_t address, uint64_t bytes)
{
	struct gd_block *block = gd_memory_at(address);
	if (!block || block->kind != GD_BLOCK_RESERVED || !bytes || !aligned(address) ||
	    !aligned(bytes) || bytes > block->bytes - (address - block->base))
		return NULL;
	return block;
}

GD_API(cuMemAddressFree, (CUdeviceptr address, size_t bytes), (address, bytes))
{
	struct gd_block *block = reservation(address, bytes);
	if (!block || block->base != address || block->bytes != bytes || block->mapping_count)
		return CUDA_ERROR_INVALID_VALUE;
	gd_memory_delete(block);
	return CUDA_SUCCESS;
}

/* ---- memory ---- */

static struct gd_block *physical(CUmemGenericAllocationHandle handle)
{
	struct gd_block *block = gd_object_get((const void *)(uintptr_t)handle, GD_TYPE_BLOCK);
	return block && block->kind == GD_BLOCK_PHYSICAL ? block : NULL;
}

GD_API(cuMemCreate,
    (CUmemGenericAllocationHandle * handle_out, size_t bytes, const CUmemAllocationProp *properties,
	unsigned long long flags),
    (handle_out, bytes, properties, flags))
{
	struct gd_block *block;
	CUresult result = check_properties(properties);
	if (result != CUDA_SUCCESS)
		return result;
	if (!handle_out || !bytes || !aligned(bytes) || flags)
		return CUDA_ERROR_INVALID_VALUE;
	unsigned device = (unsigned)properties->location.id;
	result = gd_gate_size(bytes);
	if (result == CUDA_SUCCESS)
		result = gd_memory_new(NULL, device, GD_BLOCK_PHYSICAL, bytes, bytes, &block);
	if (result != CUDA_SUCCESS)
		return result;
	block->references = 1;
	block->exportable = properties->requestedHandleTypes != 0;
	GD_COUNT(device, mallocs, 1);
	*handle_out = (CUmemGenericAllocationHandle)(uintptr_t)block;
	return CUDA_SUCCESS;
}

/* @return whether nothing holds the memory any more; gd_memory_lock is held */
static bool unused(const struct gd_block *block)
{
	return !block->references && !block->mapped;
}

GD_API(cuMemRelease, (CUmemGenericAllocationHandle handle), (handle))
{
	struct gd_block *block = physical(handle);
	if (!block)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_memory_lock);
	bool held = block->references != 0;
	if (held)
		block->references--;
	bool end = held && unused(block);
	unsigned device = block->device;
	pthread_mutex_unlock(&gd_memory_lock);
	if (!held)
		return CUDA_ERROR_INVALID_VALUE;
	if (end)
		gd_memory_delete(block);
	GD_COUNT(device, frees, 1);
	return CUDA_SUCCESS;
}

GD_API(cuMemGetAllocationPropertiesFromHandle,
    (CUmemAllocationProp * properties_out, CUmemGenericAllocationHandle handle),
    (properties_out, handle))
{
	const struct gd_block *block = physical(handle);
	if (!properties_out || !block)
		return CUDA_ERROR_INVALID_VALUE;
	memset(properties_out, 0, sizeof(*properties_out));
	properties_out->type = CU_MEM_ALLOCATION_TYPE_PINNED;
	properties_out->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	properties_out->location.id = (int)block->device;
	if (block->exportable)
		properties_out->requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
	return CUDA_SUCCESS;
}

/* ---- mappings, in order of address; gd_memory_lock is held ---- */

/* Index of the first mapping that ends above the address. */
static uint32_t first_above(const struct gd_block *block, uint64_t address)
{
	uint32_t low = 0, high = block->mapping_count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (block->mappings[middle].address + block->mappings[middle].bytes <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The mapping that holds an address, or NULL. */
static const struct gd_mapping *mapping_at(const struct gd_block *block, uint64_t address)
{
	uint32_t at = first_above(block, address);
	bool holds = at < block->mapping_count && block->mappings[at].address <= address;
	return holds ? &block->mappings[at] : NULL;
}

static CUresult insert(struct gd_block *block, const struct gd_mapping *mapping)
{
	uint32_t at = first_above(block, mapping->address);
	if (at < block->mapping_count &&
	    block->mappings[at].address < mapping->address + mapping->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (block->mapping_count == block->mapping_room) {
		uint32_t room = block->mapping_room ? block->mapping_room * 2 : 16;
		void *more = realloc(block->mappings, room * sizeof(*mapping));
		if (!more)
			return CUDA_ERROR_OUT_OF_MEMORY;
		block->mappings = more;
		block->mapping_room = room;
	}
	memmove(&block->mappings[at + 1], &block->mappings[at],
	    (block->mapping_count - at) * sizeof(*mapping));
	block->mappings[at] = *mapping;
	block->mapping_count++;
	mapping->physical->mapped++;
	return CUDA_SUCCESS;
}

GD_API(cuMemMap,
    (CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
	unsigned long long flags),
    (address, bytes, offset, handle, flags))
{
	struct gd_block *block = reservation(address, bytes), *memory = physical(handle);
	if (!block || !memory || flags || offset || bytes > memory->bytes)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_mapping mapping = {
	    .address = address, .bytes = bytes, .offset = offset, .physical = memory};
	pthread_mutex_lock(&gd_memory_lock);
	CUresult result = insert(block, &mapping);
	pthread_mutex_unlock(&gd_memory_lock);
	return result;
}

/* The mappings that make up a range without a gap. @return their number, 0 when they do not */
static uint32_t cover(
    const struct gd_block *block, uint64_t address, uint64_t bytes, bool whole, uint32_t *first_out)
{
	uint32_t first = first_above(block, address), i = first;
	uint64_t at = address;
	while (i < block->mapping_count && at < address + bytes) {
		const struct gd_mapping *mapping = &block->mappings[i];
		if (mapping->address > at || (whole && mapping->address != at))
			return 0;
		at = mapping->address + mapping->bytes;
		i++;
	}
	*first_out = first;
	return at < address + bytes || (whole && at != address + bytes) ? 0 : i - first;
}

/* Take the mappings out and collect memory that ends with them. */
static void withdraw(
    struct gd_block *block, uint32_t first, uint32_t count, struct gd_block **ended)
{
	for (uint32_t i = first; i < first + count; i++) {
		struct gd_mapping *mapping = &block->mappings[i];
		gd_space_unmap(mapping->address, gd_slots(mapping->bytes));
		mapping->physical->mapped--;
		ended[i - first] = unused(mapping->physical) ? mapping->physical : NULL;
	}
	block->mapping_count -= count;
	memmove(&block->mappings[first], &block->mappings[first + count],
	    (block->mapping_count - first) * sizeof(block->mappings[0]));
}

GD_API(cuMemUnmap, (CUdeviceptr address, size_t bytes), (address, bytes))
{
	struct gd_block *block = reservation(address, bytes), **ended = NULL;
	uint32_t first, count;
	if (!block)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_memory_lock);
	count = cover(block, address, bytes, true, &first);
	ended = count ? calloc(count, sizeof(struct gd_block *)) : NULL;
	if (ended)
		withdraw(block, first, count, ended);
	pthread_mutex_unlock(&gd_memory_lock);
	if (!ended)
		return count ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < count; i++) {
		if (ended[i])
			gd_memory_delete(ended[i]);
	}
	free(ended);
	return CUDA_SUCCESS;
}

/* ---- access ---- */

static void set_access(struct gd_mapping *mapping, const CUmemAccessDesc *list, size_t count)
{
	uint64_t before = mapping->access;
	for (size_t i = 0; i < count; i++) {
		uint64_t bit = UINT64_C(1) << list[i].location.id;
		if (list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE)
			mapping->access &= ~bit;
		else
			mapping->access |= bit;
	}
	if (mapping->access && !before)
		gd_space_map(mapping->address, mapping->physical->base + mapping->offset,
		    gd_slots(mapping->bytes));
	else if (!mapping->access && before)
		gd_space_unmap(mapping->address, gd_slots(mapping->bytes));
}

GD_API(cuMemSetAccess,
    (CUdeviceptr address, size_t bytes, const CUmemAccessDesc *list, size_t count),
    (address, bytes, list, count))
{
	struct gd_block *block = reservation(address, bytes);
	uint32_t first, mappings;
	if (!block || !list || !count)
		return CUDA_ERROR_INVALID_VALUE;
	for (size_t i = 0; i < count; i++) {
		if (!gd_location_visible(&list[i].location))
			return list[i].location.type == CU_MEM_LOCATION_TYPE_DEVICE
				   ? CUDA_ERROR_INVALID_DEVICE
				   : CUDA_ERROR_NOT_SUPPORTED;
	}
	pthread_mutex_lock(&gd_memory_lock);
	mappings = cover(block, address, bytes, false, &first);
	for (uint32_t i = first; mappings && i < first + mappings; i++)
		set_access(&block->mappings[i], list, count);
	pthread_mutex_unlock(&gd_memory_lock);
	return mappings ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

GD_API(cuMemGetAccess,
    (unsigned long long *flags_out, const CUmemLocation *location, CUdeviceptr address),
    (flags_out, location, address))
{
	const struct gd_block *block = gd_memory_at(address);
	if (!flags_out || !location || !block)
		return CUDA_ERROR_INVALID_VALUE;
	if (!gd_location_visible(location))
		return CUDA_ERROR_INVALID_DEVICE;
	bool reachable = block->device == (unsigned)location->id;
	if (block->kind == GD_BLOCK_RESERVED) {
		struct gd_mapping mapping;
		if (!gd_memory_mapping(block, address, &mapping))
			return CUDA_ERROR_INVALID_VALUE;
		reachable = mapping.access >> location->id & 1;
	}
	*flags_out = reachable ? CU_MEM_ACCESS_FLAGS_PROT_READWRITE : CU_MEM_ACCESS_FLAGS_PROT_NONE;
	return CUDA_SUCCESS;
}

GD_API(cuMemRetainAllocationHandle, (CUmemGenericAllocationHandle * handle_out, void *pointer),
    (handle_out, pointer))
{
	uint64_t address = (uint64_t)(uintptr_t)pointer;
	const struct gd_block *block = gd_memory_at(address);
	struct gd_block *memory = NULL;
	if (!handle_out || !block || block->kind != GD_BLOCK_RESERVED)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_memory_lock);
	const struct gd_mapping *mapping = mapping_at(block, address);
	if (mapping) {
		memory = mapping->physical;
		memory->references++;
	}
	pthread_mutex_unlock(&gd_memory_lock);
	if (!memory)
		return CUDA_ERROR_INVALID_VALUE;
	*handle_out = (CUmemGenericAllocationHandle)(uintptr_t)memory;
	return CUDA_SUCCESS;
}

struct gd_block *gd_memory_behind(uint64_t address)
{
	struct gd_block *block = gd_memory_at(address), *memory = block;
	if (!block || block->kind != GD_BLOCK_RESERVED)
		return block;
	pthread_mutex_lock(&gd_memory_lock);
	const struct gd_mapping *mapping = mapping_at(block, address);
	memory = mapping ? mapping->physical : NULL;
	pthread_mutex_unlock(&gd_memory_lock);
	return memory;
}

bool gd_memory_mapping(
    const struct gd_block *block, uint64_t address, struct gd_mapping *mapping_out)
{
	pthread_mutex_lock(&gd_memory_lock);
	const struct gd_mapping *mapping = mapping_at(block, address);
	if (mapping)
		*mapping_out = *mapping;
	pthread_mutex_unlock(&gd_memory_lock);
	return mapping != NULL;
}
