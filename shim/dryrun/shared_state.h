/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What all processes of one dry run share: the memory budget of each device, the counts for --stats
 * and the names of functions that were reached but are not provided, of kernels whose results were
 * read but are not computed.
 *
 * It lies in the file GPUSHIM_DRYRUN_SHARED, so that it survives a killed process; without the
 * variable each process has its own.  The budget is guarded by one robust mutex; a process that
 * died holding it leaves a total that the next owner adds up again from the processes' own figures.
 * Threads: any, any process.
 */
#ifndef GD_SHARED_STATE_H
#define GD_SHARED_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GD_MAX_DEVICES 64
#define GD_MAX_PROCESSES 1024
#define GD_MAX_MISSING 512
#define GD_MISSING_NAME 88

/* C(name): counts per device, also the keys of the stats file. */
#define GD_COUNTS(C) \
	C(mallocs) \
	C(frees) \
	C(launches) \
	C(copies) \
	C(copy_bytes) \
	C(memsets) \
	C(synchronizations)

struct gd_shared_device {
	/* Counts: atomic.  One line of the cache apart from the budget. */
#define GD_COUNT_FIELD(name) uint64_t name;
	GD_COUNTS(GD_COUNT_FIELD)
#undef GD_COUNT_FIELD
	uint64_t peak_bytes;	/* of used_bytes */
	uint64_t used_bytes;	/* allocations of all processes; guarded by lock */
	uint64_t context_bytes; /* reserves of all contexts; guarded by lock */
	uint64_t foreign_bytes; /* of processes that have no slot; guarded by lock */
	uint64_t fill[5];
};

struct gd_shared_process {
	uint64_t start_time; /* of the process, from /proc: a reused pid differs */
	int32_t pid;	     /* 0 when the slot is free */
	uint32_t fill;
	uint64_t used_bytes[GD_MAX_DEVICES];
	uint64_t context_bytes[GD_MAX_DEVICES];
};

struct gd_shared_missing {
	uint64_t calls; /* atomic */
	char name[GD_MISSING_NAME];
};

struct gd_shared {
	uint64_t magic; /* stored last */
	uint32_t device_count;
	uint32_t missing_count; /* stored after the name; guarded by lock */
	pthread_mutex_t lock;
	struct gd_shared_device devices[GD_MAX_DEVICES];
	struct gd_shared_missing missing[GD_MAX_MISSING];
	struct gd_shared_missing unmodelled[GD_MAX_MISSING]; /* kernels; calls: results read back */
	uint64_t unmodelled_reads; /* results of nobody knows which kernel that were read back */
	uint32_t unmodelled_count; /* as missing_count */
	uint32_t fill;
	struct gd_shared_process processes[GD_MAX_PROCESSES];
};

extern struct gd_shared *gd_shared; /* NULL before gd_shared_start */

/* The device that a number of this process stands for.  Everything below takes such numbers. */
extern uint8_t gd_physical[GD_MAX_DEVICES];

/**
 * Map the state and take a slot in it; once per process.
 *
 * @param device_count  devices of this run
 * @return false when the file cannot be used; the reason was said on stderr
 */
bool gd_shared_start(unsigned device_count);

/**
 * Map an existing state file.
 *
 * @return NULL when it is no state file or was never initialised; unmap with munmap(sizeof)
 */
struct gd_shared *gd_shared_map(const char *path);

/**
 * Charge memory to this process if it fits; dead processes are reaped before it is refused.
 *
 * @param device         index
 * @param bytes          to add
 * @param total_bytes    of the device
 * @param context        the bytes are the reserve of a context: not part of used or peak
 * @return false when the device is full
 */
bool gd_budget_take(unsigned device, uint64_t bytes, uint64_t total_bytes, bool context);

/** Charge as much of `bytes` as fits. @return the bytes charged */
uint64_t gd_budget_take_some(unsigned device, uint64_t bytes, uint64_t total_bytes);

/** A process of which nothing else is known takes so much of each device, or what is left. */
void gd_budget_take_foreign(uint64_t bytes, uint64_t total_bytes);

/** Give back what was taken. */
void gd_budget_give(unsigned device, uint64_t bytes, bool context);

/** @return bytes of the device that all processes together hold; reaps dead ones */
uint64_t gd_budget_used(unsigned device);

/**
 * Note that a function was reached which is not provided.
 *
 * @param name  exported name; copied, cut at GD_MISSING_NAME - 1
 */
void gd_missing_note(const char *name);

/**
 * Note a kernel that leaves results unknown.
 *
 * @param name  copied, cut at GD_MISSING_NAME - 1
 * @return its number, at least 1; when there are too many, that of all others
 */
uint16_t gd_unmodelled_note(const char *name);

/** Count a result of such a kernel that was read back. @param number  0: nobody knows which */
void gd_unmodelled_read(uint16_t number);

/** Count something; one atomic addition. */
#define GD_COUNT(device, name, amount) \
	((void)__atomic_fetch_add( \
	    &gd_shared->devices[gd_physical[device]].name, (uint64_t)(amount), __ATOMIC_RELAXED))

#endif
