/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What waits on the host for other ranks: communicators that are made, ended or made from others.
 *
 * A blocking call runs its job itself.  In a group the jobs run at its end, each on a thread, since
 * one may wait for another; a communicator that does not block has them on a thread of their own.
 * Threads: any; each has its own group.
 */
#ifndef GD_NCCL_JOB_H
#define GD_NCCL_JOB_H

#include <pthread.h>
#include <stdbool.h>

struct gd_nccl_job {
	struct gd_nccl_job *next;
	/* Frees it.  @param wanted  false: undo what was begun and wait for nobody.  @return status
	 */
	int (*run)(struct gd_nccl_job *job, bool wanted);
};

/**
 * Run a job now, at the end of the group or on a thread.
 *
 * @param job       taken over
 * @param blocking  false: on a thread, nobody waits for it
 * @return status of the job; GD_NCCL_InProgress on a thread; GD_NCCL_Success when it is run later
 */
int gd_nccl_job_start(struct gd_nccl_job *job, bool blocking);

/** Run some jobs at the same time, or end them unwanted. @return a failure of any */
int gd_nccl_jobs_run(struct gd_nccl_job *jobs, bool wanted);

#endif
