/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Between the parameter structs of the driver and struct gd_work: one function each way for every
 * type of node, used by graphs and by executable graphs alike.
 */
#ifndef GD_GRAPH_WORK_H
#define GD_GRAPH_WORK_H

#include "shim/dryrun/graphs.h"

/** Parameters to work; the lock is held for child graphs, allocations and any type. @return
 * CUDA_SUCCESS or what the function that got them has to answer */
CUresult gd_work_kernel(const CUDA_KERNEL_NODE_PARAMS *parameters, struct gd_work *work_out);
CUresult gd_work_kernel_v1(const CUDA_KERNEL_NODE_PARAMS_v1 *parameters, struct gd_work *work_out);
CUresult gd_work_copy3d(const CUDA_MEMCPY3D *parameters, struct gd_work *work_out);
CUresult gd_work_memset(const CUDA_MEMSET_NODE_PARAMS *parameters, struct gd_work *work_out);
CUresult gd_work_host(const CUDA_HOST_NODE_PARAMS *parameters, struct gd_work *work_out);
CUresult gd_work_event(CUevent event, CUgraphNodeType type, struct gd_work *work_out);
CUresult gd_work_child(CUgraph child, bool move, struct gd_work *work_out);
CUresult gd_work_allocation(CUDA_MEM_ALLOC_NODE_PARAMS *parameters, struct gd_work *work_out);
CUresult gd_work_free(CUdeviceptr address, struct gd_work *work_out);

/** Any type, as cuGraphAddNode takes it. */
CUresult gd_work_any(CUgraphNodeParams *parameters, struct gd_work *work_out);

/** Work to parameters; the type must be right. */
void gd_work_to_kernel(const struct gd_work *work, CUDA_KERNEL_NODE_PARAMS *parameters_out);
CUresult gd_work_to_copy3d(const struct gd_work *work, CUDA_MEMCPY3D *parameters_out);
void gd_work_to_memset(const struct gd_work *work, CUDA_MEMSET_NODE_PARAMS *parameters_out);

#endif
