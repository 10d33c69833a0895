/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/stream_queue.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/events.h"
#include "shim/dryrun/meetings.h"
#include "shim/dryrun/streams.h"

enum kind { EFFECT, HOST_FUNCTION, MEETING, RECORD, WAIT };

struct dependency {
	struct gd_queue *queue;
	uint64_t number;
};

struct entry {
	struct entry *next;
	enum kind kind;
	uint64_t number;
	struct gd_operation operation;
	gd_effect effect;
	void *argument; /* owned */
	void (*function)(void *);
	void *user;
	struct gd_held_meeting *meeting; /* a reference */
	uint64_t place;			 /* of the meeting among its like */
	struct gd_event *event;
	uint64_t ticket;
	size_t dependency_count;
	struct dependency *dependencies; /* owned */
};

struct gd_queue {
	struct gd_stream *stream; /* kept while there is work */
	struct entry *first, **end;
	uint64_t enqueued, done; /* numbers of entries */
	bool stop;
	struct gd_queue *next_free, *next;
};

/* `lock` guards all queues; the lock of a context's streams and of an event nest in it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
/* Queues are never returned to malloc: entries of others may still name one that ended. */
static struct gd_queue *free_queues, *all_queues;
static uint64_t last_number;		 /* of the entries of all queues */
static uint64_t entries;		 /* in all queues; atomic */
static __thread struct gd_queue *served; /* by this thread */

static bool has_work(const struct gd_stream *stream)
{
	return stream->queue && stream->queue->done != stream->queue->enqueued;
}

/* What has to be done before: the stream's own queue is in order by itself.  NULL list: count only.
 */
static size_t other_work(struct gd_stream *stream, struct dependency *list)
{
	size_t count = 0;
	struct gd_context *context = stream->context;
	if (stream->kind != GD_STREAM_LEGACY && !gd_stream_blocking(stream))
		return 0;
	pthread_mutex_lock(&context->streams_lock);
	for (struct gd_stream *other = context->streams; other; other = other->next) {
		bool concerns = stream->kind == GD_STREAM_LEGACY ? gd_stream_blocking(other)
								 : other->kind == GD_STREAM_LEGACY;
		if (other == stream || !concerns || !has_work(other))
			continue;
		if (list)
			list[count] = (struct dependency){other->queue, other->queue->enqueued};
		count++;
	}
	pthread_mutex_unlock(&context->streams_lock);
	return count;
}

static void settle(struct dependency dependency)
{
	while (dependency.queue->done < dependency.number)
		pthread_cond_wait(&changed, &lock);
}

static bool event_done(struct gd_event *event, uint64_t ticket)
{
	pthread_mutex_lock(&event->lock);
	bool done = event->done >= ticket;
	pthread_mutex_unlock(&event->lock);
	return done;
}

static void meet(const struct entry *entry, struct gd_stream *stream)
{
	const struct gd_meeting *what = &entry->meeting->what;
	struct gd_operation operation = entry->operation;
	uint64_t start_ns = gd_operation_start(stream, &operation);
	uint64_t met_ns = what->meet(what->user, entry->place, start_ns);
	gd_operation_time_met(stream, &operation, start_ns, met_ns);
	gd_meeting_drop(entry->meeting);
}

static void run(const struct entry *entry, struct gd_stream *stream)
{
	struct gd_operation operation = entry->operation;
	switch (entry->kind) {
	case EFFECT:
		if (entry->effect)
			entry->effect(entry->argument);
		gd_operation_time(stream, &operation);
		break;
	case HOST_FUNCTION:
		gd_sleep_until(gd_stream_ready_ns(stream));
		entry->function(entry->user);
		gd_stream_delay(stream, gd_now_ns());
		break;
	case MEETING:
		meet(entry, stream);
		break;
	case RECORD:
		gd_event_reached(
		    entry->event, entry->ticket, gd_now_ns(), gd_stream_ready_ns(stream));
		break;
	case WAIT:
		gd_stream_delay(stream, gd_event_ready_ns(entry->event));
		gd_event_reached(entry->event, 0, 0, 0);
		break;
	}
}

static void finish(struct gd_queue *queue, struct entry *entry)
{
	queue->first = entry->next;
	if (!queue->first)
		queue->end = &queue->first;
	queue->done = entry->number;
	__atomic_fetch_sub(&entries, 1, __ATOMIC_SEQ_CST);
	gd_operations_add_busy(-1);
	pthread_cond_broadcast(&changed);
	free(entry->argument);
	free(entry->dependencies);
	free(entry);
}

static void *serve(void *pointer)
{
	struct gd_queue *queue = served = pointer;
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	pthread_mutex_lock(&lock);
	for (;;) {
		struct entry *entry = queue->first;
		if (!entry && queue->stop)
			break;
		if (!entry) {
			pthread_cond_wait(&changed, &lock);
			continue;
		}
		for (size_t i = 0; i < entry->dependency_count; i++)
			settle(entry->dependencies[i]);
		while (entry->kind == WAIT && !event_done(entry->event, entry->ticket))
			pthread_cond_wait(&changed, &lock);
		pthread_mutex_unlock(&lock);
		run(entry, queue->stream);
		pthread_mutex_lock(&lock);
		finish(queue, entry);
	}
	gd_stream_free(queue->stream);
	pthread_cond_broadcast(&changed);
	queue->stop = false;
	queue->next_free = free_queues;
	free_queues = queue;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static struct gd_queue *blank_queue(void)
{
	struct gd_queue *queue = free_queues;
	if (queue) {
		free_queues = queue->next_free;
		return queue;
	}
	queue = calloc(1, sizeof(*queue));
	if (queue) {
		queue->next = all_queues;
		all_queues = queue;
	}
	return queue;
}

/* Numbers only grow, so that dependencies on a queue's last life stay true. */
static struct gd_queue *new_queue(struct gd_stream *stream)
{
	struct gd_queue *queue = blank_queue();
	pthread_attr_t attributes;
	pthread_t thread;
	if (!queue)
		return NULL;
	queue->end = &queue->first;
	queue->stream = stream;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	int error = pthread_create(&thread, &attributes, serve, queue);
	pthread_attr_destroy(&attributes);
	if (error) {
		queue->next_free = free_queues;
		free_queues = queue;
		return NULL;
	}
	return queue;
}

/* Append an entry that is filled but for its number and dependencies; `lock` is held. */
static bool append(struct gd_stream *stream, struct entry *entry)
{
	if (!stream->queue)
		stream->queue = new_queue(stream);
	size_t count = other_work(stream, NULL);
	entry->dependencies = count ? calloc(count, sizeof(*entry->dependencies)) : NULL;
	if (!stream->queue || (count && !entry->dependencies)) {
		free(entry->argument);
		free(entry->dependencies);
		free(entry);
		return false;
	}
	entry->dependency_count = count ? other_work(stream, entry->dependencies) : 0;
	struct gd_queue *queue = stream->queue;
	entry->number = queue->enqueued = ++last_number;
	*queue->end = entry;
	queue->end = &entry->next;
	__atomic_fetch_add(&entries, 1, __ATOMIC_SEQ_CST);
	gd_operations_add_busy(1);
	pthread_cond_broadcast(&changed);
	return true;
}

static bool none_queued(void)
{
	return __atomic_load_n(&entries, __ATOMIC_SEQ_CST) == 0;
}

static bool must_wait(struct gd_stream *stream)
{
	return has_work(stream) || other_work(stream, NULL);
}

bool gd_queue_defer(struct gd_stream *stream, const struct gd_operation *operation,
    gd_effect effect, const void *argument, size_t argument_bytes)
{
	if (none_queued())
		return false;
	bool deferred = false;
	pthread_mutex_lock(&lock);
	struct entry *entry = must_wait(stream) ? calloc(1, sizeof(*entry)) : NULL;
	void *copy = entry ? malloc(argument_bytes + 1) : NULL;
	if (copy) {
		if (argument_bytes)
			memcpy(copy, argument, argument_bytes);
		entry->kind = EFFECT;
		entry->operation = *operation;
		entry->effect = effect;
		entry->argument = copy;
		deferred = append(stream, entry);
	} else {
		free(entry);
	}
	pthread_mutex_unlock(&lock);
	return deferred;
}

bool gd_queue_host_function(struct gd_stream *stream, void (*function)(void *), void *user)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	if (!entry)
		return false;
	entry->kind = HOST_FUNCTION;
	entry->function = function;
	entry->user = user;
	pthread_mutex_lock(&lock);
	bool queued = append(stream, entry);
	pthread_mutex_unlock(&lock);
	return queued;
}

bool gd_queue_meeting(
    struct gd_stream *stream, const struct gd_operation *operation, struct gd_held_meeting *meeting)
{
	struct entry *entry = calloc(1, sizeof(*entry));
	if (!entry)
		return false;
	entry->kind = MEETING;
	entry->operation = *operation;
	gd_operation_place(stream, &entry->operation);
	entry->meeting = meeting;
	pthread_mutex_lock(&lock);
	bool queued = append(stream, entry);
	if (queued) { /* before the stream's thread can see it */
		gd_meeting_hold(meeting);
		entry->place = meeting->what.arrive(meeting->what.user);
	}
	pthread_mutex_unlock(&lock);
	return queued;
}

static bool queue_event(
    struct gd_stream *stream, enum kind kind, struct gd_event *event, uint64_t ticket, bool always)
{
	bool queued = false;
	pthread_mutex_lock(&lock);
	struct entry *entry = always || must_wait(stream) ? calloc(1, sizeof(*entry)) : NULL;
	if (entry) {
		entry->kind = kind;
		entry->event = event;
		entry->ticket = ticket;
		pthread_mutex_lock(&event->lock);
		event->queued++;
		pthread_mutex_unlock(&event->lock);
		queued = append(stream, entry);
		if (!queued) {
			pthread_mutex_lock(&event->lock);
			event->queued--;
			pthread_mutex_unlock(&event->lock);
		}
	}
	pthread_mutex_unlock(&lock);
	return queued;
}

bool gd_queue_record(struct gd_stream *stream, struct gd_event *event, uint64_t ticket)
{
	return !none_queued() && queue_event(stream, RECORD, event, ticket, false);
}

bool gd_queue_wait(struct gd_stream *stream, struct gd_event *event, uint64_t ticket)
{
	return queue_event(stream, WAIT, event, ticket, true);
}

void gd_queue_drain(struct gd_stream *stream)
{
	if (none_queued() || (served && served == stream->queue))
		return;
	pthread_mutex_lock(&lock);
	size_t count = other_work(stream, NULL);
	struct dependency *list = count ? calloc(count, sizeof(*list)) : NULL;
	count = list ? other_work(stream, list) : 0;
	for (size_t i = 0; stream->kind == GD_STREAM_LEGACY && i < count; i++)
		settle(list[i]);
	if (stream->queue)
		settle((struct dependency){stream->queue, stream->queue->enqueued});
	pthread_mutex_unlock(&lock);
	free(list);
}

bool gd_queue_empty(struct gd_stream *stream)
{
	if (none_queued())
		return true;
	pthread_mutex_lock(&lock);
	bool empty = !has_work(stream) &&
		     (stream->kind != GD_STREAM_LEGACY || other_work(stream, NULL) == 0);
	pthread_mutex_unlock(&lock);
	return empty;
}

void gd_queue_await_event(struct gd_event *event, uint64_t ticket)
{
	pthread_mutex_lock(&lock);
	while (!event_done(event, ticket))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

bool gd_queue_any(void)
{
	return !none_queued();
}

bool gd_queue_serving(void)
{
	return served != NULL;
}

/* Whether an entry up to a number is left in a stream that is asked for; `lock` is held. */
static bool any_left(const struct gd_context *context, int device, uint64_t number)
{
	for (const struct gd_queue *queue = all_queues; queue; queue = queue->next) {
		if (queue->first && queue->first->number <= number &&
		    (!context || queue->stream->context == context) &&
		    (device < 0 || queue->stream->device == (uint32_t)device))
			return true;
	}
	return false;
}

void gd_queue_drain_all(const struct gd_context *context, int device)
{
	if (none_queued())
		return;
	pthread_mutex_lock(&lock);
	uint64_t number = last_number;
	while (any_left(context, device, number))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}

void gd_queue_end(struct gd_stream *stream)
{
	pthread_mutex_lock(&lock);
	if (stream->queue)
		stream->queue->stop = true;
	else
		gd_stream_free(stream);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
}

void gd_queue_await_ends(const struct gd_context *context)
{
	pthread_mutex_lock(&lock);
	while (__atomic_load_n(&context->streams, __ATOMIC_ACQUIRE))
		pthread_cond_wait(&changed, &lock);
	pthread_mutex_unlock(&lock);
}
