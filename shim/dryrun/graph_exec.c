/* SPDX-License-Identifier: Apache-2.0 */
/* Executable graphs: made from a graph, launched, changed node by node or as a whole. */
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/capture_parts.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/events.h"
#include "shim/dryrun/graph_memory.h"
#include "shim/dryrun/graph_work.h"
#include "shim/dryrun/launcher_api.h"
#include "shim/dryrun/memory_pools.h"
#include "shim/dryrun/stream_queue.h"
#include "shim/dryrun/streams.h"

#define KNOWN_FLAGS \
	(CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD | \
	    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

/* A step of the launch; those of child graphs are in line with the others. */
struct step {
	struct gd_work work;
	const struct gd_node *node; /* that it was made from; only compared */
	uint64_t node_id;
	bool off; /* cuGraphNodeSetEnabled */
};

struct gd_exec {
	struct gd_object object;
	uint64_t id;
	uint64_t flags;
	struct step *steps;
	uint32_t step_count, step_room;
	/* Of every node, child graphs included: how many nodes are in it, how many dependencies it
	 * has, and their places. */
	uint32_t *shape;
	uint32_t shape_count, shape_room;
	struct gd_references held; /* of the graph and its child graphs */
};
_Static_assert(sizeof(struct gd_exec) <= GD_CELL_BYTES, "an executable graph fits in a cell");

static struct gd_exec *get(CUgraphExec handle)
{
	return gd_object_get(handle, GD_TYPE_EXEC);
}

static bool add_step(struct gd_exec *exec, const struct gd_node *node)
{
	if (exec->step_count == exec->step_room) {
		uint32_t room = exec->step_room ? exec->step_room * 2 : 16;
		void *more = realloc(exec->steps, room * sizeof(*exec->steps));
		if (!more)
			return false;
		exec->steps = more;
		exec->step_room = room;
	}
	struct step *step = &exec->steps[exec->step_count];
	*step = (struct step){.node = node, .node_id = node->id};
	if (!gd_work_copy(&step->work, &node->work))
		return false;
	exec->step_count++;
	return true;
}

static int by_number(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return (left > right) - (left < right);
}

/* The nodes have their places; edges have no order. */
static bool add_shape(struct gd_exec *exec, const struct gd_node *node)
{
	const struct gd_work *work = &node->work;
	uint32_t need = exec->shape_count + 2 + node->dependency_count;
	if (need > exec->shape_room) {
		void *more = realloc(exec->shape, need * 2 * sizeof(*exec->shape));
		if (!more)
			return false;
		exec->shape = more;
		exec->shape_room = need * 2;
	}
	uint32_t *next = &exec->shape[exec->shape_count];
	*next++ = work->type == CU_GRAPH_NODE_TYPE_GRAPH ? work->child->node_count : 0;
	*next++ = node->dependency_count;
	for (uint32_t i = 0; i < node->dependency_count; i++)
		next[i] = node->dependencies[i]->mark;
	qsort(next, node->dependency_count, sizeof(*next), by_number);
	exec->shape_count = need;
	return true;
}

/* @return CUDA_ERROR_INVALID_VALUE for a circle */
static CUresult add_graph(struct gd_exec *exec, struct gd_graph *graph)
{
	struct gd_node **order = malloc((graph->node_count + 1) * sizeof(*order));
	CUresult result = CUDA_SUCCESS;
	if (!order || !gd_references_copy(&exec->held, &graph->held))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	else if (!gd_graph_order(graph, order))
		result = CUDA_ERROR_INVALID_VALUE;
	for (uint32_t i = 0; i < graph->node_count && result == CUDA_SUCCESS; i++) {
		if (!add_shape(exec, order[i]))
			result = CUDA_ERROR_OUT_OF_MEMORY;
		else if (order[i]->work.type == CU_GRAPH_NODE_TYPE_GRAPH)
			result = add_graph(exec, order[i]->work.child);
		else if (!add_step(exec, order[i]))
			result = CUDA_ERROR_OUT_OF_MEMORY;
	}
	free(order);
	return result;
}

static void drop_contents(struct gd_exec *exec)
{
	for (uint32_t i = 0; i < exec->step_count; i++)
		gd_work_drop(&exec->steps[i].work);
	free(exec->steps);
	exec->steps = NULL;
	exec->step_count = exec->step_room = 0;
	free(exec->shape);
	exec->shape = NULL;
	gd_references_drop(&exec->held);
}

static CUresult instantiate(CUgraphExec *exec_out, CUgraph handle, unsigned long long flags)
{
	struct gd_graph *graph = gd_graph_get(handle);
	if (!exec_out || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	if (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (flags & ~(unsigned long long)KNOWN_FLAGS)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_exec *exec = gd_object_new(GD_TYPE_EXEC);
	if (!exec)
		return CUDA_ERROR_OUT_OF_MEMORY;
	exec->id = gd_next_id();
	exec->flags = flags;
	pthread_mutex_lock(&gd_graph_lock);
	CUresult result = add_graph(exec, graph);
	if (result != CUDA_SUCCESS)
		drop_contents(exec);
	gd_graph_unlock();
	if (result != CUDA_SUCCESS) {
		gd_object_free(exec, GD_TYPE_EXEC);
		return result;
	}
	gd_object_publish(exec, GD_TYPE_EXEC);
	*exec_out = (CUgraphExec)exec;
	return CUDA_SUCCESS;
}

static CUresult instantiate_logged(
    CUgraphExec *exec_out, CUgraph graph, CUgraphNode *error_out, char *log, size_t room)
{
	if (error_out)
		*error_out = NULL;
	if (log && room)
		*log = 0;
	return instantiate(exec_out, graph, 0);
}

GD_API(cuGraphInstantiate,
    (CUgraphExec * exec_out, CUgraph graph, CUgraphNode *error_out, char *log, size_t room),
    (exec_out, graph, error_out, log, room))
{
	return instantiate_logged(exec_out, graph, error_out, log, room);
}

GD_API(cuGraphInstantiate_v2,
    (CUgraphExec * exec_out, CUgraph graph, CUgraphNode *error_out, char *log, size_t room),
    (exec_out, graph, error_out, log, room))
{
	return instantiate_logged(exec_out, graph, error_out, log, room);
}

GD_API(cuGraphInstantiateWithFlags,
    (CUgraphExec * exec_out, CUgraph graph, unsigned long long flags), (exec_out, graph, flags))
{
	return instantiate(exec_out, graph, flags);
}

GD_API_PTSZ(cuGraphInstantiateWithParams,
    (CUgraphExec * exec_out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *parameters),
    (exec_out, graph, parameters))
{
	if (!parameters)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = instantiate(exec_out, graph, parameters->flags);
	parameters->hErrNode_out = NULL;
	parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS
				 : result == CUDA_ERROR_INVALID_VALUE
				     ? CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE
				     : CUDA_GRAPH_INSTANTIATE_ERROR;
	return result;
}

GD_API(cuGraphExecGetFlags, (CUgraphExec handle, cuuint64_t *flags_out), (handle, flags_out))
{
	const struct gd_exec *exec = get(handle);
	if (!exec || !flags_out)
		return CUDA_ERROR_INVALID_VALUE;
	*flags_out = exec->flags;
	return CUDA_SUCCESS;
}

GD_API(cuGraphExecDestroy, (CUgraphExec handle), (handle))
{
	struct gd_exec *exec = get(handle);
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	drop_contents(exec);
	gd_graph_unlock();
	gd_object_free(exec, GD_TYPE_EXEC);
	return CUDA_SUCCESS;
}

GD_EXPORT unsigned long long gpushim_dryrun_graph_id(int id_of, void *handle)
{
	const struct gd_graph *graph = gd_graph_get(handle);
	const struct gd_node *node = gd_node_get(handle);
	const struct gd_exec *exec = get(handle);
	switch ((enum gd_id_of)id_of) {
	case GD_ID_OF_GRAPH:
		return graph ? graph->id : 0;
	case GD_ID_OF_NODE:
		return node ? node->id : 0;
	case GD_ID_OF_EXEC:
		return exec ? exec->id : 0;
	}
	return 0;
}

/* ---- launch ---- */

static void free_memory(CUdeviceptr address)
{
	struct gd_block *block = gd_space_block(address);
	if (!block || block->base != address || block->kind != GD_BLOCK_POOLED)
		return;
	if (block->graph_memory)
		gd_graph_memory_free(block->graph_memory);
	else
		gd_pool_give_block(block);
}

/* What the graph allocates must be free, unless it was made to free it by itself. */
static bool memory_free(const struct gd_exec *exec)
{
	for (uint32_t i = 0; i < exec->step_count; i++) {
		const struct gd_work *work = &exec->steps[i].work;
		if (work->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && work->memory->in_use)
			return exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
	}
	return true;
}

/* A launch in progress. */
struct launch {
	struct gd_stream *stream;
	uint64_t id;	   /* of the executable graph */
	uint64_t begun_ns; /* for all nodes: the device gets them together */
};

static void describe_step(
    const struct launch *launch, const struct step *step, struct gd_operation *operation)
{
	operation->graph_exec_id = launch->id;
	operation->node_id = step->node_id;
	operation->enqueued_ns = launch->begun_ns;
	operation->asynchronous = 1;
}

static void enqueue(const struct launch *launch, const struct step *step,
    struct gd_operation *operation, gd_effect effect, const void *argument, size_t argument_bytes)
{
	describe_step(launch, step, operation);
	gd_enqueue(launch->stream, operation, effect, argument, argument_bytes);
}

static void enqueue_kernel(const struct launch *launch, const struct step *step)
{
	const struct gd_launch *kernel = &step->work.kernel;
	struct gd_operation operation;
	gd_launch_describe(kernel, &operation);
	if (kernel->meeting) {
		describe_step(launch, step, &operation);
		gd_queue_meeting(launch->stream, &operation, kernel->meeting);
		return;
	}
	enqueue(launch, step, &operation, kernel->job ? gd_model_run : NULL, kernel->job,
	    kernel->job_bytes);
}

static void launch_step(const struct launch *launch, const struct step *step)
{
	const struct gd_work *work = &step->work;
	struct gd_stream *stream = launch->stream;
	struct gd_operation operation;
	struct gd_event *event;
	switch (work->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		enqueue_kernel(launch, step);
		break;
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		gd_copy_describe(&work->copy, &operation);
		enqueue(launch, step, &operation, gd_copy_effect, &work->copy, sizeof(work->copy));
		break;
	case CU_GRAPH_NODE_TYPE_MEMSET:
		gd_memset_describe(&work->set, &operation);
		enqueue(launch, step, &operation, gd_memset_effect, &work->set, sizeof(work->set));
		break;
	case CU_GRAPH_NODE_TYPE_HOST:
		gd_queue_host_function(stream, work->host.fn, work->host.userData);
		break;
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		event = gd_object_get(work->event, GD_TYPE_EVENT);
		if (event)
			gd_event_record(event, stream);
		break;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		event = gd_object_get(work->event, GD_TYPE_EVENT);
		if (event)
			gd_event_await(event, stream);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		free_memory(work->address);
		break;
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		gd_graph_memory_use(work->memory);
		break;
	default:
		break;
	}
}

/* What a graph launched into a captured stream does is captured step by step: the graph that it was
 * made from may be gone. */
static CUresult launch_captured(const struct gd_exec *exec, struct gd_stream *stream)
{
	CUresult result = CUDA_SUCCESS;
	for (uint32_t i = 0; i < exec->step_count && result == CUDA_SUCCESS; i++) {
		struct gd_work work;
		if (exec->steps[i].off)
			continue;
		pthread_mutex_lock(&gd_graph_lock);
		bool copied = gd_work_copy(&work, &exec->steps[i].work);
		pthread_mutex_unlock(&gd_graph_lock);
		result = copied ? gd_capture_add(stream, &work) : CUDA_ERROR_OUT_OF_MEMORY;
		if (copied && result != CUDA_SUCCESS) {
			pthread_mutex_lock(&gd_graph_lock);
			gd_work_drop(&work);
			gd_graph_unlock();
		}
	}
	pthread_mutex_lock(&gd_graph_lock);
	if (result == CUDA_SUCCESS && stream->capture &&
	    !gd_references_copy(&stream->capture->graph->held, &exec->held))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

GD_API_PTSZ(cuGraphLaunch, (CUgraphExec handle, CUstream stream_handle), (handle, stream_handle))
{
	struct gd_exec *exec = get(handle);
	struct gd_stream *stream;
	CUresult result = gd_stream_get(stream_handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (!exec)
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_capture_touches(stream)) {
		result = launch_captured(exec, stream);
		if (result != CUDA_ERROR_NOT_READY)
			return result;
	}
	pthread_mutex_lock(&gd_graph_lock);
	result = memory_free(exec) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	struct launch launch = {stream, exec->id, gd_operations_simple() ? 0 : gd_now_ns()};
	for (uint32_t i = 0; i < exec->step_count && result == CUDA_SUCCESS; i++) {
		if (!exec->steps[i].off)
			launch_step(&launch, &exec->steps[i]);
	}
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

GD_API_PTSZ(cuGraphUpload, (CUgraphExec handle, CUstream stream_handle), (handle, stream_handle))
{
	struct gd_stream *stream;
	CUresult result = gd_stream_get(stream_handle, per_thread, &stream);
	if (result != CUDA_SUCCESS)
		return result;
	return get(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- changes ---- */

static struct step *step_of(struct gd_exec *exec, CUgraphNode handle)
{
	const struct gd_node *node = gd_node_get(handle);
	for (uint32_t i = 0; exec && node && i < exec->step_count; i++) {
		if (exec->steps[i].node == node && exec->steps[i].node_id == node->id)
			return &exec->steps[i];
	}
	return NULL;
}

static CUresult change(CUgraphExec handle, CUgraphNode node, CUgraphNodeType type, CUresult built,
    struct gd_work *work)
{
	if (built != CUDA_SUCCESS)
		return built;
	pthread_mutex_lock(&gd_graph_lock);
	struct step *step = step_of(get(handle), node);
	CUresult result = gd_work_replace(step ? &step->work : NULL, type, work);
	gd_graph_unlock();
	return result;
}

GD_API(cuGraphExecKernelNodeSetParams,
    (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS_v1 *p), (exec, node, p))
{
	struct gd_work work;
	return change(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, gd_work_kernel_v1(p, &work), &work);
}

GD_API(cuGraphExecKernelNodeSetParams_v2,
    (CUgraphExec exec, CUgraphNode node, const CUDA_KERNEL_NODE_PARAMS *p), (exec, node, p))
{
	struct gd_work work;
	return change(exec, node, CU_GRAPH_NODE_TYPE_KERNEL, gd_work_kernel(p, &work), &work);
}

GD_API(cuGraphExecMemcpyNodeSetParams,
    (CUgraphExec exec, CUgraphNode node, const CUDA_MEMCPY3D *p, CUcontext context),
    (exec, node, p, context))
{
	struct gd_work work;
	return change(exec, node, CU_GRAPH_NODE_TYPE_MEMCPY, gd_work_copy3d(p, &work), &work);
}

GD_API(cuGraphExecMemsetNodeSetParams,
    (CUgraphExec exec, CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS *p, CUcontext context),
    (exec, node, p, context))
{
	struct gd_work work;
	return change(exec, node, CU_GRAPH_NODE_TYPE_MEMSET, gd_work_memset(p, &work), &work);
}

GD_API(cuGraphExecHostNodeSetParams,
    (CUgraphExec exec, CUgraphNode node, const CUDA_HOST_NODE_PARAMS *p), (exec, node, p))
{
	struct gd_work work;
	return change(exec, node, CU_GRAPH_NODE_TYPE_HOST, gd_work_host(p, &work), &work);
}

GD_API(cuGraphExecEventRecordNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event),
    (exec, node, event))
{
	struct gd_work work;
	const CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EVENT_RECORD;
	return change(exec, node, type, gd_work_event(event, type, &work), &work);
}

GD_API(cuGraphExecEventWaitNodeSetEvent, (CUgraphExec exec, CUgraphNode node, CUevent event),
    (exec, node, event))
{
	struct gd_work work;
	const CUgraphNodeType type = CU_GRAPH_NODE_TYPE_WAIT_EVENT;
	return change(exec, node, type, gd_work_event(event, type, &work), &work);
}

GD_API(cuGraphExecNodeSetParams,
    (CUgraphExec exec, CUgraphNode node, CUgraphNodeParams *parameters), (exec, node, parameters))
{
	struct gd_work work;
	if (!parameters)
		return CUDA_ERROR_INVALID_VALUE;
	if (parameters->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
	    parameters->type == CU_GRAPH_NODE_TYPE_GRAPH)
		return CUDA_ERROR_NOT_SUPPORTED;
	return change(exec, node, parameters->type, gd_work_any(parameters, &work), &work);
}

static bool can_be_off(CUgraphNodeType type)
{
	return type == CU_GRAPH_NODE_TYPE_KERNEL || type == CU_GRAPH_NODE_TYPE_MEMCPY ||
	       type == CU_GRAPH_NODE_TYPE_MEMSET;
}

GD_API(cuGraphNodeSetEnabled, (CUgraphExec handle, CUgraphNode node, unsigned int enabled),
    (handle, node, enabled))
{
	struct step *step = step_of(get(handle), node);
	if (!step || !can_be_off(step->work.type))
		return CUDA_ERROR_INVALID_VALUE;
	step->off = !enabled;
	return CUDA_SUCCESS;
}

GD_API(cuGraphNodeGetEnabled, (CUgraphExec handle, CUgraphNode node, unsigned int *enabled_out),
    (handle, node, enabled_out))
{
	const struct step *step = step_of(get(handle), node);
	if (!step || !enabled_out || !can_be_off(step->work.type))
		return CUDA_ERROR_INVALID_VALUE;
	*enabled_out = !step->off;
	return CUDA_SUCCESS;
}

/* What keeps an executable graph from becoming like another one, step by step. */
static CUgraphExecUpdateResult compare(
    const struct gd_exec *exec, const struct gd_exec *other, CUgraphNode *node_out)
{
	if (exec->step_count != other->step_count || exec->shape_count != other->shape_count ||
	    (exec->shape_count &&
		memcmp(exec->shape, other->shape, exec->shape_count * sizeof(*exec->shape)) != 0))
		return CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
	for (uint32_t i = 0; i < exec->step_count; i++) {
		const struct gd_work *old = &exec->steps[i].work, *new = &other->steps[i].work;
		*node_out = (CUgraphNode)(uintptr_t)other->steps[i].node;
		if (old->type != new->type)
			return CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED;
		if (old->type == CU_GRAPH_NODE_TYPE_KERNEL &&
		    old->kernel.function->device != new->kernel.function->device)
			return CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE;
		if (old->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
		    old->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
			return CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED;
	}
	*node_out = NULL;
	return CU_GRAPH_EXEC_UPDATE_SUCCESS;
}

static CUresult update(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResult *why_out,
    CUgraphNode *node_out)
{
	struct gd_exec *exec = get(handle), fresh;
	struct gd_graph *graph = gd_graph_get(graph_handle);
	*why_out = CU_GRAPH_EXEC_UPDATE_ERROR;
	*node_out = NULL;
	if (!exec || !graph)
		return CUDA_ERROR_INVALID_VALUE;
	memset(&fresh, 0, sizeof(fresh));
	pthread_mutex_lock(&gd_graph_lock);
	CUresult result = add_graph(&fresh, graph);
	if (result == CUDA_SUCCESS) {
		*why_out = compare(exec, &fresh, node_out);
		if (*why_out != CU_GRAPH_EXEC_UPDATE_SUCCESS)
			result = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	}
	for (uint32_t i = 0; result == CUDA_SUCCESS && i < exec->step_count; i++) {
		/* The step goes on to be known by the node that it was made from first. */
		struct gd_work before = exec->steps[i].work;
		exec->steps[i].work = fresh.steps[i].work;
		fresh.steps[i].work = before;
	}
	if (result == CUDA_SUCCESS) {
		struct gd_references before = exec->held;
		exec->held = fresh.held;
		fresh.held = before;
	}
	drop_contents(&fresh);
	gd_graph_unlock();
	return result;
}

GD_API(cuGraphExecUpdate,
    (CUgraphExec exec, CUgraph graph, CUgraphNode *node_out, CUgraphExecUpdateResult *why_out),
    (exec, graph, node_out, why_out))
{
	CUgraphExecUpdateResult why;
	CUgraphNode node;
	CUresult result = update(exec, graph, &why, &node);
	if (node_out)
		*node_out = node;
	if (why_out)
		*why_out = why;
	return result;
}

GD_API(cuGraphExecUpdate_v2,
    (CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info_out),
    (exec, graph, info_out))
{
	CUgraphExecUpdateResult why;
	CUgraphNode node;
	CUresult result = update(exec, graph, &why, &node);
	if (info_out)
		*info_out = (CUgraphExecUpdateResultInfo){.result = why, .errorNode = node};
	return result;
}
