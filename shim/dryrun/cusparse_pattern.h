/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the nonzeros of sparse matrices lie: what has to be known for the size of a result.
 *
 * How many nonzeros a product or a sum has depends on the indices of its operands.  They are read
 * from device memory where they are known, and the pattern of the result is computed from them;
 * where they are not, the answer is GD_CUSPARSE_UNKNOWN and nothing is guessed.
 */
#ifndef GD_CUSPARSE_PATTERN_H
#define GD_CUSPARSE_PATTERN_H

#include "cusparse_handle.h"

/* Rows of a CSR matrix; both arrays count from 0 and belong to the pattern. */
struct gd_pattern {
	int64_t rows, columns;
	int64_t *offsets; /* rows + 1; NULL in an empty struct */
	int64_t *indices; /* of columns, sorted by row; NULL when they are too many to keep */
};

/**
 * Wait for the handle's stream and read a matrix of CSR format.
 *
 * @param matrix       borrowed; its arrays lie in device memory
 * @param pattern_out  set only on success; gd_pattern_free it
 * @return 0; UNKNOWN when the indices were not computed, are none of such a matrix, or too many;
 *         EXECUTION_FAILED when the stream cannot be waited for; ALLOC_FAILED
 *
 * Threads: any.
 */
int gd_pattern_read(const struct gd_cusparse *handle, const struct gd_matrix *matrix,
    struct gd_pattern *pattern_out);

/**
 * Compute the pattern of A x B, or that of A + B.
 *
 * @param out  set only on success; gd_pattern_free it
 * @return 0; UNKNOWN when there are more products than can be computed; ALLOC_FAILED
 *
 * Threads: any.  Cost: O(products log n), O(nonzeros log n) for rows of n nonzeros.
 */
int gd_pattern_multiply(
    const struct gd_pattern *a, const struct gd_pattern *b, struct gd_pattern *out);
int gd_pattern_add(const struct gd_pattern *a, const struct gd_pattern *b, struct gd_pattern *out);

/**
 * Write the row offsets, or the column indices, of a result to device memory, where they fit into
 * what is kept (else they read as zeros).
 *
 * @param bytes  size of an index there, 4 or 8
 * @param base   0 or 1: what indices count from
 * @param to     device address
 *
 * Threads: any.
 */
void gd_pattern_store_offsets(
    const struct gd_pattern *pattern, unsigned bytes, int base, const void *to);
void gd_pattern_store_indices(
    const struct gd_pattern *pattern, unsigned bytes, int base, const void *to);

/** @return products of two elements that A x B adds up; more than can be computed: INT64_MAX */
int64_t gd_pattern_products(const struct gd_pattern *a, const struct gd_pattern *b);

/** @return number of nonzeros; 0 of an empty struct */
int64_t gd_pattern_nonzeros(const struct gd_pattern *pattern);

void gd_pattern_free(struct gd_pattern *pattern);

#endif
