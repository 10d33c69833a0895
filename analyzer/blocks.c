/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/blocks.h"

#include <stdlib.h>

#include "analyzer/columns.h"
#include "analyzer/replayed_retries.h"
#include "analyzer/sizes.h"

#define TYPES \
	(UINT64_C(1) << GF_TAG_block | UINT64_C(1) << GF_TAG_memory | UINT64_C(1) << GF_TAG_oom | \
	    UINT64_C(1) << GF_TAG_mem_info | UINT64_C(1) << GF_TAG_mark)
/* Slots that may be looked at for the holders of memory at all refusals together. */
#define TOP_WORK_LIMIT (UINT64_C(1) << 26)
/* Sites that whole lists at refusals may have together; lists behind them are cut. */
#define TOP_SITES_LIMIT ((size_t)1 << 20)

/* Pools of the driver hand out whole multiples of this and count them so. */
#define POOL_GRAIN 512u

/*
 * A segment is noted late, with its own time: whether the allocator counts it, its next block
 * tells.  A segment that comes while one of the same device waits for its block tells that it does
 * not.
 */
static void note_segment(struct ga_memory *memory, bool counts)
{
	if (counts)
		ga_account_note(memory->unnoted, memory->unnoted_ticks, memory->order);
	memory->unnoted = NULL;
}

static void block_add(struct ga_memory *memory, struct ga_account *account, uint64_t address,
    uint64_t size_bytes, uint32_t stack_id)
{
	struct ga_block *block = ga_map_add(&memory->live, address);
	if (block->order) {
		memory->overlaps++;
		struct ga_account *old = memory->accounts.by_device[block->device];
		ga_decrease(&old->allocated, block->size_bytes);
		ga_account_depart(old, block);
	}
	block->size_bytes = size_bytes;
	block->order = ++memory->order;
	block->stack_id = stack_id;
	block->device = account->device;
	account->allocated += size_bytes;
	account->alloc_count++;
}

static void block_remove(
    struct ga_memory *memory, struct ga_account *account, uint64_t address, uint64_t size_bytes)
{
	struct ga_block *block = ga_map_find(&memory->live, address);
	if (block) {
		ga_account_depart(account, block);
		ga_map_remove(&memory->live, block);
	} else {
		account->unknown_frees++;
	}
	ga_decrease(&account->allocated, size_bytes);
	account->free_count++;
}

/* Compare our sums with PyTorch's totals of the same instant, which win. */
static void settle(struct ga_memory *memory, struct ga_account *account, const struct gf_rows *rows,
    uint32_t row, uint64_t ticks, uint64_t address)
{
	uint64_t allocated = ga_u64(rows, GA_BLOCK_allocated, row);
	uint64_t reserved = ga_u64(rows, GA_BLOCK_reserved, row);
	if (!account->totals_known)
		return;
	if (allocated != account->allocated)
		ga_account_correct(
		    &account->allocated, allocated, ticks, &account->allocated_difference);
	if (reserved == account->reserved)
		return;
	ga_driver_claim(&memory->driver, account, address);
	if (reserved < account->reserved)
		ga_driver_disclaim(&memory->driver, account, account->reserved - reserved, address);
	ga_account_correct(&account->reserved, reserved, ticks, &account->reserved_difference);
}

static void count_retry(struct ga_account *account, enum ga_retried retried)
{
	account->retry_count += retried == GA_RETRIED_YES;
	account->unknown_retries += retried == GA_RETRIED_UNKNOWN;
}

static void on_block(struct ga_memory *memory, const struct gf_event_ref *event)
{
	const struct gf_rows *rows = &event->batch->rows[GF_TAG_block];
	uint32_t row = event->row;
	struct ga_account *account =
	    ga_account_open(&memory->accounts, ga_u16(rows, GA_BLOCK_device, row));
	uint64_t address = ga_u64(rows, GA_BLOCK_address, row);
	int64_t size = (int64_t)ga_u64(rows, GA_BLOCK_size, row);
	if (!account || address == 0 || size == 0)
		return;
	memory->driver.epoch++;
	if (memory->unnoted)
		note_segment(memory, memory->unnoted != account || !account->totals_known ||
					 ga_u64(rows, GA_BLOCK_reserved, row) >= account->reserved);
	if (size > 0) {
		/* The total after handing out a block holds at least this block. */
		if (ga_u64(rows, GA_BLOCK_allocated, row) < (uint64_t)size)
			account->totals_known = false;
		block_add(
		    memory, account, address, (uint64_t)size, ga_u32(rows, GA_BLOCK_stack_id, row));
		ga_refusals_stream(&memory->refusals, ga_u64(rows, GA_BLOCK_stream, row));
		count_retry(account, ga_refusals_block(&memory->refusals, event->thread_id, event));
	} else {
		block_remove(memory, account, address, 0 - (uint64_t)size);
	}
	settle(memory, account, rows, row, event->ticks, address);
	ga_account_note(account, event->ticks, memory->order);
}

/* ---- refusals ---- */

/* Who holds the memory of the device now. */
static void fill_holders(struct ga_memory *memory, struct ga_oom *oom)
{
	if (memory->holders == 0)
		return;
	memory->top_work += memory->live.mask + 1;
	if (memory->top_work > TOP_WORK_LIMIT) {
		memory->unlisted++;
		return;
	}
	ga_sites_collect(&oom->top, memory->model->stacks, &memory->live, oom->device,
	    memory->order, NULL, 0);
	if (oom->top.count <= memory->site_room)
		memory->site_room -= oom->top.count;
	else
		ga_sites_cut(&oom->top, memory->holders);
}

static void fill_oom(struct ga_memory *memory, struct ga_oom *oom, bool totals)
{
	struct ga_account *account = NULL;
	if (oom->device < GA_DEVICE_LIMIT)
		account = memory->accounts.by_device[oom->device];
	if (!account)
		return;
	oom->non_torch = account->non_torch;
	if (totals) {
		oom->allocated = account->allocated;
		oom->reserved =
		    memory->backend == GA_BACKEND_ASYNC ? GA_UNKNOWN : account->reserved;
	}
	fill_holders(memory, oom);
}

static void on_oom(struct ga_memory *memory, const struct gf_event_ref *event)
{
	struct gf_oom record;
	enum ga_retried retried;
	gf_get_oom(event->batch, event->row, &record);
	struct ga_account *account = ga_account_open(&memory->accounts, record.device);
	struct ga_oom *oom =
	    ga_refusals_oom(&memory->refusals, &record, event->thread_id, event->ticks, &retried);
	if (account) {
		account->oom_count++;
		count_retry(account, retried);
	}
	fill_oom(memory, oom, false);
}

/* Those that PyTorch reports have been counted; which of the driver's it cured is known at the end. */
static void count_refused_blocks(struct ga_memory *memory)
{
	for (size_t i = 0; i < memory->refusals.count; i++) {
		const struct ga_oom *oom = &memory->refusals.ooms[i];
		if (!oom->outside && oom->rounded == GA_UNKNOWN && oom->device < GA_DEVICE_LIMIT)
			ga_account_open(&memory->accounts, oom->device)->oom_count++;
	}
}

/* ---- calls of the driver ---- */

/* Whether an allocation of the driver is itself a block of the program. */
static bool is_block_call(const struct ga_memory *memory, uint16_t kind)
{
	switch (memory->backend) {
	case GA_BACKEND_NATIVE:
		return false;
	case GA_BACKEND_ASYNC:
		return kind == GF_MEMORY_ALLOC_ASYNC;
	default:
		return kind == GF_MEMORY_ALLOC || kind == GF_MEMORY_ALLOC_ASYNC;
	}
}

static bool is_free(uint16_t kind)
{
	return kind == GF_MEMORY_FREE || kind == GF_MEMORY_FREE_ASYNC;
}

/* Whether this becomes a node of a graph: its memory is the graph's, once that is launched. Neither
 * the pool nor PyTorch, which asks the pool, ever counts it, and its free finds no block. */
static bool is_graph_node(const struct ga_memory *memory, const struct gf_memory *record)
{
	return memory->backend == GA_BACKEND_ASYNC && record->kind == GF_MEMORY_ALLOC_ASYNC &&
	       record->flags & GF_FLAG_CAPTURED && record->status == 0;
}

/* The block that a free of the driver gives back; back ends without caching only. */
static struct ga_block *freed_block(const struct ga_memory *memory, const struct gf_memory *record)
{
	if (memory->backend == GA_BACKEND_NATIVE || !is_free(record->kind) || record->status != 0)
		return NULL;
	return ga_map_find(&memory->live, record->address);
}

static struct ga_account *driver_block(struct ga_memory *memory, const struct gf_memory *record)
{
	struct ga_account *account = ga_account_open(&memory->accounts, record->device);
	uint64_t bytes = record->size;
	if (memory->backend == GA_BACKEND_ASYNC && bytes < UINT64_MAX - POOL_GRAIN)
		bytes = (bytes + POOL_GRAIN - 1) / POOL_GRAIN * POOL_GRAIN;
	if (account && record->address && record->size)
		block_add(memory, account, record->address, bytes, record->stack_id);
	return account;
}

/* A segment of the allocator was made. */
static bool is_segment(const struct ga_memory *memory, const struct gf_memory *record)
{
	return memory->backend == GA_BACKEND_NATIVE && record->kind == GF_MEMORY_ALLOC &&
	       !record->status && record->flags & GF_FLAG_IN_ALLOCATOR;
}

/* What a call just gave back: a segment, or pages of an expandable one. */
static uint64_t freed_bytes(const struct ga_memory *memory, const struct gf_memory *record)
{
	if (record->kind == GF_MEMORY_UNMAP)
		return record->status ? 0 : record->size;
	return memory->driver.dropped_bytes;
}

static void on_memory(struct ga_memory *memory, const struct gf_event_ref *event)
{
	struct gf_memory record;
	gf_get_memory(event->batch, event->row, &record);
	bool block = is_block_call(memory, record.kind);
	if (memory->unnoted)
		note_segment(memory,
		    !is_segment(memory, &record) || memory->unnoted->device != record.device);
	struct ga_oom *oom =
	    ga_refusals_call(&memory->refusals, &record, event->thread_id, event->ticks, block);
	struct ga_account *account = NULL;
	if (oom) {
		fill_oom(memory, oom, true);
		return;
	}
	if (is_graph_node(memory, &record)) {
		memory->graph_allocs++;
		memory->graph_bytes += record.size;
		return;
	}
	struct ga_block *freed = freed_block(memory, &record);
	if (freed) {
		account = memory->accounts.by_device[freed->device];
		block_remove(memory, account, record.address, freed->size_bytes);
		/* No piece of the driver's: it only learns which release was the last. */
		ga_driver_event(&memory->driver, &record, event->thread_id);
	} else if (block && record.status == 0) {
		account = driver_block(memory, &record);
	} else {
		account = ga_driver_event(&memory->driver, &record, event->thread_id);
		uint64_t bytes = freed_bytes(memory, &record);
		if (account && bytes && record.flags & GF_FLAG_IN_ALLOCATOR)
			ga_refusals_freed(
			    &memory->refusals, event->thread_id, bytes, account->reserved + bytes);
	}
	if (!account)
		return;
	if (memory->backend == GA_BACKEND_DIRECT)
		account->reserved = account->allocated;
	if (is_segment(memory, &record)) {
		memory->unnoted = account;
		memory->unnoted_ticks = event->ticks;
		return;
	}
	ga_account_note(account, event->ticks, memory->order);
}

static void on_mem_info(struct ga_memory *memory, const struct gf_event_ref *event)
{
	struct gf_mem_info record;
	gf_get_mem_info(event->batch, event->row, &record);
	ga_refusals_mem_info(&memory->refusals, &record, event->thread_id);
}

static void on_mark(struct ga_memory *memory, const struct gf_event_ref *event)
{
	struct gf_mark mark;
	gf_get_mark(event->batch, event->row, &mark);
	ga_refusals_fraction(&memory->refusals, &mark);
}

/* ---- the pass ---- */

static void on_event(struct ga_memory *memory, const struct gf_event_ref *event)
{
	switch (event->type) {
	case GF_TAG_block:
		on_block(memory, event);
		break;
	case GF_TAG_memory:
		on_memory(memory, event);
		break;
	case GF_TAG_oom:
		on_oom(memory, event);
		break;
	case GF_TAG_mem_info:
		on_mem_info(memory, event);
		break;
	case GF_TAG_mark:
		on_mark(memory, event);
		break;
	default:
		break;
	}
}

static enum gf_status walk(struct ga_memory *memory, struct gf_error *error)
{
	struct gf_merge *merge = gf_merge_open(memory->model->reader, TYPES);
	if (!merge)
		return gf_fail(
		    error, GF_NO_MEMORY, UINT64_MAX, "no memory to read %s", memory->model->path);
	struct gf_event_ref event;
	enum gf_status status;
	while ((status = gf_merge_next(merge, &event, error)) == GF_OK)
		on_event(memory, &event);
	gf_merge_close(merge);
	if (memory->unnoted)
		note_segment(memory, true);
	return status == GF_END ? GF_OK : status;
}

static enum gf_status analyse(
    struct ga_model *model, size_t holders, struct ga_memory *memory, struct gf_error *error)
{
	*memory = (struct ga_memory){.model = model,
	    .backend = model->backend,
	    .holders = holders,
	    .site_room = TOP_SITES_LIMIT};
	memory->accounts.first_ticks = model->summary->first_ticks;
	memory->accounts.last_ticks = model->summary->last_ticks;
	ga_driver_init(&memory->driver, &memory->accounts);
	ga_map_init(&memory->live, sizeof(struct ga_block));
	ga_refusals_init(&memory->refusals, model);
	enum gf_status status = walk(memory, error);
	if (status != GF_OK) {
		ga_memory_free(memory);
		return status;
	}
	ga_refusals_end(&memory->refusals);
	count_refused_blocks(memory);
	status = ga_retries_settle(memory, error);
	if (status != GF_OK)
		ga_memory_free(memory);
	return status;
}

enum gf_status ga_memory_analyse(
    struct ga_model *model, struct ga_memory *memory_out, struct gf_error *error)
{
	return analyse(model, 0, memory_out, error);
}

enum gf_status ga_memory_analyse_holders(struct ga_model *model, size_t holders,
    struct ga_memory *memory_out, struct gf_error *error)
{
	return analyse(model, holders, memory_out, error);
}

void ga_memory_free(struct ga_memory *memory)
{
	ga_refusals_free(&memory->refusals);
	ga_map_free(&memory->live);
	ga_driver_free(&memory->driver);
	ga_accounts_free(&memory->accounts);
}

const struct ga_account *ga_memory_next(const struct ga_memory *memory, int device)
{
	for (device++; device < GA_DEVICE_LIMIT; device++)
		if (memory->accounts.by_device[device])
			return memory->accounts.by_device[device];
	return NULL;
}

void ga_memory_peak_sites(
    const struct ga_memory *memory, const struct ga_account *account, struct ga_sites *sites_out)
{
	ga_sites_collect(sites_out, memory->model->stacks, &memory->live, account->device,
	    account->peak_order, account->departed, account->departed_count);
	if (sites_out->bytes < account->peak.allocated)
		ga_sites_add_missing(sites_out, account->peak.allocated - sites_out->bytes);
}

/* ---- notices ---- */

static void difference_notice(const struct ga_account *account, const char *what,
    const struct ga_difference *difference, struct ga_strings *notices)
{
	char bytes[GA_SIZE_TEXT], count[GA_SIZE_TEXT];
	if (difference->count)
		ga_strings_add(notices,
		    "device %u: the sum of recorded %s differs from PyTorch's own total by up "
		    "to %s (events: %s); PyTorch's figures are used",
		    account->device, what, ga_size_text(difference->most_bytes, bytes),
		    ga_count_text(difference->count, count));
}

void ga_memory_notices(const struct ga_memory *memory, struct ga_strings *notices)
{
	const struct ga_account *account = NULL;
	char count[GA_SIZE_TEXT], bytes[GA_SIZE_TEXT];
	uint64_t blocks = 0;
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		difference_notice(account, "blocks", &account->allocated_difference, notices);
		difference_notice(account, "segments", &account->reserved_difference, notices);
		if (account->unknown_frees)
			ga_strings_add(notices,
			    "device %u: frees of blocks whose allocation is not in the "
			    "recording: %s",
			    account->device, ga_count_text(account->unknown_frees, count));
		blocks += account->alloc_count;
	}
	if (memory->overlaps)
		ga_strings_add(notices,
		    "blocks handed out at an address that was not freed before: %s",
		    ga_count_text(memory->overlaps, count));
	if (memory->accounts.misplaced)
		ga_strings_add(notices, "events that name no usable device and are left out: %s",
		    ga_count_text(memory->accounts.misplaced, count));
	if (memory->driver.untracked)
		ga_strings_add(notices, "reserved address ranges beyond what is followed: %s",
		    ga_count_text(memory->driver.untracked, count));
	if (memory->unlisted)
		ga_strings_add(notices,
		    "out-of-memory errors of which it is not told who held the memory, because there "
		    "are so many: the last %s",
		    ga_count_text(memory->unlisted, count));
	if (memory->backend == GA_BACKEND_ASYNC)
		ga_strings_add(notices,
		    "the driver's memory pools hand out blocks (backend:cudaMallocAsync): sizes "
		    "are rounded up to 512 bytes as the pools count them; what the pools reserve "
		    "beyond them is not visible");
	if (memory->graph_allocs)
		ga_strings_add(notices,
		    "memory of CUDA graphs is not the pools' and left out, as PyTorch leaves it "
		    "out: "
		    "allocations captured: %s, together %s",
		    ga_count_text(memory->graph_allocs, count),
		    ga_size_text(memory->graph_bytes, bytes));
	if (blocks == 0 && memory->backend == GA_BACKEND_NATIVE &&
	    ga_model_records(memory->model, "memory"))
		ga_strings_add(notices, "no block of PyTorch's caching allocator was recorded");
	else if (memory->backend == GA_BACKEND_DIRECT)
		ga_strings_add(
		    notices, "no caching allocator: each block is an allocation of the driver");
}
