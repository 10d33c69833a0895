/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sites.h"

#include <stdlib.h>

#include "analyzer/xalloc.h"

static void add(struct ga_map *groups, const struct ga_block *block)
{
	struct ga_site *site = ga_map_add(groups, (uint64_t)block->stack_id + 1);
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

void ga_sites_collect(struct ga_sites *sites, const struct ga_map *live, unsigned device,
    uint64_t order, const struct ga_block *more, size_t count)
{
	struct ga_map groups;
	ga_map_init(&groups, sizeof(struct ga_site));
	const struct ga_block *block = NULL;
	while ((block = ga_map_next(live, block)))
		if (block->device == device && block->order <= order)
			add(&groups, block);
	for (size_t i = 0; i < count; i++)
		add(&groups, &more[i]);

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

void ga_sites_json(const struct ga_sites *sites, struct ga_json *json, const char *name)
{
	ga_json_list(json, name);
	for (size_t i = 0; i < sites->count; i++) {
		ga_json_object(json, NULL);
		ga_json_number(json, "bytes", sites->items[i].bytes);
		ga_json_maybe(json, "blocks", sites->items[i].blocks > 0, sites->items[i].blocks);
		ga_json_string(json, "category", "unknown");
		ga_json_null(json, "stack");
		ga_json_object_end(json);
	}
	ga_json_list_end(json);
}
