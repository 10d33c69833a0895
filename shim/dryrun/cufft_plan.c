/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuFFT: plans and their execution as one launch.
 *
 * The work area is a stated model: a transform of one dimension of up to 4096 points is done in
 * shared memory and needs none; any other keeps one complex copy of the data.
 */
#include <stdlib.h>
#include <string.h>

#include "gd_export.h"
#include "kernel_launch.h"
#include "unprovided.h"

#define GD_MAX_PLANS 4096
#define GD_POINTS_IN_SHARED_MEMORY 4096

enum { CUFFT_SUCCESS = 0, CUFFT_INVALID_PLAN = 1, CUFFT_ALLOC_FAILED = 2, CUFFT_EXEC_FAILED = 6 };

struct plan {
	CUstream stream;
	uint64_t points; /* of all transforms of the batch */
	size_t work_bytes;
};

/* A plan is a small number; the number of a destroyed one is used again. */
static struct plan *_Atomic plans[GD_MAX_PLANS];

GD_EXPORT int cufftCreate(int *out);
GD_EXPORT int cufftDestroy(int number);
GD_EXPORT int cufftGetVersion(int *version);
GD_EXPORT int cufftSetAutoAllocation(int number, int automatic);
GD_EXPORT int cufftSetStream(int number, CUstream stream);
GD_EXPORT int cufftSetWorkArea(int number, void *area);
GD_EXPORT int cufftXtMakePlanMany(int number, int rank, const long long *size,
    const long long *input_embed, long long input_stride, long long input_distance, int input_type,
    const long long *output_embed, long long output_stride, long long output_distance,
    int output_type, long long batch, size_t *work_bytes, int execution_type);
GD_EXPORT int cufftXtExec(int number, void *input, void *output, int direction);

static struct plan *find(int number)
{
	return number > 0 && number < GD_MAX_PLANS ? plans[number] : NULL;
}

int cufftCreate(int *out)
{
	struct plan *plan = calloc(1, sizeof(*plan)), *none;

	for (int i = 1; plan && i < GD_MAX_PLANS; i++) {
		none = NULL;
		if (__atomic_compare_exchange_n((struct plan **)&plans[i], &none, plan, 0,
			__ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
			*out = i;
			return CUFFT_SUCCESS;
		}
	}
	free(plan);
	return CUFFT_ALLOC_FAILED;
}

int cufftDestroy(int number)
{
	struct plan *plan = find(number);

	if (!plan)
		return CUFFT_INVALID_PLAN;
	plans[number] = NULL;
	free(plan);
	return CUFFT_SUCCESS;
}

int cufftGetVersion(int *version)
{
	*version = 12000;
	return CUFFT_SUCCESS;
}

/* PyTorch switches it off and gives the work area itself; switched on, nothing is allocated either.
 */
int cufftSetAutoAllocation(int number, int automatic)
{
	return find(number) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

int cufftSetStream(int number, CUstream stream)
{
	struct plan *plan = find(number);

	if (!plan)
		return CUFFT_INVALID_PLAN;
	plan->stream = stream;
	return CUFFT_SUCCESS;
}

int cufftSetWorkArea(int number, void *area)
{
	return find(number) ? CUFFT_SUCCESS : CUFFT_INVALID_PLAN;
}

/* Bytes of a complex number whose parts are of the cudaDataType: half, single, double. */
static size_t complex_bytes(int type)
{
	switch (type) {
	case 2:
	case 6:
	case 14:
	case 15:
		return 4;
	case 1:
	case 5:
		return 16;
	default:
		return 8;
	}
}

int cufftXtMakePlanMany(int number, int rank, const long long *size, const long long *input_embed,
    long long input_stride, long long input_distance, int input_type, const long long *output_embed,
    long long output_stride, long long output_distance, int output_type, long long batch,
    size_t *work_bytes, int execution_type)
{
	struct plan *plan = find(number);

	if (!plan)
		return CUFFT_INVALID_PLAN;
	plan->points = (uint64_t)batch;
	for (int i = 0; i < rank; i++)
		plan->points *= (uint64_t)size[i];
	if (rank > 1 || size[0] > GD_POINTS_IN_SHARED_MEMORY)
		plan->work_bytes = plan->points * complex_bytes(execution_type);
	*work_bytes = plan->work_bytes;
	return CUFFT_SUCCESS;
}

int cufftXtExec(int number, void *input, void *output, int direction)
{
	struct plan *plan = find(number);
	struct gd_work work = {.name = "gpushim_fft", .rate = GD_RATE_MEMORY};

	if (!plan)
		return CUFFT_INVALID_PLAN;
	work.threads = plan->points / 8 + 1; /* each thread holds eight points in registers */
	return gd_kernel_launch(&work, plan->stream) == CUDA_SUCCESS ? CUFFT_SUCCESS
								     : CUFFT_EXEC_FAILED;
}
