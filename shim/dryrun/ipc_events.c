/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/ipc_events.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/events.h"
#include "shim/dryrun/operations.h"
#include "shim/dryrun/shared_files.h"

_Static_assert(sizeof(struct gd_file_ticket) <= sizeof(CUipcEventHandle), "it holds a ticket");

/* What the processes of an event share; all atomic. */
struct gd_event_share {
	uint64_t ready_ns; /* of the latest record that a queue reached; CLOCK_MONOTONIC */
	uint32_t pending;  /* records that queues of all processes have not reached */
	int32_t pid;	   /* of the latest of them */
};

void gd_event_share_pending(struct gd_event *event, int change)
{
	if (!(event->flags & CU_EVENT_INTERPROCESS))
		return;
	event->own_pending += (uint32_t)change;
	if (!event->share)
		return;
	if (change > 0)
		__atomic_store_n(&event->share->pid, (int32_t)getpid(), __ATOMIC_RELEASE);
	__atomic_fetch_add(&event->share->pending, (uint32_t)change, __ATOMIC_SEQ_CST);
}

void gd_event_share_ready(struct gd_event *event, uint64_t ready_ns)
{
	if (event->share)
		__atomic_store_n(&event->share->ready_ns, ready_ns, __ATOMIC_SEQ_CST);
}

void gd_event_share_end(struct gd_event *event)
{
	if (!event->share)
		return;
	munmap(event->share, sizeof(*event->share));
	close(event->share_file);
}

/* A process that died reaches nothing any more. */
static bool others_pending(struct gd_event *event)
{
	pthread_mutex_lock(&event->lock);
	uint32_t own = event->own_pending;
	uint32_t all = __atomic_load_n(&event->share->pending, __ATOMIC_SEQ_CST);
	pthread_mutex_unlock(&event->lock);
	int32_t pid = __atomic_load_n(&event->share->pid, __ATOMIC_ACQUIRE);
	return all != own && !(kill(pid, 0) != 0 && errno == ESRCH);
}

bool gd_event_share_complete(struct gd_event *event)
{
	if (!event->share)
		return true;
	uint64_t ready_ns = __atomic_load_n(&event->share->ready_ns, __ATOMIC_SEQ_CST);
	return !others_pending(event) && (!ready_ns || ready_ns <= gd_now_ns());
}

uint64_t gd_event_share_wait(struct gd_event *event)
{
	const struct timespec pause = {.tv_nsec = 100000};
	if (!event->share)
		return 0;
	while (others_pending(event))
		nanosleep(&pause, NULL);
	return __atomic_load_n(&event->share->ready_ns, __ATOMIC_SEQ_CST);
}

static bool map(struct gd_event *event, int file)
{
	void *share =
	    mmap(NULL, sizeof(*event->share), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (share == MAP_FAILED)
		return false;
	event->share = share;
	event->share_file = file;
	return true;
}

/* Begin to share what the event is by now; its lock is held. */
static bool begin(struct gd_event *event)
{
	struct gd_file_ticket ticket = {
	    .kind = GD_FILE_EVENT, .device = event->device, .id = event->id};
	if (event->share)
		return true;
	int file = gd_file_new(&ticket, sizeof(*event->share));
	if (file < 0 || !map(event, file)) {
		if (file >= 0)
			close(file);
		return false;
	}
	event->share->ready_ns = event->ready_ns;
	event->share->pending = event->own_pending;
	event->share->pid = (int32_t)getpid();
	return true;
}

GD_API(cuIpcGetEventHandle, (CUipcEventHandle * handle_out, CUevent handle), (handle_out, handle))
{
	struct gd_event *event = gd_object_get(handle, GD_TYPE_EVENT);
	struct gd_file_ticket ticket;
	if (!event)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!handle_out || !(event->flags & CU_EVENT_INTERPROCESS))
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&event->lock);
	bool shared = begin(event) && gd_file_ticket(event->share_file, &ticket);
	pthread_mutex_unlock(&event->lock);
	if (!shared)
		return CUDA_ERROR_MAP_FAILED;
	memset(handle_out, 0, sizeof(*handle_out));
	memcpy(handle_out, &ticket, sizeof(ticket));
	return CUDA_SUCCESS;
}

GD_API(cuIpcOpenEventHandle, (CUevent * event_out, CUipcEventHandle handle), (event_out, handle))
{
	struct gd_context *context = gd_context_current();
	struct gd_file_ticket ticket;
	memcpy(&ticket, &handle, sizeof(ticket));
	if (!context)
		return gd_context_error();
	if (!event_out)
		return CUDA_ERROR_INVALID_VALUE;
	int file = ticket.kind == GD_FILE_EVENT ? gd_file_open(&ticket) : -1;
	if (file < 0)
		return CUDA_ERROR_INVALID_HANDLE;
	struct gd_event *event =
	    gd_event_new(context, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
	if (!event || !map(event, file)) {
		close(file);
		if (event)
			gd_event_free(event);
		return CUDA_ERROR_MAP_FAILED;
	}
	gd_object_publish(event, GD_TYPE_EVENT);
	*event_out = (CUevent)event;
	return CUDA_SUCCESS;
}
