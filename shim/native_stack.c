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
#define RECHECK 1024u /* every so many times what is known is looked at again */

static void **main_stack_end;

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
	uintptr_t page = frame & ~(uintptr_t)(PAGE - 1);
	if (page == thread->foreign_page && ++thread->foreign_asked % RECHECK)
		return false;
	for (; thread->low > page; thread->low -= PAGE) {
		if (gs_safe_probe(thread->low - PAGE))
			continue;
		thread->foreign_page = page; /* no system call for each event of a coroutine */
		return false;
	}
	return true;
}

/* ---- what a chain holds ---- */

static inline struct gs_native_chain *chain_at(struct gs_native_thread *thread, uint32_t place)
{
	return (struct gs_native_chain *)(void *)(thread->chains + place);
}

#define STEP_LONG 255u /* the next 4 bytes are the step */

static inline uintptr_t next_word(const uint8_t **step, const uintptr_t **at)
{
	uint32_t words = *(*step)++;
	if (__builtin_expect(words == STEP_LONG, 0)) {
		memcpy(&words, *step, sizeof(words));
		*step += sizeof(words);
	}
	*at += words;
	return **at;
}

/*
 * 128 bits over the words of a chain: four products that do not wait for each other, and the sum, so
 * that no two changed words make up for each other in both.
 */
static inline void read_content(const struct gs_native_chain *chain, const uintptr_t *frame,
    uint64_t content_out[2])
{
	uint64_t a = GS_HASH_SEED, b = GS_HASH_A, c = GS_HASH_B, d = chain->words, sum = 0;
	const uint8_t *step = chain->steps;
	const uintptr_t *at = frame;
	for (uint32_t i = 0; i < chain->words; i += 4) {
		uintptr_t first = next_word(&step, &at), second = next_word(&step, &at);
		uintptr_t third = next_word(&step, &at), fourth = next_word(&step, &at);
		a = (a + first) * GS_HASH_SEED;
		b = (b + second) * GS_HASH_SEED;
		c = (c + third) * GS_HASH_SEED;
		d = (d + fourth) * GS_HASH_SEED;
		sum += first + second + third + fourth;
	}
	content_out[0] = gs_hash_pair(a, b) ^ gs_hash_pair(c, d);
	content_out[1] = sum;
}

static inline bool still_so(const struct gs_native_chain *chain, const uintptr_t *frame)
{
	uint64_t content[2];
	read_content(chain, frame, content);
	return content[0] == chain->content[0] && content[1] == chain->content[1];
}

/* ---- a thread's memory of chains ---- */

#define CHAIN_HEAD offsetof(struct gs_native_chain, steps)
#define CHAIN_ALIGN 8u /* a place is never 0: that is left out */
#define CHAIN_MAX (CHAIN_HEAD + GS_NATIVE_WORDS_LIMIT * 5u + 4u + CHAIN_ALIGN)

static void forget_chains(struct gs_native_thread *thread)
{
	memset(thread->sets, 0, sizeof(thread->sets));
	thread->used = CHAIN_ALIGN;
	thread->last = thread->soon = 0;
}

/* @return bytes of the chain */
static uint32_t put_steps(const struct gs_unwound *unwound, struct gs_native_chain *chain)
{
	uint8_t *at = chain->steps;
	uint32_t before = 0;
	for (uint32_t i = 0; i < unwound->words; i++) {
		uint32_t words = unwound->indices[i] - before;
		before = unwound->indices[i];
		*at++ = words < STEP_LONG ? (uint8_t)words : STEP_LONG;
		if (words < STEP_LONG)
			continue;
		memcpy(at, &words, sizeof(words));
		at += sizeof(words);
	}
	for (chain->words = unwound->words; chain->words % 4; chain->words++)
		*at++ = 0;
	return (uint32_t)(at - (uint8_t *)chain);
}

static struct gs_native_chain *keep(
    struct gs_native_thread *thread, uint64_t tag, const uintptr_t *frame)
{
	const struct gs_unwound *unwound = &thread->unwound;
	if (!thread->used || sizeof(thread->chains) - thread->used < CHAIN_MAX)
		forget_chains(thread);
	uint32_t place = thread->used;
	struct gs_native_chain *chain = chain_at(thread, place);
	memset(chain, 0, CHAIN_HEAD);
	chain->tag = tag;
	chain->hash = unwound->hash;
	chain->frames = unwound->frames;
	chain->cut = unwound->cut;
	uint32_t bytes = put_steps(unwound, chain);
	read_content(chain, frame, chain->content);
	thread->used += (bytes + CHAIN_ALIGN - 1) & ~(CHAIN_ALIGN - 1);
	struct gs_chain_set *set = &thread->sets[tag % GS_CHAIN_SETS];
	set->tags[set->next % GS_CHAIN_WAYS] = tag;
	set->places[set->next++ % GS_CHAIN_WAYS] = place;
	return chain;
}

static __attribute__((cold, noinline)) struct gs_native_chain *unwind_anew(
    struct gs_native_thread *thread, uint64_t tag, const uintptr_t *frame)
{
	thread->misses++;
	gs_native_unwind(thread->rules, frame, thread->high, &thread->unwound);
	return keep(thread, tag, frame);
}

/* Now and then a known chain is unwound again, as its own referee. */
static __attribute__((cold, noinline)) struct gs_native_chain *recheck(
    struct gs_native_thread *thread, struct gs_native_chain *chain, const uintptr_t *frame)
{
	gs_native_unwind(thread->rules, frame, thread->high, &thread->unwound);
	if (thread->unwound.hash == chain->hash)
		return chain;
	thread->disagreements++;
	uint64_t tag = chain->tag;
	struct gs_chain_set *set = &thread->sets[tag % GS_CHAIN_SETS];
	for (unsigned way = 0; way < GS_CHAIN_WAYS; way++)
		if (set->tags[way] == tag)
			set->tags[way] = 0;
	chain->tag = 0;
	return keep(thread, tag, frame);
}

static __attribute__((noinline)) struct gs_native_chain *look_up(
    struct gs_native_thread *thread, uint64_t tag, const uintptr_t *frame)
{
	const struct gs_chain_set *set = &thread->sets[tag % GS_CHAIN_SETS];
	for (unsigned way = 0; way < GS_CHAIN_WAYS; way++) {
		struct gs_native_chain *chain = chain_at(thread, set->places[way]);
		if (set->tags[way] == tag && still_so(chain, frame))
			return chain;
	}
	return NULL;
}

/* The chain of a tag, if it is still so; else it is unwound. */
static inline struct gs_native_chain *known_chain(
    struct gs_native_thread *thread, uint64_t tag, const uintptr_t *frame)
{
	struct gs_native_chain *chain = chain_at(thread, thread->soon);
	if ((!thread->soon || chain->tag != tag || !still_so(chain, frame)) &&
	    !(chain = look_up(thread, tag, frame)))
		return unwind_anew(thread, tag, frame);
	if (__builtin_expect(++thread->hits % RECHECK == 0, 0))
		return recheck(thread, chain, frame);
	return chain;
}

static inline void follow(struct gs_native_thread *thread, const struct gs_native_chain *chain)
{
	uint32_t place = (uint32_t)((const unsigned char *)chain - thread->chains);
	if (__builtin_expect(place != thread->soon, 0) && thread->last)
		chain_at(thread, thread->last)->next = place;
	thread->last_hash = chain->hash;
	thread->last = place;
	thread->soon = chain->next;
}

static GS_HOT struct gs_native_chain *walk_self(struct gs_native_thread *thread,
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
	    (uintptr_t)frame ^ thread->last_hash, frame[1] + ((uint64_t)generation << 48));
	struct gs_native_chain *chain = known_chain(thread, tag, frame);
	follow(thread, chain);
	return chain;
}

/* ---- foreign unwinders ---- */

static struct gs_native_chain *walk_foreign(struct gs_native_thread *thread)
{
	void *found[GS_NATIVE_FRAMES_LIMIT];
	struct gs_unwound *unwound = &thread->unwound;
	int count = gs_libunwind_backtrace(found, (int)GS_NATIVE_FRAMES_LIMIT);
	unwound->hash = 0;
	unwound->frames = 0;
	for (int i = 0; i < count; i++)
		gs_unwound_add(unwound, (uintptr_t)found[i]);
	unwound->cut = count == (int)GS_NATIVE_FRAMES_LIMIT;
	thread->foreign = (struct gs_native_chain){
	    .hash = unwound->hash, .frames = unwound->frames, .cut = unwound->cut};
	return &thread->foreign;
}

/* ---- interface ---- */

const char *gs_native_stack_init(void)
{
	main_stack_end = dlsym(RTLD_DEFAULT, "__libc_stack_end");
	if (!gs_library_init())
		return "native stacks are off: no memory";
	return GS_UNWIND_SELF ? NULL : gs_libunwind_init();
}

void gs_native_stack_reuse(struct gs_native_thread *thread)
{
	/* Another stack, maybe a shorter one at the same place. */
	thread->low = thread->high = 0;
	thread->no_stack = false;
	thread->foreign_page = 0;
	forget_chains(thread);
}

GS_HOT struct gs_native_chain *gs_native_stack_walk(struct gs_native_thread *thread,
    const void *frame)
{
	return GS_UNWIND_SELF ? walk_self(thread, frame) : walk_foreign(thread);
}

const struct gs_unwound *gs_native_stack_addresses(struct gs_native_thread *thread,
    const void *frame)
{
	if (GS_UNWIND_SELF)
		gs_native_unwind(thread->rules, frame, thread->high, &thread->unwound);
	return &thread->unwound;
}
