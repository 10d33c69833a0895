/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Positions of the columns of each record type and typed access to one row, for loops that read
 * columns instead of whole records.
 *
 * Threads: any.
 */
#ifndef GA_COLUMNS_H
#define GA_COLUMNS_H

#include "formats/frame.h"

#define F(type, name, coding) GA_BLOCK_##name,
enum ga_block_column { GF_FIELDS_block(F) };
#undef F
#define F(type, name, coding) GA_COPY_##name,
enum ga_copy_column { GF_FIELDS_copy(F) };
#undef F
#define F(type, name, coding) GA_MEMSET_##name,
enum ga_memset_column { GF_FIELDS_memset(F) };
#undef F
#define F(type, name, coding) GA_LAUNCH_##name,
enum ga_launch_column { GF_FIELDS_launch(F) };
#undef F
#define F(type, name, coding) GA_GRAPH_##name,
enum ga_graph_column { GF_FIELDS_graph(F) };
#undef F
#define F(type, name, coding) GA_WAIT_##name,
enum ga_wait_column { GF_FIELDS_wait(F) };
#undef F
#define F(type, name, coding) GA_MEMORY_##name,
enum ga_memory_column { GF_FIELDS_memory(F) };
#undef F

/* A column's value in a row; a column that the trace does not have reads as 0. */
static inline uint64_t ga_u64(const struct gf_rows *rows, unsigned column, uint32_t row)
{
	const uint64_t *values = rows->columns[column];
	return values ? values[row] : 0;
}
static inline uint32_t ga_u32(const struct gf_rows *rows, unsigned column, uint32_t row)
{
	const uint32_t *values = rows->columns[column];
	return values ? values[row] : 0;
}
static inline uint16_t ga_u16(const struct gf_rows *rows, unsigned column, uint32_t row)
{
	const uint16_t *values = rows->columns[column];
	return values ? values[row] : 0;
}

#endif
