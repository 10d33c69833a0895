/* SPDX-License-Identifier: Apache-2.0 */
#include "cusparse_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "driver_door.h"

#define GD_PRODUCTS_MOST (INT64_C(1) << 26) /* a second or so */
#define GD_COLUMNS_MOST (INT64_C(1) << 26)  /* 8 bytes each while a pattern is made */
#define GD_KEPT_MOST (INT64_C(1) << 20)	    /* indices of a result that are written */

/* A result row by row. */
struct build {
	struct gd_pattern *out;
	int64_t *seen; /* by column: last row + 1 that has it */
	int64_t *row;  /* columns of the current row */
	int64_t length;
};

void gd_pattern_free(struct gd_pattern *pattern)
{
	free(pattern->offsets);
	free(pattern->indices);
	memset(pattern, 0, sizeof(*pattern));
}

int64_t gd_pattern_nonzeros(const struct gd_pattern *pattern)
{
	return pattern->offsets ? pattern->offsets[pattern->rows] : 0;
}

static bool load(void *to, const void *from, size_t bytes)
{
	int (*read)(void *, unsigned long long, size_t);

	*(void **)&read = gd_driver_extra("gpushim_dryrun_load");
	return read && read(to, (unsigned long long)(uintptr_t)from, bytes);
}

static int64_t *allocate(int64_t count)
{
	return count < INT64_MAX / 16 ? malloc(((size_t)count + 1) * sizeof(int64_t)) : NULL;
}

/* Indices from device memory, counting from 0 afterwards. */
static int read_indices(
    const void *from, int64_t count, unsigned bytes, int base, int64_t **indices_out)
{
	int64_t *indices = allocate(count);

	if (!indices)
		return GD_CUSPARSE_ALLOC_FAILED;
	if (count && !load(indices, from, (size_t)count * bytes)) {
		free(indices);
		return GD_CUSPARSE_UNKNOWN;
	}
	for (int64_t i = count - 1; i >= 0; i--) { /* they widen in place */
		int32_t narrow;

		memcpy(&narrow, (char *)indices + i * 4, sizeof(narrow));
		indices[i] = (bytes == 4 ? narrow : indices[i]) - base;
	}
	*indices_out = indices;
	return GD_CUSPARSE_SUCCESS;
}

static bool offsets_fit(const int64_t *offsets, int64_t rows, int64_t nonzeros)
{
	for (int64_t row = 0; row < rows; row++) {
		if (offsets[row] > offsets[row + 1])
			return false;
	}
	return offsets[0] == 0 && offsets[rows] == nonzeros;
}

/* Every column exists, and no row has one twice. */
static int indices_check(const struct gd_pattern *pattern)
{
	int64_t *seen = calloc((size_t)pattern->columns + 1, sizeof(*seen));
	bool fit = true;

	if (!seen)
		return GD_CUSPARSE_ALLOC_FAILED;
	for (int64_t row = 0; row < pattern->rows; row++) {
		for (int64_t i = pattern->offsets[row]; i < pattern->offsets[row + 1] && fit; i++) {
			int64_t column = pattern->indices[i];

			fit = column >= 0 && column < pattern->columns && seen[column] != row + 1;
			if (fit)
				seen[column] = row + 1;
		}
	}
	free(seen);
	return fit ? GD_CUSPARSE_SUCCESS : GD_CUSPARSE_UNKNOWN;
}

static int read_arrays(const struct gd_matrix *matrix, struct gd_pattern *pattern)
{
	int status = read_indices(matrix->offsets, matrix->rows + 1, matrix->offset_bytes,
	    matrix->base, &pattern->offsets);

	if (status == GD_CUSPARSE_SUCCESS &&
	    !offsets_fit(pattern->offsets, matrix->rows, matrix->nonzeros))
		status = GD_CUSPARSE_UNKNOWN;
	if (status == GD_CUSPARSE_SUCCESS)
		status = read_indices(matrix->indices, matrix->nonzeros, matrix->index_bytes,
		    matrix->base, &pattern->indices);
	return status == GD_CUSPARSE_SUCCESS ? indices_check(pattern) : status;
}

int gd_pattern_read(const struct gd_cusparse *handle, const struct gd_matrix *matrix,
    struct gd_pattern *pattern_out)
{
	struct gd_pattern pattern = {.rows = matrix->rows, .columns = matrix->columns};
	CUresult (*wait)(CUstream);
	int status;

	if (matrix->columns > GD_COLUMNS_MOST)
		return GD_CUSPARSE_UNKNOWN;
	*(void **)&wait = gd_driver_function("cuStreamSynchronize", 2000, 0);
	if (!wait || wait(handle->stream) != CUDA_SUCCESS)
		return GD_CUSPARSE_EXECUTION_FAILED;
	status = read_arrays(matrix, &pattern);
	if (status == GD_CUSPARSE_SUCCESS)
		*pattern_out = pattern;
	else
		gd_pattern_free(&pattern);
	return status;
}

static void add_row(struct build *build, const struct gd_pattern *from, int64_t row, int64_t mark)
{
	for (int64_t i = from->offsets[row]; i < from->offsets[row + 1]; i++) {
		int64_t column = from->indices[i];

		if (build->seen[column] == mark)
			continue;
		build->seen[column] = mark;
		build->row[build->length++] = column;
	}
}

static int by_number(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Keep the indices of the result as long as there are few. */
static void end_row(struct build *build, int64_t row)
{
	struct gd_pattern *out = build->out;
	int64_t before = out->offsets[row], after = before + build->length;

	out->offsets[row + 1] = after;
	if (out->indices && after > GD_KEPT_MOST) {
		free(out->indices);
		out->indices = NULL;
	}
	if (out->indices) {
		qsort(build->row, (size_t)build->length, sizeof(*build->row), by_number);
		memcpy(
		    out->indices + before, build->row, (size_t)build->length * sizeof(*build->row));
	}
	build->length = 0;
}

/* most: nonzeros that the result may have. */
static bool begin(struct build *build, int64_t rows, int64_t columns, int64_t most)
{
	struct gd_pattern *out = build->out;

	build->seen = calloc((size_t)columns + 1, sizeof(*build->seen));
	build->row = allocate(columns);
	out->rows = rows;
	out->columns = columns;
	out->offsets = allocate(rows + 1);
	out->indices = allocate(most < GD_KEPT_MOST ? most : GD_KEPT_MOST);
	if (out->offsets)
		out->offsets[0] = 0;
	return build->seen && build->row && out->offsets && out->indices;
}

static int end(struct build *build, bool whole, struct gd_pattern *out)
{
	free(build->seen);
	free(build->row);
	if (!whole) {
		gd_pattern_free(build->out);
		return GD_CUSPARSE_ALLOC_FAILED;
	}
	*out = *build->out;
	return GD_CUSPARSE_SUCCESS;
}

int64_t gd_pattern_products(const struct gd_pattern *a, const struct gd_pattern *b)
{
	int64_t sum = 0, count = gd_pattern_nonzeros(a);

	for (int64_t i = 0; i < count && sum <= GD_PRODUCTS_MOST; i++) {
		int64_t row = a->indices[i];

		sum += b->offsets[row + 1] - b->offsets[row];
	}
	return sum <= GD_PRODUCTS_MOST ? sum : INT64_MAX;
}

int gd_pattern_multiply(
    const struct gd_pattern *a, const struct gd_pattern *b, struct gd_pattern *out)
{
	struct gd_pattern result = {0};
	struct build build = {.out = &result};
	int64_t products = gd_pattern_products(a, b);
	bool whole;

	if (products > GD_PRODUCTS_MOST)
		return GD_CUSPARSE_UNKNOWN;
	whole = begin(&build, a->rows, b->columns, products);
	for (int64_t row = 0; whole && row < a->rows; row++) {
		for (int64_t i = a->offsets[row]; i < a->offsets[row + 1]; i++)
			add_row(&build, b, a->indices[i], row + 1);
		end_row(&build, row);
	}
	return end(&build, whole, out);
}

int gd_pattern_add(const struct gd_pattern *a, const struct gd_pattern *b, struct gd_pattern *out)
{
	struct gd_pattern result = {0};
	struct build build = {.out = &result};
	bool whole =
	    begin(&build, a->rows, a->columns, gd_pattern_nonzeros(a) + gd_pattern_nonzeros(b));

	for (int64_t row = 0; whole && row < a->rows; row++) {
		add_row(&build, a, row, row + 1);
		add_row(&build, b, row, row + 1);
		end_row(&build, row);
	}
	return end(&build, whole, out);
}

static void store_indices(
    const int64_t *indices, int64_t count, unsigned bytes, int base, const void *to)
{
	char *room = malloc((size_t)count * bytes + 1);

	for (int64_t i = 0; room && i < count; i++) {
		int64_t wide = indices[i] + base; /* little-endian, as the device */

		memcpy(room + i * bytes, &wide, bytes);
	}
	if (room && count)
		gd_cusparse_store(to, room, (size_t)count * bytes);
	free(room);
}

void gd_pattern_store_offsets(
    const struct gd_pattern *pattern, unsigned bytes, int base, const void *to)
{
	store_indices(pattern->offsets, pattern->rows + 1, bytes, base, to);
}

void gd_pattern_store_indices(
    const struct gd_pattern *pattern, unsigned bytes, int base, const void *to)
{
	if (pattern->indices)
		store_indices(pattern->indices, gd_pattern_nonzeros(pattern), bytes, base, to);
}
