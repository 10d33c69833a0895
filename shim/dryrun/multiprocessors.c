/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/multiprocessors.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/streams.h"

#define MOST_STEPS 256
#define PRIORITIES (GD_LEAST_PRIORITY - GD_GREATEST_PRIORITY + 1)

/* From then on so much is in use, until the next step.  Before the first and behind the last:
 * nothing. */
struct step {
	uint64_t from_ns;
	uint32_t used;
};

/* What kernels of a priority find in use: that of theirs and of higher ones.  With too many steps
 * the first idle time is forgotten. */
struct use {
	unsigned count;
	struct step steps[MOST_STEPS];
};

static struct multiprocessors {
	pthread_mutex_t lock;
	struct use of_priority[PRIORITIES]; /* the least first */
} devices[GD_MAX_DEVICES] = {[0 ... GD_MAX_DEVICES - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};

static void drop(struct use *use, unsigned first, unsigned count)
{
	use->count -= count;
	memmove(&use->steps[first], &use->steps[first + count],
	    (use->count - first) * sizeof(*use->steps));
}

/* No kernel starts in the past, but the nodes of a graph were enqueued a little ago. */
static void forget_past(struct use *use, uint64_t from_ns)
{
	uint64_t now_ns = gd_now_ns(), past_ns = from_ns < now_ns ? from_ns : now_ns;
	unsigned past = 0;
	while (past + 1 < use->count && use->steps[past + 1].from_ns <= past_ns)
		past++;
	if (past + 1 == use->count && use->steps[past].from_ns <= past_ns)
		past++; /* nothing is in use behind the last */
	drop(use, 0, past);
}

/* Number of steps up to a time. */
static unsigned steps_until(const struct use *use, uint64_t time_ns)
{
	unsigned count = 0;
	while (count < use->count && use->steps[count].from_ns <= time_ns)
		count++;
	return count;
}

static uint32_t used_behind(const struct use *use, unsigned steps)
{
	return steps ? use->steps[steps - 1].used : 0;
}

static uint64_t first_fit(
    const struct use *use, uint32_t share, uint64_t from_ns, uint64_t duration_ns)
{
	uint64_t start_ns = from_ns;
	for (unsigned at = steps_until(use, from_ns);; at++) {
		if (used_behind(use, at) + share > GD_WHOLE_DEVICE)
			start_ns = at < use->count ? use->steps[at].from_ns : start_ns;
		else if (at == use->count || use->steps[at].from_ns >= start_ns + duration_ns)
			return start_ns;
	}
}

/* With no room left the first two steps become one, in which the more is in use. */
static void make_room(struct use *use)
{
	if (use->count < MOST_STEPS)
		return;
	if (use->steps[0].used < use->steps[1].used)
		use->steps[0].used = use->steps[1].used;
	drop(use, 1, 1);
}

/* Make sure that a step begins at a time. */
static void split(struct use *use, uint64_t time_ns)
{
	make_room(use);
	unsigned at = steps_until(use, time_ns);
	if (at && use->steps[at - 1].from_ns == time_ns)
		return;
	uint32_t used = used_behind(use, at);
	memmove(&use->steps[at + 1], &use->steps[at], (use->count - at) * sizeof(*use->steps));
	use->steps[at] = (struct step){time_ns, used};
	use->count++;
}

/* Remove the step at a time if it changes nothing. */
static void join(struct use *use, uint64_t time_ns)
{
	unsigned at = steps_until(use, time_ns);
	if (at && use->steps[at - 1].from_ns == time_ns &&
	    used_behind(use, at - 1) == use->steps[at - 1].used)
		drop(use, at - 1, 1);
}

static void add(struct use *use, uint32_t share, uint64_t start_ns, uint64_t end_ns)
{
	split(use, start_ns);
	split(use, end_ns);
	for (unsigned at = steps_until(use, start_ns); at && at <= use->count; at++) {
		struct step *step = &use->steps[at - 1];
		if (step->from_ns >= end_ns)
			break;
		step->used += share;
	}
	join(use, end_ns);
	join(use, start_ns);
}

uint64_t gd_multiprocessors_take(
    unsigned device, int priority, uint32_t share, uint64_t from_ns, uint64_t duration_ns)
{
	struct multiprocessors *m = &devices[device];
	int rank = GD_LEAST_PRIORITY - priority;
	unsigned own = rank < 0 ? 0 : rank < PRIORITIES ? (unsigned)rank : PRIORITIES - 1;
	if (!share || !duration_ns)
		return from_ns;
	pthread_mutex_lock(&m->lock);
	for (unsigned i = 0; i <= own; i++)
		forget_past(&m->of_priority[i], from_ns);
	uint64_t start_ns = first_fit(&m->of_priority[own], share, from_ns, duration_ns);
	for (unsigned i = 0; i <= own; i++)
		add(&m->of_priority[i], share, start_ns, start_ns + duration_ns);
	pthread_mutex_unlock(&m->lock);
	return start_ns;
}
