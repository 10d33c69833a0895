/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sites.h"

#include <stdlib.h>

#include "analyzer/sizes.h"
#include "analyzer/xalloc.h"

static void add(struct ga_map *groups, struct ga_stacks *stacks, const struct ga_block *block)
{
	uint64_t key = (uint64_t)ga_stacks_site(stacks, block->stack_id) + 1;
	struct ga_site *site = ga_map_add(groups, key);
	site->bytes += block->size_bytes;
	site->blocks++;
}

/* Largest first; equal ones by key, so that the same trace always prints the same. */
static int compare(const void *left, const void *right)
{
	const struct ga_site *a = left, *b = right;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	return a->key < b->key ? -1 : a->key > b->key;
}

void ga_sites_collect(struct ga_sites *sites, struct ga_stacks *stacks, const struct ga_map *live,
    unsigned device, uint64_t order, const struct ga_block *more, size_t count)
{
	struct ga_map groups;
	ga_map_init(&groups, sizeof(struct ga_site));
	const struct ga_block *block = NULL;
	while ((block = ga_map_next(live, block)))
		if (block->device == device && block->order <= order)
			add(&groups, stacks, block);
	for (size_t i = 0; i < count; i++)
		add(&groups, stacks, &more[i]);

	*sites = (struct ga_sites){.items = ga_xalloc(groups.count + 1, sizeof(*sites->items))};
	const struct ga_site *site = NULL;
	while ((site = ga_map_next(&groups, site))) {
		sites->items[sites->count++] = *site;
		sites->bytes += site->bytes;
	}
	qsort(sites->items, sites->count, sizeof(*sites->items), compare);
	ga_map_free(&groups);
}

void ga_sites_add_missing(struct ga_sites *sites, uint64_t bytes)
{
	sites->items[sites->count++] = (struct ga_site){.bytes = bytes}; /* room was made for it */
	sites->bytes += bytes;
	qsort(sites->items, sites->count, sizeof(*sites->items), compare);
}

void ga_sites_free(struct ga_sites *sites)
{
	free(sites->items);
	*sites = (struct ga_sites){0};
}

/* Stack of a site, 0 if it has none. */
static uint32_t stack_of(const struct ga_site *site)
{
	return site->key ? (uint32_t)(site->key - 1) : 0;
}

void ga_sites_json(const struct ga_sites *sites, struct ga_stacks *stacks, struct ga_json *json,
    const char *name)
{
	ga_json_list(json, name);
	for (size_t i = 0; i < sites->count; i++) {
		ga_json_object(json, NULL);
		ga_json_number(json, "bytes", sites->items[i].bytes);
		ga_json_maybe(json, "blocks", sites->items[i].blocks > 0, sites->items[i].blocks);
		ga_json_string(json, "category", "unknown");
		ga_stacks_json(stacks, stack_of(&sites->items[i]), json, "stack");
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
}

char *ga_site_text(const struct ga_site *site, struct ga_stacks *stacks)
{
	char bytes[GA_SIZE_TEXT], blocks[GA_SIZE_TEXT];
	struct ga_stack stack = ga_stacks_frames(stacks, stack_of(site));
	const struct ga_frame *frame = ga_stack_place(&stack);
	if (!frame)
		return NULL;
	char *operation = ga_stack_operation(&stack), *place = ga_frame_text(frame);
	char *text = ga_format("%s%s%s %s in %s block%s", place, operation ? " " : "",
	    operation ? operation : "", ga_size_text(site->bytes, bytes),
	    ga_count_text(site->blocks, blocks), site->blocks == 1 ? "" : "s");
	free(operation);
	free(place);
	return text;
}

static void row(const struct ga_site *site, struct ga_stacks *stacks, struct ga_table *table)
{
	char bytes[GA_SIZE_TEXT], blocks[GA_SIZE_TEXT] = "unknown";
	struct ga_stack stack = ga_stacks_frames(stacks, stack_of(site));
	const struct ga_frame *frame = ga_stack_place(&stack);
	char *operation = ga_stack_operation(&stack);
	char *text = frame ? ga_frame_text(frame) : ga_xstrdup("unknown");
	if (site->blocks)
		ga_count_text(site->blocks, blocks);
	ga_cell(table, "%s", text);
	ga_cell(table, "%s", operation ? operation : "");
	ga_cell(table, "%s", ga_size_text(site->bytes, bytes));
	ga_cell(table, "%s", blocks);
	free(operation);
	free(text);
}

void ga_sites_text(const struct ga_sites *sites, struct ga_stacks *stacks, size_t limit,
    const struct ga_page *page)
{
	struct ga_table table = {.columns = 4, .left = 2};
	size_t shown = sites->count <= limit ? sites->count : limit - 1;
	uint64_t rest = sites->bytes;
	ga_cell(&table, "held by");
	ga_cell(&table, "operation");
	ga_cell(&table, "bytes");
	ga_cell(&table, "blocks");
	for (size_t i = 0; i < shown; i++) {
		row(&sites->items[i], stacks, &table);
		rest -= sites->items[i].bytes;
	}
	if (shown < sites->count) {
		char bytes[GA_SIZE_TEXT];
		ga_cell(&table, "%zu more", sites->count - shown);
		ga_cell(&table, "%s", "");
		ga_cell(&table, "%s", ga_size_text(rest, bytes));
		ga_cell(&table, "%s", "");
	}
	ga_table_print(page, &table);
}
