/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/intern_table.h"

#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

/* For another thread to give a new entry its number: two instructions, between which it may lose
 * its processor. */
#define SPIN_ROUNDS 1000
#define YIELD_ROUNDS 1000

bool gs_intern_init(struct gs_intern_table *table, unsigned slots_log2)
{
	size_t bytes = sizeof(struct gs_intern_slot) << slots_log2;
	void *slots = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (slots == MAP_FAILED)
		return false;
	table->slots = slots;
	table->mask = (1u << slots_log2) - 1;
	table->limit = (table->mask + 1) / 4 * 3;
	table->count = 0;
	table->epoch = 1; /* 0 is that of an entry never used */
	return true;
}

void gs_intern_reset(struct gs_intern_table *table)
{
	if (!table->slots)
		return;
	/* Private anonymous pages read as zero afterwards. */
	madvise(table->slots, ((size_t)table->mask + 1) * sizeof(struct gs_intern_slot),
	    MADV_DONTNEED);
	table->count = 0;
	table->epoch++;
}

static uint32_t slot_id(struct gs_intern_slot *slot)
{
	for (unsigned round = 0; round < SPIN_ROUNDS + YIELD_ROUNDS; round++) {
		uint32_t id = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
		if (id)
			return id;
		if (round >= SPIN_ROUNDS)
			sched_yield();
	}
	return 0;
}

/* @return the slot of `hash` or the free one where it belongs; NULL if there is neither */
static struct gs_intern_slot *find_slot(const struct gs_intern_table *table, uint64_t hash)
{
	uint32_t index = (uint32_t)hash;
	for (uint32_t i = 0; i <= table->mask; i++, index++) {
		struct gs_intern_slot *slot = &table->slots[index & table->mask];
		uint64_t found = __atomic_load_n(&slot->hash, __ATOMIC_ACQUIRE);
		if (found == hash || !found)
			return slot;
	}
	return NULL;
}

static uint32_t add(struct gs_intern_table *table, uint64_t hash, bool *new_out)
{
	if (gs_intern_full(table))
		return 0;
	for (;;) {
		struct gs_intern_slot *slot = find_slot(table, hash);
		uint64_t expected = 0;
		if (!slot)
			return 0;
		if (__atomic_compare_exchange_n(&slot->hash, &expected, hash, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			uint32_t id = __atomic_add_fetch(&table->count, 1, __ATOMIC_RELAXED);
			__atomic_store_n(&slot->id, id, __ATOMIC_RELEASE);
			*new_out = true;
			return id;
		}
		if (expected == hash)
			return slot_id(slot);
	}
}

uint32_t gs_intern(struct gs_intern_table *table, uint64_t hash, bool *new_out)
{
	*new_out = false;
	if (!table->slots)
		return 0;
	struct gs_intern_slot *slot = find_slot(table, hash);
	if (!slot || __atomic_load_n(&slot->hash, __ATOMIC_ACQUIRE) != hash)
		return add(table, hash, new_out);
	if (__builtin_expect(__atomic_load_n(&slot->lost, __ATOMIC_RELAXED), 0))
		*new_out = __atomic_exchange_n(&slot->lost, 0, __ATOMIC_ACQ_REL) == 1;
	return slot_id(slot);
}

void gs_intern_failed(struct gs_intern_table *table, uint64_t hash)
{
	struct gs_intern_slot *slot = table->slots ? find_slot(table, hash) : NULL;
	if (slot && __atomic_load_n(&slot->hash, __ATOMIC_ACQUIRE) == hash)
		__atomic_store_n(&slot->lost, 1, __ATOMIC_RELEASE);
	__atomic_add_fetch(&table->epoch, 1, __ATOMIC_RELEASE);
}
