/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/column_encode.h"

#include <string.h>

#include "formats/wire.h"

/* Bits that differ anywhere in the column, and its smallest and largest value. */
struct span {
	uint64_t differing, low, high;
};

static struct span span_unsigned(const uint64_t *values, uint32_t rows)
{
	struct span span = {0, values[0], values[0]};
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t value = values[i];
		span.differing |= value ^ values[0];
		span.low = value < span.low ? value : span.low;
		span.high = value > span.high ? value : span.high;
	}
	return span;
}

static struct span span_signed(const uint64_t *values, uint32_t rows)
{
	int64_t low = (int64_t)values[0], high = low;
	uint64_t differing = 0;
	for (uint32_t i = 0; i < rows; i++) {
		int64_t value = (int64_t)values[i];
		differing |= (uint64_t)value ^ values[0];
		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	return (struct span){differing, (uint64_t)low, (uint64_t)high};
}

static uint8_t planes_for(uint64_t largest)
{
	return largest ? (uint8_t)((63 - __builtin_clzll(largest)) / 8 + 1) : 0;
}

/* (value - base) >> shift, a byte at a time: all lowest bytes, then all next ones. */
static size_t write_planes(const uint64_t *restrict values, uint32_t rows, uint64_t base,
    unsigned shift, unsigned planes, unsigned char *restrict out)
{
	for (unsigned plane = 0; plane < planes; plane++) {
		unsigned char *restrict to = out + (size_t)plane * rows;
		unsigned by = shift + 8 * plane;
		for (uint32_t i = 0; i < rows; i++)
			to[i] = (unsigned char)((values[i] - base) >> by);
	}
	return (size_t)planes * rows;
}

/* ---- tables ---- */

static uint32_t slot_of(uint64_t value)
{
	return (uint32_t)(value * 0x9e3779b97f4a7c15u >> 54);
}

/* Write each value's index to `out`.  False as soon as there are too many different values. */
static bool make_table(struct gf_value_table *table, const uint64_t *values, uint32_t rows,
    unsigned char *out)
{
	memset(table->slots, 0, sizeof(table->slots));
	table->count = 0;
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t value = values[i];
		uint32_t slot = slot_of(value);
		while (table->slots[slot] && table->keys[slot] != value)
			slot = (slot + 1) % GF_TABLE_SLOTS;
		if (!table->slots[slot]) {
			if (table->count == GF_TABLE_LIMIT)
				return false;
			table->values[table->count++] = value;
			table->keys[slot] = value;
			table->slots[slot] = (uint16_t)table->count;
		}
		out[i] = (unsigned char)(table->slots[slot] - 1);
	}
	return true;
}

/* The table first, then the plane of indexes.  0 if a table does not pay. */
static size_t write_table(struct gf_value_table *table, const uint64_t *values, uint32_t rows,
    struct gf_column_form *form, unsigned char *out)
{
	/* The indexes are found first but stored last: behind the largest possible table. */
	unsigned char *indexes = out + 8 * GF_TABLE_LIMIT;
	if (!make_table(table, values, rows, indexes))
		return 0;
	size_t table_bytes = (size_t)form->planes * table->count;
	if (table_bytes + rows >= (size_t)form->planes * rows)
		return 0;
	write_planes(table->values, table->count, form->base, form->shift, form->planes, out);
	memmove(out + table_bytes, indexes, rows);
	form->is_table = true;
	form->entries = table->count;
	return table_bytes + rows;
}

/* ---- differences ---- */

static void subtract_before(uint64_t *values, uint32_t rows, uint64_t before)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t value = values[i];
		values[i] = value - before;
		before = value;
	}
}

static void subtract_total(uint64_t *values, const uint64_t *sizes, uint32_t rows, uint64_t before)
{
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t value = values[i];
		values[i] = value - before - sizes[i];
		before = value;
	}
}

/* Differences are rounded to nothing here: `shift` is what they have in common. */
static uint64_t zigzag(uint64_t *values, uint32_t rows, unsigned shift)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t sign = values[i] >> 63 ? UINT64_MAX : 0;
		uint64_t half = (values[i] ^ sign) >> shift; /* arithmetic shift of a negative number */
		values[i] = half << 1 | (sign & 1);
		any |= values[i];
	}
	return any;
}

static size_t encode_differences(uint64_t *values, const uint64_t *sizes, uint32_t rows,
    struct gf_column_form *form, unsigned char *out)
{
	form->base = values[0] - (sizes ? sizes[0] : 0);
	if (sizes)
		subtract_total(values, sizes, rows, form->base);
	else
		subtract_before(values, rows, form->base);
	uint64_t any = 0;
	for (uint32_t i = 0; i < rows; i++)
		any |= values[i];
	if (!any)
		return 0;
	form->shift = (uint8_t)__builtin_ctzll(any);
	form->planes = planes_for(zigzag(values, rows, form->shift));
	return write_planes(values, rows, 0, 0, form->planes, out);
}

size_t gf_column_encode(uint64_t *values, const uint64_t *sizes, uint32_t rows,
    struct gf_column_form *form, struct gf_value_table *table, unsigned char *out)
{
	form->planes = form->shift = 0;
	form->entries = 0;
	form->is_table = false;
	if (form->code != GF_CODE_PLAIN)
		return encode_differences(values, sizes, rows, form, out);
	struct span span = form->is_signed ? span_signed(values, rows) : span_unsigned(values, rows);
	form->base = span.low;
	if (!span.differing)
		return 0;
	form->shift = (uint8_t)__builtin_ctzll(span.differing);
	form->planes = planes_for((span.high - span.low) >> form->shift);
	if (table && form->planes > 1) {
		size_t bytes = write_table(table, values, rows, form, out);
		if (bytes)
			return bytes;
	}
	return write_planes(values, rows, form->base, form->shift, form->planes, out);
}

size_t gf_column_entry_put(unsigned char *out, const struct gf_column_form *form)
{
	uint64_t base = form->base;
	if (form->width_log < 3)
		base &= (UINT64_C(1) << (8 << form->width_log)) - 1;
	unsigned base_bytes = planes_for(base);
	size_t at = 0;
	out[at++] = (unsigned char)(form->planes | base_bytes << 4);
	out[at++] = (unsigned char)(form->code | (form->is_table ? GF_COLUMN_TABLE : 0) |
	    (form->is_signed ? GF_COLUMN_SIGNED : 0) | form->width_log << GF_COLUMN_WIDTH_SHIFT);
	if (form->planes)
		out[at++] = form->shift;
	if (form->is_table)
		out[at++] = (unsigned char)(form->entries - 1);
	for (unsigned i = 0; i < base_bytes; i++)
		out[at++] = (unsigned char)(base >> 8 * i);
	return at;
}
