/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stored form of a column back to an array of numbers.  Input is not trusted.
 *
 * Threads: any.  Nothing here allocates.
 */
#ifndef GF_COLUMN_DECODE_H
#define GF_COLUMN_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/frame_layout.h"
#include "formats/wire.h"

/* A column's directory entry, checked. */
struct gf_column_layout {
	uint64_t base;
	uint32_t entries; /* of the table; 0: no table */
	uint8_t planes;   /* 0: every row is the base, or the base and its differences are 0 */
	uint8_t shift;
	uint8_t code;  /* enum gf_column_code */
	uint8_t bytes; /* width of an element: 1, 2, 4 or 8 */
};

/** Read one directory entry.  @return false if it cannot be right */
bool gf_column_entry_get(struct gf_cursor *cursor, struct gf_column_layout *layout_out);

/** Bytes that the column takes in its section; at most 8 * rows + 2048. */
size_t gf_column_stored_bytes(const struct gf_column_layout *layout, uint32_t rows);

/**
 * Expand a column.
 *
 * @param stored  gf_column_stored_bytes(layout, rows) bytes
 * @param sizes   the column `size` of the same rows for GF_CODE_TOTAL, else not used
 * @param out     rows elements of layout->bytes bytes
 * @return false if a table index is out of range, or TOTAL has no sizes
 *
 * Cost: below 1 ns a number.
 */
bool gf_column_decode(const struct gf_column_layout *layout, uint32_t rows,
    const unsigned char *stored, const uint64_t *sizes, void *out);

/** Fill an array with one value, element width `bytes`. */
void gf_column_fill(void *out, uint32_t rows, unsigned bytes, uint64_t value);

#endif
