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
	struct gd_rt_entry *entries;	     /* what was registered from it */
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

/* The entry of a symbol in a library that is opened again, else a new one. */
static struct gd_rt_entry *entry_for(struct table *table, const void *symbol)
{
	struct gd_rt_entry *old = table_find(table, symbol);

	return old && !old->binary ? old : entry_new();
}

static void register_entry(
    struct table *_Atomic *where, void **handle, const struct gd_rt_entry *filled)
{
	struct binary *binary = (struct binary *)handle;
	struct gd_rt_entry *entry;
	struct table *table;

	if (!binary)
		return;
	pthread_mutex_lock(&lock);
	table = table_grow(where);
	entry = table ? entry_for(table, filled->symbol) : NULL;
	if (entry) {
		*entry = *filled;
		entry->binary = binary;
		entry->next = binary->entries;
		binary->entries = entry;
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

void __cudaRegisterFunction(void **handle, const char *symbol, char *device_function,
    const char *name, int thread_limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
	register_entry(&kernels, handle, &(struct gd_rt_entry){.symbol = symbol, .name = name});
}

void __cudaRegisterVar(void **handle, char *symbol, char *device_address, const char *name,
    int external, size_t size, int constant, int global)
{
	register_entry(&variables, handle,
	    &(struct gd_rt_entry){.symbol = symbol, .name = name, .size_bytes = size});
}

void __cudaRegisterManagedVar(void **handle, void **symbol, char *device_address, const char *name,
    int external, size_t size, int constant, int global)
{
	register_entry(&variables, handle,
	    &(struct gd_rt_entry){
		.symbol = symbol, .name = name, .size_bytes = size, .managed = symbol});
}

static unsigned place_of(CUdevice device)
{
	return device < GD_RT_PLACES ? (unsigned)device : GD_RT_PLACES - 1;
}

/* Which of an entry's handles belongs to the current context; devices beyond the last share it. */
static unsigned place(void)
{
	CUdevice device;

	if (GD_RT_PLACES == 1 || gd_driver.cuCtxGetDevice(&device) != CUDA_SUCCESS)
		return 0;
	return place_of(device);
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

static CUresult variable_load(struct gd_rt_entry *entry, CUdeviceptr *out)
{
	CUlibrary library;
	CUresult result = library_load(entry->binary, &library);

	if (result != CUDA_SUCCESS)
		return result;
	return entry->managed ? gd_driver.cuLibraryGetManaged(out, NULL, library, entry->name)
			      : gd_driver.cuLibraryGetGlobal(out, NULL, library, entry->name);
}

static void library_unload(void *library)
{
	gd_driver.cuLibraryUnload(library);
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

/* A module does not say which of its variables are managed: the memory that the host sees is made
 * here, with the bytes that the image gives the variable.  `loaded` keeps its address. */
static CUresult managed_load(struct gd_rt_entry *entry, CUdeviceptr in_module, CUdeviceptr *out)
{
	void *_Atomic *where = &entry->loaded[place()];
	CUresult result = CUDA_SUCCESS;

	*out = (CUdeviceptr)(uintptr_t)*where;
	if (*out)
		return CUDA_SUCCESS;
	result = gd_driver.cuMemAllocManaged(out, entry->size_bytes, CU_MEM_ATTACH_GLOBAL);
	if (result == CUDA_SUCCESS)
		result =
		    gd_driver.cuMemcpyDtoH((void *)(uintptr_t)*out, in_module, entry->size_bytes);
	if (result == CUDA_SUCCESS)
		*where = (void *)(uintptr_t)*out;
	return result;
}

static CUresult variable_load(struct gd_rt_entry *entry, CUdeviceptr *out)
{
	CUdeviceptr address;
	CUmodule module;
	CUresult result = library_load(entry->binary, &module);

	if (result == CUDA_SUCCESS)
		result = gd_driver.cuModuleGetGlobal(&address, NULL, module, entry->name);
	if (result != CUDA_SUCCESS || entry->managed)
		return result == CUDA_SUCCESS ? managed_load(entry, address, out) : result;
	*out = address;
	return CUDA_SUCCESS;
}

static void library_unload(void *module)
{
	gd_driver.cuModuleUnload(module);
}
#endif

/* A variable's address, written into the host's pointer to a managed one; the lock is held. */
static CUresult variable_find(struct gd_rt_entry *entry, CUdeviceptr *out)
{
	CUresult result = entry->binary ? variable_load(entry, out) : CUDA_ERROR_NOT_FOUND;

	if (result == CUDA_SUCCESS && entry->managed)
		*entry->managed = (void *)(uintptr_t)*out;
	return result;
}

/* Called before the host looks at a managed variable. @return whether all have their addresses */
char __cudaInitModule(void **handle)
{
	struct binary *binary = (struct binary *)handle;
	CUresult result = CUDA_SUCCESS;
	CUdeviceptr address;

	if (!binary || gd_rt_bind() != cudaSuccess)
		return 0;
	pthread_mutex_lock(&lock);
	for (struct gd_rt_entry *e = binary->entries; e && result == CUDA_SUCCESS; e = e->next) {
		if (e->managed)
			result = variable_find(e, &address);
	}
	pthread_mutex_unlock(&lock);
	return gd_rt_result(result) == cudaSuccess;
}

/* Host symbols of a closed library may belong to another one later: the entries stay, empty. */
void __cudaUnregisterFatBinary(void **handle)
{
	struct binary *binary = (struct binary *)handle;

	if (!binary)
		return;
	pthread_mutex_lock(&lock);
	for (struct gd_rt_entry *entry = binary->entries; entry; entry = entry->next) {
		for (unsigned i = 0; i < GD_RT_PLACES; i++) {
			if (GD_RT_PLACES > 1 && entry->managed && entry->loaded[i])
				gd_driver.cuMemFree((CUdeviceptr)(uintptr_t)entry->loaded[i]);
			entry->loaded[i] = NULL;
		}
		entry->binary = NULL;
	}
	for (unsigned i = 0; i < GD_RT_PLACES; i++) {
		if (binary->library[i])
			library_unload(binary->library[i]);
	}
	pthread_mutex_unlock(&lock);
	free(binary);
}

static void modules_ended(struct table *table, unsigned where)
{
	for (size_t i = 0; table && i < table->capacity; i++) {
		struct gd_rt_entry *entry = table->slots[i];

		if (!entry || !entry->binary)
			continue;
		entry->loaded[where] = NULL;
		entry->binary->library[where] = NULL;
	}
}

void gd_rt_modules_ended(CUdevice device)
{
	if (GD_RT_PLACES == 1) /* libraries outlive contexts */
		return;
	pthread_mutex_lock(&lock);
	modules_ended(kernels, place_of(device));
	modules_ended(variables, place_of(device));
	pthread_mutex_unlock(&lock);
}

/* A symbol that nobody registered may be a handle of the driver, which knows its own. */
static cudaError_t driver_kernel(const void *function, CUfunction *out)
{
	int threads;

	*out = (CUfunction)function;
	return function && gd_driver.cuFuncGetAttribute(&threads,
			       CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, *out) == CUDA_SUCCESS
		   ? cudaSuccess
		   : cudaErrorInvalidDeviceFunction;
}

cudaError_t gd_rt_kernel(const void *function, CUfunction *out)
{
	struct gd_rt_entry *entry =
	    table_find(atomic_load_explicit(&kernels, memory_order_acquire), function);
	CUresult result = CUDA_SUCCESS;
	void *_Atomic *where;
	void *loaded;

	if (!entry || !entry->binary)
		return driver_kernel(function, out);
	where = &entry->loaded[place()];
	loaded = atomic_load_explicit(where, memory_order_acquire);
	if (__builtin_expect(loaded != NULL, 1)) {
		*out = loaded;
		return cudaSuccess;
	}
	pthread_mutex_lock(&lock);
	/* Libraries may be closed by another thread, at the end of the process all of them are. */
	result = entry->binary ? kernel_load(entry, out) : CUDA_ERROR_NOT_FOUND;
	if (result == CUDA_SUCCESS)
		atomic_store_explicit(where, *out, memory_order_release);
	pthread_mutex_unlock(&lock);
	return (cudaError_t)result;
}

int gd_rt_kernel_arch(const void *function, int device_number)
{
	struct gd_rt_entry *entry = table_find(kernels, function);
	int arch = 0;

	pthread_mutex_lock(&lock);
	if (entry && entry->binary)
		arch = gd_fatbin_arch(entry->binary->wrapper, device_number);
	pthread_mutex_unlock(&lock);
	return arch;
}

cudaError_t gd_rt_symbol(const void *symbol, CUdeviceptr *address_out, size_t *size_out)
{
	struct gd_rt_entry *entry = table_find(variables, symbol);
	CUdeviceptr address;
	CUresult result;

	if (!entry || !entry->binary)
		return cudaErrorInvalidSymbol;
	pthread_mutex_lock(&lock);
	result = variable_find(entry, &address);
	pthread_mutex_unlock(&lock);
	if (result != CUDA_SUCCESS)
		return (cudaError_t)result;
	if (address_out)
		*address_out = address;
	if (size_out)
		*size_out = entry->size_bytes;
	return cudaSuccess;
}
