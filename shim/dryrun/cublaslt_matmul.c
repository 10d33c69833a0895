/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuBLASLt: descriptors, one heuristic, the product.
 *
 * The one algorithm needs no workspace of its own: PyTorch allocates its workspace by its own
 * setting (CUBLASLT_WORKSPACE_SIZE) before it asks, whatever the answer is.
 */
#include <stdlib.h>
#include <string.h>

#include "gd_export.h"
#include "matmul_work.h"
#include "unprovided.h"

#define GD_LT_SUCCESS 0
#define GD_LT_ALLOC_FAILED 3
#define GD_LT_INVALID_VALUE 7
#define GD_LT_EXECUTION_FAILED 13
#define GD_LT_VERSION 130200

/* Attributes that shape a launch; numbers of the library's header. */
enum {
	LAYOUT_TYPE = 0,
	LAYOUT_ROWS = 2,
	LAYOUT_COLUMNS = 3,
	LAYOUT_LEADING = 4,
	LAYOUT_BATCH = 5,
	LAYOUT_STRIDE = 6
};
enum { DESC_COMPUTE = 0, DESC_SCALE = 1, DESC_TRANSPOSE_A = 3, DESC_TRANSPOSE_B = 4 };

struct layout { /* fits the 64 bytes of the opaque struct, which programs may embed */
	int32_t type, batch;
	uint64_t rows, columns;
	int64_t leading, stride; /* elements from column to column, from matrix to matrix */
};

struct matmul_desc {
	int32_t compute, scale, transpose_a, transpose_b;
};

struct algorithm {
	uint64_t data[8];
};

struct heuristic {
	struct algorithm algorithm;
	size_t workspace_bytes;
	int state;
	float waves;
	int reserved[4];
};

GD_EXPORT size_t cublasLtGetVersion(void);
GD_EXPORT int cublasLtCreate(void **handle);
GD_EXPORT int cublasLtDestroy(void *handle);
GD_EXPORT int cublasLtMatrixLayoutCreate(
    struct layout **out, int type, uint64_t rows, uint64_t columns, int64_t leading);
GD_EXPORT int cublasLtMatrixLayoutDestroy(struct layout *layout);
GD_EXPORT int cublasLtMatrixLayoutSetAttribute(
    struct layout *layout, int attribute, const void *value, size_t bytes);
GD_EXPORT int cublasLtMatmulDescCreate(struct matmul_desc **out, int compute, int scale);
GD_EXPORT int cublasLtMatmulDescDestroy(struct matmul_desc *desc);
GD_EXPORT int cublasLtMatmulDescSetAttribute(
    struct matmul_desc *desc, int attribute, const void *value, size_t bytes);
GD_EXPORT int cublasLtMatmulPreferenceCreate(void **out);
GD_EXPORT int cublasLtMatmulPreferenceDestroy(void *preference);
GD_EXPORT int cublasLtMatmulPreferenceSetAttribute(
    void *preference, int attribute, const void *value, size_t bytes);
GD_EXPORT int cublasLtMatmulAlgoGetHeuristic(void *handle, struct matmul_desc *desc,
    struct layout *a, struct layout *b, struct layout *c, struct layout *d, void *preference,
    int wanted, struct heuristic *results, int *count);
GD_EXPORT int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c,
    int d, int id, struct algorithm *algorithm);
GD_EXPORT int cublasLtMatmulAlgoCheck(void *handle, struct matmul_desc *desc, struct layout *a,
    struct layout *b, struct layout *c, struct layout *d, const struct algorithm *algorithm,
    struct heuristic *result);
GD_EXPORT int cublasLtMatmulAlgoConfigSetAttribute(
    struct algorithm *algorithm, int attribute, const void *value, size_t bytes);
GD_EXPORT int cublasLtMatmulAlgoConfigGetAttribute(
    const struct algorithm *algorithm, int attribute, void *value, size_t bytes, size_t *written);
GD_EXPORT int cublasLtMatmul(void *handle, struct matmul_desc *desc, const void *alpha,
    const void *a, struct layout *layout_a, const void *b, struct layout *layout_b,
    const void *beta, const void *c, struct layout *layout_c, void *d, struct layout *layout_d,
    const struct algorithm *algorithm, void *workspace, size_t workspace_bytes, CUstream stream);

size_t cublasLtGetVersion(void)
{
	return GD_LT_VERSION;
}

static int create(void **out, size_t bytes)
{
	*out = calloc(1, bytes);
	return *out ? GD_LT_SUCCESS : GD_LT_ALLOC_FAILED;
}

int cublasLtCreate(void **handle)
{
	return create(handle, 1);
}

int cublasLtDestroy(void *handle)
{
	free(handle);
	return GD_LT_SUCCESS;
}

int cublasLtMatrixLayoutCreate(
    struct layout **out, int type, uint64_t rows, uint64_t columns, int64_t leading)
{
	int status = create((void **)out, sizeof(**out));

	if (status == GD_LT_SUCCESS)
		**out = (struct layout){type, 1, rows, columns, leading, 0};
	return status;
}

int cublasLtMatrixLayoutDestroy(struct layout *layout)
{
	free(layout);
	return GD_LT_SUCCESS;
}

int cublasLtMatrixLayoutSetAttribute(
    struct layout *layout, int attribute, const void *value, size_t bytes)
{
	if (attribute == LAYOUT_TYPE && bytes >= 4)
		memcpy(&layout->type, value, 4);
	else if (attribute == LAYOUT_BATCH && bytes >= 4)
		memcpy(&layout->batch, value, 4);
	else if (attribute == LAYOUT_ROWS && bytes >= 8)
		memcpy(&layout->rows, value, 8);
	else if (attribute == LAYOUT_COLUMNS && bytes >= 8)
		memcpy(&layout->columns, value, 8);
	else if (attribute == LAYOUT_LEADING && bytes >= 8)
		memcpy(&layout->leading, value, 8);
	else if (attribute == LAYOUT_STRIDE && bytes >= 8)
		memcpy(&layout->stride, value, 8);
	return GD_LT_SUCCESS;
}

int cublasLtMatmulDescCreate(struct matmul_desc **out, int compute, int scale)
{
	int status = create((void **)out, sizeof(**out));

	if (status == GD_LT_SUCCESS)
		**out = (struct matmul_desc){compute, scale, 0, 0};
	return status;
}

int cublasLtMatmulDescDestroy(struct matmul_desc *desc)
{
	free(desc);
	return GD_LT_SUCCESS;
}

/* Epilogues, scales and pointers change what a kernel does, not what it looks like from outside. */
int cublasLtMatmulDescSetAttribute(
    struct matmul_desc *desc, int attribute, const void *value, size_t bytes)
{
	if (bytes < 4)
		return GD_LT_SUCCESS;
	if (attribute == DESC_COMPUTE)
		memcpy(&desc->compute, value, 4);
	else if (attribute == DESC_SCALE)
		memcpy(&desc->scale, value, 4);
	else if (attribute == DESC_TRANSPOSE_A)
		memcpy(&desc->transpose_a, value, 4);
	else if (attribute == DESC_TRANSPOSE_B)
		memcpy(&desc->transpose_b, value, 4);
	return GD_LT_SUCCESS;
}

int cublasLtMatmulPreferenceCreate(void **out)
{
	return create(out, 64);
}

int cublasLtMatmulPreferenceDestroy(void *preference)
{
	free(preference);
	return GD_LT_SUCCESS;
}

int cublasLtMatmulPreferenceSetAttribute(
    void *preference, int attribute, const void *value, size_t bytes)
{
	return GD_LT_SUCCESS;
}

int cublasLtMatmulAlgoGetHeuristic(void *handle, struct matmul_desc *desc, struct layout *a,
    struct layout *b, struct layout *c, struct layout *d, void *preference, int wanted,
    struct heuristic *results, int *count)
{
	if (wanted < 1)
		return GD_LT_INVALID_VALUE;
	memset(results, 0, sizeof(*results));
	results->waves = 1;
	*count = 1;
	return GD_LT_SUCCESS;
}

int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c, int d, int id,
    struct algorithm *algorithm)
{
	memset(algorithm, 0, sizeof(*algorithm));
	return GD_LT_SUCCESS;
}

int cublasLtMatmulAlgoCheck(void *handle, struct matmul_desc *desc, struct layout *a,
    struct layout *b, struct layout *c, struct layout *d, const struct algorithm *algorithm,
    struct heuristic *result)
{
	memset(result, 0, sizeof(*result));
	result->algorithm = *algorithm;
	result->waves = 1;
	return GD_LT_SUCCESS;
}

int cublasLtMatmulAlgoConfigSetAttribute(
    struct algorithm *algorithm, int attribute, const void *value, size_t bytes)
{
	return GD_LT_SUCCESS;
}

/* The one algorithm is number 0 and has every option at 0. */
int cublasLtMatmulAlgoConfigGetAttribute(
    const struct algorithm *algorithm, int attribute, void *value, size_t bytes, size_t *written)
{
	if (value)
		memset(value, 0, bytes);
	if (written)
		*written = bytes;
	return GD_LT_SUCCESS;
}

int cublasLtMatmul(void *handle, struct matmul_desc *desc, const void *alpha, const void *a,
    struct layout *layout_a, const void *b, struct layout *layout_b, const void *beta,
    const void *c, struct layout *layout_c, void *d, struct layout *layout_d,
    const struct algorithm *algorithm, void *workspace, size_t workspace_bytes, CUstream stream)
{
	struct gd_matmul product = {.m = layout_d->rows, .n = layout_d->columns};

	product.k = desc->transpose_a ? layout_a->rows : layout_a->columns;
	product.batch = (uint64_t)layout_d->batch;
	product.type = layout_a->type;
	product.compute = desc->compute;
	product.transpose_a = desc->transpose_a != 0;
	product.transpose_b = desc->transpose_b != 0;
	product.result = d;
	product.result_type = layout_d->type;
	product.leading = layout_d->leading;
	product.stride = layout_d->stride;
	return gd_matmul_launch(&product, stream) == CUDA_SUCCESS ? GD_LT_SUCCESS
								  : GD_LT_EXECUTION_FAILED;
}
