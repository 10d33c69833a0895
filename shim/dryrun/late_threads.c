/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads that come back to a Python that has ended (preloaded before everything else).
 *
 * CPython ends such a thread by pthread_exit, in the midst of C++ that must not be left so:
 * std::terminate, status 134.  PyTorch's autograd threads get there when a program ends soon after
 * backward(), which it does on a device without any work to wait for.  From release 3.14 on CPython
 * lets them wait for the end of the process; here they do in every release.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "gd_export.h"

typedef int (*ending_fn)(void);
typedef void (*exit_fn)(void *) __attribute__((noreturn));

GD_EXPORT void pthread_exit(void *value) __attribute__((noreturn));

static bool same_object(const void *a, const void *b)
{
	Dl_info first, second;

	return dladdr(a, &first) && dladdr(b, &second) && first.dli_fbase == second.dli_fbase;
}

/* Only what the interpreter itself ends: nobody waits for that thread any more. */
static bool ended_by_python(const void *caller)
{
	ending_fn ending = (ending_fn)dlsym(RTLD_DEFAULT, "Py_IsFinalizing"); /* since 3.13 */

	if (!ending)
		ending = (ending_fn)dlsym(RTLD_DEFAULT, "_Py_IsFinalizing");
	return ending && same_object((const void *)ending, caller) && ending();
}

void pthread_exit(void *value)
{
	static _Atomic exit_fn next;
	exit_fn known = atomic_load_explicit(&next, memory_order_relaxed);

	while (ended_by_python(__builtin_return_address(0)))
		pause();
	if (!known) {
		known = (exit_fn)dlsym(RTLD_NEXT, "pthread_exit");
		atomic_store_explicit(&next, known, memory_order_relaxed);
	}
	known(value);
}
