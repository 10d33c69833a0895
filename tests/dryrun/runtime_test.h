/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the stand-in runtime share.  Compiled with the headers of each CUDA major. */
#ifndef GD_RUNTIME_TEST_H
#define GD_RUNTIME_TEST_H

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "tests/test.h"

/* A sentence of NVIDIA's documentation; holds on a real driver, too (driver_test.h). */
#define RULE(id, words) TEST_CALLED(id, words, true)

#define OK(call) \
	do { \
		cudaError_t ok_ = (cudaError_t)(call); \
		if (ok_ != cudaSuccess) { \
			printf("# %s:%d: %s answers %d\n", __FILE__, __LINE__, #call, (int)ok_); \
			exit(1); \
		} \
	} while (0)

#endif
