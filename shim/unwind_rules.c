/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sources: LSB 5.0 part "Exception Frames" (.eh_frame, .eh_frame_hdr), DWARF 4 section 6.4, System V
 * x86-64 ABI (register numbers).
 */
#include "shim/unwind_rules.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "shim/library_map.h"

#if GS_UNWIND_SELF

#define REGISTER_FP 6
#define REGISTER_SP 7
#define REGISTER_RA 16
#define REMEMBER_LIMIT 8
#define ENTRY_LIMIT (1u << 20) /* bytes; longer ones are not read */

/* Bytes being read; `bad` sticks. */
struct bytes {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t get(struct bytes *in, unsigned count)
{
	uint64_t value = 0;
	if (in->bad || (size_t)(in->end - in->at) < count) {
		in->bad = true;
		return 0;
	}
	memcpy(&value, in->at, count);
	in->at += count;
	return value;
}

static uint64_t get_uleb(struct bytes *in)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64; shift += 7) {
		uint64_t byte = get(in, 1);
		value |= (byte & 0x7f) << shift;
		if (!(byte & 0x80))
			return value;
	}
	in->bad = true;
	return 0;
}

static int64_t get_sleb(struct bytes *in)
{
	uint64_t value = 0;
	for (unsigned shift = 0; shift < 64;) {
		uint64_t byte = get(in, 1);
		value |= (byte & 0x7f) << shift;
		shift += 7;
		if (!(byte & 0x80)) {
			if ((byte & 0x40) && shift < 64)
				value |= ~UINT64_C(0) << shift;
			return (int64_t)value;
		}
	}
	in->bad = true;
	return 0;
}

/* A pointer in one of the encodings of .eh_frame (DW_EH_PE_*), without indirection. */
static uintptr_t get_pointer(struct bytes *in, uint8_t encoding, bool relative)
{
	uintptr_t base = relative && (encoding & 0x70) == 0x10 ? (uintptr_t)in->at : 0;
	if ((encoding & 0x80) || ((encoding & 0x70) != 0x10 && (encoding & 0x70) != 0))
		in->bad = true;
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c: return base + get(in, 8);
	case 0x02: return base + get(in, 2);
	case 0x0a: return base + (uintptr_t)(int16_t)get(in, 2);
	case 0x03: return base + get(in, 4);
	case 0x0b: return base + (uintptr_t)(int32_t)get(in, 4);
	default: in->bad = true; return 0;
	}
}

/* ---- finding the entry ---- */

/* @return the FDE of an address by the sorted table of .eh_frame_hdr, NULL if there is none */
static const unsigned char *find_entry(const struct gs_library *library, uintptr_t address)
{
	const unsigned char *header = library->unwind_header;
	const uint8_t data_relative_4 = 0x3b, pc_relative_4 = 0x1b, udata4 = 0x03;
	if (!header || header[0] != 1 || header[1] != pc_relative_4 || header[2] != udata4 ||
	    header[3] != data_relative_4)
		return NULL;
	uint32_t count;
	memcpy(&count, header + 8, sizeof(count));
	const int32_t *table = (const void *)(header + 12); /* pairs: function, entry */
	int64_t wanted = (int64_t)(address - (uintptr_t)header);
	if (!count || wanted < table[0] || wanted != (int32_t)wanted)
		return NULL;
	uint32_t low = 0, high = count; /* table[low] <= wanted < table[high] */
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (table[2 * (size_t)middle] <= wanted)
			low = middle;
		else
			high = middle;
	}
	return header + table[2 * (size_t)low + 1];
}

/* A CIE or FDE without its length word. */
static struct bytes entry_bytes(const unsigned char *entry)
{
	uint32_t length;
	memcpy(&length, entry, sizeof(length));
	return (struct bytes){entry + 4, entry + 4 + length, !length || length > ENTRY_LIMIT};
}

struct description {
	struct bytes first; /* instructions of the CIE */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of pointers in the FDE */
	bool has_length;  /* the FDE has augmentation data */
	bool signal_frame;
};

static void read_augmentation(struct bytes *in, const char *letters, struct description *out)
{
	uint64_t length = get_uleb(in);
	struct bytes data = {in->at, in->at + length, in->bad || length > 256};
	for (const char *letter = letters + 1; *letter && !data.bad; letter++) {
		if (*letter == 'R') {
			out->encoding = (uint8_t)get(&data, 1);
		} else if (*letter == 'P') {
			uint8_t encoding = (uint8_t)get(&data, 1);
			get_pointer(&data, encoding & 0x0f, false);
		} else if (*letter == 'L') {
			get(&data, 1);
		} else if (*letter == 'S') {
			out->signal_frame = true;
		} else {
			break; /* unknown: its data is skipped by the length */
		}
	}
	out->has_length = true;
	in->bad |= data.bad;
	if (!in->bad)
		in->at += length;
}

static bool read_description(const unsigned char *entry, struct description *out)
{
	struct bytes in = entry_bytes(entry);
	memset(out, 0, sizeof(*out));
	uint64_t id = get(&in, 4), version = get(&in, 1);
	const char *letters = (const char *)in.at;
	while (!in.bad && get(&in, 1))
		;
	if (in.bad || id != 0 || (version != 1 && version != 3))
		return false;
	out->code_align = get_uleb(&in);
	out->data_align = get_sleb(&in);
	if ((version == 1 ? get(&in, 1) : get_uleb(&in)) != REGISTER_RA)
		return false;
	if (letters[0] == 'z')
		read_augmentation(&in, letters, out);
	else if (letters[0])
		return false;
	out->first = in;
	return !in.bad;
}

/* ---- instructions ---- */

enum where { UNCHANGED, AT_CFA, AT_FP, NOWHERE, ELSEWHERE };

struct saved {
	enum where where;
	int64_t offset;
};

/* What the instructions say at one place of a function. */
struct state {
	bool is_load; /* CFA is the word at register + offset, not the sum */
	uint64_t cfa_register;
	int64_t cfa_offset;
	struct saved fp, ra;
};

struct machine {
	const struct description *description;
	struct state now, first, remembered[REMEMBER_LIMIT];
	unsigned remembered_count;
	uintptr_t place, wanted;
};

static void set_saved(struct state *state, uint64_t number, enum where where, int64_t offset)
{
	if (number == REGISTER_FP)
		state->fp = (struct saved){where, offset};
	if (number == REGISTER_RA)
		state->ra = (struct saved){where, offset};
}

/* Expressions as compilers write them for realigned stacks: register + offset, maybe loaded. */
static bool read_expression(struct bytes *in, uint64_t *number_out, int64_t *offset_out,
    bool *load_out)
{
	const uint8_t breg0 = 0x70, deref = 0x06;
	uint64_t length = get_uleb(in);
	if (in->bad || length > (size_t)(in->end - in->at)) {
		in->bad = true;
		return false;
	}
	struct bytes code = {in->at, in->at + length, false};
	in->at += length;
	uint64_t operation = get(&code, 1);
	*number_out = operation - breg0;
	*offset_out = get_sleb(&code);
	*load_out = code.at < code.end && get(&code, 1) == deref;
	return !code.bad && operation >= breg0 && operation < breg0 + 32u && code.at == code.end;
}

static void cfa_expression(struct machine *machine, struct bytes *in)
{
	struct state *now = &machine->now;
	if (!read_expression(in, &now->cfa_register, &now->cfa_offset, &now->is_load) ||
	    !now->is_load)
		now->cfa_register = REGISTER_RA; /* nobody's base: reads as unknown */
}

static void saved_expression(struct machine *machine, struct bytes *in)
{
	uint64_t number = get_uleb(in), base;
	int64_t offset;
	bool load;
	bool known = read_expression(in, &base, &offset, &load) && base == REGISTER_FP && !load;
	set_saved(&machine->now, number, known ? AT_FP : ELSEWHERE, offset);
}

static void set_cfa(struct state *now, uint64_t number, int64_t offset)
{
	now->is_load = false;
	now->cfa_register = number;
	now->cfa_offset = offset;
}

static void restore(struct machine *machine, uint64_t number)
{
	if (number == REGISTER_FP)
		machine->now.fp = machine->first.fp;
	if (number == REGISTER_RA)
		machine->now.ra = machine->first.ra;
}

static void remember(struct machine *machine, struct bytes *in)
{
	if (machine->remembered_count == REMEMBER_LIMIT)
		in->bad = true;
	else
		machine->remembered[machine->remembered_count++] = machine->now;
}

static void recall(struct machine *machine, struct bytes *in)
{
	if (machine->remembered_count == 0)
		in->bad = true;
	else
		machine->now = machine->remembered[--machine->remembered_count];
}

/* One instruction with its own number (the upper two bits are 0). */
static void run_extended(struct machine *machine, uint8_t operation, struct bytes *in)
{
	struct state *now = &machine->now;
	int64_t data = machine->description->data_align;
	uint64_t code = machine->description->code_align, number;
	switch (operation) {
	case 0x00: break; /* nop */
	case 0x02: machine->place += get(in, 1) * code; break;
	case 0x03: machine->place += get(in, 2) * code; break;
	case 0x04: machine->place += get(in, 4) * code; break;
	case 0x05: /* offset_extended */
		number = get_uleb(in);
		set_saved(now, number, AT_CFA, (int64_t)get_uleb(in) * data);
		break;
	case 0x06: restore(machine, get_uleb(in)); break;
	case 0x07: set_saved(now, get_uleb(in), NOWHERE, 0); break;
	case 0x08: set_saved(now, get_uleb(in), UNCHANGED, 0); break;
	case 0x09: /* register */
		set_saved(now, get_uleb(in), ELSEWHERE, 0);
		get_uleb(in);
		break;
	case 0x0a: remember(machine, in); break;
	case 0x0b: recall(machine, in); break;
	case 0x0c: /* def_cfa */
		number = get_uleb(in);
		set_cfa(now, number, (int64_t)get_uleb(in));
		break;
	case 0x0d: set_cfa(now, get_uleb(in), now->cfa_offset); break;
	case 0x0e: set_cfa(now, now->cfa_register, (int64_t)get_uleb(in)); break;
	case 0x0f: cfa_expression(machine, in); break;
	case 0x10: saved_expression(machine, in); break;
	case 0x11: /* offset_extended_sf */
		number = get_uleb(in);
		set_saved(now, number, AT_CFA, get_sleb(in) * data);
		break;
	case 0x12: /* def_cfa_sf */
		number = get_uleb(in);
		set_cfa(now, number, get_sleb(in) * data);
		break;
	case 0x13: set_cfa(now, now->cfa_register, get_sleb(in) * data); break;
	case 0x2e: get_uleb(in); break; /* size of pushed arguments: of no use here */
	default: in->bad = true; break;
	}
}

/* Run up to the wanted place.  @return false if an instruction is not understood */
static bool run(struct machine *machine, struct bytes in)
{
	while (in.at < in.end && !in.bad) {
		uint8_t operation = (uint8_t)get(&in, 1), low = operation & 0x3f;
		uint64_t code = machine->description->code_align;
		switch (operation >> 6) {
		case 1: machine->place += low * code; break;
		case 2:
			set_saved(&machine->now, low, AT_CFA,
			    (int64_t)get_uleb(&in) * machine->description->data_align);
			break;
		case 3: restore(machine, low); break;
		default: run_extended(machine, operation, &in); break;
		}
		if (machine->place > machine->wanted)
			return !in.bad; /* the rows from here on are for later places */
	}
	return !in.bad;
}

/*
 * Instructions that set the state for a place stand before the advance to the next place, so the
 * state must be taken at the advance that goes beyond the wanted one.  That advance changes nothing
 * but the place, hence `run` may simply stop behind it.
 */
static bool run_entry(struct machine *machine, const unsigned char *entry, uintptr_t wanted)
{
	struct description description;
	struct bytes in = entry_bytes(entry);
	const unsigned char *self = in.at;
	uint64_t back = get(&in, 4);
	if (in.bad || !back || !read_description(self - back, &description))
		return false;
	uintptr_t begin = get_pointer(&in, description.encoding, true);
	uintptr_t bytes = get_pointer(&in, description.encoding & 0x0f, false);
	if (in.bad || wanted < begin || wanted - begin >= bytes || description.signal_frame)
		return false;
	if (description.has_length) {
		uint64_t length = get_uleb(&in);
		if (length > (size_t)(in.end - in.at))
			return false;
		in.at += length;
	}
	machine->description = &description;
	machine->place = begin;
	machine->wanted = UINTPTR_MAX;
	if (!run(machine, description.first))
		return false;
	machine->first = machine->now;
	machine->wanted = wanted;
	return run(machine, in);
}

static void to_rule(const struct state *state, struct gs_unwind_rule *out)
{
	bool small = state->cfa_offset == (int32_t)state->cfa_offset &&
	    state->fp.offset == (int16_t)state->fp.offset;
	if (state->ra.where == NOWHERE) {
		out->cfa = GS_UNWIND_END;
		return;
	}
	if (!small || state->ra.where != AT_CFA || state->ra.offset != -8 ||
	    state->fp.where == ELSEWHERE)
		return;
	if (state->cfa_register == REGISTER_SP && !state->is_load)
		out->cfa = GS_UNWIND_SP;
	else if (state->cfa_register == REGISTER_FP)
		out->cfa = state->is_load ? GS_UNWIND_FP_LOAD : GS_UNWIND_FP;
	out->cfa_offset = (int32_t)state->cfa_offset;
	out->saved_offset = (int16_t)state->fp.offset;
	out->saved = state->fp.where == AT_CFA ? GS_SAVED_AT_CFA
	    : state->fp.where == AT_FP	       ? GS_SAVED_AT_FP
					       : GS_SAVED_NOT;
}

void gs_unwind_rule(uintptr_t address, struct gs_unwind_rule *out)
{
	struct gs_library library;
	struct machine machine;
	*out = (struct gs_unwind_rule){.address = address, .cfa = GS_UNWIND_UNKNOWN};
	if (!address || !gs_library_find(address - 1, &library))
		return;
	const unsigned char *entry = find_entry(&library, address - 1);
	if (!entry)
		return;
	memset(&machine, 0, sizeof(machine));
	if (run_entry(&machine, entry, address - 1))
		to_rule(&machine.now, out);
}

#else

void gs_unwind_rule(uintptr_t address, struct gs_unwind_rule *out)
{
	*out = (struct gs_unwind_rule){.address = address, .cfa = GS_UNWIND_UNKNOWN};
}

#endif
