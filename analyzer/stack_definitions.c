/* SPDX-License-Identifier: Apache-2.0 */
#include "analyzer/stack_definitions.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/xalloc.h"

#define TABLE_LIMIT (16u << 20) /* longer line tables are damage */

static const char *copy_text(struct ga_definitions *definitions, const char *bytes, size_t length)
{
	char *copy = gf_arena_take(&definitions->arena, length + 1);
	if (!copy)
		return "";
	memcpy(copy, bytes, length);
	copy[length] = 0;
	return copy;
}

/* ---- one definition each: false if it is damaged ---- */

static bool add_stack(struct ga_definitions *definitions, const struct gf_text_entry *text)
{
	struct gf_stack_head head;
	if (text->length < sizeof(head))
		return false;
	memcpy(&head, text->bytes, sizeof(head));
	size_t python = head.python_count * sizeof(struct gf_stack_python);
	size_t native = head.native_count * sizeof(uint64_t);
	size_t modules = head.module_count * sizeof(struct gf_stack_module);
	if (head.head_bytes < sizeof(head) ||
	    head.head_bytes + python + native + modules > text->length)
		return false;
	struct ga_stack_text *stack = ga_map_add(&definitions->stacks, (uint64_t)text->id + 1);
	stack->head = head;
	stack->time = text->time;
	stack->python = text->bytes + head.head_bytes;
	stack->native = stack->python + python;
	stack->modules = stack->native + native;
	return true;
}

/* A text of a code object: its head, the names and the piece of the line table behind it. */
struct code_text {
	struct gf_code_head head;
	const char *file, *name, *piece;
	size_t piece_bytes;
};

static bool read_code(const struct gf_text_entry *text, struct code_text *out)
{
	struct gf_code_head *head = &out->head;
	if (text->length < sizeof(*head))
		return false;
	memcpy(head, text->bytes, sizeof(*head));
	size_t names = (size_t)head->file_bytes + head->name_bytes;
	if (head->head_bytes < sizeof(*head) || head->head_bytes + names > text->length ||
	    head->table_bytes > TABLE_LIMIT)
		return false;
	out->file = text->bytes + head->head_bytes;
	out->name = out->file + head->file_bytes;
	out->piece = out->file + names;
	out->piece_bytes = text->length - head->head_bytes - names;
	return true;
}

/* How much of each line table is there: room is made only for what the texts can fill. */
static void count_code(struct ga_definitions *definitions, const struct gf_text_entry *text)
{
	struct code_text code;
	if (!read_code(text, &code))
		return;
	struct ga_code *known = ga_map_add(&definitions->codes, (uint64_t)text->id + 1);
	known->file = known->function = "";
	known->piece_bytes += code.piece_bytes;
}

/* The first text of a code object has names and the length of the table; the table may go on. */
static bool add_code(struct ga_definitions *definitions, const struct gf_text_entry *text)
{
	struct code_text read;
	if (!read_code(text, &read))
		return false;
	const struct gf_code_head *head = &read.head;
	struct ga_code *code = ga_map_find(&definitions->codes, (uint64_t)text->id + 1);
	bool named = read.piece > read.file;
	if (head->table_bytes <= code->piece_bytes &&
	    (!code->table || (named && code->table_bytes != head->table_bytes))) {
		free(code->table);
		code->table = ga_xalloc(head->table_bytes, 1);
		code->table_bytes = head->table_bytes;
	}
	if (named) {
		code->file = copy_text(definitions, read.file, head->file_bytes);
		code->function = copy_text(definitions, read.name, head->name_bytes);
		code->first_line = head->first_line;
		code->form = head->form;
	}
	if (!code->table || head->table_offset > code->table_bytes ||
	    read.piece_bytes > code->table_bytes - head->table_offset)
		return false;
	memcpy(code->table + head->table_offset, read.piece, read.piece_bytes);
	return true;
}

static bool add_library(struct ga_definitions *definitions, const struct gf_text_entry *text)
{
	struct gf_library_head head;
	if (text->length < sizeof(head))
		return false;
	memcpy(&head, text->bytes, sizeof(head));
	if (head.head_bytes < sizeof(head) || head.start >= head.end ||
	    (uint64_t)head.head_bytes + head.build_id_bytes + head.path_bytes > text->length)
		return false;
	const char *build_id = text->bytes + head.head_bytes;
	definitions->libraries = ga_xgrow(definitions->libraries, definitions->library_count,
	    &definitions->library_capacity, sizeof(*definitions->libraries));
	definitions->libraries[definitions->library_count++] = (struct ga_library){
	    .start = head.start, .end = head.end, .bias = head.bias, .time = text->time,
	    .path = copy_text(definitions, build_id + head.build_id_bytes, head.path_bytes),
	    .build_id = (const unsigned char *)build_id, .build_id_bytes = head.build_id_bytes};
	return true;
}

void ga_definitions_read(struct ga_definitions *definitions, const struct gf_reader *reader)
{
	uint32_t count;
	const struct gf_text_entry *texts = gf_reader_texts(reader, &count);
	memset(definitions, 0, sizeof(*definitions));
	ga_map_init(&definitions->stacks, sizeof(struct ga_stack_text));
	ga_map_init(&definitions->codes, sizeof(struct ga_code));
	for (uint32_t i = 0; i < count; i++)
		if (texts[i].kind == GF_TEXT_CODE)
			count_code(definitions, &texts[i]);
	for (uint32_t i = 0; i < count; i++) {
		bool good = true;
		if (texts[i].kind == GF_TEXT_STACK)
			good = add_stack(definitions, &texts[i]);
		else if (texts[i].kind == GF_TEXT_CODE)
			good = add_code(definitions, &texts[i]);
		else if (texts[i].kind == GF_TEXT_LIBRARY)
			good = add_library(definitions, &texts[i]);
		definitions->damaged += !good;
	}
}

void ga_definitions_free(struct ga_definitions *definitions)
{
	const struct ga_code *code = NULL;
	while ((code = ga_map_next(&definitions->codes, code)))
		free(code->table);
	for (size_t i = 0; i < definitions->library_count; i++)
		ga_elf_close(definitions->libraries[i].elf);
	free(definitions->libraries);
	ga_map_free(&definitions->codes);
	ga_map_free(&definitions->stacks);
	gf_arena_free(&definitions->arena);
}

/* ---- looking up ---- */

const struct ga_stack_text *ga_definitions_stack(const struct ga_definitions *definitions,
    uint32_t id)
{
	return id ? ga_map_find(&definitions->stacks, (uint64_t)id + 1) : NULL;
}

const struct ga_code *ga_definitions_code(const struct ga_definitions *definitions, uint32_t id)
{
	return id ? ga_map_find(&definitions->codes, (uint64_t)id + 1) : NULL;
}

/* By name where the file itself is not at hand. */
static bool looks_like_python(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	return strncmp(name, "libpython", 9) == 0 || strncmp(name, "python", 6) == 0;
}

struct ga_library *ga_definitions_library(struct ga_definitions *definitions, uint64_t address,
    uint64_t time, struct ga_span *span_out)
{
	struct ga_library *found = NULL;
	*span_out = (struct ga_span){0, UINT64_MAX};
	for (size_t i = 0; i < definitions->library_count; i++) {
		struct ga_library *library = &definitions->libraries[i];
		if (address < library->start || address >= library->end)
			continue;
		if (!found || library->time <= time)
			found = library;
		if (library->time <= time && library->time > span_out->first)
			span_out->first = library->time;
		if (library->time > time && library->time <= span_out->last)
			span_out->last = library->time - 1;
	}
	if (!found || found->asked)
		return found;
	found->asked = true;
	found->elf = ga_elf_open(found->path, found->build_id, found->build_id_bytes);
	found->is_python =
	    found->elf ? ga_elf_is_python(found->elf) : looks_like_python(found->path);
	return found;
}

struct gf_stack_python ga_stack_python(const struct ga_stack_text *stack, unsigned index)
{
	struct gf_stack_python frame;
	memcpy(&frame, stack->python + index * sizeof(frame), sizeof(frame));
	return frame;
}

uint64_t ga_stack_native(const struct ga_stack_text *stack, unsigned index)
{
	uint64_t address;
	memcpy(&address, stack->native + index * sizeof(address), sizeof(address));
	return address;
}

struct gf_stack_module ga_stack_module(const struct ga_stack_text *stack, unsigned index)
{
	struct gf_stack_module module;
	memcpy(&module, stack->modules + index * sizeof(module), sizeof(module));
	return module;
}
