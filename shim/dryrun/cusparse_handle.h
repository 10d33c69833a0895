/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside of the stand-in cuSPARSE.
 *
 * Descriptors keep what the program said about its matrices.  Their elements lie in device memory;
 * only indices are ever looked at (cusparse_pattern.h).  Sizes, formats and values that the real
 * library refuses are refused here.
 */
#ifndef GD_CUSPARSE_HANDLE_H
#define GD_CUSPARSE_HANDLE_H

#include <cuda.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gd_export.h"
#include "unprovided.h"

enum {
	GD_CUSPARSE_SUCCESS = 0,
	GD_CUSPARSE_NOT_INITIALIZED = 1,
	GD_CUSPARSE_ALLOC_FAILED = 2,
	GD_CUSPARSE_INVALID_VALUE = 3,
	GD_CUSPARSE_EXECUTION_FAILED = 6,
	GD_CUSPARSE_UNKNOWN = GD_REFUSAL_cusparse, /* "not supported": it depends on what nobody has computed */
};

enum gd_sparse_format { GD_SPARSE_CSR = 1, GD_SPARSE_COO = 3 };

struct gd_cusparse {
	CUstream stream;
	int pointer_mode;	 /* of scalars and counts: 0 host, 1 device */
	struct gd_sum *last_sum; /* of cusparse_sum.c; owned */
};

/* A sparse or a dense matrix, or a vector as a matrix of one column; sizes of one of its batch. */
struct gd_matrix {
	int64_t rows, columns;
	enum gd_sparse_format format; /* 0: dense */
	unsigned value_bytes;
	int64_t batch;
	/* Of a sparse one; the arrays lie in device memory. */
	int64_t nonzeros;
	unsigned offset_bytes, index_bytes;
	int base; /* 0 or 1: what indices count from */
	const void *offsets, *indices;
};

/* The descriptor of the older functions (cusparse_descriptor.c). */
struct gd_older;

/** @return 0 or 1: what the indices of its matrix count from */
int gd_older_base(const struct gd_older *descriptor);

/* A product or solution: op(A) x op(B) = C.  Operations: 0 as it is, 1 transposed, 2 conjugate too.
 */
struct gd_product {
	const struct gd_cusparse *handle;
	int operation_a, operation_b;
	const struct gd_matrix *a, *b, *c;
};

/**
 * Whether the arguments of a product fit together.
 *
 * @return 0; NOT_INITIALIZED without a handle; INVALID_VALUE for missing matrices, unknown
 * operations and sizes that do not match
 *
 * Threads: any.
 */
int gd_product_check(const struct gd_product *product);

/**
 * Tell of a refusal that is due to indices which nobody has computed, and let others pass.
 *
 * @param what    the function and what it lacks, for the end of the run
 * @param status  returned as it is
 *
 * Threads: any.
 */
int gd_cusparse_told(const char *what, int status);

/** Write device memory at once (gpushim_dryrun_store). @param to  device address.  Threads: any. */
void gd_cusparse_store(const void *to, const void *from, size_t bytes);

/** Forget the sum that a handle remembers. */
void gd_cusparse_forget_sum(struct gd_cusparse *handle);

/**
 * Launch one kernel on the handle's stream.
 *
 * @param name     of the kernel
 * @param threads  results to compute
 * @return 0; NOT_INITIALIZED without a handle; EXECUTION_FAILED when the driver refuses
 *
 * Threads: any.
 */
int gd_cusparse_launch(const struct gd_cusparse *handle, const char *name, int64_t threads);

/** The same for a kernel that is executed. @param arguments  as for cuLaunchKernel */
int gd_cusparse_launch_with(
    const struct gd_cusparse *handle, const char *name, int64_t threads, void **arguments);

#endif
