/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/names.h"

#include <string.h>
#include <sys/mman.h>

#include "shim/questions.h"

#define GS_NAME_SLOTS 65536u     /* powers of two */
#define GS_FUNCTION_SLOTS 65536u
#define GS_PROBES 64u

/* Open addressing; a key of 0 is a free slot.  Pages are touched as they fill. */
struct gs_name_slot {
	uint64_t key;
	uint32_t id;   /* 0: the number is not there yet */
	uint32_t lost; /* 1: there was no room for the text */
};
struct gs_name_table {
	struct gs_name_slot names[GS_NAME_SLOTS];
	uint64_t functions[GS_FUNCTION_SLOTS]; /* handle xor epoch */
};

static struct gs_name_table *gs_table;
static uint32_t gs_name_last_id;
static uint64_t gs_function_epoch; /* in bits that handles do not use */

void gs_names_reset(void)
{
	/* A fork child leaves the old table to the parent's copy of the address space. */
	void *table = mmap(NULL, sizeof(struct gs_name_table), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	gs_table = table == MAP_FAILED ? NULL : table;
	gs_name_last_id = 0;
	gs_function_epoch = 0;
}

static uint64_t gs_mix(uint64_t x)
{
	x ^= x >> 32;
	x *= 0x9fb21c651e98df25u;
	x ^= x >> 29;
	return x;
}

/* 64 bits of a text, never 0. */
static uint64_t gs_text_key(const char *text, size_t length)
{
	uint64_t hash = length;
	for (; length >= 8; text += 8, length -= 8) {
		uint64_t word;
		memcpy(&word, text, 8);
		hash = gs_mix(hash ^ word) + 0x9e3779b97f4a7c15u;
	}
	uint64_t rest = 0;
	memcpy(&rest, text, length);
	hash = gs_mix(gs_mix(hash ^ rest));
	return hash ? hash : 1;
}

/* @return whether the text is in the trace */
static bool gs_name_new(struct gs_thread *thread, const char *name, size_t length, uint32_t *id_out)
{
	*id_out = __atomic_add_fetch(&gs_name_last_id, 1, __ATOMIC_RELAXED);
	return gs_append_text(thread, GF_TEXT_NAME, *id_out, name, length);
}

static bool gs_name_again(struct gs_thread *thread, struct gs_name_slot *slot, const char *name,
    size_t length, uint32_t id)
{
	if (!__atomic_exchange_n(&slot->lost, 0, __ATOMIC_ACQ_REL) ||
	    gs_append_text(thread, GF_TEXT_NAME, id, name, length))
		return true;
	__atomic_store_n(&slot->lost, 1, __ATOMIC_RELEASE);
	return false;
}

bool gs_name_id(struct gs_thread *thread, const char *name, uint32_t *id_out)
{
	size_t length = strnlen(name, GF_TEXT_MAX_BYTES + 1);
	uint64_t key = gs_text_key(name, length);
	for (uint32_t i = 0; gs_table && i < GS_PROBES; i++) {
		struct gs_name_slot *slot = &gs_table->names[(key + i) % GS_NAME_SLOTS];
		uint64_t found = 0;
		if (__atomic_compare_exchange_n(&slot->key, &found, key, false, __ATOMIC_ACQ_REL,
			__ATOMIC_ACQUIRE)) {
			bool written = gs_name_new(thread, name, length, id_out);
			__atomic_store_n(&slot->lost, !written, __ATOMIC_RELAXED);
			__atomic_store_n(&slot->id, *id_out, __ATOMIC_RELEASE);
			return written;
		}
		if (found != key)
			continue;
		*id_out = __atomic_load_n(&slot->id, __ATOMIC_ACQUIRE);
		if (*id_out)
			return gs_name_again(thread, slot, name, length, *id_out);
		break; /* another thread is at the stores above: a second number does no harm */
	}
	return gs_name_new(thread, name, length, id_out);
}

/* Whether a handle is in the table of all threads.  `enter`: it is afterwards, if there is room. */
static bool gs_function_known(uint64_t function, bool enter)
{
	uint64_t key = function ^ gs_function_epoch;
	for (uint32_t i = 0; gs_table && i < GS_PROBES; i++) {
		/* By the key: what a handle was before each unload fills other slots. */
		uint64_t *slot = &gs_table->functions[(gs_mix(key) + i) % GS_FUNCTION_SLOTS];
		uint64_t found = __atomic_load_n(slot, __ATOMIC_RELAXED);
		if (!found && (!enter || __atomic_compare_exchange_n(slot, &found, key, false,
			__ATOMIC_RELAXED, __ATOMIC_RELAXED)))
			return false;
		if (found == key)
			return true;
	}
	return false;
}

static void gs_function_cache(struct gs_thread *thread, uint64_t function)
{
	thread->functions[gs_mix(function) % GS_FUNCTION_CACHE] = function ^ gs_function_epoch;
}

void gs_functions_forget(void)
{
	__atomic_fetch_add(&gs_function_epoch, 1ull << 48, __ATOMIC_RELAXED);
}

void gs_function_define(const struct gs_call *call, uint64_t module, uint64_t function,
    const char *name)
{
	if (!name && gs_ask.cuFuncGetName &&
	    gs_ask.cuFuncGetName(&name, (CUfunction)(uintptr_t)function) != CUDA_SUCCESS)
		name = NULL;
	if (!name && gs_ask.cuKernelGetName &&
	    gs_ask.cuKernelGetName(&name, (CUkernel)(uintptr_t)function) != CUDA_SUCCESS)
		name = NULL;
	uint32_t id = 0;
	bool named = !name || gs_name_id(call->thread, name, &id);
	struct gf_module *record = GS_DEFINITION(call->thread, module);
	if (!record)
		return;
	record->time = call->end;
	record->duration = call->end - call->start;
	record->module = module;
	record->function = function;
	record->name_id = id;
	record->kind = GF_MODULE_FUNCTION;
	record->api = call->hook;
	record->status = call->status;
	record->device = GF_DEVICE_UNKNOWN; /* a function may serve several */
	GS_PUBLISH(record, module);
	if (!named)
		return; /* the next launch tries again */
	gs_function_known(function, true);
	gs_function_cache(call->thread, function);
}

GS_HOT void gs_function_seen(const struct gs_call *call, uint64_t function, bool captured)
{
	uint64_t cached = call->thread->functions[gs_mix(function) % GS_FUNCTION_CACHE];
	if (GS_LIKELY(cached == (function ^ gs_function_epoch)) || call->status != CUDA_SUCCESS)
		return;
	/* The name may load code, which a capture forbids: the next launch asks again. */
	if (captured)
		return;
	if (gs_function_known(function, false))
		gs_function_cache(call->thread, function);
	else
		gs_function_define(call, 0, function, NULL);
}
