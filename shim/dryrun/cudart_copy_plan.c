/* SPDX-License-Identifier: Apache-2.0 */
#include "cudart_copy_plan.h"

static inline CUdeviceptr device(const void *pointer)
{
	return (CUdeviceptr)(uintptr_t)pointer;
}

/* Which side of a pitched copy is memory of what kind; false for a direction that does not exist.
 */
static bool sides(enum cudaMemcpyKind kind, CUmemorytype *from, CUmemorytype *to)
{
	static const CUmemorytype table[][2] = {
	    [cudaMemcpyHostToHost] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_HOST},
	    [cudaMemcpyHostToDevice] = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE},
	    [cudaMemcpyDeviceToHost] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_HOST},
	    [cudaMemcpyDeviceToDevice] = {CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_DEVICE},
	    [cudaMemcpyDefault] = {CU_MEMORYTYPE_UNIFIED, CU_MEMORYTYPE_UNIFIED},
	};

	if ((unsigned)kind >= sizeof(table) / sizeof(*table))
		return false;
	*from = table[kind][0];
	*to = table[kind][1];
	return true;
}

bool gd_rt_plan_2d(CUDA_MEMCPY2D *plan, void *to, size_t to_pitch, const void *from,
    size_t from_pitch, size_t width, size_t height, enum cudaMemcpyKind kind)
{
	*plan = (CUDA_MEMCPY2D){0};
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

/* Arrays (textures) are not part of the stand-in runtime. */
cudaError_t gd_rt_plan_3d(CUDA_MEMCPY3D *plan, const struct cudaMemcpy3DParms *p)
{
	*plan = (CUDA_MEMCPY3D){0};
	if (p->srcArray || p->dstArray)
		return cudaErrorNotSupported;
	plan->srcXInBytes = p->srcPos.x;
	plan->srcY = p->srcPos.y;
	plan->srcZ = p->srcPos.z;
	plan->srcHost = p->srcPtr.ptr;
	plan->srcDevice = device(p->srcPtr.ptr);
	plan->srcPitch = p->srcPtr.pitch;
	plan->srcHeight = p->srcPtr.ysize;
	plan->dstXInBytes = p->dstPos.x;
	plan->dstY = p->dstPos.y;
	plan->dstZ = p->dstPos.z;
	plan->dstHost = p->dstPtr.ptr;
	plan->dstDevice = device(p->dstPtr.ptr);
	plan->dstPitch = p->dstPtr.pitch;
	plan->dstHeight = p->dstPtr.ysize;
	plan->WidthInBytes = p->extent.width;
	plan->Height = p->extent.height;
	plan->Depth = p->extent.depth;
	return sides(p->kind, &plan->srcMemoryType, &plan->dstMemoryType)
		   ? cudaSuccess
		   : cudaErrorInvalidMemcpyDirection;
}
