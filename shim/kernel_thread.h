/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads as the kernel knows them.  A destructor of a thread's key that records in the last round of
 * destructors leaves recording state that no destructor of ours sees any more: whoever owns state says
 * so by this number, and the helper takes back what belongs to threads that are gone.
 *
 * Threads: any.  One system call each; errno is not kept.
 */
#ifndef GS_KERNEL_THREAD_H
#define GS_KERNEL_THREAD_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/** Number of the calling thread, never 0. */
static inline uint32_t gs_kernel_thread(void)
{
	return (uint32_t)syscall(SYS_gettid);
}

/** Whether that thread of this process has ended. */
static inline bool gs_kernel_thread_ended(uint32_t number)
{
	return syscall(SYS_tgkill, getpid(), number, 0) != 0 && errno == ESRCH;
}

/**
 * Take over from a thread that has ended: true once.
 *
 * @param owner  number of the thread, 0 for none; becomes 0
 */
static inline bool gs_kernel_thread_inherit(uint32_t *owner)
{
	uint32_t number = __atomic_load_n(owner, __ATOMIC_ACQUIRE);
	return number && gs_kernel_thread_ended(number) &&
	    __atomic_compare_exchange_n(owner, &number, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

#endif
