/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuSPARSE: products with sparse matrices and solutions of triangular ones, one launch each.
 *
 * The work areas are a stated model.  The reference manual ("cuSPARSE Generic API Functions") says
 * which operations need one and what it grows with, not how large it is:
 *
 *   SpMV, SpMM  a row number and a value for each tile of 1024 rows and nonzeros, as the merge
 * based product keeps them (Merrill and Garland, "Merge-based Parallel Sparse Matrix-Vector
 *               Multiplication", 2016)
 *   SDDMM       none
 *   SpSV, SpSM  an index for each nonzero and each row; SpSM a copy of the result besides
 */
#include "cusparse_handle.h"

#define GD_TILE 1024

typedef const struct gd_matrix *matrix_in;
#define GD_HANDLE const struct gd_cusparse *handle

static size_t merge_bytes(matrix_in a)
{
	int64_t tiles = (a->rows + a->nonzeros + GD_TILE - 1) / GD_TILE;
	return (size_t)(tiles * a->batch) * (a->index_bytes + a->value_bytes);
}

static int64_t results_of(matrix_in c)
{
	int64_t elements = c->format ? c->nonzeros : c->rows * c->columns;

	return elements * c->batch;
}

static size_t no_bytes(matrix_in a)
{
	return 0;
}

static int answer(const struct gd_product *product, size_t bytes, size_t *bytes_out)
{
	int status = gd_product_check(product);
	if (status == GD_CUSPARSE_SUCCESS && !bytes_out)
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status == GD_CUSPARSE_SUCCESS)
		*bytes_out = bytes;
	return status;
}

/* A work area that was asked for and is not given is an error, as it is on a device. */
static int perform(
    const struct gd_product *product, const char *name, size_t needed, const void *area)
{
	int status = gd_product_check(product);
	if (status == GD_CUSPARSE_SUCCESS && needed && !area)
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	return gd_cusparse_launch(product->handle, name, results_of(product->c));
}

/* The pair of calls of a product: how large a work area, and the product itself. */
#define GD_PRODUCT(function, order, operation_b, sparse, bytes) \
	GD_EXPORT int cusparse##function##_bufferSize(order, matrix_in a, matrix_in b, \
	    const void *beta, matrix_in c, int type, int algorithm, size_t *bytes_out); \
	int cusparse##function##_bufferSize(order, matrix_in a, matrix_in b, const void *beta, \
	    matrix_in c, int type, int algorithm, size_t *bytes_out) \
	{ \
		struct gd_product product = {handle, operation_a, operation_b, a, b, c}; \
		return answer(&product, sparse ? bytes(sparse) : 0, bytes_out); \
	} \
	GD_EXPORT int cusparse##function(order, matrix_in a, matrix_in b, const void *beta, \
	    matrix_in c, int type, int algorithm, void *area); \
	int cusparse##function(order, matrix_in a, matrix_in b, const void *beta, matrix_in c, \
	    int type, int algorithm, void *area) \
	{ \
		struct gd_product product = {handle, operation_a, operation_b, a, b, c}; \
		size_t needed = sparse ? bytes(sparse) : 0; \
		return perform(&product, "gpushim_" #function, needed, area); \
	}
#define GD_OF_VECTOR GD_HANDLE, int operation_a, const void *alpha
#define GD_OF_MATRIX GD_HANDLE, int operation_a, int operation_b, const void *alpha
GD_PRODUCT(SpMV, GD_OF_VECTOR, 0, a, merge_bytes)
GD_PRODUCT(SpMM, GD_OF_MATRIX, operation_b, a, merge_bytes)
GD_PRODUCT(SDDMM, GD_OF_MATRIX, operation_b, c, no_bytes)

GD_EXPORT int cusparseSDDMM_preprocess(GD_OF_MATRIX, matrix_in a, matrix_in b, const void *beta,
    matrix_in c, int type, int algorithm, void *area);
int cusparseSDDMM_preprocess(GD_OF_MATRIX, matrix_in a, matrix_in b, const void *beta, matrix_in c,
    int type, int algorithm, void *area)
{
	struct gd_product product = {handle, operation_a, operation_b, a, b, c};
	return perform(&product, "gpushim_SDDMM_preprocess", 0, area);
}

static size_t solve_vector_bytes(matrix_in a, matrix_in c)
{
	return (size_t)(a->rows + a->nonzeros) * a->index_bytes;
}

static size_t solve_matrix_bytes(matrix_in a, matrix_in c)
{
	return solve_vector_bytes(a, c) + (size_t)(c->rows * c->columns) * c->value_bytes;
}

/* The three calls of a solution: op(A) x C = alpha op(B). */
#define GD_SOLUTION(function, order, operation_b, bytes) \
	GD_EXPORT int cusparse##function##_bufferSize(order, matrix_in a, matrix_in b, \
	    matrix_in c, int type, int algorithm, void *plan, size_t *bytes_out); \
	int cusparse##function##_bufferSize(order, matrix_in a, matrix_in b, matrix_in c, \
	    int type, int algorithm, void *plan, size_t *bytes_out) \
	{ \
		struct gd_product product = {handle, operation_a, operation_b, a, b, c}; \
		return answer(&product, a && c ? bytes(a, c) : 0, bytes_out); \
	} \
	GD_EXPORT int cusparse##function##_analysis(order, matrix_in a, matrix_in b, matrix_in c, \
	    int type, int algorithm, void *plan, void *area); \
	int cusparse##function##_analysis(order, matrix_in a, matrix_in b, matrix_in c, int type, \
	    int algorithm, void *plan, void *area) \
	{ \
		struct gd_product product = {handle, operation_a, operation_b, a, b, c}; \
		size_t needed = a && c ? bytes(a, c) : 0; \
		return perform(&product, "gpushim_" #function "_analysis", needed, area); \
	} \
	GD_EXPORT int cusparse##function##_solve( \
	    order, matrix_in a, matrix_in b, matrix_in c, int type, int algorithm, void *plan); \
	int cusparse##function##_solve( \
	    order, matrix_in a, matrix_in b, matrix_in c, int type, int algorithm, void *plan) \
	{ \
		struct gd_product product = {handle, operation_a, operation_b, a, b, c}; \
		return perform(&product, "gpushim_" #function "_solve", 0, NULL); \
	}
GD_SOLUTION(SpSV, GD_OF_VECTOR, 0, solve_vector_bytes)
GD_SOLUTION(SpSM, GD_OF_MATRIX, operation_b, solve_matrix_bytes)
