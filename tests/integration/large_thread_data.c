/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program with so much thread-local data that it does not fit into a small stack: the C
 * library takes it from the stack of every thread.
 */
#include <dlfcn.h>
#include <string.h>

static __thread char data[3u << 20];

int main(int argc, char **argv)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	unsigned long long block;
	memset(data, argc, sizeof(data));
	int (*init)(unsigned) = dlsym(driver, "cuInit");
	int (*retain)(void **, int) = dlsym(driver, "cuDevicePrimaryCtxRetain");
	int (*use)(void *) = dlsym(driver, "cuCtxSetCurrent");
	int (*alloc)(unsigned long long *, size_t) = dlsym(driver, "cuMemAlloc_v2");
	return init(0) || retain(&context, 0) || use(context) || alloc(&block, data[argc] << 12);
}
