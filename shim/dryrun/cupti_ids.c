/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers by which records name contexts, streams, graphs; and what devices can do. */
#include <stdbool.h>
#include <stddef.h>

#include "cupti_faults.h"
#include "cupti_layout.h"
#include "driver_door.h"
#include "launcher_api.h"

/* Ask the driver for one figure of an object. */
static CUptiResult ask(const char *function, int version, void *object, uint64_t flags,
    uint64_t *out, CUptiResult refusal)
{
	CUresult (*call)(void *, unsigned long long *);
	unsigned long long found = 0;

	*(void **)&call = gd_driver_function(function, version, flags);
	if (!call || call(object, &found) != CUDA_SUCCESS)
		return refusal;
	*out = found;
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiGetContextId, (CUcontext context, uint32_t *id), (context, id))
{
	uint64_t found;
	CUptiResult result;

	if (!context || !id)
		return context ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_ERROR_INVALID_CONTEXT;
	result = ask("cuCtxGetId", 12000, context, 0, &found, CUPTI_ERROR_INVALID_CONTEXT);
	if (result == CUPTI_SUCCESS)
		*id = (uint32_t)found;
	return result;
}

/* Stream 0 is that of the current context, so a context that is given has to be current for it. */
static CUptiResult stream_id(CUcontext context, CUstream stream, bool per_thread, uint32_t *id)
{
	CUresult (*push)(CUcontext), (*pop)(CUcontext *);
	CUcontext popped;
	uint64_t found;
	CUptiResult result;

	if (!id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*(void **)&push = gd_driver_function("cuCtxPushCurrent", 4000, 0);
	*(void **)&pop = gd_driver_function("cuCtxPopCurrent", 4000, 0);
	if (!push || !pop || (context && push(context) != CUDA_SUCCESS))
		return CUPTI_ERROR_INVALID_CONTEXT;
	result = ask("cuStreamGetId", 12000, stream,
	    per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : 0, &found,
	    CUPTI_ERROR_INVALID_STREAM);
	if (context)
		pop(&popped);
	if (result == CUPTI_SUCCESS)
		*id = (uint32_t)found;
	return result;
}

GD_CUPTI(
    cuptiGetStreamId, (CUcontext context, CUstream stream, uint32_t *id), (context, stream, id))
{
	return stream_id(context, stream, false, id);
}

GD_CUPTI(cuptiGetStreamIdEx, (CUcontext context, CUstream stream, uint8_t per_thread, uint32_t *id),
    (context, stream, per_thread, id))
{
	return stream_id(context, stream, per_thread != 0, id);
}

GD_CUPTI(cuptiGetDeviceId, (CUcontext context, uint32_t *id), (context, id))
{
	CUresult (*push)(CUcontext), (*pop)(CUcontext *), (*get)(CUdevice *);
	CUcontext popped;
	CUdevice device = 0;
	CUresult result;

	if (!id)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*(void **)&push = gd_driver_function("cuCtxPushCurrent", 4000, 0);
	*(void **)&pop = gd_driver_function("cuCtxPopCurrent", 4000, 0);
	*(void **)&get = gd_driver_function("cuCtxGetDevice", 2000, 0);
	if (!push || !pop || !get || (context && push(context) != CUDA_SUCCESS))
		return CUPTI_ERROR_INVALID_CONTEXT;
	result = get(&device);
	if (context)
		pop(&popped);
	if (result != CUDA_SUCCESS)
		return CUPTI_ERROR_INVALID_CONTEXT;
	*id = (uint32_t)device;
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiDeviceSupported, (CUdevice device, int *support), (device, support))
{
	CUresult (*name)(char *, int, CUdevice);
	char text[8];

	if (!support)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*(void **)&name = gd_driver_function("cuDeviceGetName", 2000, 0);
	if (!name || name(text, sizeof(text), device) != CUDA_SUCCESS)
		return CUPTI_ERROR_INVALID_DEVICE;
	*support = 1;
	return CUPTI_SUCCESS;
}

/* ---- graphs ---- */

static uint64_t graph_id(enum gd_id_of id_of, void *handle)
{
	unsigned long long (*find)(int, void *);

	*(void **)&find = gd_driver_extra("gpushim_dryrun_graph_id");
	return find && handle ? find(id_of, handle) : 0;
}

static CUptiResult small_graph_id(enum gd_id_of id_of, void *handle, uint32_t *out)
{
	uint64_t id = graph_id(id_of, handle);

	if (!id || !out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out = (uint32_t)id;
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiGetGraphNodeId, (CUgraphNode node, uint64_t *out), (node, out))
{
	uint64_t id = graph_id(GD_ID_OF_NODE, node);

	if (!id || !out)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*out = id;
	return CUPTI_SUCCESS;
}

GD_CUPTI(cuptiGetGraphId, (CUgraph graph, uint32_t *out), (graph, out))
{
	return small_graph_id(GD_ID_OF_GRAPH, graph, out);
}

#if CUDA_VERSION >= 12000
GD_CUPTI(cuptiGetGraphExecId, (CUgraphExec exec, uint32_t *out), (exec, out))
{
	return small_graph_id(GD_ID_OF_EXEC, exec, out);
}
#endif
