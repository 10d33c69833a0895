/* SPDX-License-Identifier: Apache-2.0 */
/* cuSPARSE: handles, texts and what all its operations share. */
#include "cusparse_handle.h"

#include <stdlib.h>

#include "driver_door.h"
#include "kernel_launch.h"

GD_EXPORT int cusparseCreate(struct gd_cusparse **out);
GD_EXPORT int cusparseDestroy(struct gd_cusparse *handle);
GD_EXPORT int cusparseSetStream(struct gd_cusparse *handle, CUstream stream);
GD_EXPORT int cusparseSetPointerMode(struct gd_cusparse *handle, int mode);
GD_EXPORT const char *cusparseGetErrorString(int status);

int cusparseCreate(struct gd_cusparse **out)
{
	if (!out)
		return GD_CUSPARSE_INVALID_VALUE;
	*out = calloc(1, sizeof(**out));
	return *out ? GD_CUSPARSE_SUCCESS : GD_CUSPARSE_ALLOC_FAILED;
}

int cusparseDestroy(struct gd_cusparse *handle)
{
	if (handle)
		gd_cusparse_forget_sum(handle);
	free(handle);
	return GD_CUSPARSE_SUCCESS;
}

int cusparseSetStream(struct gd_cusparse *handle, CUstream stream)
{
	if (!handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	handle->stream = stream;
	return GD_CUSPARSE_SUCCESS;
}

int cusparseSetPointerMode(struct gd_cusparse *handle, int mode)
{
	if (!handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	if (mode != 0 && mode != 1)
		return GD_CUSPARSE_INVALID_VALUE;
	handle->pointer_mode = mode;
	return GD_CUSPARSE_SUCCESS;
}

const char *cusparseGetErrorString(int status)
{
	switch (status) {
	case GD_CUSPARSE_SUCCESS:
		return "success";
	case GD_CUSPARSE_NOT_INITIALIZED:
		return "initialization error";
	case GD_CUSPARSE_ALLOC_FAILED:
		return "resource allocation failed";
	case GD_CUSPARSE_INVALID_VALUE:
		return "invalid value";
	case GD_CUSPARSE_EXECUTION_FAILED:
		return "kernel launch failure";
	case GD_CUSPARSE_UNKNOWN:
		return "operation not supported";
	default:
		return "unrecognized error code";
	}
}

int gd_cusparse_launch(const struct gd_cusparse *handle, const char *name, int64_t threads)
{
	return gd_cusparse_launch_with(handle, name, threads, NULL);
}

int gd_cusparse_launch_with(
    const struct gd_cusparse *handle, const char *name, int64_t threads, void **arguments)
{
	struct gd_work work = {.name = name, .rate = GD_RATE_MEMORY, .arguments = arguments};

	if (!handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	work.threads = threads > 0 ? (uint64_t)threads : 1;
	return gd_kernel_launch(&work, handle->stream) == CUDA_SUCCESS
		   ? GD_CUSPARSE_SUCCESS
		   : GD_CUSPARSE_EXECUTION_FAILED;
}

void gd_cusparse_store(const void *to, const void *from, size_t bytes)
{
	void (*write)(unsigned long long, const void *, size_t);

	*(void **)&write = gd_driver_extra("gpushim_dryrun_store");
	if (write)
		write((unsigned long long)(uintptr_t)to, from, bytes);
}

int gd_cusparse_told(const char *what, int status)
{
	if (status == GD_CUSPARSE_UNKNOWN)
		gd_unprovided(what);
	return status;
}

static int64_t rows_of(const struct gd_matrix *matrix, int operation)
{
	return operation ? matrix->columns : matrix->rows;
}

static int64_t columns_of(const struct gd_matrix *matrix, int operation)
{
	return operation ? matrix->rows : matrix->columns;
}

static bool known(int operation)
{
	return operation >= 0 && operation <= 2;
}

int gd_product_check(const struct gd_product *product)
{
	const struct gd_matrix *a = product->a, *b = product->b, *c = product->c;
	int op_a = product->operation_a, op_b = product->operation_b;

	if (!product->handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	if (!a || !b || !c || !known(op_a) || !known(op_b))
		return GD_CUSPARSE_INVALID_VALUE;
	if (rows_of(a, op_a) != c->rows || columns_of(a, op_a) != rows_of(b, op_b) ||
	    columns_of(b, op_b) != c->columns)
		return GD_CUSPARSE_INVALID_VALUE;
	return GD_CUSPARSE_SUCCESS;
}
