/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_segment.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "nccl_errors.h"
#include "process_life.h"

#define GD_NCCL_ID_MAGIC UINT64_C(0x4c43434e55504720) /* " GPUNCCL" */
#define GD_SLEEP_NS 50000000

/* What a unique id consists of. */
struct address {
	uint64_t magic;
	uint64_t token[2];
	uint64_t start_time;
	int32_t pid, file;
};
_Static_assert(sizeof(struct address) <= GD_NCCL_ID_BYTES, "an address fits into an id");

/* Files of ids that this process made and that no rank of its own has joined yet. */
struct made {
	struct made *next;
	struct address address;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct made *all_made;

static size_t areas_at(void)
{
	return (sizeof(struct gd_nccl_shared) + 4095) & ~(size_t)4095;
}

/* Holes cost nothing, so there is room for a message between any two ranks at once. */
static size_t segment_bytes(uint64_t area_bytes, int ranks)
{
	return areas_at() + (size_t)area_bytes * (size_t)ranks * (size_t)(ranks + 1);
}

char *gd_nccl_area(const struct gd_nccl_segment *segment, int rank)
{
	return (char *)segment->shared + areas_at() + segment->shared->area_bytes * (size_t)rank;
}

char *gd_nccl_message(const struct gd_nccl_segment *segment, int from, int to)
{
	return gd_nccl_area(segment, segment->ranks * (from + 1) + to);
}

static bool keep(const struct address *address)
{
	struct made *made = malloc(sizeof(*made));

	if (!made)
		return false;
	made->address = *address;
	pthread_mutex_lock(&lock);
	made->next = all_made;
	all_made = made;
	pthread_mutex_unlock(&lock);
	return true;
}

static bool fill(int file, struct address *address, uint64_t area_bytes)
{
	struct gd_nccl_shared *shared;

	if (file < 0 || ftruncate(file, (off_t)areas_at()) != 0 ||
	    getrandom(address->token, sizeof(address->token), 0) != sizeof(address->token))
		return false;
	shared = mmap(NULL, areas_at(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (shared == MAP_FAILED)
		return false;
	memcpy(shared->token, address->token, sizeof(address->token));
	shared->area_bytes = (area_bytes + 4095) & ~UINT64_C(4095);
	munmap(shared, areas_at());
	return true;
}

int gd_nccl_id_make(struct gd_nccl_id *id_out, uint64_t area_bytes)
{
	struct address address = {.magic = GD_NCCL_ID_MAGIC, .pid = (int32_t)getpid()};

	address.file = memfd_create("gpushim-nccl", MFD_CLOEXEC);
	address.start_time = gd_process_start_time(address.pid);
	if (!fill(address.file, &address, area_bytes) || !keep(&address)) {
		int why = errno;

		if (address.file >= 0)
			close(address.file);
		return gd_nccl_fail(
		    GD_NCCL_SystemError, "no memory to share between ranks: %s", strerror(why));
	}
	memset(id_out, 0, sizeof(*id_out));
	memcpy(id_out, &address, sizeof(address));
	return GD_NCCL_Success;
}

static bool same(const struct address *a, const struct address *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void forget(const struct address *address)
{
	struct made **link, *made;

	pthread_mutex_lock(&lock);
	for (link = &all_made; *link && !same(&(*link)->address, address); link = &(*link)->next)
		;
	made = *link;
	if (made)
		*link = made->next;
	pthread_mutex_unlock(&lock);
	if (!made)
		return;
	close(made->address.file);
	free(made);
}

void gd_nccl_id_forget(const struct gd_nccl_id *id)
{
	struct address address;

	memcpy(&address, id, sizeof(address));
	if (address.magic == GD_NCCL_ID_MAGIC && address.pid == (int32_t)getpid())
		forget(&address);
}

static int open_address(const struct address *address, int *file_out)
{
	char path[64];

	if (address->magic != GD_NCCL_ID_MAGIC)
		return gd_nccl_fail(
		    GD_NCCL_InvalidArgument, "the unique id was not made by this NCCL");
	if (gd_process_start_time(address->pid) != address->start_time)
		return gd_nccl_fail(GD_NCCL_RemoteError, "the process %d of the unique id is gone",
		    (int)address->pid);
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)address->pid, (int)address->file);
	*file_out = open(path, O_RDWR | O_CLOEXEC);
	if (*file_out < 0)
		return gd_nccl_fail(GD_NCCL_SystemError, "cannot open %s of the unique id: %s",
		    path, strerror(errno));
	return GD_NCCL_Success;
}

/* The first rank decides how many there are and makes the room. */
static int map(struct gd_nccl_segment *segment, int file, const struct address *address, int ranks)
{
	struct gd_nccl_shared *shared =
	    mmap(NULL, areas_at(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	uint32_t agreed = 0;
	bool whole;

	if (shared == MAP_FAILED)
		return gd_nccl_fail(GD_NCCL_SystemError, "cannot map: %s", strerror(errno));
	whole = memcmp(shared->token, address->token, sizeof(address->token)) == 0;
	segment->bytes = segment_bytes(shared->area_bytes, ranks);
	if (whole && atomic_compare_exchange_strong(&shared->ranks, &agreed, (uint32_t)ranks))
		agreed = (uint32_t)ranks;
	munmap(shared, areas_at());
	if (!whole)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "the unique id is used up");
	if (agreed != (uint32_t)ranks)
		return gd_nccl_fail(GD_NCCL_InvalidArgument,
		    "%d ranks, but another rank of the same unique id says %u", ranks, agreed);
	if (ftruncate(file, (off_t)segment->bytes) != 0)
		return gd_nccl_fail(GD_NCCL_SystemError, "cannot share %zu bytes: %s",
		    segment->bytes, strerror(errno));
	shared =
	    mmap(NULL, segment->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
	if (shared == MAP_FAILED)
		return gd_nccl_fail(GD_NCCL_SystemError, "cannot map %zu bytes: %s", segment->bytes,
		    strerror(errno));
	segment->shared = shared;
	return GD_NCCL_Success;
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

int gd_nccl_join(struct gd_nccl_segment *segment, const struct gd_nccl_id *id, int ranks, int rank,
    const char *device)
{
	struct address address;
	int file = -1, status;

	memcpy(&address, id, sizeof(address));
	status = open_address(&address, &file);
	if (status != GD_NCCL_Success)
		return status;
	segment->ranks = ranks;
	status = map(segment, file, &address, ranks);
	close(file);
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
