/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recurrent networks and dropout states of cuDNN.
 *
 * The layout of the weights is this: for each layer and direction all input matrices, then all
 * recurrent ones, gate after gate, then the biases in the same order; nothing in between. Workspace
 * and reserve are a stated model: the workspace holds the gates of all time steps of one layer, the
 * reserve (training) the gates and outputs of all layers.
 */
#include <stdlib.h>
#include <string.h>

#include "cudnn_legacy.h"

#define GD_LSTM 2
#define GD_GRU 3
#define GD_BIDIRECTIONAL 1
#define GD_DROPOUT_STATE_BYTES (1u << 20)
#define GD_BIASES_NONE 0
#define GD_BIASES_DOUBLE 2

struct recurrent {
	int cell, biases, directions, skip_input, type;
	int64_t input, hidden, projection, layers;
};

struct sequence {
	int type;
	int64_t steps, batch, width;
};

struct dropout {
	float probability;
	void *states;
	unsigned long long seed;
};

#define GD_LIFE(kind, type) \
	GD_EXPORT int cudnnCreate##kind##Descriptor(struct type **out); \
	int cudnnCreate##kind##Descriptor(struct type **out) \
	{ \
		*out = calloc(1, sizeof(**out)); \
		return *out ? GD_CUDNN_SUCCESS : GD_CUDNN_ALLOC_FAILED; \
	} \
	GD_EXPORT int cudnnDestroy##kind##Descriptor(struct type *descriptor); \
	int cudnnDestroy##kind##Descriptor(struct type *descriptor) \
	{ \
		free(descriptor); \
		return GD_CUDNN_SUCCESS; \
	}
GD_LIFE(RNN, recurrent)
GD_LIFE(RNNData, sequence)
GD_LIFE(Dropout, dropout)

GD_EXPORT int cudnnDropoutGetStatesSize(struct gd_cudnn *handle, size_t *bytes);
GD_EXPORT int cudnnSetDropoutDescriptor(struct dropout *dropout, struct gd_cudnn *handle,
    float probability, void *states, size_t bytes, unsigned long long seed);
GD_EXPORT int cudnnRestoreDropoutDescriptor(struct dropout *dropout, struct gd_cudnn *handle,
    float probability, void *states, size_t bytes, unsigned long long seed);
GD_EXPORT int cudnnSetRNNDataDescriptor(struct sequence *data, int type, int layout, int steps,
    int batch, int width, const int *lengths, void *padding);
GD_EXPORT int cudnnSetRNNDescriptor_v8(struct recurrent *rnn, int algorithm, int cell, int biases,
    int direction, int input_mode, int type, int math_type, int math_mode, int32_t input,
    int32_t hidden, int32_t projection, int32_t layers, struct dropout *dropout, uint32_t flags);
GD_EXPORT int cudnnGetRNNWeightSpaceSize(
    struct gd_cudnn *handle, struct recurrent *rnn, size_t *bytes);
GD_EXPORT int cudnnGetRNNTempSpaceSizes(struct gd_cudnn *handle, struct recurrent *rnn,
    int training, struct sequence *data, size_t *workspace, size_t *reserve);
GD_EXPORT int cudnnGetRNNWeightParams(struct gd_cudnn *handle, struct recurrent *rnn, int32_t layer,
    size_t bytes, const void *weights, int32_t part, struct gd_cudnn_legacy *matrix,
    void **matrix_address, struct gd_cudnn_legacy *bias, void **bias_address);

int cudnnDropoutGetStatesSize(struct gd_cudnn *handle, size_t *bytes)
{
	*bytes = GD_DROPOUT_STATE_BYTES;
	return GD_CUDNN_SUCCESS;
}

int cudnnSetDropoutDescriptor(struct dropout *dropout, struct gd_cudnn *handle, float probability,
    void *states, size_t bytes, unsigned long long seed)
{
	*dropout = (struct dropout){probability, states, seed};
	return GD_CUDNN_SUCCESS;
}

int cudnnRestoreDropoutDescriptor(struct dropout *dropout, struct gd_cudnn *handle,
    float probability, void *states, size_t bytes, unsigned long long seed)
{
	return cudnnSetDropoutDescriptor(dropout, handle, probability, states, bytes, seed);
}

int cudnnSetRNNDataDescriptor(struct sequence *data, int type, int layout, int steps, int batch,
    int width, const int *lengths, void *padding)
{
	*data = (struct sequence){type, steps, batch, width};
	return GD_CUDNN_SUCCESS;
}

int cudnnSetRNNDescriptor_v8(struct recurrent *rnn, int algorithm, int cell, int biases,
    int direction, int input_mode, int type, int math_type, int math_mode, int32_t input,
    int32_t hidden, int32_t projection, int32_t layers, struct dropout *dropout, uint32_t flags)
{
	*rnn = (struct recurrent){.cell = cell,
	    .biases = biases,
	    .directions = direction == GD_BIDIRECTIONAL ? 2 : 1,
	    .skip_input = input_mode,
	    .type = type,
	    .input = input,
	    .hidden = hidden,
	    .projection = projection,
	    .layers = layers};
	return GD_CUDNN_SUCCESS;
}

static int64_t gates_of(const struct recurrent *rnn)
{
	return rnn->cell == GD_LSTM ? 4 : rnn->cell == GD_GRU ? 3 : 1;
}

static int64_t element_bytes(const struct recurrent *rnn)
{
	return rnn->type == 1 ? 8 : rnn->type == 2 || rnn->type == 9 ? 2 : 4;
}

/* Width of what a layer hands on, per direction. */
static int64_t output_of(const struct recurrent *rnn)
{
	return rnn->projection > 0 && rnn->projection < rnn->hidden ? rnn->projection : rnn->hidden;
}

static int64_t input_of(const struct recurrent *rnn, int64_t layer)
{
	return layer < rnn->directions ? rnn->input : output_of(rnn) * rnn->directions;
}

static int64_t biases_of(const struct recurrent *rnn)
{
	return rnn->biases == GD_BIASES_NONE ? 0 : rnn->biases == GD_BIASES_DOUBLE ? 2 : 1;
}

/* Elements of a layer of one direction: input and recurrent matrices, projection, biases. */
static int64_t layer_elements(const struct recurrent *rnn, int64_t layer)
{
	int64_t gates = gates_of(rnn), hidden = rnn->hidden;
	int64_t matrices = gates * hidden * (input_of(rnn, layer) + output_of(rnn));

	if (output_of(rnn) != hidden)
		matrices += hidden * output_of(rnn);
	return matrices + biases_of(rnn) * gates * hidden;
}

int cudnnGetRNNWeightSpaceSize(struct gd_cudnn *handle, struct recurrent *rnn, size_t *bytes)
{
	int64_t elements = 0;

	for (int64_t layer = 0; layer < rnn->layers * rnn->directions; layer++)
		elements += layer_elements(rnn, layer);
	*bytes = (size_t)(elements * element_bytes(rnn));
	return GD_CUDNN_SUCCESS;
}

int cudnnGetRNNTempSpaceSizes(struct gd_cudnn *handle, struct recurrent *rnn, int training,
    struct sequence *data, size_t *workspace, size_t *reserve)
{
	int64_t cells = data->steps * data->batch * rnn->hidden * rnn->directions;

	if (workspace)
		*workspace = (size_t)(cells * gates_of(rnn) * element_bytes(rnn));
	if (reserve)
		*reserve =
		    training
			? (size_t)(cells * (gates_of(rnn) + 2) * rnn->layers * element_bytes(rnn))
			: 0;
	return GD_CUDNN_SUCCESS;
}

static void describe(struct gd_cudnn_legacy *tensor, int type, int64_t rows, int64_t columns)
{
	if (!tensor)
		return;
	tensor->shape = (struct gd_cudnn_shape){.type = type,
	    .dimensions = 3,
	    .size = {1, rows, columns},
	    .stride = {rows * columns, columns, 1}};
}

/* Where a matrix and its bias lie; a part without one has address 0.  Either may not be asked for.
 */
int cudnnGetRNNWeightParams(struct gd_cudnn *handle, struct recurrent *rnn, int32_t layer,
    size_t bytes, const void *weights, int32_t part, struct gd_cudnn_legacy *matrix,
    void **matrix_address, struct gd_cudnn_legacy *bias, void **bias_address)
{
	int64_t gates = gates_of(rnn), hidden = rnn->hidden, input = input_of(rnn, layer);
	int64_t before = 0, recurrent = part - gates, width = part < gates ? input : output_of(rnn);
	int64_t at, bias_at, rows = hidden;

	if (part < 0 || part > 2 * gates)
		return GD_CUDNN_BAD_PARAM;
	for (int64_t i = 0; i < layer; i++)
		before += layer_elements(rnn, i);
	at = before + (part < gates ? part * hidden * input
				    : gates * hidden * input + recurrent * hidden * output_of(rnn));
	bias_at = before + layer_elements(rnn, layer) - biases_of(rnn) * gates * hidden +
		  (biases_of(rnn) == 2 ? part : part % gates) * hidden;
	if (part == 2 * gates) { /* the projection */
		rows = output_of(rnn);
		width = hidden;
		if (rows == hidden)
			rows = width = 0;
	}
	describe(matrix, rnn->type, rows, width);
	if (matrix_address)
		*matrix_address = rows ? (char *)weights + at * element_bytes(rnn) : NULL;
	describe(bias, rnn->type, hidden, 1);
	if (bias_address)
		*bias_address = part < 2 * gates && biases_of(rnn)
				    ? (char *)weights + bias_at * element_bytes(rnn)
				    : NULL;
	return GD_CUDNN_SUCCESS;
}

GD_CUDNN_PASS(cudnnRNNForward, "rnn_forward")
GD_CUDNN_PASS(cudnnRNNBackwardData_v8, "rnn_backward_data")
GD_CUDNN_PASS(cudnnRNNBackwardWeights_v8, "rnn_backward_weights")
