/* SPDX-License-Identifier: Apache-2.0 */
/* Handles, versions, texts and the descriptors of the older interface. */
#include "cudnn_legacy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * PyTorch wants the same major and at least the minor it was built with: 8.5 for 2.0, 9.1
 * for 2.6, 9.26 for 2.15.  Version 9 made more room for the minor.
 */
#if GD_CUDNN_MAJOR >= 9
#define GD_CUDNN_VERSION 92600
#define GD_CUDNN_MAJOR_UNIT 10000
#else
#define GD_CUDNN_VERSION 8907
#define GD_CUDNN_MAJOR_UNIT 1000
#endif

GD_EXPORT size_t cudnnGetVersion(void);
GD_EXPORT size_t cudnnGetMaxDeviceVersion(void);
GD_EXPORT size_t cudnnGetCudartVersion(void);
GD_EXPORT int cudnnGetProperty(int property, int *value);
GD_EXPORT const char *cudnnGetErrorString(int status);
GD_EXPORT void cudnnGetLastErrorString(char *text, size_t bytes);
GD_EXPORT int cudnnCreate(struct gd_cudnn **out);
GD_EXPORT int cudnnDestroy(struct gd_cudnn *handle);
GD_EXPORT int cudnnSetStream(struct gd_cudnn *handle, CUstream stream);
GD_EXPORT int cudnnGetStream(struct gd_cudnn *handle, CUstream *stream);

size_t cudnnGetVersion(void)
{
	return GD_CUDNN_VERSION;
}

size_t cudnnGetMaxDeviceVersion(void)
{
	return 1299; /* any compute capability below 13 */
}

size_t cudnnGetCudartVersion(void)
{
	return CUDA_VERSION;
}

/* 0 major, 1 minor, 2 patch level */
int cudnnGetProperty(int property, int *value)
{
	static const int parts[] = {
	    GD_CUDNN_MAJOR, GD_CUDNN_VERSION % GD_CUDNN_MAJOR_UNIT / 100, GD_CUDNN_VERSION % 100};

	if (property < 0 || property > 2)
		return GD_CUDNN_BAD_PARAM;
	*value = parts[property];
	return GD_CUDNN_SUCCESS;
}

const char *cudnnGetErrorString(int status)
{
	switch (status) {
	case GD_CUDNN_SUCCESS:
		return "CUDNN_STATUS_SUCCESS";
	case GD_CUDNN_ALLOC_FAILED:
		return "CUDNN_STATUS_INTERNAL_ERROR_HOST_ALLOCATION_FAILED";
	case GD_CUDNN_BAD_PARAM:
		return "CUDNN_STATUS_BAD_PARAM";
	case GD_CUDNN_NOT_SUPPORTED:
		return "CUDNN_STATUS_NOT_SUPPORTED";
	case GD_CUDNN_EXECUTION_FAILED:
		return "CUDNN_STATUS_EXECUTION_FAILED";
	default:
		return "CUDNN_STATUS_UNKNOWN";
	}
}

void cudnnGetLastErrorString(char *text, size_t bytes)
{
	snprintf(text, bytes, "refused by the stand-in cuDNN");
}

int cudnnCreate(struct gd_cudnn **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? GD_CUDNN_SUCCESS : GD_CUDNN_ALLOC_FAILED;
}

int cudnnDestroy(struct gd_cudnn *handle)
{
	free(handle);
	return GD_CUDNN_SUCCESS;
}

int cudnnSetStream(struct gd_cudnn *handle, CUstream stream)
{
	if (!handle)
		return GD_CUDNN_BAD_PARAM;
	handle->stream = stream;
	return GD_CUDNN_SUCCESS;
}

int cudnnGetStream(struct gd_cudnn *handle, CUstream *stream)
{
	if (!handle)
		return GD_CUDNN_BAD_PARAM;
	*stream = handle->stream;
	return GD_CUDNN_SUCCESS;
}

#define GD_LEGACY_KINDS(X) \
	X(Tensor) \
	X(Filter) \
	X(Convolution) \
	X(Activation) \
	X(Pooling)

#define GD_LIFE(kind) \
	GD_EXPORT int cudnnCreate##kind##Descriptor(struct gd_cudnn_legacy **out); \
	int cudnnCreate##kind##Descriptor(struct gd_cudnn_legacy **out) \
	{ \
		*out = calloc(1, sizeof(**out)); \
		return *out ? GD_CUDNN_SUCCESS : GD_CUDNN_ALLOC_FAILED; \
	} \
	GD_EXPORT int cudnnDestroy##kind##Descriptor(struct gd_cudnn_legacy *descriptor); \
	int cudnnDestroy##kind##Descriptor(struct gd_cudnn_legacy *descriptor) \
	{ \
		free(descriptor); \
		return GD_CUDNN_SUCCESS; \
	}
GD_LEGACY_KINDS(GD_LIFE)

GD_EXPORT int cudnnSetTensorNdDescriptor(
    struct gd_cudnn_legacy *tensor, int type, int count, const int *sizes, const int *strides);
GD_EXPORT int cudnnGetTensorNdDescriptor(const struct gd_cudnn_legacy *tensor, int wanted,
    int *type, int *count, int *sizes, int *strides);
GD_EXPORT int cudnnSetFilterNdDescriptor(
    struct gd_cudnn_legacy *filter, int type, int format, int count, const int *sizes);
GD_EXPORT int cudnnGetFilterNdDescriptor(const struct gd_cudnn_legacy *filter, int wanted,
    int *type, int *format, int *count, int *sizes);
GD_EXPORT int cudnnSetConvolutionNdDescriptor(struct gd_cudnn_legacy *convolution, int count,
    const int *padding, const int *strides, const int *dilations, int mode, int compute_type);
GD_EXPORT int cudnnSetConvolutionGroupCount(struct gd_cudnn_legacy *convolution, int groups);
GD_EXPORT int cudnnSetConvolutionMathType(struct gd_cudnn_legacy *convolution, int type);
GD_EXPORT int cudnnSetActivationDescriptor(
    struct gd_cudnn_legacy *activation, int mode, int propagate_nan, double coefficient);
GD_EXPORT int cudnnSetPooling2dDescriptor(struct gd_cudnn_legacy *pooling);

int cudnnSetTensorNdDescriptor(
    struct gd_cudnn_legacy *tensor, int type, int count, const int *sizes, const int *strides)
{
	if (!tensor || count < 0 || count > GD_CUDNN_MAX_DIMENSIONS)
		return GD_CUDNN_BAD_PARAM;
	tensor->shape.type = type;
	tensor->shape.dimensions = count;
	for (int i = 0; i < count; i++) {
		tensor->shape.size[i] = sizes[i];
		tensor->shape.stride[i] = strides[i];
	}
	return GD_CUDNN_SUCCESS;
}

int cudnnGetTensorNdDescriptor(const struct gd_cudnn_legacy *tensor, int wanted, int *type,
    int *count, int *sizes, int *strides)
{
	*type = tensor->shape.type;
	*count = tensor->shape.dimensions;
	for (int i = 0; i < tensor->shape.dimensions && i < wanted; i++) {
		sizes[i] = (int)tensor->shape.size[i];
		strides[i] = (int)tensor->shape.stride[i];
	}
	return GD_CUDNN_SUCCESS;
}

/* Filters have no strides of their own: packed, with the channels first or last. */
int cudnnSetFilterNdDescriptor(
    struct gd_cudnn_legacy *filter, int type, int format, int count, const int *sizes)
{
	struct gd_cudnn_shape *shape = &filter->shape;
	int64_t stride = 1;

	if (count < 0 || count > GD_CUDNN_MAX_DIMENSIONS)
		return GD_CUDNN_BAD_PARAM;
	shape->type = type;
	shape->dimensions = count;
	filter->format = format;
	for (int i = count - 1; i >= 0; i--) {
		shape->size[i] = sizes[i];
		shape->stride[i] = stride;
		stride *= sizes[i];
	}
	if (format == 1 && count > 1)
		shape->stride[1] = 1;
	return GD_CUDNN_SUCCESS;
}

int cudnnGetFilterNdDescriptor(const struct gd_cudnn_legacy *filter, int wanted, int *type,
    int *format, int *count, int *sizes)
{
	*type = filter->shape.type;
	*format = filter->format;
	*count = filter->shape.dimensions;
	for (int i = 0; i < filter->shape.dimensions && i < wanted; i++)
		sizes[i] = (int)filter->shape.size[i];
	return GD_CUDNN_SUCCESS;
}

/* Paddings and strides are in the sizes of the tensors already, as far as cost goes. */
int cudnnSetConvolutionNdDescriptor(struct gd_cudnn_legacy *convolution, int count,
    const int *padding, const int *strides, const int *dilations, int mode, int compute_type)
{
	convolution->groups = 1;
	return GD_CUDNN_SUCCESS;
}

int cudnnSetConvolutionGroupCount(struct gd_cudnn_legacy *convolution, int groups)
{
	convolution->groups = groups;
	return GD_CUDNN_SUCCESS;
}

int cudnnSetConvolutionMathType(struct gd_cudnn_legacy *convolution, int type)
{
	convolution->math_type = type;
	return GD_CUDNN_SUCCESS;
}

int cudnnSetActivationDescriptor(
    struct gd_cudnn_legacy *activation, int mode, int propagate_nan, double coefficient)
{
	return GD_CUDNN_SUCCESS;
}

int cudnnSetPooling2dDescriptor(struct gd_cudnn_legacy *pooling)
{
	return GD_CUDNN_SUCCESS;
}
