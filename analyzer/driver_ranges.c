/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/driver_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/xalloc.h"

/* Programs have one range per stream and pool; more than this is a damaged or hostile trace. */
#define RANGE_LIMIT 8192

struct ga_range {
	uint64_t address, size_bytes;
	uint64_t mapped_bytes;
	uint64_t map_count, unmap_count; /* events, see driver_memory.h */
	uint64_t unmap_end, unmap_epoch; /* where the last unmapping ended, and when */
	uint16_t device;
	bool torch;
	bool growing; /* mapped since it was last made accessible */
};

/* Physical memory; it lives until it is neither referred to nor mapped. */
struct handle {
	uint64_t key, size_bytes;
	uint32_t references, mappings;
	uint16_t device;
	bool torch;
	bool foreign; /* another process's memory */
};

struct mapping {
	uint64_t address, size_bytes, handle;
};

void ga_ranges_init(struct ga_driver *driver)
{
	ga_map_init(&driver->handles, sizeof(struct handle));
	ga_map_init(&driver->mappings, sizeof(struct mapping));
}

void ga_ranges_free(struct ga_driver *driver)
{
	ga_map_free(&driver->handles);
	ga_map_free(&driver->mappings);
	free(driver->ranges);
}

/* Number of ranges that begin at or below `address`. */
static size_t ranges_below(const struct ga_driver *driver, uint64_t address)
{
	size_t low = 0, high = driver->range_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (driver->ranges[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct ga_range *range_around(const struct ga_driver *driver, uint64_t address)
{
	size_t below = ranges_below(driver, address);
	if (below == 0)
		return NULL;
	struct ga_range *range = &driver->ranges[below - 1];
	return address - range->address < range->size_bytes ? range : NULL;
}

static struct ga_account *reserve(
    struct ga_driver *driver, const struct gf_memory *record, bool torch)
{
	if (driver->range_count >= RANGE_LIMIT) {
		driver->untracked++;
		return NULL;
	}
	driver->ranges = ga_xgrow(
	    driver->ranges, driver->range_count, &driver->range_capacity, sizeof(*driver->ranges));
	size_t at = ranges_below(driver, record->address);
	struct ga_range *range = &driver->ranges[at];
	memmove(range + 1, range, (driver->range_count - at) * sizeof(*range));
	driver->range_count++;
	*range = (struct ga_range){.address = record->address,
	    .size_bytes = record->size,
	    .device = record->device,
	    .torch = torch};
	return NULL;
}

static struct ga_account *unreserve(struct ga_driver *driver, uint64_t address)
{
	size_t below = ranges_below(driver, address);
	if (below == 0 || driver->ranges[below - 1].address != address)
		return NULL;
	memmove(&driver->ranges[below - 1], &driver->ranges[below],
	    (driver->range_count - below) * sizeof(*driver->ranges));
	driver->range_count--;
	return NULL;
}

/* Physical memory of no use to anyone any more is gone. */
static struct ga_account *drop_if_unused(struct ga_driver *driver, struct handle *handle)
{
	if (handle->references || handle->mappings)
		return NULL;
	struct ga_account *account = NULL;
	if (!handle->torch && !handle->foreign) {
		account = ga_account_open(driver->accounts, handle->device);
		if (account)
			ga_decrease(&account->non_torch, handle->size_bytes);
	}
	ga_map_remove(&driver->handles, handle);
	return account;
}

static struct ga_account *create(
    struct ga_driver *driver, const struct gf_memory *record, bool torch, bool foreign)
{
	if (record->handle == 0)
		return NULL;
	struct handle *handle = ga_map_find(&driver->handles, record->handle);
	if (handle) { /* its release was not recorded */
		handle->references = handle->mappings = 0;
		drop_if_unused(driver, handle);
	}
	struct ga_account *account =
	    foreign ? NULL : ga_account_open(driver->accounts, record->device);
	handle = ga_map_add(&driver->handles, record->handle);
	handle->size_bytes = record->size;
	handle->references = 1;
	handle->device = record->device;
	handle->torch = torch;
	handle->foreign = foreign;
	if (account && !torch)
		account->non_torch += record->size;
	return account;
}

static struct ga_account *release(struct ga_driver *driver, uint64_t key)
{
	struct handle *handle = ga_map_find(&driver->handles, key);
	if (!handle || handle->references == 0)
		return NULL;
	handle->references--;
	return drop_if_unused(driver, handle);
}

/* Physical memory mapped into a range of the caching allocator counts as reserved from then on. */
static void adopt(struct ga_account *account, struct handle *handle)
{
	if (!handle || handle->torch)
		return;
	handle->torch = true;
	if (!handle->foreign)
		ga_decrease(&account->non_torch, handle->size_bytes);
}

static void make_torch(struct ga_driver *driver, struct ga_account *account, struct ga_range *range)
{
	range->torch = true;
	account->reserved += range->mapped_bytes;
	account->segment_map_count += range->map_count;
	account->segment_unmap_count += range->unmap_count;
	struct mapping *mapping = NULL;
	while ((mapping = ga_map_next(&driver->mappings, mapping)))
		if (mapping->address - range->address < range->size_bytes)
			adopt(account, ga_map_find(&driver->handles, mapping->handle));
}

static struct ga_account *unmap_one(
    struct ga_driver *driver, struct mapping *mapping, struct ga_range *range)
{
	struct ga_account *account = NULL;
	struct handle *handle = ga_map_find(&driver->handles, mapping->handle);
	if (range) {
		account = ga_account_open(driver->accounts, range->device);
		ga_decrease(&range->mapped_bytes, mapping->size_bytes);
		if (account && range->torch)
			ga_decrease(&account->reserved, mapping->size_bytes);
	}
	ga_map_remove(&driver->mappings, mapping);
	if (handle && handle->mappings > 0) {
		handle->mappings--;
		struct ga_account *other = drop_if_unused(driver, handle);
		account = account ? account : other;
	}
	return account;
}

static struct ga_account *map(struct ga_driver *driver, const struct gf_memory *record, bool torch)
{
	struct ga_range *range = range_around(driver, record->address);
	if (record->address == 0 || record->size == 0)
		return NULL;
	struct mapping *mapping = ga_map_find(&driver->mappings, record->address);
	if (mapping) /* its unmapping was not recorded */
		unmap_one(driver, mapping, range);
	mapping = ga_map_add(&driver->mappings, record->address);
	mapping->size_bytes = record->size;
	mapping->handle = record->handle;
	struct handle *handle = ga_map_find(&driver->handles, record->handle);
	if (handle)
		handle->mappings++;
	if (!range)
		return NULL;
	/* A range is reserved on no device in particular: what is mapped into it tells. */
	if (range->device == GF_DEVICE_UNKNOWN)
		range->device = handle ? handle->device : record->device;
	struct ga_account *account = ga_account_open(driver->accounts, range->device);
	if (account && torch && !range->torch)
		make_torch(driver, account, range);
	range->mapped_bytes += record->size;
	range->growing = true;
	range->unmap_epoch = UINT64_MAX;
	if (account && range->torch) {
		account->reserved += record->size;
		adopt(account, handle);
	}
	return account;
}

static struct ga_account *unmap(struct ga_driver *driver, const struct gf_memory *record)
{
	struct ga_account *account = NULL;
	struct ga_range *range = range_around(driver, record->address);
	uint64_t at = record->address, end = record->address + record->size;
	while (at < end) {
		struct mapping *mapping = ga_map_find(&driver->mappings, at);
		if (!mapping)
			break;
		at += mapping->size_bytes;
		struct ga_account *changed = unmap_one(driver, mapping, range);
		account = account ? account : changed;
	}
	if (!range)
		return account;
	bool goes_on = range->unmap_end == record->address && range->unmap_epoch == driver->epoch;
	range->unmap_end = end;
	range->unmap_epoch = driver->epoch;
	range->unmap_count += !goes_on;
	if (account && range->torch)
		account->segment_unmap_count += !goes_on;
	return account;
}

static struct ga_account *make_accessible(struct ga_driver *driver, uint64_t address)
{
	struct ga_range *range = range_around(driver, address);
	if (!range || !range->growing)
		return NULL;
	range->growing = false;
	range->map_count++;
	struct ga_account *account = ga_account_open(driver->accounts, range->device);
	if (account && range->torch)
		account->segment_map_count++;
	return account;
}

struct ga_account *ga_ranges_event(struct ga_driver *driver, const struct gf_memory *record)
{
	bool torch = (record->flags & GF_FLAG_IN_ALLOCATOR) != 0;
	struct handle *handle;
	switch (record->kind) {
	case GF_MEMORY_RESERVE:
		return reserve(driver, record, torch);
	case GF_MEMORY_UNRESERVE:
		return unreserve(driver, record->address);
	case GF_MEMORY_CREATE:
		return create(driver, record, torch, false);
	case GF_MEMORY_IMPORT:
		return create(driver, record, false, true);
	case GF_MEMORY_RETAIN:
		handle = ga_map_find(&driver->handles, record->handle);
		if (handle)
			handle->references++;
		return NULL;
	case GF_MEMORY_RELEASE:
		return release(driver, record->handle);
	case GF_MEMORY_MAP:
		return map(driver, record, torch);
	case GF_MEMORY_UNMAP:
		return unmap(driver, record);
	case GF_MEMORY_ACCESS:
		return make_accessible(driver, record->address);
	default:
		return NULL;
	}
}

bool ga_ranges_claim(struct ga_driver *driver, struct ga_account *account, uint64_t address)
{
	struct ga_range *range = range_around(driver, address);
	if (!range || range->torch)
		return false;
	if (range->device == GF_DEVICE_UNKNOWN)
		range->device = account->device;
	if (range->device != account->device)
		return false;
	make_torch(driver, account, range);
	return true;
}
