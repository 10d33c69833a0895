/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuSPARSELt: products with matrices of which two in four elements are zeros.
 *
 * All objects are structs of the caller, at least 512 bytes long; what is kept lies at their start.
 * A compressed matrix holds the elements that are left and, of each, two bits that tell its place
 * ("Accelerating Sparse Deep Neural Networks", Mishra et al., 2021).  Compression and products take
 * no work area: a stated model.
 */
#include <string.h>

#include <cudaTypedefs.h>

#include "driver_door.h"
#include "gd_export.h"
#include "matmul_work.h"

enum {
	GD_LT_SUCCESS = 0,
	GD_LT_NOT_INITIALIZED = 1,
	GD_LT_INVALID_VALUE = 3,
	GD_LT_ARCH_MISMATCH = 4,
	GD_LT_EXECUTION_FAILED = 6,
};

/* What an object is, so that one of another kind, or none, is an error. */
enum kind { HANDLE = 0x6c740001, MATRIX, PRODUCT, CHOICE, PLAN };

#define GD_SETTINGS 6 /* of CUSPARSELT_MATMUL_ALG_*: id, largest id, iterations, split k ... */
#define GD_LARGEST_ID 1

struct handle {
	enum kind kind;
};
struct matrix {
	enum kind kind;
	int type; /* cudaDataType */
	int64_t rows, columns;
};
struct product {
	enum kind kind;
	struct gd_matmul work;
};
struct choice {
	enum kind kind;
	int settings[GD_SETTINGS];
};

#define GD_IS(object, wanted) ((object) && (object)->kind == (wanted))

GD_EXPORT int cusparseLtInit(struct handle *handle);
GD_EXPORT int cusparseLtStructuredDescriptorInit(const struct handle *handle, struct matrix *matrix,
    int64_t rows, int64_t columns, int64_t leading, uint32_t alignment, int type, int order,
    int sparsity);
GD_EXPORT int cusparseLtDenseDescriptorInit(const struct handle *handle, struct matrix *matrix,
    int64_t rows, int64_t columns, int64_t leading, uint32_t alignment, int type, int order);
GD_EXPORT int cusparseLtMatDescriptorDestroy(const struct matrix *matrix);
GD_EXPORT int cusparseLtSpMMACompressedSize2(const struct handle *handle,
    const struct matrix *matrix, size_t *bytes_out, size_t *area_bytes_out);
GD_EXPORT int cusparseLtSpMMACompress2(const struct handle *handle, const struct matrix *matrix,
    int is_first, int operation, const void *from, void *to, void *area, CUstream stream);
GD_EXPORT int cusparseLtMatmulDescriptorInit(const struct handle *handle, struct product *product,
    int operation_a, int operation_b, const struct matrix *a, const struct matrix *b,
    const struct matrix *c, const struct matrix *d, int compute);
GD_EXPORT int cusparseLtMatmulDescSetAttribute(const struct handle *handle, struct product *product,
    int attribute, const void *data, size_t bytes);
GD_EXPORT int cusparseLtMatmulAlgSelectionInit(const struct handle *handle, struct choice *choice,
    const struct product *product, int algorithm);
GD_EXPORT int cusparseLtMatmulAlgSetAttribute(const struct handle *handle, struct choice *choice,
    int attribute, const void *data, size_t bytes);
GD_EXPORT int cusparseLtMatmulAlgGetAttribute(const struct handle *handle,
    const struct choice *choice, int attribute, void *data, size_t bytes);
GD_EXPORT int cusparseLtMatmulPlanInit(const struct handle *handle, struct product *plan,
    const struct product *product, const struct choice *choice);
GD_EXPORT int cusparseLtMatmulPlanDestroy(const struct product *plan);
GD_EXPORT int cusparseLtMatmulGetWorkspace(
    const struct handle *handle, const struct product *plan, size_t *bytes_out);
#define GD_MATMUL \
	const struct handle *handle, struct product *plan, const void *alpha, const void *a, \
	    const void *b, const void *beta, const void *c, void *d, void *area, \
	    const CUstream *streams, int32_t stream_count
GD_EXPORT int cusparseLtMatmul(GD_MATMUL);
GD_EXPORT int cusparseLtMatmulSearch(GD_MATMUL);

/* The units that leave zeros out came with compute capability 8.0. */
static bool device_has_units(void)
{
	PFN_cuCtxGetDevice_v2000 current;
	PFN_cuDeviceGetAttribute_v2000 attribute;
	CUdevice device = 0; /* the first, where the thread has no context yet */
	int major = 0;

	*(void **)&current = gd_driver_function("cuCtxGetDevice", 2000, 0);
	*(void **)&attribute = gd_driver_function("cuDeviceGetAttribute", 2000, 0);
	if (!current || !attribute)
		return false;
	current(&device);
	return attribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device) ==
		   CUDA_SUCCESS &&
	       major >= 8;
}

int cusparseLtInit(struct handle *handle)
{
	if (!handle)
		return GD_LT_INVALID_VALUE;
	if (!device_has_units())
		return GD_LT_ARCH_MISMATCH;
	handle->kind = HANDLE;
	return GD_LT_SUCCESS;
}

static unsigned type_bytes(int type)
{
	switch (type) {
	case 3:	 /* CUDA_R_8I */
	case 28: /* CUDA_R_8F_E4M3 */
	case 29: /* CUDA_R_8F_E5M2 */
		return 1;
	case 2:	 /* CUDA_R_16F */
	case 14: /* CUDA_R_16BF */
		return 2;
	case 0:	 /* CUDA_R_32F */
	case 10: /* CUDA_R_32I */
		return 4;
	default:
		return 0;
	}
}

int cusparseLtDenseDescriptorInit(const struct handle *handle, struct matrix *matrix, int64_t rows,
    int64_t columns, int64_t leading, uint32_t alignment, int type, int order)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!matrix || rows <= 0 || columns <= 0 || !type_bytes(type) || order < 1 || order > 2 ||
	    leading < (order == 1 ? rows : columns))
		return GD_LT_INVALID_VALUE;
	*matrix = (struct matrix){MATRIX, type, rows, columns};
	return GD_LT_SUCCESS;
}

int cusparseLtStructuredDescriptorInit(const struct handle *handle, struct matrix *matrix,
    int64_t rows, int64_t columns, int64_t leading, uint32_t alignment, int type, int order,
    int sparsity)
{
	return cusparseLtDenseDescriptorInit(
	    handle, matrix, rows, columns, leading, alignment, type, order);
}

int cusparseLtMatDescriptorDestroy(const struct matrix *matrix)
{
	return GD_IS(matrix, MATRIX) ? GD_LT_SUCCESS : GD_LT_INVALID_VALUE;
}

int cusparseLtSpMMACompressedSize2(const struct handle *handle, const struct matrix *matrix,
    size_t *bytes_out, size_t *area_bytes_out)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!GD_IS(matrix, MATRIX) || !bytes_out || !area_bytes_out)
		return GD_LT_INVALID_VALUE;
	size_t left = (size_t)(matrix->rows * matrix->columns / 2);
	*bytes_out = left * type_bytes(matrix->type) + left / 4;
	*area_bytes_out = 0;
	return GD_LT_SUCCESS;
}

int cusparseLtSpMMACompress2(const struct handle *handle, const struct matrix *matrix, int is_first,
    int operation, const void *from, void *to, void *area, CUstream stream)
{
	struct gd_work work = {.name = "gpushim_compress_2_4", .rate = GD_RATE_MEMORY};

	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!GD_IS(matrix, MATRIX) || !from || !to)
		return GD_LT_INVALID_VALUE;
	work.threads = (uint64_t)(matrix->rows * matrix->columns);
	return gd_kernel_launch(&work, stream) == CUDA_SUCCESS ? GD_LT_SUCCESS
							       : GD_LT_EXECUTION_FAILED;
}

int cusparseLtMatmulDescriptorInit(const struct handle *handle, struct product *product,
    int operation_a, int operation_b, const struct matrix *a, const struct matrix *b,
    const struct matrix *c, const struct matrix *d, int compute)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!product || !GD_IS(a, MATRIX) || !GD_IS(b, MATRIX) || !GD_IS(c, MATRIX) ||
	    !GD_IS(d, MATRIX))
		return GD_LT_INVALID_VALUE;
	int64_t rows = operation_a ? a->columns : a->rows,
		depth = operation_a ? a->rows : a->columns;
	int64_t height = operation_b ? b->columns : b->rows;
	int64_t columns = operation_b ? b->rows : b->columns;
	if (depth != height || d->rows != rows || d->columns != columns || a->type != b->type)
		return GD_LT_INVALID_VALUE;
	*product =
	    (struct product){PRODUCT, {.m = (uint64_t)rows,
					  .n = (uint64_t)columns,
					  .k = (uint64_t)depth / 2, /* half of it is left out */
					  .batch = 1,
					  .type = a->type,
					  .transpose_a = operation_a,
					  .transpose_b = operation_b,
					  .tf32 = true}};
	return GD_LT_SUCCESS;
}

/* Activations, biases, factors: what only a computation would read. */
int cusparseLtMatmulDescSetAttribute(const struct handle *handle, struct product *product,
    int attribute, const void *data, size_t bytes)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	return GD_IS(product, PRODUCT) && attribute >= 0 && data && bytes ? GD_LT_SUCCESS
									  : GD_LT_INVALID_VALUE;
}

int cusparseLtMatmulAlgSelectionInit(const struct handle *handle, struct choice *choice,
    const struct product *product, int algorithm)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!choice || !GD_IS(product, PRODUCT) || algorithm)
		return GD_LT_INVALID_VALUE;
	*choice = (struct choice){CHOICE, {0, GD_LARGEST_ID, 5, 1, 0, 0}};
	return GD_LT_SUCCESS;
}

static int choice_check(const struct handle *handle, const struct choice *choice, int attribute,
    const void *data, size_t bytes)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	return GD_IS(choice, CHOICE) && attribute >= 0 && attribute < GD_SETTINGS && data &&
		       bytes == sizeof(int)
		   ? GD_LT_SUCCESS
		   : GD_LT_INVALID_VALUE;
}

int cusparseLtMatmulAlgSetAttribute(const struct handle *handle, struct choice *choice,
    int attribute, const void *data, size_t bytes)
{
	int status = choice_check(handle, choice, attribute, data, bytes);

	if (status == GD_LT_SUCCESS)
		memcpy(&choice->settings[attribute], data, bytes);
	return status;
}

int cusparseLtMatmulAlgGetAttribute(const struct handle *handle, const struct choice *choice,
    int attribute, void *data, size_t bytes)
{
	int status = choice_check(handle, choice, attribute, data, bytes);

	if (status == GD_LT_SUCCESS)
		memcpy(data, &choice->settings[attribute], bytes);
	return status;
}

int cusparseLtMatmulPlanInit(const struct handle *handle, struct product *plan,
    const struct product *product, const struct choice *choice)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!plan || !GD_IS(product, PRODUCT) || !GD_IS(choice, CHOICE))
		return GD_LT_INVALID_VALUE;
	*plan = *product;
	plan->kind = PLAN;
	return GD_LT_SUCCESS;
}

int cusparseLtMatmulPlanDestroy(const struct product *plan)
{
	return GD_IS(plan, PLAN) ? GD_LT_SUCCESS : GD_LT_INVALID_VALUE;
}

int cusparseLtMatmulGetWorkspace(
    const struct handle *handle, const struct product *plan, size_t *bytes_out)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!GD_IS(plan, PLAN) || !bytes_out)
		return GD_LT_INVALID_VALUE;
	*bytes_out = 0;
	return GD_LT_SUCCESS;
}

int cusparseLtMatmul(GD_MATMUL)
{
	if (!GD_IS(handle, HANDLE))
		return GD_LT_NOT_INITIALIZED;
	if (!GD_IS(plan, PLAN) || !alpha || !a || !b || !beta || !c || !d || stream_count < 0)
		return GD_LT_INVALID_VALUE;
	return gd_matmul_launch(&plan->work, streams && stream_count ? streams[0] : NULL) ==
		       CUDA_SUCCESS
		   ? GD_LT_SUCCESS
		   : GD_LT_EXECUTION_FAILED;
}

/* There is one way to compute: the first is the fastest. */
int cusparseLtMatmulSearch(GD_MATMUL)
{
	return cusparseLtMatmul(handle, plan, alpha, a, b, beta, c, d, area, streams, stream_count);
}
