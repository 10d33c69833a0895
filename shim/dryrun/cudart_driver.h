/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The driver functions the runtime asks cuGetProcAddress for: base name and ABI version, and for
 * stream-ordered ones the version of the per-thread-default-stream form as well.
 *
 * GD_DRIVER_FUNCTIONS(X, P): X(name, version), P(name, version, per-thread version).
 * Names and versions are those of cudaTypedefs.h; rows below a version guard exist only there.
 */
#ifndef GD_CUDART_DRIVER_H
#define GD_CUDART_DRIVER_H

#if CUDA_VERSION >= 12000
#define GD_DRIVER_FUNCTIONS_12(X, P) \
	X(cuLibraryLoadData, 12000) \
	X(cuLibraryLoadFromFile, 12000) \
	X(cuLibraryUnload, 12000) \
	X(cuLibraryGetKernel, 12000) \
	X(cuLibraryGetGlobal, 12000) \
	X(cuLibraryGetManaged, 12000) \
	X(cuLibraryGetUnifiedFunction, 12000) \
	X(cuKernelSetAttribute, 12000) \
	X(cuGraphExecUpdate, 12000)
#else
#define GD_DRIVER_FUNCTIONS_12(X, P) X(cuGraphExecUpdate, 10020)
#endif
#if CUDA_VERSION >= 12040
#define GD_DRIVER_FUNCTIONS_124(X, P) \
	X(cuLibraryGetKernelCount, 12040) \
	X(cuGraphAddNode, 12030) \
	X(cuGraphConditionalHandleCreate, 12030) \
	P(cuStreamBeginCaptureToGraph, 12030, 12030)
#else
#define GD_DRIVER_FUNCTIONS_124(X, P)
#endif
#if CUDA_VERSION >= 13000 /* dependencies with edge data */
#define GD_DRIVER_FUNCTIONS_EDGE(X, P) \
	P(cuStreamGetCaptureInfo, 12030, 12030) \
	P(cuStreamUpdateCaptureDependencies, 12030, 12030) \
	X(cuGraphNodeGetDependencies, 12030) \
	X(cuGraphNodeGetDependentNodes, 12030) \
	X(cuGraphGetEdges, 12030)
#else
#define GD_DRIVER_FUNCTIONS_EDGE(X, P) \
	P(cuStreamGetCaptureInfo, 11030, 11030) \
	P(cuStreamUpdateCaptureDependencies, 11030, 11030) \
	X(cuGraphNodeGetDependencies, 10000) \
	X(cuGraphNodeGetDependentNodes, 10000) \
	X(cuGraphGetEdges, 10000)
#endif
#if CUDA_VERSION >= 13000
#define GD_DRIVER_FUNCTIONS_ADVISE(X, P) \
	P(cuMemPrefetchAsync, 12020, 12020) \
	X(cuMemAdvise, 12020)
#else
#define GD_DRIVER_FUNCTIONS_ADVISE(X, P) \
	P(cuMemPrefetchAsync, 8000, 8000) \
	X(cuMemAdvise, 8000)
#endif

#define GD_DRIVER_FUNCTIONS(X, P) \
	X(cuInit, 2000) \
	X(cuDriverGetVersion, 2020) \
	X(cuDeviceGet, 2000) \
	X(cuDeviceGetCount, 2000) \
	X(cuDeviceGetName, 2000) \
	X(cuDeviceGetUuid, 11040) \
	X(cuDeviceTotalMem, 3020) \
	X(cuDeviceGetAttribute, 2000) \
	X(cuDeviceGetPCIBusId, 4010) \
	X(cuDeviceGetByPCIBusId, 4010) \
	X(cuDeviceCanAccessPeer, 4000) \
	X(cuDeviceGetP2PAttribute, 8000) \
	X(cuDeviceGetDefaultMemPool, 11020) \
	X(cuDeviceGetMemPool, 11020) \
	X(cuDeviceSetMemPool, 11020) \
	X(cuDeviceGetGraphMemAttribute, 11040) \
	X(cuDeviceSetGraphMemAttribute, 11040) \
	X(cuDeviceGraphMemTrim, 11040) \
	X(cuDevicePrimaryCtxRetain, 7000) \
	X(cuDevicePrimaryCtxReset, 11000) \
	X(cuDevicePrimaryCtxGetState, 7000) \
	X(cuDevicePrimaryCtxSetFlags, 11000) \
	X(cuCtxGetCurrent, 4000) \
	X(cuCtxSetCurrent, 4000) \
	X(cuCtxGetDevice, 2000) \
	X(cuCtxSynchronize, 2000) \
	X(cuCtxGetLimit, 3010) \
	X(cuCtxSetLimit, 3010) \
	X(cuCtxGetCacheConfig, 3020) \
	X(cuCtxSetCacheConfig, 3020) \
	X(cuCtxGetStreamPriorityRange, 5050) \
	X(cuCtxEnablePeerAccess, 4000) \
	X(cuCtxDisablePeerAccess, 4000) \
	X(cuMemGetInfo, 3020) \
	X(cuMemAlloc, 3020) \
	X(cuMemAllocPitch, 3020) \
	X(cuMemAllocManaged, 6000) \
	X(cuMemFree, 3020) \
	X(cuMemHostAlloc, 2020) \
	X(cuMemFreeHost, 2000) \
	X(cuMemHostRegister, 6050) \
	X(cuMemHostUnregister, 4000) \
	X(cuMemHostGetDevicePointer, 3020) \
	X(cuMemHostGetFlags, 2030) \
	X(cuPointerGetAttributes, 7000) \
	X(cuIpcGetMemHandle, 4010) \
	X(cuIpcOpenMemHandle, 11000) \
	X(cuIpcCloseMemHandle, 4010) \
	X(cuIpcGetEventHandle, 4010) \
	X(cuIpcOpenEventHandle, 4010) \
	P(cuMemAllocAsync, 11020, 11020) \
	P(cuMemAllocFromPoolAsync, 11020, 11020) \
	P(cuMemFreeAsync, 11020, 11020) \
	X(cuMemPoolCreate, 11020) \
	X(cuMemPoolDestroy, 11020) \
	X(cuMemPoolTrimTo, 11020) \
	X(cuMemPoolSetAttribute, 11020) \
	X(cuMemPoolGetAttribute, 11020) \
	X(cuMemPoolSetAccess, 11020) \
	X(cuMemPoolGetAccess, 11020) \
	P(cuMemcpy, 4000, 7000) \
	P(cuMemcpyHtoD, 3020, 7000) \
	P(cuMemcpyDtoH, 3020, 7000) \
	P(cuMemcpyDtoD, 3020, 7000) \
	P(cuMemcpy2DUnaligned, 3020, 7000) \
	P(cuMemcpy3D, 3020, 7000) \
	P(cuMemcpyPeer, 4000, 7000) \
	P(cuMemcpyAsync, 4000, 7000) \
	P(cuMemcpyHtoDAsync, 3020, 7000) \
	P(cuMemcpyDtoHAsync, 3020, 7000) \
	P(cuMemcpyDtoDAsync, 3020, 7000) \
	P(cuMemcpyPeerAsync, 4000, 7000) \
	P(cuMemcpy2DAsync, 3020, 7000) \
	P(cuMemcpy3DAsync, 3020, 7000) \
	P(cuMemsetD8, 3020, 7000) \
	P(cuMemsetD2D8, 3020, 7000) \
	P(cuMemsetD8Async, 3020, 7000) \
	P(cuMemsetD2D8Async, 3020, 7000) \
	X(cuStreamCreate, 2000) \
	X(cuStreamCreateWithPriority, 5050) \
	X(cuStreamDestroy, 4000) \
	P(cuStreamGetPriority, 5050, 7000) \
	P(cuStreamGetFlags, 5050, 7000) \
	P(cuStreamQuery, 2000, 7000) \
	P(cuStreamSynchronize, 2000, 7000) \
	P(cuStreamWaitEvent, 3020, 7000) \
	P(cuStreamAddCallback, 5000, 7000) \
	P(cuStreamAttachMemAsync, 6000, 7000) \
	P(cuLaunchHostFunc, 10000, 10000) \
	X(cuEventCreate, 2000) \
	X(cuEventDestroy, 4000) \
	X(cuEventQuery, 2000) \
	X(cuEventSynchronize, 2000) \
	X(cuEventElapsedTime, 2000) \
	P(cuEventRecord, 2000, 7000) \
	P(cuEventRecordWithFlags, 11010, 11010) \
	P(cuStreamBeginCapture, 10010, 10010) \
	P(cuStreamEndCapture, 10000, 10000) \
	P(cuStreamIsCapturing, 10000, 10000) \
	X(cuThreadExchangeStreamCaptureMode, 10010) \
	X(cuGraphAddEmptyNode, 10000) \
	X(cuGraphCreate, 10000) \
	X(cuGraphDestroy, 10000) \
	X(cuGraphClone, 10000) \
	X(cuGraphGetNodes, 10000) \
	X(cuGraphGetRootNodes, 10000) \
	X(cuGraphNodeGetType, 10000) \
	X(cuGraphDebugDotPrint, 11030) \
	X(cuGraphInstantiateWithFlags, 11040) \
	X(cuGraphExecDestroy, 10000) \
	P(cuGraphLaunch, 10000, 10000) \
	P(cuGraphUpload, 11010, 11010) \
	X(cuGraphRetainUserObject, 11030) \
	X(cuGraphReleaseUserObject, 11030) \
	X(cuUserObjectCreate, 11030) \
	X(cuUserObjectRetain, 11030) \
	X(cuUserObjectRelease, 11030) \
	P(cuLaunchKernel, 4000, 7000) \
	P(cuLaunchKernelEx, 11060, 11060) \
	P(cuLaunchCooperativeKernel, 9000, 9000) \
	X(cuModuleLoadData, 2000) \
	X(cuModuleUnload, 2000) \
	X(cuModuleGetFunction, 2000) \
	X(cuModuleGetGlobal, 3020) \
	X(cuFuncGetAttribute, 2020) \
	X(cuFuncSetAttribute, 9000) \
	X(cuFuncSetCacheConfig, 3000) \
	X(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000) \
	X(cuOccupancyAvailableDynamicSMemPerBlock, 10020) \
	X(cuProfilerStart, 4000) \
	X(cuProfilerStop, 4000) \
	GD_DRIVER_FUNCTIONS_12(X, P) \
	GD_DRIVER_FUNCTIONS_124(X, P) \
	GD_DRIVER_FUNCTIONS_EDGE(X, P) \
	GD_DRIVER_FUNCTIONS_ADVISE(X, P)

#endif
