/* SPDX-License-Identifier: Apache-2.0 */
#include "cupti_buffers.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "cupti_faults.h"
#include "cupti_layout.h"

struct buffer {
	struct buffer *next;
	uint8_t *bytes;
	size_t size, used, count, most; /* most records; 0: as many as fit */
	CUpti_BuffersCallbackCompleteFunc complete;
};

/* Where the records of a thread, or of the process, go. */
struct lane {
	struct lane *next, **link;
	struct buffer *buffer; /* NULL: none */
};

/* Guards all below.  The client is called without it. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t delivered = PTHREAD_COND_INITIALIZER;
static CUpti_BuffersCallbackRequestFunc request_buffer;
static CUpti_BuffersCallbackCompleteFunc complete_buffer;
static struct lane process_lane, *lanes; /* `lanes`: of threads */
static struct buffer *full, **full_end = &full;
static uint64_t queued, returned; /* numbers of the last buffer that became full, that went back */
static bool delivering;
static bool per_thread = GD_BUFFERS_PER_THREAD, cleared_by_client; /* atomic */
static size_t dropped;

static __thread struct lane *own_lane;
static __thread bool in_client;
static pthread_key_t lane_key;

static void queue(struct lane *lane)
{
	struct buffer *buffer = lane->buffer;

	lane->buffer = NULL;
	*full_end = buffer;
	full_end = &buffer->next;
	queued++;
}

/* A thread ends: its records go with the next that are handed over. */
static void end_lane(void *pointer)
{
	struct lane *lane = pointer;

	pthread_mutex_lock(&lock);
	if (lane->buffer)
		queue(lane);
	*lane->link = lane->next;
	if (lane->next)
		lane->next->link = lane->link;
	pthread_mutex_unlock(&lock);
	own_lane = NULL;
	free(lane);
}

static void make_key(void)
{
	pthread_key_create(&lane_key, end_lane);
}

static struct lane *thread_lane(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct lane *lane = own_lane;

	if (lane)
		return lane;
	pthread_once(&once, make_key);
	lane = calloc(1, sizeof(*lane));
	if (!lane || pthread_setspecific(lane_key, lane) != 0) {
		free(lane);
		return &process_lane;
	}
	pthread_mutex_lock(&lock);
	lane->next = lanes;
	lane->link = &lanes;
	if (lanes)
		lanes->link = &lane->next;
	lanes = lane;
	pthread_mutex_unlock(&lock);
	return own_lane = lane;
}

/* ---- handing back ---- */

/* What the script does to a buffer on its way to the client. */
static void spoil(struct buffer *buffer)
{
	int how = gd_cupti_fault("cupti.buffer_damaged");

	if (gd_cupti_fault("cupti.buffer_dropped")) {
		pthread_mutex_lock(&lock);
		dropped += buffer->count;
		pthread_mutex_unlock(&lock);
		buffer->used = 0;
	}
	if (how == 1 && buffer->used) /* cut inside the last record */
		buffer->used -= 4;
	else if (how && buffer->used) /* a hole in the first half */
		memset(buffer->bytes + buffer->used / 4, 0xff, buffer->used / 4);
}

static void give_back(struct buffer *buffer)
{
	spoil(buffer);
	in_client = true;
	buffer->complete(NULL, 0, buffer->bytes, buffer->size, buffer->used);
	in_client = false;
	free(buffer);
}

/* Hand back all that is full unless another thread is at it: one at a time keeps the order.  The
 * lock is held, but not all the time. */
static void deliver_locked(void)
{
	if (delivering)
		return;
	delivering = true;
	while (full) {
		struct buffer *buffer = full;

		full = buffer->next;
		if (!full)
			full_end = &full;
		pthread_mutex_unlock(&lock);
		give_back(buffer);
		pthread_mutex_lock(&lock);
		returned++;
		pthread_cond_broadcast(&delivered);
	}
	delivering = false;
	pthread_cond_broadcast(&delivered);
}

static void deliver(void)
{
	pthread_mutex_lock(&lock);
	deliver_locked();
	pthread_mutex_unlock(&lock);
}

static void queue_if(struct lane *lane, bool empty)
{
	if (lane->buffer && (empty || lane->buffer->used))
		queue(lane);
}

/* Calls before the work that they started: clients read in that order. */
static void queue_all(bool empty)
{
	for (struct lane *lane = lanes; lane; lane = lane->next)
		queue_if(lane, empty);
	queue_if(&process_lane, empty);
}

/* Who ends queues its buffer and delivers nothing, so a waiting thread has to be ready to do it. */
void gd_buffers_flush(bool empty)
{
	uint64_t until;

	pthread_mutex_lock(&lock);
	queue_all(empty);
	until = queued;
	while (returned < until) {
		if (delivering)
			pthread_cond_wait(&delivered, &lock);
		else
			deliver_locked();
	}
	pthread_mutex_unlock(&lock);
}

bool gd_buffers_in_client(void)
{
	return in_client;
}

/* ---- asking ---- */

static bool usable(const uint8_t *bytes, size_t size)
{
	return bytes && (uintptr_t)bytes % GD_RECORD_ALIGNMENT == 0 && size >= GD_RECORD_ROOM;
}

/* Ask the client for a buffer; the lock is not held. @return NULL when it gives none */
static struct buffer *ask(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	struct buffer *buffer = calloc(1, sizeof(*buffer));

	if (!buffer)
		return NULL;
	in_client = true;
	request(&buffer->bytes, &buffer->size, &buffer->most);
	in_client = false;
	buffer->complete = complete;
	if (!usable(buffer->bytes, buffer->size)) {
		if (buffer->bytes) /* it is still the client's */
			complete(NULL, 0, buffer->bytes, buffer->size, 0);
		free(buffer);
		return NULL;
	}
	if (!__atomic_load_n(&cleared_by_client, __ATOMIC_RELAXED))
		memset(buffer->bytes, 0, buffer->size);
	return buffer;
}

static bool fits(const struct buffer *buffer, size_t bytes)
{
	return buffer->used + bytes <= buffer->size &&
	       (!buffer->most || buffer->count < buffer->most);
}

/* Give the lane a buffer with room for a record; the lock is held, but not all the time. */
static bool make_room(struct lane *lane, size_t bytes)
{
	while (!lane->buffer || !fits(lane->buffer, bytes)) {
		CUpti_BuffersCallbackRequestFunc request = request_buffer;
		CUpti_BuffersCallbackCompleteFunc complete = complete_buffer;
		struct buffer *buffer;

		if (lane->buffer)
			queue(lane);
		if (!request || in_client)
			return false;
		pthread_mutex_unlock(&lock);
		buffer = ask(request, complete);
		pthread_mutex_lock(&lock);
		if (!buffer)
			return false;
		if (lane->buffer) /* another thread was faster: its goes first */
			queue(lane);
		lane->buffer = buffer;
	}
	return true;
}

/* @return whether a buffer waits to be handed back */
static bool append(struct lane *lane, const void *record, size_t bytes)
{
	bool waiting;

	pthread_mutex_lock(&lock);
	if (make_room(lane, bytes)) {
		struct buffer *buffer = lane->buffer;

		memcpy(buffer->bytes + buffer->used, record, bytes);
		buffer->used += bytes;
		buffer->count++;
		if (!fits(buffer, GD_RECORD_ALIGNMENT))
			queue(lane);
	} else {
		dropped++;
	}
	waiting = full != NULL;
	pthread_mutex_unlock(&lock);
	return waiting;
}

void gd_buffers_append(bool of_thread, const void *record)
{
	struct lane *lane;
	int invented;

	if (gd_cupti_forked())
		return;
	lane = of_thread && __atomic_load_n(&per_thread, __ATOMIC_RELAXED) ? thread_lane()
									   : &process_lane;
	invented = gd_cupti_fault("cupti.unknown_kind");
	if (invented) {
		uint32_t unknown[GD_UNKNOWN_BYTES / sizeof(uint32_t)];

		memset(unknown, 0x5a, sizeof(unknown));
		unknown[0] = (uint32_t)invented;
		append(lane, unknown, sizeof(unknown));
	}
	if (append(lane, record, gd_record_bytes(*(const uint32_t *)record)) && !in_client)
		deliver();
}

/* ---- settings ---- */

void gd_buffers_set_client(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete)
{
	pthread_mutex_lock(&lock);
	if (complete_buffer && complete_buffer != complete)
		queue_all(true);
	request_buffer = request;
	complete_buffer = complete;
	pthread_mutex_unlock(&lock);
	if (!in_client)
		deliver();
}

bool gd_buffers_ready(void)
{
	pthread_mutex_lock(&lock);
	bool ready = request_buffer != NULL;
	pthread_mutex_unlock(&lock);
	return ready;
}

void gd_buffers_per_thread(bool on)
{
	__atomic_store_n(&per_thread, on, __ATOMIC_RELAXED);
}

void gd_buffers_cleared(bool by_client)
{
	__atomic_store_n(&cleared_by_client, by_client, __ATOMIC_RELAXED);
}

size_t gd_buffers_take_dropped(void)
{
	size_t taken;

	pthread_mutex_lock(&lock);
	taken = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return taken;
}
