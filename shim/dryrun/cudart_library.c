/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries and kernels by handle (CUDA 12.8 and later have them in the runtime too). */
#include "cudart.h"

#if CUDART_VERSION >= 12080

GD_EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
    enum cudaJitOption *jit, void **jit_values, unsigned jit_count, enum cudaLibraryOption *options,
    void **option_values, unsigned option_count)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuLibraryLoadData((CUlibrary *)library, code, (CUjit_option *)jit, jit_values,
		jit_count, (CUlibraryOption *)options, option_values, option_count));
}

GD_EXPORT cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
    enum cudaJitOption *jit, void **jit_values, unsigned jit_count, enum cudaLibraryOption *options,
    void **option_values, unsigned option_count)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuLibraryLoadFromFile((CUlibrary *)library, path, (CUjit_option *)jit,
		jit_values, jit_count, (CUlibraryOption *)options, option_values, option_count));
}

GD_EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuLibraryUnload((CUlibrary)library));
}

GD_EXPORT cudaError_t cudaLibraryGetKernel(
    cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuLibraryGetKernel((CUkernel *)kernel, (CUlibrary)library, name));
}

GD_EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
	GD_BIND();
	return gd_rt_result(gd_driver.cuLibraryGetKernelCount(count, (CUlibrary)library));
}

GD_EXPORT cudaError_t cudaLibraryGetGlobal(
    void **address, size_t *bytes, cudaLibrary_t library, const char *name)
{
	CUdeviceptr found = 0;
	cudaError_t error;

	GD_BIND();
	error = gd_rt_result(gd_driver.cuLibraryGetGlobal(&found, bytes, (CUlibrary)library, name));
	if (!error)
		*address = (void *)(uintptr_t)found;
	return error;
}

GD_EXPORT cudaError_t cudaLibraryGetManaged(
    void **address, size_t *bytes, cudaLibrary_t library, const char *name)
{
	CUdeviceptr found = 0;
	cudaError_t error;

	GD_BIND();
	error =
	    gd_rt_result(gd_driver.cuLibraryGetManaged(&found, bytes, (CUlibrary)library, name));
	if (!error)
		*address = (void *)(uintptr_t)found;
	return error;
}

GD_EXPORT cudaError_t cudaLibraryGetUnifiedFunction(
    void **address, cudaLibrary_t library, const char *symbol)
{
	GD_BIND();
	return gd_rt_result(
	    gd_driver.cuLibraryGetUnifiedFunction(address, (CUlibrary)library, symbol));
}

GD_EXPORT cudaError_t cudaKernelSetAttributeForDevice(
    cudaKernel_t kernel, enum cudaFuncAttribute attribute, int value, int ordinal)
{
	CUdevice device;

	GD_BIND();
	if (gd_driver.cuDeviceGet(&device, ordinal) != CUDA_SUCCESS)
		return gd_rt_note(cudaErrorInvalidDevice);
	return gd_rt_result(gd_driver.cuKernelSetAttribute(
	    (CUfunction_attribute)attribute, value, (CUkernel)kernel, device));
}

#endif
