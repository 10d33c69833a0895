/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the CUDA driver, made by scripts/gen-driver-functions.py
 * from the CUDA 13000 headers.  Do not edit.
 */
#ifndef GD_DRIVER_FUNCTIONS_H
#define GD_DRIVER_FUNCTIONS_H

/* clang-format off */
/* S(exported symbol) */
#define GD_DRIVER_SYMBOLS(S) \
	S(cuArray3DCreate) \
	S(cuArray3DCreate_v2) \
	S(cuArray3DGetDescriptor) \
	S(cuArray3DGetDescriptor_v2) \
	S(cuArrayCreate) \
	S(cuArrayCreate_v2) \
	S(cuArrayDestroy) \
	S(cuArrayGetDescriptor) \
	S(cuArrayGetDescriptor_v2) \
	S(cuArrayGetMemoryRequirements) \
	S(cuArrayGetPlane) \
	S(cuArrayGetSparseProperties) \
	S(cuCheckpointProcessCheckpoint) \
	S(cuCheckpointProcessGetRestoreThreadId) \
	S(cuCheckpointProcessGetState) \
	S(cuCheckpointProcessLock) \
	S(cuCheckpointProcessRestore) \
	S(cuCheckpointProcessUnlock) \
	S(cuCoredumpGetAttribute) \
	S(cuCoredumpGetAttributeGlobal) \
	S(cuCoredumpSetAttribute) \
	S(cuCoredumpSetAttributeGlobal) \
	S(cuCtxAttach) \
	S(cuCtxCreate) \
	S(cuCtxCreate_v2) \
	S(cuCtxCreate_v3) \
	S(cuCtxCreate_v4) \
	S(cuCtxDestroy) \
	S(cuCtxDestroy_v2) \
	S(cuCtxDetach) \
	S(cuCtxDisablePeerAccess) \
	S(cuCtxEnablePeerAccess) \
	S(cuCtxFromGreenCtx) \
	S(cuCtxGetApiVersion) \
	S(cuCtxGetCacheConfig) \
	S(cuCtxGetCurrent) \
	S(cuCtxGetDevResource) \
	S(cuCtxGetDevice) \
	S(cuCtxGetDevice_v2) \
	S(cuCtxGetExecAffinity) \
	S(cuCtxGetFlags) \
	S(cuCtxGetId) \
	S(cuCtxGetLimit) \
	S(cuCtxGetSharedMemConfig) \
	S(cuCtxGetStreamPriorityRange) \
	S(cuCtxPopCurrent) \
	S(cuCtxPopCurrent_v2) \
	S(cuCtxPushCurrent) \
	S(cuCtxPushCurrent_v2) \
	S(cuCtxRecordEvent) \
	S(cuCtxResetPersistingL2Cache) \
	S(cuCtxSetCacheConfig) \
	S(cuCtxSetCurrent) \
	S(cuCtxSetFlags) \
	S(cuCtxSetLimit) \
	S(cuCtxSetSharedMemConfig) \
	S(cuCtxSynchronize) \
	S(cuCtxSynchronize_v2) \
	S(cuCtxWaitEvent) \
	S(cuDestroyExternalMemory) \
	S(cuDestroyExternalSemaphore) \
	S(cuDevResourceGenerateDesc) \
	S(cuDevSmResourceSplitByCount) \
	S(cuDeviceCanAccessPeer) \
	S(cuDeviceComputeCapability) \
	S(cuDeviceGet) \
	S(cuDeviceGetAttribute) \
	S(cuDeviceGetByPCIBusId) \
	S(cuDeviceGetCount) \
	S(cuDeviceGetDefaultMemPool) \
	S(cuDeviceGetDevResource) \
	S(cuDeviceGetExecAffinitySupport) \
	S(cuDeviceGetGraphMemAttribute) \
	S(cuDeviceGetHostAtomicCapabilities) \
	S(cuDeviceGetLuid) \
	S(cuDeviceGetMemPool) \
	S(cuDeviceGetName) \
	S(cuDeviceGetNvSciSyncAttributes) \
	S(cuDeviceGetP2PAtomicCapabilities) \
	S(cuDeviceGetP2PAttribute) \
	S(cuDeviceGetPCIBusId) \
	S(cuDeviceGetProperties) \
	S(cuDeviceGetTexture1DLinearMaxWidth) \
	S(cuDeviceGetUuid) \
	S(cuDeviceGetUuid_v2) \
	S(cuDeviceGraphMemTrim) \
	S(cuDevicePrimaryCtxGetState) \
	S(cuDevicePrimaryCtxRelease) \
	S(cuDevicePrimaryCtxRelease_v2) \
	S(cuDevicePrimaryCtxReset) \
	S(cuDevicePrimaryCtxReset_v2) \
	S(cuDevicePrimaryCtxRetain) \
	S(cuDevicePrimaryCtxSetFlags) \
	S(cuDevicePrimaryCtxSetFlags_v2) \
	S(cuDeviceRegisterAsyncNotification) \
	S(cuDeviceSetGraphMemAttribute) \
	S(cuDeviceSetMemPool) \
	S(cuDeviceTotalMem) \
	S(cuDeviceTotalMem_v2) \
	S(cuDeviceUnregisterAsyncNotification) \
	S(cuDriverGetVersion) \
	S(cuEventCreate) \
	S(cuEventDestroy) \
	S(cuEventDestroy_v2) \
	S(cuEventElapsedTime) \
	S(cuEventElapsedTime_v2) \
	S(cuEventQuery) \
	S(cuEventRecord) \
	S(cuEventRecordWithFlags) \
	S(cuEventRecordWithFlags_ptsz) \
	S(cuEventRecord_ptsz) \
	S(cuEventSynchronize) \
	S(cuExternalMemoryGetMappedBuffer) \
	S(cuExternalMemoryGetMappedMipmappedArray) \
	S(cuFlushGPUDirectRDMAWrites) \
	S(cuFuncGetAttribute) \
	S(cuFuncGetModule) \
	S(cuFuncGetName) \
	S(cuFuncGetParamInfo) \
	S(cuFuncIsLoaded) \
	S(cuFuncLoad) \
	S(cuFuncSetAttribute) \
	S(cuFuncSetBlockShape) \
	S(cuFuncSetCacheConfig) \
	S(cuFuncSetSharedMemConfig) \
	S(cuFuncSetSharedSize) \
	S(cuGetErrorName) \
	S(cuGetErrorString) \
	S(cuGetExportTable) \
	S(cuGetProcAddress) \
	S(cuGetProcAddress_v2) \
	S(cuGraphAddBatchMemOpNode) \
	S(cuGraphAddChildGraphNode) \
	S(cuGraphAddDependencies) \
	S(cuGraphAddDependencies_v2) \
	S(cuGraphAddEmptyNode) \
	S(cuGraphAddEventRecordNode) \
	S(cuGraphAddEventWaitNode) \
	S(cuGraphAddExternalSemaphoresSignalNode) \
	S(cuGraphAddExternalSemaphoresWaitNode) \
	S(cuGraphAddHostNode) \
	S(cuGraphAddKernelNode) \
	S(cuGraphAddKernelNode_v2) \
	S(cuGraphAddMemAllocNode) \
	S(cuGraphAddMemFreeNode) \
	S(cuGraphAddMemcpyNode) \
	S(cuGraphAddMemsetNode) \
	S(cuGraphAddNode) \
	S(cuGraphAddNode_v2) \
	S(cuGraphBatchMemOpNodeGetParams) \
	S(cuGraphBatchMemOpNodeSetParams) \
	S(cuGraphChildGraphNodeGetGraph) \
	S(cuGraphClone) \
	S(cuGraphConditionalHandleCreate) \
	S(cuGraphCreate) \
	S(cuGraphDebugDotPrint) \
	S(cuGraphDestroy) \
	S(cuGraphDestroyNode) \
	S(cuGraphEventRecordNodeGetEvent) \
	S(cuGraphEventRecordNodeSetEvent) \
	S(cuGraphEventWaitNodeGetEvent) \
	S(cuGraphEventWaitNodeSetEvent) \
	S(cuGraphExecBatchMemOpNodeSetParams) \
	S(cuGraphExecChildGraphNodeSetParams) \
	S(cuGraphExecDestroy) \
	S(cuGraphExecEventRecordNodeSetEvent) \
	S(cuGraphExecEventWaitNodeSetEvent) \
	S(cuGraphExecExternalSemaphoresSignalNodeSetParams) \
	S(cuGraphExecExternalSemaphoresWaitNodeSetParams) \
	S(cuGraphExecGetFlags) \
	S(cuGraphExecHostNodeSetParams) \
	S(cuGraphExecKernelNodeSetParams) \
	S(cuGraphExecKernelNodeSetParams_v2) \
	S(cuGraphExecMemcpyNodeSetParams) \
	S(cuGraphExecMemsetNodeSetParams) \
	S(cuGraphExecNodeSetParams) \
	S(cuGraphExecUpdate) \
	S(cuGraphExecUpdate_v2) \
	S(cuGraphExternalSemaphoresSignalNodeGetParams) \
	S(cuGraphExternalSemaphoresSignalNodeSetParams) \
	S(cuGraphExternalSemaphoresWaitNodeGetParams) \
	S(cuGraphExternalSemaphoresWaitNodeSetParams) \
	S(cuGraphGetEdges) \
	S(cuGraphGetEdges_v2) \
	S(cuGraphGetNodes) \
	S(cuGraphGetRootNodes) \
	S(cuGraphHostNodeGetParams) \
	S(cuGraphHostNodeSetParams) \
	S(cuGraphInstantiate) \
	S(cuGraphInstantiateWithFlags) \
	S(cuGraphInstantiateWithParams) \
	S(cuGraphInstantiateWithParams_ptsz) \
	S(cuGraphInstantiate_v2) \
	S(cuGraphKernelNodeCopyAttributes) \
	S(cuGraphKernelNodeGetAttribute) \
	S(cuGraphKernelNodeGetParams) \
	S(cuGraphKernelNodeGetParams_v2) \
	S(cuGraphKernelNodeSetAttribute) \
	S(cuGraphKernelNodeSetParams) \
	S(cuGraphKernelNodeSetParams_v2) \
	S(cuGraphLaunch) \
	S(cuGraphLaunch_ptsz) \
	S(cuGraphMemAllocNodeGetParams) \
	S(cuGraphMemFreeNodeGetParams) \
	S(cuGraphMemcpyNodeGetParams) \
	S(cuGraphMemcpyNodeSetParams) \
	S(cuGraphMemsetNodeGetParams) \
	S(cuGraphMemsetNodeSetParams) \
	S(cuGraphNodeFindInClone) \
	S(cuGraphNodeGetDependencies) \
	S(cuGraphNodeGetDependencies_v2) \
	S(cuGraphNodeGetDependentNodes) \
	S(cuGraphNodeGetDependentNodes_v2) \
	S(cuGraphNodeGetEnabled) \
	S(cuGraphNodeGetType) \
	S(cuGraphNodeSetEnabled) \
	S(cuGraphNodeSetParams) \
	S(cuGraphReleaseUserObject) \
	S(cuGraphRemoveDependencies) \
	S(cuGraphRemoveDependencies_v2) \
	S(cuGraphRetainUserObject) \
	S(cuGraphUpload) \
	S(cuGraphUpload_ptsz) \
	S(cuGraphicsMapResources) \
	S(cuGraphicsMapResources_ptsz) \
	S(cuGraphicsResourceGetMappedMipmappedArray) \
	S(cuGraphicsResourceGetMappedPointer) \
	S(cuGraphicsResourceGetMappedPointer_v2) \
	S(cuGraphicsResourceSetMapFlags) \
	S(cuGraphicsResourceSetMapFlags_v2) \
	S(cuGraphicsSubResourceGetMappedArray) \
	S(cuGraphicsUnmapResources) \
	S(cuGraphicsUnmapResources_ptsz) \
	S(cuGraphicsUnregisterResource) \
	S(cuGreenCtxCreate) \
	S(cuGreenCtxDestroy) \
	S(cuGreenCtxGetDevResource) \
	S(cuGreenCtxGetId) \
	S(cuGreenCtxRecordEvent) \
	S(cuGreenCtxStreamCreate) \
	S(cuGreenCtxWaitEvent) \
	S(cuImportExternalMemory) \
	S(cuImportExternalSemaphore) \
	S(cuInit) \
	S(cuIpcCloseMemHandle) \
	S(cuIpcGetEventHandle) \
	S(cuIpcGetMemHandle) \
	S(cuIpcOpenEventHandle) \
	S(cuIpcOpenMemHandle) \
	S(cuIpcOpenMemHandle_v2) \
	S(cuKernelGetAttribute) \
	S(cuKernelGetFunction) \
	S(cuKernelGetLibrary) \
	S(cuKernelGetName) \
	S(cuKernelGetParamInfo) \
	S(cuKernelSetAttribute) \
	S(cuKernelSetCacheConfig) \
	S(cuLaunch) \
	S(cuLaunchCooperativeKernel) \
	S(cuLaunchCooperativeKernelMultiDevice) \
	S(cuLaunchCooperativeKernel_ptsz) \
	S(cuLaunchGrid) \
	S(cuLaunchGridAsync) \
	S(cuLaunchHostFunc) \
	S(cuLaunchHostFunc_ptsz) \
	S(cuLaunchHostFunc_v2) \
	S(cuLaunchHostFunc_v2_ptsz) \
	S(cuLaunchKernel) \
	S(cuLaunchKernelEx) \
	S(cuLaunchKernelEx_ptsz) \
	S(cuLaunchKernel_ptsz) \
	S(cuLibraryEnumerateKernels) \
	S(cuLibraryGetGlobal) \
	S(cuLibraryGetKernel) \
	S(cuLibraryGetKernelCount) \
	S(cuLibraryGetManaged) \
	S(cuLibraryGetModule) \
	S(cuLibraryGetUnifiedFunction) \
	S(cuLibraryLoadData) \
	S(cuLibraryLoadFromFile) \
	S(cuLibraryUnload) \
	S(cuLinkAddData) \
	S(cuLinkAddData_v2) \
	S(cuLinkAddFile) \
	S(cuLinkAddFile_v2) \
	S(cuLinkComplete) \
	S(cuLinkCreate) \
	S(cuLinkCreate_v2) \
	S(cuLinkDestroy) \
	S(cuLogsCurrent) \
	S(cuLogsDumpToFile) \
	S(cuLogsDumpToMemory) \
	S(cuLogsRegisterCallback) \
	S(cuLogsUnregisterCallback) \
	S(cuMemAddressFree) \
	S(cuMemAddressReserve) \
	S(cuMemAdvise) \
	S(cuMemAdvise_v2) \
	S(cuMemAlloc) \
	S(cuMemAllocAsync) \
	S(cuMemAllocAsync_ptsz) \
	S(cuMemAllocFromPoolAsync) \
	S(cuMemAllocFromPoolAsync_ptsz) \
	S(cuMemAllocHost) \
	S(cuMemAllocHost_v2) \
	S(cuMemAllocManaged) \
	S(cuMemAllocPitch) \
	S(cuMemAllocPitch_v2) \
	S(cuMemAlloc_v2) \
	S(cuMemBatchDecompressAsync) \
	S(cuMemBatchDecompressAsync_ptsz) \
	S(cuMemCreate) \
	S(cuMemDiscardAndPrefetchBatchAsync) \
	S(cuMemDiscardAndPrefetchBatchAsync_ptsz) \
	S(cuMemDiscardBatchAsync) \
	S(cuMemDiscardBatchAsync_ptsz) \
	S(cuMemExportToShareableHandle) \
	S(cuMemFree) \
	S(cuMemFreeAsync) \
	S(cuMemFreeAsync_ptsz) \
	S(cuMemFreeHost) \
	S(cuMemFree_v2) \
	S(cuMemGetAccess) \
	S(cuMemGetAddressRange) \
	S(cuMemGetAddressRange_v2) \
	S(cuMemGetAllocationGranularity) \
	S(cuMemGetAllocationPropertiesFromHandle) \
	S(cuMemGetDefaultMemPool) \
	S(cuMemGetHandleForAddressRange) \
	S(cuMemGetInfo) \
	S(cuMemGetInfo_v2) \
	S(cuMemGetMemPool) \
	S(cuMemHostAlloc) \
	S(cuMemHostGetDevicePointer) \
	S(cuMemHostGetDevicePointer_v2) \
	S(cuMemHostGetFlags) \
	S(cuMemHostRegister) \
	S(cuMemHostRegister_v2) \
	S(cuMemHostUnregister) \
	S(cuMemImportFromShareableHandle) \
	S(cuMemMap) \
	S(cuMemMapArrayAsync) \
	S(cuMemMapArrayAsync_ptsz) \
	S(cuMemPoolCreate) \
	S(cuMemPoolDestroy) \
	S(cuMemPoolExportPointer) \
	S(cuMemPoolExportToShareableHandle) \
	S(cuMemPoolGetAccess) \
	S(cuMemPoolGetAttribute) \
	S(cuMemPoolImportFromShareableHandle) \
	S(cuMemPoolImportPointer) \
	S(cuMemPoolSetAccess) \
	S(cuMemPoolSetAttribute) \
	S(cuMemPoolTrimTo) \
	S(cuMemPrefetchAsync) \
	S(cuMemPrefetchAsync_ptsz) \
	S(cuMemPrefetchAsync_v2) \
	S(cuMemPrefetchAsync_v2_ptsz) \
	S(cuMemPrefetchBatchAsync) \
	S(cuMemPrefetchBatchAsync_ptsz) \
	S(cuMemRangeGetAttribute) \
	S(cuMemRangeGetAttributes) \
	S(cuMemRelease) \
	S(cuMemRetainAllocationHandle) \
	S(cuMemSetAccess) \
	S(cuMemSetMemPool) \
	S(cuMemUnmap) \
	S(cuMemcpy) \
	S(cuMemcpy2D) \
	S(cuMemcpy2DAsync) \
	S(cuMemcpy2DAsync_v2) \
	S(cuMemcpy2DAsync_v2_ptsz) \
	S(cuMemcpy2DUnaligned) \
	S(cuMemcpy2DUnaligned_v2) \
	S(cuMemcpy2DUnaligned_v2_ptds) \
	S(cuMemcpy2D_v2) \
	S(cuMemcpy2D_v2_ptds) \
	S(cuMemcpy3D) \
	S(cuMemcpy3DAsync) \
	S(cuMemcpy3DAsync_v2) \
	S(cuMemcpy3DAsync_v2_ptsz) \
	S(cuMemcpy3DBatchAsync) \
	S(cuMemcpy3DBatchAsync_ptsz) \
	S(cuMemcpy3DBatchAsync_v2) \
	S(cuMemcpy3DBatchAsync_v2_ptsz) \
	S(cuMemcpy3DPeer) \
	S(cuMemcpy3DPeerAsync) \
	S(cuMemcpy3DPeerAsync_ptsz) \
	S(cuMemcpy3DPeer_ptds) \
	S(cuMemcpy3D_v2) \
	S(cuMemcpy3D_v2_ptds) \
	S(cuMemcpyAsync) \
	S(cuMemcpyAsync_ptsz) \
	S(cuMemcpyAtoA) \
	S(cuMemcpyAtoA_v2) \
	S(cuMemcpyAtoA_v2_ptds) \
	S(cuMemcpyAtoD) \
	S(cuMemcpyAtoD_v2) \
	S(cuMemcpyAtoD_v2_ptds) \
	S(cuMemcpyAtoH) \
	S(cuMemcpyAtoHAsync) \
	S(cuMemcpyAtoHAsync_v2) \
	S(cuMemcpyAtoHAsync_v2_ptsz) \
	S(cuMemcpyAtoH_v2) \
	S(cuMemcpyAtoH_v2_ptds) \
	S(cuMemcpyBatchAsync) \
	S(cuMemcpyBatchAsync_ptsz) \
	S(cuMemcpyBatchAsync_v2) \
	S(cuMemcpyBatchAsync_v2_ptsz) \
	S(cuMemcpyDtoA) \
	S(cuMemcpyDtoA_v2) \
	S(cuMemcpyDtoA_v2_ptds) \
	S(cuMemcpyDtoD) \
	S(cuMemcpyDtoDAsync) \
	S(cuMemcpyDtoDAsync_v2) \
	S(cuMemcpyDtoDAsync_v2_ptsz) \
	S(cuMemcpyDtoD_v2) \
	S(cuMemcpyDtoD_v2_ptds) \
	S(cuMemcpyDtoH) \
	S(cuMemcpyDtoHAsync) \
	S(cuMemcpyDtoHAsync_v2) \
	S(cuMemcpyDtoHAsync_v2_ptsz) \
	S(cuMemcpyDtoH_v2) \
	S(cuMemcpyDtoH_v2_ptds) \
	S(cuMemcpyHtoA) \
	S(cuMemcpyHtoAAsync) \
	S(cuMemcpyHtoAAsync_v2) \
	S(cuMemcpyHtoAAsync_v2_ptsz) \
	S(cuMemcpyHtoA_v2) \
	S(cuMemcpyHtoA_v2_ptds) \
	S(cuMemcpyHtoD) \
	S(cuMemcpyHtoDAsync) \
	S(cuMemcpyHtoDAsync_v2) \
	S(cuMemcpyHtoDAsync_v2_ptsz) \
	S(cuMemcpyHtoD_v2) \
	S(cuMemcpyHtoD_v2_ptds) \
	S(cuMemcpyPeer) \
	S(cuMemcpyPeerAsync) \
	S(cuMemcpyPeerAsync_ptsz) \
	S(cuMemcpyPeer_ptds) \
	S(cuMemcpy_ptds) \
	S(cuMemsetD16) \
	S(cuMemsetD16Async) \
	S(cuMemsetD16Async_ptsz) \
	S(cuMemsetD16_v2) \
	S(cuMemsetD16_v2_ptds) \
	S(cuMemsetD2D16) \
	S(cuMemsetD2D16Async) \
	S(cuMemsetD2D16Async_ptsz) \
	S(cuMemsetD2D16_v2) \
	S(cuMemsetD2D16_v2_ptds) \
	S(cuMemsetD2D32) \
	S(cuMemsetD2D32Async) \
	S(cuMemsetD2D32Async_ptsz) \
	S(cuMemsetD2D32_v2) \
	S(cuMemsetD2D32_v2_ptds) \
	S(cuMemsetD2D8) \
	S(cuMemsetD2D8Async) \
	S(cuMemsetD2D8Async_ptsz) \
	S(cuMemsetD2D8_v2) \
	S(cuMemsetD2D8_v2_ptds) \
	S(cuMemsetD32) \
	S(cuMemsetD32Async) \
	S(cuMemsetD32Async_ptsz) \
	S(cuMemsetD32_v2) \
	S(cuMemsetD32_v2_ptds) \
	S(cuMemsetD8) \
	S(cuMemsetD8Async) \
	S(cuMemsetD8Async_ptsz) \
	S(cuMemsetD8_v2) \
	S(cuMemsetD8_v2_ptds) \
	S(cuMipmappedArrayCreate) \
	S(cuMipmappedArrayDestroy) \
	S(cuMipmappedArrayGetLevel) \
	S(cuMipmappedArrayGetMemoryRequirements) \
	S(cuMipmappedArrayGetSparseProperties) \
	S(cuModuleEnumerateFunctions) \
	S(cuModuleGetFunction) \
	S(cuModuleGetFunctionCount) \
	S(cuModuleGetGlobal) \
	S(cuModuleGetGlobal_v2) \
	S(cuModuleGetLoadingMode) \
	S(cuModuleGetSurfRef) \
	S(cuModuleGetTexRef) \
	S(cuModuleLoad) \
	S(cuModuleLoadData) \
	S(cuModuleLoadDataEx) \
	S(cuModuleLoadFatBinary) \
	S(cuModuleUnload) \
	S(cuMulticastAddDevice) \
	S(cuMulticastBindAddr) \
	S(cuMulticastBindAddr_v2) \
	S(cuMulticastBindMem) \
	S(cuMulticastBindMem_v2) \
	S(cuMulticastCreate) \
	S(cuMulticastGetGranularity) \
	S(cuMulticastUnbind) \
	S(cuOccupancyAvailableDynamicSMemPerBlock) \
	S(cuOccupancyMaxActiveBlocksPerMultiprocessor) \
	S(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
	S(cuOccupancyMaxActiveClusters) \
	S(cuOccupancyMaxPotentialBlockSize) \
	S(cuOccupancyMaxPotentialBlockSizeWithFlags) \
	S(cuOccupancyMaxPotentialClusterSize) \
	S(cuParamSetSize) \
	S(cuParamSetTexRef) \
	S(cuParamSetf) \
	S(cuParamSeti) \
	S(cuParamSetv) \
	S(cuPointerGetAttribute) \
	S(cuPointerGetAttributes) \
	S(cuPointerSetAttribute) \
	S(cuProfilerInitialize) \
	S(cuProfilerStart) \
	S(cuProfilerStop) \
	S(cuSignalExternalSemaphoresAsync) \
	S(cuSignalExternalSemaphoresAsync_ptsz) \
	S(cuStreamAddCallback) \
	S(cuStreamAddCallback_ptsz) \
	S(cuStreamAttachMemAsync) \
	S(cuStreamAttachMemAsync_ptsz) \
	S(cuStreamBatchMemOp) \
	S(cuStreamBatchMemOp_ptsz) \
	S(cuStreamBatchMemOp_v2) \
	S(cuStreamBatchMemOp_v2_ptsz) \
	S(cuStreamBeginCapture) \
	S(cuStreamBeginCaptureToGraph) \
	S(cuStreamBeginCaptureToGraph_ptsz) \
	S(cuStreamBeginCapture_ptsz) \
	S(cuStreamBeginCapture_v2) \
	S(cuStreamBeginCapture_v2_ptsz) \
	S(cuStreamCopyAttributes) \
	S(cuStreamCopyAttributes_ptsz) \
	S(cuStreamCreate) \
	S(cuStreamCreateWithPriority) \
	S(cuStreamDestroy) \
	S(cuStreamDestroy_v2) \
	S(cuStreamEndCapture) \
	S(cuStreamEndCapture_ptsz) \
	S(cuStreamGetAttribute) \
	S(cuStreamGetAttribute_ptsz) \
	S(cuStreamGetCaptureInfo) \
	S(cuStreamGetCaptureInfo_ptsz) \
	S(cuStreamGetCaptureInfo_v2) \
	S(cuStreamGetCaptureInfo_v2_ptsz) \
	S(cuStreamGetCaptureInfo_v3) \
	S(cuStreamGetCaptureInfo_v3_ptsz) \
	S(cuStreamGetCtx) \
	S(cuStreamGetCtx_ptsz) \
	S(cuStreamGetCtx_v2) \
	S(cuStreamGetCtx_v2_ptsz) \
	S(cuStreamGetDevice) \
	S(cuStreamGetDevice_ptsz) \
	S(cuStreamGetFlags) \
	S(cuStreamGetFlags_ptsz) \
	S(cuStreamGetGreenCtx) \
	S(cuStreamGetId) \
	S(cuStreamGetId_ptsz) \
	S(cuStreamGetPriority) \
	S(cuStreamGetPriority_ptsz) \
	S(cuStreamIsCapturing) \
	S(cuStreamIsCapturing_ptsz) \
	S(cuStreamQuery) \
	S(cuStreamQuery_ptsz) \
	S(cuStreamSetAttribute) \
	S(cuStreamSetAttribute_ptsz) \
	S(cuStreamSynchronize) \
	S(cuStreamSynchronize_ptsz) \
	S(cuStreamUpdateCaptureDependencies) \
	S(cuStreamUpdateCaptureDependencies_ptsz) \
	S(cuStreamUpdateCaptureDependencies_v2) \
	S(cuStreamUpdateCaptureDependencies_v2_ptsz) \
	S(cuStreamWaitEvent) \
	S(cuStreamWaitEvent_ptsz) \
	S(cuStreamWaitValue32) \
	S(cuStreamWaitValue32_ptsz) \
	S(cuStreamWaitValue32_v2) \
	S(cuStreamWaitValue32_v2_ptsz) \
	S(cuStreamWaitValue64) \
	S(cuStreamWaitValue64_ptsz) \
	S(cuStreamWaitValue64_v2) \
	S(cuStreamWaitValue64_v2_ptsz) \
	S(cuStreamWriteValue32) \
	S(cuStreamWriteValue32_ptsz) \
	S(cuStreamWriteValue32_v2) \
	S(cuStreamWriteValue32_v2_ptsz) \
	S(cuStreamWriteValue64) \
	S(cuStreamWriteValue64_ptsz) \
	S(cuStreamWriteValue64_v2) \
	S(cuStreamWriteValue64_v2_ptsz) \
	S(cuSurfObjectCreate) \
	S(cuSurfObjectDestroy) \
	S(cuSurfObjectGetResourceDesc) \
	S(cuSurfRefGetArray) \
	S(cuSurfRefSetArray) \
	S(cuTensorMapEncodeIm2col) \
	S(cuTensorMapEncodeIm2colWide) \
	S(cuTensorMapEncodeTiled) \
	S(cuTensorMapReplaceAddress) \
	S(cuTexObjectCreate) \
	S(cuTexObjectDestroy) \
	S(cuTexObjectGetResourceDesc) \
	S(cuTexObjectGetResourceViewDesc) \
	S(cuTexObjectGetTextureDesc) \
	S(cuTexRefCreate) \
	S(cuTexRefDestroy) \
	S(cuTexRefGetAddress) \
	S(cuTexRefGetAddressMode) \
	S(cuTexRefGetAddress_v2) \
	S(cuTexRefGetArray) \
	S(cuTexRefGetBorderColor) \
	S(cuTexRefGetFilterMode) \
	S(cuTexRefGetFlags) \
	S(cuTexRefGetFormat) \
	S(cuTexRefGetMaxAnisotropy) \
	S(cuTexRefGetMipmapFilterMode) \
	S(cuTexRefGetMipmapLevelBias) \
	S(cuTexRefGetMipmapLevelClamp) \
	S(cuTexRefGetMipmappedArray) \
	S(cuTexRefSetAddress) \
	S(cuTexRefSetAddress2D) \
	S(cuTexRefSetAddress2D_v2) \
	S(cuTexRefSetAddress2D_v3) \
	S(cuTexRefSetAddressMode) \
	S(cuTexRefSetAddress_v2) \
	S(cuTexRefSetArray) \
	S(cuTexRefSetBorderColor) \
	S(cuTexRefSetFilterMode) \
	S(cuTexRefSetFlags) \
	S(cuTexRefSetFormat) \
	S(cuTexRefSetMaxAnisotropy) \
	S(cuTexRefSetMipmapFilterMode) \
	S(cuTexRefSetMipmapLevelBias) \
	S(cuTexRefSetMipmapLevelClamp) \
	S(cuTexRefSetMipmappedArray) \
	S(cuThreadExchangeStreamCaptureMode) \
	S(cuUserObjectCreate) \
	S(cuUserObjectRelease) \
	S(cuUserObjectRetain) \
	S(cuWaitExternalSemaphoresAsync) \
	S(cuWaitExternalSemaphoresAsync_ptsz)

/* V(base name, first CUDA version, 1 for per-thread default streams, exported symbol),
 * in byte order of the base name, then version */
#define GD_DRIVER_VERSIONS(V) \
	V(cuArray3DCreate, 2000, 0, cuArray3DCreate) \
	V(cuArray3DCreate, 3020, 0, cuArray3DCreate_v2) \
	V(cuArray3DGetDescriptor, 2000, 0, cuArray3DGetDescriptor) \
	V(cuArray3DGetDescriptor, 3020, 0, cuArray3DGetDescriptor_v2) \
	V(cuArrayCreate, 2000, 0, cuArrayCreate) \
	V(cuArrayCreate, 3020, 0, cuArrayCreate_v2) \
	V(cuArrayDestroy, 2000, 0, cuArrayDestroy) \
	V(cuArrayGetDescriptor, 2000, 0, cuArrayGetDescriptor) \
	V(cuArrayGetDescriptor, 3020, 0, cuArrayGetDescriptor_v2) \
	V(cuArrayGetMemoryRequirements, 11060, 0, cuArrayGetMemoryRequirements) \
	V(cuArrayGetPlane, 11020, 0, cuArrayGetPlane) \
	V(cuArrayGetSparseProperties, 11010, 0, cuArrayGetSparseProperties) \
	V(cuCheckpointProcessCheckpoint, 12080, 0, cuCheckpointProcessCheckpoint) \
	V(cuCheckpointProcessGetRestoreThreadId, 12080, 0, cuCheckpointProcessGetRestoreThreadId) \
	V(cuCheckpointProcessGetState, 12080, 0, cuCheckpointProcessGetState) \
	V(cuCheckpointProcessLock, 12080, 0, cuCheckpointProcessLock) \
	V(cuCheckpointProcessRestore, 12080, 0, cuCheckpointProcessRestore) \
	V(cuCheckpointProcessUnlock, 12080, 0, cuCheckpointProcessUnlock) \
	V(cuCoredumpGetAttribute, 12010, 0, cuCoredumpGetAttribute) \
	V(cuCoredumpGetAttributeGlobal, 12010, 0, cuCoredumpGetAttributeGlobal) \
	V(cuCoredumpSetAttribute, 12010, 0, cuCoredumpSetAttribute) \
	V(cuCoredumpSetAttributeGlobal, 12010, 0, cuCoredumpSetAttributeGlobal) \
	V(cuCtxAttach, 2000, 0, cuCtxAttach) \
	V(cuCtxCreate, 2000, 0, cuCtxCreate) \
	V(cuCtxCreate, 3020, 0, cuCtxCreate_v2) \
	V(cuCtxCreate, 11040, 0, cuCtxCreate_v3) \
	V(cuCtxCreate, 12050, 0, cuCtxCreate_v4) \
	V(cuCtxDestroy, 2000, 0, cuCtxDestroy) \
	V(cuCtxDestroy, 4000, 0, cuCtxDestroy_v2) \
	V(cuCtxDetach, 2000, 0, cuCtxDetach) \
	V(cuCtxDisablePeerAccess, 4000, 0, cuCtxDisablePeerAccess) \
	V(cuCtxEnablePeerAccess, 4000, 0, cuCtxEnablePeerAccess) \
	V(cuCtxFromGreenCtx, 12040, 0, cuCtxFromGreenCtx) \
	V(cuCtxGetApiVersion, 3020, 0, cuCtxGetApiVersion) \
	V(cuCtxGetCacheConfig, 3020, 0, cuCtxGetCacheConfig) \
	V(cuCtxGetCurrent, 4000, 0, cuCtxGetCurrent) \
	V(cuCtxGetDevResource, 12040, 0, cuCtxGetDevResource) \
	V(cuCtxGetDevice, 2000, 0, cuCtxGetDevice) \
	V(cuCtxGetDevice, 13000, 0, cuCtxGetDevice_v2) \
	V(cuCtxGetExecAffinity, 11040, 0, cuCtxGetExecAffinity) \
	V(cuCtxGetFlags, 7000, 0, cuCtxGetFlags) \
	V(cuCtxGetId, 12000, 0, cuCtxGetId) \
	V(cuCtxGetLimit, 3010, 0, cuCtxGetLimit) \
	V(cuCtxGetSharedMemConfig, 4020, 0, cuCtxGetSharedMemConfig) \
	V(cuCtxGetStreamPriorityRange, 5050, 0, cuCtxGetStreamPriorityRange) \
	V(cuCtxPopCurrent, 2000, 0, cuCtxPopCurrent) \
	V(cuCtxPopCurrent, 4000, 0, cuCtxPopCurrent_v2) \
	V(cuCtxPushCurrent, 2000, 0, cuCtxPushCurrent) \
	V(cuCtxPushCurrent, 4000, 0, cuCtxPushCurrent_v2) \
	V(cuCtxRecordEvent, 12050, 0, cuCtxRecordEvent) \
	V(cuCtxResetPersistingL2Cache, 11000, 0, cuCtxResetPersistingL2Cache) \
	V(cuCtxSetCacheConfig, 3020, 0, cuCtxSetCacheConfig) \
	V(cuCtxSetCurrent, 4000, 0, cuCtxSetCurrent) \
	V(cuCtxSetFlags, 12010, 0, cuCtxSetFlags) \
	V(cuCtxSetLimit, 3010, 0, cuCtxSetLimit) \
	V(cuCtxSetSharedMemConfig, 4020, 0, cuCtxSetSharedMemConfig) \
	V(cuCtxSynchronize, 2000, 0, cuCtxSynchronize) \
	V(cuCtxSynchronize, 13000, 0, cuCtxSynchronize_v2) \
	V(cuCtxWaitEvent, 12050, 0, cuCtxWaitEvent) \
	V(cuDestroyExternalMemory, 10000, 0, cuDestroyExternalMemory) \
	V(cuDestroyExternalSemaphore, 10000, 0, cuDestroyExternalSemaphore) \
	V(cuDevResourceGenerateDesc, 12040, 0, cuDevResourceGenerateDesc) \
	V(cuDevSmResourceSplitByCount, 12040, 0, cuDevSmResourceSplitByCount) \
	V(cuDeviceCanAccessPeer, 4000, 0, cuDeviceCanAccessPeer) \
	V(cuDeviceComputeCapability, 2000, 0, cuDeviceComputeCapability) \
	V(cuDeviceGet, 2000, 0, cuDeviceGet) \
	V(cuDeviceGetAttribute, 2000, 0, cuDeviceGetAttribute) \
	V(cuDeviceGetByPCIBusId, 4010, 0, cuDeviceGetByPCIBusId) \
	V(cuDeviceGetCount, 2000, 0, cuDeviceGetCount) \
	V(cuDeviceGetDefaultMemPool, 11020, 0, cuDeviceGetDefaultMemPool) \
	V(cuDeviceGetDevResource, 12040, 0, cuDeviceGetDevResource) \
	V(cuDeviceGetExecAffinitySupport, 11040, 0, cuDeviceGetExecAffinitySupport) \
	V(cuDeviceGetGraphMemAttribute, 11040, 0, cuDeviceGetGraphMemAttribute) \
	V(cuDeviceGetHostAtomicCapabilities, 13000, 0, cuDeviceGetHostAtomicCapabilities) \
	V(cuDeviceGetLuid, 10000, 0, cuDeviceGetLuid) \
	V(cuDeviceGetMemPool, 11020, 0, cuDeviceGetMemPool) \
	V(cuDeviceGetName, 2000, 0, cuDeviceGetName) \
	V(cuDeviceGetNvSciSyncAttributes, 10020, 0, cuDeviceGetNvSciSyncAttributes) \
	V(cuDeviceGetP2PAtomicCapabilities, 13000, 0, cuDeviceGetP2PAtomicCapabilities) \
	V(cuDeviceGetP2PAttribute, 8000, 0, cuDeviceGetP2PAttribute) \
	V(cuDeviceGetPCIBusId, 4010, 0, cuDeviceGetPCIBusId) \
	V(cuDeviceGetProperties, 2000, 0, cuDeviceGetProperties) \
	V(cuDeviceGetTexture1DLinearMaxWidth, 11010, 0, cuDeviceGetTexture1DLinearMaxWidth) \
	V(cuDeviceGetUuid, 9020, 0, cuDeviceGetUuid) \
	V(cuDeviceGetUuid, 11040, 0, cuDeviceGetUuid_v2) \
	V(cuDeviceGraphMemTrim, 11040, 0, cuDeviceGraphMemTrim) \
	V(cuDevicePrimaryCtxGetState, 7000, 0, cuDevicePrimaryCtxGetState) \
	V(cuDevicePrimaryCtxRelease, 7000, 0, cuDevicePrimaryCtxRelease) \
	V(cuDevicePrimaryCtxRelease, 11000, 0, cuDevicePrimaryCtxRelease_v2) \
	V(cuDevicePrimaryCtxReset, 7000, 0, cuDevicePrimaryCtxReset) \
	V(cuDevicePrimaryCtxReset, 11000, 0, cuDevicePrimaryCtxReset_v2) \
	V(cuDevicePrimaryCtxRetain, 7000, 0, cuDevicePrimaryCtxRetain) \
	V(cuDevicePrimaryCtxSetFlags, 7000, 0, cuDevicePrimaryCtxSetFlags) \
	V(cuDevicePrimaryCtxSetFlags, 11000, 0, cuDevicePrimaryCtxSetFlags_v2) \
	V(cuDeviceRegisterAsyncNotification, 12040, 0, cuDeviceRegisterAsyncNotification) \
	V(cuDeviceSetGraphMemAttribute, 11040, 0, cuDeviceSetGraphMemAttribute) \
	V(cuDeviceSetMemPool, 11020, 0, cuDeviceSetMemPool) \
	V(cuDeviceTotalMem, 2000, 0, cuDeviceTotalMem) \
	V(cuDeviceTotalMem, 3020, 0, cuDeviceTotalMem_v2) \
	V(cuDeviceUnregisterAsyncNotification, 12040, 0, cuDeviceUnregisterAsyncNotification) \
	V(cuDriverGetVersion, 2020, 0, cuDriverGetVersion) \
	V(cuEventCreate, 2000, 0, cuEventCreate) \
	V(cuEventDestroy, 2000, 0, cuEventDestroy) \
	V(cuEventDestroy, 4000, 0, cuEventDestroy_v2) \
	V(cuEventElapsedTime, 2000, 0, cuEventElapsedTime) \
	V(cuEventElapsedTime, 12080, 0, cuEventElapsedTime_v2) \
	V(cuEventQuery, 2000, 0, cuEventQuery) \
	V(cuEventRecord, 2000, 0, cuEventRecord) \
	V(cuEventRecord, 7000, 1, cuEventRecord_ptsz) \
	V(cuEventRecordWithFlags, 11010, 0, cuEventRecordWithFlags) \
	V(cuEventRecordWithFlags, 11010, 1, cuEventRecordWithFlags_ptsz) \
	V(cuEventSynchronize, 2000, 0, cuEventSynchronize) \
	V(cuExternalMemoryGetMappedBuffer, 10000, 0, cuExternalMemoryGetMappedBuffer) \
	V(cuExternalMemoryGetMappedMipmappedArray, 10000, 0, cuExternalMemoryGetMappedMipmappedArray) \
	V(cuFlushGPUDirectRDMAWrites, 11030, 0, cuFlushGPUDirectRDMAWrites) \
	V(cuFuncGetAttribute, 2020, 0, cuFuncGetAttribute) \
	V(cuFuncGetModule, 11000, 0, cuFuncGetModule) \
	V(cuFuncGetName, 12030, 0, cuFuncGetName) \
	V(cuFuncGetParamInfo, 12040, 0, cuFuncGetParamInfo) \
	V(cuFuncIsLoaded, 12040, 0, cuFuncIsLoaded) \
	V(cuFuncLoad, 12040, 0, cuFuncLoad) \
	V(cuFuncSetAttribute, 9000, 0, cuFuncSetAttribute) \
	V(cuFuncSetBlockShape, 2000, 0, cuFuncSetBlockShape) \
	V(cuFuncSetCacheConfig, 3000, 0, cuFuncSetCacheConfig) \
	V(cuFuncSetSharedMemConfig, 4020, 0, cuFuncSetSharedMemConfig) \
	V(cuFuncSetSharedSize, 2000, 0, cuFuncSetSharedSize) \
	V(cuGetErrorName, 6000, 0, cuGetErrorName) \
	V(cuGetErrorString, 6000, 0, cuGetErrorString) \
	V(cuGetExportTable, 3000, 0, cuGetExportTable) \
	V(cuGetProcAddress, 11030, 0, cuGetProcAddress) \
	V(cuGetProcAddress, 12000, 0, cuGetProcAddress_v2) \
	V(cuGraphAddBatchMemOpNode, 11070, 0, cuGraphAddBatchMemOpNode) \
	V(cuGraphAddChildGraphNode, 10000, 0, cuGraphAddChildGraphNode) \
	V(cuGraphAddDependencies, 10000, 0, cuGraphAddDependencies) \
	V(cuGraphAddDependencies, 12030, 0, cuGraphAddDependencies_v2) \
	V(cuGraphAddEmptyNode, 10000, 0, cuGraphAddEmptyNode) \
	V(cuGraphAddEventRecordNode, 11010, 0, cuGraphAddEventRecordNode) \
	V(cuGraphAddEventWaitNode, 11010, 0, cuGraphAddEventWaitNode) \
	V(cuGraphAddExternalSemaphoresSignalNode, 11020, 0, cuGraphAddExternalSemaphoresSignalNode) \
	V(cuGraphAddExternalSemaphoresWaitNode, 11020, 0, cuGraphAddExternalSemaphoresWaitNode) \
	V(cuGraphAddHostNode, 10000, 0, cuGraphAddHostNode) \
	V(cuGraphAddKernelNode, 10000, 0, cuGraphAddKernelNode) \
	V(cuGraphAddKernelNode, 12000, 0, cuGraphAddKernelNode_v2) \
	V(cuGraphAddMemAllocNode, 11040, 0, cuGraphAddMemAllocNode) \
	V(cuGraphAddMemFreeNode, 11040, 0, cuGraphAddMemFreeNode) \
	V(cuGraphAddMemcpyNode, 10000, 0, cuGraphAddMemcpyNode) \
	V(cuGraphAddMemsetNode, 10000, 0, cuGraphAddMemsetNode) \
	V(cuGraphAddNode, 12020, 0, cuGraphAddNode) \
	V(cuGraphAddNode, 12030, 0, cuGraphAddNode_v2) \
	V(cuGraphBatchMemOpNodeGetParams, 11070, 0, cuGraphBatchMemOpNodeGetParams) \
	V(cuGraphBatchMemOpNodeSetParams, 11070, 0, cuGraphBatchMemOpNodeSetParams) \
	V(cuGraphChildGraphNodeGetGraph, 10000, 0, cuGraphChildGraphNodeGetGraph) \
	V(cuGraphClone, 10000, 0, cuGraphClone) \
	V(cuGraphConditionalHandleCreate, 12030, 0, cuGraphConditionalHandleCreate) \
	V(cuGraphCreate, 10000, 0, cuGraphCreate) \
	V(cuGraphDebugDotPrint, 11030, 0, cuGraphDebugDotPrint) \
	V(cuGraphDestroy, 10000, 0, cuGraphDestroy) \
	V(cuGraphDestroyNode, 10000, 0, cuGraphDestroyNode) \
	V(cuGraphEventRecordNodeGetEvent, 11010, 0, cuGraphEventRecordNodeGetEvent) \
	V(cuGraphEventRecordNodeSetEvent, 11010, 0, cuGraphEventRecordNodeSetEvent) \
	V(cuGraphEventWaitNodeGetEvent, 11010, 0, cuGraphEventWaitNodeGetEvent) \
	V(cuGraphEventWaitNodeSetEvent, 11010, 0, cuGraphEventWaitNodeSetEvent) \
	V(cuGraphExecBatchMemOpNodeSetParams, 11070, 0, cuGraphExecBatchMemOpNodeSetParams) \
	V(cuGraphExecChildGraphNodeSetParams, 11010, 0, cuGraphExecChildGraphNodeSetParams) \
	V(cuGraphExecDestroy, 10000, 0, cuGraphExecDestroy) \
	V(cuGraphExecEventRecordNodeSetEvent, 11010, 0, cuGraphExecEventRecordNodeSetEvent) \
	V(cuGraphExecEventWaitNodeSetEvent, 11010, 0, cuGraphExecEventWaitNodeSetEvent) \
	V(cuGraphExecExternalSemaphoresSignalNodeSetParams, 11020, 0, cuGraphExecExternalSemaphoresSignalNodeSetParams) \
	V(cuGraphExecExternalSemaphoresWaitNodeSetParams, 11020, 0, cuGraphExecExternalSemaphoresWaitNodeSetParams) \
	V(cuGraphExecGetFlags, 12000, 0, cuGraphExecGetFlags) \
	V(cuGraphExecHostNodeSetParams, 10020, 0, cuGraphExecHostNodeSetParams) \
	V(cuGraphExecKernelNodeSetParams, 10010, 0, cuGraphExecKernelNodeSetParams) \
	V(cuGraphExecKernelNodeSetParams, 12000, 0, cuGraphExecKernelNodeSetParams_v2) \
	V(cuGraphExecMemcpyNodeSetParams, 10020, 0, cuGraphExecMemcpyNodeSetParams) \
	V(cuGraphExecMemsetNodeSetParams, 10020, 0, cuGraphExecMemsetNodeSetParams) \
	V(cuGraphExecNodeSetParams, 12020, 0, cuGraphExecNodeSetParams) \
	V(cuGraphExecUpdate, 10020, 0, cuGraphExecUpdate) \
	V(cuGraphExecUpdate, 12000, 0, cuGraphExecUpdate_v2) \
	V(cuGraphExternalSemaphoresSignalNodeGetParams, 11020, 0, cuGraphExternalSemaphoresSignalNodeGetParams) \
	V(cuGraphExternalSemaphoresSignalNodeSetParams, 11020, 0, cuGraphExternalSemaphoresSignalNodeSetParams) \
	V(cuGraphExternalSemaphoresWaitNodeGetParams, 11020, 0, cuGraphExternalSemaphoresWaitNodeGetParams) \
	V(cuGraphExternalSemaphoresWaitNodeSetParams, 11020, 0, cuGraphExternalSemaphoresWaitNodeSetParams) \
	V(cuGraphGetEdges, 10000, 0, cuGraphGetEdges) \
	V(cuGraphGetEdges, 12030, 0, cuGraphGetEdges_v2) \
	V(cuGraphGetNodes, 10000, 0, cuGraphGetNodes) \
	V(cuGraphGetRootNodes, 10000, 0, cuGraphGetRootNodes) \
	V(cuGraphHostNodeGetParams, 10000, 0, cuGraphHostNodeGetParams) \
	V(cuGraphHostNodeSetParams, 10000, 0, cuGraphHostNodeSetParams) \
	V(cuGraphInstantiate, 10000, 0, cuGraphInstantiate) \
	V(cuGraphInstantiate, 11000, 0, cuGraphInstantiate_v2) \
	V(cuGraphInstantiate, 11040, 0, cuGraphInstantiateWithFlags) \
	V(cuGraphInstantiateWithFlags, 11040, 0, cuGraphInstantiateWithFlags) \
	V(cuGraphInstantiateWithParams, 12000, 0, cuGraphInstantiateWithParams) \
	V(cuGraphInstantiateWithParams, 12000, 1, cuGraphInstantiateWithParams_ptsz) \
	V(cuGraphKernelNodeCopyAttributes, 11000, 0, cuGraphKernelNodeCopyAttributes) \
	V(cuGraphKernelNodeGetAttribute, 11000, 0, cuGraphKernelNodeGetAttribute) \
	V(cuGraphKernelNodeGetParams, 10000, 0, cuGraphKernelNodeGetParams) \
	V(cuGraphKernelNodeGetParams, 12000, 0, cuGraphKernelNodeGetParams_v2) \
	V(cuGraphKernelNodeSetAttribute, 11000, 0, cuGraphKernelNodeSetAttribute) \
	V(cuGraphKernelNodeSetParams, 10000, 0, cuGraphKernelNodeSetParams) \
	V(cuGraphKernelNodeSetParams, 12000, 0, cuGraphKernelNodeSetParams_v2) \
	V(cuGraphLaunch, 10000, 0, cuGraphLaunch) \
	V(cuGraphLaunch, 10000, 1, cuGraphLaunch_ptsz) \
	V(cuGraphMemAllocNodeGetParams, 11040, 0, cuGraphMemAllocNodeGetParams) \
	V(cuGraphMemFreeNodeGetParams, 11040, 0, cuGraphMemFreeNodeGetParams) \
	V(cuGraphMemcpyNodeGetParams, 10000, 0, cuGraphMemcpyNodeGetParams) \
	V(cuGraphMemcpyNodeSetParams, 10000, 0, cuGraphMemcpyNodeSetParams) \
	V(cuGraphMemsetNodeGetParams, 10000, 0, cuGraphMemsetNodeGetParams) \
	V(cuGraphMemsetNodeSetParams, 10000, 0, cuGraphMemsetNodeSetParams) \
	V(cuGraphNodeFindInClone, 10000, 0, cuGraphNodeFindInClone) \
	V(cuGraphNodeGetDependencies, 10000, 0, cuGraphNodeGetDependencies) \
	V(cuGraphNodeGetDependencies, 12030, 0, cuGraphNodeGetDependencies_v2) \
	V(cuGraphNodeGetDependentNodes, 10000, 0, cuGraphNodeGetDependentNodes) \
	V(cuGraphNodeGetDependentNodes, 12030, 0, cuGraphNodeGetDependentNodes_v2) \
	V(cuGraphNodeGetEnabled, 11060, 0, cuGraphNodeGetEnabled) \
	V(cuGraphNodeGetType, 10000, 0, cuGraphNodeGetType) \
	V(cuGraphNodeSetEnabled, 11060, 0, cuGraphNodeSetEnabled) \
	V(cuGraphNodeSetParams, 12020, 0, cuGraphNodeSetParams) \
	V(cuGraphReleaseUserObject, 11030, 0, cuGraphReleaseUserObject) \
	V(cuGraphRemoveDependencies, 10000, 0, cuGraphRemoveDependencies) \
	V(cuGraphRemoveDependencies, 12030, 0, cuGraphRemoveDependencies_v2) \
	V(cuGraphRetainUserObject, 11030, 0, cuGraphRetainUserObject) \
	V(cuGraphUpload, 11010, 0, cuGraphUpload) \
	V(cuGraphUpload, 11010, 1, cuGraphUpload_ptsz) \
	V(cuGraphicsMapResources, 3000, 0, cuGraphicsMapResources) \
	V(cuGraphicsMapResources, 7000, 1, cuGraphicsMapResources_ptsz) \
	V(cuGraphicsResourceGetMappedMipmappedArray, 5000, 0, cuGraphicsResourceGetMappedMipmappedArray) \
	V(cuGraphicsResourceGetMappedPointer, 3000, 0, cuGraphicsResourceGetMappedPointer) \
	V(cuGraphicsResourceGetMappedPointer, 3020, 0, cuGraphicsResourceGetMappedPointer_v2) \
	V(cuGraphicsResourceSetMapFlags, 3000, 0, cuGraphicsResourceSetMapFlags) \
	V(cuGraphicsResourceSetMapFlags, 6050, 0, cuGraphicsResourceSetMapFlags_v2) \
	V(cuGraphicsSubResourceGetMappedArray, 3000, 0, cuGraphicsSubResourceGetMappedArray) \
	V(cuGraphicsUnmapResources, 3000, 0, cuGraphicsUnmapResources) \
	V(cuGraphicsUnmapResources, 7000, 1, cuGraphicsUnmapResources_ptsz) \
	V(cuGraphicsUnregisterResource, 3000, 0, cuGraphicsUnregisterResource) \
	V(cuGreenCtxCreate, 12040, 0, cuGreenCtxCreate) \
	V(cuGreenCtxDestroy, 12040, 0, cuGreenCtxDestroy) \
	V(cuGreenCtxGetDevResource, 12040, 0, cuGreenCtxGetDevResource) \
	V(cuGreenCtxGetId, 12090, 0, cuGreenCtxGetId) \
	V(cuGreenCtxRecordEvent, 12040, 0, cuGreenCtxRecordEvent) \
	V(cuGreenCtxStreamCreate, 12050, 0, cuGreenCtxStreamCreate) \
	V(cuGreenCtxWaitEvent, 12040, 0, cuGreenCtxWaitEvent) \
	V(cuImportExternalMemory, 10000, 0, cuImportExternalMemory) \
	V(cuImportExternalSemaphore, 10000, 0, cuImportExternalSemaphore) \
	V(cuInit, 2000, 0, cuInit) \
	V(cuIpcCloseMemHandle, 4010, 0, cuIpcCloseMemHandle) \
	V(cuIpcGetEventHandle, 4010, 0, cuIpcGetEventHandle) \
	V(cuIpcGetMemHandle, 4010, 0, cuIpcGetMemHandle) \
	V(cuIpcOpenEventHandle, 4010, 0, cuIpcOpenEventHandle) \
	V(cuIpcOpenMemHandle, 4010, 0, cuIpcOpenMemHandle) \
	V(cuIpcOpenMemHandle, 11000, 0, cuIpcOpenMemHandle_v2) \
	V(cuKernelGetAttribute, 12000, 0, cuKernelGetAttribute) \
	V(cuKernelGetFunction, 12000, 0, cuKernelGetFunction) \
	V(cuKernelGetLibrary, 12050, 0, cuKernelGetLibrary) \
	V(cuKernelGetName, 12030, 0, cuKernelGetName) \
	V(cuKernelGetParamInfo, 12040, 0, cuKernelGetParamInfo) \
	V(cuKernelSetAttribute, 12000, 0, cuKernelSetAttribute) \
	V(cuKernelSetCacheConfig, 12000, 0, cuKernelSetCacheConfig) \
	V(cuLaunch, 2000, 0, cuLaunch) \
	V(cuLaunchCooperativeKernel, 9000, 0, cuLaunchCooperativeKernel) \
	V(cuLaunchCooperativeKernel, 9000, 1, cuLaunchCooperativeKernel_ptsz) \
	V(cuLaunchCooperativeKernelMultiDevice, 9000, 0, cuLaunchCooperativeKernelMultiDevice) \
	V(cuLaunchGrid, 2000, 0, cuLaunchGrid) \
	V(cuLaunchGridAsync, 2000, 0, cuLaunchGridAsync) \
	V(cuLaunchHostFunc, 10000, 0, cuLaunchHostFunc) \
	V(cuLaunchHostFunc, 10000, 1, cuLaunchHostFunc_ptsz) \
	V(cuLaunchHostFunc, 13010, 0, cuLaunchHostFunc_v2) \
	V(cuLaunchHostFunc, 13010, 1, cuLaunchHostFunc_v2_ptsz) \
	V(cuLaunchKernel, 4000, 0, cuLaunchKernel) \
	V(cuLaunchKernel, 7000, 1, cuLaunchKernel_ptsz) \
	V(cuLaunchKernelEx, 11060, 0, cuLaunchKernelEx) \
	V(cuLaunchKernelEx, 11060, 1, cuLaunchKernelEx_ptsz) \
	V(cuLibraryEnumerateKernels, 12040, 0, cuLibraryEnumerateKernels) \
	V(cuLibraryGetGlobal, 12000, 0, cuLibraryGetGlobal) \
	V(cuLibraryGetKernel, 12000, 0, cuLibraryGetKernel) \
	V(cuLibraryGetKernelCount, 12040, 0, cuLibraryGetKernelCount) \
	V(cuLibraryGetManaged, 12000, 0, cuLibraryGetManaged) \
	V(cuLibraryGetModule, 12000, 0, cuLibraryGetModule) \
	V(cuLibraryGetUnifiedFunction, 12000, 0, cuLibraryGetUnifiedFunction) \
	V(cuLibraryLoadData, 12000, 0, cuLibraryLoadData) \
	V(cuLibraryLoadFromFile, 12000, 0, cuLibraryLoadFromFile) \
	V(cuLibraryUnload, 12000, 0, cuLibraryUnload) \
	V(cuLinkAddData, 5050, 0, cuLinkAddData) \
	V(cuLinkAddData, 6050, 0, cuLinkAddData_v2) \
	V(cuLinkAddFile, 5050, 0, cuLinkAddFile) \
	V(cuLinkAddFile, 6050, 0, cuLinkAddFile_v2) \
	V(cuLinkComplete, 5050, 0, cuLinkComplete) \
	V(cuLinkCreate, 5050, 0, cuLinkCreate) \
	V(cuLinkCreate, 6050, 0, cuLinkCreate_v2) \
	V(cuLinkDestroy, 5050, 0, cuLinkDestroy) \
	V(cuLogsCurrent, 12090, 0, cuLogsCurrent) \
	V(cuLogsDumpToFile, 12090, 0, cuLogsDumpToFile) \
	V(cuLogsDumpToMemory, 12090, 0, cuLogsDumpToMemory) \
	V(cuLogsRegisterCallback, 12090, 0, cuLogsRegisterCallback) \
	V(cuLogsUnregisterCallback, 12090, 0, cuLogsUnregisterCallback) \
	V(cuMemAddressFree, 10020, 0, cuMemAddressFree) \
	V(cuMemAddressReserve, 10020, 0, cuMemAddressReserve) \
	V(cuMemAdvise, 8000, 0, cuMemAdvise) \
	V(cuMemAdvise, 12020, 0, cuMemAdvise_v2) \
	V(cuMemAlloc, 2000, 0, cuMemAlloc) \
	V(cuMemAlloc, 3020, 0, cuMemAlloc_v2) \
	V(cuMemAllocAsync, 11020, 0, cuMemAllocAsync) \
	V(cuMemAllocAsync, 11020, 1, cuMemAllocAsync_ptsz) \
	V(cuMemAllocFromPoolAsync, 11020, 0, cuMemAllocFromPoolAsync) \
	V(cuMemAllocFromPoolAsync, 11020, 1, cuMemAllocFromPoolAsync_ptsz) \
	V(cuMemAllocHost, 2000, 0, cuMemAllocHost) \
	V(cuMemAllocHost, 3020, 0, cuMemAllocHost_v2) \
	V(cuMemAllocManaged, 6000, 0, cuMemAllocManaged) \
	V(cuMemAllocPitch, 2000, 0, cuMemAllocPitch) \
	V(cuMemAllocPitch, 3020, 0, cuMemAllocPitch_v2) \
	V(cuMemBatchDecompressAsync, 12060, 0, cuMemBatchDecompressAsync) \
	V(cuMemBatchDecompressAsync, 12060, 1, cuMemBatchDecompressAsync_ptsz) \
	V(cuMemCreate, 10020, 0, cuMemCreate) \
	V(cuMemDiscardAndPrefetchBatchAsync, 13000, 0, cuMemDiscardAndPrefetchBatchAsync) \
	V(cuMemDiscardAndPrefetchBatchAsync, 13000, 1, cuMemDiscardAndPrefetchBatchAsync_ptsz) \
	V(cuMemDiscardBatchAsync, 13000, 0, cuMemDiscardBatchAsync) \
	V(cuMemDiscardBatchAsync, 13000, 1, cuMemDiscardBatchAsync_ptsz) \
	V(cuMemExportToShareableHandle, 10020, 0, cuMemExportToShareableHandle) \
	V(cuMemFree, 2000, 0, cuMemFree) \
	V(cuMemFree, 3020, 0, cuMemFree_v2) \
	V(cuMemFreeAsync, 11020, 0, cuMemFreeAsync) \
	V(cuMemFreeAsync, 11020, 1, cuMemFreeAsync_ptsz) \
	V(cuMemFreeHost, 2000, 0, cuMemFreeHost) \
	V(cuMemGetAccess, 10020, 0, cuMemGetAccess) \
	V(cuMemGetAddressRange, 2000, 0, cuMemGetAddressRange) \
	V(cuMemGetAddressRange, 3020, 0, cuMemGetAddressRange_v2) \
	V(cuMemGetAllocationGranularity, 10020, 0, cuMemGetAllocationGranularity) \
	V(cuMemGetAllocationPropertiesFromHandle, 10020, 0, cuMemGetAllocationPropertiesFromHandle) \
	V(cuMemGetDefaultMemPool, 13000, 0, cuMemGetDefaultMemPool) \
	V(cuMemGetHandleForAddressRange, 11070, 0, cuMemGetHandleForAddressRange) \
	V(cuMemGetInfo, 2000, 0, cuMemGetInfo) \
	V(cuMemGetInfo, 3020, 0, cuMemGetInfo_v2) \
	V(cuMemGetMemPool, 13000, 0, cuMemGetMemPool) \
	V(cuMemHostAlloc, 2020, 0, cuMemHostAlloc) \
	V(cuMemHostGetDevicePointer, 2020, 0, cuMemHostGetDevicePointer) \
	V(cuMemHostGetDevicePointer, 3020, 0, cuMemHostGetDevicePointer_v2) \
	V(cuMemHostGetFlags, 2030, 0, cuMemHostGetFlags) \
	V(cuMemHostRegister, 4000, 0, cuMemHostRegister) \
	V(cuMemHostRegister, 6050, 0, cuMemHostRegister_v2) \
	V(cuMemHostUnregister, 4000, 0, cuMemHostUnregister) \
	V(cuMemImportFromShareableHandle, 10020, 0, cuMemImportFromShareableHandle) \
	V(cuMemMap, 10020, 0, cuMemMap) \
	V(cuMemMapArrayAsync, 11010, 0, cuMemMapArrayAsync) \
	V(cuMemMapArrayAsync, 11010, 1, cuMemMapArrayAsync_ptsz) \
	V(cuMemPoolCreate, 11020, 0, cuMemPoolCreate) \
	V(cuMemPoolDestroy, 11020, 0, cuMemPoolDestroy) \
	V(cuMemPoolExportPointer, 11020, 0, cuMemPoolExportPointer) \
	V(cuMemPoolExportToShareableHandle, 11020, 0, cuMemPoolExportToShareableHandle) \
	V(cuMemPoolGetAccess, 11020, 0, cuMemPoolGetAccess) \
	V(cuMemPoolGetAttribute, 11020, 0, cuMemPoolGetAttribute) \
	V(cuMemPoolImportFromShareableHandle, 11020, 0, cuMemPoolImportFromShareableHandle) \
	V(cuMemPoolImportPointer, 11020, 0, cuMemPoolImportPointer) \
	V(cuMemPoolSetAccess, 11020, 0, cuMemPoolSetAccess) \
	V(cuMemPoolSetAttribute, 11020, 0, cuMemPoolSetAttribute) \
	V(cuMemPoolTrimTo, 11020, 0, cuMemPoolTrimTo) \
	V(cuMemPrefetchAsync, 8000, 0, cuMemPrefetchAsync) \
	V(cuMemPrefetchAsync, 8000, 1, cuMemPrefetchAsync_ptsz) \
	V(cuMemPrefetchAsync, 12020, 0, cuMemPrefetchAsync_v2) \
	V(cuMemPrefetchAsync, 12020, 1, cuMemPrefetchAsync_v2_ptsz) \
	V(cuMemPrefetchBatchAsync, 13000, 0, cuMemPrefetchBatchAsync) \
	V(cuMemPrefetchBatchAsync, 13000, 1, cuMemPrefetchBatchAsync_ptsz) \
	V(cuMemRangeGetAttribute, 8000, 0, cuMemRangeGetAttribute) \
	V(cuMemRangeGetAttributes, 8000, 0, cuMemRangeGetAttributes) \
	V(cuMemRelease, 10020, 0, cuMemRelease) \
	V(cuMemRetainAllocationHandle, 11000, 0, cuMemRetainAllocationHandle) \
	V(cuMemSetAccess, 10020, 0, cuMemSetAccess) \
	V(cuMemSetMemPool, 13000, 0, cuMemSetMemPool) \
	V(cuMemUnmap, 10020, 0, cuMemUnmap) \
	V(cuMemcpy, 4000, 0, cuMemcpy) \
	V(cuMemcpy, 7000, 1, cuMemcpy_ptds) \
	V(cuMemcpy2D, 2000, 0, cuMemcpy2D) \
	V(cuMemcpy2D, 3020, 0, cuMemcpy2D_v2) \
	V(cuMemcpy2D, 7000, 1, cuMemcpy2D_v2_ptds) \
	V(cuMemcpy2DAsync, 2000, 0, cuMemcpy2DAsync) \
	V(cuMemcpy2DAsync, 3020, 0, cuMemcpy2DAsync_v2) \
	V(cuMemcpy2DAsync, 7000, 1, cuMemcpy2DAsync_v2_ptsz) \
	V(cuMemcpy2DUnaligned, 2000, 0, cuMemcpy2DUnaligned) \
	V(cuMemcpy2DUnaligned, 3020, 0, cuMemcpy2DUnaligned_v2) \
	V(cuMemcpy2DUnaligned, 7000, 1, cuMemcpy2DUnaligned_v2_ptds) \
	V(cuMemcpy3D, 2000, 0, cuMemcpy3D) \
	V(cuMemcpy3D, 3020, 0, cuMemcpy3D_v2) \
	V(cuMemcpy3D, 7000, 1, cuMemcpy3D_v2_ptds) \
	V(cuMemcpy3DAsync, 2000, 0, cuMemcpy3DAsync) \
	V(cuMemcpy3DAsync, 3020, 0, cuMemcpy3DAsync_v2) \
	V(cuMemcpy3DAsync, 7000, 1, cuMemcpy3DAsync_v2_ptsz) \
	V(cuMemcpy3DBatchAsync, 12080, 0, cuMemcpy3DBatchAsync) \
	V(cuMemcpy3DBatchAsync, 12080, 1, cuMemcpy3DBatchAsync_ptsz) \
	V(cuMemcpy3DBatchAsync, 13000, 0, cuMemcpy3DBatchAsync_v2) \
	V(cuMemcpy3DBatchAsync, 13000, 1, cuMemcpy3DBatchAsync_v2_ptsz) \
	V(cuMemcpy3DPeer, 4000, 0, cuMemcpy3DPeer) \
	V(cuMemcpy3DPeer, 7000, 1, cuMemcpy3DPeer_ptds) \
	V(cuMemcpy3DPeerAsync, 4000, 0, cuMemcpy3DPeerAsync) \
	V(cuMemcpy3DPeerAsync, 7000, 1, cuMemcpy3DPeerAsync_ptsz) \
	V(cuMemcpyAsync, 4000, 0, cuMemcpyAsync) \
	V(cuMemcpyAsync, 7000, 1, cuMemcpyAsync_ptsz) \
	V(cuMemcpyAtoA, 2000, 0, cuMemcpyAtoA) \
	V(cuMemcpyAtoA, 3020, 0, cuMemcpyAtoA_v2) \
	V(cuMemcpyAtoA, 7000, 1, cuMemcpyAtoA_v2_ptds) \
	V(cuMemcpyAtoD, 2000, 0, cuMemcpyAtoD) \
	V(cuMemcpyAtoD, 3020, 0, cuMemcpyAtoD_v2) \
	V(cuMemcpyAtoD, 7000, 1, cuMemcpyAtoD_v2_ptds) \
	V(cuMemcpyAtoH, 2000, 0, cuMemcpyAtoH) \
	V(cuMemcpyAtoH, 3020, 0, cuMemcpyAtoH_v2) \
	V(cuMemcpyAtoH, 7000, 1, cuMemcpyAtoH_v2_ptds) \
	V(cuMemcpyAtoHAsync, 2000, 0, cuMemcpyAtoHAsync) \
	V(cuMemcpyAtoHAsync, 3020, 0, cuMemcpyAtoHAsync_v2) \
	V(cuMemcpyAtoHAsync, 7000, 1, cuMemcpyAtoHAsync_v2_ptsz) \
	V(cuMemcpyBatchAsync, 12080, 0, cuMemcpyBatchAsync) \
	V(cuMemcpyBatchAsync, 12080, 1, cuMemcpyBatchAsync_ptsz) \
	V(cuMemcpyBatchAsync, 13000, 0, cuMemcpyBatchAsync_v2) \
	V(cuMemcpyBatchAsync, 13000, 1, cuMemcpyBatchAsync_v2_ptsz) \
	V(cuMemcpyDtoA, 2000, 0, cuMemcpyDtoA) \
	V(cuMemcpyDtoA, 3020, 0, cuMemcpyDtoA_v2) \
	V(cuMemcpyDtoA, 7000, 1, cuMemcpyDtoA_v2_ptds) \
	V(cuMemcpyDtoD, 2000, 0, cuMemcpyDtoD) \
	V(cuMemcpyDtoD, 3020, 0, cuMemcpyDtoD_v2) \
	V(cuMemcpyDtoD, 7000, 1, cuMemcpyDtoD_v2_ptds) \
	V(cuMemcpyDtoDAsync, 3000, 0, cuMemcpyDtoDAsync) \
	V(cuMemcpyDtoDAsync, 3020, 0, cuMemcpyDtoDAsync_v2) \
	V(cuMemcpyDtoDAsync, 7000, 1, cuMemcpyDtoDAsync_v2_ptsz) \
	V(cuMemcpyDtoH, 2000, 0, cuMemcpyDtoH) \
	V(cuMemcpyDtoH, 3020, 0, cuMemcpyDtoH_v2) \
	V(cuMemcpyDtoH, 7000, 1, cuMemcpyDtoH_v2_ptds) \
	V(cuMemcpyDtoHAsync, 2000, 0, cuMemcpyDtoHAsync) \
	V(cuMemcpyDtoHAsync, 3020, 0, cuMemcpyDtoHAsync_v2) \
	V(cuMemcpyDtoHAsync, 7000, 1, cuMemcpyDtoHAsync_v2_ptsz) \
	V(cuMemcpyHtoA, 2000, 0, cuMemcpyHtoA) \
	V(cuMemcpyHtoA, 3020, 0, cuMemcpyHtoA_v2) \
	V(cuMemcpyHtoA, 7000, 1, cuMemcpyHtoA_v2_ptds) \
	V(cuMemcpyHtoAAsync, 2000, 0, cuMemcpyHtoAAsync) \
	V(cuMemcpyHtoAAsync, 3020, 0, cuMemcpyHtoAAsync_v2) \
	V(cuMemcpyHtoAAsync, 7000, 1, cuMemcpyHtoAAsync_v2_ptsz) \
	V(cuMemcpyHtoD, 2000, 0, cuMemcpyHtoD) \
	V(cuMemcpyHtoD, 3020, 0, cuMemcpyHtoD_v2) \
	V(cuMemcpyHtoD, 7000, 1, cuMemcpyHtoD_v2_ptds) \
	V(cuMemcpyHtoDAsync, 2000, 0, cuMemcpyHtoDAsync) \
	V(cuMemcpyHtoDAsync, 3020, 0, cuMemcpyHtoDAsync_v2) \
	V(cuMemcpyHtoDAsync, 7000, 1, cuMemcpyHtoDAsync_v2_ptsz) \
	V(cuMemcpyPeer, 4000, 0, cuMemcpyPeer) \
	V(cuMemcpyPeer, 7000, 1, cuMemcpyPeer_ptds) \
	V(cuMemcpyPeerAsync, 4000, 0, cuMemcpyPeerAsync) \
	V(cuMemcpyPeerAsync, 7000, 1, cuMemcpyPeerAsync_ptsz) \
	V(cuMemsetD16, 2000, 0, cuMemsetD16) \
	V(cuMemsetD16, 3020, 0, cuMemsetD16_v2) \
	V(cuMemsetD16, 7000, 1, cuMemsetD16_v2_ptds) \
	V(cuMemsetD16Async, 3020, 0, cuMemsetD16Async) \
	V(cuMemsetD16Async, 7000, 1, cuMemsetD16Async_ptsz) \
	V(cuMemsetD2D16, 2000, 0, cuMemsetD2D16) \
	V(cuMemsetD2D16, 3020, 0, cuMemsetD2D16_v2) \
	V(cuMemsetD2D16, 7000, 1, cuMemsetD2D16_v2_ptds) \
	V(cuMemsetD2D16Async, 3020, 0, cuMemsetD2D16Async) \
	V(cuMemsetD2D16Async, 7000, 1, cuMemsetD2D16Async_ptsz) \
	V(cuMemsetD2D32, 2000, 0, cuMemsetD2D32) \
	V(cuMemsetD2D32, 3020, 0, cuMemsetD2D32_v2) \
	V(cuMemsetD2D32, 7000, 1, cuMemsetD2D32_v2_ptds) \
	V(cuMemsetD2D32Async, 3020, 0, cuMemsetD2D32Async) \
	V(cuMemsetD2D32Async, 7000, 1, cuMemsetD2D32Async_ptsz) \
	V(cuMemsetD2D8, 2000, 0, cuMemsetD2D8) \
	V(cuMemsetD2D8, 3020, 0, cuMemsetD2D8_v2) \
	V(cuMemsetD2D8, 7000, 1, cuMemsetD2D8_v2_ptds) \
	V(cuMemsetD2D8Async, 3020, 0, cuMemsetD2D8Async) \
	V(cuMemsetD2D8Async, 7000, 1, cuMemsetD2D8Async_ptsz) \
	V(cuMemsetD32, 2000, 0, cuMemsetD32) \
	V(cuMemsetD32, 3020, 0, cuMemsetD32_v2) \
	V(cuMemsetD32, 7000, 1, cuMemsetD32_v2_ptds) \
	V(cuMemsetD32Async, 3020, 0, cuMemsetD32Async) \
	V(cuMemsetD32Async, 7000, 1, cuMemsetD32Async_ptsz) \
	V(cuMemsetD8, 2000, 0, cuMemsetD8) \
	V(cuMemsetD8, 3020, 0, cuMemsetD8_v2) \
	V(cuMemsetD8, 7000, 1, cuMemsetD8_v2_ptds) \
	V(cuMemsetD8Async, 3020, 0, cuMemsetD8Async) \
	V(cuMemsetD8Async, 7000, 1, cuMemsetD8Async_ptsz) \
	V(cuMipmappedArrayCreate, 5000, 0, cuMipmappedArrayCreate) \
	V(cuMipmappedArrayDestroy, 5000, 0, cuMipmappedArrayDestroy) \
	V(cuMipmappedArrayGetLevel, 5000, 0, cuMipmappedArrayGetLevel) \
	V(cuMipmappedArrayGetMemoryRequirements, 11060, 0, cuMipmappedArrayGetMemoryRequirements) \
	V(cuMipmappedArrayGetSparseProperties, 11010, 0, cuMipmappedArrayGetSparseProperties) \
	V(cuModuleEnumerateFunctions, 12040, 0, cuModuleEnumerateFunctions) \
	V(cuModuleGetFunction, 2000, 0, cuModuleGetFunction) \
	V(cuModuleGetFunctionCount, 12040, 0, cuModuleGetFunctionCount) \
	V(cuModuleGetGlobal, 2000, 0, cuModuleGetGlobal) \
	V(cuModuleGetGlobal, 3020, 0, cuModuleGetGlobal_v2) \
	V(cuModuleGetLoadingMode, 11070, 0, cuModuleGetLoadingMode) \
	V(cuModuleGetSurfRef, 3000, 0, cuModuleGetSurfRef) \
	V(cuModuleGetTexRef, 2000, 0, cuModuleGetTexRef) \
	V(cuModuleLoad, 2000, 0, cuModuleLoad) \
	V(cuModuleLoadData, 2000, 0, cuModuleLoadData) \
	V(cuModuleLoadDataEx, 2010, 0, cuModuleLoadDataEx) \
	V(cuModuleLoadFatBinary, 2000, 0, cuModuleLoadFatBinary) \
	V(cuModuleUnload, 2000, 0, cuModuleUnload) \
	V(cuMulticastAddDevice, 12010, 0, cuMulticastAddDevice) \
	V(cuMulticastBindAddr, 12010, 0, cuMulticastBindAddr) \
	V(cuMulticastBindAddr, 13010, 0, cuMulticastBindAddr_v2) \
	V(cuMulticastBindMem, 12010, 0, cuMulticastBindMem) \
	V(cuMulticastBindMem, 13010, 0, cuMulticastBindMem_v2) \
	V(cuMulticastCreate, 12010, 0, cuMulticastCreate) \
	V(cuMulticastGetGranularity, 12010, 0, cuMulticastGetGranularity) \
	V(cuMulticastUnbind, 12010, 0, cuMulticastUnbind) \
	V(cuOccupancyAvailableDynamicSMemPerBlock, 10020, 0, cuOccupancyAvailableDynamicSMemPerBlock) \
	V(cuOccupancyMaxActiveBlocksPerMultiprocessor, 6050, 0, cuOccupancyMaxActiveBlocksPerMultiprocessor) \
	V(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, 7000, 0, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags) \
	V(cuOccupancyMaxActiveClusters, 11070, 0, cuOccupancyMaxActiveClusters) \
	V(cuOccupancyMaxPotentialBlockSize, 6050, 0, cuOccupancyMaxPotentialBlockSize) \
	V(cuOccupancyMaxPotentialBlockSizeWithFlags, 7000, 0, cuOccupancyMaxPotentialBlockSizeWithFlags) \
	V(cuOccupancyMaxPotentialClusterSize, 11070, 0, cuOccupancyMaxPotentialClusterSize) \
	V(cuParamSetSize, 2000, 0, cuParamSetSize) \
	V(cuParamSetTexRef, 2000, 0, cuParamSetTexRef) \
	V(cuParamSetf, 2000, 0, cuParamSetf) \
	V(cuParamSeti, 2000, 0, cuParamSeti) \
	V(cuParamSetv, 2000, 0, cuParamSetv) \
	V(cuPointerGetAttribute, 4000, 0, cuPointerGetAttribute) \
	V(cuPointerGetAttributes, 7000, 0, cuPointerGetAttributes) \
	V(cuPointerSetAttribute, 6000, 0, cuPointerSetAttribute) \
	V(cuProfilerInitialize, 4000, 0, cuProfilerInitialize) \
	V(cuProfilerStart, 4000, 0, cuProfilerStart) \
	V(cuProfilerStop, 4000, 0, cuProfilerStop) \
	V(cuSignalExternalSemaphoresAsync, 10000, 0, cuSignalExternalSemaphoresAsync) \
	V(cuSignalExternalSemaphoresAsync, 10000, 1, cuSignalExternalSemaphoresAsync_ptsz) \
	V(cuStreamAddCallback, 5000, 0, cuStreamAddCallback) \
	V(cuStreamAddCallback, 7000, 1, cuStreamAddCallback_ptsz) \
	V(cuStreamAttachMemAsync, 6000, 0, cuStreamAttachMemAsync) \
	V(cuStreamAttachMemAsync, 7000, 1, cuStreamAttachMemAsync_ptsz) \
	V(cuStreamBatchMemOp, 8000, 0, cuStreamBatchMemOp) \
	V(cuStreamBatchMemOp, 8000, 1, cuStreamBatchMemOp_ptsz) \
	V(cuStreamBatchMemOp, 11070, 0, cuStreamBatchMemOp_v2) \
	V(cuStreamBatchMemOp, 11070, 1, cuStreamBatchMemOp_v2_ptsz) \
	V(cuStreamBeginCapture, 10000, 0, cuStreamBeginCapture) \
	V(cuStreamBeginCapture, 10000, 1, cuStreamBeginCapture_ptsz) \
	V(cuStreamBeginCapture, 10010, 0, cuStreamBeginCapture_v2) \
	V(cuStreamBeginCapture, 10010, 1, cuStreamBeginCapture_v2_ptsz) \
	V(cuStreamBeginCaptureToGraph, 12030, 0, cuStreamBeginCaptureToGraph) \
	V(cuStreamBeginCaptureToGraph, 12030, 1, cuStreamBeginCaptureToGraph_ptsz) \
	V(cuStreamCopyAttributes, 11000, 0, cuStreamCopyAttributes) \
	V(cuStreamCopyAttributes, 11000, 1, cuStreamCopyAttributes_ptsz) \
	V(cuStreamCreate, 2000, 0, cuStreamCreate) \
	V(cuStreamCreateWithPriority, 5050, 0, cuStreamCreateWithPriority) \
	V(cuStreamDestroy, 2000, 0, cuStreamDestroy) \
	V(cuStreamDestroy, 4000, 0, cuStreamDestroy_v2) \
	V(cuStreamEndCapture, 10000, 0, cuStreamEndCapture) \
	V(cuStreamEndCapture, 10000, 1, cuStreamEndCapture_ptsz) \
	V(cuStreamGetAttribute, 11000, 0, cuStreamGetAttribute) \
	V(cuStreamGetAttribute, 11000, 1, cuStreamGetAttribute_ptsz) \
	V(cuStreamGetCaptureInfo, 10010, 0, cuStreamGetCaptureInfo) \
	V(cuStreamGetCaptureInfo, 10010, 1, cuStreamGetCaptureInfo_ptsz) \
	V(cuStreamGetCaptureInfo, 11030, 0, cuStreamGetCaptureInfo_v2) \
	V(cuStreamGetCaptureInfo, 11030, 1, cuStreamGetCaptureInfo_v2_ptsz) \
	V(cuStreamGetCaptureInfo, 12030, 0, cuStreamGetCaptureInfo_v3) \
	V(cuStreamGetCaptureInfo, 12030, 1, cuStreamGetCaptureInfo_v3_ptsz) \
	V(cuStreamGetCtx, 9020, 0, cuStreamGetCtx) \
	V(cuStreamGetCtx, 9020, 1, cuStreamGetCtx_ptsz) \
	V(cuStreamGetCtx, 12050, 0, cuStreamGetCtx_v2) \
	V(cuStreamGetCtx, 12050, 1, cuStreamGetCtx_v2_ptsz) \
	V(cuStreamGetDevice, 12080, 0, cuStreamGetDevice) \
	V(cuStreamGetDevice, 12080, 1, cuStreamGetDevice_ptsz) \
	V(cuStreamGetFlags, 5050, 0, cuStreamGetFlags) \
	V(cuStreamGetFlags, 7000, 1, cuStreamGetFlags_ptsz) \
	V(cuStreamGetGreenCtx, 12040, 0, cuStreamGetGreenCtx) \
	V(cuStreamGetId, 12000, 0, cuStreamGetId) \
	V(cuStreamGetId, 12000, 1, cuStreamGetId_ptsz) \
	V(cuStreamGetPriority, 5050, 0, cuStreamGetPriority) \
	V(cuStreamGetPriority, 7000, 1, cuStreamGetPriority_ptsz) \
	V(cuStreamIsCapturing, 10000, 0, cuStreamIsCapturing) \
	V(cuStreamIsCapturing, 10000, 1, cuStreamIsCapturing_ptsz) \
	V(cuStreamQuery, 2000, 0, cuStreamQuery) \
	V(cuStreamQuery, 7000, 1, cuStreamQuery_ptsz) \
	V(cuStreamSetAttribute, 11000, 0, cuStreamSetAttribute) \
	V(cuStreamSetAttribute, 11000, 1, cuStreamSetAttribute_ptsz) \
	V(cuStreamSynchronize, 2000, 0, cuStreamSynchronize) \
	V(cuStreamSynchronize, 7000, 1, cuStreamSynchronize_ptsz) \
	V(cuStreamUpdateCaptureDependencies, 11030, 0, cuStreamUpdateCaptureDependencies) \
	V(cuStreamUpdateCaptureDependencies, 11030, 1, cuStreamUpdateCaptureDependencies_ptsz) \
	V(cuStreamUpdateCaptureDependencies, 12030, 0, cuStreamUpdateCaptureDependencies_v2) \
	V(cuStreamUpdateCaptureDependencies, 12030, 1, cuStreamUpdateCaptureDependencies_v2_ptsz) \
	V(cuStreamWaitEvent, 3020, 0, cuStreamWaitEvent) \
	V(cuStreamWaitEvent, 7000, 1, cuStreamWaitEvent_ptsz) \
	V(cuStreamWaitValue32, 8000, 0, cuStreamWaitValue32) \
	V(cuStreamWaitValue32, 8000, 1, cuStreamWaitValue32_ptsz) \
	V(cuStreamWaitValue32, 11070, 0, cuStreamWaitValue32_v2) \
	V(cuStreamWaitValue32, 11070, 1, cuStreamWaitValue32_v2_ptsz) \
	V(cuStreamWaitValue64, 9000, 0, cuStreamWaitValue64) \
	V(cuStreamWaitValue64, 9000, 1, cuStreamWaitValue64_ptsz) \
	V(cuStreamWaitValue64, 11070, 0, cuStreamWaitValue64_v2) \
	V(cuStreamWaitValue64, 11070, 1, cuStreamWaitValue64_v2_ptsz) \
	V(cuStreamWriteValue32, 8000, 0, cuStreamWriteValue32) \
	V(cuStreamWriteValue32, 8000, 1, cuStreamWriteValue32_ptsz) \
	V(cuStreamWriteValue32, 11070, 0, cuStreamWriteValue32_v2) \
	V(cuStreamWriteValue32, 11070, 1, cuStreamWriteValue32_v2_ptsz) \
	V(cuStreamWriteValue64, 9000, 0, cuStreamWriteValue64) \
	V(cuStreamWriteValue64, 9000, 1, cuStreamWriteValue64_ptsz) \
	V(cuStreamWriteValue64, 11070, 0, cuStreamWriteValue64_v2) \
	V(cuStreamWriteValue64, 11070, 1, cuStreamWriteValue64_v2_ptsz) \
	V(cuSurfObjectCreate, 5000, 0, cuSurfObjectCreate) \
	V(cuSurfObjectDestroy, 5000, 0, cuSurfObjectDestroy) \
	V(cuSurfObjectGetResourceDesc, 5000, 0, cuSurfObjectGetResourceDesc) \
	V(cuSurfRefGetArray, 3000, 0, cuSurfRefGetArray) \
	V(cuSurfRefSetArray, 3000, 0, cuSurfRefSetArray) \
	V(cuTensorMapEncodeIm2col, 12000, 0, cuTensorMapEncodeIm2col) \
	V(cuTensorMapEncodeIm2colWide, 12080, 0, cuTensorMapEncodeIm2colWide) \
	V(cuTensorMapEncodeTiled, 12000, 0, cuTensorMapEncodeTiled) \
	V(cuTensorMapReplaceAddress, 12000, 0, cuTensorMapReplaceAddress) \
	V(cuTexObjectCreate, 5000, 0, cuTexObjectCreate) \
	V(cuTexObjectDestroy, 5000, 0, cuTexObjectDestroy) \
	V(cuTexObjectGetResourceDesc, 5000, 0, cuTexObjectGetResourceDesc) \
	V(cuTexObjectGetResourceViewDesc, 5000, 0, cuTexObjectGetResourceViewDesc) \
	V(cuTexObjectGetTextureDesc, 5000, 0, cuTexObjectGetTextureDesc) \
	V(cuTexRefCreate, 2000, 0, cuTexRefCreate) \
	V(cuTexRefDestroy, 2000, 0, cuTexRefDestroy) \
	V(cuTexRefGetAddress, 2000, 0, cuTexRefGetAddress) \
	V(cuTexRefGetAddress, 3020, 0, cuTexRefGetAddress_v2) \
	V(cuTexRefGetAddressMode, 2000, 0, cuTexRefGetAddressMode) \
	V(cuTexRefGetArray, 2000, 0, cuTexRefGetArray) \
	V(cuTexRefGetBorderColor, 8000, 0, cuTexRefGetBorderColor) \
	V(cuTexRefGetFilterMode, 2000, 0, cuTexRefGetFilterMode) \
	V(cuTexRefGetFlags, 2000, 0, cuTexRefGetFlags) \
	V(cuTexRefGetFormat, 2000, 0, cuTexRefGetFormat) \
	V(cuTexRefGetMaxAnisotropy, 5000, 0, cuTexRefGetMaxAnisotropy) \
	V(cuTexRefGetMipmapFilterMode, 5000, 0, cuTexRefGetMipmapFilterMode) \
	V(cuTexRefGetMipmapLevelBias, 5000, 0, cuTexRefGetMipmapLevelBias) \
	V(cuTexRefGetMipmapLevelClamp, 5000, 0, cuTexRefGetMipmapLevelClamp) \
	V(cuTexRefGetMipmappedArray, 5000, 0, cuTexRefGetMipmappedArray) \
	V(cuTexRefSetAddress, 2000, 0, cuTexRefSetAddress) \
	V(cuTexRefSetAddress, 3020, 0, cuTexRefSetAddress_v2) \
	V(cuTexRefSetAddress2D, 2020, 0, cuTexRefSetAddress2D) \
	V(cuTexRefSetAddress2D, 3020, 0, cuTexRefSetAddress2D_v2) \
	V(cuTexRefSetAddress2D, 4010, 0, cuTexRefSetAddress2D_v3) \
	V(cuTexRefSetAddressMode, 2000, 0, cuTexRefSetAddressMode) \
	V(cuTexRefSetArray, 2000, 0, cuTexRefSetArray) \
	V(cuTexRefSetBorderColor, 8000, 0, cuTexRefSetBorderColor) \
	V(cuTexRefSetFilterMode, 2000, 0, cuTexRefSetFilterMode) \
	V(cuTexRefSetFlags, 2000, 0, cuTexRefSetFlags) \
	V(cuTexRefSetFormat, 2000, 0, cuTexRefSetFormat) \
	V(cuTexRefSetMaxAnisotropy, 5000, 0, cuTexRefSetMaxAnisotropy) \
	V(cuTexRefSetMipmapFilterMode, 5000, 0, cuTexRefSetMipmapFilterMode) \
	V(cuTexRefSetMipmapLevelBias, 5000, 0, cuTexRefSetMipmapLevelBias) \
	V(cuTexRefSetMipmapLevelClamp, 5000, 0, cuTexRefSetMipmapLevelClamp) \
	V(cuTexRefSetMipmappedArray, 5000, 0, cuTexRefSetMipmappedArray) \
	V(cuThreadExchangeStreamCaptureMode, 10010, 0, cuThreadExchangeStreamCaptureMode) \
	V(cuUserObjectCreate, 11030, 0, cuUserObjectCreate) \
	V(cuUserObjectRelease, 11030, 0, cuUserObjectRelease) \
	V(cuUserObjectRetain, 11030, 0, cuUserObjectRetain) \
	V(cuWaitExternalSemaphoresAsync, 10000, 0, cuWaitExternalSemaphoresAsync) \
	V(cuWaitExternalSemaphoresAsync, 10000, 1, cuWaitExternalSemaphoresAsync_ptsz)
/* clang-format on */

#endif
