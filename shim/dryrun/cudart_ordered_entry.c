/* SPDX-License-Identifier: Apache-2.0 */
/* Driver functions by name, for programs that must not link the driver. */
#include "cudart.h"
#include "driver_door.h"

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define GD_DEFAULT_FLAGS CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
#else
#define GD_DEFAULT_FLAGS CU_GET_PROC_ADDRESS_LEGACY_STREAM
#endif

static void *find(const char *name, unsigned version, unsigned long long flags)
{
	return gd_driver_function(name, (int)version, flags ? flags : GD_DEFAULT_FLAGS);
}

#if CUDART_VERSION >= 12000
/* A name that is not there is a success with NULL and a status, as the real one answers it. */
static cudaError_t entry_point(const char *name, void **out, unsigned version,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	GD_START_INSIDE();
	if (!name || !out)
		return gd_rt_note(cudaErrorInvalidValue);
	*out = find(name, version, flags);
	if (status)
		*status = *out ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
	else if (!*out)
		return gd_rt_note(cudaErrorSymbolNotFound);
	return cudaSuccess;
}
#endif

#if CUDART_VERSION < 12000
GD_EXPORT cudaError_t cudaGetDriverEntryPoint(
    const char *name, void **out, unsigned long long flags)
{
	GD_START();
	if (!name || !out)
		return gd_rt_note(cudaErrorInvalidValue);
	*out = find(name, CUDART_VERSION, flags);
	return *out ? cudaSuccess : gd_rt_note(cudaErrorSymbolNotFound);
}
#elif CUDART_VERSION < 13000
GD_EXPORT cudaError_t cudaGetDriverEntryPoint(const char *name, void **out,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	GD_WATCH();
	return entry_point(name, out, CUDART_VERSION, flags, status);
}
#endif

#if CUDART_VERSION >= 12000
#if CUDART_VERSION < 12050 /* these headers lack it, a program of a later 12 wants it */
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cudaGetDriverEntryPointByVersion cudaGetDriverEntryPointByVersion_ptsz
#endif
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
    unsigned long long flags, enum cudaDriverEntryPointQueryResult *status);
#endif
GD_EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out,
    unsigned version, unsigned long long flags, enum cudaDriverEntryPointQueryResult *status)
{
	GD_WATCH();
	return entry_point(name, out, version, flags, status);
}
#endif
