/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Child processes whose end must be learned, also where the caller has SIGCHLD ignored: the kernel
 * then keeps no exit status.
 *
 * Threads: one at a time.
 */
#ifndef GA_CHILD_H
#define GA_CHILD_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/**
 * Before fork: have the kernel keep how children end.
 *
 * @param old_out  the action before; child and parent put it back with sigaction
 */
void ga_child_keep(struct sigaction *old_out);

/** Wait for the end of a child.  @return false, with errno, if it cannot be learned */
bool ga_child_wait(pid_t child, int *status_out);

#endif
