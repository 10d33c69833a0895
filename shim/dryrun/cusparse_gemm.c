/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuSPARSE: products of two sparse matrices, in the steps of the interface.
 *
 * How many nonzeros the product has depends on the indices: it is computed from them where they are
 * known, else the first step refuses.  The result's indices are written, its values are not.
 *
 * The work areas are a stated model: a count for each row of A; then an index and a value for each
 * product of two elements ("buffer size proportional to the number of intermediate products", says
 * the reference manual).
 */
#include <stdlib.h>

#include "cusparse_pattern.h"

typedef const struct gd_matrix *matrix_in;

/* What the steps hand on. */
struct gd_gemm {
	struct gd_pattern a, b, c;
};

#define GD_ARGUMENTS \
	const struct gd_cusparse *handle, int operation_a, int operation_b, const void *alpha, \
	    matrix_in a, matrix_in b, const void *beta, struct gd_matrix *c, int type, \
	    int algorithm, struct gd_gemm *plan
GD_EXPORT int cusparseSpGEMM_createDescr(struct gd_gemm **out);
GD_EXPORT int cusparseSpGEMM_destroyDescr(struct gd_gemm *plan);
GD_EXPORT int cusparseSpGEMM_workEstimation(GD_ARGUMENTS, size_t *bytes_io, void *area);
GD_EXPORT int cusparseSpGEMM_compute(GD_ARGUMENTS, size_t *bytes_io, void *area);
GD_EXPORT int cusparseSpGEMM_copy(GD_ARGUMENTS);

int cusparseSpGEMM_createDescr(struct gd_gemm **out)
{
	if (!out)
		return GD_CUSPARSE_INVALID_VALUE;
	*out = calloc(1, sizeof(**out));
	return *out ? GD_CUSPARSE_SUCCESS : GD_CUSPARSE_ALLOC_FAILED;
}

static void forget(struct gd_gemm *plan)
{
	gd_pattern_free(&plan->a);
	gd_pattern_free(&plan->b);
	gd_pattern_free(&plan->c);
}

int cusparseSpGEMM_destroyDescr(struct gd_gemm *plan)
{
	if (plan)
		forget(plan);
	free(plan);
	return GD_CUSPARSE_SUCCESS;
}

/* As the real one, matrices as they are alone, in rows. */
static int check(GD_ARGUMENTS)
{
	struct gd_product product = {handle, operation_a, operation_b, a, b, c};
	int status = gd_product_check(&product);

	if (status == GD_CUSPARSE_SUCCESS && !plan)
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	if (operation_a || operation_b || a->format != GD_SPARSE_CSR ||
	    b->format != GD_SPARSE_CSR || c->format != GD_SPARSE_CSR)
		return gd_cusparse_told(
		    "cusparseSpGEMM of transposed or other than CSR matrices", GD_CUSPARSE_UNKNOWN);
	return GD_CUSPARSE_SUCCESS;
}
#define GD_CHECK \
	check(handle, operation_a, operation_b, alpha, a, b, beta, c, type, algorithm, plan)

/* The first call of a step has no area and is told how large it must be. */
static int area_check(size_t needed, size_t *bytes_io, const void *area)
{
	if (!bytes_io || (area && *bytes_io < needed))
		return GD_CUSPARSE_INVALID_VALUE;
	if (!area)
		*bytes_io = needed;
	return GD_CUSPARSE_SUCCESS;
}

int cusparseSpGEMM_workEstimation(GD_ARGUMENTS, size_t *bytes_io, void *area)
{
	int status = GD_CHECK;

	if (status == GD_CUSPARSE_SUCCESS)
		status = area_check((size_t)(a->rows + 1) * sizeof(int64_t), bytes_io, area);
	if (status != GD_CUSPARSE_SUCCESS || !area)
		return status;
	forget(plan);
	status = gd_cusparse_launch(handle, "gpushim_SpGEMM_workEstimation", a->rows);
	if (status == GD_CUSPARSE_SUCCESS)
		status = gd_pattern_read(handle, a, &plan->a);
	if (status == GD_CUSPARSE_SUCCESS)
		status = gd_pattern_read(handle, b, &plan->b);
	return gd_cusparse_told("cusparseSpGEMM of indices that nobody has computed", status);
}

static size_t product_bytes(const struct gd_gemm *plan, matrix_in c)
{
	int64_t products = gd_pattern_products(&plan->a, &plan->b);

	return (size_t)(products + 1) * (c->index_bytes + c->value_bytes);
}

int cusparseSpGEMM_compute(GD_ARGUMENTS, size_t *bytes_io, void *area)
{
	int status = GD_CHECK;

	if (status == GD_CUSPARSE_SUCCESS && (!plan->a.offsets || !plan->b.offsets))
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status == GD_CUSPARSE_SUCCESS && gd_pattern_products(&plan->a, &plan->b) == INT64_MAX)
		return gd_cusparse_told(
		    "cusparseSpGEMM of that many nonzeros", GD_CUSPARSE_UNKNOWN);
	if (status == GD_CUSPARSE_SUCCESS)
		status = area_check(product_bytes(plan, c), bytes_io, area);
	if (status != GD_CUSPARSE_SUCCESS || !area)
		return status;
	gd_pattern_free(&plan->c);
	status = gd_pattern_multiply(&plan->a, &plan->b, &plan->c);
	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	c->nonzeros = gd_pattern_nonzeros(&plan->c);
	return gd_cusparse_launch(handle, "gpushim_SpGEMM_compute", c->nonzeros);
}

int cusparseSpGEMM_copy(GD_ARGUMENTS)
{
	int status = GD_CHECK;

	if (status == GD_CUSPARSE_SUCCESS &&
	    (!plan->c.offsets || !c->offsets || (c->nonzeros && !c->indices)))
		status = GD_CUSPARSE_INVALID_VALUE;
	if (status != GD_CUSPARSE_SUCCESS)
		return status;
	gd_pattern_store_offsets(&plan->c, c->offset_bytes, c->base, c->offsets);
	gd_pattern_store_indices(&plan->c, c->index_bytes, c->base, c->indices);
	return gd_cusparse_launch(handle, "gpushim_SpGEMM_copy", c->nonzeros);
}
