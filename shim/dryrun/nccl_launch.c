/* SPDX-License-Identifier: Apache-2.0 */
#include "nccl_launch.h"

#include <stdio.h>

#include "kernel_launch.h"
#include "nccl_driver.h"
#include "nccl_errors.h"

/* NCCL has one kernel for both extremes, and averages by a factor or a division. */
static const char *operator_word(const struct gd_nccl_task *task)
{
	switch (task->op) {
	case GD_NCCL_SUM:
		return "Sum";
	case GD_NCCL_PROD:
		return "Prod";
	case GD_NCCL_MAX:
	case GD_NCCL_MIN:
		return "MinMax";
	case GD_NCCL_AVG:
		return task->type < GD_NCCL_Float16 ? "SumPostDiv" : "PreMulSum";
	default:
		return "PreMulSum";
	}
}

static void name_kernel(const struct gd_nccl_task *task, char *name, size_t room)
{
	switch (task->call) {
	case GD_NCCL_ALL_REDUCE:
	case GD_NCCL_REDUCE:
	case GD_NCCL_REDUCE_SCATTER:
		snprintf(name, room, "ncclDevKernel_%s_%s_%s_RING_LL",
		    gd_nccl_call_word(task->call), operator_word(task),
		    gd_nccl_type_word(task->type));
		break;
	case GD_NCCL_BROADCAST:
	case GD_NCCL_ALL_GATHER:
		snprintf(name, room, "ncclDevKernel_%s_RING_LL", gd_nccl_call_word(task->call));
		break;
	default: /* made of messages */
		snprintf(name, room, "ncclDevKernel_SendRecv");
		break;
	}
}

/* What is enqueued in `behind` from now on waits for what is in `front`. */
static CUresult follow(const struct gd_nccl_driver *driver, CUstream behind, CUstream front)
{
	CUevent event;
	CUresult result = driver->create_event(&event, CU_EVENT_DISABLE_TIMING);

	if (result != CUDA_SUCCESS)
		return result;
	result = driver->record_event(event, front);
	if (result == CUDA_SUCCESS)
		result = driver->wait_event(behind, event, 0);
	driver->destroy_event(event);
	return result;
}

/* Between the first stream and each of the others, once. */
static CUresult join_streams(const struct gd_nccl_driver *driver, const CUstream *streams,
    uint32_t count, bool first_is_behind)
{
	CUresult result = CUDA_SUCCESS;

	for (uint32_t i = 1; i < count && result == CUDA_SUCCESS; i++) {
		uint32_t same = 0;

		while (streams[same] != streams[i])
			same++;
		if (same == i)
			result = follow(driver, streams[first_is_behind ? 0 : i],
			    streams[first_is_behind ? i : 0]);
	}
	return result;
}

static CUresult launch_in_context(const struct gd_nccl_driver *driver,
    const struct gd_nccl_task *tasks, uint32_t count, const CUstream *streams)
{
	char name[96];
	struct gd_work work = {
	    .name = name, .threads = (uint64_t)gd_nccl_channels() * 256, .rate = GD_RATE_MEMORY};
	CUresult result = join_streams(driver, streams, count, true);

	name_kernel(tasks, name, sizeof(name));
	if (result == CUDA_SUCCESS)
		result = gd_kernel_launch(&work, streams[0]);
	if (result == CUDA_SUCCESS)
		result = join_streams(driver, streams, count, false);
	return result;
}

int gd_nccl_launch(struct ncclComm *comm, const struct gd_nccl_task *tasks, uint32_t count,
    const CUstream *streams)
{
	const struct gd_nccl_driver *driver = gd_nccl_driver();
	struct gd_meeting meeting;
	CUcontext before;
	CUresult result;
	int status;

	if (!gd_nccl_plan_make(comm, tasks, count, &meeting))
		return gd_nccl_fail(GD_NCCL_SystemError, "no memory");
	if (driver->meet(&meeting) != 0) {
		meeting.drop(meeting.user);
		return gd_nccl_fail(GD_NCCL_SystemError, "no memory");
	}
	status = gd_nccl_enter(comm->context, &before);
	if (status == GD_NCCL_Success) {
		result = launch_in_context(driver, tasks, count, streams);
		if (result != CUDA_SUCCESS)
			status = gd_nccl_cuda_failure(result, "cuLaunchKernel");
		gd_nccl_restore(comm->context, before);
	}
	driver->meet(NULL); /* if the launch never got there */
	return status;
}
