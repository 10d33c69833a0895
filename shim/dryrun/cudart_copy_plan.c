/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart_copy_plan.h"

static inline CUdeviceptr device(const void *pointer)
{
	return (CUdeviceptr)(uintptr_t)pointer;
}

/* Which side of a pitched copy is memory of what kind. */
static cudaError_t sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
	static const CUmemorytype table[][2] = {
	    [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
	    [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
	    [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
	    [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
	    [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
	};

	if ((unsigned)kind >= sizeof(table) / sizeof(*table))
		return cudaErrorInvalidMemcpyDirection;
	*from = table[kind][0];
	*to = table[kind][1];
	return cudaSuccess;
}

cudaError_t gd_rt_plan_2d(CUDA_MEMCPY2D *plan, void *to, size_t to_pitch, const void *from,
    size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
	*plan = (CUDA_MEMCPY2D){0};
	if (!gd_rt_pitch_fits(to_pitch, width, height) ||
	    !gd_rt_pitch_fits(from_pitch, width, height))
		return cudaErrorInvalidPitchValue;
	plan->srcHost = from;
	plan->srcDevice = device(from);
	plan->srcPitch = from_pitch;
	plan->dstHost = to;
	plan->dstDevice = device(to);
	plan->dstPitch = to_pitch;
	plan->WidthInBytes = width;
	plan->Height = height;
	return sides(kind, &plan->srcMemoryType, &plan->dstMemoryType);
}

static bool box_fits(
    const struct cudaPitchedPtr *memory, const struct cudaPos *at, const struct cudaExtent *extent)
{
	size_t right;

	if (extent->height <= 1 && extent->depth <= 1)
		return true;
	return !__builtin_add_overflow(at->x, extent->width, &right) && memory->pitch >= right;
}

/* Both sides name their fields alike. */
#define PLAN_BOX(plan, p, side) \
	do { \
		(plan)->side##XInBytes = (p)->side##Pos.x; \
		(plan)->side##Y = (p)->side##Pos.y; \
		(plan)->side##Z = (p)->side##Pos.z; \
		(plan)->side##Host = (p)->side##Ptr.ptr; \
		(plan)->side##Device = device((p)->side##Ptr.ptr); \
		(plan)->side##Pitch = (p)->side##Ptr.pitch; \
		(plan)->side##Height = (p)->side##Ptr.ysize; \
	} while (0)

/* Arrays (textures) are not part of the stand-in runtime. */
cudaError_t gd_rt_plan_3d(CUDA_MEMCPY3D *plan, const struct cudaMemcpy3DParms *p)
{
	*plan = (CUDA_MEMCPY3D){0};
	if (p->srcArray || p->dstArray)
		return cudaErrorNotSupported;
	if (!box_fits(&p->srcPtr, &p->srcPos, &p->extent) ||
	    !box_fits(&p->dstPtr, &p->dstPos, &p->extent))
		return cudaErrorInvalidPitchValue;
	PLAN_BOX(plan, p, src);
	PLAN_BOX(plan, p, dst);
	plan->WidthInBytes = p->extent.width;
	plan->Height = p->extent.height;
	plan->Depth = p->extent.depth;
	return sides(p->kind, &plan->srcMemoryType, &plan->dstMemoryType);
}
