/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every driver function that is intercepted: one row an EXPORTED symbol, so that each ABI variant
 * (_v2, _v3, _ptds, _ptsz, a signature that changed with a release) has its own.
 *
 *   H(since, class, use, recorder, function, parameter types...)
 *
 * since     CUDA_VERSION of the first cuda.h that declares it; 0 = 11.8 or earlier.  Only the check
 *           against cuda.h (hook_check.c) reads it
 * class     what GPUSHIM_RECORD must ask for: MEMORY, COPIES, KERNELS, API; ALWAYS is not filtered
 * use       USES: a call that succeeds (or finds no memory) means that the process really uses CUDA
 *           and starts the recording; QUIET: it does not
 * recorder  gs_rec_<recorder>(call, arguments...) of recorders.h, called after the real function
 *
 * All of them return CUresult.  A new hook is one row here, and a recorder if its shape is new.
 */
#ifndef GS_HOOK_TABLE_H
#define GS_HOOK_TABLE_H

/* Memory of all kinds. */
#define GS_HOOKS_MEMORY(H) \
	H(0, MEMORY, USES, alloc, cuMemAlloc_v2, CUdeviceptr *, size_t) \
	H(0, MEMORY, USES, alloc_v1, cuMemAlloc, CUdeviceptr_v1 *, unsigned int) \
	H(0, MEMORY, USES, alloc_pitch, cuMemAllocPitch_v2, CUdeviceptr *, size_t *, size_t, \
	    size_t, unsigned int) \
	H(0, MEMORY, USES, alloc_pitch_v1, cuMemAllocPitch, CUdeviceptr_v1 *, unsigned int *, \
	    unsigned int, unsigned int, unsigned int) \
	H(0, MEMORY, USES, alloc_managed, cuMemAllocManaged, CUdeviceptr *, size_t, unsigned int) \
	H(0, MEMORY, QUIET, free, cuMemFree_v2, CUdeviceptr) \
	H(0, MEMORY, QUIET, free, cuMemFree, CUdeviceptr_v1) \
	H(0, MEMORY, USES, host_alloc, cuMemAllocHost_v2, void **, size_t) \
	H(0, MEMORY, USES, host_alloc, cuMemAllocHost, void **, unsigned int) \
	H(0, MEMORY, USES, host_alloc, cuMemHostAlloc, void **, size_t, unsigned int) \
	H(0, MEMORY, QUIET, host_free, cuMemFreeHost, void *) \
	H(0, MEMORY, USES, host_register, cuMemHostRegister_v2, void *, size_t, unsigned int) \
	H(0, MEMORY, USES, host_register, cuMemHostRegister, void *, size_t, unsigned int) \
	H(0, MEMORY, QUIET, host_unregister, cuMemHostUnregister, void *) \
	H(0, MEMORY, USES, alloc_async, cuMemAllocAsync, CUdeviceptr *, size_t, CUstream) \
	H(0, MEMORY, USES, alloc_async, cuMemAllocAsync_ptsz, CUdeviceptr *, size_t, CUstream) \
	H(0, MEMORY, USES, alloc_from_pool, cuMemAllocFromPoolAsync, CUdeviceptr *, size_t, \
	    CUmemoryPool, CUstream) \
	H(0, MEMORY, USES, alloc_from_pool, cuMemAllocFromPoolAsync_ptsz, CUdeviceptr *, size_t, \
	    CUmemoryPool, CUstream) \
	H(0, MEMORY, QUIET, free_async, cuMemFreeAsync, CUdeviceptr, CUstream) \
	H(0, MEMORY, QUIET, free_async, cuMemFreeAsync_ptsz, CUdeviceptr, CUstream) \
	H(0, MEMORY, USES, pool_create, cuMemPoolCreate, CUmemoryPool *, const CUmemPoolProps *) \
	H(0, MEMORY, QUIET, pool_destroy, cuMemPoolDestroy, CUmemoryPool) \
	H(0, MEMORY, QUIET, pool_trim, cuMemPoolTrimTo, CUmemoryPool, size_t) \
	H(0, MEMORY, USES, pool_import, cuMemPoolImportFromShareableHandle, CUmemoryPool *, \
	    void *, CUmemAllocationHandleType, unsigned long long) \
	H(0, MEMORY, USES, pool_import_pointer, cuMemPoolImportPointer, CUdeviceptr *, \
	    CUmemoryPool, CUmemPoolPtrExportData *) \
	H(0, MEMORY, USES, reserve, cuMemAddressReserve, CUdeviceptr *, size_t, size_t, \
	    CUdeviceptr, unsigned long long) \
	H(0, MEMORY, QUIET, unreserve, cuMemAddressFree, CUdeviceptr, size_t) \
	H(0, MEMORY, USES, create, cuMemCreate, CUmemGenericAllocationHandle *, size_t, \
	    const CUmemAllocationProp *, unsigned long long) \
	H(0, MEMORY, QUIET, release, cuMemRelease, CUmemGenericAllocationHandle) \
	H(0, MEMORY, USES, map, cuMemMap, CUdeviceptr, size_t, size_t, \
	    CUmemGenericAllocationHandle, unsigned long long) \
	H(0, MEMORY, QUIET, unmap, cuMemUnmap, CUdeviceptr, size_t) \
	H(0, MEMORY, USES, access, cuMemSetAccess, CUdeviceptr, size_t, const CUmemAccessDesc *, \
	    size_t) \
	H(0, MEMORY, QUIET, retain, cuMemRetainAllocationHandle, CUmemGenericAllocationHandle *, \
	    void *) \
	H(0, MEMORY, QUIET, export, cuMemExportToShareableHandle, void *, \
	    CUmemGenericAllocationHandle, CUmemAllocationHandleType, unsigned long long) \
	H(0, MEMORY, USES, import, cuMemImportFromShareableHandle, CUmemGenericAllocationHandle *, \
	    void *, CUmemAllocationHandleType) \
	H(0, MEMORY, USES, ipc_open, cuIpcOpenMemHandle_v2, CUdeviceptr *, CUipcMemHandle, \
	    unsigned int) \
	H(0, MEMORY, USES, ipc_open, cuIpcOpenMemHandle, CUdeviceptr *, CUipcMemHandle, \
	    unsigned int) \
	H(0, MEMORY, QUIET, ipc_close, cuIpcCloseMemHandle, CUdeviceptr) \
	H(12010, MEMORY, USES, multicast_create, cuMulticastCreate, \
	    CUmemGenericAllocationHandle *, const CUmulticastObjectProp *) \
	H(12010, MEMORY, QUIET, multicast_device, cuMulticastAddDevice, \
	    CUmemGenericAllocationHandle, CUdevice) \
	H(12010, MEMORY, USES, multicast_bind, cuMulticastBindMem, CUmemGenericAllocationHandle, \
	    size_t, CUmemGenericAllocationHandle, size_t, size_t, unsigned long long) \
	H(12010, MEMORY, USES, multicast_bind_address, cuMulticastBindAddr, \
	    CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long) \
	H(12010, MEMORY, QUIET, multicast_unbind, cuMulticastUnbind, CUmemGenericAllocationHandle, \
	    CUdevice, size_t, size_t) \
	H(0, MEMORY, USES, array_create, cuArrayCreate_v2, CUarray *, \
	    const CUDA_ARRAY_DESCRIPTOR *) \
	H(0, MEMORY, USES, array_3d_create, cuArray3DCreate_v2, CUarray *, \
	    const CUDA_ARRAY3D_DESCRIPTOR *) \
	H(0, MEMORY, USES, array_create_v1, cuArrayCreate, CUarray *, \
	    const CUDA_ARRAY_DESCRIPTOR_v1 *) \
	H(0, MEMORY, USES, array_3d_create_v1, cuArray3DCreate, CUarray *, \
	    const CUDA_ARRAY3D_DESCRIPTOR_v1 *) \
	H(0, MEMORY, USES, mipmapped_create, cuMipmappedArrayCreate, CUmipmappedArray *, \
	    const CUDA_ARRAY3D_DESCRIPTOR *, unsigned int) \
	H(0, MEMORY, QUIET, array_destroy, cuArrayDestroy, CUarray) \
	H(0, MEMORY, QUIET, array_destroy, cuMipmappedArrayDestroy, CUmipmappedArray) \
	H(0, MEMORY, QUIET, mem_info, cuMemGetInfo_v2, size_t *, size_t *) \
	H(0, MEMORY, QUIET, mem_info_v1, cuMemGetInfo, unsigned int *, unsigned int *)

/* Copies. */
#define GS_HOOKS_COPIES(H) \
	H(0, COPIES, USES, copy, cuMemcpy, CUdeviceptr, CUdeviceptr, size_t) \
	H(0, COPIES, USES, copy, cuMemcpy_ptds, CUdeviceptr, CUdeviceptr, size_t) \
	H(0, COPIES, USES, copy, cuMemcpyDtoD, CUdeviceptr_v1, CUdeviceptr_v1, unsigned int) \
	H(0, COPIES, USES, copy, cuMemcpyDtoD_v2, CUdeviceptr, CUdeviceptr, size_t) \
	H(0, COPIES, USES, copy, cuMemcpyDtoD_v2_ptds, CUdeviceptr, CUdeviceptr, size_t) \
	H(0, COPIES, USES, copy_to_device, cuMemcpyHtoD, CUdeviceptr_v1, const void *, \
	    unsigned int) \
	H(0, COPIES, USES, copy_to_device, cuMemcpyHtoD_v2, CUdeviceptr, const void *, size_t) \
	H(0, COPIES, USES, copy_to_device, cuMemcpyHtoD_v2_ptds, CUdeviceptr, const void *, \
	    size_t) \
	H(0, COPIES, USES, copy_to_host, cuMemcpyDtoH, void *, CUdeviceptr_v1, unsigned int) \
	H(0, COPIES, USES, copy_to_host, cuMemcpyDtoH_v2, void *, CUdeviceptr, size_t) \
	H(0, COPIES, USES, copy_to_host, cuMemcpyDtoH_v2_ptds, void *, CUdeviceptr, size_t) \
	H(0, COPIES, USES, copy_device_to_array, cuMemcpyDtoA, CUarray, unsigned int, \
	    CUdeviceptr_v1, unsigned int) \
	H(0, COPIES, USES, copy_device_to_array, cuMemcpyDtoA_v2, CUarray, size_t, CUdeviceptr, \
	    size_t) \
	H(0, COPIES, USES, copy_device_to_array, cuMemcpyDtoA_v2_ptds, CUarray, size_t, \
	    CUdeviceptr, size_t) \
	H(0, COPIES, USES, copy_array_to_device, cuMemcpyAtoD, CUdeviceptr_v1, CUarray, \
	    unsigned int, unsigned int) \
	H(0, COPIES, USES, copy_array_to_device, cuMemcpyAtoD_v2, CUdeviceptr, CUarray, size_t, \
	    size_t) \
	H(0, COPIES, USES, copy_array_to_device, cuMemcpyAtoD_v2_ptds, CUdeviceptr, CUarray, \
	    size_t, size_t) \
	H(0, COPIES, USES, copy_host_to_array, cuMemcpyHtoA, CUarray, unsigned int, const void *, \
	    unsigned int) \
	H(0, COPIES, USES, copy_host_to_array, cuMemcpyHtoA_v2, CUarray, size_t, const void *, \
	    size_t) \
	H(0, COPIES, USES, copy_host_to_array, cuMemcpyHtoA_v2_ptds, CUarray, size_t, \
	    const void *, size_t) \
	H(0, COPIES, USES, copy_array_to_host, cuMemcpyAtoH, void *, CUarray, unsigned int, \
	    unsigned int) \
	H(0, COPIES, USES, copy_array_to_host, cuMemcpyAtoH_v2, void *, CUarray, size_t, size_t) \
	H(0, COPIES, USES, copy_array_to_host, cuMemcpyAtoH_v2_ptds, void *, CUarray, size_t, \
	    size_t) \
	H(0, COPIES, USES, copy_array_to_array, cuMemcpyAtoA, CUarray, unsigned int, CUarray, \
	    unsigned int, unsigned int) \
	H(0, COPIES, USES, copy_array_to_array, cuMemcpyAtoA_v2, CUarray, size_t, CUarray, size_t, \
	    size_t) \
	H(0, COPIES, USES, copy_array_to_array, cuMemcpyAtoA_v2_ptds, CUarray, size_t, CUarray, \
	    size_t, size_t) \
	H(0, COPIES, USES, copy_peer, cuMemcpyPeer, CUdeviceptr, CUcontext, CUdeviceptr, \
	    CUcontext, size_t) \
	H(0, COPIES, USES, copy_peer, cuMemcpyPeer_ptds, CUdeviceptr, CUcontext, CUdeviceptr, \
	    CUcontext, size_t) \
	H(0, COPIES, USES, copy_2d_v1, cuMemcpy2D, const CUDA_MEMCPY2D_v1 *) \
	H(0, COPIES, USES, copy_2d_v1, cuMemcpy2DUnaligned, const CUDA_MEMCPY2D_v1 *) \
	H(0, COPIES, USES, copy_3d_v1, cuMemcpy3D, const CUDA_MEMCPY3D_v1 *) \
	H(0, COPIES, USES, copy_2d, cuMemcpy2D_v2, const CUDA_MEMCPY2D *) \
	H(0, COPIES, USES, copy_2d, cuMemcpy2D_v2_ptds, const CUDA_MEMCPY2D *) \
	H(0, COPIES, USES, copy_2d, cuMemcpy2DUnaligned_v2, const CUDA_MEMCPY2D *) \
	H(0, COPIES, USES, copy_2d, cuMemcpy2DUnaligned_v2_ptds, const CUDA_MEMCPY2D *) \
	H(0, COPIES, USES, copy_3d, cuMemcpy3D_v2, const CUDA_MEMCPY3D *) \
	H(0, COPIES, USES, copy_3d, cuMemcpy3D_v2_ptds, const CUDA_MEMCPY3D *) \
	H(0, COPIES, USES, copy_3d_peer, cuMemcpy3DPeer, const CUDA_MEMCPY3D_PEER *) \
	H(0, COPIES, USES, copy_3d_peer, cuMemcpy3DPeer_ptds, const CUDA_MEMCPY3D_PEER *) \
	H(0, COPIES, USES, copy_async, cuMemcpyAsync, CUdeviceptr, CUdeviceptr, size_t, CUstream) \
	H(0, COPIES, USES, copy_async, cuMemcpyAsync_ptsz, CUdeviceptr, CUdeviceptr, size_t, \
	    CUstream) \
	H(0, COPIES, USES, copy_async, cuMemcpyDtoDAsync, CUdeviceptr_v1, CUdeviceptr_v1, \
	    unsigned int, CUstream) \
	H(0, COPIES, USES, copy_async, cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr, size_t, \
	    CUstream) \
	H(0, COPIES, USES, copy_async, cuMemcpyDtoDAsync_v2_ptsz, CUdeviceptr, CUdeviceptr, \
	    size_t, CUstream) \
	H(0, COPIES, USES, copy_to_device_async, cuMemcpyHtoDAsync, CUdeviceptr_v1, const void *, \
	    unsigned int, CUstream) \
	H(0, COPIES, USES, copy_to_device_async, cuMemcpyHtoDAsync_v2, CUdeviceptr, const void *, \
	    size_t, CUstream) \
	H(0, COPIES, USES, copy_to_device_async, cuMemcpyHtoDAsync_v2_ptsz, CUdeviceptr, \
	    const void *, size_t, CUstream) \
	H(0, COPIES, USES, copy_to_host_async, cuMemcpyDtoHAsync, void *, CUdeviceptr_v1, \
	    unsigned int, CUstream) \
	H(0, COPIES, USES, copy_to_host_async, cuMemcpyDtoHAsync_v2, void *, CUdeviceptr, size_t, \
	    CUstream) \
	H(0, COPIES, USES, copy_to_host_async, cuMemcpyDtoHAsync_v2_ptsz, void *, CUdeviceptr, \
	    size_t, CUstream) \
	H(0, COPIES, USES, copy_host_to_array_async, cuMemcpyHtoAAsync, CUarray, unsigned int, \
	    const void *, unsigned int, CUstream) \
	H(0, COPIES, USES, copy_host_to_array_async, cuMemcpyHtoAAsync_v2, CUarray, size_t, \
	    const void *, size_t, CUstream) \
	H(0, COPIES, USES, copy_host_to_array_async, cuMemcpyHtoAAsync_v2_ptsz, CUarray, size_t, \
	    const void *, size_t, CUstream) \
	H(0, COPIES, USES, copy_array_to_host_async, cuMemcpyAtoHAsync, void *, CUarray, \
	    unsigned int, unsigned int, CUstream) \
	H(0, COPIES, USES, copy_array_to_host_async, cuMemcpyAtoHAsync_v2, void *, CUarray, \
	    size_t, size_t, CUstream) \
	H(0, COPIES, USES, copy_array_to_host_async, cuMemcpyAtoHAsync_v2_ptsz, void *, CUarray, \
	    size_t, size_t, CUstream) \
	H(0, COPIES, USES, copy_peer_async, cuMemcpyPeerAsync, CUdeviceptr, CUcontext, \
	    CUdeviceptr, CUcontext, size_t, CUstream) \
	H(0, COPIES, USES, copy_peer_async, cuMemcpyPeerAsync_ptsz, CUdeviceptr, CUcontext, \
	    CUdeviceptr, CUcontext, size_t, CUstream) \
	H(0, COPIES, USES, copy_2d_v1_async, cuMemcpy2DAsync, const CUDA_MEMCPY2D_v1 *, CUstream) \
	H(0, COPIES, USES, copy_3d_v1_async, cuMemcpy3DAsync, const CUDA_MEMCPY3D_v1 *, CUstream) \
	H(0, COPIES, USES, copy_2d_async, cuMemcpy2DAsync_v2, const CUDA_MEMCPY2D *, CUstream) \
	H(0, COPIES, USES, copy_2d_async, cuMemcpy2DAsync_v2_ptsz, const CUDA_MEMCPY2D *, \
	    CUstream) \
	H(0, COPIES, USES, copy_3d_async, cuMemcpy3DAsync_v2, const CUDA_MEMCPY3D *, CUstream) \
	H(0, COPIES, USES, copy_3d_async, cuMemcpy3DAsync_v2_ptsz, const CUDA_MEMCPY3D *, \
	    CUstream) \
	H(0, COPIES, USES, copy_3d_peer_async, cuMemcpy3DPeerAsync, const CUDA_MEMCPY3D_PEER *, \
	    CUstream) \
	H(0, COPIES, USES, copy_3d_peer_async, cuMemcpy3DPeerAsync_ptsz, \
	    const CUDA_MEMCPY3D_PEER *, CUstream) \
	H(12080, COPIES, USES, copy_batch_v1, cuMemcpyBatchAsync, CUdeviceptr *, CUdeviceptr *, \
	    size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, CUstream) \
	H(12080, COPIES, USES, copy_batch_v1, cuMemcpyBatchAsync_ptsz, CUdeviceptr *, \
	    CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, size_t *, \
	    CUstream) \
	H(13000, COPIES, USES, copy_batch, cuMemcpyBatchAsync_v2, CUdeviceptr *, CUdeviceptr *, \
	    size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream) \
	H(13000, COPIES, USES, copy_batch, cuMemcpyBatchAsync_v2_ptsz, CUdeviceptr *, \
	    CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t, CUstream) \
	H(12080, COPIES, USES, copy_3d_batch_v1, cuMemcpy3DBatchAsync, size_t, \
	    CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream) \
	H(12080, COPIES, USES, copy_3d_batch_v1, cuMemcpy3DBatchAsync_ptsz, size_t, \
	    CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream) \
	H(13000, COPIES, USES, copy_3d_batch, cuMemcpy3DBatchAsync_v2, size_t, \
	    CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream) \
	H(13000, COPIES, USES, copy_3d_batch, cuMemcpy3DBatchAsync_v2_ptsz, size_t, \
	    CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream)

/* Memory sets. */
#define GS_HOOKS_MEMSETS(H) \
	H(0, COPIES, USES, memset_d8, cuMemsetD8, CUdeviceptr_v1, unsigned char, unsigned int) \
	H(0, COPIES, USES, memset_d8, cuMemsetD8_v2, CUdeviceptr, unsigned char, size_t) \
	H(0, COPIES, USES, memset_d8, cuMemsetD8_v2_ptds, CUdeviceptr, unsigned char, size_t) \
	H(0, COPIES, USES, memset_2d_d8, cuMemsetD2D8, CUdeviceptr_v1, unsigned int, \
	    unsigned char, unsigned int, unsigned int) \
	H(0, COPIES, USES, memset_2d_d8, cuMemsetD2D8_v2, CUdeviceptr, size_t, unsigned char, \
	    size_t, size_t) \
	H(0, COPIES, USES, memset_2d_d8, cuMemsetD2D8_v2_ptds, CUdeviceptr, size_t, unsigned char, \
	    size_t, size_t) \
	H(0, COPIES, USES, memset_d8_async, cuMemsetD8Async, CUdeviceptr, unsigned char, size_t, \
	    CUstream) \
	H(0, COPIES, USES, memset_d8_async, cuMemsetD8Async_ptsz, CUdeviceptr, unsigned char, \
	    size_t, CUstream) \
	H(0, COPIES, USES, memset_2d_d8_async, cuMemsetD2D8Async, CUdeviceptr, size_t, \
	    unsigned char, size_t, size_t, CUstream) \
	H(0, COPIES, USES, memset_2d_d8_async, cuMemsetD2D8Async_ptsz, CUdeviceptr, size_t, \
	    unsigned char, size_t, size_t, CUstream) \
	H(0, COPIES, USES, memset_d16, cuMemsetD16, CUdeviceptr_v1, unsigned short, unsigned int) \
	H(0, COPIES, USES, memset_d16, cuMemsetD16_v2, CUdeviceptr, unsigned short, size_t) \
	H(0, COPIES, USES, memset_d16, cuMemsetD16_v2_ptds, CUdeviceptr, unsigned short, size_t) \
	H(0, COPIES, USES, memset_2d_d16, cuMemsetD2D16, CUdeviceptr_v1, unsigned int, \
	    unsigned short, unsigned int, unsigned int) \
	H(0, COPIES, USES, memset_2d_d16, cuMemsetD2D16_v2, CUdeviceptr, size_t, unsigned short, \
	    size_t, size_t) \
	H(0, COPIES, USES, memset_2d_d16, cuMemsetD2D16_v2_ptds, CUdeviceptr, size_t, \
	    unsigned short, size_t, size_t) \
	H(0, COPIES, USES, memset_d16_async, cuMemsetD16Async, CUdeviceptr, unsigned short, \
	    size_t, CUstream) \
	H(0, COPIES, USES, memset_d16_async, cuMemsetD16Async_ptsz, CUdeviceptr, unsigned short, \
	    size_t, CUstream) \
	H(0, COPIES, USES, memset_2d_d16_async, cuMemsetD2D16Async, CUdeviceptr, size_t, \
	    unsigned short, size_t, size_t, CUstream) \
	H(0, COPIES, USES, memset_2d_d16_async, cuMemsetD2D16Async_ptsz, CUdeviceptr, size_t, \
	    unsigned short, size_t, size_t, CUstream) \
	H(0, COPIES, USES, memset_d32, cuMemsetD32, CUdeviceptr_v1, unsigned int, unsigned int) \
	H(0, COPIES, USES, memset_d32, cuMemsetD32_v2, CUdeviceptr, unsigned int, size_t) \
	H(0, COPIES, USES, memset_d32, cuMemsetD32_v2_ptds, CUdeviceptr, unsigned int, size_t) \
	H(0, COPIES, USES, memset_2d_d32, cuMemsetD2D32, CUdeviceptr_v1, unsigned int, \
	    unsigned int, unsigned int, unsigned int) \
	H(0, COPIES, USES, memset_2d_d32, cuMemsetD2D32_v2, CUdeviceptr, size_t, unsigned int, \
	    size_t, size_t) \
	H(0, COPIES, USES, memset_2d_d32, cuMemsetD2D32_v2_ptds, CUdeviceptr, size_t, \
	    unsigned int, size_t, size_t) \
	H(0, COPIES, USES, memset_d32_async, cuMemsetD32Async, CUdeviceptr, unsigned int, size_t, \
	    CUstream) \
	H(0, COPIES, USES, memset_d32_async, cuMemsetD32Async_ptsz, CUdeviceptr, unsigned int, \
	    size_t, CUstream) \
	H(0, COPIES, USES, memset_2d_d32_async, cuMemsetD2D32Async, CUdeviceptr, size_t, \
	    unsigned int, size_t, size_t, CUstream) \
	H(0, COPIES, USES, memset_2d_d32_async, cuMemsetD2D32Async_ptsz, CUdeviceptr, size_t, \
	    unsigned int, size_t, size_t, CUstream)

/* Kernel launches. */
#define GS_HOOKS_LAUNCHES(H) \
	H(0, KERNELS, USES, launch, cuLaunchKernel, CUfunction, unsigned int, unsigned int, \
	    unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, \
	    void **, void **) \
	H(0, KERNELS, USES, launch, cuLaunchKernel_ptsz, CUfunction, unsigned int, unsigned int, \
	    unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, CUstream, \
	    void **, void **) \
	H(0, KERNELS, USES, launch_cooperative, cuLaunchCooperativeKernel, CUfunction, \
	    unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
	    unsigned int, CUstream, void **) \
	H(0, KERNELS, USES, launch_cooperative, cuLaunchCooperativeKernel_ptsz, CUfunction, \
	    unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
	    unsigned int, CUstream, void **) \
	H(0, KERNELS, USES, launch_ex, cuLaunchKernelEx, const CUlaunchConfig *, CUfunction, \
	    void **, void **) \
	H(0, KERNELS, USES, launch_ex, cuLaunchKernelEx_ptsz, const CUlaunchConfig *, CUfunction, \
	    void **, void **) \
	H(0, KERNELS, USES, launch_many, cuLaunchCooperativeKernelMultiDevice, \
	    CUDA_LAUNCH_PARAMS *, unsigned int, unsigned int) \
	H(0, KERNELS, USES, launch_default, cuLaunch, CUfunction) \
	H(0, KERNELS, USES, launch_grid, cuLaunchGrid, CUfunction, int, int) \
	H(0, KERNELS, USES, launch_grid_async, cuLaunchGridAsync, CUfunction, int, int, CUstream)

/* CUDA graphs.  Begin and end of a capture are always seen: launches need to know of them. */
#define GS_HOOKS_GRAPHS(H) \
	H(0, ALWAYS, USES, capture_begin, cuStreamBeginCapture, CUstream) \
	H(0, ALWAYS, USES, capture_begin, cuStreamBeginCapture_ptsz, CUstream) \
	H(0, ALWAYS, USES, capture_begin, cuStreamBeginCapture_v2, CUstream, CUstreamCaptureMode) \
	H(0, ALWAYS, USES, capture_begin, cuStreamBeginCapture_v2_ptsz, CUstream, \
	    CUstreamCaptureMode) \
	H(12030, ALWAYS, USES, capture_begin_to_graph, cuStreamBeginCaptureToGraph, CUstream, \
	    CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode) \
	H(12030, ALWAYS, USES, capture_begin_to_graph, cuStreamBeginCaptureToGraph_ptsz, CUstream, \
	    CUgraph, const CUgraphNode *, const CUgraphEdgeData *, size_t, CUstreamCaptureMode) \
	H(0, ALWAYS, QUIET, capture_end, cuStreamEndCapture, CUstream, CUgraph *) \
	H(0, ALWAYS, QUIET, capture_end, cuStreamEndCapture_ptsz, CUstream, CUgraph *) \
	H(0, KERNELS, USES, graph_instantiate, cuGraphInstantiate, CUgraphExec *, CUgraph, \
	    CUgraphNode *, char *, size_t) \
	H(0, KERNELS, USES, graph_instantiate, cuGraphInstantiate_v2, CUgraphExec *, CUgraph, \
	    CUgraphNode *, char *, size_t) \
	H(0, KERNELS, USES, graph_instantiate, cuGraphInstantiateWithFlags, CUgraphExec *, \
	    CUgraph, unsigned long long) \
	H(12000, KERNELS, USES, graph_instantiate, cuGraphInstantiateWithParams, CUgraphExec *, \
	    CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *) \
	H(12000, KERNELS, USES, graph_instantiate, cuGraphInstantiateWithParams_ptsz, \
	    CUgraphExec *, CUgraph, CUDA_GRAPH_INSTANTIATE_PARAMS *) \
	H(0, KERNELS, USES, graph_launch, cuGraphLaunch, CUgraphExec, CUstream) \
	H(0, KERNELS, USES, graph_launch, cuGraphLaunch_ptsz, CUgraphExec, CUstream) \
	H(0, KERNELS, USES, graph_upload, cuGraphUpload, CUgraphExec, CUstream) \
	H(0, KERNELS, USES, graph_upload, cuGraphUpload_ptsz, CUgraphExec, CUstream) \
	H(0, KERNELS, QUIET, graph_update, cuGraphExecUpdate, CUgraphExec, CUgraph, CUgraphNode *, \
	    CUgraphExecUpdateResult *) \
	H(12000, KERNELS, QUIET, graph_update, cuGraphExecUpdate_v2, CUgraphExec, CUgraph, \
	    CUgraphExecUpdateResultInfo *) \
	H(0, KERNELS, QUIET, graph_destroy, cuGraphDestroy, CUgraph) \
	H(0, KERNELS, QUIET, graph_exec_destroy, cuGraphExecDestroy, CUgraphExec)

/* Graphs that are built or changed by hand, node by node. */
#define GS_HOOKS_NODES(H) \
	H(0, KERNELS, USES, graph_node, cuGraphAddKernelNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS_v1 *) \
	H(12000, KERNELS, USES, graph_node, cuGraphAddKernelNode_v2, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *) \
	H(0, KERNELS, USES, graph_node, cuGraphAddMemcpyNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, const CUDA_MEMCPY3D *, CUcontext) \
	H(0, KERNELS, USES, graph_node, cuGraphAddMemsetNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *, CUcontext) \
	H(0, KERNELS, USES, graph_node, cuGraphAddHostNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, const CUDA_HOST_NODE_PARAMS *) \
	H(0, KERNELS, USES, graph_node, cuGraphAddChildGraphNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, CUgraph) \
	H(0, KERNELS, USES, graph_node, cuGraphAddEmptyNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t) \
	H(0, KERNELS, USES, graph_node, cuGraphAddEventRecordNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, CUevent) \
	H(0, KERNELS, USES, graph_node, cuGraphAddEventWaitNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, CUevent) \
	H(0, KERNELS, USES, graph_node, cuGraphAddExternalSemaphoresSignalNode, CUgraphNode *, \
	    CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *) \
	H(0, KERNELS, USES, graph_node, cuGraphAddExternalSemaphoresWaitNode, CUgraphNode *, \
	    CUgraph, const CUgraphNode *, size_t, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *) \
	H(0, KERNELS, USES, graph_node, cuGraphAddBatchMemOpNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, const CUDA_BATCH_MEM_OP_NODE_PARAMS *) \
	H(0, MEMORY, USES, graph_alloc_node, cuGraphAddMemAllocNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, CUDA_MEM_ALLOC_NODE_PARAMS *) \
	H(0, MEMORY, USES, graph_free_node, cuGraphAddMemFreeNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, CUdeviceptr) \
	H(12020, KERNELS, USES, graph_node, cuGraphAddNode, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, size_t, CUgraphNodeParams *) \
	H(12030, KERNELS, USES, graph_node, cuGraphAddNode_v2, CUgraphNode *, CUgraph, \
	    const CUgraphNode *, const CUgraphEdgeData *, size_t, CUgraphNodeParams *) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecKernelNodeSetParams, CUgraphExec, \
	    CUgraphNode, const CUDA_KERNEL_NODE_PARAMS_v1 *) \
	H(12000, KERNELS, QUIET, graph_exec_node, cuGraphExecKernelNodeSetParams_v2, CUgraphExec, \
	    CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecMemcpyNodeSetParams, CUgraphExec, \
	    CUgraphNode, const CUDA_MEMCPY3D *, CUcontext) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecMemsetNodeSetParams, CUgraphExec, \
	    CUgraphNode, const CUDA_MEMSET_NODE_PARAMS *, CUcontext) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecHostNodeSetParams, CUgraphExec, \
	    CUgraphNode, const CUDA_HOST_NODE_PARAMS *) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecChildGraphNodeSetParams, CUgraphExec, \
	    CUgraphNode, CUgraph) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecEventRecordNodeSetEvent, CUgraphExec, \
	    CUgraphNode, CUevent) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecEventWaitNodeSetEvent, CUgraphExec, \
	    CUgraphNode, CUevent) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecExternalSemaphoresSignalNodeSetParams, \
	    CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecExternalSemaphoresWaitNodeSetParams, \
	    CUgraphExec, CUgraphNode, const CUDA_EXT_SEM_WAIT_NODE_PARAMS *) \
	H(0, KERNELS, QUIET, graph_exec_node, cuGraphExecBatchMemOpNodeSetParams, CUgraphExec, \
	    CUgraphNode, const CUDA_BATCH_MEM_OP_NODE_PARAMS *) \
	H(12020, KERNELS, QUIET, graph_exec_node, cuGraphExecNodeSetParams, CUgraphExec, \
	    CUgraphNode, CUgraphNodeParams *)

/* Calls that wait for the device. */
#define GS_HOOKS_WAITS(H) \
	H(0, API, QUIET, wait_device, cuCtxSynchronize) \
	H(13000, API, QUIET, wait_context, cuCtxSynchronize_v2, CUcontext) \
	H(0, API, QUIET, wait_stream, cuStreamSynchronize, CUstream) \
	H(0, API, QUIET, wait_stream, cuStreamSynchronize_ptsz, CUstream) \
	H(0, API, QUIET, wait_event, cuEventSynchronize, CUevent)

/* Order between streams, and questions about it. */
#define GS_HOOKS_ORDER(H) \
	H(0, API, USES, event_record, cuEventRecord, CUevent, CUstream) \
	H(0, API, USES, event_record, cuEventRecord_ptsz, CUevent, CUstream) \
	H(0, API, USES, event_record, cuEventRecordWithFlags, CUevent, CUstream, unsigned int) \
	H(0, API, USES, event_record, cuEventRecordWithFlags_ptsz, CUevent, CUstream, \
	    unsigned int) \
	H(0, API, QUIET, event_query, cuEventQuery, CUevent) \
	H(0, API, QUIET, stream_query, cuStreamQuery, CUstream) \
	H(0, API, QUIET, stream_query, cuStreamQuery_ptsz, CUstream) \
	H(0, API, USES, stream_wait, cuStreamWaitEvent, CUstream, CUevent, unsigned int) \
	H(0, API, USES, stream_wait, cuStreamWaitEvent_ptsz, CUstream, CUevent, unsigned int) \
	H(0, API, USES, host_function, cuLaunchHostFunc, CUstream, CUhostFn, void *) \
	H(0, API, USES, host_function, cuLaunchHostFunc_ptsz, CUstream, CUhostFn, void *) \
	H(0, API, USES, host_function, cuStreamAddCallback, CUstream, CUstreamCallback, void *, \
	    unsigned int) \
	H(0, API, USES, host_function, cuStreamAddCallback_ptsz, CUstream, CUstreamCallback, \
	    void *, unsigned int) \
	H(0, API, QUIET, event_create, cuEventCreate, CUevent *, unsigned int) \
	H(0, API, QUIET, event_create, cuIpcOpenEventHandle, CUevent *, CUipcEventHandle) \
	H(0, API, QUIET, event_destroy, cuEventDestroy_v2, CUevent) \
	H(0, API, QUIET, event_destroy, cuEventDestroy, CUevent) \
	H(0, API, QUIET, event_elapsed, cuEventElapsedTime, float *, CUevent, CUevent) \
	H(12080, API, QUIET, event_elapsed, cuEventElapsedTime_v2, float *, CUevent, CUevent) \
	H(0, API, QUIET, stream_create, cuStreamCreate, CUstream *, unsigned int) \
	H(0, API, QUIET, stream_create, cuStreamCreateWithPriority, CUstream *, unsigned int, int) \
	H(12050, API, QUIET, green_stream_create, cuGreenCtxStreamCreate, CUstream *, CUgreenCtx, \
	    unsigned int, int) \
	H(0, API, QUIET, stream_destroy, cuStreamDestroy_v2, CUstream) \
	H(0, API, QUIET, stream_destroy, cuStreamDestroy, CUstream) \
	H(0, API, USES, wait_value, cuStreamWaitValue32, CUstream, CUdeviceptr, cuuint32_t, \
	    unsigned int) \
	H(0, API, USES, wait_value, cuStreamWaitValue32_ptsz, CUstream, CUdeviceptr, cuuint32_t, \
	    unsigned int) \
	H(0, API, USES, wait_value, cuStreamWaitValue32_v2, CUstream, CUdeviceptr, cuuint32_t, \
	    unsigned int) \
	H(0, API, USES, wait_value, cuStreamWaitValue32_v2_ptsz, CUstream, CUdeviceptr, \
	    cuuint32_t, unsigned int) \
	H(0, API, USES, wait_value, cuStreamWaitValue64, CUstream, CUdeviceptr, cuuint64_t, \
	    unsigned int) \
	H(0, API, USES, wait_value, cuStreamWaitValue64_ptsz, CUstream, CUdeviceptr, cuuint64_t, \
	    unsigned int) \
	H(0, API, USES, wait_value, cuStreamWaitValue64_v2, CUstream, CUdeviceptr, cuuint64_t, \
	    unsigned int) \
	H(0, API, USES, wait_value, cuStreamWaitValue64_v2_ptsz, CUstream, CUdeviceptr, \
	    cuuint64_t, unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue32, CUstream, CUdeviceptr, cuuint32_t, \
	    unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue32_ptsz, CUstream, CUdeviceptr, cuuint32_t, \
	    unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue32_v2, CUstream, CUdeviceptr, cuuint32_t, \
	    unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue32_v2_ptsz, CUstream, CUdeviceptr, \
	    cuuint32_t, unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue64, CUstream, CUdeviceptr, cuuint64_t, \
	    unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue64_ptsz, CUstream, CUdeviceptr, cuuint64_t, \
	    unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue64_v2, CUstream, CUdeviceptr, cuuint64_t, \
	    unsigned int) \
	H(0, API, USES, write_value, cuStreamWriteValue64_v2_ptsz, CUstream, CUdeviceptr, \
	    cuuint64_t, unsigned int) \
	H(12050, API, USES, context_event_record, cuCtxRecordEvent, CUcontext, CUevent) \
	H(12050, API, USES, context_event_wait, cuCtxWaitEvent, CUcontext, CUevent) \
	H(12040, API, USES, context_event_record, cuGreenCtxRecordEvent, CUgreenCtx, CUevent) \
	H(12040, API, USES, context_event_wait, cuGreenCtxWaitEvent, CUgreenCtx, CUevent)

/* Device code and the names of functions. */
#define GS_HOOKS_MODULES(H) \
	H(0, KERNELS, USES, module_load, cuModuleLoad, CUmodule *, const char *) \
	H(0, KERNELS, USES, module_load, cuModuleLoadData, CUmodule *, const void *) \
	H(0, KERNELS, USES, module_load, cuModuleLoadDataEx, CUmodule *, const void *, \
	    unsigned int, CUjit_option *, void **) \
	H(0, KERNELS, USES, module_load, cuModuleLoadFatBinary, CUmodule *, const void *) \
	H(0, KERNELS, QUIET, module_unload, cuModuleUnload, CUmodule) \
	H(12000, KERNELS, USES, library_load, cuLibraryLoadData, CUlibrary *, const void *, \
	    CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int) \
	H(12000, KERNELS, USES, library_load, cuLibraryLoadFromFile, CUlibrary *, const char *, \
	    CUjit_option *, void **, unsigned int, CUlibraryOption *, void **, unsigned int) \
	H(12000, KERNELS, QUIET, library_unload, cuLibraryUnload, CUlibrary) \
	H(0, KERNELS, QUIET, module_function, cuModuleGetFunction, CUfunction *, CUmodule, \
	    const char *) \
	H(12000, KERNELS, QUIET, library_kernel, cuLibraryGetKernel, CUkernel *, CUlibrary, \
	    const char *) \
	H(12000, KERNELS, QUIET, kernel_function, cuKernelGetFunction, CUfunction *, CUkernel)

/* Contexts.  Always seen: they change which device a thread works on. */
#define GS_HOOKS_CONTEXTS(H) \
	H(0, ALWAYS, QUIET, context_create, cuCtxCreate, CUcontext *, unsigned int, CUdevice) \
	H(0, ALWAYS, QUIET, context_create, cuCtxCreate_v2, CUcontext *, unsigned int, CUdevice) \
	H(0, ALWAYS, QUIET, context_create, cuCtxCreate_v3, CUcontext *, CUexecAffinityParam *, \
	    int, unsigned int, CUdevice) \
	H(12050, ALWAYS, QUIET, context_create, cuCtxCreate_v4, CUcontext *, CUctxCreateParams *, \
	    unsigned int, CUdevice) \
	H(0, ALWAYS, QUIET, context_destroy, cuCtxDestroy, CUcontext) \
	H(0, ALWAYS, QUIET, context_destroy, cuCtxDestroy_v2, CUcontext) \
	H(0, ALWAYS, QUIET, context_set, cuCtxPushCurrent, CUcontext) \
	H(0, ALWAYS, QUIET, context_set, cuCtxPushCurrent_v2, CUcontext) \
	H(0, ALWAYS, QUIET, context_set, cuCtxSetCurrent, CUcontext) \
	H(0, ALWAYS, QUIET, context_pop, cuCtxPopCurrent, CUcontext *) \
	H(0, ALWAYS, QUIET, context_pop, cuCtxPopCurrent_v2, CUcontext *) \
	H(0, ALWAYS, QUIET, context_create, cuCtxAttach, CUcontext *, unsigned int) \
	H(0, ALWAYS, QUIET, context_destroy, cuCtxDetach, CUcontext) \
	H(0, API, QUIET, primary_retain, cuDevicePrimaryCtxRetain, CUcontext *, CUdevice) \
	H(0, ALWAYS, QUIET, primary_release, cuDevicePrimaryCtxRelease, CUdevice) \
	H(0, ALWAYS, QUIET, primary_release, cuDevicePrimaryCtxRelease_v2, CUdevice) \
	H(0, ALWAYS, QUIET, primary_release, cuDevicePrimaryCtxReset, CUdevice) \
	H(0, ALWAYS, QUIET, primary_release, cuDevicePrimaryCtxReset_v2, CUdevice)

/* Other calls that explain what a program does. */
#define GS_HOOKS_CALLS(H) \
	H(0, API, QUIET, call_address, cuMemAdvise, CUdeviceptr, size_t, CUmem_advise, CUdevice) \
	H(12020, API, QUIET, call_address, cuMemAdvise_v2, CUdeviceptr, size_t, CUmem_advise, \
	    CUmemLocation) \
	H(0, API, USES, call_address, cuMemPrefetchAsync, CUdeviceptr, size_t, CUdevice, CUstream) \
	H(0, API, USES, call_address, cuMemPrefetchAsync_ptsz, CUdeviceptr, size_t, CUdevice, \
	    CUstream) \
	H(12020, API, USES, call_address, cuMemPrefetchAsync_v2, CUdeviceptr, size_t, \
	    CUmemLocation, unsigned int, CUstream) \
	H(12020, API, USES, call_address, cuMemPrefetchAsync_v2_ptsz, CUdeviceptr, size_t, \
	    CUmemLocation, unsigned int, CUstream) \
	H(0, API, QUIET, call_object, cuCtxEnablePeerAccess, CUcontext, unsigned int) \
	H(0, API, QUIET, call_object, cuCtxDisablePeerAccess, CUcontext) \
	H(0, API, QUIET, call_object, cuMemPoolSetAccess, CUmemoryPool, const CUmemAccessDesc *, \
	    size_t) \
	H(0, API, USES, call_object, cuStreamBatchMemOp, CUstream, unsigned int, \
	    CUstreamBatchMemOpParams *, unsigned int) \
	H(0, API, USES, call_object, cuStreamBatchMemOp_ptsz, CUstream, unsigned int, \
	    CUstreamBatchMemOpParams *, unsigned int) \
	H(0, API, USES, call_object, cuStreamBatchMemOp_v2, CUstream, unsigned int, \
	    CUstreamBatchMemOpParams *, unsigned int) \
	H(0, API, USES, call_object, cuStreamBatchMemOp_v2_ptsz, CUstream, unsigned int, \
	    CUstreamBatchMemOpParams *, unsigned int) \
	H(0, API, USES, call_object, cuStreamAttachMemAsync, CUstream, CUdeviceptr, size_t, \
	    unsigned int) \
	H(0, API, USES, call_object, cuStreamAttachMemAsync_ptsz, CUstream, CUdeviceptr, size_t, \
	    unsigned int) \
	H(0, API, USES, call_plain, cuSignalExternalSemaphoresAsync, const CUexternalSemaphore *, \
	    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, unsigned int, CUstream) \
	H(0, API, USES, call_plain, cuSignalExternalSemaphoresAsync_ptsz, \
	    const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *, \
	    unsigned int, CUstream) \
	H(0, API, USES, call_plain, cuWaitExternalSemaphoresAsync, const CUexternalSemaphore *, \
	    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, unsigned int, CUstream) \
	H(0, API, USES, call_plain, cuWaitExternalSemaphoresAsync_ptsz, \
	    const CUexternalSemaphore *, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *, \
	    unsigned int, CUstream) \
	H(0, API, USES, call_plain, cuMemMapArrayAsync, CUarrayMapInfo *, unsigned int, CUstream) \
	H(0, API, USES, call_plain, cuMemMapArrayAsync_ptsz, CUarrayMapInfo *, unsigned int, \
	    CUstream) \
	H(12080, API, USES, call_plain, cuMemBatchDecompressAsync, CUmemDecompressParams *, \
	    size_t, unsigned int, size_t *, CUstream) \
	H(12080, API, USES, call_plain, cuMemBatchDecompressAsync_ptsz, CUmemDecompressParams *, \
	    size_t, unsigned int, size_t *, CUstream) \
	H(13000, API, USES, call_plain, cuMemPrefetchBatchAsync, CUdeviceptr *, size_t *, size_t, \
	    CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) \
	H(13000, API, USES, call_plain, cuMemPrefetchBatchAsync_ptsz, CUdeviceptr *, size_t *, \
	    size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) \
	H(13000, API, USES, call_plain, cuMemDiscardAndPrefetchBatchAsync, CUdeviceptr *, \
	    size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) \
	H(13000, API, USES, call_plain, cuMemDiscardAndPrefetchBatchAsync_ptsz, CUdeviceptr *, \
	    size_t *, size_t, CUmemLocation *, size_t *, size_t, unsigned long long, CUstream) \
	H(13000, API, USES, call_plain, cuMemDiscardBatchAsync, CUdeviceptr *, size_t *, size_t, \
	    unsigned long long, CUstream) \
	H(13000, API, USES, call_plain, cuMemDiscardBatchAsync_ptsz, CUdeviceptr *, size_t *, \
	    size_t, unsigned long long, CUstream) \
	H(0, MEMORY, QUIET, call_plain, cuDeviceGraphMemTrim, CUdevice) \
	H(0, API, QUIET, ipc_get, cuIpcGetMemHandle, CUipcMemHandle *, CUdeviceptr)

#define GS_HOOKS(H) \
	GS_HOOKS_MEMORY(H) \
	GS_HOOKS_COPIES(H) \
	GS_HOOKS_MEMSETS(H) \
	GS_HOOKS_LAUNCHES(H) \
	GS_HOOKS_GRAPHS(H) \
	GS_HOOKS_NODES(H) \
	GS_HOOKS_WAITS(H) \
	GS_HOOKS_ORDER(H) \
	GS_HOOKS_MODULES(H) \
	GS_HOOKS_CONTEXTS(H) \
	GS_HOOKS_CALLS(H)

#endif
