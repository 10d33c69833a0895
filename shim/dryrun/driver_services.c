/* SPDX-License-Identifier: Apache-2.0 */
/* Around the device: error logs, profiler switches, tensor maps, pictures of graphs. */
#include <stdio.h>
#include <string.h>

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/graphs.h"
#include "shim/dryrun/profiler_api.h"

/* ---- logs: this driver writes none, so callbacks are never called and dumps are empty ---- */

static char log_handles; /* its address is the handle that registering gives */

GD_API_EARLY(cuLogsRegisterCallback,
    (CUlogsCallback function, void *user, CUlogsCallbackHandle *handle_out),
    (function, user, handle_out))
{
	if (!function)
		return CUDA_ERROR_INVALID_VALUE;
	if (handle_out)
		*handle_out = (CUlogsCallbackHandle)(void *)&log_handles;
	return CUDA_SUCCESS;
}

GD_API_EARLY(cuLogsUnregisterCallback, (CUlogsCallbackHandle handle), (handle))
{
	return (void *)handle == (void *)&log_handles ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

GD_API_EARLY(
    cuLogsCurrent, (CUlogIterator * iterator_out, unsigned int flags), (iterator_out, flags))
{
	if (!iterator_out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*iterator_out = 0;
	return CUDA_SUCCESS;
}

GD_API_EARLY(cuLogsDumpToMemory,
    (CUlogIterator * iterator, char *buffer, size_t *bytes, unsigned int flags),
    (iterator, buffer, bytes, flags))
{
	if (!buffer || !bytes || !*bytes || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*buffer = 0;
	*bytes = 0;
	return CUDA_SUCCESS;
}

/* ---- the switches of an external profiler, which would listen to them ---- */

GD_API(cuProfilerStart, (void), ())
{
	return gd_context_current() ? CUDA_SUCCESS : gd_context_error();
}

GD_API(cuProfilerStop, (void), ())
{
	return gd_context_current() ? CUDA_SUCCESS : gd_context_error();
}

/* ---- tensor maps: only kernels read them, so an empty one does ---- */

static CUresult make_map(CUtensorMap *map_out, CUtensorMapDataType type, cuuint32_t rank,
    const void *address, const cuuint64_t *sizes)
{
	if (!map_out || !rank || rank > 5 || !sizes || (uintptr_t)map_out % 64 ||
	    (uintptr_t)address % 16 || (unsigned)type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B)
		return CUDA_ERROR_INVALID_VALUE;
	for (cuuint32_t i = 0; i < rank; i++) {
		if (!sizes[i] || sizes[i] > UINT64_C(1) << 32)
			return CUDA_ERROR_INVALID_VALUE;
	}
	memset(map_out, 0, sizeof(*map_out));
	return CUDA_SUCCESS;
}

GD_API(cuTensorMapEncodeTiled,
    (CUtensorMap * map_out, CUtensorMapDataType type, cuuint32_t rank, void *address,
	const cuuint64_t *sizes, const cuuint64_t *strides, const cuuint32_t *box,
	const cuuint32_t *element_strides, CUtensorMapInterleave interleave,
	CUtensorMapSwizzle swizzle, CUtensorMapL2promotion promotion, CUtensorMapFloatOOBfill fill),
    (map_out, type, rank, address, sizes, strides, box, element_strides, interleave, swizzle,
	promotion, fill))
{
	if (!box || !element_strides || (rank > 1 && !strides))
		return CUDA_ERROR_INVALID_VALUE;
	return make_map(map_out, type, rank, address, sizes);
}

GD_API(cuTensorMapReplaceAddress, (CUtensorMap * map, void *address), (map, address))
{
	return map && (uintptr_t)address % 16 == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- graphs as pictures ---- */

static const char *type_name(CUgraphNodeType type)
{
	static const char *const names[] = {"kernel", "copy", "memset", "host function", "graph",
	    "empty", "wait for event", "record event", "signal", "wait", "allocation", "free"};
	return (unsigned)type < sizeof(names) / sizeof(names[0]) ? names[type] : "node";
}

static void write_node(FILE *out, const struct gd_node *node)
{
	const struct gd_work *work = &node->work;
	unsigned long long id = node->id;
	fprintf(out, "\tn%llu [label=\"%s", id, type_name(work->type));
	if (work->type == CU_GRAPH_NODE_TYPE_KERNEL)
		fprintf(out, "\\n%s", work->kernel.function->name);
	fprintf(out, "\"];\n");
	for (uint32_t i = 0; i < node->dependency_count; i++)
		fprintf(
		    out, "\tn%llu -> n%llu;\n", (unsigned long long)node->dependencies[i]->id, id);
}

GD_API(cuGraphDebugDotPrint, (CUgraph handle, const char *path, unsigned int flags),
    (handle, path, flags))
{
	const struct gd_graph *graph = gd_graph_get(handle);
	FILE *out = graph && path ? fopen(path, "we") : NULL;
	if (!graph || !path)
		return CUDA_ERROR_INVALID_VALUE;
	if (!out)
		return CUDA_ERROR_OPERATING_SYSTEM;
	pthread_mutex_lock(&gd_graph_lock);
	fprintf(out, "digraph graph_%llu {\n", (unsigned long long)graph->id);
	for (const struct gd_node *node = graph->first; node; node = node->next)
		write_node(out, node);
	fprintf(out, "}\n");
	pthread_mutex_unlock(&gd_graph_lock);
	return fclose(out) == 0 ? CUDA_SUCCESS : CUDA_ERROR_OPERATING_SYSTEM;
}
