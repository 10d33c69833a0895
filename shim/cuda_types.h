/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorder's own declarations of the CUDA driver types that hook_table.h names, so that the
 * library builds without any CUDA header.  Handles are opaque; structs have the fields that are
 * read.  cuda_layout.h holds their layout, hook_check.c compares all of it with NVIDIA's cuda.h.
 */
#ifndef GS_CUDA_TYPES_H
#define GS_CUDA_TYPES_H

#include <stddef.h>
#include <stdint.h>

#include "shim/cuda_layout.h"

#define C(name, number) name = number,
typedef enum { GS_CUDA_CONSTANTS(C) } CUresult;
#undef C

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned int CUdeviceptr_v1; /* addresses of the first, 32-bit API */
typedef unsigned long long CUmemGenericAllocationHandle;
typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;

typedef struct CUctx_st *CUcontext;
typedef struct CUgreenCtx_st *CUgreenCtx;
typedef struct CUmod_st *CUmodule;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUfunc_st *CUfunction;
typedef struct CUarray_st *CUarray;
typedef struct CUmipmappedArray_st *CUmipmappedArray;
typedef struct CUevent_st *CUevent;
typedef struct CUstream_st *CUstream;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphExec_st *CUgraphExec;
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUextSemaphore_st *CUexternalSemaphore;

typedef unsigned int CUstreamCaptureMode;
typedef unsigned int CUstreamCaptureStatus;
typedef unsigned int CUmemAllocationHandleType;
typedef unsigned int CUmem_advise;
typedef unsigned int CUjit_option;
typedef unsigned int CUlibraryOption;
typedef unsigned int CUgraphExecUpdateResult;
typedef unsigned int CUmemorytype;

typedef void (*CUhostFn)(void *data);
typedef void (*CUstreamCallback)(CUstream stream, CUresult status, void *data);

/* only passed on */
typedef struct CUctxCreateParams CUctxCreateParams;
typedef struct CUexecAffinityParam CUexecAffinityParam;
typedef struct CUarrayMapInfo CUarrayMapInfo;
typedef struct CUgraphEdgeData CUgraphEdgeData;
typedef struct CUgraphNodeParams CUgraphNodeParams;
typedef struct CUgraphExecUpdateResultInfo CUgraphExecUpdateResultInfo;
typedef struct CUmemDecompressParams CUmemDecompressParams;
typedef union CUstreamBatchMemOpParams CUstreamBatchMemOpParams;
typedef struct CUDA_BATCH_MEM_OP_NODE_PARAMS CUDA_BATCH_MEM_OP_NODE_PARAMS;
typedef struct CUDA_EXT_SEM_SIGNAL_NODE_PARAMS CUDA_EXT_SEM_SIGNAL_NODE_PARAMS;
typedef struct CUDA_EXT_SEM_WAIT_NODE_PARAMS CUDA_EXT_SEM_WAIT_NODE_PARAMS;
typedef struct CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS;
typedef struct CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS;
typedef struct CUDA_GRAPH_INSTANTIATE_PARAMS CUDA_GRAPH_INSTANTIATE_PARAMS;
typedef struct CUDA_HOST_NODE_PARAMS CUDA_HOST_NODE_PARAMS;
typedef struct CUDA_KERNEL_NODE_PARAMS_v1 CUDA_KERNEL_NODE_PARAMS_v1;
typedef struct CUDA_KERNEL_NODE_PARAMS CUDA_KERNEL_NODE_PARAMS;
typedef struct CUDA_MEMSET_NODE_PARAMS CUDA_MEMSET_NODE_PARAMS;
typedef struct CUmemAccessDesc CUmemAccessDesc;
typedef struct CUmemPoolProps CUmemPoolProps;
typedef struct CUmemPoolPtrExportData CUmemPoolPtrExportData;
typedef struct CUmemcpyAttributes CUmemcpyAttributes;

typedef struct {
	char reserved[64];
} CUipcMemHandle;

typedef struct {
	char reserved[64];
} CUipcEventHandle;

typedef struct {
	unsigned int type;
	int id;
} CUmemLocation;

typedef struct {
	size_t srcXInBytes, srcY;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	size_t srcPitch;
	size_t dstXInBytes, dstY;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	size_t dstPitch;
	size_t WidthInBytes;
	size_t Height;
} CUDA_MEMCPY2D;

/* The same of the first, 32-bit API. */
typedef struct {
	unsigned int srcXInBytes, srcY;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr_v1 srcDevice;
	CUarray srcArray;
	unsigned int srcPitch;
	unsigned int dstXInBytes, dstY;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr_v1 dstDevice;
	CUarray dstArray;
	unsigned int dstPitch;
	unsigned int WidthInBytes, Height;
} CUDA_MEMCPY2D_v1;

typedef struct {
	unsigned int srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr_v1 srcDevice;
	CUarray srcArray;
	void *srcReserved;
	unsigned int srcPitch, srcHeight;
	unsigned int dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr_v1 dstDevice;
	CUarray dstArray;
	void *dstReserved;
	unsigned int dstPitch, dstHeight;
	unsigned int WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_v1;

typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	void *srcReserved;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	void *dstReserved;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D;

/* The same but for the contexts in place of the reserved pointers. */
typedef struct {
	size_t srcXInBytes, srcY, srcZ, srcLOD;
	CUmemorytype srcMemoryType;
	const void *srcHost;
	CUdeviceptr srcDevice;
	CUarray srcArray;
	CUcontext srcContext;
	size_t srcPitch, srcHeight;
	size_t dstXInBytes, dstY, dstZ, dstLOD;
	CUmemorytype dstMemoryType;
	void *dstHost;
	CUdeviceptr dstDevice;
	CUarray dstArray;
	CUcontext dstContext;
	size_t dstPitch, dstHeight;
	size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER;

typedef struct {
	unsigned int type;
	struct {
		uint64_t pointer; /* or the array; both come first */
		uint64_t rest[3];
	} op;
} CUmemcpy3DOperand;

typedef struct {
	CUmemcpy3DOperand src, dst;
	struct {
		size_t width, height, depth; /* in elements */
	} extent;
	unsigned int srcAccessOrder;
	unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP;

typedef struct {
	CUfunction function;
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	void **kernelParams;
} CUDA_LAUNCH_PARAMS;

typedef struct {
	unsigned int id;
	union {
		char pad[64]; /* begins at byte 8: other members hold pointers */
		int cooperative;
		struct {
			unsigned int x, y, z;
		} clusterDim;
		void *pointer;
	} value;
} CUlaunchAttribute;

typedef struct {
	unsigned int gridDimX, gridDimY, gridDimZ;
	unsigned int blockDimX, blockDimY, blockDimZ;
	unsigned int sharedMemBytes;
	CUstream hStream;
	CUlaunchAttribute *attrs;
	unsigned int numAttrs;
} CUlaunchConfig;

typedef struct {
	unsigned int type, requestedHandleTypes;
	CUmemLocation location;
} CUmemAllocationProp;

typedef struct {
	unsigned int numDevices;
	size_t size;
} CUmulticastObjectProp;

typedef struct {
	char pool[88], access[16];
	size_t bytesize;
	CUdeviceptr dptr; /* out */
} CUDA_MEM_ALLOC_NODE_PARAMS;

typedef struct {
	size_t Width, Height;
	unsigned int Format;
	unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR;

typedef struct {
	unsigned int Width, Height;
	unsigned int Format;
	unsigned int NumChannels;
} CUDA_ARRAY_DESCRIPTOR_v1;

typedef struct {
	unsigned int Width, Height, Depth;
	unsigned int Format;
	unsigned int NumChannels;
	unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR_v1;

typedef struct {
	size_t Width, Height, Depth;
	unsigned int Format;
	unsigned int NumChannels;
	unsigned int Flags;
} CUDA_ARRAY3D_DESCRIPTOR;

#define S(since, type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type);
GS_CUDA_SIZES(S)
#undef S
#define F(since, type, field, position) \
	_Static_assert(offsetof(type, field) == (position), #type "." #field);
GS_CUDA_FIELDS(F)
#undef F

#endif
