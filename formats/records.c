/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/records.h"

#include <stdarg.h>
#include <stdio.h>

#define SIGNED(type) ((type)-1 < (type)1)
#define COLUMN(type, name, coding) \
	{#name, sizeof(type), SIGNED(type), GF_CODING_##coding, offsetof(this_record, name)},

const struct gf_record_type *gf_record_type(unsigned tag)
{
	switch (tag) {
#define RECORD(tag, record, first) \
	case tag: { \
		typedef struct gf_##record this_record; \
		static const struct gf_column columns[] = {GF_FIELDS_##record(COLUMN)}; \
		static const struct gf_record_type type = {tag, #record, sizeof(this_record), \
		    first, sizeof(columns) / sizeof(columns[0]), columns}; \
		_Static_assert(sizeof(columns) / sizeof(columns[0]) <= GF_COLUMNS_LIMIT, \
		    "too many columns: " #record); \
		return &type; \
	}
		GF_RECORDS(RECORD)
#undef RECORD
	default:
		return NULL;
	}
}

unsigned gf_column_index(const struct gf_record_type *type, const char *name)
{
	unsigned index = 0;
	while (index < type->column_count && strcmp(type->columns[index].name, name) != 0)
		index++;
	return index;
}

bool gf_record_valid(const void *record, uint32_t head)
{
	uint32_t tag = GF_HEAD_TAG(head), bytes = GF_HEAD_BYTES(head);
	if ((head & 0xff00u) || tag == 0 || tag >= GF_TAG_LIMIT || bytes < GF_RECORD_MIN_BYTES ||
	    bytes > GF_RECORD_MAX_BYTES)
		return false;
	const struct gf_record_type *type = gf_record_type(tag);
	if (!type)
		return true;
	if (bytes < type->first_bytes)
		return false;
	if (tag != GF_TAG_text)
		return true;
	uint32_t length = ((const struct gf_text *)record)->length;
	return length <= GF_TEXT_MAX_BYTES && gf_text_padded(length) <= bytes - type->first_bytes;
}

/* ---- closed lists ---- */

struct kind {
	uint16_t value;
	const char *name;
};

#define K(number, name, words) {number, #name},
static const struct kind memory_kinds[] = {GF_MEMORY_KINDS(K){0, NULL}};
static const struct kind graph_kinds[] = {GF_GRAPH_KINDS(K){0, NULL}};
static const struct kind wait_kinds[] = {GF_WAIT_KINDS(K){0, NULL}};
static const struct kind event_kinds[] = {GF_EVENT_KINDS(K){0, NULL}};
static const struct kind module_kinds[] = {GF_MODULE_KINDS(K){0, NULL}};
static const struct kind mark_kinds[] = {GF_MARK_KINDS(K){0, NULL}};
static const struct kind lost_kinds[] = {GF_LOST_REASONS(K){0, NULL}};
static const struct kind text_kinds[] = {GF_TEXT_KINDS(K){0, NULL}};
#undef K

static const struct kind *kinds_of(unsigned tag)
{
	switch (tag) {
	case GF_TAG_memory:
		return memory_kinds;
	case GF_TAG_graph:
		return graph_kinds;
	case GF_TAG_wait:
		return wait_kinds;
	case GF_TAG_event:
		return event_kinds;
	case GF_TAG_module:
		return module_kinds;
	case GF_TAG_mark:
		return mark_kinds;
	case GF_TAG_lost:
		return lost_kinds;
	case GF_TAG_text:
		return text_kinds;
	default:
		return NULL;
	}
}

const char *gf_kind_name(unsigned tag, unsigned value)
{
	const struct kind *kind = kinds_of(tag);
	for (; kind && kind->name; kind++)
		if (kind->value == value)
			return kind->name;
	return NULL;
}

const char *gf_coding_name(unsigned coding)
{
	static const char *const names[] = {"TIME", "PLAIN", "DELTA", "TOTAL", "TICKS"};
	return coding < sizeof(names) / sizeof(names[0]) ? names[coding] : NULL;
}

/* ---- schema ---- */

struct text_end {
	char *out;
	size_t limit, length; /* length goes on counting behind the limit */
};

static void __attribute__((format(printf, 2, 3))) add(struct text_end *end, const char *format, ...)
{
	va_list arguments;
	size_t room = end->length < end->limit ? end->limit - end->length : 0;
	va_start(arguments, format);
	int added = vsnprintf(room ? end->out + end->length : NULL, room, format, arguments);
	va_end(arguments);
	end->length += added > 0 ? (size_t)added : 0;
}

size_t gf_schema_text(char *out, size_t limit)
{
	struct text_end end = {out, limit, 0};
	if (limit)
		out[0] = 0;
	for (unsigned tag = 0; tag < GF_TAG_LIMIT; tag++) {
		const struct gf_record_type *type = gf_record_type(tag);
		if (!type)
			continue;
		add(&end, "record %u %s %u\n", tag, type->name, type->bytes);
		for (unsigned i = 0; i < type->column_count; i++) {
			const struct gf_column *column = &type->columns[i];
			add(&end, " %s %c%d %s\n", column->name, column->is_signed ? 'i' : 'u',
			    column->bytes * 8, gf_coding_name(column->coding));
		}
		for (const struct kind *kind = kinds_of(tag); kind && kind->name; kind++)
			add(&end, " =%u %s\n", kind->value, kind->name);
	}
	return end.length;
}
