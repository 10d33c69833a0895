/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Descriptors of cuDNN's graph interface: bags of typed attributes.  Numbers are those of
 * cudnn_graph.h, which is not needed to build.
 */
#ifndef GD_CUDNN_DESCRIPTOR_H
#define GD_CUDNN_DESCRIPTOR_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "gd_export.h"
#include "unprovided.h"

enum gd_cudnn_status {
	GD_CUDNN_SUCCESS = 0,
	GD_CUDNN_ALLOC_FAILED = GD_CUDNN_MAJOR >= 9 ? 1003 : 2,
	GD_CUDNN_BAD_PARAM = GD_CUDNN_MAJOR >= 9 ? 2000 : 3,
	GD_CUDNN_NOT_SUPPORTED = GD_CUDNN_REFUSAL,
	GD_CUDNN_EXECUTION_FAILED = GD_CUDNN_MAJOR >= 9 ? 5000 : 8,
};

enum gd_cudnn_kind { /* cudnnBackendDescriptorType_t */
	GD_CUDNN_ENGINE = 2,
	GD_CUDNN_CONV_FORWARD = 10,
	GD_CUDNN_CONV_BACKWARD_FILTER = 11,
	GD_CUDNN_CONV_BACKWARD_DATA = 12,
};

enum gd_cudnn_attribute { /* cudnnBackendAttributeName_t */
	GD_CUDNN_HEURISTIC_GRAPH = 201,
	GD_CUDNN_HEURISTIC_RESULTS = 202,
	GD_CUDNN_CONFIG_ENGINE = 300,
	GD_CUDNN_CONFIG_WORKSPACE = 303,
	GD_CUDNN_CONFIG_SHARED_MEMORY = 304,
	GD_CUDNN_PLAN_CONFIG = 401,
	GD_CUDNN_PLAN_WORKSPACE = 402,
	GD_CUDNN_FORWARD_W = 703,
	GD_CUDNN_FORWARD_X = 704,
	GD_CUDNN_FORWARD_Y = 705,
	GD_CUDNN_DATA_W = 709,
	GD_CUDNN_DATA_DX = 710,
	GD_CUDNN_DATA_DY = 711,
	GD_CUDNN_FILTER_DW = 715,
	GD_CUDNN_FILTER_X = 716,
	GD_CUDNN_FILTER_DY = 717,
	GD_CUDNN_GRAPH_OPERATIONS = 801,
	GD_CUDNN_GRAPH_ENGINE_COUNT = 802,
	GD_CUDNN_TENSOR_TYPE = 901,
	GD_CUDNN_TENSOR_DIMENSIONS = 902,
	GD_CUDNN_TENSOR_STRIDES = 903,
	GD_CUDNN_ENGINE_GRAPH = 1300,
	GD_CUDNN_ENGINE_INDEX = 1301,
};

#define GD_CUDNN_TYPE_INT64 3
#define GD_CUDNN_TYPE_DESCRIPTOR 15

struct gd_attribute {
	struct gd_attribute *next;
	int name, type;
	int64_t count;
	unsigned char bytes[];
};

/*
 * Counted: a graph keeps its operations, which keep their tensors, even when the program has
 * destroyed its own handles of them.
 */
struct gd_descriptor {
	int kind;
	bool finalized;
	atomic_int references;
	struct gd_attribute *attributes;
};

/**
 * Set an attribute, replacing a former value.
 *
 * @param descriptor  owner of the copy
 * @param name, type  as in the interface
 * @param count       number of elements
 * @param values      elements of that type; copied
 * @return false when memory or the size of the type is lacking
 */
bool gd_descriptor_set(
    struct gd_descriptor *descriptor, int name, int type, int64_t count, const void *values);

/** Find an attribute; NULL when it was not set. */
const struct gd_attribute *gd_descriptor_find(const struct gd_descriptor *descriptor, int name);

/** The descriptor an attribute points to (its index-th element), or NULL. */
struct gd_descriptor *gd_descriptor_link(
    const struct gd_descriptor *descriptor, int name, int64_t index);

GD_EXPORT int cudnnBackendCreateDescriptor(int kind, struct gd_descriptor **out);

/** Drop a reference; the last one frees the descriptor and what only it kept. */
void gd_descriptor_drop(struct gd_descriptor *descriptor);

/** Bytes of one element of a cudnnBackendAttributeType_t; 0 for what is none. */
unsigned gd_attribute_bytes(int type);

#endif
