/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definitions behind stack numbers, checked: stacks, Python code objects, libraries.
 *
 * Threads: one at a time.
 */
#ifndef GA_STACK_DEFINITIONS_H
#define GA_STACK_DEFINITIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/elf_symbols.h"
#include "analyzer/hash_map.h"
#include "formats/arena.h"
#include "formats/reader.h"
#include "formats/stack_layout.h"

struct ga_code {
	uint64_t key; /* id + 1 */
	const char *file, *function; /* "" if not known */
	uint32_t first_line;
	unsigned form; /* enum gf_line_form */
	unsigned char *table; /* NULL if a part of it is missing */
	uint32_t table_bytes;
	uint64_t piece_bytes; /* of the table, in all texts */
};

struct ga_library {
	uint64_t start, end, bias;
	uint64_t time; /* when it was seen */
	const char *path;
	const unsigned char *build_id;
	size_t build_id_bytes;
	struct ga_elf *elf; /* NULL until asked for, or if it cannot be read */
	bool asked;
	bool is_python; /* has the interpreter; set with `elf` */
};

/* A STACK text whose lists fit into it.  Lists may be unaligned: read them by ga_stack_<list>. */
struct ga_stack_text {
	uint64_t key; /* id + 1 */
	struct gf_stack_head head;
	uint64_t time;
	const char *python, *native, *modules;
};

struct ga_definitions {
	struct ga_map stacks; /* of ga_stack_text */
	struct ga_map codes;  /* of ga_code */
	struct ga_library *libraries; /* in the order they were seen */
	size_t library_count, library_capacity;
	struct gf_arena arena;
	size_t damaged; /* definitions that were left out */
};

/** Index all definitions of a trace, which must stay open.  Free with ga_definitions_free. */
void ga_definitions_read(struct ga_definitions *definitions, const struct gf_reader *reader);
void ga_definitions_free(struct ga_definitions *definitions);

/** NULL if it is not defined. */
const struct ga_stack_text *ga_definitions_stack(const struct ga_definitions *definitions,
    uint32_t id);
const struct ga_code *ga_definitions_code(const struct ga_definitions *definitions, uint32_t id);

/* Times that have one answer: from `first` to `last`, both included. */
struct ga_span {
	uint64_t first, last;
};

/**
 * The library that was at an address at a time, its symbols opened; NULL if there was none.
 *
 * @param span_out  set to times around `time` at which it is the same
 */
struct ga_library *ga_definitions_library(struct ga_definitions *definitions, uint64_t address,
    uint64_t time, struct ga_span *span_out);

/** One entry of a list, index below the head's count. */
struct gf_stack_python ga_stack_python(const struct ga_stack_text *stack, unsigned index);
uint64_t ga_stack_native(const struct ga_stack_text *stack, unsigned index);
struct gf_stack_module ga_stack_module(const struct ga_stack_text *stack, unsigned index);

#endif
