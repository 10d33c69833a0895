/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/native_unwind.h"

#include <stddef.h>

#include "shim/stack_hash.h"

static uintptr_t own_start, own_end;

void gs_native_stack_skip(uintptr_t start, uintptr_t end)
{
	own_start = start;
	own_end = end;
}

void gs_unwound_add(struct gs_unwound *unwound, uintptr_t address)
{
	if (address - own_start < own_end - own_start)
		return;
	unwound->addresses[unwound->frames++] = address;
	unwound->hash = gs_hash_add(unwound->hash, address);
}

struct unwinding {
	struct gs_unwound *out;
	const uintptr_t *frame;
	uintptr_t high;
	uintptr_t sp, fp, pc;
	int fp_word; /* index of the word that `fp` was read from */
	bool needed[GS_NATIVE_WORDS_LIMIT];
};

static const struct gs_unwind_rule *rule_of(struct gs_unwind_rule *rules, uintptr_t pc)
{
	struct gs_unwind_rule *rule =
	    &rules[(uint32_t)(pc * GS_HASH_SEED >> 40) & (GS_NATIVE_RULES - 1)];
	if (rule->address != pc)
		gs_unwind_rule(pc, rule);
	return rule;
}

/* @return index of the word, -1 if it lies outside the stack or there are too many */
static int read_word(struct unwinding *at, uintptr_t address, bool needed, uintptr_t *out)
{
	struct gs_unwound *unwound = at->out;
	if (unwound->words == GS_NATIVE_WORDS_LIMIT || (address & 7) ||
	    address < (uintptr_t)at->frame || address > at->high - sizeof(uintptr_t))
		return -1;
	*out = *(const uintptr_t *)address;
	unwound->indices[unwound->words] = (uint32_t)((address - (uintptr_t)at->frame) >> 3);
	at->needed[unwound->words] = needed;
	return unwound->words++;
}

static bool find_cfa(struct unwinding *at, const struct gs_unwind_rule *rule, uintptr_t *cfa_out)
{
	uintptr_t offset = (uintptr_t)(intptr_t)rule->cfa_offset;
	if (rule->cfa == GS_UNWIND_SP) {
		*cfa_out = at->sp + offset;
	} else {
		/* Where the frame is depends on where the frame pointer came from. */
		at->needed[at->fp_word] = true;
		*cfa_out = at->fp + offset;
		if (rule->cfa == GS_UNWIND_FP_LOAD &&
		    read_word(at, at->fp + offset, true, cfa_out) < 0)
			return false;
	}
	return *cfa_out > at->sp && !(*cfa_out & 7);
}

/* One frame outwards.  @return false if it cannot be done */
static bool step(struct unwinding *at, const struct gs_unwind_rule *rule)
{
	uintptr_t cfa, fp = at->fp;
	int fp_word = at->fp_word;
	uintptr_t saved = (uintptr_t)(intptr_t)rule->saved_offset;
	if (!find_cfa(at, rule, &cfa))
		return false;
	if (rule->saved != GS_SAVED_NOT) {
		bool by_fp = rule->saved == GS_SAVED_AT_FP;
		if (by_fp)
			at->needed[at->fp_word] = true;
		fp_word = read_word(at, (by_fp ? at->fp : cfa) + saved, false, &fp);
		if (fp_word < 0)
			return false;
	}
	if (read_word(at, cfa - sizeof(uintptr_t), true, &at->pc) < 0)
		return false;
	at->sp = cfa;
	at->fp = fp;
	at->fp_word = fp_word;
	return true;
}

/* Words that had no say in where the frames are need not be compared; the others in order, once. */
static void order_needed(struct unwinding *at)
{
	struct gs_unwound *out = at->out;
	uint16_t kept = 0;
	for (uint16_t i = 0; i < out->words; i++) {
		uint32_t index = out->indices[i];
		uint16_t place = kept;
		if (!at->needed[i])
			continue;
		while (place && out->indices[place - 1] > index)
			place--;
		if (place && out->indices[place - 1] == index)
			continue;
		for (uint16_t moved = kept++; moved > place; moved--)
			out->indices[moved] = out->indices[moved - 1];
		out->indices[place] = index;
	}
	out->words = kept;
}

void gs_native_unwind(struct gs_unwind_rule *rules, const uintptr_t *frame, uintptr_t high,
    struct gs_unwound *out)
{
	struct unwinding at = {.out = out, .frame = frame, .high = high, .sp = (uintptr_t)(frame + 2)};
	out->hash = 0;
	out->words = out->frames = 0;
	out->cut = true;
	at.fp_word = read_word(&at, (uintptr_t)frame, false, &at.fp);
	if (at.fp_word < 0 || read_word(&at, (uintptr_t)(frame + 1), true, &at.pc) < 0)
		return;
	for (;;) {
		const struct gs_unwind_rule *rule = at.pc ? rule_of(rules, at.pc) : NULL;
		if (rule)
			gs_unwound_add(out, at.pc);
		if (!rule || rule->cfa == GS_UNWIND_END) {
			out->cut = false;
			break;
		}
		if (rule->cfa == GS_UNWIND_UNKNOWN || out->frames == GS_NATIVE_FRAMES_LIMIT ||
		    !step(&at, rule))
			break;
	}
	order_needed(&at);
}
