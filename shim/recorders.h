/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gs_rec_<recorder>: writes the records of one call of a driver function, named by the rows of
 * hook_table.h.  Each gets the call, with both time stamps and the status, and the arguments of the
 * function; those that it does not need end in "...".  Called after the real function, whether that
 * succeeded or not; out parameters are read only after success.
 *
 * `time` of a record is the end of a call that acquires something and the start of any other, so
 * that records of all threads, merged by time, never show an address or handle twice at once.
 *
 * Threads: any, on the hot path: no malloc, no lock, no system call.
 */
#ifndef GS_RECORDERS_H
#define GS_RECORDERS_H

#include "shim/cuda_types.h"
#include "shim/producer.h"

#define GS_HANDLE(x) ((uint64_t)(uintptr_t)(x))
#define GS_OK(call) ((call)->status == CUDA_SUCCESS)

#pragma GCC visibility push(hidden)

/* recorders_memory.c */
void gs_rec_alloc(const struct gs_call *call, CUdeviceptr *out, size_t bytes);
void gs_rec_alloc_v1(const struct gs_call *call, CUdeviceptr_v1 *out, unsigned bytes);
void gs_rec_alloc_pitch(const struct gs_call *call, CUdeviceptr *out, size_t *pitch, size_t width,
    size_t height, unsigned element);
void gs_rec_alloc_pitch_v1(const struct gs_call *call, CUdeviceptr_v1 *out, unsigned *pitch,
    unsigned width, unsigned height, unsigned element);
void gs_rec_alloc_managed(const struct gs_call *call, CUdeviceptr *out, size_t bytes,
    unsigned flags);
void gs_rec_free(const struct gs_call *call, CUdeviceptr address);
void gs_rec_host_alloc(const struct gs_call *call, void **out, size_t bytes, ...);
void gs_rec_host_free(const struct gs_call *call, void *address);
void gs_rec_host_register(const struct gs_call *call, void *address, size_t bytes, unsigned flags);
void gs_rec_host_unregister(const struct gs_call *call, void *address);
void gs_rec_alloc_async(const struct gs_call *call, CUdeviceptr *out, size_t bytes,
    CUstream stream);
void gs_rec_alloc_from_pool(const struct gs_call *call, CUdeviceptr *out, size_t bytes,
    CUmemoryPool pool, CUstream stream);
void gs_rec_free_async(const struct gs_call *call, CUdeviceptr address, CUstream stream);
void gs_rec_pool_create(const struct gs_call *call, CUmemoryPool *out, ...);
void gs_rec_pool_destroy(const struct gs_call *call, CUmemoryPool pool);
void gs_rec_pool_trim(const struct gs_call *call, CUmemoryPool pool, size_t keep);
void gs_rec_pool_import(const struct gs_call *call, CUmemoryPool *out, ...);
void gs_rec_pool_import_pointer(const struct gs_call *call, CUdeviceptr *out, CUmemoryPool pool,
    ...);
void gs_rec_reserve(const struct gs_call *call, CUdeviceptr *out, size_t bytes, ...);
void gs_rec_unreserve(const struct gs_call *call, CUdeviceptr address, size_t bytes);
void gs_rec_create(const struct gs_call *call, CUmemGenericAllocationHandle *out, size_t bytes,
    const CUmemAllocationProp *properties, unsigned long long flags);
void gs_rec_release(const struct gs_call *call, CUmemGenericAllocationHandle handle);
void gs_rec_map(const struct gs_call *call, CUdeviceptr address, size_t bytes, size_t offset,
    CUmemGenericAllocationHandle handle, unsigned long long flags);
void gs_rec_unmap(const struct gs_call *call, CUdeviceptr address, size_t bytes);
void gs_rec_access(const struct gs_call *call, CUdeviceptr address, size_t bytes, ...);
void gs_rec_retain(const struct gs_call *call, CUmemGenericAllocationHandle *out, void *address);
void gs_rec_export(const struct gs_call *call, void *out, CUmemGenericAllocationHandle handle, ...);
void gs_rec_import(const struct gs_call *call, CUmemGenericAllocationHandle *out, ...);
void gs_rec_ipc_open(const struct gs_call *call, CUdeviceptr *out, ...);
void gs_rec_ipc_close(const struct gs_call *call, CUdeviceptr address);
void gs_rec_multicast_create(const struct gs_call *call, CUmemGenericAllocationHandle *out,
    const CUmulticastObjectProp *properties);
void gs_rec_multicast_device(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    CUdevice device);
void gs_rec_multicast_bind(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    size_t offset, CUmemGenericAllocationHandle memory, size_t memory_offset, size_t bytes, ...);
void gs_rec_multicast_bind_address(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    size_t offset, CUdeviceptr address, size_t bytes, ...);
void gs_rec_multicast_unbind(const struct gs_call *call, CUmemGenericAllocationHandle handle,
    CUdevice device, size_t offset, size_t bytes);
void gs_rec_array_create(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY_DESCRIPTOR *shape);
void gs_rec_array_3d_create(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY3D_DESCRIPTOR *shape);
void gs_rec_array_create_v1(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY_DESCRIPTOR_v1 *shape);
void gs_rec_array_3d_create_v1(const struct gs_call *call, CUarray *out,
    const CUDA_ARRAY3D_DESCRIPTOR_v1 *shape);
void gs_rec_mipmapped_create(const struct gs_call *call, CUmipmappedArray *out,
    const CUDA_ARRAY3D_DESCRIPTOR *shape, unsigned levels);
void gs_rec_array_destroy(const struct gs_call *call, void *array);
void gs_rec_mem_info(const struct gs_call *call, size_t *free_bytes, size_t *total_bytes);
void gs_rec_mem_info_v1(const struct gs_call *call, unsigned *free_bytes, unsigned *total_bytes);

/* recorders_copy.c */
void gs_rec_copy(const struct gs_call *call, CUdeviceptr target, CUdeviceptr source, size_t bytes);
void gs_rec_copy_to_device(const struct gs_call *call, CUdeviceptr target, const void *source,
    size_t bytes);
void gs_rec_copy_to_host(const struct gs_call *call, void *target, CUdeviceptr source,
    size_t bytes);
void gs_rec_copy_device_to_array(const struct gs_call *call, CUarray target, size_t offset,
    CUdeviceptr source, size_t bytes);
void gs_rec_copy_array_to_device(const struct gs_call *call, CUdeviceptr target, CUarray source,
    size_t offset, size_t bytes);
void gs_rec_copy_host_to_array(const struct gs_call *call, CUarray target, size_t offset,
    const void *source, size_t bytes);
void gs_rec_copy_array_to_host(const struct gs_call *call, void *target, CUarray source,
    size_t offset, size_t bytes);
void gs_rec_copy_array_to_array(const struct gs_call *call, CUarray target, size_t target_offset,
    CUarray source, size_t source_offset, size_t bytes);
void gs_rec_copy_peer(const struct gs_call *call, CUdeviceptr target, CUcontext target_context,
    CUdeviceptr source, CUcontext source_context, size_t bytes);
void gs_rec_copy_async(const struct gs_call *call, CUdeviceptr target, CUdeviceptr source,
    size_t bytes, CUstream stream);
void gs_rec_copy_to_device_async(const struct gs_call *call, CUdeviceptr target,
    const void *source, size_t bytes, CUstream stream);
void gs_rec_copy_to_host_async(const struct gs_call *call, void *target, CUdeviceptr source,
    size_t bytes, CUstream stream);
void gs_rec_copy_host_to_array_async(const struct gs_call *call, CUarray target, size_t offset,
    const void *source, size_t bytes, CUstream stream);
void gs_rec_copy_array_to_host_async(const struct gs_call *call, void *target, CUarray source,
    size_t offset, size_t bytes, CUstream stream);
void gs_rec_copy_peer_async(const struct gs_call *call, CUdeviceptr target,
    CUcontext target_context, CUdeviceptr source, CUcontext source_context, size_t bytes,
    CUstream stream);
#define GS_COPY_BY_STRUCT(name, type) \
	void gs_rec_copy_##name(const struct gs_call *call, const type *copy); \
	void gs_rec_copy_##name##_async(const struct gs_call *call, const type *copy, CUstream stream);
GS_COPY_BY_STRUCT(2d, CUDA_MEMCPY2D)
GS_COPY_BY_STRUCT(2d_v1, CUDA_MEMCPY2D_v1)
GS_COPY_BY_STRUCT(3d, CUDA_MEMCPY3D)
GS_COPY_BY_STRUCT(3d_v1, CUDA_MEMCPY3D_v1)
GS_COPY_BY_STRUCT(3d_peer, CUDA_MEMCPY3D_PEER)
#undef GS_COPY_BY_STRUCT
void gs_rec_copy_batch_v1(const struct gs_call *call, CUdeviceptr *targets, CUdeviceptr *sources,
    size_t *bytes, size_t count, CUmemcpyAttributes *attributes, size_t *indexes,
    size_t attribute_count, size_t *failed, CUstream stream);
void gs_rec_copy_batch(const struct gs_call *call, CUdeviceptr *targets, CUdeviceptr *sources,
    size_t *bytes, size_t count, CUmemcpyAttributes *attributes, size_t *indexes,
    size_t attribute_count, CUstream stream);
void gs_rec_copy_3d_batch_v1(const struct gs_call *call, size_t count,
    CUDA_MEMCPY3D_BATCH_OP *copies, size_t *failed, unsigned long long flags, CUstream stream);
void gs_rec_copy_3d_batch(const struct gs_call *call, size_t count, CUDA_MEMCPY3D_BATCH_OP *copies,
    unsigned long long flags, CUstream stream);
#define GS_MEMSETS(width, type) \
	void gs_rec_memset_d##width(const struct gs_call *call, CUdeviceptr target, type value, \
	    size_t count); \
	void gs_rec_memset_d##width##_async(const struct gs_call *call, CUdeviceptr target, \
	    type value, size_t count, CUstream stream); \
	void gs_rec_memset_2d_d##width(const struct gs_call *call, CUdeviceptr target, \
	    size_t pitch, type value, size_t columns, size_t rows); \
	void gs_rec_memset_2d_d##width##_async(const struct gs_call *call, CUdeviceptr target, \
	    size_t pitch, type value, size_t columns, size_t rows, CUstream stream);
GS_MEMSETS(8, unsigned char)
GS_MEMSETS(16, unsigned short)
GS_MEMSETS(32, unsigned)
#undef GS_MEMSETS

/* recorders_launch.c */
void gs_rec_launch(const struct gs_call *call, CUfunction function, unsigned grid_x,
    unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_bytes, CUstream stream, void **parameters, void **extra);
void gs_rec_launch_cooperative(const struct gs_call *call, CUfunction function, unsigned grid_x,
    unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, unsigned block_z,
    unsigned shared_bytes, CUstream stream, void **parameters);
void gs_rec_launch_ex(const struct gs_call *call, const CUlaunchConfig *config,
    CUfunction function, void **parameters, void **extra);
void gs_rec_launch_many(const struct gs_call *call, CUDA_LAUNCH_PARAMS *launches, unsigned count,
    unsigned flags);
void gs_rec_launch_default(const struct gs_call *call, CUfunction function);
void gs_rec_launch_grid(const struct gs_call *call, CUfunction function, int width, int height);
void gs_rec_launch_grid_async(const struct gs_call *call, CUfunction function, int width,
    int height, CUstream stream);
void gs_rec_capture_begin(const struct gs_call *call, CUstream stream, ...);
void gs_rec_capture_begin_to_graph(const struct gs_call *call, CUstream stream, CUgraph graph,
    ...);
void gs_rec_capture_end(const struct gs_call *call, CUstream stream, CUgraph *out);
void gs_rec_graph_instantiate(const struct gs_call *call, CUgraphExec *out, CUgraph graph, ...);
void gs_rec_graph_launch(const struct gs_call *call, CUgraphExec executable, CUstream stream);
void gs_rec_graph_upload(const struct gs_call *call, CUgraphExec executable, CUstream stream);
void gs_rec_graph_update(const struct gs_call *call, CUgraphExec executable, CUgraph graph, ...);
void gs_rec_graph_exec_node(const struct gs_call *call, CUgraphExec executable, ...);
void gs_rec_graph_destroy(const struct gs_call *call, CUgraph graph);
void gs_rec_graph_exec_destroy(const struct gs_call *call, CUgraphExec executable);

/* recorders_order.c */
void gs_rec_wait_device(const struct gs_call *call);
void gs_rec_wait_context(const struct gs_call *call, CUcontext context);
void gs_rec_wait_stream(const struct gs_call *call, CUstream stream);
void gs_rec_wait_event(const struct gs_call *call, CUevent event);
void gs_rec_event_record(const struct gs_call *call, CUevent event, CUstream stream, ...);
void gs_rec_event_query(const struct gs_call *call, CUevent event);
void gs_rec_stream_query(const struct gs_call *call, CUstream stream);
void gs_rec_stream_wait(const struct gs_call *call, CUstream stream, CUevent event, unsigned flags);
void gs_rec_host_function(const struct gs_call *call, CUstream stream, ...);
void gs_rec_event_create(const struct gs_call *call, CUevent *out, ...);
void gs_rec_event_destroy(const struct gs_call *call, CUevent event);
void gs_rec_event_elapsed(const struct gs_call *call, float *out, CUevent first, CUevent last);
void gs_rec_stream_create(const struct gs_call *call, CUstream *out, ...);
void gs_rec_green_stream_create(const struct gs_call *call, CUstream *out, ...);
void gs_rec_stream_destroy(const struct gs_call *call, CUstream stream);
void gs_rec_wait_value(const struct gs_call *call, CUstream stream, CUdeviceptr address, ...);
void gs_rec_write_value(const struct gs_call *call, CUstream stream, CUdeviceptr address, ...);
void gs_rec_context_event_record(const struct gs_call *call, const void *context, CUevent event);
void gs_rec_context_event_wait(const struct gs_call *call, const void *context, CUevent event);

/* recorders_code.c */
void gs_rec_module_load(const struct gs_call *call, CUmodule *out, ...);
void gs_rec_module_unload(const struct gs_call *call, CUmodule module);
void gs_rec_library_load(const struct gs_call *call, CUlibrary *out, ...);
void gs_rec_library_unload(const struct gs_call *call, CUlibrary library);
void gs_rec_module_function(const struct gs_call *call, CUfunction *out, CUmodule module,
    const char *name);
void gs_rec_library_kernel(const struct gs_call *call, CUkernel *out, CUlibrary library,
    const char *name);
void gs_rec_kernel_function(const struct gs_call *call, CUfunction *out, CUkernel kernel);
void gs_rec_context_create(const struct gs_call *call, CUcontext *out, ...);
void gs_rec_context_destroy(const struct gs_call *call, CUcontext context);
void gs_rec_context_set(const struct gs_call *call, CUcontext context);
void gs_rec_context_pop(const struct gs_call *call, CUcontext *out);
void gs_rec_primary_retain(const struct gs_call *call, CUcontext *out, CUdevice device);
void gs_rec_primary_release(const struct gs_call *call, CUdevice device);
void gs_rec_call_address(const struct gs_call *call, CUdeviceptr address, size_t bytes, ...);
void gs_rec_call_object(const struct gs_call *call, const void *object, ...);
void gs_rec_call_plain(const struct gs_call *call, ...);
void gs_rec_graph_node(const struct gs_call *call, CUgraphNode *out, CUgraph graph, ...);
void gs_rec_graph_alloc_node(const struct gs_call *call, CUgraphNode *out, CUgraph graph,
    const CUgraphNode *before, size_t before_count, const CUDA_MEM_ALLOC_NODE_PARAMS *node);
void gs_rec_graph_free_node(const struct gs_call *call, CUgraphNode *out, CUgraph graph,
    const CUgraphNode *before, size_t before_count, CUdeviceptr address);
void gs_rec_ipc_get(const struct gs_call *call, void *out, CUdeviceptr address);

#pragma GCC visibility pop

#endif
