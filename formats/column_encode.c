/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/column_encode.h"

#include <string.h>

#include "formats/wire.h"

#define BLOCK 512u /* numbers that are taken through all planes while they are in the cache */

static uint8_t planes_for(uint64_t largest)
{
	return largest ? (uint8_t)((63 - __builtin_clzll(largest)) / 8 + 1) : 0;
}

/* ---- planes ---- */

/* A byte at a time: all lowest bytes, then all next ones. */
static size_t write_planes32(
    const uint32_t *restrict numbers, uint32_t rows, unsigned planes, unsigned char *restrict out)
{
	for (uint32_t at = 0; at < rows; at += BLOCK) {
		uint32_t count = rows - at < BLOCK ? rows - at : BLOCK;
		for (unsigned plane = 0; plane < planes; plane++) {
			unsigned char *restrict to = out + (size_t)plane * rows + at;
			for (uint32_t i = 0; i < count; i++)
				to[i] = (unsigned char)(numbers[at + i] >> 8 * plane);
		}
	}
	return (size_t)planes * rows;
}

static size_t write_planes64(
    const uint64_t *restrict numbers, uint32_t rows, unsigned planes, unsigned char *restrict out)
{
	for (uint32_t at = 0; at < rows; at += BLOCK) {
		uint32_t count = rows - at < BLOCK ? rows - at : BLOCK;
		for (unsigned plane = 0; plane < planes; plane++) {
			unsigned char *restrict to = out + (size_t)plane * rows + at;
			for (uint32_t i = 0; i < count; i++)
				to[i] = (unsigned char)(numbers[at + i] >> 8 * plane);
		}
	}
	return (size_t)planes * rows;
}

/* ---- tables ---- */

/* Write each number's index to `out`.  False as soon as there are too many different ones. */
static bool make_table(
    struct gf_value_table *table, const uint32_t *numbers, uint32_t rows, unsigned char *out)
{
	memset(table->slots, 0, sizeof(table->slots));
	table->count = 0;
	for (uint32_t i = 0; i < rows; i++) {
		uint32_t number = numbers[i], slot = number * 0x9e3779b1u >> 22;
		while (table->slots[slot] && table->keys[slot] != number)
			slot = (slot + 1) % GF_TABLE_SLOTS;
		if (!table->slots[slot]) {
			if (table->count == GF_TABLE_LIMIT)
				return false;
			table->values[table->count++] = number;
			table->keys[slot] = number;
			table->slots[slot] = (uint16_t)table->count;
		}
		out[i] = (unsigned char)(table->slots[slot] - 1);
	}
	return true;
}

/* The table first, then the plane of indexes.  0 if a table does not pay. */
static size_t write_table(struct gf_value_table *table, const uint32_t *numbers, uint32_t rows,
    struct gf_column_form *form, unsigned char *out)
{
	/* The indexes are found first but stored last: behind the largest possible table. */
	unsigned char *indexes = out + 8 * GF_TABLE_LIMIT;
	if (!make_table(table, numbers, rows, indexes))
		return 0;
	size_t table_bytes = (size_t)form->planes * table->count;
	if (table_bytes + rows >= (size_t)form->planes * rows)
		return 0;
	write_planes32(table->values, table->count, form->planes, out);
	memmove(out + table_bytes, indexes, rows);
	form->is_table = true;
	form->entries = table->count;
	return table_bytes + rows;
}

/* ---- plain columns ---- */

bool gf_column_reduce(uint64_t first, uint64_t differing, struct gf_column_form *form)
{
	unsigned low = (unsigned)__builtin_ctzll(differing);
	unsigned high = 63 - (unsigned)__builtin_clzll(differing);
	if (high - low >= 32)
		return false;
	/* All values agree above `high`: without these bits they are offsets. */
	uint64_t offset_bits = high == 63 ? UINT64_MAX : (UINT64_C(2) << high) - 1;
	form->shift = (uint8_t)low;
	form->base = (first & ~offset_bits) | (first & ((UINT64_C(1) << low) - 1));
	return true;
}

size_t gf_column_encode_reduced(uint32_t *numbers, uint32_t rows, struct gf_column_form *form,
    struct gf_value_table *table, unsigned char *out)
{
	uint32_t low = numbers[0], high = numbers[0];
	for (uint32_t i = 0; i < rows; i++) {
		low = numbers[i] < low ? numbers[i] : low;
		high = numbers[i] > high ? numbers[i] : high;
	}
	for (uint32_t i = 0; low && i < rows; i++)
		numbers[i] -= low;
	form->base += (uint64_t)low << form->shift;
	form->planes = planes_for(high - low);
	form->is_table = false;
	form->entries = 0;
	if (table && form->planes > 1) {
		size_t bytes = write_table(table, numbers, rows, form, out);
		if (bytes)
			return bytes;
	}
	return write_planes32(numbers, rows, form->planes, out);
}

/* Plain columns of more than 32 bits that differ, and signed ones of both signs. */
static size_t encode_wide(const uint64_t *values, uint64_t *work, uint32_t rows,
    struct gf_column_form *form, unsigned char *out)
{
	/* With the sign bit turned round signed numbers are in the order of unsigned ones. */
	uint64_t turn = form->is_signed ? UINT64_C(1) << 63 : 0;
	uint64_t low = UINT64_MAX, high = 0, differing = 0;
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t value = values[i] ^ turn;
		differing |= values[i] ^ values[0];
		low = value < low ? value : low;
		high = value > high ? value : high;
	}
	form->base = low ^ turn;
	form->shift = differing ? (uint8_t)__builtin_ctzll(differing) : 0;
	form->planes = planes_for((high - low) >> form->shift);
	for (uint32_t i = 0; i < rows; i++)
		work[i] = (values[i] - form->base) >> form->shift;
	return write_planes64(work, rows, form->planes, out);
}

/* ---- differences ---- */

static uint64_t differences(const uint64_t *restrict values, const uint64_t *restrict sizes,
    uint64_t *restrict work, uint32_t rows, uint64_t base)
{
	uint64_t any = 0;
	work[0] = values[0] - base - (sizes ? sizes[0] : 0);
	if (sizes)
		for (uint32_t i = 1; i < rows; i++)
			any |= work[i] = values[i] - values[i - 1] - sizes[i];
	else
		for (uint32_t i = 1; i < rows; i++)
			any |= work[i] = values[i] - values[i - 1];
	return any | work[0];
}

/* `shift` low bits are 0 in all differences: nothing is lost. */
static uint64_t zigzag(uint64_t *work, uint32_t rows, unsigned shift)
{
	uint64_t any = 0;
	for (uint32_t i = 0; i < rows; i++) {
		uint64_t negative = work[i] >> 63, half = (work[i] ^ (0 - negative)) >> shift;
		any |= work[i] = half << 1 | negative;
	}
	return any;
}

static size_t encode_differences(const uint64_t *values, const uint64_t *sizes, uint64_t *work,
    uint32_t rows, struct gf_column_form *form, unsigned char *out)
{
	form->base = values[0] - (sizes ? sizes[0] : 0);
	uint64_t any = differences(values, sizes, work, rows, form->base);
	if (!any)
		return 0;
	form->shift = (uint8_t)__builtin_ctzll(any);
	form->planes = planes_for(zigzag(work, rows, form->shift));
	return write_planes64(work, rows, form->planes, out);
}

size_t gf_column_encode(const uint64_t *values, const uint64_t *sizes, uint64_t *work,
    uint32_t rows, struct gf_column_form *form, unsigned char *out)
{
	form->planes = form->shift = 0;
	form->entries = 0;
	form->is_table = false;
	if (form->code == GF_CODE_PLAIN)
		return encode_wide(values, work, rows, form, out);
	return encode_differences(values, sizes, work, rows, form, out);
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
				    (form->is_signed ? GF_COLUMN_SIGNED : 0) |
				    form->width_log << GF_COLUMN_WIDTH_SHIFT);
	if (form->planes)
		out[at++] = form->shift;
	if (form->is_table)
		out[at++] = (unsigned char)(form->entries - 1);
	for (unsigned i = 0; i < base_bytes; i++)
		out[at++] = (unsigned char)(base >> 8 * i);
	return at;
}
