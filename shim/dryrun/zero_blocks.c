/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks start as zeros (preloaded before everything else): kernels that do nothing leave what the
 * last owner of a block had copied there, and a size that a program reads back from such bytes is
 * garbage of any magnitude.
 *
 * Runs under the allocator's lock, so it does next to nothing; functions are looked up by the first
 * report of a process, and while work waits in the stand-in's queues.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gd_export.h"

#define GD_DEVICE_CUDA 1 /* c10::DeviceType::CUDA, the low byte of a c10::Device */

/**
 * Clear a block that is handed out, find who is to be told next.
 *
 * @param block   address of the block
 * @param size    its bytes; negative when it is given back
 * @param device  the register with the c10::Device; bits above 15 are undefined
 * @param caller  return address of the report, inside a PyTorch library
 * @param which   mangled variant, index into the list below
 * @return the next definition of the same function
 */
void *gd_zero_report(void *block, int64_t size, uint64_t device, void *caller, unsigned which);

static const char *const variants[] = {
    "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
    "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE",
    "_ZN3c1027reportMemoryUsageToProfilerEPvlNS_6DeviceE",
};
static void *_Atomic next_report[3];

/* Who asks for a block, to find the stream it is for. */
struct request {
	void *caller;
	int8_t device;
};
typedef void (*clear_fn)(void *, size_t, void *(*)(void *), void *);
static clear_fn _Atomic clear_block;

static void no_report(void)
{
}

static void no_clear(void *block, size_t size, void *(*stream_of)(void *), void *user)
{
}

static void *handle_of(void *caller)
{
	Dl_info info;

	return dladdr(caller, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

/* Python loads PyTorch with RTLD_LOCAL, so c10's own definition is seen through its caller only. */
static void *find_next(void *caller, unsigned which)
{
	void *next = dlsym(RTLD_NEXT, variants[which]);
	void *handle = next ? NULL : handle_of(caller);

	if (handle)
		next = dlsym(handle, variants[which]);
	if (!next)
		next = (void *)no_report;
	atomic_store_explicit(&next_report[which], next, memory_order_relaxed);
	return next;
}

/* Not cached until the driver is there: the first reports may be of CPU memory. */
static clear_fn find_clear(void)
{
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
	clear_fn clear = no_clear;

	if (!driver)
		return no_clear;
	*(void **)&clear = dlsym(driver, "gpushim_dryrun_clear_in_order");
	if (!clear)
		clear = no_clear;
	atomic_store_explicit(&clear_block, clear, memory_order_relaxed);
	return clear;
}

/* c10::cuda::CUDAStream as it is returned: two words, in registers. */
struct stream_words {
	uint64_t device, id;
};

/* The allocator hands out a block for the current stream, but in rare cases.  The default stream
 * (NULL) where PyTorch does not tell. */
static void *current_stream(void *user)
{
	static void *_Atomic found[2];
	const struct request *request = user;
	void *handle = found[0] && found[1] ? NULL : handle_of(request->caller);
	struct stream_words (*current)(int8_t);
	void *(*stream_of)(const struct stream_words *);
	struct stream_words words;

	if (handle) {
		found[0] = dlsym(handle, "_ZN3c104cuda20getCurrentCUDAStreamEa");
		found[1] = dlsym(handle, "_ZNK3c104cuda10CUDAStream6streamEv");
		dlclose(handle);
	}
	*(void **)&current = found[0];
	*(void **)&stream_of = found[1];
	if (!current || !stream_of)
		return NULL;
	words = current(request->device);
	return stream_of(&words);
}

void *gd_zero_report(void *block, int64_t size, uint64_t device, void *caller, unsigned which)
{
	void *next = atomic_load_explicit(&next_report[which], memory_order_relaxed);

	if (size > 0 && (device & 0xff) == GD_DEVICE_CUDA) {
		clear_fn clear = atomic_load_explicit(&clear_block, memory_order_relaxed);
		struct request request = {caller, (int8_t)(device >> 8)};

		(clear ? clear : find_clear())(block, (size_t)size, current_stream, &request);
	}
	return next ? next : find_next(caller, which);
}

/* For libgpushim-audit.so, which lives among libraries of its own and sees no driver. */
GD_EXPORT void gpushim_dryrun_unknown(const char *function);
void gpushim_dryrun_unknown(const char *function)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW);
	void (*tell)(const char *);

	*(void **)&tell = driver ? dlsym(driver, "gpushim_dryrun_missing") : NULL;
	if (tell)
		tell(function);
}
