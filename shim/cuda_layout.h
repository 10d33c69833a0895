/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and field positions of the CUDA structs that the recorder reads, as tables: cuda_types.h
 * checks our own declarations against them, hook_check.c those of NVIDIA's cuda.h.
 *
 *   S(since, type, bytes)      F(since, type, field, byte position)
 *
 * A struct that only grows at its end needs no size.
 */
#ifndef GS_CUDA_LAYOUT_H
#define GS_CUDA_LAYOUT_H

#define GS_CUDA_SIZES(S) \
	S(0, CUdevice, 4) \
	S(0, CUdeviceptr, 8) \
	S(0, CUdeviceptr_v1, 4) \
	S(0, CUstream, 8) \
	S(0, CUmemGenericAllocationHandle, 8) \
	S(0, CUmemAllocationHandleType, 4) \
	S(0, CUmem_advise, 4) \
	S(0, CUstreamCaptureMode, 4) \
	S(0, CUstreamCaptureStatus, 4) \
	S(0, CUipcMemHandle, 64) \
	S(0, CUipcEventHandle, 64) \
	S(0, CUmemLocation, 8) \
	S(0, CUDA_LAUNCH_PARAMS, 56) \
	S(12080, CUDA_MEMCPY3D_BATCH_OP, 112)

#define GS_CUDA_FIELDS(F) \
	F(0, CUDA_MEMCPY2D, srcMemoryType, 16) \
	F(0, CUDA_MEMCPY2D, srcHost, 24) \
	F(0, CUDA_MEMCPY2D, srcDevice, 32) \
	F(0, CUDA_MEMCPY2D, srcArray, 40) \
	F(0, CUDA_MEMCPY2D, dstMemoryType, 72) \
	F(0, CUDA_MEMCPY2D, dstHost, 80) \
	F(0, CUDA_MEMCPY2D, dstDevice, 88) \
	F(0, CUDA_MEMCPY2D, dstArray, 96) \
	F(0, CUDA_MEMCPY2D, WidthInBytes, 112) \
	F(0, CUDA_MEMCPY2D, Height, 120) \
	F(0, CUDA_MEMCPY2D_v1, srcMemoryType, 8) \
	F(0, CUDA_MEMCPY2D_v1, srcHost, 16) \
	F(0, CUDA_MEMCPY2D_v1, srcDevice, 24) \
	F(0, CUDA_MEMCPY2D_v1, srcArray, 32) \
	F(0, CUDA_MEMCPY2D_v1, dstMemoryType, 52) \
	F(0, CUDA_MEMCPY2D_v1, dstHost, 56) \
	F(0, CUDA_MEMCPY2D_v1, dstDevice, 64) \
	F(0, CUDA_MEMCPY2D_v1, dstArray, 72) \
	F(0, CUDA_MEMCPY2D_v1, WidthInBytes, 84) \
	F(0, CUDA_MEMCPY2D_v1, Height, 88) \
	F(0, CUDA_MEMCPY3D_v1, srcMemoryType, 16) \
	F(0, CUDA_MEMCPY3D_v1, srcHost, 24) \
	F(0, CUDA_MEMCPY3D_v1, srcDevice, 32) \
	F(0, CUDA_MEMCPY3D_v1, srcArray, 40) \
	F(0, CUDA_MEMCPY3D_v1, dstMemoryType, 80) \
	F(0, CUDA_MEMCPY3D_v1, dstHost, 88) \
	F(0, CUDA_MEMCPY3D_v1, dstDevice, 96) \
	F(0, CUDA_MEMCPY3D_v1, dstArray, 104) \
	F(0, CUDA_MEMCPY3D_v1, WidthInBytes, 128) \
	F(0, CUDA_MEMCPY3D_v1, Height, 132) \
	F(0, CUDA_MEMCPY3D_v1, Depth, 136) \
	F(0, CUDA_MEMCPY3D, srcMemoryType, 32) \
	F(0, CUDA_MEMCPY3D, srcHost, 40) \
	F(0, CUDA_MEMCPY3D, srcDevice, 48) \
	F(0, CUDA_MEMCPY3D, srcArray, 56) \
	F(0, CUDA_MEMCPY3D, dstMemoryType, 120) \
	F(0, CUDA_MEMCPY3D, dstHost, 128) \
	F(0, CUDA_MEMCPY3D, dstDevice, 136) \
	F(0, CUDA_MEMCPY3D, dstArray, 144) \
	F(0, CUDA_MEMCPY3D, WidthInBytes, 176) \
	F(0, CUDA_MEMCPY3D, Height, 184) \
	F(0, CUDA_MEMCPY3D, Depth, 192) \
	F(0, CUDA_MEMCPY3D_PEER, srcMemoryType, 32) \
	F(0, CUDA_MEMCPY3D_PEER, srcHost, 40) \
	F(0, CUDA_MEMCPY3D_PEER, srcDevice, 48) \
	F(0, CUDA_MEMCPY3D_PEER, srcArray, 56) \
	F(0, CUDA_MEMCPY3D_PEER, dstMemoryType, 120) \
	F(0, CUDA_MEMCPY3D_PEER, dstHost, 128) \
	F(0, CUDA_MEMCPY3D_PEER, dstDevice, 136) \
	F(0, CUDA_MEMCPY3D_PEER, dstArray, 144) \
	F(0, CUDA_MEMCPY3D_PEER, WidthInBytes, 176) \
	F(0, CUDA_MEMCPY3D_PEER, Height, 184) \
	F(0, CUDA_MEMCPY3D_PEER, Depth, 192) \
	F(12080, CUmemcpy3DOperand, op, 8) \
	F(12080, CUDA_MEMCPY3D_BATCH_OP, src, 0) \
	F(12080, CUDA_MEMCPY3D_BATCH_OP, dst, 40) \
	F(12080, CUDA_MEMCPY3D_BATCH_OP, extent, 80) \
	F(0, CUDA_LAUNCH_PARAMS, function, 0) \
	F(0, CUDA_LAUNCH_PARAMS, gridDimX, 8) \
	F(0, CUDA_LAUNCH_PARAMS, gridDimY, 12) \
	F(0, CUDA_LAUNCH_PARAMS, gridDimZ, 16) \
	F(0, CUDA_LAUNCH_PARAMS, blockDimX, 20) \
	F(0, CUDA_LAUNCH_PARAMS, blockDimY, 24) \
	F(0, CUDA_LAUNCH_PARAMS, blockDimZ, 28) \
	F(0, CUDA_LAUNCH_PARAMS, sharedMemBytes, 32) \
	F(0, CUDA_LAUNCH_PARAMS, hStream, 40) \
	F(0, CUlaunchConfig, gridDimX, 0) \
	F(0, CUlaunchConfig, gridDimY, 4) \
	F(0, CUlaunchConfig, gridDimZ, 8) \
	F(0, CUlaunchConfig, blockDimX, 12) \
	F(0, CUlaunchConfig, blockDimY, 16) \
	F(0, CUlaunchConfig, blockDimZ, 20) \
	F(0, CUlaunchConfig, sharedMemBytes, 24) \
	F(0, CUlaunchConfig, hStream, 32) \
	F(0, CUlaunchConfig, attrs, 40) \
	F(0, CUlaunchConfig, numAttrs, 48) \
	F(0, CUlaunchAttribute, value, 8) \
	F(0, CUmemAllocationProp, location, 8) \
	F(12010, CUmulticastObjectProp, size, 8) \
	F(0, CUDA_MEM_ALLOC_NODE_PARAMS, bytesize, 104) \
	F(0, CUDA_MEM_ALLOC_NODE_PARAMS, dptr, 112) \
	F(0, CUDA_ARRAY_DESCRIPTOR_v1, Width, 0) \
	F(0, CUDA_ARRAY_DESCRIPTOR_v1, Height, 4) \
	F(0, CUDA_ARRAY_DESCRIPTOR_v1, Format, 8) \
	F(0, CUDA_ARRAY_DESCRIPTOR_v1, NumChannels, 12) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR_v1, Width, 0) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR_v1, Height, 4) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR_v1, Depth, 8) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR_v1, Format, 12) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR_v1, NumChannels, 16) \
	F(0, CUDA_ARRAY_DESCRIPTOR, Width, 0) \
	F(0, CUDA_ARRAY_DESCRIPTOR, Height, 8) \
	F(0, CUDA_ARRAY_DESCRIPTOR, Format, 16) \
	F(0, CUDA_ARRAY_DESCRIPTOR, NumChannels, 20) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR, Width, 0) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR, Height, 8) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR, Depth, 16) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR, Format, 24) \
	F(0, CUDA_ARRAY3D_DESCRIPTOR, NumChannels, 28)

/* numbers that the recorder compares with */
#define GS_CUDA_CONSTANTS(C) \
	C(CUDA_SUCCESS, 0) \
	C(CUDA_ERROR_OUT_OF_MEMORY, 2) \
	C(CUDA_ERROR_NOT_INITIALIZED, 3) \
	C(CUDA_ERROR_ILLEGAL_STATE, 401) \
	C(CUDA_ERROR_NOT_FOUND, 500) \
	C(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, 908) \
	C(CU_MEMORYTYPE_HOST, 1) \
	C(CU_MEMORYTYPE_DEVICE, 2) \
	C(CU_MEMORYTYPE_ARRAY, 3) \
	C(CU_MEM_LOCATION_TYPE_DEVICE, 1) \
	C(CU_STREAM_CAPTURE_STATUS_ACTIVE, 1) \
	C(CU_LAUNCH_ATTRIBUTE_COOPERATIVE, 2) \
	C(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, 4)

#endif
