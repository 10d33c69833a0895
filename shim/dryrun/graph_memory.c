/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/graph_memory.h"

#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/device_table.h"
#include "shim/dryrun/graphs.h"
#include "shim/dryrun/shared_state.h"
#include "shim/dryrun/visible_devices.h"

/* What cuDeviceGetGraphMemAttribute answers, in the order of its attributes. */
struct figures {
	uint64_t used, used_high, reserved, reserved_high;
};
static struct figures figures[GD_MAX_DEVICES];

static void grow(uint64_t *current, uint64_t *high, uint64_t bytes)
{
	*current += bytes;
	if (*current > *high)
		*high = *current;
}

static struct figures *figures_of(const struct gd_graph_memory *memory)
{
	return &figures[memory->block->device];
}

CUresult gd_graph_memory_new(
    CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct gd_graph_memory **memory_out)
{
	unsigned device = (unsigned)parameters->poolProps.location.id;
	uint64_t charged = gd_memory_rounded(parameters->bytesize);
	struct gd_graph_memory *memory = calloc(1, sizeof(*memory));
	if (!memory || parameters->bytesize > gd_facts.total_bytes) {
		free(memory);
		return CUDA_ERROR_OUT_OF_MEMORY;
	}
	CUresult result = gd_memory_new(
	    NULL, device, GD_BLOCK_POOLED, parameters->bytesize, charged, &memory->block);
	if (result != CUDA_SUCCESS) {
		free(memory);
		return result;
	}
	parameters->dptr = memory->block->base;
	memory->parameters = *parameters;
	memory->parameters.accessDescs = NULL; /* the caller's; all devices reach it anyway */
	memory->parameters.accessDescCount = 0;
	memory->references = 1;
	__atomic_store_n(&memory->block->graph_memory, memory, __ATOMIC_RELEASE);
	grow(&figures_of(memory)->reserved, &figures_of(memory)->reserved_high, charged);
	*memory_out = memory;
	return CUDA_SUCCESS;
}

static void end_if_unused(struct gd_graph_memory *memory)
{
	if (memory->references || memory->in_use)
		return;
	figures_of(memory)->reserved -= memory->block->charged_bytes;
	gd_memory_delete(memory->block);
	free(memory);
}

void gd_graph_memory_hold(struct gd_graph_memory *memory)
{
	memory->references++;
}

void gd_graph_memory_drop(struct gd_graph_memory *memory)
{
	memory->references--;
	end_if_unused(memory);
}

void gd_graph_memory_use(struct gd_graph_memory *memory)
{
	if (memory->in_use)
		return; /* from the launch before */
	memory->in_use = true;
	grow(&figures_of(memory)->used, &figures_of(memory)->used_high,
	    memory->block->charged_bytes);
}

void gd_graph_memory_free(struct gd_graph_memory *memory)
{
	if (!memory->in_use)
		return;
	memory->in_use = false;
	figures_of(memory)->used -= memory->block->charged_bytes;
	end_if_unused(memory);
}

static uint64_t *figure(CUdevice device, CUgraphMem_attribute attribute)
{
	struct figures *f = &figures[device];
	switch (attribute) {
	case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
		return &f->used;
	case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
		return &f->used_high;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
		return &f->reserved;
	case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
		return &f->reserved_high;
	default:
		return NULL;
	}
}

static CUresult valid(CUdevice device, CUgraphMem_attribute attribute, const void *value)
{
	if (!gd_device_visible(device))
		return CUDA_ERROR_INVALID_DEVICE;
	return value && figure(device, attribute) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

GD_API(cuDeviceGetGraphMemAttribute,
    (CUdevice device, CUgraphMem_attribute attribute, void *value_out),
    (device, attribute, value_out))
{
	CUresult result = valid(device, attribute, value_out);
	if (result != CUDA_SUCCESS)
		return result;
	pthread_mutex_lock(&gd_graph_lock);
	memcpy(value_out, figure(device, attribute), sizeof(uint64_t));
	pthread_mutex_unlock(&gd_graph_lock);
	return CUDA_SUCCESS;
}

/* High marks alone can be set, to 0: they start again from the current figure. */
GD_API(cuDeviceSetGraphMemAttribute, (CUdevice device, CUgraphMem_attribute attribute, void *value),
    (device, attribute, value))
{
	uint64_t to;
	CUresult result = valid(device, attribute, value);
	if (result != CUDA_SUCCESS)
		return result;
	memcpy(&to, value, sizeof(to));
	if (to)
		return CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_lock(&gd_graph_lock);
	if (attribute == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH)
		figures[device].used_high = figures[device].used;
	else if (attribute == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH)
		figures[device].reserved_high = figures[device].reserved;
	else
		result = CUDA_ERROR_INVALID_VALUE;
	pthread_mutex_unlock(&gd_graph_lock);
	return result;
}

/* Memory that no graph names is given back at once, so there is nothing to trim. */
GD_API(cuDeviceGraphMemTrim, (CUdevice device), (device))
{
	return gd_device_visible(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
