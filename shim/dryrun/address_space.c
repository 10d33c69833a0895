/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/address_space.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "shim/dryrun/gate.h"
#include "shim/dryrun/gd_export.h"
#include "shim/dryrun/known_memory.h"
#include "shim/dryrun/launcher_api.h"
#include "shim/dryrun/regions.h"
#include "shim/dryrun/slot_allocator.h"

#define PAGE_SHIFT 12
#define PAGE_BYTES (UINT64_C(1) << PAGE_SHIFT)
#define PAGES_PER_SLOT (GD_SLOT_BYTES / PAGE_BYTES)
#define WORDS_PER_SLOT (PAGES_PER_SLOT / 64)
#define LARGEST_SPACE (UINT64_C(16) << 40)
#define LEAST_SPARE (UINT64_C(1) << 30) /* beyond all memory: fragmentation, small blocks */
/* From here on giving pages back is cheaper than writing zeros. */
#define GIVE_BACK_PAGES 16

uint64_t gd_space_base, gd_space_bytes;

static struct {
	pthread_mutex_t lock;	  /* the slot allocator; nothing nests in it */
	pthread_rwlock_t moving;  /* written while slots change to or from a file; nothing nests */
	struct gd_region region;  /* data and the tables behind it */
	char *data;		  /* the second region */
	struct gd_block **blocks; /* owner by address slot; atomic */
	uint64_t *pages;	  /* by data slot WORDS_PER_SLOT words, a bit a page; atomic */
	uint32_t *leads;	  /* data slot + 1 by address slot, 0 = nowhere; atomic */
	uint8_t *stored;	  /* by data slot: some page bit may be set; atomic */
	uint8_t *shared;	  /* by data slot: lies in a file, where others store too; atomic */
} space = {.lock = PTHREAD_MUTEX_INITIALIZER, .moving = PTHREAD_RWLOCK_INITIALIZER};

#define TABLE_BYTES_PER_SLOT \
	(GD_SLOT_ENTRY_BYTES + sizeof(*space.blocks) + WORDS_PER_SLOT * sizeof(*space.pages) + \
	    sizeof(*space.leads) + sizeof(*space.stored) + sizeof(*space.shared) + \
	    GD_KNOWN_BYTES_PER_SLOT)

static char *aligned(char *start)
{
	uint64_t over = (uint64_t)(uintptr_t)start % GD_SLOT_BYTES;
	return start + (over ? GD_SLOT_BYTES - over : 0);
}

static void advise_data(char *data, uint64_t bytes)
{
	madvise(data, bytes, MADV_DONTDUMP);
	madvise(data, bytes, MADV_NOHUGEPAGE); /* else a stored byte costs 2 MiB */
	madvise(data, bytes, MADV_DONTFORK);
}

/* @return the table of the slot allocator */
static void *place_tables(char *table, uint64_t slots)
{
	gd_known_start(table, slots);
	space.blocks = (struct gd_block **)(table + slots * GD_KNOWN_BYTES_PER_SLOT);
	space.pages = (uint64_t *)(space.blocks + slots);
	char *of_allocator = (char *)(space.pages + slots * WORDS_PER_SLOT);
	space.leads = (uint32_t *)(of_allocator + slots * GD_SLOT_ENTRY_BYTES);
	space.stored = (uint8_t *)(space.leads + slots);
	space.shared = space.stored + slots;
	return of_allocator;
}

/* Addresses, data and tables of so many slots. */
static uint64_t bytes_for(uint64_t slots)
{
	return slots * (2 * GD_SLOT_BYTES + TABLE_BYTES_PER_SLOT);
}

/* Slots begin at multiples of their size, so one more is reserved. */
static bool try_space(uint64_t bytes)
{
	uint64_t slots = bytes >> GD_SLOT_SHIFT, room = bytes + GD_SLOT_BYTES;
	struct gd_region addresses, region;
	if (!gd_region_reserve(room, &addresses))
		return false;
	if (!gd_region_new(room + slots * TABLE_BYTES_PER_SLOT, &region)) {
		gd_region_end(&addresses);
		return false;
	}
	char *data = aligned(region.start);
	if (!gd_slots_start(slots, place_tables(data + bytes, slots))) {
		gd_region_end(&addresses);
		gd_region_end(&region);
		return false;
	}
	madvise(addresses.start, addresses.bytes, MADV_DONTDUMP);
	advise_data(data, bytes);
	space.region = region;
	space.data = data;
	gd_space_base = (uint64_t)(uintptr_t)aligned(addresses.start);
	__atomic_store_n(&gd_space_bytes, bytes, __ATOMIC_RELEASE);
	return true;
}

/* Under a limit of address space the program gets half of what is left. */
bool gd_space_start(uint64_t memory_bytes)
{
	uint64_t least = gd_slots(memory_bytes + LEAST_SPARE) << GD_SLOT_SHIFT;
	uint64_t fair = gd_region_room() / 2 / bytes_for(1) << GD_SLOT_SHIFT;
	uint64_t bytes = fair < LARGEST_SPACE ? fair : LARGEST_SPACE;
	for (; bytes > least; bytes = gd_slots(bytes / 2) << GD_SLOT_SHIFT) {
		if (try_space(bytes))
			return true;
	}
	if (try_space(least))
		return true;
	gd_region_say_why(bytes_for(gd_slots(least)));
	return false;
}

static uint64_t slot_of(uint64_t address)
{
	return (address - gd_space_base) >> GD_SLOT_SHIFT;
}

/* A device would not refuse that: say once why this one does. */
static void say_no_gap(uint64_t slots)
{
	static bool said; /* atomic */
	if (gd_space_bytes == LARGEST_SPACE || __atomic_exchange_n(&said, true, __ATOMIC_RELAXED))
		return;
	fprintf(stderr,
	    "gpushim dryrun: no gap of %.1f GiB among the %.1f GiB of device addresses that the "
	    "limit of "
	    "address space (ulimit -v) allows\n",
	    (double)(slots << GD_SLOT_SHIFT) / (1 << 30), (double)gd_space_bytes / (1 << 30));
}

uint64_t gd_space_take(uint64_t slots)
{
	pthread_mutex_lock(&space.lock);
	uint64_t first = gd_slots_take(slots);
	pthread_mutex_unlock(&space.lock);
	if (first != GD_NO_SLOT)
		return gd_space_base + (first << GD_SLOT_SHIFT);
	say_no_gap(slots);
	return 0;
}

void gd_space_give(uint64_t address, uint64_t slots)
{
	pthread_mutex_lock(&space.lock);
	gd_slots_give(slot_of(address), slots);
	pthread_mutex_unlock(&space.lock);
}

void gd_space_set_block(uint64_t address, uint64_t slots, struct gd_block *block)
{
	uint64_t first = slot_of(address);
	for (uint64_t slot = first; slot < first + slots; slot++)
		__atomic_store_n(&space.blocks[slot], block, __ATOMIC_RELEASE);
}

struct gd_block *gd_space_block(uint64_t address)
{
	if (!gd_space_holds(address))
		return NULL;
	return __atomic_load_n(&space.blocks[slot_of(address)], __ATOMIC_ACQUIRE);
}

void gd_space_map(uint64_t address, uint64_t data, uint64_t slots)
{
	uint64_t slot = slot_of(address);
	uint32_t lead = (uint32_t)slot_of(data) + 1;
	for (uint64_t i = 0; i < slots; i++)
		__atomic_store_n(&space.leads[slot + i], lead + (uint32_t)i, __ATOMIC_RELEASE);
}

void gd_space_unmap(uint64_t address, uint64_t slots)
{
	uint64_t slot = slot_of(address);
	for (uint64_t i = 0; i < slots; i++)
		__atomic_store_n(&space.leads[slot + i], 0, __ATOMIC_RELEASE);
}

static uint32_t lead_of(uint64_t slot)
{
	return __atomic_load_n(&space.leads[slot], __ATOMIC_ACQUIRE);
}

bool gd_space_mapped(uint64_t address, uint64_t bytes)
{
	if (!gd_space_holds(address) || bytes > gd_space_bytes ||
	    (bytes && !gd_space_holds(address + bytes - 1)))
		return false;
	for (uint64_t slot = slot_of(address); bytes && slot <= slot_of(address + bytes - 1);
	     slot++) {
		if (!lead_of(slot))
			return false;
	}
	return true;
}

/* The stretch of data from an address up to the end of its slot. */
struct stretch {
	char *data;	      /* NULL: leads nowhere */
	uint64_t slot;	      /* of the data */
	uint64_t offset;      /* into the region of data */
	uint64_t first, last; /* pages within the slot */
	size_t bytes;
};

static struct stretch stretch_at(uint64_t address, uint64_t bytes)
{
	uint64_t within = (address - gd_space_base) % GD_SLOT_BYTES;
	uint64_t left = GD_SLOT_BYTES - within;
	uint32_t lead = lead_of(slot_of(address));
	struct stretch s = {.bytes = bytes < left ? bytes : left};
	if (!lead)
		return s;
	s.slot = lead - 1;
	s.offset = (s.slot << GD_SLOT_SHIFT) + within;
	s.data = space.data + s.offset;
	s.first = within >> PAGE_SHIFT;
	s.last = (within + s.bytes - 1) >> PAGE_SHIFT;
	return s;
}

static bool slot_shared(uint64_t slot)
{
	return __atomic_load_n(&space.shared[slot], __ATOMIC_ACQUIRE);
}

static bool slot_stored(uint64_t slot)
{
	return __atomic_load_n(&space.stored[slot], __ATOMIC_SEQ_CST) || slot_shared(slot);
}

static bool page_stored(uint64_t slot, uint64_t page)
{
	uint64_t word =
	    __atomic_load_n(&space.pages[slot * WORDS_PER_SLOT + page / 64], __ATOMIC_SEQ_CST);
	return (word >> page % 64 & 1) || slot_shared(slot);
}

/* Bits before the slot's flag: gd_space_clear looks at them in the other order. */
static void mark(const struct stretch *s)
{
	for (uint64_t page = s->first; page <= s->last; page++) {
		uint64_t *word = &space.pages[s->slot * WORDS_PER_SLOT + page / 64];
		uint64_t bit = UINT64_C(1) << page % 64;
		if (!(__atomic_load_n(word, __ATOMIC_RELAXED) & bit))
			__atomic_fetch_or(word, bit, __ATOMIC_SEQ_CST);
	}
	__atomic_store_n(&space.stored[s->slot], 1, __ATOMIC_SEQ_CST);
}

void gd_space_store(uint64_t to, const void *from, size_t bytes)
{
	const char *source = from;
	while (bytes) {
		struct stretch s = stretch_at(to, bytes);
		if (s.data) {
			pthread_rwlock_rdlock(&space.moving);
			mark(&s);
			gd_known_set(s.offset, s.bytes);
			memcpy(s.data, source, s.bytes);
			pthread_rwlock_unlock(&space.moving);
		}
		to += s.bytes;
		source += s.bytes;
		bytes -= s.bytes;
	}
}

/* Pages without a bit are zeros: the kernel need not give them a page for that. */
static void load_stretch(char *target, const struct stretch *s)
{
	const char *data = s->data;
	size_t left = s->bytes;
	if (!data || !slot_stored(s->slot)) {
		memset(target, 0, left);
		return;
	}
	for (uint64_t page = s->first; left; page++) {
		size_t size = PAGE_BYTES - (size_t)((uintptr_t)data % PAGE_BYTES);
		if (size > left)
			size = left;
		if (page_stored(s->slot, page))
			memcpy(target, data, size);
		else
			memset(target, 0, size);
		target += size;
		data += size;
		left -= size;
	}
}

void gd_space_load(void *to, uint64_t from, size_t bytes)
{
	char *target = to;
	while (bytes) {
		struct stretch s = stretch_at(from, bytes);
		load_stretch(target, &s);
		from += s.bytes;
		target += s.bytes;
		bytes -= s.bytes;
	}
}

static bool stored_anywhere(uint64_t address, uint64_t bytes)
{
	for (uint64_t slot = slot_of(address); slot <= slot_of(address + bytes - 1); slot++) {
		uint32_t lead = lead_of(slot);
		if (lead && slot_stored(lead - 1))
			return true;
	}
	return false;
}

bool gd_space_known(uint64_t address, uint64_t bytes)
{
	while (bytes) {
		struct stretch s = stretch_at(address, bytes);
		if (!s.data || !gd_known(s.offset, s.bytes))
			return false;
		address += s.bytes;
		bytes -= s.bytes;
	}
	return true;
}

bool gd_space_known_any(uint64_t address, uint64_t bytes)
{
	while (bytes) {
		struct stretch s = stretch_at(address, bytes);
		if (s.data && gd_known_any(s.offset, s.bytes))
			return true;
		address += s.bytes;
		bytes -= s.bytes;
	}
	return false;
}

void gd_space_set_known(uint64_t address, uint64_t bytes, bool known)
{
	while (bytes) {
		struct stretch s = stretch_at(address, bytes);
		if (s.data)
			(known ? gd_known_set : gd_known_clear)(s.offset, s.bytes);
		address += s.bytes;
		bytes -= s.bytes;
	}
}

uint16_t gd_space_author(uint64_t address)
{
	struct stretch s = stretch_at(address, 1);
	return s.data ? gd_known_author(s.offset) : GD_NO_AUTHOR;
}

void gd_space_set_author(uint64_t address, uint64_t bytes, uint16_t author)
{
	while (bytes && bytes <= GD_AUTHORED_BYTES) {
		struct stretch s = stretch_at(address, bytes);
		if (s.data)
			gd_known_set_author(s.offset, s.bytes, author);
		address += s.bytes;
		bytes -= s.bytes;
	}
}

#define PART 4096

/* What is known of the source is known of the target, and no more. */
static void move_part(uint64_t to, uint64_t from, size_t bytes)
{
	char part[PART], known[PART];
	bool all = gd_space_known(from, bytes), some = !all && gd_space_known_any(from, bytes);
	for (size_t i = 0; some && i < bytes; i++)
		known[i] = gd_space_known(from + i, 1);
	if (stored_anywhere(from, bytes)) {
		gd_space_load(part, from, bytes);
		gd_space_store(to, part, bytes);
	} else {
		gd_space_clear(to, bytes);
	}
	gd_space_set_known(to, bytes, all);
	for (size_t i = 0; some && i < bytes; i++) {
		if (known[i])
			gd_space_set_known(to + i, 1, true);
	}
}

void gd_space_move(uint64_t to, uint64_t from, size_t bytes)
{
	if (!bytes || to == from)
		return;
	bool known = gd_space_known(from, bytes);
	if (!known)
		gd_space_set_author(to, bytes, gd_space_author(from));
	if (!stored_anywhere(from, bytes) && (known || !gd_space_known_any(from, bytes))) {
		gd_space_clear(to, bytes);
		gd_space_set_known(to, bytes, known);
		return;
	}
	bool backwards = to > from && to - from < bytes;
	for (size_t done = 0; done < bytes;) {
		size_t size = bytes - done < PART ? bytes - done : PART;
		size_t at = backwards ? bytes - done - size : done;
		move_part(to + at, from + at, size);
		done += size;
	}
}

void gd_space_fill(uint64_t to, const void *pattern, size_t width, size_t count)
{
	static const char zeros[16];
	char part[4096];
	if (memcmp(pattern, zeros, width) == 0) {
		gd_space_clear(to, (uint64_t)width * count);
		gd_space_set_known(to, (uint64_t)width * count, true);
		return;
	}
	size_t most = sizeof(part) / width;
	for (size_t i = 0; i < most && i < count; i++)
		memcpy(part + i * width, pattern, width);
	while (count) {
		size_t some = count < most ? count : most;
		gd_space_store(to, part, some * width);
		to += some * width;
		count -= some;
	}
}

/* Bytes first and bits after: whoever sees a bit gone may rely on zeros. */
static void clear_pages(const struct stretch *s, uint64_t first, uint64_t last)
{
	char *slot_data = space.data + (s->slot << GD_SLOT_SHIFT);
	for (uint64_t page = first; page <= last;) {
		uint64_t end = page;
		while (end <= last && page_stored(s->slot, end))
			end++;
		if (end == page) {
			page++;
			continue;
		}
		char *data = slot_data + (page << PAGE_SHIFT);
		if (end - page >= GIVE_BACK_PAGES)
			madvise(data, (end - page) << PAGE_SHIFT,
			    space.region.shared || slot_shared(s->slot) ? MADV_REMOVE
									: MADV_DONTNEED);
		else
			memset(data, 0, (end - page) << PAGE_SHIFT);
		for (; page < end; page++)
			__atomic_fetch_and(&space.pages[s->slot * WORDS_PER_SLOT + page / 64],
			    ~(UINT64_C(1) << page % 64), __ATOMIC_SEQ_CST);
	}
}

/* The flag goes first; another thread that stores into the slot meanwhile sets its bit before the
 * flag, so that either it is seen here or the flag is set again there. */
static void lower_flag(uint64_t slot)
{
	__atomic_store_n(&space.stored[slot], 0, __ATOMIC_SEQ_CST);
	for (unsigned i = 0; i < WORDS_PER_SLOT; i++) {
		if (__atomic_load_n(&space.pages[slot * WORDS_PER_SLOT + i], __ATOMIC_SEQ_CST)) {
			__atomic_store_n(&space.stored[slot], 1, __ATOMIC_SEQ_CST);
			return;
		}
	}
}

/* Whole pages lose their bits; at the borders another block may hold the rest of the page. */
static void clear_stretch(const struct stretch *s)
{
	uint64_t first = s->first, last = s->last;
	uint64_t within = (uint64_t)(s->data - space.data) % GD_SLOT_BYTES;
	uint64_t head = within % PAGE_BYTES, tail = (within + s->bytes) % PAGE_BYTES;
	if (head) {
		uint64_t size = PAGE_BYTES - head < s->bytes ? PAGE_BYTES - head : s->bytes;
		if (page_stored(s->slot, first))
			memset(s->data, 0, size);
		first++;
	}
	if (tail && first <= last) {
		if (page_stored(s->slot, last))
			memset(s->data + s->bytes - tail, 0, tail);
		if (last == first)
			return;
		last--;
	}
	if (first > last)
		return;
	clear_pages(s, first, last);
	lower_flag(s->slot);
}

void gd_space_clear(uint64_t address, uint64_t bytes)
{
	while (bytes) {
		struct stretch s = stretch_at(address, bytes);
		if (s.data)
			gd_known_clear(s.offset, s.bytes);
		if (s.data && slot_stored(s.slot)) {
			pthread_rwlock_rdlock(&space.moving);
			clear_stretch(&s);
			pthread_rwlock_unlock(&space.moving);
		}
		address += s.bytes;
		bytes -= s.bytes;
	}
}

/* ---- slots that lie in a file ---- */

static bool write_stored(uint64_t first, uint64_t slots, int file)
{
	for (uint64_t page = 0; page < slots * PAGES_PER_SLOT; page++) {
		uint64_t slot = first + page / PAGES_PER_SLOT;
		off_t at = (off_t)(page << PAGE_SHIFT);
		if (page_stored(slot, page % PAGES_PER_SLOT) &&
		    pwrite(file, space.data + (first << GD_SLOT_SHIFT) + at, PAGE_BYTES, at) !=
			(ssize_t)PAGE_BYTES)
			return false;
	}
	return true;
}

bool gd_space_share(uint64_t data, uint64_t slots, int file, bool keep)
{
	uint64_t first = slot_of(data), bytes = slots << GD_SLOT_SHIFT;
	char *at = space.data + (first << GD_SLOT_SHIFT);
	pthread_rwlock_wrlock(&space.moving);
	bool shared = (!keep || write_stored(first, slots, file)) &&
		      mmap(at, bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, 0) != MAP_FAILED;
	if (shared) {
		advise_data(at, bytes);
		for (uint64_t slot = first; slot < first + slots; slot++)
			__atomic_store_n(&space.shared[slot], 1, __ATOMIC_RELEASE);
	}
	pthread_rwlock_unlock(&space.moving);
	return shared;
}

void gd_space_unshare(uint64_t data, uint64_t slots)
{
	uint64_t first = slot_of(data), bytes = slots << GD_SLOT_SHIFT;
	char *at = space.data + (first << GD_SLOT_SHIFT);
	pthread_rwlock_wrlock(&space.moving);
	/* If this fails the slots stay in the file; whoever gets them clears it. */
	if (gd_region_renew(&space.region, at, bytes)) {
		advise_data(at, bytes);
		memset(&space.pages[first * WORDS_PER_SLOT], 0, slots * WORDS_PER_SLOT * 8);
		memset(&space.stored[first], 0, slots);
		memset(&space.shared[first], 0, slots);
		gd_known_clear(first << GD_SLOT_SHIFT, bytes);
	}
	pthread_rwlock_unlock(&space.moving);
}
