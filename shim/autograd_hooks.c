/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/autograd_hooks.h"

#include <string.h>
#include <sys/mman.h>

#include "shim/hooks.h"
#include "shim/resolve.h"
#include "shim/stack_parts.h"
#include "shim/torch_hooks.h"
#include "shim/torch_table.h"

/*
 * Newest nodes that are remembered: a forward pass of more loses its oldest links.  An entry is one
 * word, so that it is never seen half written: high part of the number (its place tells the rest),
 * thread, stack.
 */
#define GS_NODES_LOG2 17
#define GS_NODES (1u << GS_NODES_LOG2)
#define GS_STACK_BITS 17
#define GS_THREAD_BITS 24
#define GS_STACK_MASK ((UINT64_C(1) << GS_STACK_BITS) - 1)
#define GS_THREAD_LAST ((UINT64_C(1) << GS_THREAD_BITS) - 1)
#define GS_NUMBER_LIMIT (UINT64_C(1) << (64 - GS_STACK_BITS - GS_THREAD_BITS + GS_NODES_LOG2))
#define GS_THREAD_APART UINT64_C(0x9e3779b1) /* nodes of one number lie apart */

/* In a node: its number, a number for the graph's depth, a flag, the thread that made it. */
#define GS_THREAD_WORD 3

static uint64_t *gs_nodes;
static uint32_t gs_number_offset; /* in a node; 0: not looked up yet, NONE: unknown */
static void *gs_real_next, *gs_real_evaluate, *gs_real_thread;

#define GS_OFFSET_NONE UINT32_MAX

/* Look a function of PyTorch up, for all later calls. */
static void *gs_real_of(void **real, const char *symbol, const void *caller, void *otherwise)
{
	void *found = gs_torch_symbol(symbol, caller);
	if (!found)
		found = otherwise;
	__atomic_store_n(real, found, __ATOMIC_RELAXED);
	return found;
}

/* ---- what is known of nodes ---- */

void gs_autograd_reset(void)
{
	size_t bytes = GS_NODES * sizeof(*gs_nodes);
	if (gs_nodes) {
		madvise(gs_nodes, bytes, MADV_DONTNEED);
		return;
	}
	void *nodes = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	__atomic_store_n(&gs_nodes, nodes == MAP_FAILED ? NULL : nodes, __ATOMIC_RELEASE);
}

/* PyTorch's number of the calling thread, 0 if it is not known. */
static inline uint64_t gs_forward_thread(void)
{
	static __thread uint64_t known;
	if (!GS_LIKELY(known)) {
		uint64_t (*real)(void) = __atomic_load_n(&gs_real_thread, __ATOMIC_RELAXED);
		known = real ? real() : 0;
	}
	return known;
}

static inline uint64_t *gs_node_place(uint64_t *nodes, uint64_t number, uint64_t thread)
{
	return &nodes[(number + thread * GS_THREAD_APART) % GS_NODES];
}

static inline uint64_t gs_node_key(uint64_t number, uint64_t thread)
{
	return number >> GS_NODES_LOG2 << GS_THREAD_BITS | thread;
}

static GS_HOT void gs_node_made(uint64_t number)
{
	struct gs_call call;
	uint64_t *nodes = __atomic_load_n(&gs_nodes, __ATOMIC_ACQUIRE);
	uint64_t thread = gs_forward_thread();
	if (!nodes || number >= GS_NUMBER_LIMIT || !thread || thread > GS_THREAD_LAST ||
	    !gs_enter_untimed(&call, GS_HOOK_NONE, GS_CLASS_MEMORY, false, 0))
		return;
	call.status = 0;
	if (gs_attend(&call)) {
		uint64_t stack = gs_stack_of(&call, GS_STACK_FORWARD) & GS_STACK_MASK;
		__atomic_store_n(gs_node_place(nodes, number, thread),
		    gs_node_key(number, thread) << GS_STACK_BITS | stack, __ATOMIC_RELAXED);
	}
	gs_leave();
}

/* @param words  of the node, from its number on */
static uint32_t gs_node_stack(const uint64_t *words)
{
	uint64_t *nodes = __atomic_load_n(&gs_nodes, __ATOMIC_ACQUIRE);
	uint64_t number = words[0], thread = words[GS_THREAD_WORD];
	if (!nodes || number >= GS_NUMBER_LIMIT || thread > GS_THREAD_LAST)
		return 0;
	uint64_t entry = __atomic_load_n(gs_node_place(nodes, number, thread), __ATOMIC_RELAXED);
	return entry >> GS_STACK_BITS == gs_node_key(number, thread)
	    ? (uint32_t)(entry & GS_STACK_MASK)
	    : 0;
}

/* ---- the number inside a node ---- */

/* type_info of the Itanium C++ ABI: table pointer, name; then the bases by kind of class. */
static const char *gs_type_name(const void *const *type)
{
	return type ? type[1] : NULL;
}

unsigned gs_autograd_number_offset(const void *const *type)
{
	const void *const *kind = type ? *((const void *const *const *)type[0] - 1) : NULL;
	const char *kind_name = gs_type_name(kind), *base = NULL;
	if (kind_name && strstr(kind_name, "__si_class_type_info"))
		base = gs_type_name(type[2]);
	else if (kind_name && strstr(kind_name, "__vmi_class_type_info"))
		base = gs_type_name(type[3]); /* behind flags and number of bases */
	/* Table pointer, then a counter of 8 bytes, or a weak pointer of 16. */
	if (base && strstr(base, "intrusive_ptr_target"))
		return 16;
	if (base && strstr(base, "enable_shared_from_this"))
		return 24;
	return 0;
}

static uint32_t gs_offset_find(const void *caller)
{
	unsigned offset = gs_autograd_number_offset(gs_torch_symbol(GS_TORCH_NODE_TYPE, caller));
	bool has_threads = gs_real_of(&gs_real_thread, GS_TORCH_THREAD, caller, NULL) != NULL;
	uint32_t found = offset && has_threads ? offset : GS_OFFSET_NONE;
	__atomic_store_n(&gs_number_offset, found, __ATOMIC_RELAXED);
	return found;
}

const char *gs_autograd_notice(void)
{
	return __atomic_load_n(&gs_number_offset, __ATOMIC_RELAXED) == GS_OFFSET_NONE
	    ? "blocks made in backward are not linked to forward: autograd nodes are of an unknown kind"
	    : NULL;
}

/* ---- the hooks ---- */

uint64_t gs_torch_next_number(void) __asm__(GS_TORCH_NEXT_NUMBER)
    __attribute__((visibility("default")));
void gs_torch_evaluate(void *engine, void *task, void *node, void *inputs, void *queue) __asm__(
    GS_TORCH_EVALUATE) __attribute__((visibility("default")));

/* In place of functions that the caller's library does not reach: it cannot be PyTorch then. */
static uint64_t gs_own_number(void)
{
	static __thread uint64_t number;
	return number++;
}

static void gs_evaluate_nothing(void *engine, void *task, void *node, void *inputs, void *queue)
{
}

GS_HOT uint64_t gs_torch_next_number(void)
{
	uint64_t (*real)(void) = __atomic_load_n(&gs_real_next, __ATOMIC_RELAXED);
	if (!GS_LIKELY(real)) {
		gs_real_of(&gs_real_thread, GS_TORCH_THREAD, __builtin_return_address(0), NULL);
		real = gs_real_of(&gs_real_next, GS_TORCH_NEXT_NUMBER, __builtin_return_address(0),
		    (void *)gs_own_number);
	}
	uint64_t number = real();
	if (__atomic_load_n(&gs_live.classes, __ATOMIC_RELAXED) & GS_CLASS_MEMORY)
		gs_node_made(number);
	return number;
}

GS_HOT void gs_torch_evaluate(void *engine, void *task, void *node, void *inputs, void *queue)
{
	void (*real)(void *, void *, void *, void *, void *) =
	    __atomic_load_n(&gs_real_evaluate, __ATOMIC_RELAXED);
	if (!GS_LIKELY(real))
		real = gs_real_of(&gs_real_evaluate, GS_TORCH_EVALUATE, __builtin_return_address(0),
		    (void *)gs_evaluate_nothing);
	uint32_t offset = __atomic_load_n(&gs_number_offset, __ATOMIC_RELAXED);
	if (!GS_LIKELY(offset))
		offset = gs_offset_find(__builtin_return_address(0));
	uint32_t stack = 0;
	if (offset != GS_OFFSET_NONE)
		stack = gs_node_stack((const uint64_t *)(const void *)((const char *)node + offset));
	struct gs_stack_forward before = gs_stack_forward_begin(stack, __builtin_frame_address(0));
	real(engine, task, node, inputs, queue); /* an exception passes; see gs_stack_forward */
	gs_stack_forward_end(before);
}
