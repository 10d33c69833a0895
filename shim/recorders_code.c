/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/names.h"
#include "shim/questions.h"
#include "shim/recorders.h"

/* ---- modules, libraries, functions ---- */

static void gs_module_at(const struct gs_call *call, enum gf_module_kind kind, uint64_t time,
    uint64_t module)
{
	uint16_t device = gs_device(call->thread);
	struct gf_module *record = GS_RECORD(call->thread, module);
	if (!record)
		return;
	record->time = time;
	record->duration = call->end - call->start;
	record->module = module;
	record->kind = kind;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	GS_PUBLISH(record, module);
}

void gs_rec_module_load(const struct gs_call *call, CUmodule *out, ...)
{
	gs_module_at(call, GF_MODULE_LOAD, call->end, GS_OK(call) ? GS_HANDLE(*out) : 0);
}

void gs_rec_library_load(const struct gs_call *call, CUlibrary *out, ...)
{
	gs_module_at(call, GF_MODULE_LOAD, call->end, GS_OK(call) ? GS_HANDLE(*out) : 0);
}

void gs_rec_module_unload(const struct gs_call *call, CUmodule module)
{
	gs_functions_forget();
	gs_module_at(call, GF_MODULE_UNLOAD, call->start, GS_HANDLE(module));
}

void gs_rec_library_unload(const struct gs_call *call, CUlibrary library)
{
	gs_functions_forget();
	gs_module_at(call, GF_MODULE_UNLOAD, call->start, GS_HANDLE(library));
}

void gs_rec_module_function(const struct gs_call *call, CUfunction *out, CUmodule module,
    const char *name)
{
	if (GS_OK(call) && out)
		gs_function_define(call, GS_HANDLE(module), GS_HANDLE(*out), name);
}

void gs_rec_library_kernel(const struct gs_call *call, CUkernel *out, CUlibrary library,
    const char *name)
{
	if (GS_OK(call) && out)
		gs_function_define(call, GS_HANDLE(library), GS_HANDLE(*out), name);
}

void gs_rec_kernel_function(const struct gs_call *call, CUfunction *out, CUkernel kernel)
{
	if (GS_OK(call) && out)
		gs_function_define(call, GS_HANDLE(kernel), GS_HANDLE(*out), NULL);
}

/* ---- contexts and the rest ---- */

static void gs_call_at(const struct gs_call *call, uint64_t time, uint64_t object, uint64_t value)
{
	uint16_t device = gs_device(call->thread);
	struct gf_call *record = GS_RECORD(call->thread, call);
	if (!record)
		return;
	record->time = time;
	record->duration = call->end - call->start;
	record->object = object;
	record->value = value;
	record->api = call->hook;
	record->status = call->status;
	record->device = device;
	GS_PUBLISH(record, call);
}

/*
 * A context switch is always seen, because it changes the device of what follows, but told only to
 * those who asked for API calls.
 */
static void gs_context_at(const struct gs_call *call, uint64_t time, uint64_t object)
{
	gs_device_changed();
	if (gs_live.classes & GS_CLASS_API)
		gs_call_at(call, time, object, 0);
}

void gs_rec_context_create(const struct gs_call *call, CUcontext *out, ...)
{
	gs_context_at(call, call->end, GS_OK(call) && out ? GS_HANDLE(*out) : 0);
}

void gs_rec_context_destroy(const struct gs_call *call, CUcontext context)
{
	gs_context_at(call, call->start, GS_HANDLE(context));
}

void gs_rec_context_set(const struct gs_call *call, CUcontext context)
{
	gs_context_at(call, call->start, GS_HANDLE(context));
}

void gs_rec_context_pop(const struct gs_call *call, CUcontext *out)
{
	gs_context_at(call, call->start, GS_OK(call) && out ? GS_HANDLE(*out) : 0);
}

void gs_rec_primary_retain(const struct gs_call *call, CUcontext *out, CUdevice device)
{
	gs_call_at(call, call->end, GS_OK(call) && out ? GS_HANDLE(*out) : 0, (uint64_t)device);
}

void gs_rec_primary_release(const struct gs_call *call, CUdevice device)
{
	gs_device_changed();
	if (gs_live.classes & GS_CLASS_API)
		gs_call_at(call, call->start, 0, (uint64_t)device);
}

void gs_rec_call_address(const struct gs_call *call, CUdeviceptr address, size_t bytes, ...)
{
	gs_call_at(call, call->start, address, bytes);
}

void gs_rec_call_object(const struct gs_call *call, const void *object, ...)
{
	gs_call_at(call, call->start, GS_HANDLE(object), 0);
}

void gs_rec_call_plain(const struct gs_call *call, ...)
{
	gs_call_at(call, call->start, 0, 0);
}

void gs_rec_graph_node(const struct gs_call *call, CUgraphNode *out, CUgraph graph, ...)
{
	gs_call_at(call, call->end, GS_HANDLE(graph), GS_OK(call) && out ? GS_HANDLE(*out) : 0);
}

/* The address is fixed here; memory is behind it while the graph runs. */
void gs_rec_graph_alloc_node(const struct gs_call *call, CUgraphNode *out, CUgraph graph,
    const CUgraphNode *before, size_t before_count, const CUDA_MEM_ALLOC_NODE_PARAMS *node)
{
	gs_call_at(call, call->end, GS_OK(call) && node ? node->dptr : 0, node ? node->bytesize : 0);
}

void gs_rec_graph_free_node(const struct gs_call *call, CUgraphNode *out, CUgraph graph,
    const CUgraphNode *before, size_t before_count, CUdeviceptr address)
{
	gs_call_at(call, call->start, address, 0);
}

void gs_rec_ipc_get(const struct gs_call *call, void *out, CUdeviceptr address)
{
	gs_call_at(call, call->end, address, 0);
}
