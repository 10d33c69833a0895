/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A communicator: one rank's end of a group.
 *
 * What is enqueued gets a number; the streams' threads take their turns in that order, whatever
 * stream an operation is in, as NCCL orders its kernels.  The last reference frees it: graphs,
 * queued work and jobs may outlive the program's handle.  Threads: any.
 */
#ifndef GD_NCCL_COMMUNICATOR_H
#define GD_NCCL_COMMUNICATOR_H

#include <cuda.h>
#include <pthread.h>

#include "nccl_api.h"
#include "nccl_job.h"
#include "nccl_segment.h"

#define GD_NCCL_MADE_OPERATORS 32

/* From ncclRedOpCreatePreMulSum. */
struct gd_nccl_premultiply {
	bool used;
	uint32_t type;
	const void *address; /* of device memory, read when the operation runs; NULL: `value` */
	char value[8];
};

struct ncclComm {
	uint64_t magic;
	atomic_uint references;
	struct gd_nccl_segment segment;
	int rank, ranks; /* 0 ranks: not known yet */
	CUdevice device;
	CUcontext context;
	char address[32]; /* PCI address of the device */
	struct gd_nccl_config config;
	struct gd_nccl_id id;	   /* while it is being made */
	_Atomic bool aborted;	   /* nobody waits any more */
	_Atomic int failure;	   /* what went wrong first, behind the program's back */
	atomic_uint jobs;	   /* that make or finalize it; changed under `lock` */
	_Atomic uint64_t enqueued; /* numbers given */
	pthread_mutex_t lock;	   /* of what follows */
	pthread_cond_t changed;	   /* turn, jobs, served */
	uint64_t turn;		   /* whose operation runs */
	uint64_t collectives;	   /* done so far; written by the one whose turn it is */
	uint64_t asked[GD_NCCL_ROUNDS], served[GD_NCCL_ROUNDS]; /* children */
	CUmemGenericAllocationHandle buffers;			/* while buffer_bytes is not 0 */
	size_t buffer_bytes;
	bool suspended, shares_buffers, finalized, told_mismatch;
	struct gd_nccl_premultiply made[GD_NCCL_MADE_OPERATORS];
};

/** @return whether it is a communicator; else the words are kept */
bool gd_nccl_valid(const struct ncclComm *comm, const char *function);

/** @return whether it is one and no job is in progress; else the words are kept */
bool gd_nccl_ready(const struct ncclComm *comm, const char *function);

void gd_nccl_hold(struct ncclComm *comm);
void gd_nccl_drop(struct ncclComm *comm);

/**
 * A communicator without ranks.
 *
 * @param parent  whose device and configuration it gets; NULL: the current device
 * @param config  NULL: that of the parent, or the standard one
 * @return status
 */
int gd_nccl_new(
    struct ncclComm **comm_out, const struct ncclComm *parent, const struct gd_nccl_config *config);

/** Join the ranks of an id as one of them; waits for nobody. @return status */
int gd_nccl_enrol(struct ncclComm *comm, const struct gd_nccl_id *id, int ranks, int rank);

/**
 * A job that makes a communicator: find its ranks, wait for them, take buffers.
 *
 * When it fails a blocking one is dropped and *comm_out is NULL; another keeps the error until the
 * program aborts it.
 */
struct gd_nccl_making {
	struct gd_nccl_job job;
	struct ncclComm *comm; /* NULL: this rank helps, and is in no new one */
	struct ncclComm **comm_out;
	/* Enrols `comm`; NULL: it is.  @param wanted  false: only undo */
	int (*find)(struct gd_nccl_making *making, bool wanted);
};

/**
 * Start such a job; *comm_out is set from now on.
 *
 * @param making  but for its job filled; from malloc, taken over
 * @return status as gd_nccl_job_start, told to the group
 */
int gd_nccl_make(struct gd_nccl_making *making, bool blocking);

/** Count a job on a communicator, or its end with what it came to. */
void gd_nccl_job_begins(struct ncclComm *comm);
void gd_nccl_job_ends(struct ncclComm *comm, int status);

/** Keep what went wrong, if it is the first, for ncclCommGetAsyncError. @return whether it was */
bool gd_nccl_failed(struct ncclComm *comm, int status);

/** Every rank's bit. */
uint64_t gd_nccl_everybody(const struct ncclComm *comm);

/** Let all waits of a communicator end. */
void gd_nccl_stop(struct ncclComm *comm);

/** Take or give the buffers of the model in nccl_memory.c. */
int gd_nccl_take_buffers(struct ncclComm *comm);
void gd_nccl_give_buffers(struct ncclComm *comm);

/** @return bytes of one communicator's buffers on its device */
size_t gd_nccl_buffer_bytes(int ranks);

/** @return channels of a ring */
int gd_nccl_channels(void);

#endif
