/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Plans of cuDNN's graph interface: heuristics recommend exactly one engine for every graph of
 * operations, without knobs and notes, and it runs as one launch.  Some programs name an engine and
 * knobs that they know to be there in a real cuDNN: all numbers are accepted for the same engine.
 */
#include <string.h>

#include "cudnn_convolution.h"
#include "cudnn_descriptor.h"
#include "cudnn_handle.h"

#define GD_ENGINE_NUMBERS 256

GD_EXPORT int cudnnBackendGetAttribute(struct gd_descriptor *descriptor, int name, int type,
    int64_t wanted, int64_t *count, void *values);
GD_EXPORT int cudnnBackendExecute(
    struct gd_cudnn *handle, struct gd_descriptor *plan, struct gd_descriptor *pack);

static int answer_count(int64_t count, int64_t *out)
{
	if (out)
		*out = count;
	return GD_CUDNN_SUCCESS;
}

static int answer_int64(int64_t value, int64_t wanted, int64_t *count, void *values)
{
	if (wanted > 0 && values)
		memcpy(values, &value, sizeof(value));
	return answer_count(1, count);
}

static int answer_int32(int32_t value, int64_t wanted, int64_t *count, void *values)
{
	if (wanted > 0 && values)
		memcpy(values, &value, sizeof(value));
	return answer_count(1, count);
}

static int answer_workspace(
    const struct gd_descriptor *graph, int64_t wanted, int64_t *count, void *values)
{
	return answer_int64((int64_t)gd_cudnn_graph_workspace(graph), wanted, count, values);
}

/* The caller passes descriptors of its own to be filled, or none to learn how many there are. */
static int answer_descriptor(const struct gd_descriptor *from, int link, int set_name,
    int64_t wanted, int64_t *count, void *values)
{
	struct gd_descriptor *filled = NULL, *linked = gd_descriptor_link(from, link, 0);

	if (wanted > 0 && values) {
		memcpy(&filled, values, sizeof(filled));
		if (!filled || !linked ||
		    !gd_descriptor_set(filled, set_name, GD_CUDNN_TYPE_DESCRIPTOR, 1, &linked))
			return GD_CUDNN_BAD_PARAM;
		filled->finalized = true;
	}
	return answer_count(1, count);
}

/* A heuristic's result is a configuration; its engine is made here, for the heuristic's graph. */
static int answer_results(
    const struct gd_descriptor *heuristic, int64_t wanted, int64_t *count, void *values)
{
	struct gd_descriptor *config = NULL, *engine;
	struct gd_descriptor *graph = gd_descriptor_link(heuristic, GD_CUDNN_HEURISTIC_GRAPH, 0);
	bool linked;

	if (wanted <= 0 || !values)
		return answer_count(1, count);
	memcpy(&config, values, sizeof(config));
	if (!config || !graph ||
	    cudnnBackendCreateDescriptor(GD_CUDNN_ENGINE, &engine) != GD_CUDNN_SUCCESS)
		return GD_CUDNN_BAD_PARAM;
	linked =
	    gd_descriptor_set(engine, GD_CUDNN_ENGINE_GRAPH, GD_CUDNN_TYPE_DESCRIPTOR, 1, &graph) &&
	    gd_descriptor_set(config, GD_CUDNN_CONFIG_ENGINE, GD_CUDNN_TYPE_DESCRIPTOR, 1, &engine);
	gd_descriptor_drop(engine); /* the configuration keeps it */
	if (!linked)
		return GD_CUDNN_ALLOC_FAILED;
	config->finalized = true;
	return answer_count(1, count);
}

static struct gd_descriptor *graph_of_config(const struct gd_descriptor *config)
{
	struct gd_descriptor *engine = gd_descriptor_link(config, GD_CUDNN_CONFIG_ENGINE, 0);

	return gd_descriptor_link(engine, GD_CUDNN_ENGINE_GRAPH, 0);
}

static struct gd_descriptor *graph_of_plan(const struct gd_descriptor *plan)
{
	return graph_of_config(gd_descriptor_link(plan, GD_CUDNN_PLAN_CONFIG, 0));
}

/* What was set comes back; what was not has no elements. */
static int answer_as_set(const struct gd_descriptor *descriptor, int name, int type, int64_t wanted,
    int64_t *count, void *values)
{
	const struct gd_attribute *attribute = gd_descriptor_find(descriptor, name);
	int64_t given;

	if (!attribute)
		return answer_count(0, count);
	if (attribute->type != type)
		return GD_CUDNN_BAD_PARAM;
	given = attribute->count < wanted ? attribute->count : wanted;
	if (values && given > 0)
		memcpy(values, attribute->bytes, (size_t)given * gd_attribute_bytes(type));
	return answer_count(attribute->count, count);
}

int cudnnBackendGetAttribute(struct gd_descriptor *descriptor, int name, int type, int64_t wanted,
    int64_t *count, void *values)
{
	if (!descriptor)
		return GD_CUDNN_BAD_PARAM;
	switch (name) {
	case GD_CUDNN_HEURISTIC_RESULTS:
		return answer_results(descriptor, wanted, count, values);
	case GD_CUDNN_CONFIG_ENGINE:
		/* the caller's engine gets the graph of ours */
		return answer_descriptor(gd_descriptor_link(descriptor, GD_CUDNN_CONFIG_ENGINE, 0),
		    GD_CUDNN_ENGINE_GRAPH, GD_CUDNN_ENGINE_GRAPH, wanted, count, values);
	case GD_CUDNN_GRAPH_ENGINE_COUNT:
		return answer_int64(GD_ENGINE_NUMBERS, wanted, count, values);
	case GD_CUDNN_CONFIG_WORKSPACE:
		return answer_workspace(graph_of_config(descriptor), wanted, count, values);
	case GD_CUDNN_CONFIG_SHARED_MEMORY: /* callers pass over engines that need too much */
		return answer_int32(0, wanted, count, values);
	case GD_CUDNN_PLAN_WORKSPACE:
		return answer_workspace(graph_of_plan(descriptor), wanted, count, values);
	case GD_CUDNN_ENGINE_INDEX:
		if (gd_descriptor_find(descriptor, name))
			return answer_as_set(descriptor, name, type, wanted, count, values);
		return answer_int64(0, wanted, count, values);
	default:
		return answer_as_set(descriptor, name, type, wanted, count, values);
	}
}

int cudnnBackendExecute(
    struct gd_cudnn *handle, struct gd_descriptor *plan, struct gd_descriptor *pack)
{
	const struct gd_descriptor *graph;
	struct gd_work work = {0};

	if (!handle || !plan || !(graph = graph_of_plan(plan)))
		return GD_CUDNN_BAD_PARAM;
	gd_cudnn_graph_work(graph, &work);
	return gd_kernel_launch(&work, handle->stream) == CUDA_SUCCESS ? GD_CUDNN_SUCCESS
								       : GD_CUDNN_EXECUTION_FAILED;
}
