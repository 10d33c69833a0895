/* SPDX-License-Identifier: Apache-2.0 */
/* Native stacks, interning and definitions in a program without Python. */
#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "formats/stack_layout.h"
#include "shim/autograd_hooks.h"
#include "shim/call_stack.h"
#include "shim/intern_table.h"
#include "shim/library_map.h"
#include "shim/libunwind.h"
#include "shim/native_stack.h"
#include "shim/python_layout.h"
#include "shim/python_layouts.h"
#include "shim/safe_read.h"
#include "tests/test.h"

#define NOINLINE __attribute__((noinline))
/* Keeps a call from becoming a jump. */
#define NO_TAIL_CALL() __asm__ volatile("" ::: "memory")

/* ---- definitions are collected here ---- */

static struct text {
	uint32_t kind, id, length;
	unsigned char bytes[GF_TEXT_MAX_BYTES];
} texts[400];
static uint32_t text_count;
static bool refuse;

static bool append(void *context, enum gf_text_kind kind, uint32_t id, const void *bytes,
    uint32_t length)
{
	if (refuse)
		return false;
	uint32_t index = __atomic_fetch_add(&text_count, 1, __ATOMIC_RELAXED);
	REQUIRE(index < 400 && length <= GF_TEXT_MAX_BYTES);
	texts[index].kind = kind;
	texts[index].id = id;
	texts[index].length = length;
	memcpy(texts[index].bytes, bytes, length);
	return true;
}

static void start(void)
{
	static const uint8_t parts[GS_STACK_USES] = {GS_STACK_PYTHON | GS_STACK_NATIVE,
	    GS_STACK_PYTHON, GS_STACK_PYTHON};
	REQUIRE(gs_stack_init(parts, append) == NULL);
	gs_stack_reset();
}

static uint32_t count_texts(uint32_t kind)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < text_count; i++)
		count += texts[i].kind == kind;
	return count;
}

static const struct text *text_of(uint32_t kind, uint32_t id)
{
	for (uint32_t i = 0; i < text_count; i++)
		if (texts[i].kind == kind && texts[i].id == id)
			return &texts[i];
	return NULL;
}

static struct gf_stack_head head_of(uint32_t stack)
{
	struct gf_stack_head head;
	const struct text *text = text_of(GF_TEXT_STACK, stack);
	REQUIRE(text);
	memcpy(&head, text->bytes, sizeof(head));
	REQUIRE(head.head_bytes + head.native_count * 8u == text->length);
	return head;
}

static uint64_t address_of(uint32_t stack, unsigned index)
{
	uint64_t address;
	memcpy(&address, text_of(GF_TEXT_STACK, stack)->bytes + sizeof(struct gf_stack_head) + index * 8u,
	    sizeof(address));
	return address;
}

/* ---- a stack and its referee ---- */

struct compared {
	uint32_t stack;
	uintptr_t addresses[GS_NATIVE_FRAMES_LIMIT];
	uint32_t count;
	bool cut;
	void *referee[512];
	int referee_count;
};

static struct gs_native_thread native; /* of the main thread */

static NOINLINE void look(struct compared *out)
{
	const void *frame = __builtin_frame_address(0);
	const struct gs_native_chain *chain = gs_native_stack_walk(&native, frame);
	out->count = chain ? chain->frames : 0;
	out->cut = chain && chain->cut;
	if (chain)
		memcpy(out->addresses, gs_native_stack_addresses(&native, frame)->addresses,
		    out->count * sizeof(out->addresses[0]));
	out->referee_count = gs_libunwind_backtrace(out->referee, 512);
	NO_TAIL_CALL();
}

/* libunwind before 1.5 tells addresses inside the calls, one less than where they return to. */
static bool same_place(uintptr_t address, const void *referee)
{
	static uintptr_t less = 2; /* not known yet */
	if (less == 2 && (address == (uintptr_t)referee || address == (uintptr_t)referee + 1))
		less = address - (uintptr_t)referee;
	return address == (uintptr_t)referee + less;
}

/* Our frames begin above `look`; the referee's somewhere inside.  Compared from there outwards. */
static bool agrees(const struct compared *compared)
{
	int first = 0;
	while (first < compared->referee_count &&
	    !same_place(compared->addresses[0], compared->referee[first]))
		first++;
	if (!compared->count || first == compared->referee_count)
		return false;
	for (uint32_t i = 0; i < compared->count && first + (int)i < compared->referee_count; i++)
		if (!same_place(compared->addresses[i], compared->referee[first + (int)i])) {
			printf("# frame %u: %p, not %p\n", i, (void *)compared->addresses[i],
			    compared->referee[first + (int)i]);
			return false;
		}
	return compared->cut || (int)compared->count + 2 >= compared->referee_count - first;
}

static NOINLINE void plain(int depth, struct compared *out)
{
	if (depth)
		plain(depth - 1, out);
	else
		look(out);
	NO_TAIL_CALL();
}

static NOINLINE void with_alloca(int depth, struct compared *out)
{
	volatile char *room = alloca((size_t)depth * 40 + 16);
	room[0] = 1;
	if (depth)
		with_alloca(depth - 1, out);
	else
		plain(3, out);
	NO_TAIL_CALL();
}

static NOINLINE void with_alignment(int depth, struct compared *out)
{
	char room[64] __attribute__((aligned(64)));
	__asm__ volatile("" : : "r"(room) : "memory");
	if (depth)
		with_alignment(depth - 1, out);
	else
		with_alloca(2, out);
	NO_TAIL_CALL();
}

static int by_library(const void *left, const void *right)
{
	static struct compared found;
	if (!found.count)
		look(&found);
	*(struct compared **)(uintptr_t)left = &found;
	return 0;
}

static void begin_with_referee(void)
{
	const char *trouble = gs_libunwind_init(); /* without libunwind backtrace() is the referee */
	if (!GS_UNWIND_SELF || (trouble && strstr(trouble, "are off")))
		exit(77);
	REQUIRE(gs_native_stack_init() == NULL);
}

TEST(native_frames_agree_with_libunwind)
{
	static struct compared found;
	begin_with_referee();
	for (int depth = 0; depth < 40; depth += 3) {
		plain(depth, &found);
		EXPECT(agrees(&found));
		EXPECT(found.count >= (uint32_t)depth + 3);
	}
	with_alloca(5, &found);
	EXPECT(agrees(&found));
	with_alignment(3, &found);
	EXPECT(agrees(&found));
	plain(400, &found);
	EXPECT(found.cut && found.count >= GS_NATIVE_WORDS_LIMIT / 2 - 1);
	EXPECT(agrees(&found));
	struct compared *called[2] = {NULL, NULL}; /* through code of another library */
	qsort(called, 2, sizeof(called[0]), by_library);
	EXPECT(called[0] || called[1]);
	EXPECT(agrees(called[0] ? called[0] : called[1]));
}

/* Frames too big for the short form in which a chain keeps their places. */
static NOINLINE void with_room(int depth, struct compared *out)
{
	volatile char room[8192];
	room[0] = room[sizeof(room) - 1] = 1;
	if (depth)
		with_room(depth - 1, out);
	else
		plain(2, out);
	NO_TAIL_CALL();
}

TEST(known_chains_are_not_unwound_again)
{
	static struct compared found;
	begin_with_referee();
	for (int round = 0; round < 2000; round++)
		with_alignment(round % 3, &found);
	EXPECT(native.misses <= 3 * 2);
	EXPECT(native.hits + native.misses == 2000);
	for (int round = 0; round < 2000; round++)
		with_room(round % 3, &found);
	EXPECT(native.misses <= 3 * 4);
	EXPECT(agrees(&found));
	EXPECT_EQ(native.disagreements, 0);
}

/* More different chains than there is memory for: all begins anew, and each is still right. */
TEST(chains_beyond_the_memory_of_a_thread)
{
	static struct compared found;
	begin_with_referee();
	uint32_t begun = 0, used = 0, random = 1;
	for (int round = 0; round < 3000; round++) { /* in ever new orders */
		random = random * 1664525u + 1013904223u;
		with_alloca((int)(random >> 16) % 100, &found);
		begun += native.used < used;
		used = native.used;
		REQUIRE(round % 100 || agrees(&found));
	}
	EXPECT(begun >= 1);
	EXPECT_EQ(native.disagreements, 0);
}

#if GS_UNWIND_SELF
/* Calls `function` with a plain number in the frame pointer, as optimised code does. */
void call_with_number(uintptr_t number, struct compared *out, void (*function)(struct compared *));
__asm__(".text\n"
	".type call_with_number, @function\n"
	"call_with_number:\n"
	".cfi_startproc\n"
	"push %rbp\n"
	".cfi_def_cfa_offset 16\n"
	".cfi_offset %rbp, -16\n"
	"mov %rdi, %rbp\n"
	"mov %rsi, %rdi\n"
	"call *%rdx\n"
	"pop %rbp\n"
	".cfi_def_cfa_offset 8\n"
	"ret\n"
	".cfi_endproc\n"
	".size call_with_number, . - call_with_number\n");

TEST(a_number_in_the_frame_pointer_does_not_matter)
{
	static struct compared found;
	REQUIRE(gs_native_stack_init() == NULL);
	for (volatile int round = 0; round < 100; round++)
		call_with_number(0x1000u * (unsigned)round, &found, look);
	EXPECT(found.count >= 3 && !found.cut);
	EXPECT(native.misses <= 3);
	EXPECT_EQ(native.disagreements, 0);
}
#endif

/* Same start, same stack pointer, another caller further out: only the words of the stack differ. */
static NOINLINE void from_one(struct compared *out)
{
	plain(4, out);
	NO_TAIL_CALL();
}
static NOINLINE void from_other(struct compared *out)
{
	plain(4, out);
	NO_TAIL_CALL();
}

TEST(chains_that_differ_far_out_are_told_apart)
{
	static struct compared one, other, again;
	if (!GS_UNWIND_SELF)
		exit(77);
	REQUIRE(gs_native_stack_init() == NULL);
	void (*volatile callers[])(struct compared *) = {from_one, from_other};
	for (int i = 0; i < 2; i++)
		callers[i](i ? &other : &one);
	callers[0](&again);
	EXPECT_EQ(one.count, other.count);
	EXPECT(memcmp(one.addresses, other.addresses, one.count * sizeof(uintptr_t)) != 0);
	EXPECT(memcmp(one.addresses, again.addresses, 6 * sizeof(uintptr_t)) == 0); /* up to from_one */
}

/* The words of the stack, below `limit` of them, in which a frame of the walk returns. */
static uint32_t find_returns(uintptr_t *frame, const struct gs_unwound *unwound, uintptr_t **places)
{
	uint32_t found = 0;
	for (uint32_t i = 0; i < unwound->words && found < unwound->frames; i++)
		if (frame[unwound->indices[i]] == unwound->addresses[found])
			places[found++] = &frame[unwound->indices[i]];
	return found;
}

/* Walks and tells whether the frame `number` returns to `address`, and whether it was unwound. */
static bool unwinds_to(const void *frame, uint32_t number, uintptr_t address)
{
	uint64_t misses = native.misses;
	uint64_t hash = gs_native_stack_walk(&native, frame)->hash;
	bool anew = native.misses == misses + 1;
	const struct gs_unwound *now = gs_native_stack_addresses(&native, frame);
	return anew && now->hash == hash && now->frames > number && now->addresses[number] == address;
}

/* A walk from one frame again and again, while words of the stack above it change and change back. */
static NOINLINE void walk_with_changes(void)
{
	uintptr_t *frame = __builtin_frame_address(0);
	uintptr_t *places[GS_NATIVE_FRAMES_LIMIT];
	const struct gs_native_chain *chain = gs_native_stack_walk(&native, frame);
	REQUIRE(chain);
	uint64_t hash = chain->hash;
	uint32_t count = find_returns(frame, gs_native_stack_addresses(&native, frame), places);
	REQUIRE(count >= 8 && count == chain->frames);
	for (uint32_t i = 0; i < count; i++) {
		*places[i] += 1; /* still in the same function: unwinding goes on as before */
		bool found = unwinds_to(frame, i, *places[i]);
		*places[i] -= 1;
		EXPECT(found);
		EXPECT_EQ(gs_native_stack_walk(&native, frame)->hash, hash);
	}
	for (uint32_t i = 1; i + 1 < count; i++) { /* two words, so that the sum stays */
		*places[i] += 1;
		*places[i + 1] -= 1;
		bool found = unwinds_to(frame, i, *places[i]);
		*places[i] -= 1;
		*places[i + 1] += 1;
		EXPECT(found);
	}
	NO_TAIL_CALL();
}

static NOINLINE void change_below(int depth)
{
	volatile char room[2400]; /* places of some words take the long form */
	room[0] = room[sizeof(room) - 1] = 1;
	if (depth)
		change_below(depth - 1);
	else
		walk_with_changes();
	NO_TAIL_CALL();
}

TEST(a_chain_with_a_changed_word_is_unwound_anew)
{
	if (!GS_UNWIND_SELF)
		exit(77);
	REQUIRE(gs_native_stack_init() == NULL);
	change_below(10);
	EXPECT_EQ(native.disagreements, 0);
}

/* ---- stacks as numbers ---- */

static NOINLINE uint32_t take_from_here(int depth)
{
	uint32_t stack = depth ? take_from_here(depth - 1) : gs_stack_take(GS_STACK_ALLOCATION, NULL);
	NO_TAIL_CALL();
	return stack;
}

TEST(a_stack_is_defined_once)
{
	start();
	uint32_t first = take_from_here(3), second = 0;
	for (volatile int i = 0; i < 10; i++) /* unrolled, the calls would be different places */
		second = take_from_here(4);
	EXPECT(first && second && first != second);
	EXPECT_EQ(count_texts(GF_TEXT_STACK), 2);
	EXPECT_EQ(count_texts(GF_TEXT_CODE), 0);
	EXPECT_EQ(head_of(second).native_count, head_of(first).native_count + 1);
	EXPECT_EQ(head_of(first).python_count, 0);
	uint64_t self = (uint64_t)(uintptr_t)take_from_here;
	EXPECT(address_of(first, 0) > self && address_of(first, 0) < self + 200);
	EXPECT_EQ(gs_stack_take(GS_STACK_TRANSFER, NULL), 0); /* Python frames only: there are none */
}

TEST(libraries_are_defined)
{
	start();
	take_from_here(1);
	bool program = false, libc = false;
	for (uint32_t i = 0; i < text_count; i++) {
		struct gf_library_head head;
		if (texts[i].kind != GF_TEXT_LIBRARY)
			continue;
		memcpy(&head, texts[i].bytes, sizeof(head));
		REQUIRE(head.head_bytes + head.build_id_bytes + head.path_bytes == texts[i].length);
		const char *path = (const char *)texts[i].bytes + head.head_bytes + head.build_id_bytes;
		texts[i].bytes[texts[i].length] = 0;
		uintptr_t self = (uintptr_t)take_from_here;
		program |= strstr(path, "test_shim_stacks") && self >= head.start && self < head.end;
		libc |= strstr(path, "libc.so") && head.build_id_bytes == 20;
	}
	EXPECT(program);
	EXPECT(libc);
}

TEST(a_definition_without_room_is_written_later)
{
	start();
	refuse = true;
	uint32_t first = take_from_here(2);
	EXPECT_EQ(text_count, 0);
	refuse = false;
	EXPECT_EQ(take_from_here(2), 0 + (int)first + (take_from_here(2) != first));
	EXPECT(count_texts(GF_TEXT_STACK) >= 1);
}

TEST(a_reset_defines_again)
{
	start();
	uint32_t stack[2];
	for (int i = 0; i < 2; i++) {
		stack[i] = take_from_here(2);
		EXPECT_EQ(count_texts(GF_TEXT_STACK), i + 1);
		gs_stack_reset();
	}
	EXPECT_EQ(stack[0], stack[1]);
}

static void *take_in_thread(void *result)
{
	uint32_t taken[2000], same = 0;
	for (volatile int i = 0; i < 2000; i++) /* one place: nothing here makes the first round special */
		taken[i] = take_from_here(2);
	for (int i = 0; i < 2000; i++)
		same += taken[i] == taken[0];
	*(uint32_t *)result = same == 2000 ? taken[0] : 0;
	gs_stack_thread_end();
	return NULL;
}

TEST(threads_share_numbers)
{
	uint32_t stacks[4] = {0};
	pthread_t threads[4];
	start();
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 4; i++)
			pthread_create(&threads[i], NULL, take_in_thread, &stacks[i]);
		for (int i = 0; i < 4; i++)
			pthread_join(threads[i], NULL);
		for (int i = 0; i < 4; i++)
			EXPECT(stacks[i] && stacks[i] == stacks[0]);
	}
	EXPECT_EQ(count_texts(GF_TEXT_STACK), 1);
}

static void *take_and_vanish(void *result)
{
	errno = 77;
	*(uint32_t *)result = take_from_here(2);
	EXPECT_EQ(errno, 77);
	return NULL;
}

/* More than may live at once, each gone without a word. */
TEST(threads_that_vanish_leave_their_place)
{
	pthread_t thread;
	start();
	for (int i = 0; i < 1500; i++) {
		uint32_t stack = 0;
		pthread_create(&thread, NULL, take_and_vanish, &stack);
		pthread_join(thread, NULL);
		REQUIRE(stack != 0);
	}
	EXPECT(gs_stack_next_notice() == NULL);
}

TEST(a_stack_without_memory_keeps_errno)
{
	struct rlimit before, none;
	start();
	getrlimit(RLIMIT_AS, &before);
	none = before;
	none.rlim_cur = 0;
	setrlimit(RLIMIT_AS, &none);
	errno = 77;
	uint32_t stack = take_from_here(1);
	int after = errno;
	setrlimit(RLIMIT_AS, &before);
	EXPECT_EQ(stack, 0);
	EXPECT_EQ(after, 77);
	EXPECT(take_from_here(1) != 0);
}

static uint32_t signal_stack;
static void on_signal(int number)
{
	signal_stack = take_from_here(1);
}

TEST(a_signal_handler_has_a_stack)
{
	start();
	signal(SIGUSR1, on_signal);
	raise(SIGUSR1);
	EXPECT(signal_stack);
	EXPECT(head_of(signal_stack).native_count >= 2);
	EXPECT(head_of(signal_stack).flags & GF_STACK_NATIVE_CUT);
}

static void *on_small_stack(void *result)
{
	return take_in_thread(result);
}

TEST(a_stack_given_by_the_program)
{
	size_t bytes = 1024 * 1024; /* sanitizers need more than the rest */
	uint32_t stack = 0;
	pthread_t thread;
	pthread_attr_t attributes;
	start();
	char *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, room, bytes);
	pthread_create(&thread, &attributes, on_small_stack, &stack);
	pthread_join(thread, NULL);
	EXPECT(stack != 0);
}

TEST(forward_stacks_hold_while_their_node_runs)
{
	start();
	uint32_t forward = take_from_here(1);
	uint32_t plain_stack = take_from_here(2);
	uintptr_t frame[2] = {0, (uintptr_t)&frame}; /* a frame further out, called from somewhere */
	struct gs_stack_forward before = gs_stack_forward_begin(forward, frame);
	EXPECT_EQ(before.stack, 0);
	EXPECT(gs_stack_in_backward());
	uint32_t linked = take_from_here(2);
	EXPECT(linked != plain_stack);
	EXPECT_EQ(head_of(linked).forward_stack, forward);
	frame[1] = 1; /* an exception left the node and others use its place */
	EXPECT(head_of(take_from_here(2)).forward_stack == 0);
	EXPECT(!gs_stack_in_backward());
	gs_stack_forward_end(before);
}

/* ---- parts ---- */

TEST(intern_table_numbers_in_order_until_full)
{
	struct gs_intern_table table = {0};
	bool is_new;
	EXPECT_EQ(gs_intern(&table, 5, &is_new), 0); /* without memory */
	REQUIRE(gs_intern_init(&table, 4));
	for (uint64_t hash = 1; hash <= 12; hash++) {
		EXPECT_EQ(gs_intern(&table, hash << 4, &is_new), hash);
		EXPECT(is_new);
	}
	EXPECT_EQ(gs_intern(&table, 999, &is_new), 0);
	EXPECT_EQ(gs_intern(&table, 7 << 4, &is_new), 7);
	EXPECT(!is_new);
	gs_intern_failed(&table, 7 << 4);
	EXPECT_EQ(gs_intern(&table, 7 << 4, &is_new), 7);
	EXPECT(is_new);
	EXPECT_EQ(gs_intern(&table, 7 << 4, &is_new), 7);
	EXPECT(!is_new);
}

TEST(recent_numbers_are_those_of_the_table)
{
	static struct gs_intern_recent recent;
	struct gs_intern_table table = {0};
	bool is_new;
	EXPECT_EQ(gs_intern_recently(&table, &recent, 5, &is_new), 0); /* without memory */
	REQUIRE(gs_intern_init(&table, 14));
	uint32_t hashes = GS_RECENT_SETS * GS_RECENT_WAYS * 3;
	for (int round = 0; round < 3; round++)
		for (uint64_t i = 1; i <= hashes; i++) { /* more than fit, and those of one set together */
			uint64_t hash = i << 7 | (i & 3);
			EXPECT_EQ(gs_intern_recently(&table, &recent, hash, &is_new), i);
			EXPECT_EQ(is_new, round == 0);
			EXPECT_EQ(gs_intern_recently(&table, &recent, hash, &is_new), i);
			EXPECT(!is_new);
		}
	EXPECT_EQ(table.count, hashes);
}

TEST(recent_numbers_are_forgotten_when_a_definition_fails)
{
	static struct gs_intern_recent one, other;
	struct gs_intern_table table = {0};
	bool is_new;
	REQUIRE(gs_intern_init(&table, 8));
	EXPECT_EQ(gs_intern_recently(&table, &one, 70, &is_new), 1);
	EXPECT(is_new); /* to be defined by the first thread */
	EXPECT_EQ(gs_intern_recently(&table, &other, 70, &is_new), 1);
	EXPECT(!is_new); /* the second relies on it, and remembers the number */
	gs_intern_failed(&table, 70);
	EXPECT_EQ(gs_intern_recently(&table, &other, 70, &is_new), 1);
	EXPECT(is_new); /* it has to define it now */
	EXPECT_EQ(gs_intern_recently(&table, &one, 70, &is_new), 1);
	EXPECT(!is_new);
}

TEST(recent_numbers_are_forgotten_at_a_reset)
{
	static struct gs_intern_recent recent;
	struct gs_intern_table table = {0};
	bool is_new;
	REQUIRE(gs_intern_init(&table, 8));
	for (uint64_t hash = 1; hash <= 5; hash++)
		gs_intern_recently(&table, &recent, hash, &is_new);
	gs_intern_reset(&table);
	EXPECT_EQ(gs_intern_recently(&table, &recent, 4, &is_new), 1);
	EXPECT(is_new);
}

static struct gs_intern_table shared_table;
static uint32_t new_count;

static void *intern_all(void *unused)
{
	for (uint64_t i = 1; i <= 20000; i++) {
		bool is_new;
		/* 0: another thread lost its processor between the two halves of an entry */
		while (!gs_intern(&shared_table, i * UINT64_C(0x9e3779b97f4a7c15), &is_new))
			sched_yield();
		__atomic_fetch_add(&new_count, is_new, __ATOMIC_RELAXED);
	}
	return NULL;
}

TEST(intern_table_with_four_threads)
{
	pthread_t threads[4];
	REQUIRE(gs_intern_init(&shared_table, 16));
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, intern_all, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	EXPECT_EQ(new_count, 20000);
	EXPECT_EQ(shared_table.count, 20000);
}

TEST(unreadable_memory_is_told)
{
	char *page = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char byte[2];
	mprotect(page + 4096, 4096, PROT_NONE);
	EXPECT(gs_safe_probe((uintptr_t)page));
	EXPECT(!gs_safe_probe((uintptr_t)page + 4096));
	EXPECT(!gs_safe_read((uintptr_t)page + 4095, byte, 2));
	EXPECT(!gs_safe_probe(8));
}

TEST(no_python_is_no_trouble)
{
	start();
	EXPECT_EQ(gs_python_state(), GS_PYTHON_ABSENT);
	EXPECT(gs_python_trouble() == NULL);
	gs_stack_refresh();
	EXPECT(gs_stack_next_notice() == NULL);
	gs_python_disable("for a test");
	gs_stack_refresh();
	EXPECT_STR(gs_stack_next_notice(), "for a test");
	EXPECT(gs_stack_next_notice() == NULL);
}

/* Words of a release build of CPython 3.14, as its headers give them. */
static void words_of_314(uint64_t *words, bool free_threaded)
{
	static const struct {
		unsigned word;
		uint64_t value;
	} values[] = {{4, 816}, {26, 72}, {31, 88}, {32, 8}, {33, 0}, {34, 56}, {35, 80}, {36, 74}, {38, 72},
	    {39, 216}, {40, 112}, {41, 120}, {42, 128}, {43, 136}, {44, 68}, {48, 208}, {49, 160},
	    {51, 8}, {75, 16}, {76, 32}, {78, 32}, {79, 16}, {80, 40}};
	memset(words, 0, GS_PYTHON_DEBUG_WORDS_LIMIT * sizeof(*words));
	memcpy(words, GS_PYTHON_DEBUG_COOKIE, 8);
	words[1] = 0x030e00f0;
	words[2] = free_threaded;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		words[values[i].word] = values[i].value;
}

TEST(debug_offsets_of_3_14)
{
	uint64_t words[GS_PYTHON_DEBUG_WORDS_LIMIT];
	struct gs_python layout = {0};
	words_of_314(words, false);
	EXPECT(gs_python_from_debug_words(words, 0x030e, &layout) == NULL);
	EXPECT_EQ(layout.runtime_ending, 816);
	EXPECT_EQ(layout.state_frame, 72);
	EXPECT_EQ(layout.frame_back, 8);
	EXPECT_EQ(layout.frame_instruction, 56);
	EXPECT_EQ(layout.frame_owner, 74);
	EXPECT_EQ(layout.code_bytes, 208);
	EXPECT_EQ(layout.code_first_line, 68);
	EXPECT_EQ(layout.text_ascii, 40);
	EXPECT_EQ(layout.text_other, 56);
	EXPECT_EQ(layout.frame_copy, GS_PYTHON_NONE);
	EXPECT(layout.usual);
	words_of_314(words, true);
	EXPECT(gs_python_from_debug_words(words, 0x030e, &layout) == NULL);
	EXPECT(layout.free_threaded && !layout.usual);
	EXPECT_EQ(layout.frame_copy, 72);
	EXPECT_EQ(layout.code_copies, 160);
	words[33] = 5000; /* outside of the frame */
	EXPECT(gs_python_from_debug_words(words, 0x030e, &layout) != NULL);
	words_of_314(words, false);
	EXPECT(gs_python_from_debug_words(words, 0x030f, &layout) != NULL);
	words[0] = 0;
	EXPECT(gs_python_from_debug_words(words, 0x030e, &layout) != NULL);
}

/* type_info as compilers lay it out; names as in PyTorch. */
TEST(where_a_node_has_its_number)
{
	const void *single_kind[2] = {NULL, "N10__cxxabiv120__si_class_type_infoE"};
	const void *many_kind[2] = {NULL, "N10__cxxabiv121__vmi_class_type_infoE"};
	const void *single_table[2] = {single_kind, NULL}, *many_table[2] = {many_kind, NULL};
	const void *counted[2] = {NULL, "N3c1020intrusive_ptr_targetE"};
	const void *shared[2] = {NULL, "St23enable_shared_from_thisIN5torch8autograd4NodeEE"};
	const void *other[2] = {NULL, "N5torch8autograd5ThingE"};
	const void *newer[3] = {&single_table[1], "N5torch8autograd4NodeE", counted};
	const void *older[4] = {&many_table[1], "N5torch8autograd4NodeE", (void *)0x100000000, shared};
	const void *unknown[3] = {&single_table[1], "N5torch8autograd4NodeE", other};
	EXPECT_EQ(gs_autograd_number_offset(newer), 16);
	EXPECT_EQ(gs_autograd_number_offset(older), 24);
	EXPECT_EQ(gs_autograd_number_offset(unknown), 0);
	EXPECT_EQ(gs_autograd_number_offset(NULL), 0);
}
