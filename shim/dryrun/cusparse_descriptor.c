/* SPDX-License-Identifier: Apache-2.0 */
/* cuSPARSE: descriptors of matrices and vectors, and of operations that take several calls. */
#include "cusparse_handle.h"

#include <stdlib.h>

GD_EXPORT int cusparseCreateCsr(struct gd_matrix **out, int64_t rows, int64_t columns,
    int64_t nonzeros, void *offsets, void *indices, void *values, int offset_type, int index_type,
    int base, int value_type);
GD_EXPORT int cusparseCreateCoo(struct gd_matrix **out, int64_t rows, int64_t columns,
    int64_t nonzeros, void *row_indices, void *column_indices, void *values, int index_type,
    int base, int value_type);
GD_EXPORT int cusparseCreateDnMat(struct gd_matrix **out, int64_t rows, int64_t columns,
    int64_t leading, void *values, int value_type, int order);
GD_EXPORT int cusparseCreateDnVec(
    struct gd_matrix **out, int64_t size, void *values, int value_type);
GD_EXPORT int cusparseCsrSetPointers(
    struct gd_matrix *matrix, void *offsets, void *indices, void *values);
GD_EXPORT int cusparseCsrSetStridedBatch(
    struct gd_matrix *matrix, int count, int64_t offsets_stride, int64_t values_stride);
GD_EXPORT int cusparseDnMatSetStridedBatch(struct gd_matrix *matrix, int count, int64_t stride);
GD_EXPORT int cusparseSpMatGetSize(
    const struct gd_matrix *matrix, int64_t *rows, int64_t *columns, int64_t *nonzeros);
GD_EXPORT int cusparseSpMatSetAttribute(
    struct gd_matrix *matrix, int attribute, const void *data, size_t bytes);

/* Bytes of a cudaDataType that matrices may have; 0 for others. */
static unsigned value_bytes(int type)
{
	switch (type) {
	case 3: /* CUDA_R_8I */
		return 1;
	case 2:	 /* CUDA_R_16F */
	case 14: /* CUDA_R_16BF */
		return 2;
	case 0:	 /* CUDA_R_32F */
	case 6:	 /* CUDA_C_16F */
	case 10: /* CUDA_R_32I */
	case 15: /* CUDA_C_16BF */
		return 4;
	case 1: /* CUDA_R_64F */
	case 4: /* CUDA_C_32F */
		return 8;
	case 5: /* CUDA_C_64F */
		return 16;
	default:
		return 0;
	}
}

/* CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I */
static unsigned index_bytes(int type)
{
	return type == 2 ? 4 : type == 3 ? 8 : 0;
}

static int make(struct gd_matrix **out, const struct gd_matrix *wanted)
{
	if (!out || wanted->rows < 0 || wanted->columns < 0 || !wanted->value_bytes)
		return GD_CUSPARSE_INVALID_VALUE;
	struct gd_matrix *matrix = malloc(sizeof(*matrix));
	if (!matrix)
		return GD_CUSPARSE_ALLOC_FAILED;
	*matrix = *wanted;
	matrix->batch = 1;
	*out = matrix;
	return GD_CUSPARSE_SUCCESS;
}

static int make_sparse(struct gd_matrix **out, const struct gd_matrix *wanted)
{
	int64_t most;
	bool small = !__builtin_mul_overflow(wanted->rows, wanted->columns, &most);
	if (!wanted->index_bytes || wanted->base < 0 || wanted->base > 1 || wanted->nonzeros < 0 ||
	    (small && wanted->nonzeros > most))
		return GD_CUSPARSE_INVALID_VALUE;
	return make(out, wanted);
}

/* The arrays may be missing: those of a product are told when its size is known. */
int cusparseCreateCsr(struct gd_matrix **out, int64_t rows, int64_t columns, int64_t nonzeros,
    void *offsets, void *indices, void *values, int offset_type, int index_type, int base,
    int value_type)
{
	struct gd_matrix wanted = {.rows = rows,
	    .columns = columns,
	    .format = GD_SPARSE_CSR,
	    .value_bytes = value_bytes(value_type),
	    .nonzeros = nonzeros,
	    .offset_bytes = index_bytes(offset_type),
	    .index_bytes = index_bytes(index_type),
	    .base = base,
	    .offsets = offsets,
	    .indices = indices};
	return wanted.offset_bytes ? make_sparse(out, &wanted) : GD_CUSPARSE_INVALID_VALUE;
}

int cusparseCreateCoo(struct gd_matrix **out, int64_t rows, int64_t columns, int64_t nonzeros,
    void *row_indices, void *column_indices, void *values, int index_type, int base, int value_type)
{
	struct gd_matrix wanted = {.rows = rows,
	    .columns = columns,
	    .format = GD_SPARSE_COO,
	    .value_bytes = value_bytes(value_type),
	    .nonzeros = nonzeros,
	    .index_bytes = index_bytes(index_type),
	    .base = base};
	return make_sparse(out, &wanted);
}

int cusparseCreateDnMat(struct gd_matrix **out, int64_t rows, int64_t columns, int64_t leading,
    void *values, int value_type, int order)
{
	struct gd_matrix wanted = {
	    .rows = rows, .columns = columns, .value_bytes = value_bytes(value_type)};
	if ((order != 1 && order != 2) || leading < (order == 1 ? rows : columns))
		return GD_CUSPARSE_INVALID_VALUE;
	return make(out, &wanted);
}

int cusparseCreateDnVec(struct gd_matrix **out, int64_t size, void *values, int value_type)
{
	struct gd_matrix wanted = {
	    .rows = size, .columns = 1, .value_bytes = value_bytes(value_type)};
	return make(out, &wanted);
}

int cusparseCsrSetPointers(struct gd_matrix *matrix, void *offsets, void *indices, void *values)
{
	if (!matrix || matrix->format != GD_SPARSE_CSR)
		return GD_CUSPARSE_INVALID_VALUE;
	matrix->offsets = offsets;
	matrix->indices = indices;
	return GD_CUSPARSE_SUCCESS;
}

static int set_batch(struct gd_matrix *matrix, int count)
{
	if (!matrix || count < 1)
		return GD_CUSPARSE_INVALID_VALUE;
	matrix->batch = count;
	return GD_CUSPARSE_SUCCESS;
}

int cusparseCsrSetStridedBatch(
    struct gd_matrix *matrix, int count, int64_t offsets_stride, int64_t values_stride)
{
	return set_batch(matrix, count);
}

int cusparseDnMatSetStridedBatch(struct gd_matrix *matrix, int count, int64_t stride)
{
	return set_batch(matrix, count);
}

int cusparseSpMatGetSize(
    const struct gd_matrix *matrix, int64_t *rows, int64_t *columns, int64_t *nonzeros)
{
	if (!matrix || !rows || !columns || !nonzeros)
		return GD_CUSPARSE_INVALID_VALUE;
	*rows = matrix->rows;
	*columns = matrix->columns;
	*nonzeros = matrix->nonzeros;
	return GD_CUSPARSE_SUCCESS;
}

/* Which triangle counts and whether its diagonal is one: words that only a computation would read.
 */
int cusparseSpMatSetAttribute(
    struct gd_matrix *matrix, int attribute, const void *data, size_t bytes)
{
	if (!matrix || !data || attribute < 0 || attribute > 1 || bytes != sizeof(int))
		return GD_CUSPARSE_INVALID_VALUE;
	return *(const int *)data == 0 || *(const int *)data == 1 ? GD_CUSPARSE_SUCCESS
								  : GD_CUSPARSE_INVALID_VALUE;
}

#define GD_DESTROY(function) \
	GD_EXPORT int function(void *descriptor); \
	int function(void *descriptor) \
	{ \
		free(descriptor); \
		return GD_CUSPARSE_SUCCESS; \
	}
GD_DESTROY(cusparseDestroySpMat)
GD_DESTROY(cusparseDestroyDnMat)
GD_DESTROY(cusparseDestroyDnVec)
GD_DESTROY(cusparseDestroyMatDescr)
GD_DESTROY(cusparseDestroyBsrsv2Info)
GD_DESTROY(cusparseDestroyBsrsm2Info)
GD_DESTROY(cusparseSpSV_destroyDescr)
GD_DESTROY(cusparseSpSM_destroyDescr)

/* The older descriptor, and those of solutions, which the library would fill between calls. */
struct gd_older {
	int base;
};
#define GD_CREATE(function) \
	GD_EXPORT int function(struct gd_older **out); \
	int function(struct gd_older **out) \
	{ \
		if (!out) \
			return GD_CUSPARSE_INVALID_VALUE; \
		*out = calloc(1, sizeof(**out)); \
		return *out ? GD_CUSPARSE_SUCCESS : GD_CUSPARSE_ALLOC_FAILED; \
	}
GD_CREATE(cusparseCreateMatDescr)
GD_CREATE(cusparseCreateBsrsv2Info)
GD_CREATE(cusparseCreateBsrsm2Info)
GD_CREATE(cusparseSpSV_createDescr)
GD_CREATE(cusparseSpSM_createDescr)

int gd_older_base(const struct gd_older *descriptor)
{
	return descriptor->base;
}

GD_EXPORT int cusparseSetMatIndexBase(struct gd_older *descriptor, int base);
int cusparseSetMatIndexBase(struct gd_older *descriptor, int base)
{
	if (!descriptor || base < 0 || base > 1)
		return GD_CUSPARSE_INVALID_VALUE;
	descriptor->base = base;
	return GD_CUSPARSE_SUCCESS;
}

/* Settings that only a computation would read. */
#define GD_SET_DESCRIPTOR(name, largest) \
	GD_EXPORT int cusparseSetMat##name(const struct gd_older *descriptor, int value); \
	int cusparseSetMat##name(const struct gd_older *descriptor, int value) \
	{ \
		return descriptor && value >= 0 && value <= (largest) ? GD_CUSPARSE_SUCCESS \
								      : GD_CUSPARSE_INVALID_VALUE; \
	}
GD_SET_DESCRIPTOR(Type, 3)
GD_SET_DESCRIPTOR(FillMode, 1)
GD_SET_DESCRIPTOR(DiagType, 1)
