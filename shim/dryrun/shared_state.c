/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/shared_state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "shim/dryrun/process_life.h"

#define MAGIC UINT64_C(0x3152594455504720) /* " GPUDYR1" */

_Static_assert(sizeof(struct gd_shared_device) % 64 == 0, "counts share no cache line");

struct gd_shared *gd_shared;
#define FOUR(n) (n), (n) + 1, (n) + 2, (n) + 3
#define SIXTEEN(n) FOUR(n), FOUR((n) + 4), FOUR((n) + 8), FOUR((n) + 12)
uint8_t gd_physical[GD_MAX_DEVICES] = {SIXTEEN(0), SIXTEEN(16), SIXTEEN(32), SIXTEEN(48)};
static struct gd_shared_process *own;

/* The totals again from the processes' own figures. */
static void add_up(struct gd_shared *state)
{
	for (unsigned d = 0; d < GD_MAX_DEVICES; d++)
		state->devices[d].used_bytes = state->devices[d].context_bytes = 0;
	for (unsigned p = 0; p < GD_MAX_PROCESSES; p++) {
		const struct gd_shared_process *process = &state->processes[p];
		for (unsigned d = 0; process->pid && d < GD_MAX_DEVICES; d++) {
			state->devices[d].used_bytes += process->used_bytes[d];
			state->devices[d].context_bytes += process->context_bytes[d];
		}
	}
}

static void lock(struct gd_shared *state)
{
	if (pthread_mutex_lock(&state->lock) == EOWNERDEAD) {
		add_up(state);
		pthread_mutex_consistent(&state->lock);
	}
}

static void unlock(struct gd_shared *state)
{
	pthread_mutex_unlock(&state->lock);
}

static void initialise(struct gd_shared *state, unsigned device_count)
{
	pthread_mutexattr_t attributes;
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&state->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	state->device_count = device_count;
	__atomic_store_n(&state->magic, MAGIC, __ATOMIC_RELEASE);
}

static struct gd_shared *map_file(int file)
{
	void *state =
	    mmap(NULL, sizeof(struct gd_shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	return state == MAP_FAILED ? NULL : state;
}

/* Not a hole: on a file system without room, touching one ends the program. */
static bool allocate(int file, size_t bytes)
{
	errno = posix_fallocate(file, 0, (off_t)bytes);
	return errno == 0;
}

/* The file is locked while it is looked at: the first process initialises it. */
static struct gd_shared *open_file(const char *path, unsigned device_count)
{
	struct gd_shared *state = NULL;
	struct stat status;
	int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0)
		return NULL;
	if (flock(file, LOCK_EX) == 0 && fstat(file, &status) == 0 &&
	    ((size_t)status.st_size >= sizeof(*state) ||
		allocate(file, sizeof(*state))))
		state = map_file(file);
	if (state && state->magic != MAGIC)
		initialise(state, device_count);
	flock(file, LOCK_UN); /* closing does not drop it: the mapping keeps the file open */
	close(file);
	return state;
}

static void reap(struct gd_shared *state)
{
	bool changed = false;
	for (unsigned p = 0; p < GD_MAX_PROCESSES; p++) {
		struct gd_shared_process *process = &state->processes[p];
		if (!process->pid || process == own ||
		    gd_process_start_time(process->pid) == process->start_time)
			continue;
		memset(process, 0, sizeof(*process));
		changed = true;
	}
	if (changed)
		add_up(state);
}

/* A slot with our own pid and start time is from before an exec: its memory is gone. */
static struct gd_shared_process *claim(struct gd_shared *state)
{
	struct gd_shared_process *slot = NULL;
	int pid = (int)getpid();
	uint64_t start_time = gd_process_start_time(pid);
	lock(state);
	reap(state);
	for (unsigned p = 0; p < GD_MAX_PROCESSES; p++) {
		struct gd_shared_process *process = &state->processes[p];
		if (process->pid == pid) {
			memset(process, 0, sizeof(*process));
			add_up(state);
		}
		if (!process->pid && !slot)
			slot = process;
	}
	if (slot) {
		slot->start_time = start_time;
		slot->pid = pid;
	}
	unlock(state);
	return slot;
}

bool gd_shared_start(unsigned device_count)
{
	const char *path = getenv("GPUSHIM_DRYRUN_SHARED");
	struct gd_shared *state = NULL;
	if (path && *path) {
		state = open_file(path, device_count);
		if (!state) {
			fprintf(
			    stderr, "gpushim dryrun: state file %s: %s\n", path, strerror(errno));
			return false;
		}
	} else {
		state = mmap(NULL, sizeof(*state), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (state == MAP_FAILED)
			return false;
		initialise(state, device_count);
	}
	state->device_count = device_count; /* whoever only noted something did not know */
	own = claim(state);
	if (!own) {
		fprintf(stderr, "gpushim dryrun: more than %d processes use the device\n",
		    GD_MAX_PROCESSES);
		return false;
	}
	gd_shared = state;
	return true;
}

struct gd_shared *gd_shared_map(const char *path)
{
	struct stat status;
	struct gd_shared *state = NULL;
	int file = open(path, O_RDWR | O_CLOEXEC);
	if (file < 0)
		return NULL;
	if (fstat(file, &status) == 0 && (size_t)status.st_size >= sizeof(*state))
		state = map_file(file);
	close(file);
	if (state && __atomic_load_n(&state->magic, __ATOMIC_ACQUIRE) != MAGIC) {
		munmap(state, sizeof(*state));
		state = NULL;
	}
	return state;
}

static uint64_t held(const struct gd_shared_device *device)
{
	return device->used_bytes + device->context_bytes + device->foreign_bytes;
}

static void charge(struct gd_shared_device *device, unsigned index, uint64_t bytes, bool context)
{
	if (context) {
		own->context_bytes[index] += bytes;
		device->context_bytes += bytes;
		return;
	}
	own->used_bytes[index] += bytes;
	device->used_bytes += bytes;
	if (device->used_bytes > device->peak_bytes)
		device->peak_bytes = device->used_bytes;
}

static bool fits(const struct gd_shared_device *device, uint64_t bytes, uint64_t total_bytes)
{
	uint64_t used = held(device);
	return used <= total_bytes && bytes <= total_bytes - used;
}

bool gd_budget_take(unsigned device, uint64_t bytes, uint64_t total_bytes, bool context)
{
	device = gd_physical[device];
	struct gd_shared_device *shared = &gd_shared->devices[device];
	lock(gd_shared);
	if (!fits(shared, bytes, total_bytes))
		reap(gd_shared);
	bool taken = fits(shared, bytes, total_bytes);
	if (taken)
		charge(shared, device, bytes, context);
	unlock(gd_shared);
	return taken;
}

uint64_t gd_budget_take_some(unsigned device, uint64_t bytes, uint64_t total_bytes)
{
	device = gd_physical[device];
	struct gd_shared_device *shared = &gd_shared->devices[device];
	lock(gd_shared);
	uint64_t used = held(shared), left = used < total_bytes ? total_bytes - used : 0;
	if (bytes > left)
		bytes = left;
	charge(shared, device, bytes, false);
	unlock(gd_shared);
	return bytes;
}

void gd_budget_take_foreign(uint64_t bytes, uint64_t total_bytes)
{
	if (!gd_shared)
		return; /* before cuInit there is no device */
	lock(gd_shared);
	for (unsigned d = 0; d < gd_shared->device_count; d++) {
		struct gd_shared_device *device = &gd_shared->devices[d];
		uint64_t used = held(device), left = used < total_bytes ? total_bytes - used : 0;
		device->foreign_bytes += bytes < left ? bytes : left;
	}
	unlock(gd_shared);
}

void gd_budget_give(unsigned device, uint64_t bytes, bool context)
{
	device = gd_physical[device];
	struct gd_shared_device *shared = &gd_shared->devices[device];
	lock(gd_shared);
	if (context) {
		own->context_bytes[device] -= bytes;
		shared->context_bytes -= bytes;
	} else {
		own->used_bytes[device] -= bytes;
		shared->used_bytes -= bytes;
	}
	unlock(gd_shared);
}

uint64_t gd_budget_used(unsigned device)
{
	lock(gd_shared);
	reap(gd_shared);
	uint64_t bytes = held(&gd_shared->devices[gd_physical[device]]);
	unlock(gd_shared);
	return bytes;
}

/* ---- functions that are not provided ---- */

static struct gd_shared *noted; /* the state, also of a process that never started the device */

static void open_to_note(void)
{
	const char *path = getenv("GPUSHIM_DRYRUN_SHARED");
	noted = gd_shared ? gd_shared : path && *path ? open_file(path, 0) : NULL;
}

/* Names are only added, so a reader needs no lock. */
static struct gd_shared_missing *find_name(
    struct gd_shared_missing *table, const uint32_t *count_at, const char *name)
{
	uint32_t count = __atomic_load_n(count_at, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count && i < GD_MAX_MISSING; i++) {
		if (strncmp(table[i].name, name, GD_MISSING_NAME - 1) == 0)
			return &table[i];
	}
	return NULL;
}

/* NULL when there are `most` others. */
static struct gd_shared_missing *enter_name(struct gd_shared *state,
    struct gd_shared_missing *table, uint32_t *count, uint32_t most, const char *name)
{
	struct gd_shared_missing *entry = find_name(table, count, name);
	if (entry)
		return entry;
	lock(state);
	entry = find_name(table, count, name);
	if (!entry && *count < most) {
		entry = &table[*count];
		strncpy(entry->name, name, GD_MISSING_NAME - 1);
		__atomic_store_n(count, *count + 1, __ATOMIC_RELEASE);
	}
	unlock(state);
	return entry;
}

void gd_missing_note(const char *name)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, open_to_note);
	if (!noted)
		return;
	struct gd_shared_missing *missing =
	    enter_name(noted, noted->missing, &noted->missing_count, GD_MAX_MISSING, name);
	if (missing)
		__atomic_fetch_add(&missing->calls, 1, __ATOMIC_RELAXED);
}

/* The last place is for all that come when the others are taken. */
uint16_t gd_unmodelled_note(const char *name)
{
	struct gd_shared_missing *table = gd_shared->unmodelled, *kernel;
	kernel =
	    enter_name(gd_shared, table, &gd_shared->unmodelled_count, GD_MAX_MISSING - 1, name);
	if (!kernel)
		kernel = enter_name(gd_shared, table, &gd_shared->unmodelled_count, GD_MAX_MISSING,
		    "other kernels");
	return (uint16_t)(kernel - table + 1);
}

void gd_unmodelled_read(uint16_t number)
{
	uint64_t *count = number && number <= GD_MAX_MISSING
			      ? &gd_shared->unmodelled[number - 1].calls
			      : &gd_shared->unmodelled_reads;
	__atomic_fetch_add(count, 1, __ATOMIC_RELAXED);
}
