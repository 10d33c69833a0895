/* SPDX-License-Identifier: Apache-2.0 */
#include "driver_door.h"

#include <cuda.h>
#include <dlfcn.h>
#include <stddef.h>

typedef CUresult (*gd_lookup_fn)(
    const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static void *_Atomic driver_handle;
static void *_Atomic driver_lookup;

static void *open_driver(void)
{
	void *handle = driver_handle;

	if (!handle) {
		handle = dlopen("libcuda.so.1", RTLD_NOW);
		driver_handle = handle;
	}
	return handle;
}

/* Two threads may both come here at first use; they find the same. */
static gd_lookup_fn open_lookup(void)
{
	CUdriverProcAddressQueryResult status;
	void *handle = open_driver(), *lookup;
	gd_lookup_fn call;

	if (!handle || !(lookup = dlsym(handle, "cuGetProcAddress_v2")))
		return NULL;
	*(void **)&call = lookup;
	call("", &lookup, 0, 0, &status); /* the real runtime begins with this probe */
	if (call("cuGetProcAddress", &lookup, 12000, 0, &status) == CUDA_SUCCESS && lookup)
		*(void **)&call = lookup;
	driver_lookup = *(void **)&call;
	return call;
}

void *gd_driver_function(const char *name, int version, uint64_t flags)
{
	CUdriverProcAddressQueryResult status;
	void *function = NULL, *lookup = driver_lookup;
	gd_lookup_fn call;

	*(void **)&call = lookup;
	if (!lookup && !(call = open_lookup()))
		return NULL;
	if (call(name, &function, version, flags, &status) != CUDA_SUCCESS)
		return NULL;
	return function;
}

void *gd_driver_extra(const char *name)
{
	void *handle = open_driver();

	return handle ? dlsym(handle, name) : NULL;
}
