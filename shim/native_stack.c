/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/native_stack.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/hot.h"
#include "shim/library_map.h"
#include "shim/libunwind.h"
#include "shim/safe_read.h"
#include "shim/stack_hash.h"

#define PAGE 4096u
#define STACK_DEPTH_LIMIT (256u << 20) /* a main thread's stack ends far from any mapping */
#define RECHECK 1024u /* every so many hits a chain is unwound again */

static uintptr_t own_start, own_end;
static void **main_stack_end;

static bool is_own(uintptr_t pc)
{
	return pc - own_start < own_end - own_start;
}

/* ---- limits of the stack ---- */

/* The top: the loader's mark for the first thread; others have their descriptor there. */
static void find_top(struct gs_native_thread *thread)
{
	if (syscall(SYS_gettid) != getpid())
		thread->high = (uintptr_t)pthread_self() & ~(uintptr_t)7;
	else if (main_stack_end)
		thread->high = (uintptr_t)*main_stack_end & ~(uintptr_t)7;
	thread->low = thread->high & ~(uintptr_t)(PAGE - 1);
	thread->no_stack = !thread->high || !gs_safe_probe(thread->high - 1);
}

/*
 * Whether everything from `frame` to the top can be read.  A thread on a stack of another kind
 * (coroutines with their own mapping) is told by the guard page in between.
 */
static bool reaches(struct gs_native_thread *thread, uintptr_t frame)
{
	if (frame >= thread->low && frame < thread->high)
		return true;
	if (!thread->high && !thread->no_stack)
		find_top(thread);
	if (thread->no_stack || frame >= thread->high || thread->high - frame > STACK_DEPTH_LIMIT)
		return false;
	for (uintptr_t page = frame & ~(uintptr_t)(PAGE - 1); thread->low > page;
	     thread->low -= PAGE)
		if (!gs_safe_probe(thread->low - PAGE))
			return false;
	return true;
}

/* ---- unwinding ---- */

struct unwinding {
	struct gs_native_thread *thread;
	struct gs_native_chain *chain;
	uintptr_t sp, fp, pc;
	int fp_word; /* index of the word `fp` was read from, -1: it is the start's */
	bool needed[GS_NATIVE_WORDS_LIMIT];
};

static const struct gs_unwind_rule *rule_of(struct gs_native_thread *thread, uintptr_t pc)
{
	uint32_t index = (uint32_t)(pc * GS_HASH_SEED >> 40) & (GS_NATIVE_RULES - 1);
	struct gs_unwind_rule *rule = &thread->rules[index];
	if (rule->address != pc)
		gs_unwind_rule(pc, rule);
	return rule;
}

/* @return index of the word, -1 if it lies outside the stack or there are too many */
static int read_word(struct unwinding *at, uintptr_t address, bool needed, uintptr_t *out)
{
	struct gs_native_chain *chain = at->chain;
	if (chain->words == GS_NATIVE_WORDS_LIMIT || (address & 7) || address < at->chain->frame ||
	    address > at->thread->high - sizeof(uintptr_t))
		return -1;
	*out = *(const uintptr_t *)address;
	chain->offsets[chain->words] = (uint32_t)(address - chain->frame);
	at->needed[chain->words] = needed;
	return chain->words++;
}

/* Where the frame is depends on the frame pointer, and so on where that came from. */
static void need_fp(struct unwinding *at)
{
	if (at->fp_word >= 0)
		at->needed[at->fp_word] = true;
	else
		at->chain->needs_fp = true;
}

static bool find_cfa(struct unwinding *at, const struct gs_unwind_rule *rule, uintptr_t *cfa_out)
{
	uintptr_t offset = (uintptr_t)(intptr_t)rule->cfa_offset;
	if (rule->cfa == GS_UNWIND_SP) {
		*cfa_out = at->sp + offset;
	} else {
		need_fp(at);
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
	uintptr_t cfa, pc, fp = at->fp;
	int fp_word = at->fp_word;
	uintptr_t saved = (uintptr_t)(intptr_t)rule->saved_offset;
	if (!find_cfa(at, rule, &cfa))
		return false;
	if (rule->saved != GS_SAVED_NOT) {
		bool by_fp = rule->saved == GS_SAVED_AT_FP;
		if (by_fp)
			need_fp(at);
		fp_word = read_word(at, (by_fp ? at->fp : cfa) + saved, false, &fp);
		if (fp_word < 0)
			return false;
	}
	int pc_word = read_word(at, cfa - sizeof(uintptr_t), true, &pc);
	if (pc_word < 0)
		return false;
	at->sp = cfa;
	at->fp = fp;
	at->fp_word = fp_word;
	at->pc = pc;
	return true;
}

/* The frame is part of the stack unless it belongs to us. */
static bool count_frame(struct gs_native_chain *chain, uintptr_t pc)
{
	if (is_own(pc))
		return false;
	chain->frames++;
	chain->hash = gs_hash_add(chain->hash, pc);
	return true;
}

/* Words that had no say in where the frames are need not be compared. */
static void drop_unneeded(struct unwinding *at)
{
	struct gs_native_chain *chain = at->chain;
	uint16_t kept = 0;
	for (uint16_t i = 0; i < chain->words; i++) {
		if (!at->needed[i])
			continue;
		chain->offsets[kept++] = chain->offsets[i];
	}
	chain->words = kept;
}

static inline uintptr_t word_at(const struct gs_native_chain *chain, const uintptr_t *frame,
    uint32_t index)
{
	return frame[GS_WORD_INDEX(chain->offsets[index])];
}

/*
 * 128 bits over the words of a chain: four products that do not wait for each other, and the sum, so
 * that no two changed words make up for each other in both.
 */
static inline void read_content(const struct gs_native_chain *chain, const uintptr_t *frame,
    uint64_t content_out[2])
{
	uint64_t a = GS_HASH_SEED, b = GS_HASH_A, c = GS_HASH_B, d = chain->words, sum = 0;
	uint32_t i = 0;
	for (; i + 4 <= chain->words; i += 4) {
		uintptr_t first = word_at(chain, frame, i), second = word_at(chain, frame, i + 1);
		uintptr_t third = word_at(chain, frame, i + 2), fourth = word_at(chain, frame, i + 3);
		a = (a + first) * GS_HASH_SEED;
		b = (b + second) * GS_HASH_SEED;
		c = (c + third) * GS_HASH_SEED;
		d = (d + fourth) * GS_HASH_SEED;
		sum += first + second + third + fourth;
	}
	for (; i < chain->words; i++) {
		uintptr_t word = word_at(chain, frame, i);
		a = (a + word) * GS_HASH_SEED;
		sum += word;
	}
	content_out[0] = gs_hash_pair(a, b) ^ gs_hash_pair(c, d);
	content_out[1] = sum;
}

static void unwind(struct gs_native_thread *thread, const uintptr_t *frame,
    struct gs_native_chain *chain)
{
	struct unwinding at = {.thread = thread, .chain = chain, .sp = (uintptr_t)(frame + 2),
	    .fp = frame[0], .pc = frame[1], .fp_word = -1};
	chain->frame = (uintptr_t)frame;
	chain->caller_fp = frame[0];
	chain->caller_pc = frame[1];
	chain->hash = 0;
	chain->words = chain->frames = 0;
	chain->cut = true;
	chain->needs_fp = false;
	chain->starts_with_pc = count_frame(chain, at.pc);
	for (;;) {
		const struct gs_unwind_rule *rule = rule_of(thread, at.pc);
		if (rule->cfa == GS_UNWIND_END) {
			chain->cut = false;
			break;
		}
		if (rule->cfa == GS_UNWIND_UNKNOWN || chain->frames == GS_NATIVE_FRAMES_LIMIT ||
		    !step(&at, rule))
			break;
		if (!at.pc) {
			chain->cut = false;
			break;
		}
		if (count_frame(chain, at.pc))
			chain->offsets[chain->words - 1] |= GS_WORD_RETURN;
	}
	drop_unneeded(&at);
	read_content(chain, frame, chain->content);
}

/* ---- known chains ---- */

static bool still_so(const struct gs_native_chain *chain, const uintptr_t *frame)
{
	if (chain->frame != (uintptr_t)frame || chain->caller_pc != frame[1] ||
	    (chain->needs_fp && chain->caller_fp != frame[0]))
		return false;
	uint64_t content[2];
	read_content(chain, frame, content);
	return content[0] == chain->content[0] && content[1] == chain->content[1];
}

static void recheck(
    struct gs_native_thread *thread, const uintptr_t *frame, struct gs_native_chain *chain)
{
	uint64_t hash = chain->hash;
	unwind(thread, frame, chain);
	thread->disagreements += chain->hash != hash;
}

/* The chain of a tag, if it is still so; else it is unwound in place of an older one. */
static inline struct gs_native_chain *known_chain(
    struct gs_native_thread *thread, uint64_t tag, const uintptr_t *frame)
{
	uint64_t *tags = thread->tags[tag % GS_NATIVE_SETS];
	struct gs_native_chain *chains = thread->chains[tag % GS_NATIVE_SETS];
	for (unsigned way = 0; way < GS_NATIVE_WAYS; way++) {
		if (tags[way] != tag || !still_so(&chains[way], frame))
			continue;
		if (++thread->hits % RECHECK == 0)
			recheck(thread, frame, &chains[way]);
		return &chains[way];
	}
	thread->misses++;
	unsigned way = thread->next_way++ % GS_NATIVE_WAYS;
	tags[way] = tag;
	unwind(thread, frame, &chains[way]);
	return &chains[way];
}

static GS_HOT const struct gs_native_chain *walk_self(struct gs_native_thread *thread,
    const uintptr_t *frame)
{
	uint32_t generation = gs_library_generation();
	if (__builtin_expect(thread->generation != generation, 0)) {
		/* A library was unloaded: what was learnt about addresses may be wrong.  The tags
		 * of known chains have the generation in them. */
		memset(thread->rules, 0, sizeof(thread->rules));
		thread->generation = generation;
	}
	if (!reaches(thread, (uintptr_t)frame))
		return NULL;
	/* Allocations begin their walks at few places but follow each other in a fixed order. */
	uint64_t tag = gs_hash_pair(
	    (uintptr_t)frame ^ thread->last, frame[1] + ((uint64_t)generation << 48));
	struct gs_native_chain *chain = known_chain(thread, tag, frame);
	thread->last = chain->hash;
	return chain;
}

/* ---- foreign unwinders ---- */

static const struct gs_native_chain *walk_foreign(struct gs_native_thread *thread)
{
	void *found[GS_NATIVE_FRAMES_LIMIT];
	struct gs_native_chain *chain = &thread->chains[0][0];
	int count = gs_libunwind_backtrace(found, (int)GS_NATIVE_FRAMES_LIMIT);
	chain->hash = 0;
	chain->frames = 0;
	for (int i = 0; i < count; i++)
		if (count_frame(chain, (uintptr_t)found[i]))
			thread->foreign[chain->frames - 1] = (uintptr_t)found[i];
	chain->cut = count == (int)GS_NATIVE_FRAMES_LIMIT;
	return chain;
}

/* ---- interface ---- */

void gs_native_stack_skip(uintptr_t start, uintptr_t end)
{
	own_start = start;
	own_end = end;
}

const char *gs_native_stack_init(void)
{
	main_stack_end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
	if (!gs_library_init())
		return "native stacks are off: no memory";
	return GS_UNWIND_SELF ? NULL : gs_libunwind_init();
}

GS_HOT const struct gs_native_chain *gs_native_stack_walk(struct gs_native_thread *thread,
    const void *frame)
{
	return GS_UNWIND_SELF ? walk_self(thread, frame) : walk_foreign(thread);
}

uint32_t gs_native_stack_addresses(const struct gs_native_thread *thread,
    const struct gs_native_chain *chain, uintptr_t *out)
{
	uint32_t count = 0;
	if (!GS_UNWIND_SELF) {
		memcpy(out, thread->foreign, chain->frames * sizeof(*out));
		return chain->frames;
	}
	if (chain->starts_with_pc)
		out[count++] = chain->caller_pc;
	for (uint32_t i = 0; i < chain->words && count < GS_NATIVE_FRAMES_LIMIT; i++)
		if (chain->offsets[i] & GS_WORD_RETURN)
			out[count++] = word_at(chain, (const uintptr_t *)chain->frame, i);
	return count;
}
