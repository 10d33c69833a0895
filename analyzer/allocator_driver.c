/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/allocator_driver.h"

#define FIRST_UP UINT64_C(0x100000000000)
#define FIRST_DOWN UINT64_C(0x700000000000)
#define SLOT_BITS 40 /* room for each shuffled address; half of it is used */
#define SLOT_MASK UINT32_C(0xffffff)

void ga_alloc_driver_fresh(struct ga_alloc_driver *driver, uint64_t budget_bytes,
    enum ga_address_order order, uint32_t seed)
{
	*driver = (struct ga_alloc_driver){
	    .budget_bytes = budget_bytes,
	    .order = order,
	    .seed = seed,
	    .next_address = order == GA_ADDRESS_DOWN ? FIRST_DOWN : FIRST_UP,
	};
}

/* A permutation of 24-bit numbers: no two calls get the same slot. */
static uint32_t shuffle(uint32_t number, uint32_t seed)
{
	uint32_t slot = (number * 0x9e3779b1u + seed) & SLOT_MASK;
	slot ^= slot >> 11;
	slot = (slot * 0x85ebca6bu + seed) & SLOT_MASK;
	return slot ^ slot >> 13;
}

static uint64_t fresh_address(struct ga_alloc_driver *driver, uint64_t size)
{
	if (driver->order == GA_ADDRESS_SHUFFLED)
		return (uint64_t)shuffle(driver->fresh_count++, driver->seed) << SLOT_BITS |
		       UINT64_C(1) << (SLOT_BITS - 1);
	if (driver->order == GA_ADDRESS_DOWN)
		return driver->next_address -= size;
	driver->next_address += size;
	return driver->next_address - size;
}

/* From the budget. */
static bool take(struct ga_alloc_driver *driver, uint64_t size)
{
	if (size > GA_ALLOC_DRIVER_MOST || size > ga_alloc_driver_free_bytes(driver))
		return false;
	driver->used_bytes += size;
	return true;
}

bool ga_alloc_driver_allocate(struct ga_alloc_driver *driver, uint64_t size, uint64_t *address_out)
{
	if (driver->segment_next < driver->segment_count &&
	    driver->segments[driver->segment_next].size == size && size <= GA_ALLOC_DRIVER_MOST) {
		uint64_t address = driver->segments[driver->segment_next++].address;
		if (!address)
			return false;
		driver->used_bytes += size;
		*address_out = address;
		return true;
	}
	if (!take(driver, size))
		return false;
	*address_out = fresh_address(driver, size);
	return true;
}

uint64_t ga_alloc_driver_reserve(struct ga_alloc_driver *driver, uint64_t size)
{
	if (driver->reservation_next < driver->reservation_count &&
	    driver->reservations[driver->reservation_next].size == size)
		return driver->reservations[driver->reservation_next++].address;
	return fresh_address(driver, size);
}

bool ga_alloc_driver_map(struct ga_alloc_driver *driver, uint64_t size)
{
	if (driver->map_next < driver->map_count) {
		const struct ga_alloc_driver_answer *answer = &driver->maps[driver->map_next];
		if (!answer->address || answer->size == size) {
			driver->map_next++;
			driver->used_bytes += answer->address ? size : 0;
			return answer->address != 0;
		}
	}
	return take(driver, size);
}

void ga_alloc_driver_release(struct ga_alloc_driver *driver, uint64_t size)
{
	driver->used_bytes -= size;
}

uint64_t ga_alloc_driver_free_bytes(const struct ga_alloc_driver *driver)
{
	return driver->used_bytes > driver->budget_bytes
		   ? 0
		   : driver->budget_bytes - driver->used_bytes;
}
