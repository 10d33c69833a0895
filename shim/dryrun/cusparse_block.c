/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuSPARSE: the older functions on matrices of blocks: products and solutions of triangular ones.
 *
 * The work area of a solution is a stated model: an index for each block and for each row of
 * blocks. That a diagonal block cannot be divided by is never reported: it depends on values.
 */
#include "cusparse_handle.h"

struct shape {
	int64_t rows, columns, blocks; /* in blocks */
	int64_t results;	       /* columns of a dense result */
};

#define GD_HANDLE const struct gd_cusparse *handle

static int check(GD_HANDLE, const struct shape *shape)
{
	if (!handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	return shape->rows >= 0 && shape->columns >= 0 && shape->blocks >= 0 && shape->results >= 0
		   ? GD_CUSPARSE_SUCCESS
		   : GD_CUSPARSE_INVALID_VALUE;
}

static int perform(GD_HANDLE, const char *name, struct shape shape)
{
	int status = check(handle, &shape);

	return status == GD_CUSPARSE_SUCCESS
		   ? gd_cusparse_launch(handle, name, shape.blocks * shape.results)
		   : status;
}

static int area_bytes(GD_HANDLE, struct shape shape, int *bytes_out)
{
	int64_t bytes = (shape.rows + shape.blocks) * (int64_t)sizeof(int);
	int status = check(handle, &shape);

	if (status == GD_CUSPARSE_SUCCESS && (!bytes_out || bytes > INT32_MAX))
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status == GD_CUSPARSE_SUCCESS)
		*bytes_out = (int)bytes;
	return status;
}

/* The arguments behind those named do not matter; the caller removes them. */
#define GD_PERFORM(function, arguments, ...) \
	GD_EXPORT int cusparse##function arguments; \
	int cusparse##function arguments \
	{ \
		return perform(handle, "gpushim_" #function, (struct shape){__VA_ARGS__}); \
	}
#define GD_AREA(function, arguments, ...) \
	GD_EXPORT int cusparse##function arguments; \
	int cusparse##function arguments \
	{ \
		return area_bytes(handle, (struct shape){__VA_ARGS__}, bytes_out); \
	}
#define GD_VECTOR GD_HANDLE, int direction, int operation, int rows, int blocks
#define GD_MATRIX \
	GD_HANDLE, int direction, int operation_a, int operation_x, int rows, int columns, \
	    int blocks
#define GD_BLOCKS \
	const struct gd_older *descriptor, const void *values, const int *offsets, \
	    const int *indices, int block, const struct gd_older *info
#define GD_TYPED(T) \
	GD_PERFORM(T##bsrmv, \
	    (GD_HANDLE, int direction, int operation, int rows, int columns, int blocks), rows, \
	    columns, blocks, 1) \
	GD_PERFORM(T##bsrmm, \
	    (GD_HANDLE, int direction, int operation_a, int operation_b, int rows, int results, \
		int columns, int blocks), \
	    rows, columns, blocks, results) \
	GD_AREA( \
	    T##bsrsv2_bufferSize, (GD_VECTOR, GD_BLOCKS, int *bytes_out), rows, rows, blocks, 1) \
	GD_PERFORM(T##bsrsv2_analysis, (GD_VECTOR), rows, rows, blocks, 1) \
	GD_PERFORM(T##bsrsv2_solve, (GD_VECTOR), rows, rows, blocks, 1) \
	GD_AREA(T##bsrsm2_bufferSize, (GD_MATRIX, GD_BLOCKS, int *bytes_out), rows, rows, blocks, \
	    columns) \
	GD_PERFORM(T##bsrsm2_analysis, (GD_MATRIX), rows, rows, blocks, columns) \
	GD_PERFORM(T##bsrsm2_solve, (GD_MATRIX), rows, rows, blocks, columns)
GD_TYPED(S)
GD_TYPED(D)
GD_TYPED(C)
GD_TYPED(Z)

GD_EXPORT int cusparseXbsrsv2_zeroPivot(GD_HANDLE, const struct gd_older *info, int *position_out);
GD_EXPORT int cusparseXbsrsm2_zeroPivot(GD_HANDLE, const struct gd_older *info, int *position_out);

static int no_zero(GD_HANDLE, const struct gd_older *info, int *position_out)
{
	const int none = -1;

	if (!handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	if (!info || !position_out)
		return GD_CUSPARSE_INVALID_VALUE;
	if (handle->pointer_mode)
		gd_cusparse_store(position_out, &none, sizeof(none));
	else
		*position_out = none;
	return GD_CUSPARSE_SUCCESS;
}

int cusparseXbsrsv2_zeroPivot(GD_HANDLE, const struct gd_older *info, int *position_out)
{
	return no_zero(handle, info, position_out);
}

int cusparseXbsrsm2_zeroPivot(GD_HANDLE, const struct gd_older *info, int *position_out)
{
	return no_zero(handle, info, position_out);
}
