/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/arrays.h"

#include "shim/dryrun/capture.h"
#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_memory.h"

_Static_assert(sizeof(struct gd_array) <= GD_CELL_BYTES, "an array fits in a cell");

#define MOST_LEVELS 20

struct gd_mipmap {
	struct gd_object object;
	uint32_t levels;
	struct gd_array *level[MOST_LEVELS];
};
_Static_assert(sizeof(struct gd_mipmap) <= GD_CELL_BYTES, "a mipmapped array fits in a cell");

static unsigned element_bytes(CUarray_format format)
{
	switch (format) {
	case CU_AD_FORMAT_UNSIGNED_INT8:
	case CU_AD_FORMAT_SIGNED_INT8:
		return 1;
	case CU_AD_FORMAT_UNSIGNED_INT16:
	case CU_AD_FORMAT_SIGNED_INT16:
	case CU_AD_FORMAT_HALF:
		return 2;
	case CU_AD_FORMAT_UNSIGNED_INT32:
	case CU_AD_FORMAT_SIGNED_INT32:
	case CU_AD_FORMAT_FLOAT:
		return 4;
	default:
		return 0; /* planar and compressed formats are not provided */
	}
}

static uint64_t at_least_one(uint64_t value)
{
	return value ? value : 1;
}

static CUresult check(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	if (!d->Width || d->Width > 131072 || d->Height > 65536 || d->Depth > 16384)
		return CUDA_ERROR_INVALID_VALUE;
	if (d->NumChannels != 1 && d->NumChannels != 2 && d->NumChannels != 4)
		return CUDA_ERROR_INVALID_VALUE;
	if (!element_bytes(d->Format) || d->Flags & CUDA_ARRAY3D_SPARSE)
		return CUDA_ERROR_NOT_SUPPORTED;
	return CUDA_SUCCESS;
}

static CUresult make(const CUDA_ARRAY3D_DESCRIPTOR *description, struct gd_array **array_out)
{
	struct gd_context *context = gd_context_current();
	if (!context)
		return gd_context_error();
	CUresult result = check(description);
	if (result == CUDA_SUCCESS)
		result = gd_capture_refuse_unsafe();
	struct gd_array *array = result == CUDA_SUCCESS ? gd_object_new(GD_TYPE_ARRAY) : NULL;
	if (!array)
		return result == CUDA_SUCCESS ? CUDA_ERROR_OUT_OF_MEMORY : result;
	array->description = *description;
	array->element = description->NumChannels * element_bytes(description->Format);
	array->pitch = description->Width * array->element;
	array->rows = at_least_one(description->Height);
	array->slices = at_least_one(description->Depth);
	uint64_t bytes = array->pitch * array->rows * array->slices;
	result = gd_memory_new(context, context->device, GD_BLOCK_PLAIN, bytes,
	    gd_memory_rounded(bytes), &array->block);
	if (result != CUDA_SUCCESS) {
		gd_object_free(array, GD_TYPE_ARRAY);
		return result;
	}
	array->block_id = array->block->id;
	array->block->internal = true;
	array->address = array->block->base;
	gd_object_publish(array, GD_TYPE_ARRAY);
	*array_out = array;
	return CUDA_SUCCESS;
}

bool gd_array_lives(const struct gd_array *array)
{
	return gd_space_block(array->address) == array->block &&
	       array->block->id == array->block_id;
}

static void delete_array(struct gd_array *array)
{
	/* The context may have ended before and taken the memory along. */
	if (gd_array_lives(array))
		gd_memory_delete(array->block);
	gd_object_free(array, GD_TYPE_ARRAY);
}

GD_API(
    cuArrayCreate_v2, (CUarray * array_out, const CUDA_ARRAY_DESCRIPTOR *flat), (array_out, flat))
{
	struct gd_array *array;
	if (!array_out || !flat)
		return CUDA_ERROR_INVALID_VALUE;
	CUDA_ARRAY3D_DESCRIPTOR description = {.Width = flat->Width,
	    .Height = flat->Height,
	    .Format = flat->Format,
	    .NumChannels = flat->NumChannels};
	CUresult result = make(&description, &array);
	if (result == CUDA_SUCCESS)
		*array_out = (CUarray)array;
	return result;
}

GD_API(cuArray3DCreate_v2, (CUarray * array_out, const CUDA_ARRAY3D_DESCRIPTOR *description),
    (array_out, description))
{
	struct gd_array *array;
	if (!array_out || !description)
		return CUDA_ERROR_INVALID_VALUE;
	CUresult result = make(description, &array);
	if (result == CUDA_SUCCESS)
		*array_out = (CUarray)array;
	return result;
}

GD_API(
    cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR * flat_out, CUarray handle), (flat_out, handle))
{
	const struct gd_array *array = gd_array_get(handle);
	if (!flat_out || !array)
		return flat_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	flat_out->Width = array->description.Width;
	flat_out->Height = array->description.Height;
	flat_out->Format = array->description.Format;
	flat_out->NumChannels = array->description.NumChannels;
	return CUDA_SUCCESS;
}

GD_API(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR * description_out, CUarray handle),
    (description_out, handle))
{
	const struct gd_array *array = gd_array_get(handle);
	if (!description_out || !array)
		return description_out ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
	*description_out = array->description;
	return CUDA_SUCCESS;
}

GD_API(cuArrayDestroy, (CUarray handle), (handle))
{
	struct gd_array *array = gd_array_get(handle);
	if (!array || array->owned)
		return CUDA_ERROR_INVALID_HANDLE;
	delete_array(array);
	return CUDA_SUCCESS;
}

static uint64_t halved(uint64_t value, unsigned times)
{
	return value ? at_least_one(value >> times) : 0;
}

/* Layers and the faces of a cube are no dimension: every level has all of them. */
static bool layered(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
	return d->Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP);
}

/* As many as were asked for, from 1 to the one whose largest side is 1. */
static unsigned level_count(const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned asked)
{
	size_t largest = d->Width > d->Height ? d->Width : d->Height;
	unsigned most = 1;
	if (!layered(d) && d->Depth > largest)
		largest = d->Depth;
	while (most < MOST_LEVELS && largest >> most)
		most++;
	return !asked ? 1 : asked < most ? asked : most;
}

GD_API(cuMipmappedArrayCreate,
    (CUmipmappedArray * mipmap_out, const CUDA_ARRAY3D_DESCRIPTOR *description,
	unsigned int levels),
    (mipmap_out, description, levels))
{
	if (!mipmap_out || !description)
		return CUDA_ERROR_INVALID_VALUE;
	levels = level_count(description, levels);
	struct gd_mipmap *mipmap = gd_object_new(GD_TYPE_MIPMAP);
	CUresult result = mipmap ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	for (unsigned i = 0; i < levels && result == CUDA_SUCCESS; i++) {
		CUDA_ARRAY3D_DESCRIPTOR level = *description;
		level.Width = halved(level.Width, i);
		level.Height = halved(level.Height, i);
		level.Depth = layered(&level) ? level.Depth : halved(level.Depth, i);
		result = make(&level, &mipmap->level[i]);
		if (result != CUDA_SUCCESS)
			break;
		mipmap->level[i]->owned = true;
		mipmap->levels++;
	}
	if (result == CUDA_SUCCESS) {
		gd_object_publish(mipmap, GD_TYPE_MIPMAP);
		*mipmap_out = (CUmipmappedArray)mipmap;
	} else if (mipmap) {
		while (mipmap->levels)
			delete_array(mipmap->level[--mipmap->levels]);
		gd_object_free(mipmap, GD_TYPE_MIPMAP);
	}
	return result;
}

GD_API(cuMipmappedArrayGetLevel, (CUarray * array_out, CUmipmappedArray handle, unsigned int level),
    (array_out, handle, level))
{
	const struct gd_mipmap *mipmap = gd_object_get(handle, GD_TYPE_MIPMAP);
	if (!mipmap)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!array_out || level >= mipmap->levels)
		return CUDA_ERROR_INVALID_VALUE;
	*array_out = (CUarray)mipmap->level[level];
	return CUDA_SUCCESS;
}

GD_API(cuMipmappedArrayDestroy, (CUmipmappedArray handle), (handle))
{
	struct gd_mipmap *mipmap = gd_object_get(handle, GD_TYPE_MIPMAP);
	if (!mipmap)
		return CUDA_ERROR_INVALID_HANDLE;
	while (mipmap->levels)
		delete_array(mipmap->level[--mipmap->levels]);
	gd_object_free(mipmap, GD_TYPE_MIPMAP);
	return CUDA_SUCCESS;
}
