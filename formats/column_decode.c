/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/column_decode.h"

#define INLINE static inline __attribute__((always_inline))

bool gf_column_entry_get(struct gf_cursor *cursor, struct gf_column_layout *layout_out)
{
	unsigned counts = gf_take8(cursor), bits = gf_take8(cursor);
	struct gf_column_layout layout = {
	    .planes = counts & 15,
	    .code = bits & GF_COLUMN_CODE,
	    .bytes = (uint8_t)(1u << ((bits & GF_COLUMN_WIDTH) >> GF_COLUMN_WIDTH_SHIFT)),
	};
	unsigned base_bytes = counts >> 4;
	if (layout.planes)
		layout.shift = gf_take8(cursor);
	if (bits & GF_COLUMN_TABLE)
		layout.entries = gf_take8(cursor) + 1u;
	if (base_bytes > layout.bytes || layout.planes > layout.bytes ||
	    layout.shift >= 8 * layout.bytes || layout.code > GF_CODE_TOTAL ||
	    (bits & GF_COLUMN_RESERVED))
		return false;
	if (layout.code != GF_CODE_PLAIN && layout.bytes != 8)
		return false;
	if (layout.entries && (layout.code != GF_CODE_PLAIN || layout.planes == 0))
		return false;
	layout.base = gf_take_bytes(cursor, base_bytes);
	*layout_out = layout;
	return !cursor->failed;
}

size_t gf_column_stored_bytes(const struct gf_column_layout *layout, uint32_t rows)
{
	if (layout->entries)
		return (size_t)layout->planes * layout->entries + rows;
	return (size_t)layout->planes * rows;
}

/*
 * base + (planes << shift).  `planes` is a constant where this is inlined, so that each loop is
 * unrolled over the planes and vectorised over the rows.
 */
#define EXPAND(bits) \
	INLINE void expand##bits(uint##bits##_t *restrict out, const unsigned char *restrict from, \
	    size_t rows, unsigned planes, unsigned shift, uint##bits##_t base) \
	{ \
		for (size_t i = 0; i < rows; i++) { \
			uint##bits##_t value = 0; \
			for (unsigned plane = 0; plane < planes; plane++) \
				value = (uint##bits##_t)( \
				    value | \
				    (uint##bits##_t)(1u * (uint##bits##_t)from[plane * rows + i] \
						     << 8 * plane)); \
			out[i] = (uint##bits##_t)(base + (uint##bits##_t)(1u * value << shift)); \
		} \
	}
EXPAND(8)
EXPAND(16)
EXPAND(32)
EXPAND(64)
#undef EXPAND

static void expand(const struct gf_column_layout *layout, uint32_t rows, const unsigned char *from,
    void *out, uint64_t base, unsigned shift)
{
#define CASE(bits, planes) \
	case bits + planes: \
		expand##bits(out, from, rows, planes, shift, (uint##bits##_t)base); \
		break;
	switch (layout->bytes * 8 + layout->planes) {
		CASE(8, 1)
		CASE(16, 1)
		CASE(16, 2)
		CASE(32, 1)
		CASE(32, 2)
		CASE(32, 3)
		CASE(32, 4)
		CASE(64, 1)
		CASE(64, 2)
		CASE(64, 3)
		CASE(64, 4)
		CASE(64, 5)
		CASE(64, 6)
		CASE(64, 7)
		CASE(64, 8)
	}
#undef CASE
}

void gf_column_fill(void *out, uint32_t rows, unsigned bytes, uint64_t value)
{
#define FILL(bits) \
	for (uint32_t i = 0; i < rows; i++) \
		((uint##bits##_t *)out)[i] = (uint##bits##_t)value;
	switch (bytes) {
	case 1:
		FILL(8) break;
	case 2:
		FILL(16) break;
	case 4:
		FILL(32) break;
	default:
		FILL(64)
	}
#undef FILL
}

/* Indexes to values; the largest index tells whether all are in the table. */
static bool decode_table(
    const struct gf_column_layout *layout, uint32_t rows, const unsigned char *stored, void *out)
{
	uint64_t storage[256];
	const unsigned char *indexes = stored + (size_t)layout->planes * layout->entries;
	unsigned char largest = 0;
	expand(layout, layout->entries, stored, storage, layout->base, layout->shift);
	for (uint32_t i = 0; i < rows; i++)
		largest = indexes[i] > largest ? indexes[i] : largest;
	if (largest >= layout->entries)
		return false;
#define LOOK_UP(bits) \
	for (uint32_t i = 0; i < rows; i++) \
		((uint##bits##_t *)out)[i] = ((const uint##bits##_t *)storage)[indexes[i]];
	switch (layout->bytes) {
	case 1:
		LOOK_UP(8) break;
	case 2:
		LOOK_UP(16) break;
	case 4:
		LOOK_UP(32) break;
	default:
		LOOK_UP(64)
	}
#undef LOOK_UP
	return true;
}

static uint64_t unzigzag(uint64_t value)
{
	return value >> 1 ^ (0 - (value & 1));
}

/* Running sums of the differences that `out` holds as zigzag numbers. */
static void sum(
    const struct gf_column_layout *layout, uint32_t rows, const uint64_t *sizes, uint64_t *out)
{
	uint64_t before = layout->base;
	unsigned shift = layout->shift;
	if (sizes)
		for (uint32_t i = 0; i < rows; i++)
			out[i] = before += (unzigzag(out[i]) << shift) + sizes[i];
	else
		for (uint32_t i = 0; i < rows; i++)
			out[i] = before += unzigzag(out[i]) << shift;
}

bool gf_column_decode(const struct gf_column_layout *layout, uint32_t rows,
    const unsigned char *stored, const uint64_t *sizes, void *out)
{
	if (layout->code == GF_CODE_TOTAL && !sizes)
		return false;
	if (layout->entries)
		return decode_table(layout, rows, stored, out);
	bool plain = layout->code == GF_CODE_PLAIN;
	if (layout->planes == 0)
		gf_column_fill(out, rows, layout->bytes, plain ? layout->base : 0);
	else
		expand(
		    layout, rows, stored, out, plain ? layout->base : 0, plain ? layout->shift : 0);
	if (!plain)
		sum(layout, rows, layout->code == GF_CODE_TOTAL ? sizes : NULL, out);
	return true;
}
