/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_segment.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nccl_errors.h"
#include "process_life.h"
#include "shared_files.h"

#define GD_SLEEP_NS 50000000

/* A unique id is the ticket of a file. */
_Static_assert(sizeof(struct gd_file_ticket) <= GD_NCCL_ID_BYTES, "a ticket fits into an id");

/* Files of ids that this process made and that no rank of its own has joined yet. */
struct made {
	struct made *next;
	struct gd_file_ticket ticket;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made *all_made;

static size_t areas_at(void)
{
	return (sizeof(struct gd_nccl_shared) + 4095) & ~(size_t)4095;
}

/* Holes cost nothing, so there is room for a message between any two ranks at once.  Behind each
 * room lies another of its size that tells what of it is unknown. */
static size_t segment_bytes(uint64_t area_bytes, int ranks)
{
	return areas_at() + 2 * (size_t)area_bytes * (size_t)ranks * (size_t)(ranks + 1);
}

char *gd_nccl_area(const struct gd_nccl_segment *segment, int rank)
{
	return (char *)segment->shared + areas_at() + 2 * segment->area_bytes * (size_t)rank;
}

char *gd_nccl_unknown(const struct gd_nccl_segment *segment, char *room)
{
	return room + segment->area_bytes;
}

char *gd_nccl_message(const struct gd_nccl_segment *segment, int from, int to)
{
	return gd_nccl_area(segment, segment->ranks * (from + 1) + to);
}

static bool keep(const struct gd_file_ticket *ticket)
{
	struct made *made = malloc(sizeof(*made));

	if (!made)
		return false;
	made->ticket = *ticket;
	pthread_mutex_lock(&lock);
	made->next = all_made;
	all_made = made;
	pthread_mutex_unlock(&lock);
	return true;
}

/* How many ranks there are is not known yet; the file's length costs nothing. */
int gd_nccl_id_make(struct gd_nccl_id *id_out, uint64_t area_bytes)
{
	struct gd_file_ticket ticket = {
	    .kind = GD_FILE_RANKS, .bytes = (area_bytes + 4095) & ~UINT64_C(4095)};
	int file = -1;

	if (getrandom(&ticket.id, sizeof(ticket.id), 0) == sizeof(ticket.id))
		file = gd_file_new(&ticket, segment_bytes(ticket.bytes, GD_NCCL_MAX_RANKS));
	if (file < 0 || !keep(&ticket)) {
		if (file >= 0)
			close(file);
		return gd_nccl_fail(GD_NCCL_SystemError, "no memory to share between ranks");
	}
	memset(id_out, 0, sizeof(*id_out));
	memcpy(id_out, &ticket, sizeof(ticket));
	return GD_NCCL_Success;
}

void gd_nccl_id_forget(const struct gd_nccl_id *id)
{
	struct made **link, *made;

	pthread_mutex_lock(&lock);
	for (link = &all_made; *link && memcmp(&(*link)->ticket, id, sizeof((*link)->ticket)) != 0;
	     link = &(*link)->next)
		;
	made = *link;
	if (made)
		*link = made->next;
	pthread_mutex_unlock(&lock);
	if (!made)
		return;
	close(made->ticket.file);
	free(made);
}

static int map(struct gd_nccl_segment *segment, int file, uint64_t area_bytes, int ranks)
{
	struct gd_nccl_shared *shared;

	segment->area_bytes = area_bytes;
	segment->bytes = segment_bytes(area_bytes, ranks);
	shared =
	    mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
	if (shared == MAP_FAILED)
		return gd_nccl_fail(GD_NCCL_SystemError, "cannot map %zu bytes: %s", segment->bytes,
		    strerror(errno));
	segment->shared = shared;
	return GD_NCCL_Success;
}

/* The first rank decides how many there are. */
static int agree_on_ranks(const struct gd_nccl_segment *segment)
{
	uint32_t ranks = (uint32_t)segment->ranks, agreed = 0;

	if (atomic_compare_exchange_strong(&segment->shared->ranks, &agreed, ranks) ||
	    agreed == ranks)
		return GD_NCCL_Success;
	return gd_nccl_fail(GD_NCCL_InvalidArgument,
	    "%u ranks, but another rank of the same unique id says %u", ranks, agreed);
}

static int take_place(struct gd_nccl_segment *segment, int rank, const char *device)
{
	struct gd_nccl_rank *own = &segment->shared->rank[rank];
	int32_t nobody = 0;

	if (!__atomic_compare_exchange_n(
		&own->pid, &nobody, (int32_t)getpid(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "rank %d of this unique id was there before", rank);
	own->start_time = gd_process_start_time(own->pid);
	snprintf(own->device, sizeof(own->device), "%s", device);
	atomic_store(&own->presence, GD_NCCL_JOINED);
	segment->rank = rank;
	gd_nccl_ring(segment);
	return GD_NCCL_Success;
}

static int open_id(const struct gd_nccl_id *id, struct gd_file_ticket *ticket, int *file_out)
{
	memcpy(ticket, id, sizeof(*ticket));
	if (ticket->kind != GD_FILE_RANKS || !gd_process_start_time(ticket->pid))
		return gd_nccl_fail(
		    ticket->kind == GD_FILE_RANKS ? GD_NCCL_RemoteError : GD_NCCL_InvalidArgument,
		    "the unique id was not made by this NCCL, or its process %d is gone",
		    (int)ticket->pid);
	*file_out = gd_file_open(ticket);
	if (*file_out < 0)
		return gd_nccl_fail(GD_NCCL_InvalidArgument,
		    "the unique id is used up, or process %d is another user's", (int)ticket->pid);
	return GD_NCCL_Success;
}

int gd_nccl_join(struct gd_nccl_segment *segment, const struct gd_nccl_id *id, int ranks, int rank,
    const char *device)
{
	struct gd_file_ticket ticket;
	int file = -1, status = open_id(id, &ticket, &file);

	if (status != GD_NCCL_Success)
		return status;
	segment->ranks = ranks;
	status = map(segment, file, ticket.bytes, ranks);
	close(file);
	if (status == GD_NCCL_Success)
		status = agree_on_ranks(segment);
	if (status == GD_NCCL_Success)
		status = take_place(segment, rank, device);
	if (status != GD_NCCL_Success)
		gd_nccl_close(segment);
	return status;
}

void gd_nccl_leave(const struct gd_nccl_segment *segment, enum gd_nccl_presence presence)
{
	if (!segment->shared)
		return;
	atomic_store(&segment->shared->rank[segment->rank].presence, presence);
	gd_nccl_ring(segment);
}

void gd_nccl_close(struct gd_nccl_segment *segment)
{
	if (segment->shared)
		munmap(segment->shared, segment->bytes);
	segment->shared = NULL;
}

void gd_nccl_ring(const struct gd_nccl_segment *segment)
{
	if (!segment->shared)
		return;
	atomic_fetch_add(&segment->shared->bell, 1);
	syscall(SYS_futex, &segment->shared->bell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

uint32_t gd_nccl_bell(const struct gd_nccl_segment *segment)
{
	return atomic_load(&segment->shared->bell);
}

bool gd_nccl_sleep(const struct gd_nccl_segment *segment, uint32_t seen)
{
	const struct timespec most = {.tv_nsec = GD_SLEEP_NS};

	return syscall(SYS_futex, &segment->shared->bell, FUTEX_WAIT, seen, &most, NULL, 0) == 0 ||
	       errno != ETIMEDOUT;
}

bool gd_nccl_gone(const struct gd_nccl_segment *segment, int rank)
{
	const struct gd_nccl_rank *other = &segment->shared->rank[rank];
	uint32_t presence = atomic_load(&other->presence);

	if (presence != GD_NCCL_JOINED)
		return presence != GD_NCCL_ABSENT;
	return gd_process_start_time(other->pid) != other->start_time;
}

static bool stopped(const _Atomic bool *const stops[2])
{
	return (stops[0] && atomic_load(stops[0])) || (stops[1] && atomic_load(stops[1]));
}

static int await_note(const struct gd_nccl_segment *segment, const _Atomic uint64_t *told, int rank,
    uint64_t number, const _Atomic bool *const stops[2])
{
	for (;;) {
		uint32_t seen = gd_nccl_bell(segment);

		if (atomic_load(told) >= number)
			return GD_NCCL_Success;
		if (stopped(stops))
			return gd_nccl_fail(GD_NCCL_InternalError, "aborted");
		if (!gd_nccl_sleep(segment, seen) && gd_nccl_gone(segment, rank) &&
		    atomic_load(told) < number)
			return gd_nccl_fail(GD_NCCL_RemoteError, "rank %d is gone", rank);
	}
}

/* A rank can be one round ahead of another, but not two: it needs the other's note to go on. */
int gd_nccl_exchange(const struct gd_nccl_segment *segment, enum gd_nccl_round kind,
    uint64_t members, const char note[GD_NCCL_NOTE_BYTES], char (*notes)[GD_NCCL_NOTE_BYTES],
    const _Atomic bool *const stops[2])
{
	struct gd_nccl_rank *all = segment->shared->rank, *own = &all[segment->rank];
	uint64_t number = atomic_load(&own->told[kind]) + 1;

	memcpy(own->notes[kind][number & 1], note, GD_NCCL_NOTE_BYTES);
	atomic_store(&own->told[kind], number);
	gd_nccl_ring(segment);
	for (int r = 0; r < segment->ranks; r++) {
		int status;

		if (!(members >> r & 1))
			continue;
		status = await_note(segment, &all[r].told[kind], r, number, stops);
		if (status != GD_NCCL_Success)
			return status;
		memcpy(notes[r], all[r].notes[kind][number & 1], GD_NCCL_NOTE_BYTES);
	}
	return GD_NCCL_Success;
}
