/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the driver: modules, libraries, functions and their attributes, launches, occupancy. */
#include "tests/dryrun/driver_test.h"

static CUmodule load(void)
{
	CUmodule module;
	OK(cuModuleLoadData(&module, kernels_ptx));
	return module;
}

static int attribute(CUdevice_attribute which)
{
	CUdevice device;
	int value;
	OK(cuCtxGetDevice(&device));
	OK(cuDeviceGetAttribute(&value, which, device));
	return value;
}

static int function_fact(CUfunction function, CUfunction_attribute which)
{
	int value;
	OK(cuFuncGetAttribute(&value, which, function));
	return value;
}

RULE(module_files, "cuModuleLoad: a file that is not there is CUDA_ERROR_FILE_NOT_FOUND")
{
	CUmodule module;
	use_device();
	EXPECT_EQ(cuModuleLoad(&module, "/nowhere/kernels.cubin"), CUDA_ERROR_FILE_NOT_FOUND);
	EXPECT_EQ(cuModuleLoad(&module, NULL), CUDA_ERROR_INVALID_VALUE);
}

RULE(module_images, "cuModuleLoadData: no image and no text of PTX is refused")
{
	CUmodule module;
	use_device();
	EXPECT_EQ(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuModuleLoadData(NULL, kernels_ptx), CUDA_ERROR_INVALID_VALUE);
	CUresult result = cuModuleLoadData(&module, "neither code nor text");
	EXPECT(result == CUDA_ERROR_INVALID_IMAGE || result == CUDA_ERROR_INVALID_PTX);
}

RULE(
    module_names, "cuModuleGetFunction, cuModuleGetGlobal: an unknown name is CUDA_ERROR_NOT_FOUND")
{
	CUfunction function;
	CUdeviceptr variable;
	size_t bytes;
	use_device();
	CUmodule module = load();
	OK(cuModuleGetFunction(&function, module, "other"));
	EXPECT_EQ(cuModuleGetFunction(&function, module, "another"), CUDA_ERROR_NOT_FOUND);
	EXPECT_EQ(cuModuleGetGlobal_v2(&variable, &bytes, module, "nothing"), CUDA_ERROR_NOT_FOUND);
	EXPECT_EQ(cuModuleGetFunction(&function, module, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuModuleGetFunction(NULL, module, "other"), CUDA_ERROR_INVALID_VALUE);
	OK(cuModuleUnload(module));
}

RULE(function_module, "cuFuncGetModule: the module that the function was got from")
{
	CUfunction function;
	CUmodule owner;
	use_device();
	CUmodule first = load(), second = load();
	OK(cuModuleGetFunction(&function, second, "nothing"));
	OK(cuFuncGetModule(&owner, function));
	EXPECT(owner == second && first != second);
}

RULE(libraries, "cuLibraryGetKernel: kernels by name, for any context; unknown ones are not found")
{
	CUlibrary library;
	CUkernel kernel;
	CUfunction function, again;
	use_device();
	OK(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
	EXPECT_EQ(cuLibraryGetKernel(&kernel, library, "another"), CUDA_ERROR_NOT_FOUND);
	OK(cuLibraryGetKernel(&kernel, library, "other"));
	OK(cuKernelGetFunction(&function, kernel));
	OK(cuKernelGetFunction(&again, kernel));
	EXPECT(function == again);
	OK(launch((CUfunction)kernel, NULL)); /* a kernel may stand for its function */
	OK(launch(function, NULL));
	OK(cuCtxSynchronize());
	OK(cuLibraryUnload(library));
}

RULE(function_limits, "cuFuncGetAttribute: what the device allows the kernel")
{
	use_device();
	CUfunction function = load_kernel("nothing");
	int threads = function_fact(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
	EXPECT(threads > 0 && threads <= attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
	EXPECT_EQ(function_fact(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES), 0);
	EXPECT(function_fact(function, CU_FUNC_ATTRIBUTE_NUM_REGS) >= 0);
	EXPECT_EQ(cuFuncGetAttribute(NULL, CU_FUNC_ATTRIBUTE_NUM_REGS, function),
	    CUDA_ERROR_INVALID_VALUE);
	int value;
	EXPECT_EQ(cuFuncGetAttribute(&value, (CUfunction_attribute)1000, function),
	    CUDA_ERROR_INVALID_VALUE);
}

RULE(shared_memory_opt_in,
    "a launch with more dynamic shared memory than 48 KiB has to be allowed by the function first")
{
	use_device();
	CUfunction function = load_kernel("nothing");
	int most = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
	unsigned more = 48 * 1024 + 1024;
	if (most <= (int)more)
		exit(77);
	EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, more, NULL, NULL, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(
	    cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, most + 1),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuFuncSetAttribute(
	    function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)more));
	EXPECT_EQ(
	    function_fact(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES), (int)more);
	OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, more, NULL, NULL, NULL));
	OK(cuCtxSynchronize());
}

RULE(read_only_attributes, "cuFuncSetAttribute: facts of the code cannot be set")
{
	use_device();
	CUfunction function = load_kernel("nothing");
	EXPECT_EQ(
	    cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 8), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 8),
	    CUDA_ERROR_INVALID_VALUE);
}

static CUresult launch_dims(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned block)
{
	return cuLaunchKernel(function, grid_x, grid_y, 1, block, 1, 1, 0, NULL, NULL, NULL);
}

RULE(launch_dimensions, "cuLaunchKernel: grid and block have to be within the device's limits")
{
	use_device();
	CUfunction function = load_kernel("nothing");
	EXPECT_EQ(launch_dims(function, 0, 1, 32), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(launch_dims(function, 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(launch_dims(function, 1, 65536, 32), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(launch_dims(function, 1, 1, 2048), CUDA_ERROR_INVALID_VALUE);
	OK(launch_dims(function, 1, 65535, 32));
	OK(launch_dims(function, 1, 1, 1024));
	OK(cuCtxSynchronize());
}

RULE(launch_arguments, "cuLaunchKernel: arguments come in one of two ways, not in both")
{
	use_device();
	CUfunction function = load_kernel("other");
	uint64_t value = 7;
	size_t bytes = sizeof(value);
	void *parameters[] = {&value};
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &value, CU_LAUNCH_PARAM_BUFFER_SIZE,
	    &bytes, CU_LAUNCH_PARAM_END};
	OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, NULL));
	OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, extra));
	EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, parameters, extra),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxSynchronize());
}

RULE(cooperative_size, "a cooperative launch of more blocks than are resident is refused")
{
	int blocks;
	use_device();
	CUfunction function = load_kernel("nothing");
	if (!attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH))
		exit(77);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
	unsigned most =
	    (unsigned)blocks * (unsigned)attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
	OK(cuLaunchCooperativeKernel(function, most, 1, 1, 1024, 1, 1, 0, NULL, NULL));
	EXPECT_EQ(cuLaunchCooperativeKernel(function, most + 1, 1, 1, 1024, 1, 1, 0, NULL, NULL),
	    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	OK(cuCtxSynchronize());
}

RULE(occupancy, "cuOccupancyMaxActiveBlocksPerMultiprocessor: what threads and shared memory allow")
{
	int blocks, fewer;
	use_device();
	CUfunction function = load_kernel("nothing");
	int threads = attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 1024, 0));
	EXPECT_EQ(blocks, threads / 1024);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 32, 0));
	EXPECT_EQ(blocks, attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR));
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&fewer, function, 32, 40 * 1024));
	EXPECT(fewer > 0 && fewer < blocks);
	EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, 0, 0),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuOccupancyMaxActiveBlocksPerMultiprocessor(NULL, function, 32, 0),
	    CUDA_ERROR_INVALID_VALUE);
}

RULE(best_block, "cuOccupancyMaxPotentialBlockSize: a block size with the most threads at once")
{
	int grid, block, blocks, others;
	use_device();
	CUfunction function = load_kernel("nothing");
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 0));
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, function, block, 0));
	EXPECT_EQ(grid, blocks * attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
	for (int size = 32; size <= 1024; size += 32) {
		OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&others, function, size, 0));
		EXPECT(others * size <= blocks * block);
	}
	OK(cuOccupancyMaxPotentialBlockSize(&grid, &block, function, NULL, 0, 128));
	EXPECT(block <= 128);
}

RULE(launch_attributes, "cuLaunchKernelEx: as many attributes as are said have to be there")
{
	CUlaunchConfig config = {.gridDimX = 1,
	    .gridDimY = 1,
	    .gridDimZ = 1,
	    .blockDimX = 32,
	    .blockDimY = 1,
	    .blockDimZ = 1};
	CUlaunchAttribute attributes[1] = {{.id = CU_LAUNCH_ATTRIBUTE_IGNORE}};
	use_device();
	CUfunction function = load_kernel("nothing");
	OK(cuLaunchKernelEx(&config, function, NULL, NULL));
	config.numAttrs = 1;
	EXPECT_EQ(cuLaunchKernelEx(&config, function, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	config.attrs = attributes;
	OK(cuLaunchKernelEx(&config, function, NULL, NULL));
	EXPECT_EQ(cuLaunchKernelEx(NULL, function, NULL, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuCtxSynchronize());
}
