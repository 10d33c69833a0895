/* SPDX-License-Identifier: Apache-2.0 */
#include "matmul_work.h"

#include <stdio.h>

#define GD_TILE 128 /* side of the tile of D that one block computes */
#define GD_COMPUTE_FAST_TF32 77
#define GD_COMPUTE_FAST_16F 74
#define GD_COMPUTE_FAST_16BF 75

/* X(number of cudaDataType, name, rate, tensor cores, multiplications per product,
 * bytes) */
#define GD_DATA_TYPES(X) \
	X(0, "f32", GD_RATE_F32, false, 1, 4) \
	X(1, "f64", GD_RATE_F64, true, 1, 8) \
	X(2, "f16", GD_RATE_F16, true, 1, 2) \
	X(3, "s8", GD_RATE_F8, true, 1, 1) \
	X(4, "c32", GD_RATE_F32, false, 4, 8) \
	X(5, "c64", GD_RATE_F64, true, 4, 16) \
	X(8, "u8", GD_RATE_F8, true, 1, 1) \
	X(10, "s32", GD_RATE_F8, true, 1, 4) \
	X(14, "bf16", GD_RATE_F16, true, 1, 2) \
	X(28, "e4m3", GD_RATE_F8, true, 1, 1) \
	X(29, "e5m2", GD_RATE_F8, true, 1, 1) \
	X(33, "e2m1", GD_RATE_F8, true, 1, 1)

struct type {
	int number;
	const char *name;
	enum gd_rate rate;
	bool tensor;
	unsigned products, bytes;
};

static const struct type *type_of(int number)
{
#define GD_TYPE(...) {__VA_ARGS__},
	static const struct type types[] = {GD_DATA_TYPES(GD_TYPE)};
#undef GD_TYPE
	static const struct type unknown = {-1, "other", GD_RATE_F32, false, 1, 1};

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++) {
		if (types[i].number == number)
			return &types[i];
	}
	return &unknown;
}

static bool allows_tf32(const struct gd_matmul *product)
{
	return product->compute == GD_COMPUTE_FAST_TF32 ||
	       product->compute == GD_COMPUTE_FAST_16F ||
	       product->compute == GD_COMPUTE_FAST_16BF ||
	       (product->compute <= 68 && product->tf32);
}

static uint64_t tiles(uint64_t side)
{
	return (side + GD_TILE - 1) / GD_TILE;
}

/* From the first element to behind the last, gaps included; 0 when it makes no sense. */
static uint64_t result_bytes(const struct gd_matmul *product)
{
	const uint64_t most = UINT64_C(1) << 48;
	uint64_t leading = (uint64_t)product->leading, stride = (uint64_t)product->stride, elements;

	if (product->leading < 0 || product->stride < 0 || product->m > most ||
	    __builtin_mul_overflow(product->n - 1, leading, &elements) || elements > most ||
	    __builtin_mul_overflow(product->batch - 1, stride, &stride) || stride > most)
		return 0;
	return (stride + elements + product->m) * type_of(product->result_type)->bytes;
}

CUresult gd_matmul_launch(const struct gd_matmul *product, CUstream stream)
{
	const struct type *a = type_of(product->type);
	uint64_t m = product->m, n = product->n, k = product->k, batch = product->batch;
	bool tf32 = a->rate == GD_RATE_F32 && allows_tf32(product);
	struct gd_work work = {.written = product->result};
	char name[64];

	if (m == 0 || n == 0 || batch == 0)
		return CUDA_SUCCESS;
	snprintf(name, sizeof(name), "gpushim_gemm_%s_%s_%c%c",
	    a->tensor || tf32 ? "tensorop" : "simt", tf32 ? "tf32" : a->name,
	    product->transpose_a ? 't' : 'n', product->transpose_b ? 't' : 'n');
	work.name = name;
	work.threads = tiles(m) * tiles(n) * batch * 256;
	work.flops = 2 * m * n * k * batch * a->products;
	work.rate = tf32 ? GD_RATE_TF32 : a->rate;
	if (product->result)
		work.written_bytes = result_bytes(product);
	return gd_kernel_launch(&work, stream);
}
