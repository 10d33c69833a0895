/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live blocks grouped by what they are and who asked for them.
 *
 * Threads: one at a time.
 */
#ifndef GA_SITES_H
#define GA_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyzer/accounts.h"
#include "analyzer/hash_map.h"
#include "analyzer/json_writer.h"
#include "analyzer/render.h"
#include "analyzer/stacks.h"

struct ga_site {
	uint64_t key;		/* ga_stacks_site + 1; 0: not in the recording */
	uint64_t bytes, blocks; /* 0 blocks: their number is not known */
};

/** Largest first.  Zero-initialise. */
struct ga_sites {
	struct ga_site *items;
	size_t count;
	uint64_t bytes; /* all together, left out ones included */
	struct {
		size_t count;
		uint64_t bytes, blocks;
	} left_out; /* small sites that ga_sites_cut() took off */
};

/**
 * Group the live blocks of a device up to allocation number `order`, and `count` more blocks.
 *
 * @param stacks  of the recording
 */
void ga_sites_collect(struct ga_sites *sites, struct ga_stacks *stacks, const struct ga_map *live,
    unsigned device, uint64_t order, const struct ga_block *more, size_t count);
/** One more site for bytes whose blocks are not in the recording. */
void ga_sites_add_missing(struct ga_sites *sites, uint64_t bytes);
/** Keep the largest `most` sites; of the others only what they come to. */
void ga_sites_cut(struct ga_sites *sites, size_t most);
void ga_sites_free(struct ga_sites *sites);

/**
 * Write the sites as the list `name` of JSON objects, as the contract names them; those that were
 * left out are one more, without a stack.
 *
 * @param stacks  of the recording
 */
void ga_sites_json(const struct ga_sites *sites, struct ga_stacks *stacks, struct ga_json *json,
    const char *name);

/** The frames of a stack, one a line, innermost first: those of Python, then those of native code.
 */
void ga_stack_text(const struct ga_stack *stack, const struct ga_page *page);

/** How much of the sites is shown. */
struct ga_sites_shown {
	size_t rows; /* at most */
	bool stacks; /* below the table the whole stack of each row */
};

/**
 * A table, largest first; what is left comes in one line.  Sites that differ only in what is not
 * shown are one row.
 */
void ga_sites_text(const struct ga_sites *sites, struct ga_stacks *stacks,
    struct ga_sites_shown shown, const struct ga_page *page);

/**
 * The first row of that table, "build (train.py:4) zeros, 300.00 MiB in 3 blocks".
 *
 * @param bytes_out  its bytes
 * @return free() it; NULL if there is none or it has no place
 */
char *ga_sites_largest(const struct ga_sites *sites, struct ga_stacks *stacks, uint64_t *bytes_out);

#endif
