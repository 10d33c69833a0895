/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/names.h"
#include "shim/questions.h"
#include "shim/recorders.h"

struct gs_launch_facts {
	CUfunction function;
	CUstream stream;
	uint32_t grid_x, grid_y, grid_z;
	uint32_t block_x, block_y, block_z;
	uint32_t shared_bytes, cluster_size, flags;
};

static GS_HOT void gs_launch_at(const struct gs_call *call, const struct gs_launch_facts *facts)
{
	uint16_t device = gs_device(call->thread);
	uint32_t captured = gs_captured_flag(call, facts->stream);
	gs_function_seen(call, GS_HANDLE(facts->function), captured);
	struct gf_launch *record = GS_RECORD(call->thread, launch);
	if (!record)
		return;
	record->time = call->start;
	record->duration = call->end - call->start;
	record->function = GS_HANDLE(facts->function);
	record->stream = GS_HANDLE(facts->stream);
	record->grid_x = facts->grid_x;
	record->grid_y = facts->grid_y;
	record->grid_z = facts->grid_z;
	record->shared_bytes = facts->shared_bytes;
	record->block_x = (uint16_t)facts->block_x;
	record->block_y = (uint16_t)facts->block_y;
	record->block_z = (uint16_t)facts->block_z;
	record->cluster_size = (uint16_t)facts->cluster_size;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	record->flags = call->flags | facts->flags | captured | GF_FLAG_ASYNC;
	GS_PUBLISH(record, launch);
}

GS_HOT void gs_rec_launch(const struct gs_call *call, CUfunction function, unsigned grid_x,
    unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_bytes, CUstream stream, void **parameters, void **extra)
{
	struct gs_launch_facts facts = {function, stream, grid_x, grid_y, grid_z, block_x, block_y,
	    block_z, shared_bytes, 1, 0};
	gs_launch_at(call, &facts);
}

void gs_rec_launch_cooperative(const struct gs_call *call, CUfunction function, unsigned grid_x,
    unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_bytes, CUstream stream, void **parameters)
{
	struct gs_launch_facts facts = {function, stream, grid_x, grid_y, grid_z, block_x, block_y,
	    block_z, shared_bytes, 1, GF_FLAG_COOPERATIVE};
	gs_launch_at(call, &facts);
}

void gs_rec_launch_ex(const struct gs_call *call, const CUlaunchConfig *config,
    CUfunction function, void **parameters, void **extra)
{
	if (!config)
		return;
	struct gs_launch_facts facts = {function, config->hStream, config->gridDimX,
	    config->gridDimY, config->gridDimZ, config->blockDimX, config->blockDimY,
	    config->blockDimZ, config->sharedMemBytes, 1, 0};
	for (unsigned i = 0; config->attrs && i < config->numAttrs; i++) {
		const CUlaunchAttribute *a = &config->attrs[i];
		if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a->value.cooperative)
			facts.flags |= GF_FLAG_COOPERATIVE;
		else if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			facts.cluster_size =
			    a->value.clusterDim.x * a->value.clusterDim.y * a->value.clusterDim.z;
	}
	gs_launch_at(call, &facts);
}

void gs_rec_launch_many(const struct gs_call *call, CUDA_LAUNCH_PARAMS *launches, unsigned count,
    unsigned flags)
{
	for (unsigned i = 0; launches && i < count; i++) {
		const CUDA_LAUNCH_PARAMS *l = &launches[i];
		struct gs_launch_facts facts = {l->function, l->hStream, l->gridDimX, l->gridDimY,
		    l->gridDimZ, l->blockDimX, l->blockDimY, l->blockDimZ, l->sharedMemBytes, 1,
		    GF_FLAG_COOPERATIVE | GF_FLAG_BATCH_ENTRY};
		gs_launch_at(call, &facts);
	}
}

/* The oldest way: the block shape was set on the function before and is not known here. */
void gs_rec_launch_grid_async(const struct gs_call *call, CUfunction function, int width,
    int height, CUstream stream)
{
	struct gs_launch_facts facts = {.function = function, .stream = stream,
	    .grid_x = (uint32_t)width, .grid_y = (uint32_t)height, .grid_z = 1, .cluster_size = 1};
	gs_launch_at(call, &facts);
}

void gs_rec_launch_grid(const struct gs_call *call, CUfunction function, int width, int height)
{
	gs_rec_launch_grid_async(call, function, width, height, NULL);
}

void gs_rec_launch_default(const struct gs_call *call, CUfunction function)
{
	gs_rec_launch_grid_async(call, function, 1, 1, NULL);
}

/* ---- graphs ---- */

struct gs_graph_facts {
	uint64_t graph, executable;
	CUstream stream;
	uint32_t flags;
};

static void gs_graph_at(const struct gs_call *call, enum gf_graph_kind kind, uint64_t time,
    struct gs_graph_facts facts)
{
	uint16_t device = gs_device(call->thread);
	struct gf_graph *record = GS_RECORD(call->thread, graph);
	if (!record)
		return;
	record->time = time;
	record->duration = call->end - call->start;
	record->graph = facts.graph;
	record->executable = facts.executable;
	record->stream = GS_HANDLE(facts.stream);
	record->flags = call->flags | facts.flags;
	record->kind = kind;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	GS_PUBLISH(record, graph);
}

#define GS_GRAPH(call, kind, time, ...) \
	gs_graph_at((call), GF_GRAPH_##kind, (call)->time, (struct gs_graph_facts){__VA_ARGS__})

void gs_rec_capture_begin(const struct gs_call *call, CUstream stream, ...)
{
	if (GS_OK(call))
		gs_capture_count(1);
	GS_GRAPH(call, CAPTURE_BEGIN, end, .stream = stream);
}

void gs_rec_capture_begin_to_graph(const struct gs_call *call, CUstream stream, CUgraph graph,
    ...)
{
	if (GS_OK(call))
		gs_capture_count(1);
	GS_GRAPH(call, CAPTURE_BEGIN, end, .stream = stream, .graph = GS_HANDLE(graph));
}

void gs_rec_capture_end(const struct gs_call *call, CUstream stream, CUgraph *out)
{
	/* Any other failure also ends the capture: it had been invalidated. */
	if (call->status != CUDA_ERROR_ILLEGAL_STATE &&
	    call->status != CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD)
		gs_capture_count(-1);
	GS_GRAPH(call, CAPTURE_END, end, .stream = stream,
	    .graph = GS_OK(call) && out ? GS_HANDLE(*out) : 0);
}

void gs_rec_graph_instantiate(const struct gs_call *call, CUgraphExec *out, CUgraph graph, ...)
{
	GS_GRAPH(call, INSTANTIATE, end, .graph = GS_HANDLE(graph),
	    .executable = GS_OK(call) ? GS_HANDLE(*out) : 0);
}

void gs_rec_graph_launch(const struct gs_call *call, CUgraphExec executable, CUstream stream)
{
	GS_GRAPH(call, LAUNCH, start, .executable = GS_HANDLE(executable), .stream = stream,
	    .flags = GF_FLAG_ASYNC | gs_captured_flag(call, stream));
}

void gs_rec_graph_upload(const struct gs_call *call, CUgraphExec executable, CUstream stream)
{
	GS_GRAPH(call, UPLOAD, start, .executable = GS_HANDLE(executable), .stream = stream,
	    .flags = GF_FLAG_ASYNC);
}

void gs_rec_graph_update(const struct gs_call *call, CUgraphExec executable, CUgraph graph, ...)
{
	GS_GRAPH(call, UPDATE, end, .executable = GS_HANDLE(executable), .graph = GS_HANDLE(graph));
}

void gs_rec_graph_exec_node(const struct gs_call *call, CUgraphExec executable, ...)
{
	GS_GRAPH(call, UPDATE, end, .executable = GS_HANDLE(executable));
}

void gs_rec_graph_destroy(const struct gs_call *call, CUgraph graph)
{
	GS_GRAPH(call, DESTROY, start, .graph = GS_HANDLE(graph));
}

void gs_rec_graph_exec_destroy(const struct gs_call *call, CUgraphExec executable)
{
	GS_GRAPH(call, EXEC_DESTROY, start, .executable = GS_HANDLE(executable));
}
