/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuSPARSE: sums of two sparse matrices.
 *
 * How many nonzeros the sum has is computed from the indices where they are known, else counting
 * refuses.  The result's indices are written, its values are not.  The work area is a stated model:
 * a count for each row.
 */
#include <stdlib.h>

#include "cusparse_pattern.h"

#define GD_MATRIX(name) \
	const struct gd_older *descriptor_##name, int nonzeros_##name, const void *values_##name, \
	    const int *offsets_##name, const int *indices_##name
#define GD_PATTERN(name) \
	const struct gd_older *descriptor_##name, int nonzeros_##name, const int *offsets_##name, \
	    const int *indices_##name

/* What counting leaves to the sum that follows. */
struct gd_sum {
	struct gd_pattern pattern;
	const int *offsets; /* of the result in device memory */
};

void gd_cusparse_forget_sum(struct gd_cusparse *handle)
{
	if (handle->last_sum)
		gd_pattern_free(&handle->last_sum->pattern);
	free(handle->last_sum);
	handle->last_sum = NULL;
}

static int sizes_check(
    const struct gd_cusparse *handle, int rows, int columns, int nonzeros_a, int nonzeros_b)
{
	if (!handle)
		return GD_CUSPARSE_NOT_INITIALIZED;
	return rows >= 0 && columns >= 0 && nonzeros_a >= 0 && nonzeros_b >= 0
		   ? GD_CUSPARSE_SUCCESS
		   : GD_CUSPARSE_INVALID_VALUE;
}

static struct gd_matrix matrix_of(int rows, int columns, GD_PATTERN(a))
{
	return (struct gd_matrix){.rows = rows,
	    .columns = columns,
	    .format = GD_SPARSE_CSR,
	    .nonzeros = nonzeros_a,
	    .offset_bytes = sizeof(int),
	    .index_bytes = sizeof(int),
	    .base = gd_older_base(descriptor_a),
	    .offsets = offsets_a,
	    .indices = indices_a};
}

static int add(const struct gd_cusparse *handle, const struct gd_matrix *a,
    const struct gd_matrix *b, struct gd_pattern *out)
{
	struct gd_pattern pattern_a, pattern_b;
	int status = gd_pattern_read(handle, a, &pattern_a);

	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	status = gd_pattern_read(handle, b, &pattern_b);
	if (status == GD_CUSPARSE_SUCCESS) {
		status = gd_pattern_add(&pattern_a, &pattern_b, out);
		gd_pattern_free(&pattern_b);
	}
	gd_pattern_free(&pattern_a);
	return status;
}

static int remember(
    struct gd_cusparse *handle, const int *offsets, const struct gd_pattern *pattern)
{
	struct gd_sum *sum = malloc(sizeof(*sum));

	if (!sum)
		return GD_CUSPARSE_ALLOC_FAILED;
	*sum = (struct gd_sum){*pattern, offsets};
	handle->last_sum = sum;
	return GD_CUSPARSE_SUCCESS;
}

static int count(struct gd_cusparse *handle, const struct gd_matrix *a, const struct gd_matrix *b,
    int *offsets, int base)
{
	struct gd_pattern pattern;
	int status = gd_cusparse_launch(handle, "gpushim_csrgeam_count", a->rows);

	gd_cusparse_forget_sum(handle);
	if (status == GD_CUSPARSE_SUCCESS)
		status = add(handle, a, b, &pattern);
	if (status != GD_CUSPARSE_SUCCESS)
		return gd_cusparse_told(
		    "cusparseXcsrgeam2Nnz of indices that nobody has computed", status);
	gd_pattern_store_offsets(&pattern, sizeof(int), base, offsets);
	status = remember(handle, offsets, &pattern);
	if (status != GD_CUSPARSE_SUCCESS)
		gd_pattern_free(&pattern);
	return status;
}

GD_EXPORT int cusparseXcsrgeam2Nnz(struct gd_cusparse *handle, int rows, int columns, GD_PATTERN(a),
    GD_PATTERN(b), const struct gd_older *descriptor_c, int *offsets_c, int *nonzeros_out,
    void *area);
int cusparseXcsrgeam2Nnz(struct gd_cusparse *handle, int rows, int columns, GD_PATTERN(a),
    GD_PATTERN(b), const struct gd_older *descriptor_c, int *offsets_c, int *nonzeros_out,
    void *area)
{
	int status = sizes_check(handle, rows, columns, nonzeros_a, nonzeros_b);

	if (status == GD_CUSPARSE_SUCCESS &&
	    (!descriptor_a || !descriptor_b || !descriptor_c || !offsets_c || !nonzeros_out))
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	struct gd_matrix a =
	    matrix_of(rows, columns, descriptor_a, nonzeros_a, offsets_a, indices_a);
	struct gd_matrix b =
	    matrix_of(rows, columns, descriptor_b, nonzeros_b, offsets_b, indices_b);
	status = count(handle, &a, &b, offsets_c, gd_older_base(descriptor_c));
	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	int nonzeros = (int)gd_pattern_nonzeros(&handle->last_sum->pattern);
	if (handle->pointer_mode)
		gd_cusparse_store(nonzeros_out, &nonzeros, sizeof(nonzeros));
	else
		*nonzeros_out = nonzeros;
	return GD_CUSPARSE_SUCCESS;
}

/* The sum belongs to the count that was made for the same offsets; without one the program has made
 * its own, and what the indices are is not known. */
static int sum(struct gd_cusparse *handle, const char *name, int rows,
    const struct gd_older *descriptor, const int *offsets, const int *indices)
{
	const struct gd_sum *counted = handle->last_sum;

	if (!descriptor || !offsets)
		return GD_CUSPARSE_INVALID_VALUE;
	if (counted && counted->offsets == offsets && counted->pattern.rows == rows)
		gd_pattern_store_indices(
		    &counted->pattern, sizeof(int), gd_older_base(descriptor), indices);
	return gd_cusparse_launch(handle, name, rows);
}

#define GD_SUM(T) \
	GD_EXPORT int cusparse##T##csrgeam2_bufferSizeExt(const struct gd_cusparse *handle, \
	    int rows, int columns, const void *alpha, GD_MATRIX(a), const void *beta, \
	    GD_MATRIX(b), const struct gd_older *descriptor_c, const void *values_c, \
	    const int *offsets_c, const int *indices_c, size_t *bytes_out); \
	int cusparse##T##csrgeam2_bufferSizeExt(const struct gd_cusparse *handle, int rows, \
	    int columns, const void *alpha, GD_MATRIX(a), const void *beta, GD_MATRIX(b), \
	    const struct gd_older *descriptor_c, const void *values_c, const int *offsets_c, \
	    const int *indices_c, size_t *bytes_out) \
	{ \
		int status = sizes_check(handle, rows, columns, nonzeros_a, nonzeros_b); \
		if (status == GD_CUSPARSE_SUCCESS && !bytes_out) \
			status = GD_CUSPARSE_INVALID_VALUE; \
		if (status == GD_CUSPARSE_SUCCESS) \
			*bytes_out = ((size_t)rows + 1) * sizeof(int); \
		return status; \
	} \
	GD_EXPORT int cusparse##T##csrgeam2(struct gd_cusparse *handle, int rows, int columns, \
	    const void *alpha, GD_MATRIX(a), const void *beta, GD_MATRIX(b), \
	    const struct gd_older *descriptor_c, void *values_c, int *offsets_c, int *indices_c, \
	    void *area); \
	int cusparse##T##csrgeam2(struct gd_cusparse *handle, int rows, int columns, \
	    const void *alpha, GD_MATRIX(a), const void *beta, GD_MATRIX(b), \
	    const struct gd_older *descriptor_c, void *values_c, int *offsets_c, int *indices_c, \
	    void *area) \
	{ \
		int status = sizes_check(handle, rows, columns, nonzeros_a, nonzeros_b); \
		return status != GD_CUSPARSE_SUCCESS ? status \
						     : sum(handle, "gpushim_" #T "csrgeam", rows, \
							   descriptor_c, offsets_c, indices_c); \
	}
GD_SUM(S)
GD_SUM(D)
GD_SUM(C)
GD_SUM(Z)
