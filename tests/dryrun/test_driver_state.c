/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in driver around its memory: start, contexts, entry points, modules, processes. */
#include <dlfcn.h>
#include <elf.h>
#include <pthread.h>
#include <signal.h>

#include "tests/dryrun/driver_test.h"

TEST(nothing_works_before_init)
{
	int count;
	CUdeviceptr a;
	EXPECT_EQ(cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT_EQ(cuMemAlloc_v2(&a, 1), CUDA_ERROR_NOT_INITIALIZED);
	EXPECT_EQ(cuInit(1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuDriverGetVersion(&count), CUDA_SUCCESS);
	EXPECT(count >= 13000);
	OK(cuInit(0));
	EXPECT_EQ(cuMemAlloc_v2(&a, 1), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(devices_are_what_the_launcher_says)
{
	char name[64], bus[16];
	int value, other;
	size_t bytes;
	CUdevice device;
	setenv("GPUSHIM_DRYRUN_COUNT", "3", 1);
	setenv(
	    "GPUSHIM_DRYRUN_DEVICE", "name=NVIDIA X;total=1000000512;cc=9.0;sm=132;bandwidth=1", 1);
	OK(cuInit(0));
	OK(cuDeviceGetCount(&value));
	EXPECT_EQ(value, 3);
	EXPECT_EQ(cuDeviceGet(&device, 3), CUDA_ERROR_INVALID_DEVICE);
	OK(cuDeviceGetName(name, sizeof(name), 2));
	EXPECT_STR(name, "NVIDIA X");
	OK(cuDeviceTotalMem_v2(&bytes, 2));
	EXPECT_EQ(bytes, 1000000512);
	OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
	EXPECT_EQ(value, 132);
	OK(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 0));
	EXPECT_EQ(value, 9);
	EXPECT_EQ(cuDeviceGetAttribute(&value, 0, 0), CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGetPCIBusId(bus, sizeof(bus), 2));
	OK(cuDeviceGetByPCIBusId(&device, bus));
	EXPECT_EQ(device, 2);
	OK(cuDeviceCanAccessPeer(&value, 0, 1));
	OK(cuDeviceCanAccessPeer(&other, 1, 1));
	EXPECT(value && !other);
}

TEST(visible_devices_are_chosen_and_keep_their_identity)
{
	int count;
	char bus[16], path[64], text[4096] = "";
	CUdeviceptr a;
	const char *state = new_state();
	setenv("GPUSHIM_DRYRUN_COUNT", "4", 1);
	setenv("CUDA_VISIBLE_DEVICES", "2, GPU-67707573-6869-6d2d-7374-616e64696e01,9,0", 1);
	start_small();
	OK(cuDeviceGetCount(&count));
	EXPECT_EQ(count, 2); /* the list ends at the first that is none */
	OK(cuDeviceGetPCIBusId(bus, sizeof(bus), 0));
	EXPECT_STR(bus, "0000:03:00.0");
	OK(cuDeviceGetPCIBusId(bus, sizeof(bus), 1));
	EXPECT_STR(bus, "0000:02:00.0");
	OK(cuMemAlloc_v2(&a, MIB));
	snprintf(path, sizeof(path), "%s.json", state);
	int (*write)(const char *, const char *) =
	    (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "gpushim_dryrun_write_stats");
	EXPECT_EQ(write(state, path), 0);
	FILE *file = fopen(path, "r");
	REQUIRE(file && fread(text, 1, sizeof(text) - 1, file) > 0);
	fclose(file);
	EXPECT(strstr(text, "{\"device\":2,\"mallocs\":1,") != NULL);
	EXPECT(strstr(text, "{\"device\":0,\"mallocs\":0,") != NULL);
	unlink(path);
	unlink(state);
}

TEST(no_visible_device_is_no_device)
{
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
}

TEST(a_foreign_library_keeps_the_device_from_starting)
{
	char folder[] = "/tmp/gpushim-foreign-XXXXXX", command[4400], path[64];
	Dl_info own;
	REQUIRE(mkdtemp(folder) && dladdr((void *)(uintptr_t)cuInit, &own));
	snprintf(path, sizeof(path), "%s/libcublas.so.12", folder);
	snprintf(command, sizeof(command), "cp '%s' '%s'", own.dli_fname, path);
	REQUIRE(system(command) == 0 && dlopen(path, RTLD_NOW | RTLD_LOCAL));
	REQUIRE(freopen("/dev/null", "w", stderr) != NULL); /* it says which */
	EXPECT_EQ(cuInit(0), CUDA_ERROR_NO_DEVICE);
	unlink(path);
	rmdir(folder);
}

TEST(errors_have_names)
{
	const char *text;
	OK(cuGetErrorName(CUDA_ERROR_OUT_OF_MEMORY, &text));
	EXPECT_STR(text, "CUDA_ERROR_OUT_OF_MEMORY");
	OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
	EXPECT_STR(text, "out of memory");
	EXPECT_EQ(cuGetErrorString((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
}

static void *entry(const char *name, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult status;
	void *function = (void *)1;
	OK(cuGetProcAddress_v2(name, &function, version, flags, &status));
	EXPECT_EQ(status, function ? CU_GET_PROC_ADDRESS_SUCCESS : status);
	return function;
}

#define SAME(name, version, flags, symbol) \
	EXPECT(entry(name, version, flags) == dlsym(RTLD_DEFAULT, symbol))

TEST(entry_points_by_name_version_and_flags)
{
	CUdriverProcAddressQueryResult status;
	void *function;
	SAME("cuMemAlloc", 2000, 0, "cuMemAlloc");
	SAME("cuMemAlloc", 3020, 0, "cuMemAlloc_v2");
	SAME("cuMemAlloc", 13000, 2, "cuMemAlloc_v2");
	SAME("cuLaunchKernel", 4000, 0, "cuLaunchKernel");
	SAME("cuLaunchKernel", 7000, 2, "cuLaunchKernel_ptsz");
	SAME("cuMemcpyHtoD", 12000, 2, "cuMemcpyHtoD_v2_ptds");
	SAME("cuMemcpyBatchAsync", 12080, 0, "cuMemcpyBatchAsync");
	SAME("cuMemcpyBatchAsync", 13000, 2, "cuMemcpyBatchAsync_v2_ptsz");
	SAME("cuCtxCreate", 12000, 0, "cuCtxCreate_v3");
	SAME("cuStreamGetCaptureInfo", 11020, 0, "cuStreamGetCaptureInfo");
	SAME("cuStreamGetCaptureInfo", 12000, 0, "cuStreamGetCaptureInfo_v2");
	SAME("cuStreamGetCaptureInfo", 13000, 0, "cuStreamGetCaptureInfo_v3");
	SAME("cuGraphInstantiate", 10000, 0, "cuGraphInstantiate");
	SAME("cuGraphInstantiate", 12000, 0, "cuGraphInstantiateWithFlags");
	SAME("cuGetProcAddress", 11030, 0, "cuGetProcAddress");
	SAME("cuGetProcAddress", 12000, 0, "cuGetProcAddress_v2");
	SAME("cuEventElapsedTime", 12080, 0, "cuEventElapsedTime_v2");
	OK(cuGetProcAddress_v2("", &function, 0, 0, &status));
	EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
	OK(cuGetProcAddress_v2("cuMemAllocAsync", &function, 11000, 0, &status));
	EXPECT(!function && status == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
	EXPECT_EQ(cuGetProcAddress("cuNoSuch", &function, 12000, 0), CUDA_ERROR_NOT_FOUND);
	EXPECT_EQ(
	    cuGetProcAddress_v2("cuInit", &function, 99000, 0, NULL), CUDA_ERROR_INVALID_VALUE);
}

TEST(contexts_stack_and_end)
{
	CUcontext first = start_small(), second, now;
	CUdevice device;
	CUdeviceptr a;
	CUstream stream;
	OK(cuCtxCreate_v2(&second, 0, 0));
	OK(cuCtxGetCurrent(&now));
	EXPECT(now == second);
	OK(cuMemAlloc_v2(&a, 1000));
	OK(cuStreamCreate(&stream, 0));
	OK(cuCtxPopCurrent_v2(&now));
	EXPECT(now == second);
	OK(cuCtxGetCurrent(&now));
	EXPECT(now == first);
	OK(cuCtxDestroy_v2(second));
	EXPECT_EQ(cuCtxDestroy_v2(second), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxPushCurrent_v2(second), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE); /* went with its context */
	EXPECT_EQ(cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
	OK(cuCtxGetDevice(&device));
	OK(cuCtxSetCurrent(NULL));
	EXPECT_EQ(cuCtxGetDevice(&device), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxSetCurrent((CUcontext)(void *)stream), CUDA_ERROR_INVALID_CONTEXT);
}

TEST(contexts_and_streams_tell_what_they_are)
{
	CUcontext context = start_small(), found;
	CUgreenCtx green = (CUgreenCtx)(uintptr_t)1;
	CUdevice device;
	CUstream stream;
	CUsharedconfig banks;
	unsigned number;
	unsigned long long id, other;
	int priority;
	OK(cuCtxGetDevice_v2(&device, context));
	EXPECT_EQ(device, 0);
	OK(cuCtxGetApiVersion(NULL, &number));
	EXPECT_EQ(number, 3020);
	OK(cuCtxSetFlags(CU_CTX_SCHED_YIELD));
	OK(cuCtxGetFlags(&number));
	EXPECT_EQ(number, CU_CTX_SCHED_YIELD);
	OK(cuCtxGetId(NULL, &id));
	OK(cuCtxGetSharedMemConfig(&banks));
	EXPECT_EQ(banks, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE);
	EXPECT_EQ(cuCtxSetSharedMemConfig((CUsharedconfig)9), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -99));
	EXPECT_EQ(cuCtxGetId((CUcontext)(void *)stream, &other), CUDA_ERROR_INVALID_CONTEXT);
	EXPECT_EQ(cuCtxGetId(context, NULL), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamGetPriority(stream, &priority));
	EXPECT_EQ(priority, -5);
	OK(cuStreamGetFlags(stream, &number));
	EXPECT_EQ(number, CU_STREAM_NON_BLOCKING);
	OK(cuStreamGetId(stream, &other));
	EXPECT(other && other != id);
	OK(cuStreamGetDevice(stream, &device));
	OK(cuStreamGetCtx_v2(stream, &found, &green));
	EXPECT(found == context && green == NULL);
	EXPECT_EQ(cuStreamGetCtx(stream, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuStreamGetFlags((CUstream)(void *)context, &number), CUDA_ERROR_INVALID_HANDLE);
}

static pthread_barrier_t all_used;

static void *use_own_stream(void *context)
{
	unsigned long long id;
	OK(cuCtxSetCurrent(context));
	OK(cuStreamGetId(CU_STREAM_PER_THREAD, &id));
	pthread_barrier_wait(&all_used);
	return NULL;
}

TEST(threads_end_while_their_context_does)
{
	enum { ROUNDS = 300, THREADS = 8 };
	pthread_t threads[THREADS];
	CUstream streams[2 * THREADS];
	CUcontext context;
	start_small();
	REQUIRE(pthread_barrier_init(&all_used, NULL, THREADS + 1) == 0);
	for (int round = 0; round < ROUNDS; round++) {
		OK(cuCtxCreate_v2(&context, 0, 0));
		for (int i = 0; i < THREADS; i++)
			REQUIRE(pthread_create(&threads[i], NULL, use_own_stream, context) == 0);
		pthread_barrier_wait(&all_used);
		OK(cuCtxDestroy_v2(context));
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	for (int i = 0; i < 2 * THREADS; i++) {
		OK(cuStreamCreate(&streams[i], 0));
		for (int j = 0; j < i; j++)
			REQUIRE(streams[i] != streams[j]);
	}
}

TEST(peer_access_ends_with_a_context)
{
	CUcontext other;
	setenv("GPUSHIM_DRYRUN_COUNT", "2", 1);
	start_small();
	OK(cuDevicePrimaryCtxRetain(&other, 1));
	OK(cuCtxEnablePeerAccess(other, 0));
	EXPECT_EQ(cuCtxEnablePeerAccess(other, 0), CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED);
	OK(cuDevicePrimaryCtxReset_v2(1));
	OK(cuCtxEnablePeerAccess(other, 0));
	OK(cuCtxDisablePeerAccess(other));
	EXPECT_EQ(cuCtxDisablePeerAccess(other), CUDA_ERROR_PEER_ACCESS_NOT_ENABLED);
}

TEST(wrong_handles_are_refused)
{
	CUfunction function;
	CUevent event;
	CUstream stream;
	start_small();
	function = load_kernel("nothing");
	OK(cuStreamCreate(&stream, 0));
	OK(cuEventCreate(&event, 0));
	EXPECT_EQ(launch((CUfunction)(void *)stream, NULL), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(launch((CUfunction)(void *)"text", NULL), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(launch(NULL, NULL), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(launch(function, (CUstream)(void *)event), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(cuEventRecord((CUevent)(void *)stream, NULL), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(cuEventQuery((CUevent)(uintptr_t)0x1000), CUDA_ERROR_INVALID_HANDLE);
	OK(cuStreamDestroy_v2(stream));
	EXPECT_EQ(cuStreamDestroy_v2(stream), CUDA_ERROR_INVALID_HANDLE);
	OK(cuEventDestroy_v2(event));
	EXPECT_EQ(cuEventDestroy_v2(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST(modules_functions_and_launch_limits)
{
	CUmodule module;
	CUfunction function;
	CUlibrary library;
	CUkernel kernel;
	const char *name;
	int value;
	start_small();
	EXPECT_EQ(cuModuleLoadData(&module, NULL), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuModuleLoadData(&module, "\x01garbage"), CUDA_ERROR_INVALID_IMAGE);
	EXPECT_EQ(cuModuleLoadData(&module, ".version 8.0\n.target sm_90\n"),
	    CUDA_ERROR_NO_BINARY_FOR_GPU);
	OK(cuModuleLoadData(&module, kernels_ptx));
	EXPECT_EQ(cuModuleGetFunction(&function, module, "missing"), CUDA_ERROR_NOT_FOUND);
	OK(cuModuleGetFunction(&function, module, "nothing"));
	OK(cuFuncGetName(&name, function));
	EXPECT_STR(name, "nothing");
	OK(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
	EXPECT_EQ(value, 75);
	OK(launch(function, NULL));
	EXPECT_EQ(cuLaunchKernel(function, 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 1025, 1, 1, 0, NULL, NULL, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 50000, NULL, NULL, NULL),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 100000));
	OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 50000, NULL, NULL, NULL));
	EXPECT_EQ(
	    cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 200000),
	    CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuLaunchCooperativeKernel(function, 100000, 1, 1, 1024, 1, 1, 0, NULL, NULL),
	    CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE);
	OK(cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 1024, 0));
	EXPECT_EQ(value, 2);
	OK(cuModuleUnload(module));
	EXPECT_EQ(launch(function, NULL), CUDA_ERROR_INVALID_HANDLE);
	OK(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "other"));
	OK(launch((CUfunction)kernel, NULL)); /* a kernel stands for its function */
	OK(cuKernelGetFunction(&function, kernel));
	OK(launch(function, NULL));
	OK(cuLibraryUnload(library));
	EXPECT_EQ(launch(function, NULL), CUDA_ERROR_INVALID_HANDLE);
}

static CUkernel library_kernel(void)
{
	CUlibrary library;
	CUkernel kernel;
	OK(cuLibraryLoadData(&library, kernels_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cuLibraryGetKernel(&kernel, library, "other"));
	return kernel;
}

TEST(a_kernel_runs_on_the_device_of_its_stream)
{
	CUcontext first, second;
	CUstream stream;
	setenv("GPUSHIM_DRYRUN_COUNT", "2", 1);
	first = start_small();
	OK(cuDevicePrimaryCtxRetain(&second, 1));
	OK(cuCtxSetCurrent(second));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuCtxSetCurrent(first));
	CUkernel kernel = library_kernel();
	OK(launch((CUfunction)kernel, stream));
	OK(launch((CUfunction)kernel, NULL));
	EXPECT_EQ(launch(load_kernel("other"), stream), CUDA_ERROR_INVALID_HANDLE);
}

TEST(attributes_of_kernels_hold_in_later_contexts)
{
	const CUfunction_attribute shared = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
	CUcontext context;
	int value;
	setenv("GPUSHIM_DRYRUN_COUNT", "2", 1);
	start_small();
	CUkernel kernel = library_kernel();
	OK(cuKernelSetAttribute(shared, 60000, kernel, 1));
	OK(cuKernelSetAttribute(shared, 70000, kernel, 1));
	EXPECT_EQ(cuKernelSetAttribute(shared, 900000, kernel, 1), CUDA_ERROR_INVALID_VALUE);
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	OK(cuKernelGetAttribute(&value, shared, kernel, 1));
	EXPECT_EQ(value, 70000);
	OK(cuKernelGetAttribute(&value, shared, kernel, 0));
	EXPECT_EQ(value, 49152);
}

TEST(variables_of_ptx_have_their_size)
{
	static const char ptx[] =
	    ".version 7.0\n.target sm_80\n.address_size 64\n"
	    ".visible .global .align 4 .b8 table[64];\n"
	    ".global .attribute(.managed) .align 8 .v2 .f32 pairs[2][3] = {1.0, 2.0};\n"
	    ".const .u64 one;\n"
	    ".visible .entry uses(.param .u64 .ptr .global .align 4 pointer)\n"
	    "{ ld.global.u32 a; st.global .u32 loose, 1; ret; }\n";
	CUmodule module;
	CUdeviceptr address;
	size_t bytes;
	unsigned out = 1;
	start_small();
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetGlobal_v2(&address, &bytes, module, "table"));
	EXPECT_EQ(bytes, 64);
	OK(cuMemcpyDtoH_v2(&out, address + 60, 4));
	EXPECT_EQ(out, 0);
	OK(cuModuleGetGlobal_v2(&address, &bytes, module, "pairs"));
	EXPECT_EQ(bytes, 48);
	OK(cuModuleGetGlobal_v2(&address, &bytes, module, "one"));
	EXPECT_EQ(bytes, 8);
	EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "tab"), CUDA_ERROR_NOT_FOUND);
	EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "loose"), CUDA_ERROR_NOT_FOUND);
	EXPECT_EQ(cuModuleGetGlobal_v2(&address, &bytes, module, "pointer"), CUDA_ERROR_NOT_FOUND);
	OK(cuModuleUnload(module));
}

TEST(a_cubin_whose_offsets_wrap_is_refused)
{
	static union {
		Elf64_Ehdr header;
		char room[4096];
	} image;
	CUmodule module;
	memcpy(image.header.e_ident, ELFMAG, SELFMAG);
	image.header.e_ident[EI_CLASS] = ELFCLASS64;
	image.header.e_machine = EM_CUDA;
	image.header.e_flags = 80;
	image.header.e_shentsize = sizeof(Elf64_Shdr);
	image.header.e_shnum = 1;
	start_small();
	image.header.e_shoff = -(uint64_t)sizeof(Elf64_Shdr);
	EXPECT_EQ(cuModuleLoadData(&module, &image), CUDA_ERROR_INVALID_IMAGE);
}

TEST(fills_are_executed)
{
	static const char ptx[] =
	    ".version 7.0\n.target sm_80\n"
	    ".visible .entry _ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEE"
	    "St5arrayIPcLm1EEEEviT0_T1_() { ret; }\n";
	CUmodule module;
	CUfunction function;
	CUdeviceptr a;
	float value = 2.5f, out[3] = {0};
	int count = 2;
	void *arguments[3] = {&count, &value, &a};
	start_small();
	OK(cuMemAlloc_v2(&a, 1024));
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&function, module,
	    "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_"
	    "11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_"));
	OK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
	OK(cuMemcpyDtoH_v2(out, a, sizeof(out)));
	EXPECT(out[0] == 2.5f && out[1] == 2.5f && out[2] == 0);
	count = 1 << 20; /* beyond the block: left alone */
	OK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL));
}

static char *read_file(const char *path)
{
	static char text[65536];
	FILE *file = fopen(path, "r");
	REQUIRE(file != NULL);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return text;
}

static void write_stats(const char *state, const char *path)
{
	int (*write)(const char *, const char *) =
	    (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "gpushim_dryrun_write_stats");
	REQUIRE(write != NULL);
	EXPECT_EQ(write(state, path), 0);
}

TEST(counts_survive_a_killed_process_and_its_memory_is_free_again)
{
	const char *state = new_state();
	char path[64];
	size_t left;
	snprintf(path, sizeof(path), "%s.json", state);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		CUdeviceptr a;
		CUtexref texture;
		start_small();
		OK(cuMemAlloc_v2(&a, 512 * MIB));
		OK(cuMemsetD8_v2(a, 1, 10));
		OK(cuMemcpyHtoD_v2(a, &a, 8));
		OK(launch(load_kernel("nothing"), NULL));
		OK(cuCtxSynchronize());
		EXPECT_EQ(cuTexRefCreate(&texture), CUDA_ERROR_NOT_SUPPORTED);
		kill(getpid(), SIGKILL);
	}
	int status;
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status));
	write_stats(state, path);
	EXPECT_STR(read_file(path),
	    "{\"mallocs\":1,\"frees\":0,\"launches\":1,\"copies\":1,\"copy_bytes\":8,\"memsets\":1,"
	    "\"synchronizations\":1,\"peak_bytes\":536870912,\"devices\":[{\"device\":0,"
	    "\"mallocs\":1,"
	    "\"frees\":0,\"launches\":1,\"copies\":1,\"copy_bytes\":8,\"memsets\":1,"
	    "\"synchronizations\":1,\"peak_bytes\":536870912}],\"not_computed\":[]}\n");
	start_small();
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
	int (*tell)(const char *, int) =
	    (int (*)(const char *, int))dlsym(RTLD_DEFAULT, "gpushim_dryrun_tell");
	FILE *out = fopen(path, "w");
	tell(state, fileno(out));
	fclose(out);
	EXPECT(strstr(read_file(path), "cuTexRefCreate (1 call)") != NULL);
	unlink(path);
	unlink(state);
}

TEST(processes_share_the_budget)
{
	const char *state = new_state();
	int go[2], done[2];
	char byte;
	CUdeviceptr a;
	REQUIRE(pipe(go) == 0 && pipe(done) == 0);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		start_small();
		OK(cuMemAlloc_v2(&a, 768 * MIB));
		REQUIRE(write(done[1], "x", 1) == 1 && read(go[0], &byte, 1) == 1);
		exit(0);
	}
	REQUIRE(read(done[0], &byte, 1) == 1);
	start_small();
	EXPECT_EQ(cuMemAlloc_v2(&a, 512 * MIB), CUDA_ERROR_OUT_OF_MEMORY);
	REQUIRE(write(go[1], "x", 1) == 1);
	waitpid(child, NULL, 0);
	OK(cuMemAlloc_v2(&a, 512 * MIB));
	unlink(state);
}

TEST(the_budget_is_right_after_kills_at_any_moment)
{
	const char *state = new_state();
	size_t left;
	fflush(stdout);
	for (unsigned round = 0; round < 60; round++) {
		pid_t child = fork();
		if (child == 0) {
			CUdeviceptr a[8] = {0};
			start_small();
			for (unsigned i = 0;; i = (i + 1) % 8) {
				if (a[i])
					OK(cuMemFree_v2(a[i]));
				OK(cuMemAlloc_v2(&a[i], MIB + i));
			}
		}
		usleep(3000 + round * 137);
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	start_small();
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB);
	unlink(state);
}

TEST(a_forked_child_has_no_device_and_disturbs_nothing)
{
	const char *state = new_state();
	CUdeviceptr a, b;
	size_t left;
	void *pinned;
	start_small();
	OK(cuMemAlloc_v2(&a, 100 * MIB));
	OK(cuMemHostAlloc(&pinned, 4096, 0));
	memset(pinned, 3, 4096);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		EXPECT_EQ(cuMemAlloc_v2(&b, 1), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT_EQ(cuMemFree_v2(a), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT_EQ(cuInit(0), CUDA_ERROR_NOT_INITIALIZED);
		EXPECT_EQ(((char *)pinned)[5], 3);
		exit(test_failures != 0);
	}
	int status;
	waitpid(child, &status, 0);
	EXPECT_EQ(status, 0);
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, GIB - 100 * MIB);
	OK(cuMemFree_v2(a));
	unlink(state);
}

TEST(calls_fail_as_the_script_says)
{
	CUdeviceptr a;
	setenv("GPUSHIM_DRYRUN_FAULTS",
	    "cuMemAlloc_v2:2=2,cuMemAlloc_v2:>1000000=46 "
	    "cuStreamCreate:3+=999,cuCtxSynchronize:*=719",
	    1);
	start_small();
	CUstream stream;
	OK(cuMemAlloc_v2(&a, 10));
	EXPECT_EQ(cuMemAlloc_v2(&a, 10), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemAlloc_v2(&a, 10));
	EXPECT_EQ(cuMemAlloc_v2(&a, 2000000), CUDA_ERROR_DEVICE_UNAVAILABLE);
	OK(cuStreamCreate(&stream, 0));
	OK(cuStreamCreate(&stream, 0));
	EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_UNKNOWN);
	EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_UNKNOWN);
	EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(a_device_is_lost)
{
	CUdeviceptr a;
	const char *text;
	int version;
	setenv("GPUSHIM_DRYRUN_FAULTS", "cuLaunchKernel:2=719!", 1);
	start_small();
	CUfunction function = load_kernel("nothing");
	OK(cuMemAlloc_v2(&a, 10));
	OK(launch(function, NULL));
	EXPECT_EQ(launch(function, NULL), CUDA_ERROR_LAUNCH_FAILED);
	EXPECT_EQ(cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
	EXPECT_EQ(cuMemFree_v2(a), CUDA_ERROR_LAUNCH_FAILED);
	/* What asks nothing of the device. */
	OK(cuGetErrorName(CUDA_ERROR_LAUNCH_FAILED, &text));
	OK(cuDriverGetVersion(&version));
}

TEST(another_process_takes_memory)
{
	CUdeviceptr a;
	size_t left, total;
	setenv("GPUSHIM_DRYRUN_FAULTS", "cuMemAlloc_v2:2^536870912,cuMemAlloc_v2:3^99999999999", 1);
	setenv("GPUSHIM_DRYRUN_COUNT", "2", 1);
	start_small();
	OK(cuMemAlloc_v2(&a, 100 * MIB));
	OK(cuMemAlloc_v2(&a, 100 * MIB));
	OK(cuMemGetInfo_v2(&left, &total));
	EXPECT_EQ(left, GIB - 712 * MIB);
	EXPECT_EQ(cuMemAlloc_v2(&a, 1), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemGetInfo_v2(&left, &total));
	EXPECT_EQ(left, 0);
	EXPECT_EQ(total, GIB);
}

TEST(faults_of_a_file_by_pattern_and_caller)
{
	CUdeviceptr a;
	CUstream stream;
	char path[] = "/tmp/gpushim-faults-XXXXXX", word[64];
	static const char text[] = "# a comment\n"
				   "cuMem*Alloc*:2=2 # the second of any\n"
				   "cuMemFree_v2@libno:*=999\n"
				   "cuStreamCreate@test_driver_state:1=46\n"
				   "nonsense\n";
	int file = mkstemp(path);
	REQUIRE(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	close(file);
	snprintf(word, sizeof(word), "@%s,@/nowhere", path);
	setenv("GPUSHIM_DRYRUN_FAULTS", word, 1);
	start_small();
	unlink(path);
	void *host;
	OK(cuMemAlloc_v2(&a, 10));
	EXPECT_EQ(cuMemHostAlloc(&host, 10, 0), CUDA_ERROR_OUT_OF_MEMORY);
	OK(cuMemFree_v2(a));
	EXPECT_EQ(cuStreamCreate(&stream, 0), CUDA_ERROR_DEVICE_UNAVAILABLE);
	OK(cuStreamCreate(&stream, 0));
}

TEST(calls_are_logged)
{
	char path[64];
	CUdeviceptr a;
	snprintf(path, sizeof(path), "/tmp/gpushim-calls-%d", (int)getpid());
	setenv("GPUSHIM_DRYRUN_CALLS", "/tmp/gpushim-calls-%p", 1);
	start_small();
	OK(cuMemAlloc_v2(&a, 10));
	EXPECT_EQ(cuMemFree_v2(a + 1), CUDA_ERROR_INVALID_VALUE);
	EXPECT_STR(read_file(path),
	    "cuInit 0\ncuDevicePrimaryCtxRetain 0\ncuCtxSetCurrent 0\ncuMemAlloc_v2 0\n"
	    "cuMemFree_v2 1\n");
	unlink(path);
}

/* ---- threads ---- */

static CUcontext shared_context;
static CUfunction shared_function;

static void *use_everything(void *argument)
{
	unsigned seed = (unsigned)(uintptr_t)argument;
	CUstream stream;
	CUevent event;
	OK(cuCtxSetCurrent(shared_context));
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, 0));
	for (int i = 0; i < 300; i++) {
		unsigned in = seed * 1000 + (unsigned)i, out = 0;
		CUdeviceptr a, b;
		OK(cuMemAlloc_v2(&a, 4 + i * 1000));
		OK(cuMemAllocAsync(&b, 4 + i * 10000, stream));
		OK(cuMemsetD32Async(b, in, 1, stream));
		OK(cuMemcpyDtoDAsync_v2(a, b, 1, stream));
		OK(cuMemcpyHtoDAsync_v2(b, &in, 1, stream));
		OK(launch(shared_function, stream));
		OK(launch(shared_function, CU_STREAM_PER_THREAD));
		OK(cuEventRecord(event, stream));
		OK(cuStreamWaitEvent(CU_STREAM_PER_THREAD, event, 0));
		OK(cuEventQuery(event));
		OK(cuMemcpyDtoH_v2(&out, b, 1));
		OK(cuMemFreeAsync(b, stream));
		OK(cuMemFree_v2(a));
		REQUIRE((out & 0xff) == (in & 0xff));
	}
	OK(cuStreamSynchronize(stream));
	OK(cuStreamDestroy_v2(stream));
	OK(cuEventDestroy_v2(event));
	return NULL;
}

TEST(sixteen_threads)
{
	pthread_t threads[16];
	size_t left;
	shared_context = start("total=17179869184;cc=8.0");
	shared_function = load_kernel("nothing");
	for (uintptr_t i = 0; i < 16; i++)
		REQUIRE(pthread_create(&threads[i], NULL, use_everything, (void *)(i + 1)) == 0);
	for (int i = 0; i < 16; i++)
		pthread_join(threads[i], NULL);
	OK(cuMemGetInfo_v2(&left, NULL));
	EXPECT_EQ(left, 16 * GIB);
}
