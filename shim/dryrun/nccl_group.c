/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_group.h"

#include <stdlib.h>
#include <string.h>

#include "nccl_errors.h"
#include "nccl_launch.h"

struct member {
	struct ncclComm *comm;
	CUstream stream;
	struct gd_nccl_task task;
	bool launched;
};

static __thread struct {
	int depth, status;
	bool in_progress; /* something was begun that nobody waits for */
	struct gd_nccl_job *jobs, **jobs_end;
	struct member *members;
	uint32_t count, room;
} group;

int gd_nccl_group_status(int status)
{
	if (group.depth && status == GD_NCCL_InProgress)
		group.in_progress = true;
	else if (group.depth && !group.status)
		group.status = status;
	return status;
}

bool gd_nccl_group_keep(struct gd_nccl_job *job)
{
	if (!group.depth)
		return false;
	if (!group.jobs)
		group.jobs_end = &group.jobs;
	job->next = NULL;
	*group.jobs_end = job;
	group.jobs_end = &job->next;
	return true;
}

/* All messages of one communicator, from the first on. */
static int launch_messages(struct member *members, uint32_t count)
{
	struct gd_nccl_task *tasks = malloc(count * sizeof(*tasks));
	CUstream *streams = malloc(count * sizeof(*streams));
	uint32_t found = 0;
	int status;

	for (uint32_t i = 0; tasks && streams && i < count; i++) {
		struct member *m = &members[i];

		if (m->comm != members->comm || !gd_nccl_is_message(m->task.call) || m->launched)
			continue;
		m->launched = true;
		streams[found] = m->stream;
		tasks[found++] = m->task;
	}
	status = found ? gd_nccl_launch(members->comm, tasks, found, streams)
		       : gd_nccl_fail(GD_NCCL_SystemError, "no memory");
	free(streams);
	free(tasks);
	return status;
}

static int launch_all(struct member *members, uint32_t count)
{
	int status = GD_NCCL_Success;

	for (uint32_t i = 0; i < count && status == GD_NCCL_Success; i++) {
		struct member *m = &members[i];

		if (m->launched)
			continue;
		status = gd_nccl_is_message(m->task.call)
			     ? launch_messages(m, count - i)
			     : gd_nccl_launch(m->comm, &m->task, 1, &m->stream);
	}
	return status;
}

int gd_nccl_group_add(struct ncclComm *comm, const struct gd_nccl_task *task, CUstream stream)
{
	if (!group.depth)
		return gd_nccl_launch(comm, task, 1, &stream);
	if (group.count == group.room) {
		uint32_t room = group.room ? group.room * 2 : 16;
		void *more = realloc(group.members, room * sizeof(*group.members));

		if (!more)
			return gd_nccl_group_status(gd_nccl_fail(GD_NCCL_SystemError, "no memory"));
		group.members = more;
		group.room = room;
	}
	gd_nccl_hold(comm);
	group.members[group.count++] =
	    (struct member){.comm = comm, .stream = stream, .task = *task};
	return GD_NCCL_Success;
}

/* The group is taken down before anything runs. */
static int end_group(bool run)
{
	int status = group.status, waited;
	bool in_progress = group.in_progress;
	struct gd_nccl_job *jobs = group.jobs;
	struct member *members = group.members;
	uint32_t count = group.count;

	memset(&group, 0, sizeof(group));
	waited = gd_nccl_jobs_run(jobs, !status);
	if (!status)
		status = waited;
	if (!status && run)
		status = launch_all(members, count);
	for (uint32_t i = 0; i < count; i++)
		gd_nccl_drop(members[i].comm);
	free(members);
	return !status && in_progress ? GD_NCCL_InProgress : status;
}

int ncclGroupStart(void)
{
	group.depth++;
	return GD_NCCL_Success;
}

static int leave(bool run)
{
	if (!group.depth)
		return gd_nccl_fail(GD_NCCL_InvalidUsage, "ncclGroupEnd: not in a group call.");
	if (group.depth > 1) {
		group.depth--;
		return GD_NCCL_Success;
	}
	return end_group(run);
}

int ncclGroupEnd(void)
{
	return leave(true);
}

/* Nothing is launched; how long it would take is not known. */
int ncclGroupSimulateEnd(struct gd_nccl_simulation *simulation)
{
	if (simulation && simulation->magic != GD_NCCL_SIMULATION_MAGIC)
		return gd_nccl_fail(GD_NCCL_InvalidArgument,
		    "ncclSimInfo_t is not initialised by NCCL_SIM_INFO_INITIALIZER");
	if (simulation)
		simulation->estimated_time = -1.0f;
	return leave(false);
}
