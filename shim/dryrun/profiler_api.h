/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What cudaProfiler.h of a toolkit declares; the header packages that PyTorch's releases name lack
 * that file.  Source: CUDA Driver API 13.0, section "Profiler Control".
 */
#ifndef GD_PROFILER_API_H
#define GD_PROFILER_API_H

#include <cuda.h>

typedef CUresult (*PFN_cuProfilerStart_v4000)(void);
typedef CUresult (*PFN_cuProfilerStop_v4000)(void);

CUresult cuProfilerStart(void);
CUresult cuProfilerStop(void);

#endif
