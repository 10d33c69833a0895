/* SPDX-License-Identifier: Apache-2.0 */
#include "cudnn_convolution.h"

#include <string.h>

#define GD_WORKSPACE_ALIGNMENT 256u

static uint64_t elements(const struct gd_cudnn_shape *shape)
{
	uint64_t count = 1;

	for (int i = 0; i < shape->dimensions; i++)
		count *= (uint64_t)shape->size[i];
	return shape->dimensions ? count : 0;
}

static unsigned type_bytes(int type)
{
	switch (type) {
	case 1:	 /* double */
	case 10: /* int64 */
		return 8;
	case 2: /* half */
	case 9: /* bfloat16 */
		return 2;
	case 3: /* int8 */
	case 6:
	case 11:
	case 12: /* fp8 */
	case 13:
		return 1;
	default:
		return 4;
	}
}

static uint64_t tensor_bytes(const struct gd_cudnn_shape *shape)
{
	return elements(shape) * type_bytes(shape->type);
}

static uint64_t part(uint64_t bytes)
{
	return (bytes + GD_WORKSPACE_ALIGNMENT - 1) & ~(uint64_t)(GD_WORKSPACE_ALIGNMENT - 1);
}

/* Channels are dimension 1; packed channels-last has stride 1 there. */
static uint64_t relayout_bytes(const struct gd_cudnn_shape *shape)
{
	if (shape->dimensions < 3 || shape->size[1] <= 1 || shape->stride[1] == 1)
		return 0;
	return part(tensor_bytes(shape));
}

uint64_t gd_cudnn_convolution_workspace(const struct gd_cudnn_convolution *convolution)
{
	uint64_t bytes = relayout_bytes(&convolution->x) + relayout_bytes(&convolution->w) +
			 relayout_bytes(&convolution->y);

	if (convolution->direction == GD_CUDNN_WGRAD && type_bytes(convolution->w.type) == 2)
		bytes += part(4 * elements(&convolution->w));
	return bytes;
}

static const char *convolution_name(const struct gd_cudnn_convolution *convolution)
{
#define GD_NAMES(direction) \
	{ \
		"gpushim_conv_" direction "_tensorop_tf32", "gpushim_conv_" direction "_simt_f64", \
		    "gpushim_conv_" direction "_tensorop_f16", \
		    "gpushim_conv_" direction "_tensorop_bf16", \
		    "gpushim_conv_" direction "_tensorop_s8" \
	}
	static const char *const names[][5] = {
	    [GD_CUDNN_FPROP] = GD_NAMES("fprop"),
	    [GD_CUDNN_DGRAD] = GD_NAMES("dgrad"),
	    [GD_CUDNN_WGRAD] = GD_NAMES("wgrad"),
	};
#undef GD_NAMES
	int type = convolution->x.type;
	int column = type == 1 ? 1 : type == 2 ? 2 : type == 9 ? 3 : type == 0 ? 0 : 4;

	return names[convolution->direction][column];
}

static enum gd_rate rate_of(int type)
{
	switch (type) {
	case 0:
		return GD_RATE_TF32;
	case 1:
		return GD_RATE_F64;
	case 2:
	case 9:
		return GD_RATE_F16;
	default:
		return GD_RATE_F8;
	}
}

/* Every direction multiplies each output element with each weight of its filter once. */
void gd_cudnn_convolution_work(
    const struct gd_cudnn_convolution *convolution, struct gd_work *work_out)
{
	uint64_t per_output = convolution->w.dimensions && convolution->w.size[0] > 0
				  ? elements(&convolution->w) / (uint64_t)convolution->w.size[0]
				  : 0;
	const struct gd_cudnn_shape *result =
	    convolution->direction == GD_CUDNN_FPROP   ? &convolution->y
	    : convolution->direction == GD_CUDNN_DGRAD ? &convolution->x
						       : &convolution->w;

	*work_out = (struct gd_work){.name = convolution_name(convolution)};
	work_out->threads = (elements(result) + 63) / 64; /* a 128 x 128 tile by 256 threads */
	work_out->flops = 2 * elements(&convolution->y) * per_output;
	work_out->rate = rate_of(convolution->x.type);
}

static void read_list(const struct gd_descriptor *tensor, int name, int64_t *out, int *count)
{
	const struct gd_attribute *attribute = gd_descriptor_find(tensor, name);
	int64_t wanted = attribute && attribute->type == GD_CUDNN_TYPE_INT64 ? attribute->count : 0;

	if (wanted > GD_CUDNN_MAX_DIMENSIONS)
		wanted = GD_CUDNN_MAX_DIMENSIONS;
	if (wanted > 0)
		memcpy(out, attribute->bytes, (size_t)wanted * sizeof(*out));
	*count = (int)wanted;
}

static void read_tensor(const struct gd_descriptor *operation, int name, struct gd_cudnn_shape *out)
{
	const struct gd_descriptor *tensor = gd_descriptor_link(operation, name, 0);
	const struct gd_attribute *type;
	int strides;

	*out = (struct gd_cudnn_shape){0};
	if (!tensor)
		return;
	type = gd_descriptor_find(tensor, GD_CUDNN_TENSOR_TYPE);
	if (type)
		memcpy(&out->type, type->bytes, sizeof(out->type));
	read_list(tensor, GD_CUDNN_TENSOR_DIMENSIONS, out->size, &out->dimensions);
	read_list(tensor, GD_CUDNN_TENSOR_STRIDES, out->stride, &strides);
}

static bool read_convolution(
    const struct gd_descriptor *operation, struct gd_cudnn_convolution *out)
{
	static const struct {
		int kind, x, w, y;
	} rows[] = {
	    [GD_CUDNN_FPROP] = {GD_CUDNN_CONV_FORWARD, GD_CUDNN_FORWARD_X, GD_CUDNN_FORWARD_W,
		GD_CUDNN_FORWARD_Y},
	    [GD_CUDNN_DGRAD] = {GD_CUDNN_CONV_BACKWARD_DATA, GD_CUDNN_DATA_DX, GD_CUDNN_DATA_W,
		GD_CUDNN_DATA_DY},
	    [GD_CUDNN_WGRAD] = {GD_CUDNN_CONV_BACKWARD_FILTER, GD_CUDNN_FILTER_X,
		GD_CUDNN_FILTER_DW, GD_CUDNN_FILTER_DY},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		if (operation->kind != rows[i].kind)
			continue;
		out->direction = (enum gd_cudnn_direction)i;
		read_tensor(operation, rows[i].x, &out->x);
		read_tensor(operation, rows[i].w, &out->w);
		read_tensor(operation, rows[i].y, &out->y);
		return true;
	}
	return false;
}

uint64_t gd_cudnn_graph_workspace(const struct gd_descriptor *graph)
{
	struct gd_cudnn_convolution convolution;
	struct gd_descriptor *operation;
	uint64_t bytes = 0;

	for (int64_t i = 0; (operation = gd_descriptor_link(graph, GD_CUDNN_GRAPH_OPERATIONS, i));
	     i++) {
		if (read_convolution(operation, &convolution))
			bytes += gd_cudnn_convolution_workspace(&convolution);
	}
	return bytes;
}

static const char *operation_name(const struct gd_descriptor *operation)
{
	switch (operation ? operation->kind : -1) {
	case 13:
		return "gpushim_cudnn_pointwise";
	case 19:
		return "gpushim_cudnn_matmul";
	case 22:
		return "gpushim_cudnn_reduction";
	case 29:
		return "gpushim_cudnn_norm_forward";
	case 30:
		return "gpushim_cudnn_norm_backward";
	case 41:
		return "gpushim_cudnn_attention_forward";
	case 43:
		return "gpushim_cudnn_attention_backward";
	default:
		return "gpushim_cudnn_graph";
	}
}

void gd_cudnn_graph_work(const struct gd_descriptor *graph, struct gd_work *work_out)
{
	struct gd_cudnn_convolution convolution;
	struct gd_descriptor *operation;

	for (int64_t i = 0; (operation = gd_descriptor_link(graph, GD_CUDNN_GRAPH_OPERATIONS, i));
	     i++) {
		if (read_convolution(operation, &convolution)) {
			gd_cudnn_convolution_work(&convolution, work_out);
			return;
		}
	}
	*work_out = (struct gd_work){.threads = 1, .rate = GD_RATE_MEMORY};
	work_out->name = operation_name(gd_descriptor_link(graph, GD_CUDNN_GRAPH_OPERATIONS, 0));
}
