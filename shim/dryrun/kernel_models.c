/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/kernel_models.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/address_space.h"
#include "shim/dryrun/device_memory.h"
#include "shim/dryrun/kernel_model_parts.h"
#include "shim/dryrun/known_memory.h"

#define FAMILY(name) gd_##name##_recognise, gd_##name##_plan, gd_##name##_run

static const struct gd_kernel_model models[] = {
    {{"29vectorized_elementwise_kernelI", "11FillFunctorI"}, "vi**$", FAMILY(fill)},
    {{"27unrolled_elementwise_kernelI", "11FillFunctorI"}, "vi******$", FAMILY(fill)},
    {{"29vectorized_elementwise_kernelI", ""}, "vi**$", FAMILY(elementwise)},
    {{"27unrolled_elementwise_kernelI", ""}, "vi******$", FAMILY(elementwise)},
    {{"18elementwise_kernelILi128E", "gpu_kernel_impl"}, "vi*$", FAMILY(strided)},
    {{"35_unfold_backward_elementwise_kernelI", ""}, "vi*$", FAMILY(strided)},
    {{"29elementwise_kernel_with_indexIi", "15arange_cuda_out"}, "v**PN15function_traitsI",
	FAMILY(sequence)},
    {{"13reduce_kernelI", "8ReduceOpI"}, "v*$", FAMILY(reduction)},
    {{"25multi_tensor_apply_kernelI", "TensorList"}, "v**Dp*$", FAMILY(list)},
    {{"24index_elementwise_kernelI", "17index_kernel_impl"}, "vi*$", FAMILY(index)},
    {{"24index_elementwise_kernelI", "17index_kernel_impl"}, "vl*$", FAMILY(index)},
    {{"24index_elementwise_kernelI", "21index_put_kernel_impl"}, "vi*$", FAMILY(index_put)},
    {{"24index_elementwise_kernelI", "21index_put_kernel_impl"}, "vl*$", FAMILY(index_put)},
    {{"24index_elementwise_kernelI", "22index_fill_kernel_impl"}, "vi*$", FAMILY(index_fill)},
    {{"24index_elementwise_kernelI", "22index_fill_kernel_impl"}, "vl*$", FAMILY(index_fill)},
    {{"24index_elementwise_kernelI", "22index_copy_kernel_impl"}, "vi*$", FAMILY(index_fill)},
    {{"24index_elementwise_kernelI", "22index_copy_kernel_impl"}, "vl*$", FAMILY(index_fill)},
    {{"17kernelHistogram1DI", ""}, "vN", FAMILY(first_tensor)},
    {{"19indexFuncLargeIndexI", ""}, "vN", FAMILY(index_add)},
    {{"19indexFuncSmallIndexI", ""}, "vN", FAMILY(index_add)},
    {{"16triu_tril_kernelI", ""}, "vN", FAMILY(triangle)},
    {{"28tensor_kernel_scan_outer_dimI", ""}, "vP", FAMILY(row_scan)},
    {{"32tensor_kernel_scan_innermost_dimI", ""}, "P", FAMILY(row_scan)},
    {{"33embedding_backward_feature_kernelI", ""}, "vP", FAMILY(embedding)},
    {{"SortKVInPlaceI", ""}, "vN", FAMILY(sort_in_place)},
    {{"43distribution_elementwise_grid_stride_kernelI", ""}, "v", FAMILY(random)},
    {{"34_scatter_gather_elementwise_kernelI", "internal_kernelILb1E"}, "vi*$", FAMILY(scatter)},
    {{"34_scatter_gather_elementwise_kernelI", "34_cuda_scatter_fill_internal_kernel"}, "vi*$",
	FAMILY(scatter)},
    {{"28DeviceReduceSingleTileKernelI", "9NonZeroOpI"}, "vT0_T1_T2_T3_T4_", FAMILY(count)},
    {{"18DeviceReduceKernelI", "9NonZeroOpI"}, "vT0_T1_T2_NS0_13GridEvenShareI", FAMILY(count)},
    {{"18DeviceReduceKernelI", "9NonZeroOpI"}, "vT0_PT3_T1_NS0_13GridEvenShareI", FAMILY(count)},
    {{"28DeviceReduceSingleTileKernelI", "00EPiS"}, "vT0_T1_T2_T3_T4_", FAMILY(sum)},
    {{"23DeviceSelectSweepKernelI", ""}, "vT0_T1_T2_T3_T4_T5_T6_T7_i", FAMILY(select)},
    {{"31DeviceRadixSortSingleTileKernelI", "21DeviceRadixSortPolicyI"}, "vPKT1_P*PKT2_P*T3_ii",
	FAMILY(sort)},
    {{"31DeviceRadixSortSingleTileKernelI", "radix10policy_hubI"}, "vPKT1_P*PKT2_P*T3_ii",
	FAMILY(sort)},
    {{"29DeviceRadixSortOnesweepKernelI", "21DeviceRadixSortPolicyI"}, "v", FAMILY(sort_pass)},
    {{"29DeviceRadixSortOnesweepKernelI", "radix10policy_hubI"}, "v", FAMILY(sort_pass)},
    {{"30DeviceRadixSortDownsweepKernelI", "21DeviceRadixSortPolicyI"}, "v", FAMILY(sort_pass)},
    {{"30DeviceRadixSortDownsweepKernelI", "radix10policy_hubI"}, "v", FAMILY(sort_pass)},
    {{"30DeviceSegmentedRadixSortKernelI", "21DeviceRadixSortPolicyI"}, "v", FAMILY(sort_pass)},
    {{"30DeviceSegmentedRadixSortKernelI", "radix10policy_hubI"}, "v", FAMILY(sort_pass)},
    {{"23sort_postprocess_kernelI", ""}, "vPKT_P*PlPK4int2ii$", FAMILY(sort_pass)},
    {{"16DeviceScanKernelI", "St4plusI"}, "vT0_T1_T2_iT3_T4_T5_$", FAMILY(scan)},
    {{"13write_indicesI", ""}, "vPlN", FAMILY(write_indices)},
    {{"28amp_update_scale_cuda_kernel", ""}, "EPfPiPKfddi$", FAMILY(scaler)},
    {{"28amp_update_scale_cuda_kernel", ""}, "EPfPi*ddi$", FAMILY(scaler)},
    {{"CatArrayBatchedCopy", "I"}, "vP*N", FAMILY(join)},
    {{"CatArrayBatchedCopy", "_vectorizedI"}, "vPcN", FAMILY(join)},
    {{"43convert_indices_from_coo_to_csr_cuda_kernelI", ""}, "vP*PK*ll$", FAMILY(compress)},
    {{"gpushim_coo2csr", ""}, "r$", FAMILY(compress)},
    {{"gpushim_gemm_", ""}, "g", FAMILY(product)},
};

/* Template parameter or substitution: T_, T0_, S_, S1A_.  NULL when it is none. */
static const char *behind_token(const char *at)
{
	if (*at != 'T' && *at != 'S')
		return NULL;
	at += 1 + strspn(at + 1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ");
	return *at == '_' ? at + 1 : NULL;
}

/* In a signature `*` stands for such a token, `$` for the end; the rest stands for itself. */
static bool signature_at(const char *at, const char *signature)
{
	for (; *signature && *signature != '$' && at; signature++) {
		if (*signature == '*')
			at = behind_token(at);
		else
			at = *at == *signature ? at + 1 : NULL;
	}
	return at && (!*signature || !*at);
}

/* The types of a kernel's arguments follow its name and what it is made of. */
static bool has_signature(const char *name, const char *signature)
{
	const char *at = strchr(name, signature[0]);
	while (at && !signature_at(at, signature))
		at = strchr(at + 1, signature[0]);
	return at != NULL;
}

void gd_model_find(const char *name, struct gd_model_match *match_out)
{
	for (size_t i = 0; i < sizeof(models) / sizeof(models[0]); i++) {
		const char *first = strstr(name, models[i].parts[0]);
		const char *second =
		    first ? strstr(first + strlen(models[i].parts[0]), models[i].parts[1]) : NULL;
		memset(match_out, 0, sizeof(*match_out));
		if (second && has_signature(name, models[i].signature) &&
		    models[i].recognise(name, second + strlen(models[i].parts[1]), match_out)) {
			match_out->model = &models[i];
			return;
		}
	}
	memset(match_out, 0, sizeof(*match_out));
}

size_t gd_model_prepare(const struct gd_model_match *match, uint16_t author,
    const struct gd_model_launch *launch, struct gd_model_job *job_out)
{
	size_t bytes = match->model->plan(match, launch, job_out->plan);
	job_out->match = match;
	job_out->author = author;
	return bytes ? offsetof(struct gd_model_job, plan) + bytes : 0;
}

void gd_model_run(const void *argument)
{
	const struct gd_model_job *job = argument;
	job->match->model->run(job->plan, job->author);
}

bool gd_model_memory(uint64_t address, uint64_t bytes)
{
	return gd_space_holds(address) && gd_memory_range(address, bytes);
}

void gd_model_forget(uint64_t address, uint64_t bytes, uint16_t author)
{
	gd_space_clear(address, bytes);
	gd_space_set_author(address, bytes, author);
}

uint16_t gd_model_blame(uint64_t address, uint16_t author)
{
	uint16_t before = gd_space_author(address);
	return before != GD_NO_AUTHOR ? before : author;
}

/* St5arrayIPcLm3EE, and N2at6detail5ArrayIPcLi3EE before 2.1. */
unsigned gd_model_pointers(const char *name)
{
	const char *at = strstr(name, "rrayIPcL");
	return at ? (unsigned)strtoul(at + 9, NULL, 10) : 0;
}
