/* SPDX-License-Identifier: Apache-2.0 */
/* cudaGetDeviceProperties: a struct whose fields are device attributes; it changes with the major.
 */
#include <string.h>

#include "cudart.h"

/* X(field, width, attribute): width is that of the field, int or size. */
#define GD_PROPERTIES(X) \
	X(sharedMemPerBlock, size, MAX_SHARED_MEMORY_PER_BLOCK) \
	X(regsPerBlock, int, MAX_REGISTERS_PER_BLOCK) \
	X(warpSize, int, WARP_SIZE) \
	X(memPitch, size, MAX_PITCH) \
	X(maxThreadsPerBlock, int, MAX_THREADS_PER_BLOCK) \
	X(maxThreadsDim[0], int, MAX_BLOCK_DIM_X) \
	X(maxThreadsDim[1], int, MAX_BLOCK_DIM_Y) \
	X(maxThreadsDim[2], int, MAX_BLOCK_DIM_Z) \
	X(maxGridSize[0], int, MAX_GRID_DIM_X) \
	X(maxGridSize[1], int, MAX_GRID_DIM_Y) \
	X(maxGridSize[2], int, MAX_GRID_DIM_Z) \
	X(totalConstMem, size, TOTAL_CONSTANT_MEMORY) \
	X(major, int, COMPUTE_CAPABILITY_MAJOR) \
	X(minor, int, COMPUTE_CAPABILITY_MINOR) \
	X(textureAlignment, size, TEXTURE_ALIGNMENT) \
	X(texturePitchAlignment, size, TEXTURE_PITCH_ALIGNMENT) \
	X(multiProcessorCount, int, MULTIPROCESSOR_COUNT) \
	X(integrated, int, INTEGRATED) \
	X(canMapHostMemory, int, CAN_MAP_HOST_MEMORY) \
	X(maxTexture1D, int, MAXIMUM_TEXTURE1D_WIDTH) \
	X(maxTexture2D[0], int, MAXIMUM_TEXTURE2D_WIDTH) \
	X(maxTexture2D[1], int, MAXIMUM_TEXTURE2D_HEIGHT) \
	X(maxTexture3D[0], int, MAXIMUM_TEXTURE3D_WIDTH) \
	X(maxTexture3D[1], int, MAXIMUM_TEXTURE3D_HEIGHT) \
	X(maxTexture3D[2], int, MAXIMUM_TEXTURE3D_DEPTH) \
	X(surfaceAlignment, size, SURFACE_ALIGNMENT) \
	X(concurrentKernels, int, CONCURRENT_KERNELS) \
	X(ECCEnabled, int, ECC_ENABLED) \
	X(pciBusID, int, PCI_BUS_ID) \
	X(pciDeviceID, int, PCI_DEVICE_ID) \
	X(pciDomainID, int, PCI_DOMAIN_ID) \
	X(tccDriver, int, TCC_DRIVER) \
	X(asyncEngineCount, int, ASYNC_ENGINE_COUNT) \
	X(unifiedAddressing, int, UNIFIED_ADDRESSING) \
	X(memoryBusWidth, int, GLOBAL_MEMORY_BUS_WIDTH) \
	X(l2CacheSize, int, L2_CACHE_SIZE) \
	X(persistingL2CacheMaxSize, int, MAX_PERSISTING_L2_CACHE_SIZE) \
	X(maxThreadsPerMultiProcessor, int, MAX_THREADS_PER_MULTIPROCESSOR) \
	X(streamPrioritiesSupported, int, STREAM_PRIORITIES_SUPPORTED) \
	X(globalL1CacheSupported, int, GLOBAL_L1_CACHE_SUPPORTED) \
	X(localL1CacheSupported, int, LOCAL_L1_CACHE_SUPPORTED) \
	X(sharedMemPerMultiprocessor, size, MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) \
	X(regsPerMultiprocessor, int, MAX_REGISTERS_PER_MULTIPROCESSOR) \
	X(managedMemory, int, MANAGED_MEMORY) \
	X(isMultiGpuBoard, int, MULTI_GPU_BOARD) \
	X(multiGpuBoardGroupID, int, MULTI_GPU_BOARD_GROUP_ID) \
	X(hostNativeAtomicSupported, int, HOST_NATIVE_ATOMIC_SUPPORTED) \
	X(pageableMemoryAccess, int, PAGEABLE_MEMORY_ACCESS) \
	X(concurrentManagedAccess, int, CONCURRENT_MANAGED_ACCESS) \
	X(computePreemptionSupported, int, COMPUTE_PREEMPTION_SUPPORTED) \
	X(canUseHostPointerForRegisteredMem, int, CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM) \
	X(cooperativeLaunch, int, COOPERATIVE_LAUNCH) \
	X(sharedMemPerBlockOptin, size, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) \
	X(pageableMemoryAccessUsesHostPageTables, int, \
	    PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES) \
	X(directManagedMemAccessFromHost, int, DIRECT_MANAGED_MEM_ACCESS_FROM_HOST) \
	X(maxBlocksPerMultiProcessor, int, MAX_BLOCKS_PER_MULTIPROCESSOR) \
	X(accessPolicyMaxWindowSize, int, MAX_ACCESS_POLICY_WINDOW_SIZE) \
	X(reservedSharedMemPerBlock, size, RESERVED_SHARED_MEMORY_PER_BLOCK)

/* Fields of CUDA 11 and 12 that 13 took away. */
#define GD_PROPERTIES_OLD(X) \
	X(clockRate, int, CLOCK_RATE) \
	X(memoryClockRate, int, MEMORY_CLOCK_RATE) \
	X(deviceOverlap, int, GPU_OVERLAP) \
	X(kernelExecTimeoutEnabled, int, KERNEL_EXEC_TIMEOUT) \
	X(computeMode, int, COMPUTE_MODE) \
	X(singleToDoublePrecisionPerfRatio, int, SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO) \
	X(cooperativeMultiDeviceLaunch, int, COOPERATIVE_MULTI_DEVICE_LAUNCH)

/* Fields that came with 12. */
#define GD_PROPERTIES_12(X) \
	X(hostRegisterSupported, int, HOST_REGISTER_SUPPORTED) \
	X(sparseCudaArraySupported, int, SPARSE_CUDA_ARRAY_SUPPORTED) \
	X(memoryPoolsSupported, int, MEMORY_POOLS_SUPPORTED) \
	X(gpuDirectRDMASupported, int, GPU_DIRECT_RDMA_SUPPORTED) \
	X(deferredMappingCudaArraySupported, int, DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED) \
	X(ipcEventSupported, int, IPC_EVENT_SUPPORTED) \
	X(clusterLaunch, int, CLUSTER_LAUNCH) \
	X(unifiedFunctionPointers, int, UNIFIED_FUNCTION_POINTERS)

#if CUDART_VERSION < 13000
#define GD_PROPERTIES_OF_MAJOR(X) GD_PROPERTIES_OLD(X)
#else
#define GD_PROPERTIES_OF_MAJOR(X)
#endif
#if CUDART_VERSION >= 12000
#define GD_PROPERTIES_NEW(X) GD_PROPERTIES_12(X)
#else
#define GD_PROPERTIES_NEW(X)
#endif

/* An attribute that this driver does not know leaves its field 0. */
static int attribute(CUdevice device, CUdevice_attribute number)
{
	int value = 0;

	return gd_driver.cuDeviceGetAttribute(&value, number, device) == CUDA_SUCCESS ? value : 0;
}

static void fill(struct cudaDeviceProp *out, CUdevice device)
{
#define GD_WIDTH_int(value) (value)
#define GD_WIDTH_size(value) (size_t)(value)
#define GD_FILL(field, width, name) \
	out->field = GD_WIDTH_##width(attribute(device, CU_DEVICE_ATTRIBUTE_##name));
	GD_PROPERTIES(GD_FILL)
	GD_PROPERTIES_OF_MAJOR(GD_FILL)
	GD_PROPERTIES_NEW(GD_FILL)
#undef GD_FILL
}

static cudaError_t properties(struct cudaDeviceProp *out, int ordinal)
{
	CUdevice device;
	CUresult result;

	GD_START_INSIDE();
	if (!out)
		return gd_rt_note(cudaErrorInvalidValue);
	if (gd_driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	memset(out, 0, sizeof(*out));
	result = gd_driver.cuDeviceGetName(out->name, sizeof(out->name), device);
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuDeviceTotalMem(&out->totalGlobalMem, device);
	if (result == CUDA_SUCCESS)
		result = gd_driver.cuDeviceGetUuid((CUuuid *)&out->uuid, device);
	if (result != CUDA_SUCCESS)
		return gd_rt_result(result);
	fill(out, device);
	return cudaSuccess;
}

#undef cudaGetDeviceProperties
#undef cudaGetDeviceProperties_v2

#if CUDART_VERSION >= 12000 && CUDART_VERSION < 13000
GD_EXPORT cudaError_t cudaGetDeviceProperties_v2(struct cudaDeviceProp *out, int ordinal)
#else
GD_EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int ordinal)
#endif
{
	GD_WATCH();
	return properties(out, ordinal);
}
