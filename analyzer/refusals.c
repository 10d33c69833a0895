/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/refusals.h"

#include <stdlib.h>

#include "analyzer/allocator_rounding.h"
#include "analyzer/sizes.h"
#include "analyzer/xalloc.h"

#define CUDA_OUT_OF_MEMORY 2 /* CUDA_ERROR_OUT_OF_MEMORY */
#define MIB (UINT64_C(1) << 20)

/* A thread's attempts since a block was last handed out on it. */
struct row {
	uint64_t thread_id;
	struct ga_attempts attempts; /* inside the allocator */
	uint64_t device_free, device_total;
	uint16_t refused_kind, refused_api;
	size_t outside;	   /* its last uncured refusal outside the allocator, + 1; 0 = none */
	size_t unanswered; /* entry + 1 that the next cuMemGetInfo on the thread completes */
	size_t trimmed;	   /* entry + 1 behind which the thread trimmed a pool; 0 = none */
};

/* A setting of the allocator in MiB, as bytes. */
static uint64_t setting_mib(const struct ga_model *model, const char *name, uint64_t otherwise)
{
	char *text = ga_model_setting(model, name);
	uint64_t mib;
	bool good = text && ga_size_parse(text, &mib) && mib > 0 && mib < MIB;
	free(text);
	return good ? mib * MIB : otherwise;
}

/* The recorded settings; of a text that the recorded release refuses, what matters here most. */
static void read_settings(const struct ga_model *model, struct ga_allocator_settings *settings_out)
{
	int torch = ga_torch_number(ga_model_property(model, "torch_version"));
	const char *text = ga_model_allocator_settings(model);
	if (ga_allocator_settings_parse(torch, text, settings_out, NULL) == GF_OK)
		return;
	ga_allocator_settings_default(torch, settings_out);
	settings_out->max_split_bytes = setting_mib(model, "max_split_size_mb", UINT64_MAX);
	settings_out->large_segment_bytes = setting_mib(model, "large_segment_size_mb", 20 * MIB);
}

void ga_refusals_init(struct ga_refusals *refusals, const struct ga_model *model)
{
	*refusals = (struct ga_refusals){.model = model};
	ga_map_init(&refusals->threads, sizeof(struct row));
	read_settings(model, &refusals->settings);
	for (unsigned i = 0; i < GA_DEVICE_LIMIT; i++)
		refusals->fractions[i] = refusals->settings.fraction;
}

void ga_refusals_free(struct ga_refusals *refusals)
{
	for (size_t i = 0; i < refusals->count; i++)
		ga_sites_free(&refusals->ooms[i].top);
	free(refusals->ooms);
	ga_map_free(&refusals->threads);
}

static struct row *row_of(struct ga_refusals *refusals, uint32_t thread_id)
{
	bool known = ga_map_find(&refusals->threads, (uint64_t)thread_id + 1) != NULL;
	struct row *row = ga_map_add(&refusals->threads, (uint64_t)thread_id + 1);
	if (!known)
		row->device_free = row->device_total = GA_UNKNOWN;
	return row;
}

static struct ga_oom *append(struct ga_refusals *refusals, uint32_t thread_id, uint64_t ticks)
{
	refusals->ooms =
	    ga_xgrow(refusals->ooms, refusals->count, &refusals->capacity, sizeof(*refusals->ooms));
	struct ga_oom *oom = &refusals->ooms[refusals->count++];
	*oom = (struct ga_oom){
	    .device = GF_DEVICE_UNKNOWN,
	    .ticks = ticks,
	    .thread_id = thread_id,
	    .requested = GA_UNKNOWN,
	    .rounded = GA_UNKNOWN,
	    .segment = GA_UNKNOWN,
	    .allocated = GA_UNKNOWN,
	    .reserved = GA_UNKNOWN,
	    .device_free = GA_UNKNOWN,
	    .non_torch = GA_UNKNOWN,
	    .allowed = GA_UNKNOWN,
	    .device_total = GA_UNKNOWN,
	};
	return oom;
}

static bool allocates(uint16_t kind)
{
	switch (kind) {
	case GF_MEMORY_ALLOC:
	case GF_MEMORY_ALLOC_ASYNC:
	case GF_MEMORY_MANAGED:
	case GF_MEMORY_CREATE:
	case GF_MEMORY_HOST_ALLOC:
	case GF_MEMORY_HOST_REGISTER:
	case GF_MEMORY_ARRAY_CREATE:
		return true;
	default:
		return false;
	}
}

#define CURE_LIMIT 64 /* refusals that stay open and are looked at once more */

/* A request succeeded: those of its kind and at most its size that were refused before it on this
 * thread are cured. */
static void cure(struct ga_refusals *refusals, const struct gf_memory *record, uint32_t thread_id)
{
	struct row *row = ga_map_find(&refusals->threads, (uint64_t)thread_id + 1);
	if (!row || !row->outside)
		return;
	size_t *link = &row->outside;
	for (unsigned open = 0; *link && open < CURE_LIMIT;) {
		struct ga_oom *oom = &refusals->ooms[*link - 1];
		if (oom->kind == record->kind && oom->segment <= record->size) {
			oom->cured = true;
			*link = oom->previous;
		} else {
			link = &oom->previous;
			open++;
		}
	}
	refusals->open_outside -= row->outside == 0;
}

/* From PyTorch 2.15 on the asynchronous back end trims the pool after a refusal and asks once more. */
static void pool_trimmed(struct ga_refusals *refusals, uint32_t thread_id)
{
	struct row *row = ga_map_find(&refusals->threads, (uint64_t)thread_id + 1);
	if (!row || !row->unanswered || row->trimmed)
		return;
	row->trimmed = row->unanswered;
	refusals->open_trims++;
}

/* The thread asks for a block: for the one that it was refused before it trimmed? */
static void asked_again(struct ga_refusals *refusals, uint32_t thread_id, uint64_t bytes)
{
	struct row *row = ga_map_find(&refusals->threads, (uint64_t)thread_id + 1);
	if (!row || !row->trimmed)
		return;
	struct ga_oom *oom = &refusals->ooms[row->trimmed - 1];
	oom->cured = oom->segment == bytes;
	row->trimmed = 0;
	refusals->open_trims--;
}

static struct ga_oom *refused_call(struct ga_refusals *refusals, struct row *row,
    const struct gf_memory *record, uint64_t ticks, bool block)
{
	struct ga_oom *oom = append(refusals, (uint32_t)(row->thread_id - 1), ticks);
	oom->device = record->device;
	oom->outside = !block;
	oom->stack_id = record->stack_id;
	oom->api = record->api;
	oom->code = record->status;
	oom->kind = record->kind;
	oom->requested = oom->segment = record->size;
	row->unanswered = block ? refusals->count : 0;
	if (block)
		return oom;
	oom->previous = row->outside;
	refusals->open_outside += row->outside == 0;
	row->outside = refusals->count;
	return oom;
}

struct ga_oom *ga_refusals_call(struct ga_refusals *refusals, const struct gf_memory *record,
    uint32_t thread_id, uint64_t ticks, bool block)
{
	bool inside = (record->flags & GF_FLAG_IN_ALLOCATOR) != 0;
	refusals->flags_seen |= inside;
	if (record->kind == GF_MEMORY_POOL_TRIM)
		pool_trimmed(refusals, thread_id);
	if (!allocates(record->kind))
		return NULL;
	if (block && refusals->open_trims)
		asked_again(refusals, thread_id, record->size);
	if (record->status == 0) {
		if (refusals->open_outside && !inside)
			cure(refusals, record, thread_id);
		return NULL;
	}
	if (record->status != CUDA_OUT_OF_MEMORY)
		return NULL;
	struct row *row = row_of(refusals, thread_id);
	if (block || !inside)
		return refused_call(refusals, row, record, ticks, block);
	refusals->open_rows += !ga_attempts_any(&row->attempts);
	ga_attempts_refused(&row->attempts, record->size);
	row->refused_kind = record->kind;
	row->refused_api = record->api;
	row->device_free = row->device_total = GA_UNKNOWN; /* what was asked before is stale */
	return NULL;
}

void ga_refusals_mem_info(
    struct ga_refusals *refusals, const struct gf_mem_info *record, uint32_t thread_id)
{
	if (record->status != 0)
		return;
	struct row *row = row_of(refusals, thread_id);
	row->device_free = record->free_bytes;
	row->device_total = record->total_bytes;
	if (row->unanswered) {
		struct ga_oom *oom = &refusals->ooms[row->unanswered - 1];
		oom->device_free = record->free_bytes;
		oom->device_total = record->total_bytes;
		row->unanswered = 0;
	}
}

void ga_refusals_freed(
    struct ga_refusals *refusals, uint32_t thread_id, uint64_t bytes, uint64_t reserved)
{
	struct row *row = row_of(refusals, thread_id);
	refusals->open_rows += !ga_attempts_any(&row->attempts);
	ga_attempts_freed(&row->attempts, bytes, reserved);
}

void ga_refusals_fraction(struct ga_refusals *refusals, const struct gf_mark *mark)
{
	if (mark->kind == GF_MARK_MEMORY_FRACTION && mark->value2 < GA_DEVICE_LIMIT)
		refusals->fractions[mark->value2] = (double)mark->value / (double)GF_FRACTION_ONE;
}

static uint64_t allowed_bytes(const struct ga_refusals *refusals, unsigned device)
{
	double fraction = device < GA_DEVICE_LIMIT ? refusals->fractions[device] : -1;
	uint64_t total = ga_model_device_number(refusals->model, device, "total_bytes");
	if (fraction < 0 || (fraction >= 1 && refusals->settings.whole_is_no_limit) ||
	    total == GA_UNKNOWN)
		return GA_UNKNOWN;
	return (uint64_t)(fraction * (double)total);
}

/* The request that a thread's row was about has ended. */
static enum ga_retried close_row(struct ga_refusals *refusals, struct row *row, unsigned device,
    struct ga_attempt_request *request)
{
	if (!ga_attempts_any(&row->attempts))
		return GA_RETRIED_NO;
	request->segment_bytes = ga_round_segment(&refusals->settings, request->block_bytes);
	request->allowed_bytes = allowed_bytes(refusals, device);
	request->several_streams = refusals->several_streams;
	enum ga_retried retried = ga_attempts_judge(&row->attempts, &refusals->settings, request);
	row->attempts = (struct ga_attempts){0};
	refusals->open_rows--;
	return retried;
}

enum ga_retried ga_refusals_close_row(
    struct ga_refusals *refusals, uint32_t thread_id, const struct gf_block *block)
{
	struct row *row = ga_map_find(&refusals->threads, (uint64_t)thread_id + 1);
	uint64_t bytes = (uint64_t)block->size;
	if (!row)
		return GA_RETRIED_NO;
	/* A block above the split limit is a whole segment, up to 2 MiB above the request. */
	if (block->flags & GF_FLAG_REQUEST_KNOWN && block->requested)
		bytes = ga_round_request(&refusals->settings, block->requested);
	else if (bytes >= refusals->settings.max_split_bytes && bytes > 20 * MIB)
		bytes -= 2 * MIB - 512;
	return close_row(
	    refusals, row, block->device, &(struct ga_attempt_request){.block_bytes = bytes});
}

struct ga_oom *ga_refusals_oom(struct ga_refusals *refusals, const struct gf_oom *record,
    uint32_t thread_id, uint64_t ticks, enum ga_retried *retried_out)
{
	struct row *row = row_of(refusals, thread_id);
	struct ga_oom *oom = append(refusals, thread_id, ticks);
	oom->device = record->device;
	oom->stack_id = record->stack_id;
	oom->rounded = record->size;
	if (record->flags & GF_FLAG_REQUEST_KNOWN)
		oom->requested = record->requested;
	oom->segment = ga_round_segment(&refusals->settings, record->size);
	if (row->attempts.refused_count) {
		oom->kind = row->refused_kind;
		oom->api = row->refused_api;
		oom->code = CUDA_OUT_OF_MEMORY;
		if (row->refused_kind == GF_MEMORY_ALLOC) /* expandable segments ask page by page */
			oom->segment = row->attempts.refused_bytes;
	}
	oom->allocated = record->allocated;
	oom->reserved = record->reserved;
	oom->allowed = allowed_bytes(refusals, record->device);
	oom->device_free = row->device_free;
	oom->device_total = row->device_total;
	*retried_out = GA_RETRIED_YES; /* if nothing was seen, a fraction refused both attempts */
	if (ga_attempts_any(&row->attempts))
		*retried_out = close_row(refusals, row, record->device,
		    &(struct ga_attempt_request){.block_bytes = record->size, .failed = true});
	return oom;
}

/* Only what the recording proves by itself. */
static enum ga_verdict judge(const struct ga_refusals *refusals, const struct ga_oom *oom)
{
	bool sizes = oom->device_total != GA_UNKNOWN && oom->device_free != GA_UNKNOWN;
	if (ga_model_lost(refusals->model) || ga_model_damaged(refusals->model))
		return GA_VERDICT_unknown;
	if (oom->outside)
		return GA_VERDICT_not_device_allocator;
	if (sizes && oom->segment > oom->device_total)
		return GA_VERDICT_impossible_request;
	if (sizes && oom->code == 0 && refusals->flags_seen && oom->device_free >= oom->segment)
		return GA_VERDICT_fraction_limit;
	return GA_VERDICT_unknown;
}

static int by_time(const void *left, const void *right)
{
	const struct ga_oom *a = left, *b = right;
	if (a->ticks != b->ticks)
		return a->ticks < b->ticks ? -1 : 1;
	return a->thread_id < b->thread_id ? -1 : a->thread_id > b->thread_id;
}

void ga_refusals_end(struct ga_refusals *refusals)
{
	size_t kept = 0;
	for (size_t i = 0; i < refusals->count; i++) {
		struct ga_oom *oom = &refusals->ooms[i];
		if (oom->cured) {
			ga_sites_free(&oom->top);
			continue;
		}
		oom->verdict = judge(refusals, oom);
		refusals->ooms[kept++] = *oom;
	}
	refusals->count = kept;
	if (kept)
		qsort(refusals->ooms, kept, sizeof(*refusals->ooms), by_time);
}

uint64_t ga_oom_unseen(const struct ga_oom *oom)
{
	const uint64_t parts[] = {oom->device_free, oom->reserved, oom->non_torch};
	uint64_t rest = oom->device_total;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		if (rest == GA_UNKNOWN || parts[i] == GA_UNKNOWN || parts[i] > rest)
			return GA_UNKNOWN;
		rest -= parts[i];
	}
	return rest;
}

const char *ga_verdict_name(enum ga_verdict verdict)
{
	static const char *const names[] = {
#define V(name, words) #name,
	    GA_VERDICTS(V)
#undef V
	};
	return names[verdict];
}

const char *ga_verdict_words(enum ga_verdict verdict)
{
	static const char *const words[] = {
#define V(name, text) text,
	    GA_VERDICTS(V)
#undef V
	};
	return words[verdict];
}
