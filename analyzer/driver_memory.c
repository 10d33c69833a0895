/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/driver_memory.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/driver_ranges.h"
#include "analyzer/xalloc.h"

/* What the driver handed out as one piece: segment, array or page-locked host memory. */
struct piece {
	uint64_t key, size_bytes;
	uint64_t epoch; /* ga_driver.epoch when it came */
	uint16_t device;
	bool torch;
};

/* A thread's last release, kept until its next one. */
struct last_release {
	uint64_t thread_id;
	uint32_t kind;
	struct piece piece;
};

void ga_driver_init(struct ga_driver *driver, struct ga_accounts *accounts)
{
	*driver = (struct ga_driver){.accounts = accounts};
	ga_map_init(&driver->segments, sizeof(struct piece));
	ga_map_init(&driver->arrays, sizeof(struct piece));
	ga_map_init(&driver->host, sizeof(struct piece));
	ga_map_init(&driver->undo, sizeof(struct last_release));
	ga_ranges_init(driver);
}

void ga_driver_free(struct ga_driver *driver)
{
	ga_map_free(&driver->segments);
	ga_map_free(&driver->arrays);
	ga_map_free(&driver->host);
	ga_map_free(&driver->undo);
	ga_ranges_free(driver);
}

static void enter(struct ga_account *account, const struct piece *piece)
{
	if (piece->torch) {
		account->reserved += piece->size_bytes;
		account->segment_alloc_count++;
	} else {
		account->non_torch += piece->size_bytes;
	}
}

static void leave(struct ga_account *account, const struct piece *piece)
{
	if (piece->torch) {
		ga_decrease(&account->reserved, piece->size_bytes);
		account->segment_free_count++;
	} else {
		ga_decrease(&account->non_torch, piece->size_bytes);
	}
}

static struct ga_account *piece_add(struct ga_driver *driver, struct ga_map *map, uint64_t key,
    const struct gf_memory *record, bool torch)
{
	if (key == 0)
		return NULL;
	struct ga_account *account = ga_account_open(driver->accounts, record->device);
	struct piece *piece = ga_map_add(map, key);
	if (piece->size_bytes) { /* its release was not recorded */
		struct ga_account *old = ga_account_open(driver->accounts, piece->device);
		if (old)
			leave(old, piece);
	}
	piece->size_bytes = record->size;
	piece->device = record->device;
	piece->torch = torch;
	piece->epoch = driver->epoch;
	if (account)
		enter(account, piece);
	return account;
}

/* What take_back() brings back; a release that it cannot bring back leaves nothing to it. */
static void remember(
    struct ga_driver *driver, uint32_t thread_id, uint32_t kind, const struct piece *piece)
{
	struct last_release *last = thread_id ? ga_map_add(&driver->undo, thread_id) : NULL;
	if (last) {
		last->kind = kind;
		last->piece = piece ? *piece : (struct piece){0};
	}
}

static struct ga_account *piece_drop(
    struct ga_driver *driver, struct ga_map *map, uint64_t key, uint32_t kind, uint32_t thread_id)
{
	struct piece *piece = ga_map_find(map, key);
	remember(driver, thread_id, kind, piece);
	if (!piece)
		return NULL;
	driver->dropped_bytes = piece->size_bytes;
	struct ga_account *account = ga_account_open(driver->accounts, piece->device);
	if (account)
		leave(account, piece);
	ga_map_remove(map, piece);
	return account;
}

/* The driver refused the release that was recorded just before on this thread. */
static struct ga_account *take_back(struct ga_driver *driver, uint32_t thread_id)
{
	struct last_release *last = ga_map_find(&driver->undo, thread_id);
	if (!last || last->piece.key == 0)
		return NULL;
	bool array = last->kind == GF_MEMORY_ARRAY_DESTROY;
	struct piece kept = last->piece;
	struct piece *piece = ga_map_add(array ? &driver->arrays : &driver->segments, kept.key);
	last->piece = (struct piece){0};
	if (piece->size_bytes) /* allocated again meanwhile: then it was freed after all */
		return NULL;
	*piece = kept;
	struct ga_account *account = ga_account_open(driver->accounts, kept.device);
	if (account) {
		enter(account, piece);
		if (piece->torch) { /* neither a new segment nor a freed one */
			account->segment_alloc_count--;
			account->segment_free_count--;
		}
	}
	return account;
}

static void host_add(struct ga_driver *driver, const struct gf_memory *record)
{
	if (record->address == 0)
		return;
	struct piece *piece = ga_map_add(&driver->host, record->address);
	ga_decrease(&driver->host_bytes, piece->size_bytes);
	piece->size_bytes = record->size;
	driver->host_bytes += record->size;
	if (driver->host_bytes > driver->host_peak_bytes)
		driver->host_peak_bytes = driver->host_bytes;
}

static void host_drop(struct ga_driver *driver, const struct gf_memory *record)
{
	struct piece *piece = ga_map_find(&driver->host, record->address);
	if (!piece)
		return;
	ga_decrease(&driver->host_bytes, piece->size_bytes);
	ga_map_remove(&driver->host, piece);
}

struct ga_account *ga_driver_event(
    struct ga_driver *driver, const struct gf_memory *record, uint32_t thread_id)
{
	bool torch = (record->flags & GF_FLAG_IN_ALLOCATOR) != 0;
	driver->dropped_bytes = 0;
	if (record->kind == GF_MEMORY_RELEASE_FAILED)
		return take_back(driver, thread_id);
	if (record->status != 0)
		return NULL;
	switch (record->kind) {
	case GF_MEMORY_ALLOC:
	case GF_MEMORY_ALLOC_ASYNC:
		return piece_add(driver, &driver->segments, record->address, record, torch);
	case GF_MEMORY_FREE:
	case GF_MEMORY_FREE_ASYNC:
		return piece_drop(
		    driver, &driver->segments, record->address, record->kind, thread_id);
	case GF_MEMORY_ARRAY_CREATE:
		return piece_add(driver, &driver->arrays, record->handle, record, false);
	case GF_MEMORY_ARRAY_DESTROY:
		return piece_drop(driver, &driver->arrays, record->handle, record->kind, thread_id);
	case GF_MEMORY_HOST_ALLOC:
	case GF_MEMORY_HOST_REGISTER:
		host_add(driver, record);
		return NULL;
	case GF_MEMORY_HOST_FREE:
	case GF_MEMORY_HOST_UNREGISTER:
		remember(driver, thread_id, record->kind, NULL);
		host_drop(driver, record);
		return NULL;
	case GF_MEMORY_UNRESERVE:
	case GF_MEMORY_RELEASE:
	case GF_MEMORY_UNMAP:
	case GF_MEMORY_IPC_CLOSE:
	case GF_MEMORY_POOL_DESTROY:
		remember(driver, thread_id, record->kind, NULL);
		return ga_ranges_event(driver, record);
	default:
		return ga_ranges_event(driver, record);
	}
}

bool ga_driver_claim(struct ga_driver *driver, struct ga_account *account, uint64_t address)
{
	struct piece *piece = NULL;
	while ((piece = ga_map_next(&driver->segments, piece))) {
		if (piece->torch || piece->device != account->device || address < piece->key ||
		    address - piece->key >= piece->size_bytes)
			continue;
		leave(account, piece);
		piece->torch = true;
		enter(account, piece);
		return true;
	}
	return ga_ranges_claim(driver, account, address);
}

/* A segment of the allocator, newer than the block event before, without the block of this one. */
static bool is_uncounted(const struct ga_driver *driver, const struct ga_account *account,
    const struct piece *piece, uint64_t address)
{
	return piece->torch && piece->device == account->device &&
	       piece->epoch + 1 == driver->epoch &&
	       !(address >= piece->key && address - piece->key < piece->size_bytes);
}

void ga_driver_disclaim(
    struct ga_driver *driver, struct ga_account *account, uint64_t excess, uint64_t address)
{
	struct piece *piece = NULL;
	uint64_t bytes = 0;
	while ((piece = ga_map_next(&driver->segments, piece)))
		if (is_uncounted(driver, account, piece, address))
			bytes += piece->size_bytes;
	if (bytes != excess)
		return;
	while ((piece = ga_map_next(&driver->segments, piece))) {
		if (!is_uncounted(driver, account, piece, address))
			continue;
		leave(account, piece);
		piece->torch = false;
		enter(account, piece);
		/* neither a new segment nor a freed one */
		account->segment_alloc_count--;
		account->segment_free_count--;
	}
}
