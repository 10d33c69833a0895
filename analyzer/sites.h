/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Live blocks grouped by what they are and who asked for them.
 *
 * Threads: one at a time.
 */
#ifndef GA_SITES_H
#define GA_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "analyzer/accounts.h"
#include "analyzer/hash_map.h"
#include "analyzer/json_writer.h"

struct ga_site {
	uint64_t key;		/* stack id + 1; 0: not in the recording */
	uint64_t bytes, blocks; /* 0 blocks: their number is not known */
};

/** Largest first.  Zero-initialise. */
struct ga_sites {
	struct ga_site *items;
	size_t count;
	uint64_t bytes; /* all together */
};

/** Group the live blocks of a device up to allocation number `order`, and `count` more blocks. */
void ga_sites_collect(struct ga_sites *sites, const struct ga_map *live, unsigned device,
    uint64_t order, const struct ga_block *more, size_t count);
/** One more site for bytes whose blocks are not in the recording. */
void ga_sites_add_missing(struct ga_sites *sites, uint64_t bytes);
void ga_sites_free(struct ga_sites *sites);

/** Write the sites as the list `name` of JSON objects, as contract names them. */
void ga_sites_json(const struct ga_sites *sites, struct ga_json *json, const char *name);

#endif
