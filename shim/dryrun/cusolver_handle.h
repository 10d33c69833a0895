/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the stand-in cuSOLVER. */
#ifndef GD_CUSOLVER_HANDLE_H
#define GD_CUSOLVER_HANDLE_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#include "gd_export.h"

#define GD_CUSOLVER_SUCCESS 0
#define GD_CUSOLVER_NOT_INITIALIZED 1
#define GD_CUSOLVER_ALLOC_FAILED 2
#define GD_CUSOLVER_EXECUTION_FAILED 5

struct gd_cusolver {
	CUstream stream;
};

#endif
