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
	uint32_t values[GF_TABLE_LIMIT]; /* in order of first appearance */
	uint32_t keys[GF_TABLE_SLOTS];
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
 * Find how a plain column can be reduced to 32 bits a number, from the bits that differ in it.
 *
 * @param first      any value of the column
 * @param differing  bits in which values differ, not 0
 * @param form       out: base and shift, so that (value - base) >> shift of all values is below
 *                   2^32 and loses nothing
 * @return false if the column is wider
 */
bool gf_column_reduce(uint64_t first, uint64_t differing, struct gf_column_form *form);

/**
 * Reduced numbers of a plain column to planes or a table.
 *
 * @param numbers  (value - form->base) >> form->shift; changed
 * @param form     in: base, shift, width_log, is_signed; out: the rest, and a better base
 * @param table    workspace; NULL: do not try a table
 * @param out      room for 8 * rows + 8 * GF_TABLE_LIMIT bytes
 * @return bytes written to `out`
 *
 * Cost: below 1 ns a number; a table about 2 ns a number, also if it does not come about.
 */
size_t gf_column_encode_reduced(uint32_t *numbers, uint32_t rows, struct gf_column_form *form,
    struct gf_value_table *table, unsigned char *out);

/**
 * A column of 8 bytes a number to planes: differences, or a plain one that cannot be reduced.
 *
 * @param values  the column, `rows` numbers
 * @param sizes   `rows` numbers for TOTAL, else NULL
 * @param work    room for `rows` numbers
 * @param form    in: code, width_log, is_signed; out: the rest
 * @param out     room for 8 * rows bytes
 * @return bytes written to `out`
 */
size_t gf_column_encode(const uint64_t *values, const uint64_t *sizes, uint64_t *work,
    uint32_t rows, struct gf_column_form *form, unsigned char *out);

/** Write the directory entry of a column (up to GF_COLUMN_BYTES_LIMIT bytes).  @return its bytes */
size_t gf_column_entry_put(unsigned char *out, const struct gf_column_form *form);

#endif
