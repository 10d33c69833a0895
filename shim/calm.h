/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What we do in a thread of the program, beside the call that it made, must not show: errno stays, and
 * no request to end the thread (pthread_cancel) is met inside.  The functions that the program calls
 * are no points of cancellation, and a thread that ended in ours would leave others waiting for it.
 *
 * Threads: any.  Some nanoseconds, no system call; for cold paths.
 */
#ifndef GS_CALM_H
#define GS_CALM_H

#include <errno.h>
#include <pthread.h>

struct gs_calm {
	int error, cancel_state;
};

/** From here on.  Calls nest. */
static inline struct gs_calm gs_calm_begin(void)
{
	struct gs_calm before = {.error = errno};
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.cancel_state);
	return before;
}

/** Back to what was before. */
static inline void gs_calm_end(struct gs_calm before)
{
	pthread_setcancelstate(before.cancel_state, NULL);
	errno = before.error;
}

#endif
