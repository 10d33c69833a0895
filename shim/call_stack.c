/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/call_stack.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/stack_layout.h"
#include "shim/hot.h"
#include "shim/intern_table.h"
#include "shim/kernel_thread.h"
#include "shim/library_map.h"
#include "shim/native_stack.h"
#include "shim/python_code.h"
#include "shim/python_layout.h"
#include "shim/python_stack.h"
#include "shim/stack_hash.h"

#define STACKS_LOG2 17 /* 98 304 stacks of a recording */
#define THREAD_LIMIT 1024u
/* Stacks that a thread goes without before it looks again whether there is room for it. */
#define STACKS_WITHOUT 1000

#define DEFINITION_BYTES \
	(sizeof(struct gf_stack_head) + \
	    GS_PYTHON_FRAMES_LIMIT * (sizeof(struct gf_stack_python) + sizeof(struct gf_stack_module)) + \
	    GS_NATIVE_FRAMES_LIMIT * sizeof(uint64_t))
_Static_assert(DEFINITION_BYTES <= GF_TEXT_MAX_BYTES, "a stack fits into a text");

/* What a thread needs; mapped at its first stack, reused when it ends. */
struct stack_thread {
	struct stack_thread *next;
	uint32_t in_use;
	uint32_t owner; /* as the kernel counts; 0 while it changes hands; atomic */
	struct gs_python_walk python;
	uint64_t definition[DEFINITION_BYTES / sizeof(uint64_t)];
	uint64_t scratch[GF_TEXT_MAX_BYTES / sizeof(uint64_t)];
	struct gs_intern_recent recent;
	struct gs_native_thread native __attribute__((aligned(64)));
};

/* Thread-local words; initial-exec, so that no access ever allocates. */
static __thread struct stack_thread *own_state;
static __thread uint32_t without;
__thread struct gs_stack_forward gs_stack_node;

static struct gs_intern_table stacks;
static struct stack_thread *threads; /* all states; only grows */
static uint32_t thread_count;
static uint8_t use_parts[GS_STACK_USES];
static gs_stack_append *append;
static uint32_t notices_due, notices_told;

enum { NOTICE_FULL = 1, NOTICE_CROWDED = 2, NOTICE_THREADS = 4, NOTICE_PYTHON = 8, NOTICE_NAMES = 16 };

static void notice(uint32_t which)
{
	__atomic_fetch_or(&notices_due, which, __ATOMIC_RELAXED);
}

/* ---- state of a thread ---- */

static struct stack_thread *reuse_state(void)
{
	struct stack_thread *state = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
	for (; state; state = state->next) {
		uint32_t unused = 0;
		if (!__atomic_compare_exchange_n(&state->in_use, &unused, 1, false,
		    __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
			continue;
		gs_native_stack_reuse(&state->native);
		state->native.user_flag = false;
		return state;
	}
	return NULL;
}

static struct stack_thread *own(struct stack_thread *state)
{
	__atomic_store_n(&state->owner, gs_kernel_thread(), __ATOMIC_RELEASE);
	return own_state = state;
}

static void give_back(struct stack_thread *state)
{
	__atomic_store_n(&state->owner, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&state->in_use, 0, __ATOMIC_RELEASE);
}

void gs_stack_reclaim(void)
{
	struct stack_thread *state = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
	for (; state; state = state->next)
		if (gs_kernel_thread_inherit(&state->owner))
			give_back(state);
}

static struct stack_thread *make_state(void)
{
	if (__atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED) > THREAD_LIMIT) {
		__atomic_sub_fetch(&thread_count, 1, __ATOMIC_RELAXED);
		gs_stack_reclaim();
		struct stack_thread *state = reuse_state();
		if (!state) {
			without = STACKS_WITHOUT;
			notice(NOTICE_THREADS);
		}
		return state;
	}
	struct stack_thread *state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (state == MAP_FAILED) {
		__atomic_sub_fetch(&thread_count, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	state->in_use = 1;
	state->next = __atomic_load_n(&threads, __ATOMIC_RELAXED);
	while (!__atomic_compare_exchange_n(&threads, &state->next, state, true, __ATOMIC_RELEASE,
	    __ATOMIC_RELAXED))
		;
	return state;
}

static __attribute__((cold, noinline)) struct stack_thread *attach(void)
{
	if (without) {
		without--;
		return NULL;
	}
	int saved = errno;
	struct stack_thread *state = reuse_state();
	if (!state)
		state = make_state();
	errno = saved;
	return state ? own(state) : NULL;
}

void gs_stack_thread_end(void)
{
	struct stack_thread *state = own_state;
	own_state = NULL;
	if (state)
		give_back(state);
}

bool gs_stack_python_ends(void)
{
	return gs_python_state() != GS_PYTHON_ABSENT && gs_python.ending &&
	    __atomic_load_n(gs_python.ending, __ATOMIC_RELAXED);
}

bool gs_stack_python_elsewhere(void)
{
	const struct stack_thread *state = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
	for (; state; state = state->next)
		if (state != own_state && __atomic_load_n(&state->in_use, __ATOMIC_ACQUIRE) &&
		    state->native.user_flag &&
		    !gs_kernel_thread_ended(__atomic_load_n(&state->owner, __ATOMIC_ACQUIRE)))
			return true;
	return false;
}

GS_HOT struct gs_stack_forward gs_stack_forward_begin(uint32_t stack, const void *frame)
{
	struct gs_stack_forward before = gs_stack_node;
	gs_stack_node.stack = stack;
	gs_stack_node.frame = (uintptr_t)frame;
	gs_stack_node.caller = ((const uintptr_t *)frame)[1];
	return before;
}

GS_HOT void gs_stack_forward_end(struct gs_stack_forward before)
{
	gs_stack_node = before;
}

/* ---- definitions ---- */

static void put_python(struct stack_thread *state, const struct gs_stack_sink *sink,
    struct gf_stack_python *out)
{
	for (uint32_t i = 0; i < state->python.count; i++) {
		const struct gs_python_frame *frame = &state->python.frames[i];
		out[i].code = gs_python_code_id(frame->code, sink);
		if (!out[i].code)
			notice(NOTICE_NAMES);
		out[i].place = frame->place;
	}
}

static uint16_t put_modules(const struct stack_thread *state, struct gf_stack_module *out)
{
	uint16_t count = 0;
	for (uint32_t i = 0; i < state->python.count; i++)
		if (state->python.frames[i].module)
			out[count++] = (struct gf_stack_module){
			    .address = state->python.frames[i].module, .frame = i};
	return count;
}

struct found {
	const void *frame;
	struct gs_native_chain *chain; /* may be NULL */
	uint32_t forward;
	uint64_t hash;
};

static bool define(struct stack_thread *state, uint32_t id, const struct found *found,
    void *context)
{
	const struct gs_unwound *native =
	    found->chain ? gs_native_stack_addresses(&state->native, found->frame) : NULL;
	struct gs_stack_sink sink = {append, context, (unsigned char *)state->scratch};
	unsigned char *at = (unsigned char *)state->definition;
	struct gf_stack_head head = {.head_bytes = sizeof(head),
	    .python_count = (uint16_t)state->python.count,
	    .native_count = native ? native->frames : 0,
	    .flags = (state->python.cut ? GF_STACK_PYTHON_CUT : 0) |
		(native && native->cut ? GF_STACK_NATIVE_CUT : 0),
	    .forward_stack = found->forward};
	at += sizeof(head);
	put_python(state, &sink, (struct gf_stack_python *)(void *)at);
	at += head.python_count * sizeof(struct gf_stack_python);
	if (native)
		memcpy(at, native->addresses, native->frames * sizeof(uint64_t));
	for (uint32_t i = 0; i < head.native_count; i++)
		if (!gs_library_define(native->addresses[i] - 1, &sink))
			notice(NOTICE_NAMES);
	at += head.native_count * sizeof(uint64_t);
	head.module_count = put_modules(state, (struct gf_stack_module *)(void *)at);
	at += head.module_count * sizeof(struct gf_stack_module);
	memcpy(state->definition, &head, sizeof(head));
	return append(context, GF_TEXT_STACK, id, state->definition,
	    (uint32_t)(at - (unsigned char *)state->definition));
}

static __attribute__((cold, noinline)) void add(struct stack_thread *state,
    uint32_t id, const struct found *found, unsigned parts, void *context)
{
	state->python.count = 0;
	if (parts & GS_STACK_PYTHON)
		gs_python_stack_walk(&state->python);
	/* Layers that are made anew in every step would fill the table: stop telling them apart. */
	if (id == stacks.limit / 2) {
		gs_python_stack_unwatch();
		notice(NOTICE_CROWDED);
	}
	if (!define(state, id, found, context))
		gs_intern_failed(&stacks, found->hash);
}

/* A chain mostly comes with the same Python stack as before: it keeps that answer beside it. */
static inline uint32_t number_of(struct stack_thread *state, const struct found *found,
    unsigned parts, void *context)
{
	struct gs_native_chain *chain = found->chain;
	uint64_t key = found->hash + __atomic_load_n(&stacks.epoch, __ATOMIC_ACQUIRE);
	if (chain && chain->user_key == key)
		return chain->user_value;
	bool is_new;
	uint32_t id = gs_intern_recently(&stacks, &state->recent, found->hash, &is_new);
	if (__builtin_expect(is_new, 0))
		add(state, id, found, parts, context);
	if (__builtin_expect(!id, 0)) {
		if (gs_intern_full(&stacks)) /* else its number is just being made */
			notice(NOTICE_FULL);
	} else if (chain) {
		chain->user_key = key;
		chain->user_value = id;
	}
	return id;
}

/* ---- interface ---- */

GS_HOT void gs_stack_soon(void)
{
	const struct stack_thread *state = own_state;
	if (state)
		gs_native_stack_soon(&state->native);
}

GS_HOT __attribute__((noinline)) uint32_t gs_stack_take(enum gs_stack_use use, void *context)
{
	unsigned parts = __atomic_load_n(&use_parts[use], __ATOMIC_ACQUIRE);
	struct stack_thread *state = own_state;
	if (!parts || (!state && !(state = attach())))
		return 0;
	const void *frame = __builtin_frame_address(0);
	struct found found = {frame, NULL, gs_stack_node_runs(frame) ? gs_stack_node.stack : 0, 0};
	found.hash = found.forward;
	if (parts & GS_STACK_NATIVE) {
		found.chain = gs_native_stack_walk(&state->native, frame);
		if (found.chain && found.chain->frames)
			found.hash = gs_hash_add(found.hash, found.chain->hash);
	}
	if (parts & GS_STACK_PYTHON) {
		uint64_t python = gs_python_stack_hash();
		state->native.user_flag = python != 0;
		if (python)
			found.hash = gs_hash_add(found.hash, python);
	}
	return found.hash ? number_of(state, &found, parts, context) : 0;
}

const char *gs_stack_init(const uint8_t parts[GS_STACK_USES], gs_stack_append *append_text)
{
	const char *trouble = NULL;
	unsigned wanted = 0;
	for (unsigned use = 0; use < GS_STACK_USES; use++)
		wanted |= parts[use];
	if (!wanted)
		return NULL;
	append = append_text;
	if (!gs_library_init() || !gs_python_code_init() ||
	    (!stacks.slots && !gs_intern_init(&stacks, STACKS_LOG2)))
		return "call stacks are off: no memory";
	if (wanted & GS_STACK_PYTHON)
		gs_python_find();
	if (wanted & GS_STACK_NATIVE)
		trouble = gs_native_stack_init();
	for (unsigned use = 0; use < GS_STACK_USES; use++) /* from now on stacks are taken */
		__atomic_store_n(&use_parts[use], parts[use], __ATOMIC_RELEASE);
	return trouble;
}

void gs_stack_reset(void)
{
	gs_intern_reset(&stacks);
	gs_python_code_reset();
	gs_library_reset();
	notices_told = notices_due = 0;
}

void gs_stack_forget(void)
{
	for (struct stack_thread *state = threads; state; state = state->next)
		if (state != own_state)
			give_back(state);
		else /* the child's thread has a number of its own */
			own(state);
	memset(&gs_stack_node, 0, sizeof(gs_stack_node));
	gs_python_forget();
}

static bool is_wanted(unsigned part)
{
	for (unsigned use = 0; use < GS_STACK_USES; use++)
		if (use_parts[use] & part)
			return true;
	return false;
}

void gs_stack_refresh(void)
{
	if (!is_wanted(GS_STACK_PYTHON | GS_STACK_NATIVE))
		return;
	gs_library_refresh();
	if (!is_wanted(GS_STACK_PYTHON))
		return;
	if (gs_python_state() == GS_PYTHON_ABSENT && gs_library_python_seen())
		gs_python_find();
	if (gs_python_trouble())
		notice(NOTICE_PYTHON);
}

const char *gs_stack_next_notice(void)
{
	uint32_t due = __atomic_load_n(&notices_due, __ATOMIC_RELAXED) & ~notices_told;
	if (!due)
		return NULL;
	uint32_t which = due & -due;
	notices_told |= which;
	switch (which) {
	case NOTICE_FULL:
		return "some events have no call stack: more than 98304 different ones were seen";
	case NOTICE_CROWDED:
		return "layers are no longer told apart in call stacks: there are very many";
	case NOTICE_THREADS:
		return "some events have no call stack: more than 1024 threads at once";
	case NOTICE_NAMES:
		return "some frames of call stacks have no name: there are very many code objects or libraries";
	default: return gs_python_trouble();
	}
}
