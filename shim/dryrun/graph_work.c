/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/graph_work.h"

#include <string.h>

#include "shim/dryrun/copy_3d.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/graph_memory.h"
#include "shim/dryrun/visible_devices.h"

CUresult gd_work_kernel(const CUDA_KERNEL_NODE_PARAMS *p, struct gd_work *work_out)
{
	if (!p)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_KERNEL};
	struct gd_launch *launch = &work.kernel;
	launch->function = gd_function_get(p->func ? p->func : (CUfunction)p->kern);
	if (!launch->function)
		return CUDA_ERROR_INVALID_HANDLE;
	const uint32_t grid[3] = {p->gridDimX, p->gridDimY, p->gridDimZ};
	const uint32_t block[3] = {p->blockDimX, p->blockDimY, p->blockDimZ};
	memcpy(launch->grid, grid, sizeof(grid));
	memcpy(launch->block, block, sizeof(block));
	launch->shared_bytes = p->sharedMemBytes;
	CUresult result = gd_launch_check(launch);
	if (result != CUDA_SUCCESS)
		return result;
	struct gd_model_job job;
	gd_launch_gather(launch, p->kernelParams, p->extra, &job);
	if (!gd_launch_keep(launch))
		return CUDA_ERROR_OUT_OF_MEMORY;
	*work_out = work;
	return CUDA_SUCCESS;
}

/* The first version of the struct ends before `kern`. */
CUresult gd_work_kernel_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *p, struct gd_work *work_out)
{
	CUDA_KERNEL_NODE_PARAMS wide = {.func = NULL};
	if (p)
		memcpy(&wide, p, sizeof(*p));
	return gd_work_kernel(p ? &wide : NULL, work_out);
}

CUresult gd_work_copy3d(const CUDA_MEMCPY3D *p, struct gd_work *work_out)
{
	struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_MEMCPY};
	CUresult result = p ? gd_copy_from_3d(p, &work.copy) : CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS && gd_copy_bytes(&work.copy))
		result = gd_copy_check(&work.copy);
	if (result == CUDA_SUCCESS)
		*work_out = work;
	return result;
}

CUresult gd_work_memset(const CUDA_MEMSET_NODE_PARAMS *p, struct gd_work *work_out)
{
	if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
	    !p->width || !p->height)
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_work work = {.type = CU_GRAPH_NODE_TYPE_MEMSET};
	work.set = (struct gd_memset){.address = p->dst,
	    .pitch = p->pitch,
	    .value = p->value,
	    .element = p->elementSize,
	    .width = p->width,
	    .height = p->height,
	    .in_space = gd_space_holds(p->dst)};
	CUresult result = gd_memset_check(&work.set);
	if (result == CUDA_SUCCESS)
		*work_out = work;
	return result;
}

CUresult gd_work_host(const CUDA_HOST_NODE_PARAMS *p, struct gd_work *work_out)
{
	if (!p || !p->fn)
		return CUDA_ERROR_INVALID_VALUE;
	*work_out = (struct gd_work){.type = CU_GRAPH_NODE_TYPE_HOST, .host = *p};
	return CUDA_SUCCESS;
}

CUresult gd_work_event(CUevent event, CUgraphNodeType type, struct gd_work *work_out)
{
	if (!gd_object_get(event, GD_TYPE_EVENT))
		return CUDA_ERROR_INVALID_VALUE;
	*work_out = (struct gd_work){.type = type, .event = event};
	return CUDA_SUCCESS;
}

CUresult gd_work_child(CUgraph handle, bool move, struct gd_work *work_out)
{
	struct gd_graph *child = gd_graph_get(handle);
	if (!child || (move && child->owned))
		return CUDA_ERROR_INVALID_VALUE;
	struct gd_graph *copy = move ? child : gd_graph_clone(child);
	if (!copy)
		return CUDA_ERROR_OUT_OF_MEMORY;
	copy->owned = true;
	*work_out = (struct gd_work){.type = CU_GRAPH_NODE_TYPE_GRAPH, .child = copy};
	return CUDA_SUCCESS;
}

CUresult gd_work_allocation(CUDA_MEM_ALLOC_NODE_PARAMS *p, struct gd_work *work_out)
{
	if (!p || !p->bytesize || p->poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED)
		return CUDA_ERROR_INVALID_VALUE;
	if (p->poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE ||
	    p->poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE)
		return CUDA_ERROR_NOT_SUPPORTED;
	if (!gd_location_visible(&p->poolProps.location))
		return CUDA_ERROR_INVALID_DEVICE;
	struct gd_graph_memory *memory;
	CUresult result = gd_graph_memory_new(p, &memory);
	if (result != CUDA_SUCCESS)
		return result;
	*work_out = (struct gd_work){.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC, .memory = memory};
	return CUDA_SUCCESS;
}

CUresult gd_work_free(CUdeviceptr address, struct gd_work *work_out)
{
	const struct gd_block *block = gd_memory_at(address);
	if (!block || block->base != address || block->kind != GD_BLOCK_POOLED)
		return CUDA_ERROR_INVALID_VALUE;
	*work_out = (struct gd_work){.type = CU_GRAPH_NODE_TYPE_MEM_FREE, .address = address};
	return CUDA_SUCCESS;
}

static CUresult any_allocation(CUDA_MEM_ALLOC_NODE_PARAMS_v2 *p, struct gd_work *work_out)
{
	CUDA_MEM_ALLOC_NODE_PARAMS first = {.poolProps = p->poolProps,
	    .accessDescs = p->accessDescs,
	    .accessDescCount = p->accessDescCount,
	    .bytesize = p->bytesize};
	CUresult result = gd_work_allocation(&first, work_out);
	p->dptr = first.dptr;
	return result;
}

/* The later versions of the structs begin like the first ones. */
CUresult gd_work_any(CUgraphNodeParams *p, struct gd_work *work_out)
{
	switch (p->type) {
	case CU_GRAPH_NODE_TYPE_KERNEL:
		return gd_work_kernel((const CUDA_KERNEL_NODE_PARAMS *)&p->kernel, work_out);
	case CU_GRAPH_NODE_TYPE_MEMCPY:
		return gd_work_copy3d(&p->memcpy.copyParams, work_out);
	case CU_GRAPH_NODE_TYPE_MEMSET:
		return gd_work_memset((const CUDA_MEMSET_NODE_PARAMS *)&p->memset, work_out);
	case CU_GRAPH_NODE_TYPE_HOST:
		return gd_work_host((const CUDA_HOST_NODE_PARAMS *)&p->host, work_out);
	case CU_GRAPH_NODE_TYPE_GRAPH:
		return gd_work_child(p->graph.graph,
		    p->graph.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE, work_out);
	case CU_GRAPH_NODE_TYPE_EMPTY:
		*work_out = (struct gd_work){.type = CU_GRAPH_NODE_TYPE_EMPTY};
		return CUDA_SUCCESS;
	case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
		return gd_work_event(p->eventWait.event, p->type, work_out);
	case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
		return gd_work_event(p->eventRecord.event, p->type, work_out);
	case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
		return any_allocation(&p->alloc, work_out);
	case CU_GRAPH_NODE_TYPE_MEM_FREE:
		return gd_work_free(p->free.dptr, work_out);
	default:
		return CUDA_ERROR_NOT_SUPPORTED;
	}
}

void gd_work_to_kernel(const struct gd_work *work, CUDA_KERNEL_NODE_PARAMS *p)
{
	const struct gd_launch *launch = &work->kernel;
	/* Arguments of kernels are not kept: their layout is not known. */
	*p = (CUDA_KERNEL_NODE_PARAMS){.func = (CUfunction)launch->function,
	    .gridDimX = launch->grid[0],
	    .gridDimY = launch->grid[1],
	    .gridDimZ = launch->grid[2],
	    .blockDimX = launch->block[0],
	    .blockDimY = launch->block[1],
	    .blockDimZ = launch->block[2],
	    .sharedMemBytes = launch->shared_bytes};
}

static CUmemorytype type_of(const struct gd_side *side)
{
	return side->kind == GD_MEMORY_PAGEABLE ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_UNIFIED;
}

CUresult gd_work_to_copy3d(const struct gd_work *work, CUDA_MEMCPY3D *p)
{
	const struct gd_copy *copy = &work->copy;
	if (copy->from.kind == GD_MEMORY_ARRAY || copy->to.kind == GD_MEMORY_ARRAY)
		return CUDA_ERROR_NOT_SUPPORTED;
	*p = (CUDA_MEMCPY3D){.srcMemoryType = type_of(&copy->from),
	    .srcHost = (const void *)(uintptr_t)copy->from.address,
	    .srcDevice = copy->from.address,
	    .srcPitch = copy->from.pitch,
	    .srcHeight = copy->from.pitch ? copy->from.slice / copy->from.pitch : 0,
	    .dstMemoryType = type_of(&copy->to),
	    .dstHost = (void *)(uintptr_t)copy->to.address,
	    .dstDevice = copy->to.address,
	    .dstPitch = copy->to.pitch,
	    .dstHeight = copy->to.pitch ? copy->to.slice / copy->to.pitch : 0,
	    .WidthInBytes = copy->width,
	    .Height = copy->height,
	    .Depth = copy->depth};
	return CUDA_SUCCESS;
}

void gd_work_to_memset(const struct gd_work *work, CUDA_MEMSET_NODE_PARAMS *p)
{
	*p = (CUDA_MEMSET_NODE_PARAMS){.dst = work->set.address,
	    .pitch = work->set.pitch,
	    .value = work->set.value,
	    .elementSize = work->set.element,
	    .width = work->set.width,
	    .height = work->set.height};
}
