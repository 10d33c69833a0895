/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/thread_state.h"

#include <pthread.h>
#include <stdlib.h>

#include "shim/dryrun/gate.h"
#include "shim/dryrun/streams.h"

static __thread struct gd_thread *own_state; /* one word: the static TLS reserve is small */
static pthread_key_t at_exit;

static void end_thread(void *pointer)
{
	struct gd_thread *thread = pointer;
	if (gd_gate_forked())
		return; /* the streams are the parent's, and so may be the locks */
	for (unsigned i = 0; i < GD_MAX_CONTEXTS; i++) {
		if (thread->streams[i])
			gd_stream_end_of_thread(thread->streams[i], thread->context_ids[i]);
	}
	own_state = NULL;
	free(thread);
}

static void make_key(void)
{
	pthread_key_create(&at_exit, end_thread);
}

struct gd_thread *gd_thread_state(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (__builtin_expect(own_state != NULL, 1))
		return own_state;
	pthread_once(&once, make_key);
	struct gd_thread *thread = calloc(1, sizeof(*thread));
	if (thread) {
		pthread_setspecific(at_exit, thread);
		own_state = thread;
	}
	return thread;
}
