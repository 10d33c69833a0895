/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/counts.h"

#include "analyzer/columns.h"

#define BIT(name) (UINT64_C(1) << GF_TAG_##name)
/* The last three are counted by the file's own index; reading them finds what is damaged. */
#define TYPES \
	(BIT(copy) | BIT(memset) | BIT(launch) | BIT(graph) | BIT(wait) | BIT(memory) | \
	    BIT(event) | BIT(module) | BIT(call))

/* Records that stand for an event; the others are definitions, times and marks. */
static const uint8_t event_tags[] = {
    GF_TAG_block,
    GF_TAG_oom,
    GF_TAG_memory,
    GF_TAG_copy,
    GF_TAG_memset,
    GF_TAG_launch,
    GF_TAG_graph,
    GF_TAG_wait,
    GF_TAG_event,
    GF_TAG_mem_info,
    GF_TAG_module,
    GF_TAG_call,
};

static void count_copies(struct ga_counts *counts, const struct gf_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++) {
		uint64_t bytes = ga_u64(rows, GA_COPY_bytes, i);
		if (ga_u16(rows, GA_COPY_status, i) == 0 && bytes > 0) {
			counts->copy++;
			counts->copy_bytes += bytes;
		}
	}
}

static void count_memsets(struct ga_counts *counts, const struct gf_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		counts->memset +=
		    ga_u16(rows, GA_MEMSET_status, i) == 0 && ga_u64(rows, GA_MEMSET_bytes, i) > 0;
}

static void count_graphs(struct ga_counts *counts, const struct gf_rows *rows)
{
	for (uint32_t i = 0; i < rows->count; i++)
		counts->graph_launch += ga_u16(rows, GA_GRAPH_status, i) == 0 &&
					ga_u16(rows, GA_GRAPH_kind, i) == GF_GRAPH_LAUNCH;
}

static void count_batch(struct ga_counts *counts, const struct gf_batch *batch)
{
	const struct gf_rows *launches = &batch->rows[GF_TAG_launch];
	const struct gf_rows *waits = &batch->rows[GF_TAG_wait];
	const struct gf_rows *memory = &batch->rows[GF_TAG_memory];
	count_copies(counts, &batch->rows[GF_TAG_copy]);
	count_memsets(counts, &batch->rows[GF_TAG_memset]);
	count_graphs(counts, &batch->rows[GF_TAG_graph]);
	for (uint32_t i = 0; i < launches->count; i++)
		counts->launch += ga_u16(launches, GA_LAUNCH_status, i) == 0;
	for (uint32_t i = 0; i < waits->count; i++)
		counts->synchronization += ga_u16(waits, GA_WAIT_status, i) == 0;
	/* A record of its own may tell that a release failed; it is no event. */
	for (uint32_t i = 0; i < memory->count; i++)
		counts->total -= ga_u16(memory, GA_MEMORY_kind, i) == GF_MEMORY_RELEASE_FAILED;
}

static void count_memory(struct ga_counts *counts, const struct ga_memory *memory)
{
	const struct ga_account *account;
	for (int device = -1; (account = ga_memory_next(memory, device));
	     device = account->device) {
		counts->block_alloc += account->alloc_count;
		counts->block_free += account->free_count;
		counts->segment_alloc += account->segment_alloc_count;
		counts->segment_free += account->segment_free_count;
		counts->segment_map += account->segment_map_count;
		counts->segment_unmap += account->segment_unmap_count;
	}
	counts->oom += memory->refusals.count;
}

enum gf_status ga_counts_collect(struct ga_model *model, const struct ga_memory *memory,
    struct ga_counts *counts_out, struct gf_error *error)
{
	struct ga_counts counts = {0};
	struct gf_batch batch;
	enum gf_status status;
	count_memory(&counts, memory);
	gf_reader_rewind(model->reader);
	while ((status = gf_reader_next_batch(model->reader, TYPES, &batch, error)) == GF_OK)
		count_batch(&counts, &batch);
	if (status != GF_END)
		return status;
	/* After the pass: frames found damaged by it do not count. */
	for (size_t i = 0; i < sizeof(event_tags); i++)
		counts.total += model->summary->record_count[event_tags[i]];
	uint64_t named = 0;
#define N(name, class) named += counts.name;
#define NOT_RECORDED(name)
	GA_COUNT_NAMES(N, NOT_RECORDED)
#undef NOT_RECORDED
#undef N
	named -= counts.total;
	counts.other = counts.total > named ? counts.total - named : 0;
	*counts_out = counts;
	return GF_OK;
}

void ga_counts_json(
    const struct ga_counts *counts, const struct ga_model *model, struct ga_json *json)
{
	ga_json_object(json, "events");
#define N(name, class) ga_json_maybe(json, #name, ga_count_known(model, class), counts->name);
#define NOT_RECORDED(name) ga_json_null(json, #name);
	GA_COUNT_NAMES(N, NOT_RECORDED)
#undef NOT_RECORDED
#undef N
	ga_json_object_end(json);
}
