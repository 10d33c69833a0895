/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_launch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cudaTypedefs.h>

#include "call_watch.h"
#include "driver_door.h"

#define GD_BLOCK_THREADS 256
#define GD_MAX_GRID 2147483647u
#define GD_BUCKETS 256

struct kernel {
	struct kernel *next;
	CUfunction function;
	char name[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kernel *_Atomic buckets[GD_BUCKETS];
static PFN_cuLaunchKernel_v4000 launch_kernel;
static PFN_cuLibraryLoadData_v12000 load_library;
static PFN_cuLibraryGetKernel_v12000 get_kernel;
static PFN_cuCtxGetCurrent_v4000 get_current;
static PFN_cuCtxSetCurrent_v4000 set_current;
static PFN_cuStreamGetCtx_v9020 context_of_stream;
static PFN_cuDevicePrimaryCtxRetain_v7000 retain_primary;
static void (*tell_work)(unsigned long long flops, int precision);
static const uint32_t *watched;
static void (*call_begin)(struct gd_call *call, const char *name, uint32_t domain);
static void (*call_end)(struct gd_call *call, int result);
static __thread bool bound; /* this thread had a context when it last looked */

static unsigned bucket_of(const char *name)
{
	uint32_t hash = 2166136261u;

	for (; *name; name++)
		hash = (hash ^ (unsigned char)*name) * 16777619u;
	return hash % GD_BUCKETS;
}

static struct kernel *find(unsigned bucket, const char *name)
{
	struct kernel *kernel = atomic_load_explicit(&buckets[bucket], memory_order_acquire);

	while (kernel && strcmp(kernel->name, name) != 0)
		kernel = kernel->next;
	return kernel;
}

static CUresult open_driver(void)
{
	if (launch_kernel)
		return CUDA_SUCCESS;
	*(void **)&load_library = gd_driver_function("cuLibraryLoadData", 12000, 0);
	*(void **)&get_kernel = gd_driver_function("cuLibraryGetKernel", 12000, 0);
	*(void **)&get_current = gd_driver_function("cuCtxGetCurrent", 4000, 0);
	*(void **)&set_current = gd_driver_function("cuCtxSetCurrent", 4000, 0);
	*(void **)&context_of_stream = gd_driver_function("cuStreamGetCtx", 9020, 0);
	*(void **)&retain_primary = gd_driver_function("cuDevicePrimaryCtxRetain", 7000, 0);
	*(void **)&tell_work = gd_driver_extra("gpushim_dryrun_hint");
	*(void **)&call_begin = gd_driver_extra("gpushim_dryrun_call_begin");
	*(void **)&call_end = gd_driver_extra("gpushim_dryrun_call_end");
	watched = gd_driver_extra("gpushim_dryrun_watched");
	if (load_library && get_kernel && get_current && set_current && context_of_stream &&
	    retain_primary)
		*(void **)&launch_kernel = gd_driver_function("cuLaunchKernel", 4000, 0);
	return launch_kernel ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

/* A thread without a context gets that of its stream, or the first device's, as the runtime under a
 * real library would give it. */
static CUresult bind(CUstream stream)
{
	CUcontext context = NULL;
	CUresult result = get_current(&context);

	if (result == CUDA_SUCCESS && !context) {
		if (!stream || context_of_stream(stream, &context) != CUDA_SUCCESS)
			result = retain_primary(&context, 0);
		if (result == CUDA_SUCCESS)
			result = set_current(context);
	}
	bound = result == CUDA_SUCCESS;
	return result;
}

/* A library rather than a module: its kernels serve every context. */
static CUresult load(const char *name, CUkernel *out)
{
	static const char form[] = ".version 8.0\n.target sm_50\n.address_size 64\n\n"
				   ".visible .entry %s()\n{\n\tret;\n}\n";
	CUlibrary library;
	CUresult result;
	char *text;

	if (asprintf(&text, form, name) < 0)
		return CUDA_ERROR_OUT_OF_MEMORY;
	result = load_library(&library, text, NULL, NULL, 0, NULL, NULL, 0);
	free(text);
	return result == CUDA_SUCCESS ? get_kernel(out, library, name) : result;
}

static CUresult add_locked(unsigned bucket, const char *name, struct kernel **out)
{
	CUresult result = open_driver();
	struct kernel *kernel;
	CUkernel loaded;

	if (result == CUDA_SUCCESS)
		result = load(name, &loaded);
	if (result != CUDA_SUCCESS)
		return result;
	kernel = malloc(sizeof(*kernel) + strlen(name) + 1);
	if (!kernel)
		return CUDA_ERROR_OUT_OF_MEMORY;
	strcpy(kernel->name, name);
	kernel->function = (CUfunction)loaded;
	kernel->next = buckets[bucket];
	atomic_store_explicit(&buckets[bucket], kernel, memory_order_release);
	*out = kernel;
	return CUDA_SUCCESS;
}

static CUresult find_or_add(const char *name, struct kernel **out)
{
	unsigned bucket = bucket_of(name);
	CUresult result = CUDA_SUCCESS;

	*out = find(bucket, name);
	if (*out)
		return CUDA_SUCCESS;
	pthread_mutex_lock(&lock);
	*out = find(bucket, name);
	if (!*out)
		result = add_locked(bucket, name, out);
	pthread_mutex_unlock(&lock);
	return result;
}

/* The device is described by three rates; 8 bits run at least as fast as 16, doubles as singles. */
static int precision_of(enum gd_rate rate)
{
	switch (rate) {
	case GD_RATE_TF32:
		return 1;
	case GD_RATE_F16:
	case GD_RATE_F8:
		return 2;
	default:
		return 0;
	}
}

/* Real libraries launch by a runtime that they carry inside: who watches calls sees its call. */
static CUresult launch(
    const struct kernel *kernel, unsigned blocks, CUstream stream, void **arguments)
{
	struct gd_call call = {.name = NULL};
	CUresult result;

	if (watched && __atomic_load_n(watched, __ATOMIC_RELAXED) & GD_WATCH_CALLS)
		call_begin(&call, "cudaLaunchKernel", GD_CALL_RUNTIME);
	result = launch_kernel(
	    kernel->function, blocks, 1, 1, GD_BLOCK_THREADS, 1, 1, 0, stream, arguments, NULL);
	if (call.name)
		call_end(&call, (int)result);
	return result;
}

CUresult gd_kernel_launch(const struct gd_work *work, CUstream stream)
{
	const void *written = work->written;
	uint64_t written_bytes = work->written_bytes;
	void *wrote[] = {&written, &written_bytes}; /* as the kernel model `product` reads them */
	uint64_t blocks = (work->threads + GD_BLOCK_THREADS - 1) / GD_BLOCK_THREADS;
	struct kernel *kernel;
	CUresult result = find_or_add(work->name, &kernel);

	if (result == CUDA_SUCCESS && !bound)
		result = bind(stream);
	if (result != CUDA_SUCCESS)
		return result;
	if (blocks == 0)
		blocks = 1;
	if (blocks > GD_MAX_GRID)
		blocks = GD_MAX_GRID;
	if (tell_work && work->flops)
		tell_work(work->flops, precision_of(work->rate));
	return launch(kernel, (unsigned)blocks, stream, written_bytes ? wrote : work->arguments);
}
