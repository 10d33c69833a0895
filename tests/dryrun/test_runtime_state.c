/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in runtime of each CUDA major: resets, which device is current, what compiled programs
 * register, copies of rows.  Compiled once per major, with its headers and its library. */
#include <dlfcn.h>
#include <pthread.h>

#include "tests/dryrun/runtime_test.h"

/* What nvcc's host code calls; its header is C++. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaUnregisterFatBinary(void **handle);
char __cudaInitModule(void **handle);
void __cudaRegisterFunction(void **handle, const char *symbol, char *device_function,
    const char *name, int thread_limit, void *tid, void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *symbol, char *device_address, const char *name,
    int external, size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **symbol, char *device_address, const char *name,
    int external, size_t size, int constant, int global);

/* One entry of PTX that is not stored as text: every name is taken for one of its own. */
static struct {
	uint32_t magic;
	uint16_t version, header_bytes;
	uint64_t bytes;
	uint16_t kind, entry_version;
	uint32_t entry_header_bytes;
	uint64_t entry_bytes;
	uint32_t compressed_bytes, options;
	uint16_t minor, major;
	uint32_t architecture;
	char more[64];
} binary = {.magic = 0xba55ed50,
    .version = 1,
    .header_bytes = 16,
    .bytes = 104,
    .kind = 1,
    .entry_version = 0x101,
    .entry_header_bytes = 96,
    .entry_bytes = 8,
    .architecture = 80};
static struct {
	uint32_t magic, version;
	const void *data, *more;
} wrapper = {.magic = 0x466243b1, .version = 1, .data = &binary};
static char kernel, variable;
static int *managed;

static void prepare(void)
{
	setenv("GPUSHIM_DRYRUN_COUNT", "2", 1);
	setenv("GPUSHIM_DRYRUN_DEVICE", "name=Test GPU;total=1073741824;cc=8.0;sm=108", 1);
}

static void start(void)
{
	prepare();
	OK(cudaFree(NULL));
}

static void **load(void)
{
	void **handle = __cudaRegisterFatBinary(&wrapper);
	__cudaRegisterFunction(handle, &kernel, NULL, "kernel", -1, 0, 0, 0, 0, 0);
	__cudaRegisterVar(handle, &variable, NULL, "variable", 0, 64, 0, 0);
	__cudaRegisterManagedVar(handle, (void **)&managed, NULL, "managed", 0, 64, 0, 0);
	return handle;
}

static cudaError_t launch(const void *symbol)
{
	const dim3 one = {1, 1, 1};
	return cudaLaunchKernel(symbol, one, one, NULL, 0, NULL);
}

static size_t memory_left(void)
{
	size_t left, total;
	OK(cudaMemGetInfo(&left, &total));
	return left;
}

/* ---- resets ---- */

static pthread_barrier_t step;

static void *use_before_and_after(void *unused)
{
	void *memory;
	OK(cudaMalloc(&memory, 100));
	pthread_barrier_wait(&step);
	pthread_barrier_wait(&step);
	OK(cudaMalloc(&memory, 100));
	OK(cudaFree(memory));
	return NULL;
}

TEST(a_device_is_used_again_after_a_reset)
{
	pthread_t other;
	void *memory;
	start();
	size_t left = memory_left();
	REQUIRE(pthread_barrier_init(&step, NULL, 2) == 0);
	REQUIRE(pthread_create(&other, NULL, use_before_and_after, NULL) == 0);
	OK(cudaMalloc(&memory, 4 << 20));
	pthread_barrier_wait(&step);
	OK(cudaDeviceReset());
	pthread_barrier_wait(&step);
	OK(cudaMalloc(&memory, 100));
	OK(cudaFree(memory));
	pthread_join(other, NULL);
	EXPECT_EQ(memory_left(), left);
}

TEST(registered_kernels_and_variables_are_loaded_again_after_a_reset)
{
	void *before, *after;
	start();
	load();
	OK(launch(&kernel));
	OK(cudaGetSymbolAddress(&before, &variable));
	OK(cudaDeviceReset());
	OK(launch(&kernel));
	OK(cudaGetSymbolAddress(&after, &variable));
	OK(cudaMemset(after, 1, 64));
	OK(cudaSetDevice(1));
	OK(launch(&kernel));
}

TEST(the_context_of_the_driver_interface_decides_the_device)
{
	CUcontext context;
	int device = 7;
	prepare();
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	OK(cuCtxSetCurrent(context));
	OK(cudaGetDevice(&device));
	EXPECT_EQ(device, 1);
	OK(cuCtxSetCurrent(NULL));
}

/* ---- what compiled programs register ---- */

TEST(managed_variables_have_an_address_when_the_host_looks)
{
	void *address;
	int out[16];
	prepare();
	void **handle = load();
	EXPECT(!managed);
	EXPECT_EQ(__cudaInitModule(handle), 1);
	REQUIRE(managed != NULL);
	EXPECT_EQ(managed[0], 0);
	OK(cudaGetSymbolAddress(&address, &managed));
	EXPECT(address == managed);
	managed[15] = 3;
	OK(cudaMemcpyFromSymbol(out, &managed, sizeof(out), 0, cudaMemcpyDefault));
	EXPECT_EQ(out[15], 3);
}

TEST(a_closed_library_leaves_nothing_on_the_device)
{
	void *address;
	start();
	size_t left = memory_left();
	for (int i = 0; i < 3; i++) {
		void **handle = load();
		OK(launch(&kernel));
		OK(cudaGetSymbolAddress(&address, &variable));
		EXPECT(memory_left() < left);
		__cudaUnregisterFatBinary(handle);
		EXPECT_EQ(memory_left(), left);
		EXPECT_EQ(cudaGetSymbolAddress(&address, &variable), cudaErrorInvalidSymbol);
		EXPECT_EQ(launch(&kernel), cudaErrorInvalidDeviceFunction);
	}
	__cudaUnregisterFatBinary(load()); /* never loaded */
}

TEST(what_nobody_registered_is_no_kernel)
{
	start();
	EXPECT_EQ(launch(&variable), cudaErrorInvalidDeviceFunction);
	EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
	EXPECT_EQ(launch(NULL), cudaErrorInvalidDeviceFunction);
}

/* ---- rows ---- */

TEST(pitches_below_the_width_are_told_by_name)
{
	char host[64], *device;
	start();
	OK(cudaMalloc((void **)&device, 64));
	OK(cudaMemcpy2D(host, 16, device, 16, 16, 4, cudaMemcpyDeviceToHost));
	EXPECT_EQ(cudaMemcpy2D(host, 0, device, 16, 16, 4, cudaMemcpyDeviceToHost),
	    cudaErrorInvalidPitchValue);
	EXPECT_EQ(cudaMemcpy2DAsync(host, 16, device, 15, 16, 4, cudaMemcpyDeviceToHost, 0),
	    cudaErrorInvalidPitchValue);
	OK(cudaMemcpy2D(host, 0, device, 0, 16, 1, cudaMemcpyDeviceToHost));
	EXPECT_EQ(cudaMemset2D(device, 8, 1, 16, 4), cudaErrorInvalidPitchValue);
	EXPECT_EQ(cudaMemset2DAsync(device, 8, 1, 16, 4, 0), cudaErrorInvalidPitchValue);
	OK(cudaMemset2D(device, 16, 1, 16, 4));
	struct cudaMemcpy3DParms box = {.srcPtr = {device, 16, 16, 2},
	    .dstPtr = {host, 16, 16, 2},
	    .extent = {16, 2, 2},
	    .kind = cudaMemcpyDeviceToHost};
	OK(cudaMemcpy3D(&box));
	box.srcPos.x = 1;
	EXPECT_EQ(cudaMemcpy3D(&box), cudaErrorInvalidPitchValue);
	EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidPitchValue);
}

/* A program of CUDA 12.5 or later finds it, whichever headers the stand-in was built with. */
#if CUDART_VERSION >= 12000
TEST(entry_points_are_found_by_version)
{
	cudaError_t (*find)(const char *, void **, unsigned, unsigned long long, void *);
	void *function = NULL;
	int status = 7;
	start();
	*(void **)&find = dlsym(RTLD_DEFAULT, "cudaGetDriverEntryPointByVersion");
	REQUIRE(find != NULL);
	OK(find("cuMemAlloc", &function, 12000, 0, &status));
	EXPECT(function && status == 0);
	OK(find("cuNobodyKnowsThis", &function, 12000, 0, &status));
	EXPECT(!function && status != 0);
}
#endif
