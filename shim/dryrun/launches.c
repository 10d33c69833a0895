/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/launches.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture.h"
#include "shim/dryrun/device_table.h"
#include "shim/dryrun/events.h"
#include "shim/dryrun/graphs.h"
#include "shim/dryrun/occupancy.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/streams.h"
#include "shim/dryrun/unknown_results.h"

static bool within_grid(const uint32_t grid[3])
{
	return grid[0] && grid[1] && grid[2] && grid[0] <= INT32_MAX && grid[1] <= 65535 &&
	       grid[2] <= 65535;
}

static bool within_block(const uint32_t block[3])
{
	return block[0] && block[1] && block[2] && block[0] <= 1024 && block[1] <= 1024 &&
	       block[2] <= 64;
}

CUresult gd_launch_check(const struct gd_launch *launch)
{
	const struct gd_function *function = launch->function;
	if (!within_grid(launch->grid) || !within_block(launch->block))
		return CUDA_ERROR_INVALID_VALUE;
	uint32_t threads = launch->block[0] * launch->block[1] * launch->block[2];
	if (threads > 1024 || launch->shared_bytes > (uint32_t)function->max_dynamic_shared_bytes)
		return CUDA_ERROR_INVALID_VALUE;
	if (threads > (uint32_t)function->facts.max_threads ||
	    (threads + 31) / 32 * 32 * (uint32_t)function->facts.registers > 65536)
		return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
	if (launch->cooperative) {
		uint64_t most =
		    (uint64_t)gd_occupancy_blocks(function, (int)threads, launch->shared_bytes) *
		    gd_facts.sm_count;
		if ((uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2] > most)
			return CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE;
	}
	return CUDA_SUCCESS;
}

void gd_launch_gather(
    struct gd_launch *launch, void **parameters, void **extra, struct gd_model_job *job)
{
	const struct gd_model_match *match = &launch->function->match;
	launch->job_bytes = 0;
	launch->job = NULL;
	if (!match->model)
		return;
	struct gd_model_launch model = {.parameters = parameters, .extra = extra};
	memcpy(model.grid, launch->grid, sizeof(model.grid));
	memcpy(model.block, launch->block, sizeof(model.block));
	launch->job_bytes =
	    (uint32_t)gd_model_prepare(match, gd_result_author(launch->function), &model, job);
	if (launch->job_bytes)
		launch->job = job;
}

bool gd_launch_keep(struct gd_launch *launch)
{
	struct gd_model_job *job = launch->job ? malloc(launch->job_bytes) : NULL;
	if (launch->job && !job)
		return false;
	if (job)
		memcpy(job, launch->job, launch->job_bytes);
	launch->job = job;
	gd_meeting_hold(launch->meeting);
	return true;
}

void gd_launch_drop(struct gd_launch *launch)
{
	free(launch->job);
	gd_meeting_drop(launch->meeting);
	launch->job = NULL;
	launch->job_bytes = 0;
	launch->meeting = NULL;
}

void gd_launch_describe(const struct gd_launch *launch, struct gd_operation *operation_out)
{
	const struct gd_function *function = launch->function;
	memset(operation_out, 0, sizeof(*operation_out));
	operation_out->kind = GD_OPERATION_KERNEL;
	operation_out->name = function->name;
	memcpy(operation_out->grid, launch->grid, sizeof(launch->grid));
	memcpy(operation_out->block, launch->block, sizeof(launch->block));
	operation_out->static_shared_bytes = (uint32_t)function->facts.static_shared_bytes;
	operation_out->dynamic_shared_bytes = launch->shared_bytes;
	operation_out->hint = launch->hint;
	operation_out->registers = (uint32_t)function->facts.registers;
	operation_out->blocks_per_sm = (uint32_t)gd_occupancy_blocks(function,
	    (int)(launch->block[0] * launch->block[1] * launch->block[2]), launch->shared_bytes);
	operation_out->timed = function->timed;
	operation_out->time_ns = function->time_ns;
	if (launch->meeting) {
		operation_out->link_bytes = launch->meeting->what.link_bytes;
		operation_out->link_steps = launch->meeting->what.steps;
	}
}

static CUresult launch_meeting(struct gd_stream *stream, const struct gd_launch *launch)
{
	struct gd_operation operation;
	gd_launch_describe(launch, &operation);
	if (!gd_queue_meeting(stream, &operation, launch->meeting))
		return CUDA_ERROR_OUT_OF_MEMORY;
	if (gd_operations_blocking)
		gd_stream_wait(stream);
	return CUDA_SUCCESS;
}

/* @return CUDA_ERROR_NOT_READY when the stream is not captured */
static CUresult capture(struct gd_stream *stream, const struct gd_launch *launch)
{
	struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_KERNEL, .kernel = *launch};
	if (!gd_launch_keep(&work.kernel))
		return CUDA_ERROR_OUT_OF_MEMORY;
	CUresult result = gd_capture_add(stream, &work);
	if (result == CUDA_SUCCESS)
		GD_COUNT(stream->device, launches, 1);
	else
		gd_launch_drop(&work.kernel);
	return result;
}

static CUresult launch_on(
    struct gd_stream *stream, struct gd_launch *launch, void **parameters, void **extra)
{
	struct gd_function *function = launch->function;
	if (stream->device != function->device)
		return CUDA_ERROR_INVALID_HANDLE;
	if (parameters && extra)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = gd_launch_check(launch);
	if (result != CUDA_SUCCESS)
		return result;
	struct gd_model_job job; /* uninitialised: it costs nothing where no model is */
	gd_launch_gather(launch, parameters, extra, &job);
	gd_result_launched(function, launch->job && gd_model_computes(&function->match));
	if (!__atomic_load_n(&function->launched, __ATOMIC_RELAXED))
		__atomic_store_n(&function->launched, 1, __ATOMIC_RELAXED);
	if (gd_capture_touches(stream)) {
		result = capture(stream, launch);
		if (result != CUDA_ERROR_NOT_READY)
			return result;
	}
	GD_COUNT(stream->device, launches, 1);
	if (__builtin_expect(launch->meeting != NULL, 0))
		return launch_meeting(stream, launch);
	if (gd_operations_simple()) {
		if (launch->job)
			gd_model_run(launch->job);
		return CUDA_SUCCESS;
	}
	struct gd_operation operation;
	gd_launch_describe(launch, &operation);
	gd_enqueue(
	    stream, &operation, launch->job ? gd_model_run : NULL, launch->job, launch->job_bytes);
	if (gd_operations_blocking)
		gd_stream_wait(stream);
	return CUDA_SUCCESS;
}

/* A kernel belongs to no context: the stream decides, whatever context is current. */
static struct gd_function *function_on(const struct gd_stream *stream, CUfunction handle)
{
	struct gd_function *function = gd_object_get(handle, GD_TYPE_FUNCTION);
	if (__builtin_expect(function != NULL, 1))
		return function;
	struct gd_kernel *kernel = gd_object_get(handle, GD_TYPE_KERNEL);
	return kernel ? gd_kernel_function(kernel, stream->context) : NULL;
}

static CUresult launch_described(CUstream handle, bool per_thread, CUfunction function_handle,
    struct gd_launch *launch, void **parameters, void **extra)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	launch->function = function_on(stream, function_handle);
	return launch->function ? launch_on(stream, launch, parameters, extra)
				: CUDA_ERROR_INVALID_HANDLE;
}

static CUresult launch_kernel(CUstream handle, bool per_thread, CUfunction function,
    const uint32_t dims[6], uint32_t shared_bytes, bool cooperative, void **parameters,
    void **extra)
{
	struct gd_launch launch;
	launch.hint = gd_hint_take(); /* also when the launch is refused */
	launch.meeting = gd_meeting_take();
	memcpy(launch.grid, dims, sizeof(launch.grid));
	memcpy(launch.block, dims + 3, sizeof(launch.block));
	launch.shared_bytes = shared_bytes;
	launch.cooperative = cooperative;
	CUresult result =
	    launch_described(handle, per_thread, function, &launch, parameters, extra);
	if (__builtin_expect(launch.meeting != NULL, 0))
		gd_meeting_drop(launch.meeting);
	return result;
}

GD_API_PTSZ(cuLaunchKernel,
    (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
	CUstream stream, void **parameters, void **extra),
    (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters,
	extra))
{
	const uint32_t dims[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
	return launch_kernel(
	    stream, per_thread, function, dims, shared_bytes, false, parameters, extra);
}

GD_API_PTSZ(cuLaunchCooperativeKernel,
    (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
	unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_bytes,
	CUstream stream, void **parameters),
    (function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters))
{
	const uint32_t dims[6] = {grid_x, grid_y, grid_z, block_x, block_y, block_z};
	return launch_kernel(
	    stream, per_thread, function, dims, shared_bytes, true, parameters, NULL);
}

/* What the attributes of a launch ask for and this device cannot do is refused. */
static CUresult read_attributes(const CUlaunchConfig *config, bool *cooperative_out)
{
	*cooperative_out = false;
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];
		switch (attribute->id) {
		case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
			*cooperative_out = attribute->value.cooperative != 0;
			break;
		case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
			if (gd_facts.major < 9 && attribute->value.clusterDim.x *
							  attribute->value.clusterDim.y *
							  attribute->value.clusterDim.z >
						      1)
				return CUDA_ERROR_INVALID_CLUSTER_SIZE;
			break;
		case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
			return CUDA_ERROR_NOT_SUPPORTED;
		default:
			break;
		}
	}
	return CUDA_SUCCESS;
}

/* Events that a launch carries are recorded when it begins or ends: here, behind it. */
static CUresult record_events(const CUlaunchConfig *config, struct gd_stream *stream)
{
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];
		CUevent handle;
		if (attribute->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT)
			handle = attribute->value.programmaticEvent.event;
		else if (attribute->id == CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT)
			handle = attribute->value.launchCompletionEvent.event;
		else
			continue;
		struct gd_event *event = gd_object_get(handle, GD_TYPE_EVENT);
		if (!event)
			return CUDA_ERROR_INVALID_HANDLE;
		CUresult result = gd_capture_touches(stream) ? gd_capture_record(event, stream, 0)
							     : gd_event_record(event, stream);
		if (result != CUDA_SUCCESS)
			return result;
	}
	return CUDA_SUCCESS;
}

GD_API_PTSZ(cuLaunchKernelEx,
    (const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra),
    (config, function, parameters, extra))
{
	struct gd_stream *stream;
	bool cooperative;
	if (!config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = read_attributes(config, &cooperative);
	if (result != CUDA_SUCCESS)
		return result;
	const uint32_t dims[6] = {config->gridDimX, config->gridDimY, config->gridDimZ,
	    config->blockDimX, config->blockDimY, config->blockDimZ};
	result = launch_kernel(config->hStream, per_thread, function, dims, config->sharedMemBytes,
	    cooperative, parameters, extra);
	if (result != CUDA_SUCCESS || !config->numAttrs)
		return result;
	result = gd_stream_get(config->hStream, per_thread, &stream);
	return result == CUDA_SUCCESS ? record_events(config, stream) : result;
}

static CUresult host_function(CUstream handle, bool per_thread, CUhostFn function, void *user)
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_capture_touches(stream)) {
		struct gd_work work = {
		    .type = CU_GRAPH_NODE_TYPE_HOST, .host = {.fn = function, .userData = user}};
		result = gd_capture_add(stream, &work);
		if (result != CUDA_ERROR_NOT_READY)
			return result;
	}
	return gd_queue_host_function(stream, function, user) ? CUDA_SUCCESS
							      : CUDA_ERROR_OUT_OF_MEMORY;
}

GD_API_PTSZ(
    cuLaunchHostFunc, (CUstream stream, CUhostFn function, void *user), (stream, function, user))
{
	return host_function(stream, per_thread, function, user);
}

/* CUDA 13.1 added a mode of waiting, which makes no difference to a thread of our own. */
CUresult CUDAAPI cuLaunchHostFunc_v2(
    CUstream stream, CUhostFn function, void *user, unsigned int mode);
CUresult CUDAAPI cuLaunchHostFunc_v2_ptsz(
    CUstream stream, CUhostFn function, void *user, unsigned int mode);
GD_API_PTSZ(cuLaunchHostFunc_v2,
    (CUstream stream, CUhostFn function, void *user, unsigned int mode),
    (stream, function, user, mode))
{
	return host_function(stream, per_thread, function, user);
}

struct callback {
	CUstream stream;
	CUstreamCallback function;
	void *user;
};

static void call_back(void *argument)
{
	struct callback callback = *(struct callback *)argument;
	free(argument);
	callback.function(callback.stream, CUDA_SUCCESS, callback.user);
}

GD_API_PTSZ(cuStreamAddCallback,
    (CUstream handle, CUstreamCallback function, void *user, unsigned int flags),
    (handle, function, user, flags))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(handle, per_thread, &stream);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_stream(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!function || flags)
		return CUDA_ERROR_INVALID_VALUE;
	struct callback *callback = malloc(sizeof(*callback));
	if (!callback)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*callback = (struct callback){handle, function, user};
	if (gd_queue_host_function(stream, call_back, callback))
		return CUDA_SUCCESS;
	free(callback);
	return CUDA_ERROR_OUT_OF_MEMORY;
}
