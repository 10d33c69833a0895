/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/producer.h"

#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/call_stack.h"
#include "shim/calm.h"
#include "shim/clock.h"
#include "shim/kernel_thread.h"

/* glibc keeps the values of the first keys inside the thread; later ones are allocated. */
#define GS_KEYS_WITHOUT_MALLOC 32
/* Looking at every chunk in vain costs microseconds: at most once in some 50 of them. */
#define GS_RETRY_TICKS 100000
#define GS_NEVER_TRIED UINT64_MAX
#define GS_ELLIPSIS "\xe2\x80\xa6" /* what a cut text ends in */
/* Processors may be scarce. */
#define GS_CHUNK_WAIT_NS 1000000000u
#define GS_SUPPLY_PAUSE_NS 5000000

__thread struct gs_tls gs_tls;
struct gs_live gs_live __attribute__((aligned(GS_LIVE_BYTES)));
uint32_t gs_phase;
struct gf_journal gs_journal;
struct gs_supply gs_supply = {.ring_at = UINT64_MAX};

static void (*gs_start)(void), (*gs_forget)(void);
static struct gs_thread *gs_threads; /* GS_THREAD_LIMIT slots */
static uint32_t gs_thread_hint, gs_thread_last_id, gs_chunk_hint, gs_last_generation;
static uint32_t gs_reclaimed_id; /* gs_thread_last_id when threads were reclaimed last */
static pthread_key_t gs_thread_key;
static bool gs_thread_key_usable;
/* After an early end: what would have been recorded, and why it is not. */
static uint32_t gs_missed_classes;
static enum gf_lost_reason gs_missed_reason;

static void gs_thread_ended(void *value)
{
	struct gs_thread *thread = value;
	gs_tls.depth = GS_DEPTH_OURS;
	if (thread->generation == gs_live.generation)
		gs_thread_detach(thread);
	gs_stack_thread_end();
	gs_tls.thread = NULL;
	gs_tls.depth = 0; /* a call that was cut off by pthread_exit or pthread_cancel never left */
}

void gs_producer_init(void (*start)(void), void (*forget)(void))
{
	gs_start = start;
	gs_forget = forget;
	gs_thread_key_usable = pthread_key_create(&gs_thread_key, gs_thread_ended) == 0 &&
	    gs_thread_key < GS_KEYS_WITHOUT_MALLOC;
}

bool gs_enter_cold(uint32_t class, bool uses)
{
	if (__atomic_load_n(&gs_missed_classes, __ATOMIC_ACQUIRE) & class) {
		if (!gs_tls.depth && gs_live.generation) /* else the journal is our parent's */
			gs_count_lost(gs_missed_reason, 1);
		return false;
	}
	uint32_t phase = __atomic_load_n(&gs_phase, __ATOMIC_RELAXED);
	/* A raw clone() ran no fork handler, but the kernel wiped gs_live. */
	if (phase == GS_PHASE_RUNNING && gs_live.generation == 0) {
		gs_forget();
		phase = GS_PHASE_IDLE;
	}
	return ((uses && phase == GS_PHASE_IDLE) || phase == GS_PHASE_STARTING) &&
	    (gs_settings_number(GS_SETTING_record) | GS_CLASS_ALWAYS) & class;
}

/* The stack grows down: below the frame of the call that the thread is inside of, as long as the frame
 * is there, are calls of that one; above it are none, unless on another stack. */
bool gs_jumped_out(const uintptr_t *frame)
{
	const uintptr_t largest_stack = 64u << 20;
	stack_t other = {.ss_flags = 0};
	bool below = frame < gs_tls.frame;
	uintptr_t distance = below ? (uintptr_t)gs_tls.frame - (uintptr_t)frame
				   : (uintptr_t)frame - (uintptr_t)gs_tls.frame;
	if (gs_tls.depth == GS_DEPTH_OURS || distance > largest_stack)
		return false;
	if (below)
		return gs_tls.frame[1] != gs_tls.return_to;
	struct gs_calm before = gs_calm_begin();
	bool same = sigaltstack(NULL, &other) == 0 && !(other.ss_flags & SS_ONSTACK);
	gs_calm_end(before);
	return same;
}

/* A call that fails for other reasons may be a mere question whether there is CUDA. */
static bool gs_status_counts(uint16_t status)
{
	const uint16_t success = 0, out_of_memory = 2;
	return status == success || status == out_of_memory;
}

struct gs_thread *gs_thread_cold(const struct gs_call *call)
{
	struct gs_calm before = gs_calm_begin();
	uint32_t phase = __atomic_load_n(&gs_phase, __ATOMIC_ACQUIRE);
	if (phase == GS_PHASE_STARTING ||
	    (phase == GS_PHASE_IDLE && gs_status_counts(call->status)))
		gs_start();
	struct gs_thread *thread = NULL;
	if (__atomic_load_n(&gs_live.classes, __ATOMIC_ACQUIRE) & call->class)
		thread = gs_thread_attach();
	gs_calm_end(before);
	return thread;
}

bool gs_producer_begin(void)
{
	size_t bytes = sizeof(struct gs_thread) * GS_THREAD_LIMIT;
	void *states = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (states == MAP_FAILED)
		return false;
	gs_threads = states;
	gs_thread_hint = gs_thread_last_id = gs_reclaimed_id = gs_chunk_hint = 0;
	/* Without it (kernels before 4.14) only fork() is noticed, by its handler. */
	madvise(&gs_live, sizeof(gs_live), MADV_WIPEONFORK);
	gs_last_generation++;
	gs_live.generation = gs_last_generation ? gs_last_generation : 1;
	return true;
}

void gs_producer_switch(uint32_t classes)
{
	__atomic_store_n(&gs_live.classes, classes, __ATOMIC_RELEASE);
}

void gs_producer_stop(enum gf_lost_reason reason)
{
	uint32_t classes = gs_live.classes;
	if (!(classes & GS_CLASS_API)) /* most of what is always seen is not told then */
		classes &= ~(uint32_t)GS_CLASS_ALWAYS;
	if (classes) { /* else it has stopped before: that reason stands */
		gs_missed_reason = reason;
		__atomic_store_n(&gs_missed_classes, classes, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&gs_phase, GS_PHASE_OVER, __ATOMIC_RELEASE);
	gs_producer_switch(0);
}

void gs_producer_end(void)
{
	__atomic_store_n(&gs_missed_classes, 0, __ATOMIC_RELAXED);
	gs_producer_switch(0);
}

void gs_producer_forget(void)
{
	gs_missed_classes = 0;
	gs_live.classes = 0;
	gs_live.generation = 0;
	memset(&gs_journal, 0, sizeof(gs_journal));
	gs_threads = NULL;
	gs_tls.thread = NULL;
	gs_tls.depth = 0;
	__atomic_store_n(&gs_phase, GS_PHASE_IDLE, __ATOMIC_RELEASE);
}

void gs_count_lost(enum gf_lost_reason reason, uint64_t count)
{
	if (gs_journal.header)
		__atomic_fetch_add(&gs_journal.header->lost[reason], count, __ATOMIC_RELAXED);
}

static void gs_thread_introduce(struct gs_thread *thread)
{
	uint32_t number = gs_kernel_thread();
	__atomic_store_n(&thread->owner, number, __ATOMIC_RELEASE);
	gs_append_mark(thread, GF_MARK_THREAD_START, number);
	char name[17] = "";
	if (prctl(PR_GET_NAME, name) == 0)
		gs_append_text(thread, GF_TEXT_THREAD_NAME, thread->thread_id, name, strlen(name));
}

static struct gs_thread *gs_thread_slot(void)
{
	uint32_t start = __atomic_load_n(&gs_thread_hint, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < GS_THREAD_LIMIT; i++) {
		uint32_t index = (start + i) % GS_THREAD_LIMIT, unused = 0;
		struct gs_thread *thread = &gs_threads[index];
		if (__atomic_compare_exchange_n(&thread->in_use, &unused, 1, false,
			__ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
			__atomic_store_n(&gs_thread_hint, index + 1, __ATOMIC_RELAXED);
			return thread;
		}
	}
	return NULL;
}

struct gs_thread *gs_thread_attach(void)
{
	struct gs_thread *thread = gs_tls.thread;
	if (thread && thread->generation == gs_live.generation)
		return thread;
	if (!gs_threads)
		return NULL;
	thread = gs_thread_slot();
	if (!thread) {
		gs_count_lost(GF_LOST_NO_THREAD, 1);
		return NULL;
	}
	thread->cursor = thread->limit = NULL;
	thread->chunk = NULL;
	thread->next_try = GS_NEVER_TRIED;
	thread->device = GF_DEVICE_UNKNOWN;
	memset(thread->functions, 0, sizeof(thread->functions));
	thread->thread_id = __atomic_add_fetch(&gs_thread_last_id, 1, __ATOMIC_RELAXED);
	thread->generation = gs_live.generation;
	gs_tls.thread = thread;
	if (gs_thread_key_usable)
		pthread_setspecific(gs_thread_key, thread);
	gs_thread_introduce(thread);
	return thread;
}

void gs_thread_detach(struct gs_thread *thread)
{
	__atomic_store_n(&thread->owner, 0, __ATOMIC_RELEASE);
	gs_append_mark(thread, GF_MARK_THREAD_END, 0);
	if (thread->chunk)
		gf_chunk_retire(thread->chunk, (uint32_t)(thread->cursor - (char *)thread->chunk));
	thread->chunk = NULL;
	thread->cursor = thread->limit = NULL;
	__atomic_store_n(&thread->in_use, 0, __ATOMIC_RELEASE);
}

void gs_threads_reclaim(void)
{
	uint32_t used = __atomic_load_n(&gs_thread_last_id, __ATOMIC_ACQUIRE);
	if (used == gs_reclaimed_id)
		return;
	gs_reclaimed_id = used;
	gs_stack_reclaim();
	for (uint32_t i = 0; i < used && i < GS_THREAD_LIMIT; i++)
		if (gs_kernel_thread_inherit(&gs_threads[i].owner))
			gs_thread_detach(&gs_threads[i]);
}

/* A system call, but once in some ten thousand events, and only while chunks run short. */
static void gs_supply_ring(uint64_t sequence)
{
	uint64_t ring_at = __atomic_load_n(&gs_supply.ring_at, __ATOMIC_RELAXED);
	if (sequence < ring_at || !gs_supply.ring ||
	    !__atomic_compare_exchange_n(&gs_supply.ring_at, &ring_at, UINT64_MAX, false,
		__ATOMIC_RELAXED, __ATOMIC_RELAXED))
		return;
	struct gs_calm before = gs_calm_begin();
	gs_supply.ring();
	gs_calm_end(before);
}

/* Wait for the helper to say that there are more than `seen` chunks. */
static void gs_supply_wait(uint32_t seen)
{
	struct timespec pause = {.tv_nsec = GS_SUPPLY_PAUSE_NS};
	gs_supply.ring();
	syscall(SYS_futex, &gs_supply.given, FUTEX_WAIT_PRIVATE, seen, &pause, NULL, 0);
}

/*
 * Threads that record at full speed, or hundreds that begin at once, use up what is in hand before
 * the helper gets a processor to add to it.  As long as more can be had they wait for it, which is
 * what gives it the processor: an event is dropped only when there is no room, or no helper for long.
 * Where waiting was in vain it is not repeated before the next chunk.  While Python ends nobody waits:
 * a thread that comes back to it too late finds it gone.
 */
static struct gf_chunk *gs_chunk_claim(const struct gs_thread *thread, uint64_t wait_ns)
{
	uint32_t seen = __atomic_load_n(&gs_supply.given, __ATOMIC_ACQUIRE);
	struct gf_chunk *chunk = gf_journal_claim(&gs_journal, thread->thread_id, &gs_chunk_hint);
	if (chunk || !wait_ns || !gs_supply.ring || gs_tls.thread == gs_supply.keeper)
		return chunk;
	struct gs_calm before = gs_calm_begin();
	uint64_t deadline_ns = gs_clock_ns(CLOCK_MONOTONIC) + wait_ns;
	__atomic_fetch_add(&gs_supply.waiting, 1, __ATOMIC_ACQ_REL);
	while (!chunk && (gs_live.classes || gs_supply.ending) && !gs_stack_python_ends() &&
	    !__atomic_load_n(&gs_supply.exhausted, __ATOMIC_RELAXED) &&
	    gs_clock_ns(CLOCK_MONOTONIC) < deadline_ns) {
		gs_supply_wait(seen);
		uint32_t given = __atomic_load_n(&gs_supply.given, __ATOMIC_ACQUIRE);
		if (given == seen)
			continue; /* looking in vain would take the processor from the helper */
		seen = given;
		chunk = gf_journal_claim(&gs_journal, thread->thread_id, &gs_chunk_hint);
	}
	__atomic_fetch_sub(&gs_supply.waiting, 1, __ATOMIC_ACQ_REL);
	gs_calm_end(before);
	return chunk;
}

bool gs_may_claim(const struct gs_thread *thread)
{
	return thread->next_try == GS_NEVER_TRIED || gs_now() >= thread->next_try;
}

void *gs_reserve_cold(struct gs_thread *thread, uint32_t bytes, uint32_t events)
{
	if (!thread->chunk && !gs_may_claim(thread)) {
		gs_count_lost(GF_LOST_NO_CHUNK, events);
		return NULL;
	}
	uint64_t wait_ns = thread->next_try == GS_NEVER_TRIED || thread->chunk ? GS_CHUNK_WAIT_NS : 0;
	if (thread->chunk)
		gf_chunk_retire(thread->chunk, (uint32_t)(thread->cursor - (char *)thread->chunk));
	thread->chunk = gs_chunk_claim(thread, wait_ns);
	if (!thread->chunk) {
		thread->cursor = thread->limit = NULL;
		thread->next_try = gs_now() + GS_RETRY_TICKS;
		gs_count_lost(GF_LOST_NO_CHUNK, events);
		gs_supply_ring(UINT64_MAX - 1);
		return NULL;
	}
	thread->next_try = 0;
	gs_supply_ring(thread->chunk->sequence);
	char *base = (char *)thread->chunk;
	thread->cursor = base + GF_CHUNK_HEADER_BYTES + bytes;
	thread->limit = base + GF_CHUNK_BYTES;
	return base + GF_CHUNK_HEADER_BYTES;
}

bool gs_append_text(struct gs_thread *thread, enum gf_text_kind kind, uint32_t id,
    const char *bytes, size_t length)
{
	size_t kept = length;
	if (length > GF_TEXT_MAX_BYTES) {
		kept = GF_TEXT_MAX_BYTES - strlen(GS_ELLIPSIS);
		while (kept && ((unsigned char)bytes[kept] & 0xc0) == 0x80)
			kept--; /* whole characters only */
		length = kept + strlen(GS_ELLIPSIS);
	}
	uint32_t room = (uint32_t)(sizeof(struct gf_text) + (length + 7) / 8 * 8);
	struct gf_text *text = gs_reserve(thread, room, 0);
	if (!text)
		return false;
	text->id = id;
	text->time = gs_now();
	text->kind = kind;
	text->length = (uint32_t)length;
	memcpy(text + 1, bytes, kept);
	memcpy((char *)(text + 1) + kept, GS_ELLIPSIS, length - kept);
	gf_record_publish(text, GF_HEAD(GF_TAG_text, room));
	return true;
}

void gs_append_mark(struct gs_thread *thread, enum gf_mark_kind kind, uint64_t value)
{
	struct gf_mark *mark = GS_DEFINITION(thread, mark);
	if (!mark)
		return;
	mark->kind = kind;
	mark->time = gs_now();
	mark->value = value;
	GS_PUBLISH(mark, mark);
}
