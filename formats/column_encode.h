/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One column of numbers to its stored form: byte planes, a table, or only a base.
 *
 * Threads: one per workspace.  Nothing here allocates; compiled into the preload library.
 */
#ifndef GF_COLUMN_ENCODE_H
#define GF_COLUMN_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/frame_layout.h"

#define GF_TABLE_LIMIT 256u
#define GF_TABLE_SLOTS 1024u

/* Finds the distinct values of a column, as long as they are few. */
struct gf_value_table {
	uint64_t values[GF_TABLE_LIMIT]; /* in order of first appearance */
	uint64_t keys[GF_TABLE_SLOTS];
	uint16_t slots[GF_TABLE_SLOTS]; /* index + 1 */
	uint32_t count;
};

/* How a column is stored: the content of its directory entry. */
struct gf_column_form {
	uint64_t base;
	uint32_t entries; /* of the table, if it is one */
	uint8_t planes;
	uint8_t shift;
	uint8_t code;      /* enum gf_column_code */
	uint8_t width_log; /* width in the journal is 1 << width_log bytes */
	bool is_signed;
	bool is_table;
};

/**
 * Numbers to planes.
 *
 * @param values     the column, `rows` numbers, widened to 64 bits (signed ones by their sign);
 *                   changed for DELTA and TOTAL
 * @param sizes      `rows` numbers for TOTAL, else NULL
 * @param form       in: code, width_log, is_signed; out: the rest
 * @param table      workspace; NULL: do not try a table
 * @param out        room for 8 * rows + 8 * GF_TABLE_LIMIT bytes
 * @return bytes written to `out`
 *
 * Cost: about 1 ns a number and 0.3 ns a plane; a table that does not come about 2 ns a number at
 * most.
 */
size_t gf_column_encode(uint64_t *values, const uint64_t *sizes, uint32_t rows,
    struct gf_column_form *form, struct gf_value_table *table, unsigned char *out);

/** Write the directory entry of a column (up to GF_COLUMN_BYTES_LIMIT bytes).  @return its bytes */
size_t gf_column_entry_put(unsigned char *out, const struct gf_column_form *form);

#endif
