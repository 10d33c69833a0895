/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels and variables that compiled programs register before main(): PyTorch brings 24 000 of
 * them in 480 fat binaries, most of which are never used, so registration only notes pointers.  A
 * fat binary is given to the driver when the first of its kernels is wanted.
 *
 * One lock guards writing; a look-up takes it only until the entry's handle is known.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cudart.h"
#include "cudart_registry.h"

struct binary {
	const struct gd_fatbin_wrapper *wrapper;
	void *_Atomic library[GD_RT_PLACES]; /* CUlibrary, or CUmodule before CUDA 12 */
};

/* An open hash table from host symbol to entry; grown under the lock, old tables are kept. */
struct table {
	size_t capacity, used; /* capacity is a power of two */
	struct gd_rt_entry *_Atomic slots[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *_Atomic kernels, *_Atomic variables;

/* Entries come from blocks that live as long as the process: a handle may outlast its library. */
static struct gd_rt_entry *entry_new(void)
{
	static struct gd_rt_entry *block;
	static size_t left;

	if (!left) {
		left = 1024;
		block = calloc(left, sizeof(*block));
		if (!block) {
			left = 0;
			return NULL;
		}
	}
	left--;
	return block++;
}

static size_t hash_of(const void *symbol)
{
	uint64_t mixed = (uint64_t)(uintptr_t)symbol * 0x9e3779b97f4a7c15u;

	return (size_t)(mixed >> 20);
}

static struct gd_rt_entry *table_find(struct table *table, const void *symbol)
{
	if (!table)
		return NULL;
	for (size_t i = hash_of(symbol);; i++) {
		struct gd_rt_entry *entry = atomic_load_explicit(
		    &table->slots[i & (table->capacity - 1)], memory_order_acquire);

		if (!entry || entry->symbol == symbol)
			return entry;
	}
}

static void table_put(struct table *table, struct gd_rt_entry *entry)
{
	size_t i = hash_of(entry->symbol);
	struct gd_rt_entry *old;

	while ((old = table->slots[i & (table->capacity - 1)]) && old->symbol != entry->symbol)
		i++;
	if (!old)
		table->used++;
	atomic_store_explicit(
	    &table->slots[i & (table->capacity - 1)], entry, memory_order_release);
}

/* Readers may still be inside the old table, so it is left to them. */
static struct table *table_grow(struct table *_Atomic *where)
{
	struct table *old = *where, *grown;
	size_t capacity = old ? 2 * old->capacity : 1024;

	if (old && 2 * old->used < old->capacity)
		return old;
	grown = calloc(1, sizeof(*grown) + capacity * sizeof(grown->slots[0]));
	if (!grown)
		return NULL;
	grown->capacity = capacity;
	for (size_t i = 0; old && i < old->capacity; i++) {
		if (old->slots[i])
			table_put(grown, old->slots[i]);
	}
	atomic_store_explicit(where, grown, memory_order_release);
	return grown;
}

static void register_entry(struct table *_Atomic *where, struct binary *binary, const void *symbol,
    const char *name, size_t size_bytes)
{
	struct gd_rt_entry *entry;
	struct table *table;

	pthread_mutex_lock(&lock);
	table = table_grow(where);
	entry = table ? entry_new() : NULL;
	if (entry) {
		*entry = (struct gd_rt_entry){
		    .symbol = symbol, .name = name, .binary = binary, .size_bytes = size_bytes};
		table_put(table, entry);
	}
	pthread_mutex_unlock(&lock);
}

void **__cudaRegisterFatBinary(void *wrapper)
{
	struct binary *binary = calloc(1, sizeof(*binary));

	if (binary)
		binary->wrapper = wrapper;
	return (void **)binary;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
}

/* The module goes; host symbols of a closed library may be reused by another one, which overwrites.
 */
void __cudaUnregisterFatBinary(void **handle)
{
}

char __cudaInitModule(void **handle)
{
	return 1;
}

void __cudaRegisterFunction(void **handle, const char *symbol, char *device_function,
    const char *name, int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	register_entry(&kernels, (struct binary *)handle, symbol, name, 0);
}

void __cudaRegisterVar(void **handle, char *symbol, char *device_address, const char *name,
    int external, size_t size, int constant, int global)
{
	register_entry(&variables, (struct binary *)handle, symbol, name, size);
}

void __cudaRegisterManagedVar(void **handle, void **symbol, char *device_address, const char *name,
    int external, size_t size, int constant, int global)
{
	register_entry(&variables, (struct binary *)handle, symbol, name, size);
}

/* Which of an entry's handles belongs to the current context; devices beyond the last share it. */
static unsigned place(void)
{
	CUdevice device;

	if (GD_RT_PLACES == 1 || gd_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS)
		return 0;
	return device < GD_RT_PLACES ? (unsigned)device : GD_RT_PLACES - 1;
}

#if CUDA_VERSION >= 12000
static CUresult library_load(struct binary *binary, CUlibrary *out)
{
	CUlibrary library = atomic_load_explicit(&binary->library[0], memory_order_acquire);
	CUresult result = CUDA_SUCCESS;

	if (!library) {
		result = gd_driver.cuLibraryLoadData(
		    &library, binary->wrapper, NULL, NULL, 0, NULL, NULL, 0);
		if (result == CUDA_SUCCESS)
			atomic_store_explicit(&binary->library[0], library, memory_order_release);
	}
	*out = library;
	return result;
}

static CUresult kernel_load(struct gd_rt_entry *entry, CUfunction *out)
{
	CUlibrary library;
	CUkernel kernel;
	CUresult result = library_load(entry->binary, &library);

	if (result == CUDA_SUCCESS)
		result = gd_driver.cuLibraryGetKernel(&kernel, library, entry->name);
	if (result == CUDA_SUCCESS)
		*out = (CUfunction)kernel; /* every driver call takes one for the other */
	return result;
}

static CUresult variable_load(struct gd_rt_entry *entry, CUdeviceptr *out, size_t *size)
{
	CUlibrary library;
	CUresult result = library_load(entry->binary, &library);

	if (result == CUDA_SUCCESS)
		result = gd_driver.cuLibraryGetGlobal(out, size, library, entry->name);
	return result;
}
#else
static CUresult library_load(struct binary *binary, CUmodule *out)
{
	void *_Atomic *where = &binary->library[place()];
	CUmodule module = atomic_load_explicit(where, memory_order_acquire);
	CUresult result = CUDA_SUCCESS;

	if (!module) {
		result = gd_driver.cuModuleLoadData(&module, binary->wrapper);
		if (result == CUDA_SUCCESS)
			atomic_store_explicit(where, module, memory_order_release);
	}
	*out = module;
	return result;
}

static CUresult kernel_load(struct gd_rt_entry *entry, CUfunction *out)
{
	CUmodule module;
	CUresult result = library_load(entry->binary, &module);

	if (result == CUDA_SUCCESS)
		result = gd_driver.cuModuleGetFunction(out, module, entry->name);
	return result;
}

static CUresult variable_load(struct gd_rt_entry *entry, CUdeviceptr *out, size_t *size)
{
	CUmodule module;
	CUresult result = library_load(entry->binary, &module);

	if (result == CUDA_SUCCESS)
		result = gd_driver.cuModuleGetGlobal(out, size, module, entry->name);
	return result;
}
#endif

/* A symbol that nobody registered may be a handle of the driver, which knows its own. */
cudaError_t gd_rt_kernel(const void *function, CUfunction *out)
{
	struct gd_rt_entry *entry =
	    table_find(atomic_load_explicit(&kernels, memory_order_acquire), function);
	CUresult result = CUDA_SUCCESS;
	void *_Atomic *where;
	void *loaded;

	if (!entry) {
		*out = (CUfunction)function;
		return function ? cudaSuccess : cudaErrorInvalidDeviceFunction;
	}
	where = &entry->loaded[place()];
	loaded = atomic_load_explicit(where, memory_order_acquire);
	if (__builtin_expect(loaded != NULL, 1)) {
		*out = loaded;
		return cudaSuccess;
	}
	pthread_mutex_lock(&lock);
	result = kernel_load(entry, out);
	if (result == CUDA_SUCCESS)
		atomic_store_explicit(where, *out, memory_order_release);
	pthread_mutex_unlock(&lock);
	return (cudaError_t)result;
}

int gd_rt_kernel_arch(const void *function, int device_number)
{
	struct gd_rt_entry *entry = table_find(kernels, function);

	return entry ? gd_fatbin_arch(entry->binary->wrapper, device_number) : 0;
}

cudaError_t gd_rt_symbol(const void *symbol, CUdeviceptr *address_out, size_t *size_out)
{
	struct gd_rt_entry *entry = table_find(variables, symbol);
	CUdeviceptr address;
	size_t size;
	CUresult result;

	if (!entry)
		return cudaErrorInvalidSymbol;
	pthread_mutex_lock(&lock);
	result = variable_load(entry, &address, &size);
	pthread_mutex_unlock(&lock);
	if (result != CUDA_SUCCESS)
		return (cudaError_t)result;
	if (address_out)
		*address_out = address;
	if (size_out)
		*size_out = entry->size_bytes;
	return cudaSuccess;
}
