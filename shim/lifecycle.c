/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Birth, first event, fork and end of the recorder in a process.  Nobody includes a header of this
 * module: it tells the others what to do, by the table of parts below.
 *
 * The only constructor and the only fork handlers of the library are here.  The constructor does a
 * few stores and registrations: compilers and shells inherit LD_PRELOAD too.
 */
#include <pthread.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/call_stack.h"
#include "shim/calm.h"
#include "shim/clock.h"
#include "shim/flusher.h"
#include "shim/log.h"
#include "shim/producer.h"
#include "shim/properties.h"
#include "shim/questions.h"
#include "shim/resolve.h"
#include "shim/settings.h"
#include "shim/stack_parts.h"
#include "shim/torch_hooks.h"

#define GS_START_WAIT_NS 6000000000u

/*
 * Started in this order by the first event that counts, stopped in reverse at exit (or left, where the
 * end may not wait), forgotten in a fork child.  NULL: nothing to do.
 */
static const struct gs_part {
	const char *name;
	bool (*start)(void);
	void (*stop)(void);
	void (*leave)(void);
	void (*fork_child)(void);
} gs_parts[] = {
    {"resolve", gs_resolve, NULL, NULL, NULL},
    {"torch", NULL, NULL, NULL, gs_torch_forget},
    {"stacks", NULL, NULL, NULL, gs_stack_forget},
    {"questions", NULL, NULL, NULL, gs_questions_forget},
    {"producer", NULL, NULL, NULL, gs_producer_forget},
    {"flusher", gs_flusher_start, gs_flusher_stop, gs_flusher_leave, gs_flusher_forget},
};
#define GS_PART_COUNT (int)(sizeof(gs_parts) / sizeof(gs_parts[0]))

/* Others whose first event comes while one thread is starting wait for it: none is lost. */
static void gs_wait_for_start(void)
{
	uint64_t deadline_ns = gs_clock_ns(CLOCK_MONOTONIC) + GS_START_WAIT_NS;
	struct timespec pause = {.tv_nsec = 200000}; /* sleeping: the helper needs the processor */
	while (__atomic_load_n(&gs_phase, __ATOMIC_ACQUIRE) == GS_PHASE_STARTING &&
	    gs_clock_ns(CLOCK_MONOTONIC) < deadline_ns)
		nanosleep(&pause, NULL);
}

static void gs_first_event(void)
{
	uint32_t idle = GS_PHASE_IDLE;
	if (!__atomic_compare_exchange_n(&gs_phase, &idle, GS_PHASE_STARTING, false,
		__ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		gs_wait_for_start();
		return;
	}
	for (int i = 0; i < GS_PART_COUNT; i++) {
		if (!gs_parts[i].start || gs_parts[i].start() || gs_parts[i].start == gs_resolve)
			continue;
		/* Unless it came up after all, on a slow disk: then it is recording. */
		uint32_t starting = GS_PHASE_STARTING;
		__atomic_compare_exchange_n(&gs_phase, &starting, GS_PHASE_OVER, false,
		    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
		return;
	}
}

/*
 * The end of the process, after everything else that runs in it.  Python's own threads that outlive
 * it crash when they come back to it, so nobody may keep the process alive then: the journal stays,
 * with everything.
 */
static void gs_exit(void *unused)
{
	struct gs_calm before = gs_calm_begin();
	gs_wait_for_start(); /* a short program on a busy machine is at its end by then */
	/* A child of a raw clone() has the phase of its parent, but not its helper. */
	bool ours = __atomic_load_n(&gs_phase, __ATOMIC_ACQUIRE) >= GS_PHASE_RUNNING &&
	    gs_live.generation;
	bool may_wait = !gs_stack_python_elsewhere();
	for (int i = GS_PART_COUNT - 1; ours && i >= 0; i--) {
		if (may_wait && gs_parts[i].stop)
			gs_parts[i].stop();
		if (!may_wait && gs_parts[i].leave)
			gs_parts[i].leave();
	}
	if (ours)
		__atomic_store_n(&gs_phase, GS_PHASE_OVER, __ATOMIC_RELEASE);
	gs_calm_end(before);
}

/*
 * Handlers of exit() run in the reverse order of their registration, destructors of libraries after
 * all of them, and both may free device memory.  What a destructor registers runs when the last of
 * them has returned.  It belongs to no library: else our own end would run it.
 */
__attribute__((destructor)) static void gs_destructor(void)
{
	extern int __cxa_atexit(void (*function)(void *), void *argument, void *library);
	if (gs_phase != GS_PHASE_OFF && __cxa_atexit(gs_exit, NULL, NULL) != 0)
		gs_exit(NULL);
}

/*
 * _exit runs no handler: children of Python's multiprocessing end by it.  The real one ends the
 * process at once, so the journal stays.  Not in a child that shares our
 * memory (vfork), nor from below a call that we record (a signal handler).
 */
static void (*gs_real_exit)(int status);

__attribute__((noreturn, visibility("default"))) void _exit(int status)
{
	if (__atomic_load_n(&gs_phase, __ATOMIC_ACQUIRE) >= GS_PHASE_RUNNING &&
	    gs_live.generation && gs_tls.depth == 0)
		gs_flusher_leave();
	if (gs_real_exit)
		gs_real_exit(status);
	for (;;)
		syscall(SYS_exit_group, status);
}

__attribute__((noreturn, visibility("default"))) void _Exit(int status)
{
	_exit(status);
}

static void gs_forget(void)
{
	for (int i = 0; i < GS_PART_COUNT; i++)
		if (gs_parts[i].fork_child)
			gs_parts[i].fork_child();
}

static void gs_fork_child(void)
{
	if (gs_phase == GS_PHASE_OFF)
		return;
	struct gs_calm before = gs_calm_begin();
	gs_flusher_close_inherited();
	gs_forget();
	gs_calm_end(before);
}

static void gs_prepare_others(void)
{
	gs_torch_prepare();
	gs_properties_prepare();
	gs_stack_parts_prepare();
}

__attribute__((constructor)) static void gs_constructor(void)
{
	gs_settings_read(environ);
	if (!gs_settings_enabled())
		return;
	gs_log_remember();
	gs_real_exit = (void (*)(int))dlsym(RTLD_NEXT, "_exit");
	gs_clock_choose();
	gs_producer_init(gs_first_event, gs_forget);
	gs_resolve_on_driver(gs_prepare_others);
	pthread_atfork(NULL, NULL, gs_fork_child);
	__atomic_store_n(&gs_phase, GS_PHASE_IDLE, __ATOMIC_RELEASE);
}
