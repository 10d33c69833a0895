/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/sites.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/frame_text.h"
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

void ga_sites_cut(struct ga_sites *sites, size_t most)
{
	if (sites->count <= most)
		return;
	struct ga_site *kept = ga_xalloc(most, sizeof(*kept));
	for (size_t i = most; i < sites->count; i++) {
		sites->left_out.bytes += sites->items[i].bytes;
		sites->left_out.blocks += sites->items[i].blocks;
	}
	sites->left_out.count += sites->count - most;
	memcpy(kept, sites->items, most * sizeof(*kept));
	free(sites->items);
	sites->items = kept;
	sites->count = most;
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

static void site_json(const struct ga_site *site, struct ga_stacks *stacks, struct ga_json *json)
{
	ga_json_object(json, NULL);
	ga_json_number(json, "bytes", site->bytes);
	ga_json_maybe(json, "blocks", site->blocks > 0, site->blocks);
	ga_json_string(json, "category", "unknown");
	ga_stacks_json(stacks, stack_of(site), json, "stack");
	ga_json_object_end(json);
}

void ga_sites_json(const struct ga_sites *sites, struct ga_stacks *stacks, struct ga_json *json,
    const char *name)
{
	struct ga_site rest = {.bytes = sites->left_out.bytes, .blocks = sites->left_out.blocks};
	ga_json_list(json, name);
	for (size_t i = 0; i < sites->count; i++)
		site_json(&sites->items[i], stacks, json);
	if (sites->left_out.count)
		site_json(&rest, stacks, json);
	ga_json_list_end(json);
}

/* What is shown of one or more sites that look alike. */
struct row {
	const char *place, *operation; /* never NULL; borrowed */
	uint64_t bytes, blocks;
	uint32_t stack; /* of the largest of them */
	size_t stacks;
};

struct rows {
	struct row *items;
	size_t count;
};

static struct row row_of(const struct ga_site *site, struct ga_stacks *stacks)
{
	struct ga_words words = ga_stacks_words(stacks, stack_of(site));
	return (struct row){.place = words.place ? words.place : "unknown",
	    .operation = words.operation ? words.operation : "",
	    .bytes = site->bytes,
	    .blocks = site->blocks,
	    .stack = stack_of(site),
	    .stacks = 1};
}

#define MERGE_LIMIT 2048 /* rows that are compared; the small sites behind them stay apart */

static void add_row(struct rows *rows, struct row row)
{
	for (size_t i = 0; i < rows->count && i < MERGE_LIMIT; i++) {
		struct row *other = &rows->items[i];
		if (strcmp(other->place, row.place) != 0 ||
		    strcmp(other->operation, row.operation) != 0 ||
		    (other->blocks == 0) != (row.blocks == 0))
			continue;
		other->bytes += row.bytes;
		other->blocks += row.blocks;
		other->stacks++;
		return;
	}
	rows->items[rows->count++] = row;
}

static int compare_rows(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	if (a->bytes != b->bytes)
		return a->bytes > b->bytes ? -1 : 1;
	int order = strcmp(a->place, b->place);
	return order ? order : strcmp(a->operation, b->operation);
}

/* Largest first; free `items`. */
static struct rows merge_sites(const struct ga_sites *sites, struct ga_stacks *stacks)
{
	struct rows rows = {.items = ga_xalloc(sites->count + 1, sizeof(*rows.items))};
	for (size_t i = 0; i < sites->count; i++)
		add_row(&rows, row_of(&sites->items[i], stacks));
	qsort(rows.items, rows.count, sizeof(*rows.items), compare_rows);
	return rows;
}

char *ga_sites_largest(const struct ga_sites *sites, struct ga_stacks *stacks, uint64_t *bytes_out)
{
	char bytes[GA_SIZE_TEXT], blocks[GA_THINGS_TEXT];
	struct rows rows = merge_sites(sites, stacks);
	const struct row *row = &rows.items[0];
	char *text = NULL;
	*bytes_out = rows.count ? row->bytes : 0;
	if (rows.count && row->blocks && ga_stacks_words(stacks, row->stack).place)
		text = ga_format("%s%s%s, %s in %s", row->place, row->operation[0] ? " " : "",
		    row->operation, ga_size_text(row->bytes, bytes),
		    ga_things_text(row->blocks, "block", blocks));
	free(rows.items);
	return text;
}

static void put_row(const struct row *row, struct ga_table *table)
{
	char bytes[GA_SIZE_TEXT], blocks[GA_SIZE_TEXT] = "unknown";
	if (row->blocks)
		ga_count_text(row->blocks, blocks);
	ga_cell(table, "%s", row->place);
	ga_cell(table, "%s", row->operation);
	ga_cell(table, "%s", ga_size_text(row->bytes, bytes));
	ga_cell(table, "%s", blocks);
}

static void put_rest(size_t count, uint64_t bytes, struct ga_table *table)
{
	char text[GA_SIZE_TEXT];
	ga_cell(table, "%zu more", count);
	ga_cell(table, "%s", "");
	ga_cell(table, "%s", ga_size_text(bytes, text));
	ga_cell(table, "%s", "");
}

static void put_frame(const struct ga_page *page, const struct ga_frame *frame, const char *indent)
{
	unsigned columns = page->width - (unsigned)strlen(indent);
	char *line = ga_frame_line(frame, columns, ga_ellipsis(page));
	fputs(indent, page->out);
	ga_print_safe(page, line);
	fputc('\n', page->out);
	free(line);
}

static size_t count_python(const struct ga_stack *stack)
{
	size_t count = 0;
	for (size_t i = 0; i < stack->count; i++)
		count += stack->frames[i].python;
	return count;
}

void ga_stack_text(const struct ga_stack *stack, const struct ga_page *page)
{
	size_t python = count_python(stack);
	for (size_t i = 0; i < stack->count; i++)
		if (stack->frames[i].python)
			put_frame(page, &stack->frames[i], "  ");
	if (python && python < stack->count)
		fprintf(page->out, "  %snative code:%s\n", ga_style(page, GA_DIM),
		    ga_style(page, GA_PLAIN));
	for (size_t i = 0; i < stack->count; i++)
		if (!stack->frames[i].python)
			put_frame(page, &stack->frames[i], python ? "    " : "  ");
	if (stack->cut)
		fputs("  (outer frames were not recorded)\n", page->out);
}

static void put_stack(const struct row *row, struct ga_stacks *stacks, const struct ga_page *page)
{
	char bytes[GA_SIZE_TEXT], count[GA_SIZE_TEXT];
	struct ga_stack stack = ga_stacks_frames(stacks, row->stack);
	if (!stack.count)
		return;
	char *heading = ga_format("%s%s%s, %s%s%s%s", row->place, row->operation[0] ? " " : "",
	    row->operation, ga_size_text(row->bytes, bytes),
	    row->stacks > 1 ? "; the largest of " : "",
	    row->stacks > 1 ? ga_count_text(row->stacks, count) : "",
	    row->stacks > 1 ? " stacks" : "");
	ga_heading(page, heading);
	ga_stack_text(&stack, page);
	free(heading);
}

void ga_sites_text(const struct ga_sites *sites, struct ga_stacks *stacks,
    struct ga_sites_shown shown, const struct ga_page *page)
{
	static const char *const names[] = {"held by", "operation", "bytes", "blocks"};
	struct ga_table table = {.columns = 4, .left = 2};
	struct rows rows = merge_sites(sites, stacks);
	size_t count = rows.count < shown.rows ? rows.count : shown.rows;
	uint64_t rest = sites->bytes;
	for (size_t i = 0; i < 4; i++)
		ga_cell(&table, "%s", names[i]);
	for (size_t i = 0; i < count; i++) {
		put_row(&rows.items[i], &table);
		rest -= rows.items[i].bytes;
	}
	size_t more = rows.count - count + sites->left_out.count;
	if (more)
		put_rest(more, rest, &table);
	ga_table_print(page, &table);
	for (size_t i = 0; shown.stacks && i < count; i++)
		put_stack(&rows.items[i], stacks, page);
	free(rows.items);
}
