/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/occupancy.h"

#include "shim/dryrun/contexts.h"
#include "shim/dryrun/device_table.h"

#define WARP 32

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

static int reserved_shared(void)
{
	return gd_device_attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 0);
}

/* Registers are given to warps in units of 256. */
static int by_registers(const struct gd_function *function, int warps)
{
	int per_warp = (function->facts.registers * WARP + 255) / 256 * 256;
	return per_warp ? gd_facts.registers_per_sm / per_warp / warps : gd_facts.blocks_per_sm;
}

int gd_occupancy_blocks(const struct gd_function *function, int threads, size_t shared_bytes)
{
	if (threads <= 0 || threads > function->facts.max_threads ||
	    shared_bytes > (size_t)function->max_dynamic_shared_bytes)
		return 0;
	int warps = (threads + WARP - 1) / WARP;
	int blocks = smaller(gd_facts.blocks_per_sm, gd_facts.threads_per_sm / (warps * WARP));
	int shared = (int)shared_bytes + function->facts.static_shared_bytes + reserved_shared();
	if (shared)
		blocks = smaller(blocks, gd_facts.shared_per_sm / shared);
	return smaller(blocks, by_registers(function, warps));
}

static CUresult active_blocks(int *blocks_out, CUfunction handle, int threads, size_t shared_bytes)
{
	const struct gd_function *function = gd_function_get(handle);
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!blocks_out || threads <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	*blocks_out = gd_occupancy_blocks(function, threads, shared_bytes);
	return CUDA_SUCCESS;
}

GD_API(cuOccupancyMaxActiveBlocksPerMultiprocessor,
    (int *blocks_out, CUfunction function, int threads, size_t shared_bytes),
    (blocks_out, function, threads, shared_bytes))
{
	return active_blocks(blocks_out, function, threads, shared_bytes);
}

GD_API(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
    (int *blocks_out, CUfunction function, int threads, size_t shared_bytes, unsigned int flags),
    (blocks_out, function, threads, shared_bytes, flags))
{
	return active_blocks(blocks_out, function, threads, shared_bytes);
}

/* The block size with the most resident threads; of equal ones the largest. */
static CUresult potential(int *grid_out, int *block_out, CUfunction handle,
    CUoccupancyB2DSize shared_of, size_t shared_bytes, int limit)
{
	const struct gd_function *function = gd_function_get(handle);
	int best_threads = 0, best_block = 0, best_blocks = 0;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!grid_out || !block_out)
		return CUDA_ERROR_INVALID_VALUE;
	int most = function->facts.max_threads;
	if (limit > 0 && limit < most)
		most = limit;
	for (int threads = (most + WARP - 1) / WARP * WARP; threads > 0; threads -= WARP) {
		int size = smaller(threads, most);
		int blocks =
		    gd_occupancy_blocks(function, size, shared_of ? shared_of(size) : shared_bytes);
		if (blocks * size <= best_threads)
			continue;
		best_threads = blocks * size;
		best_block = size;
		best_blocks = blocks;
	}
	*block_out = best_block;
	*grid_out = best_blocks * (int)gd_facts.sm_count;
	return CUDA_SUCCESS;
}

GD_API(cuOccupancyMaxPotentialBlockSize,
    (int *grid_out, int *block_out, CUfunction function, CUoccupancyB2DSize shared_of,
	size_t shared_bytes, int limit),
    (grid_out, block_out, function, shared_of, shared_bytes, limit))
{
	return potential(grid_out, block_out, function, shared_of, shared_bytes, limit);
}

GD_API(cuOccupancyMaxPotentialBlockSizeWithFlags,
    (int *grid_out, int *block_out, CUfunction function, CUoccupancyB2DSize shared_of,
	size_t shared_bytes, int limit, unsigned int flags),
    (grid_out, block_out, function, shared_of, shared_bytes, limit, flags))
{
	return potential(grid_out, block_out, function, shared_of, shared_bytes, limit);
}

GD_API(cuOccupancyAvailableDynamicSMemPerBlock,
    (size_t * bytes_out, CUfunction handle, int blocks, int threads),
    (bytes_out, handle, blocks, threads))
{
	const struct gd_function *function = gd_function_get(handle);
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!bytes_out || blocks <= 0 || threads <= 0 || threads > 1024)
		return CUDA_ERROR_INVALID_VALUE;
	int left = gd_facts.shared_per_sm / blocks - reserved_shared() -
		   function->facts.static_shared_bytes;
	int most = gd_facts.shared_per_block_optin - function->facts.static_shared_bytes;
	left = smaller(left, most);
	*bytes_out = left > 0 ? (size_t)left : 0;
	return CUDA_SUCCESS;
}

/* Clusters live inside a group of multiprocessors; 8 blocks is the portable size. */
GD_API(cuOccupancyMaxPotentialClusterSize,
    (int *size_out, CUfunction handle, const CUlaunchConfig *config), (size_out, handle, config))
{
	const struct gd_function *function = gd_function_get(handle);
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!size_out || !config)
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_facts.major < 9)
		return CUDA_ERROR_NOT_SUPPORTED;
	*size_out = function->non_portable_cluster ? 16 : 8;
	return CUDA_SUCCESS;
}

GD_API(cuOccupancyMaxActiveClusters,
    (int *clusters_out, CUfunction handle, const CUlaunchConfig *config),
    (clusters_out, handle, config))
{
	const struct gd_function *function = gd_function_get(handle);
	unsigned blocks = 1;
	if (!function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!clusters_out || !config || (config->numAttrs && !config->attrs))
		return CUDA_ERROR_INVALID_VALUE;
	if (gd_facts.major < 9)
		return CUDA_ERROR_NOT_SUPPORTED;
	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttributeValue *value = &config->attrs[i].value;
		if (config->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			blocks = value->clusterDim.x * value->clusterDim.y * value->clusterDim.z;
	}
	if (!blocks || blocks > 16)
		return CUDA_ERROR_INVALID_CLUSTER_SIZE;
	int threads = (int)(config->blockDimX * config->blockDimY * config->blockDimZ);
	int resident = gd_occupancy_blocks(function, threads, config->sharedMemBytes);
	*clusters_out = resident * (int)gd_facts.sm_count / (int)blocks;
	return CUDA_SUCCESS;
}
