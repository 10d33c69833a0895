/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/copy_engines.h"

#include <pthread.h>
#include <string.h>

#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"

#define MOST_STRETCHES 64

struct stretch {
	uint64_t start_ns, end_ns;
};

/* When it is busy, in order and apart.  With too many the first idle time is forgotten. */
struct engine {
	pthread_mutex_t lock;
	unsigned count;
	struct stretch busy[MOST_STRETCHES];
};
static struct engine engines[GD_MAX_DEVICES][GD_COPY_ENGINES] = {
    [0 ... GD_MAX_DEVICES - 1] = {
	[0 ... GD_COPY_ENGINES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}}};

static void drop(struct engine *engine, unsigned first, unsigned count)
{
	engine->count -= count;
	memmove(&engine->busy[first], &engine->busy[first + count],
	    (engine->count - first) * sizeof(*engine->busy));
}

/* No copy starts in the past, but the nodes of a graph were enqueued a little ago. */
static void forget_past(struct engine *engine, uint64_t from_ns)
{
	uint64_t now_ns = gd_now_ns(), past_ns = from_ns < now_ns ? from_ns : now_ns;
	unsigned past = 0;
	while (past < engine->count && engine->busy[past].end_ns <= past_ns)
		past++;
	drop(engine, 0, past);
}

/* Make a stretch busy in front of number `at`; what touches becomes one. */
static void add(struct engine *engine, unsigned at, struct stretch new)
{
	struct stretch *busy = engine->busy;
	if (at && busy[at - 1].end_ns == new.start_ns) {
		busy[at - 1].end_ns = new.end_ns;
		if (at < engine->count && busy[at].start_ns == new.end_ns) {
			busy[at - 1].end_ns = busy[at].end_ns;
			drop(engine, at, 1);
		}
		return;
	}
	if (at < engine->count && busy[at].start_ns == new.end_ns) {
		busy[at].start_ns = new.start_ns;
		return;
	}
	if (engine->count == MOST_STRETCHES) {
		if (at < 2) { /* it would be in front of the idle time that is forgotten */
			busy[0].start_ns = at ? busy[0].start_ns : new.start_ns;
			busy[0].end_ns = at ? new.end_ns : busy[0].end_ns;
			return;
		}
		busy[1].start_ns = busy[0].start_ns;
		drop(engine, 0, 1);
		at--;
	}
	memmove(&busy[at + 1], &busy[at], (engine->count - at) * sizeof(*busy));
	busy[at] = new;
	engine->count++;
}

uint64_t gd_copy_engine_take(
    unsigned device, enum gd_copy_engine which, uint64_t from_ns, uint64_t duration_ns)
{
	struct engine *engine = &engines[device][which];
	uint64_t start_ns = from_ns;
	unsigned at = 0;
	pthread_mutex_lock(&engine->lock);
	forget_past(engine, from_ns);
	for (; at < engine->count && engine->busy[at].start_ns < start_ns + duration_ns; at++) {
		if (engine->busy[at].end_ns > start_ns)
			start_ns = engine->busy[at].end_ns;
	}
	add(engine, at, (struct stretch){start_ns, start_ns + duration_ns});
	pthread_mutex_unlock(&engine->lock);
	return start_ns;
}
