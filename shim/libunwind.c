/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/libunwind.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

#define CACHE_PER_THREAD 2 /* UNW_CACHE_PER_THREAD */
#define CACHE_ENTRIES 1024

#if defined(__aarch64__)
#define UNWIND_NAME(name) "_ULaarch64_" name
#else
#define UNWIND_NAME(name) "_ULx86_64_" name
#endif

static int (*unwind)(void **, int);

static void set_cache(void *library)
{
	void **space = dlsym(library, UNWIND_NAME("local_addr_space"));
	int (*policy)(void *, int) =
	    (int (*)(void *, int))dlsym(library, UNWIND_NAME("set_caching_policy"));
	int (*size)(void *, size_t, int) =
	    (int (*)(void *, size_t, int))dlsym(library, UNWIND_NAME("set_cache_size"));
	if (space && policy)
		policy(*space, CACHE_PER_THREAD);
	if (space && size)
		size(*space, CACHE_ENTRIES, 0);
}

const char *gs_libunwind_init(void)
{
	void *first[4];
	void *library = dlopen("libunwind.so.8", RTLD_NOW | RTLD_LOCAL);
	unwind = NULL;
	if (library) {
		set_cache(library);
		unwind = (int (*)(void **, int))dlsym(library, "unw_backtrace");
	}
	bool slow = !unwind;
	if (slow)
		unwind = (int (*)(void **, int))dlsym(RTLD_DEFAULT, "backtrace");
	if (!unwind || unwind(first, 4) <= 0) { /* the first call loads more: not inside a hook */
		unwind = NULL;
		return "native stacks are off: there is neither libunwind.so.8 nor backtrace()";
	}
	return slow ? "native stacks are slow: libunwind.so.8 is not installed" : NULL;
}

int gs_libunwind_backtrace(void **out, int limit)
{
	return unwind ? unwind(out, limit) : 0;
}
