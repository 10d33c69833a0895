/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/python_code.h"

#include <string.h>

#include "formats/stack_layout.h"
#include "shim/intern_table.h"
#include "shim/python_layout.h"
#include "shim/python_stack.h"
#include "shim/stack_hash.h"

#define CODES_LOG2 17
#define FILE_LIMIT 4096u
#define NAME_LIMIT 1024u
#define TABLE_LIMIT (16u << 20) /* longer line tables are not kept: they are not line tables */

static struct gs_intern_table codes;

bool gs_python_code_init(void)
{
	return codes.slots || gs_intern_init(&codes, CODES_LOG2);
}

void gs_python_code_reset(void)
{
	gs_intern_reset(&codes);
	gs_python_stack_forget();
}

static uintptr_t word_at(uintptr_t address)
{
	return *(const uintptr_t *)address;
}

/* ---- texts ---- */

static size_t put_utf8(unsigned char *out, uint32_t character)
{
	if (character >= 0xd800 && character < 0xe000)
		character = 0xfffd; /* a lone surrogate: a byte that was no character */
	if (character < 0x80) {
		out[0] = (unsigned char)character;
		return 1;
	}
	if (character < 0x800) {
		out[0] = (unsigned char)(0xc0 | character >> 6);
		out[1] = (unsigned char)(0x80 | (character & 0x3f));
		return 2;
	}
	if (character < 0x10000) {
		out[0] = (unsigned char)(0xe0 | character >> 12);
		out[1] = (unsigned char)(0x80 | (character >> 6 & 0x3f));
		out[2] = (unsigned char)(0x80 | (character & 0x3f));
		return 3;
	}
	out[0] = (unsigned char)(0xf0 | (character >> 18 & 7));
	out[1] = (unsigned char)(0x80 | (character >> 12 & 0x3f));
	out[2] = (unsigned char)(0x80 | (character >> 6 & 0x3f));
	out[3] = (unsigned char)(0x80 | (character & 0x3f));
	return 4;
}

/*
 * kind (1, 2 or 4 bytes a character), compact and ASCII bits of a text.  They begin behind the
 * interned state, which grew: bit 2, 8 (free-threaded 3.13) or 16 (3.14) of the state word.  In a
 * wrong place the kind reads as 0 or the compact bit is not set.
 */
static bool text_shape(uint32_t state, unsigned *kind_out, bool *ascii_out)
{
	static const unsigned char places[] = {2, 8, 16};
	for (unsigned i = 0; i < sizeof(places); i++) {
		uint32_t bits = state >> places[i];
		unsigned kind = bits & 7;
		if ((kind == 1 || kind == 2 || kind == 4) && (bits & 8)) {
			*kind_out = kind;
			*ascii_out = bits & 16;
			return true;
		}
	}
	return false;
}

/* UTF-8 of a str object, cut at `limit` bytes.  @return bytes, 0 also for a text we cannot read */
static size_t copy_text(uintptr_t text, unsigned char *out, size_t limit)
{
	unsigned kind;
	bool ascii;
	size_t used = 0, length = word_at(text + gs_python.text_length);
	if (!text_shape(*(const uint32_t *)(text + gs_python.text_state), &kind, &ascii))
		return 0;
	const unsigned char *data =
	    (const unsigned char *)text + (ascii ? gs_python.text_ascii : gs_python.text_other);
	for (size_t i = 0; i < length && used + 4 <= limit; i++) {
		uint32_t character = data[i * kind];
		if (kind >= 2)
			character = ((const uint16_t *)(const void *)data)[i * kind / 2];
		if (kind == 4)
			character = ((const uint32_t *)(const void *)data)[i];
		used += put_utf8(out + used, character);
	}
	return used;
}

/* ---- definitions ---- */

struct pieces {
	struct gf_code_head head;
	const unsigned char *table;
};

/* The rest of a table that does not fit into one text.  Every text says where its bytes belong. */
static bool append_rest(struct pieces *code, uint32_t id, uint32_t from,
    const struct gs_stack_sink *sink)
{
	code->head.file_bytes = code->head.name_bytes = 0;
	while (from < code->head.table_bytes) {
		uint32_t room = GF_TEXT_MAX_BYTES - (uint32_t)sizeof(code->head);
		uint32_t bytes = code->head.table_bytes - from;
		if (bytes > room)
			bytes = room;
		code->head.table_offset = from;
		memcpy(sink->scratch, &code->head, sizeof(code->head));
		memcpy(sink->scratch + sizeof(code->head), code->table + from, bytes);
		if (!sink->append(sink->context, GF_TEXT_CODE, id, sink->scratch,
			(uint32_t)sizeof(code->head) + bytes))
			return false;
		from += bytes;
	}
	return true;
}

static bool is_module_call(const unsigned char *file, size_t file_bytes,
    const unsigned char *name, size_t name_bytes)
{
	static const char path[] = "torch/nn/modules/module.py";
	static const char call[] = "_call_impl"; /* also _wrapped_call_impl, behind a class name */
	return file_bytes >= sizeof(path) - 1 && name_bytes >= sizeof(call) - 1 &&
	    memcmp(file + file_bytes - (sizeof(path) - 1), path, sizeof(path) - 1) == 0 &&
	    memcmp(name + name_bytes - (sizeof(call) - 1), call, sizeof(call) - 1) == 0;
}

static bool define(uintptr_t code, uint32_t id, const struct gs_stack_sink *sink)
{
	unsigned char *names = sink->scratch + sizeof(struct gf_code_head);
	uint16_t name_at = gs_python.code_qualname == GS_PYTHON_NONE ? gs_python.code_name
								     : gs_python.code_qualname;
	uintptr_t table = word_at(code + gs_python.code_table);
	size_t file = copy_text(word_at(code + gs_python.code_file), names, FILE_LIMIT);
	size_t name = copy_text(word_at(code + name_at), names + file, NAME_LIMIT);
	uint64_t table_bytes = word_at(table + gs_python.bytes_size);
	if (table_bytes > TABLE_LIMIT)
		table_bytes = 0;
	struct pieces pieces = {
	    .head = {.head_bytes = sizeof(struct gf_code_head), .form = gs_python.line_form,
		.file_bytes = (uint16_t)file, .name_bytes = (uint16_t)name,
		.first_line = *(const uint32_t *)(code + gs_python.code_first_line),
		.table_bytes = (uint32_t)table_bytes},
	    .table = (const unsigned char *)table + gs_python.bytes_data};
	if (is_module_call(names, file, names + file, name))
		gs_python_stack_watch(code);
	size_t used = sizeof(pieces.head) + file + name;
	uint32_t first = (uint32_t)(GF_TEXT_MAX_BYTES - used);
	if (first > pieces.head.table_bytes)
		first = pieces.head.table_bytes;
	memcpy(sink->scratch, &pieces.head, sizeof(pieces.head));
	memcpy(sink->scratch + used, pieces.table, first);
	return sink->append(sink->context, GF_TEXT_CODE, id, sink->scratch,
		   (uint32_t)used + first) &&
	    append_rest(&pieces, id, first, sink);
}

uint32_t gs_python_code_id(uintptr_t code, const struct gs_stack_sink *sink)
{
	uint64_t hash = gs_hash_add(code, word_at(code + gs_python.code_file));
	bool is_new;
	hash = gs_hash_add(hash, word_at(code + gs_python.code_name));
	hash = gs_hash_add(hash, word_at(code + gs_python.code_table));
	hash = gs_hash_add(hash, *(const uint32_t *)(code + gs_python.code_first_line));
	hash += !hash; /* 0 marks a free slot */
	uint32_t id = gs_intern(&codes, hash, &is_new);
	if (id && is_new && !define(code, id, sink))
		gs_intern_failed(&codes, hash);
	return id;
}
