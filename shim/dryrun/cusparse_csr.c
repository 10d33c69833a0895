/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuSPARSE: the older functions on index arrays: conversion and sorting.
 *
 * Work areas are a stated model: sorting keeps a second copy of keys and positions.  Offsets
 * are computed, as a kernel that the driver executes; what sorting would write is not.
 */
#include "cusparse_handle.h"

#define GD_HANDLE const struct gd_cusparse *handle

GD_EXPORT int cusparseXcoo2csr(
    GD_HANDLE, const int *rows, int nonzeros, int row_count, int *offsets, int base);
GD_EXPORT int cusparseCreateIdentityPermutation(GD_HANDLE, int count, int *permutation);
GD_EXPORT int cusparseXcoosort_bufferSizeExt(GD_HANDLE, int rows, int columns, int nonzeros,
    const int *row_indices, const int *column_indices, size_t *bytes_out);
GD_EXPORT int cusparseXcoosortByRow(GD_HANDLE, int rows, int columns, int nonzeros,
    int *row_indices, int *column_indices, int *permutation, void *area);
GD_EXPORT int cusparseXcsrsort_bufferSizeExt(GD_HANDLE, int rows, int columns, int nonzeros,
    const int *offsets, const int *column_indices, size_t *bytes_out);
GD_EXPORT int cusparseXcsrsort(GD_HANDLE, int rows, int columns, int nonzeros,
    const void *descriptor, const int *offsets, int *column_indices, int *permutation, void *area);

static int sizes_check(GD_HANDLE, int64_t rows, int64_t columns, int64_t nonzeros)
{
	if (!handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	return rows >= 0 && columns >= 0 && nonzeros >= 0 && nonzeros <= rows * columns
		   ? GD_CUSPARSE_SUCCESS
		   : GD_CUSPARSE_INVALID_VALUE;
}

static int run(GD_HANDLE, const char *name, int status, int64_t threads)
{
	return status == GD_CUSPARSE_SUCCESS ? gd_cusparse_launch(handle, name, threads) : status;
}

int cusparseXcoo2csr(
    GD_HANDLE, const int *rows, int nonzeros, int row_count, int *offsets, int base)
{
	int status = sizes_check(handle, row_count, INT32_MAX, nonzeros);
	if (status == GD_CUSPARSE_SUCCESS && (!offsets || base < 0 || base > 1))
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	int64_t row_number = row_count, count = nonzeros;
	void *arguments[] = {&offsets, &rows, &row_number, &count, &base};
	return gd_cusparse_launch_with(handle, "gpushim_coo2csr", nonzeros, arguments);
}

int cusparseCreateIdentityPermutation(GD_HANDLE, int count, int *permutation)
{
	int status = sizes_check(handle, count, 1, 0);
	return run(handle, "gpushim_identity_permutation", status, count);
}

static int sort_bytes(GD_HANDLE, int rows, int columns, int nonzeros, int keys, size_t *bytes_out)
{
	int status = sizes_check(handle, rows, columns, nonzeros);
	if (status == GD_CUSPARSE_SUCCESS && !bytes_out)
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status == GD_CUSPARSE_SUCCESS)
		*bytes_out = (size_t)nonzeros * (size_t)(keys + 1) * sizeof(int);
	return status;
}

int cusparseXcoosort_bufferSizeExt(GD_HANDLE, int rows, int columns, int nonzeros,
    const int *row_indices, const int *column_indices, size_t *bytes_out)
{
	return sort_bytes(handle, rows, columns, nonzeros, 2, bytes_out);
}

int cusparseXcsrsort_bufferSizeExt(GD_HANDLE, int rows, int columns, int nonzeros,
    const int *offsets, const int *column_indices, size_t *bytes_out)
{
	return sort_bytes(handle, rows, columns, nonzeros, 1, bytes_out);
}

int cusparseXcoosortByRow(GD_HANDLE, int rows, int columns, int nonzeros, int *row_indices,
    int *column_indices, int *permutation, void *area)
{
	int status = sizes_check(handle, rows, columns, nonzeros);
	return run(handle, "gpushim_coosort", status, nonzeros);
}

int cusparseXcsrsort(GD_HANDLE, int rows, int columns, int nonzeros, const void *descriptor,
    const int *offsets, int *column_indices, int *permutation, void *area)
{
	int status = sizes_check(handle, rows, columns, nonzeros);
	return run(handle, "gpushim_csrsort", status, nonzeros);
}
