/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_job.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>

#include "nccl_errors.h"
#include "nccl_group.h"

struct worker {
	struct worker *next;
	struct gd_nccl_job *job;
	pthread_t thread;
	bool started;
};

static void *work(void *pointer)
{
	struct gd_nccl_job *job = pointer;

	return (void *)(intptr_t)job->run(job, true);
}

/* The program's signals are not for threads that it does not know. */
static bool start_thread(pthread_t *thread, struct gd_nccl_job *job)
{
	sigset_t all, before;
	int error;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(thread, NULL, work, job);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error == 0;
}

int gd_nccl_job_start(struct gd_nccl_job *job, bool blocking)
{
	pthread_t thread;

	if (blocking && gd_nccl_group_keep(job))
		return GD_NCCL_Success;
	if (blocking || !start_thread(&thread, job))
		return job->run(job, true);
	pthread_detach(thread);
	return GD_NCCL_InProgress;
}

/* All are started before any is waited for; where there is no thread, this one has to do. */
static int run_side_by_side(struct gd_nccl_job *jobs)
{
	struct worker *workers = NULL, *worker;
	int status = GD_NCCL_Success;

	for (struct gd_nccl_job *next; jobs; jobs = next) {
		next = jobs->next;
		worker = malloc(sizeof(*worker));
		if (!worker) {
			int failed = jobs->run(jobs, true);

			status = status ? status : failed;
			continue;
		}
		worker->job = jobs;
		worker->started = start_thread(&worker->thread, jobs);
		worker->next = workers;
		workers = worker;
	}
	while ((worker = workers)) {
		void *result = NULL;

		workers = worker->next;
		if (worker->started)
			pthread_join(worker->thread, &result);
		else
			result = work(worker->job);
		status = status ? status : (int)(intptr_t)result;
		free(worker);
	}
	return status;
}

int gd_nccl_jobs_run(struct gd_nccl_job *jobs, bool wanted)
{
	int status = GD_NCCL_Success;

	if (wanted && jobs && jobs->next)
		return run_side_by_side(jobs);
	while (jobs) {
		struct gd_nccl_job *job = jobs;

		jobs = job->next;
		status = job->run(job, wanted);
	}
	return status;
}
