/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels that are executed, what is known of memory, and what is said about the rest. */
#include "tests/dryrun/driver_test.h"

#include <dlfcn.h>
#include <math.h>
#include <stdint.h>

#define ARRAY(n) "St5arrayIPcLm" #n "EE"
#define FILL \
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEE" ARRAY( \
	    1) "EEviT0_T1_"
#define ADD \
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_15CUDAFunctor_addIfEE" ARRAY( \
	    3) "EEviT0_T1_"
/* A functor that nobody knows. */
#define SOME \
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11SomeFunctorIfEE" ARRAY( \
	    2) "EEviT0_T1_"
/* The right name, but one argument more. */
#define LONG \
	"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEE" ARRAY( \
	    1) "EEviT0_T1_l"
/* a < b of floats that are not contiguous */
#define LESS \
	"_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_" \
	"13BinaryFunctorIffbNS0_14CompareFunctorIfEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_" \
	"EEviT1_"
#define INDEX \
	"_ZN2at6native24index_elementwise_kernelILi128ELi4EZNS0_16gpu_index_kernelIZNS0_17index_" \
	"kernel_impl" \
	"INS0_10OpaqueTypeILi4EEEEEvRNS_18TensorIteratorBaseEN3c108ArrayRefIlEESA_EUlPcPKclE_EEv" \
	"RNS_18TensorIteratorBaseESA_SA_RKT_bEUliE_EEvlT1_"

/* Names that end in digits stand in front of the one that counts. */
#define LOSS \
	"_ZN2at6native39_GLOBAL__N__6bd09d29_7_Loss_cu_5b0651e13" \
	"8nll_loss_forward_reduce_cuda_kernel_1dIN3c104HalfElEEvPT_S6_PKS5_PKT0_S8_bll"

#define ENTRY(name) ".visible .entry " name "() { ret; }\n"

static CUfunction kernel(const char *name)
{
	static const char ptx[] =
	    ".version 7.0\n.target sm_80\n.address_size 64\n" ENTRY(FILL) ENTRY(ADD) ENTRY(SOME)
		ENTRY(LONG) ENTRY(LESS) ENTRY(INDEX) ENTRY("some_reduction") ENTRY(LOSS);
	CUmodule module;
	CUfunction function;
	OK(cuModuleLoadData(&module, ptx));
	OK(cuModuleGetFunction(&function, module, name));
	return function;
}

/* A grid as PyTorch makes it. */
static CUresult run(CUfunction function, int count, void **arguments)
{
	return cuLaunchKernel(
	    function, (unsigned)(count + 511) / 512, 1, 1, 128, 1, 1, 0, NULL, arguments, NULL);
}

static void fill(CUdeviceptr at, int count, float value)
{
	void *arguments[] = {&count, &value, &at};
	OK(run(kernel(FILL), count, arguments));
}

static void add(CUdeviceptr to, CUdeviceptr a, CUdeviceptr b, int count, float alpha)
{
	CUdeviceptr data[] = {to, a, b};
	void *arguments[] = {&count, &alpha, data};
	OK(run(kernel(ADD), count, arguments));
}

/* In place, by a kernel that is not executed. */
static void spoil(CUdeviceptr at, int count)
{
	CUdeviceptr data[] = {at, at};
	char functor = 0;
	void *arguments[] = {&count, &functor, data};
	OK(run(kernel(SOME), count, arguments));
}

static CUdeviceptr memory(size_t bytes)
{
	CUdeviceptr at;
	OK(cuMemAlloc_v2(&at, bytes));
	return at;
}

static float float_at(CUdeviceptr at)
{
	float value = NAN;
	OK(cuMemcpyDtoH_v2(&value, at, sizeof(value)));
	return value;
}

static bool known(CUdeviceptr at, size_t bytes)
{
	static int (*load)(void *, unsigned long long, size_t);
	char room[65536];
	if (!load)
		load = (int (*)(void *, unsigned long long, size_t))dlsym(
		    RTLD_DEFAULT, "gpushim_dryrun_load");
	REQUIRE(load && bytes <= sizeof(room));
	return load(room, at, bytes) == 1;
}

/* How often --stats says that results of a kernel were read; -1 when it does not name it. */
static int reads_of(const char *state, const char *kernel_name)
{
	char path[64], text[65536], key[256];
	int reads = -1;
	int (*write)(const char *, const char *) =
	    (int (*)(const char *, const char *))dlsym(RTLD_DEFAULT, "gpushim_dryrun_write_stats");
	REQUIRE(write != NULL);
	snprintf(path, sizeof(path), "%s.json", state);
	EXPECT_EQ(write(state, path), 0);
	FILE *file = fopen(path, "r");
	REQUIRE(file != NULL);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	unlink(path);
	snprintf(key, sizeof(key), "{\"kernel\":%s,\"reads\":", kernel_name);
	const char *at = strstr(text, key);
	if (at)
		reads = atoi(at + strlen(key));
	return reads;
}

TEST(numbers_are_computed)
{
	start_small();
	CUdeviceptr a = memory(4096);
	fill(a, 100, 1.5f);
	fill(a + 512, 100, 4);
	add(a + 1024, a, a + 512, 100, 0.5f);
	EXPECT(float_at(a + 1024) == 3.5f && float_at(a + 1024 + 99 * 4) == 3.5f);
	EXPECT(known(a + 1024, 400) && !known(a + 1024, 401));
}

TEST(every_byte_is_known_for_itself)
{
	start_small();
	CUdeviceptr a = memory(3 << 20);
	EXPECT(!known(a, 1));
	OK(cuMemsetD8_v2(a + 3, 1, 2));
	EXPECT(known(a + 3, 2) && !known(a + 2, 2) && !known(a + 4, 2));
	OK(cuMemsetD8_v2(a + 511, 0, 514)); /* a zero is as good as any number */
	EXPECT(known(a + 511, 514) && !known(a + 510, 2) && !known(a + 1024, 2));
	OK(cuMemsetD8_v2(a + 5, 0, 506));
	EXPECT(known(a + 3, 1022));
	OK(cuMemsetD8_v2(a, 0, 3 << 20));
	EXPECT(known(a + (2 << 20) - 100, 200));
	spoil(a + 600, 1);
	EXPECT(!known(a + 600, 1) && !known(a + 603, 1) && known(a + 604, 500) && known(a, 600));
	OK(cuMemFree_v2(a));
	EXPECT_EQ(memory(3 << 20), a); /* else the next line says nothing */
	EXPECT(!known(a, 1) && !known(a + 604, 1));
}

TEST(knowledge_goes_along_with_copies)
{
	start_small();
	CUdeviceptr a = memory(65536);
	fill(a + 100, 10, 2);
	OK(cuMemcpyDtoD_v2(a + 8192, a, 8000));
	EXPECT(known(a + 8192 + 100, 40) && !known(a + 8192 + 99, 1) && !known(a + 8192 + 140, 1));
	EXPECT(float_at(a + 8192 + 136) == 2);
	OK(cuMemsetD8_v2(a + 8192, 0, 8000));
	OK(cuMemcpyDtoD_v2(a + 8192, a + 32768, 8000)); /* unknown over known */
	EXPECT(!known(a + 8192 + 100, 1));
	OK(cuMemsetD8_v2(a + 16384, 0, 8000)); /* zeros that take no memory */
	OK(cuMemcpyDtoD_v2(a + 8192, a + 16384, 8000));
	EXPECT(known(a + 8192, 8000) && !known(a + 8192, 8001));
}

TEST(results_of_unknown_numbers_are_unknown)
{
	start_small();
	CUdeviceptr a = memory(4096);
	fill(a, 4, 1);
	fill(a + 1024, 4, 7);
	spoil(a + 512, 4);
	add(a + 1024, a, a + 512, 4, 1);
	EXPECT(!known(a + 1024, 1));
	EXPECT(float_at(a + 1024) == 0);
	fill(a + 512, 4, 2);
	add(a + 1024, a, a + 512, 4, 1);
	EXPECT(known(a + 1024, 16) && float_at(a + 1024 + 12) == 3);
}

TEST(large_tensors_are_not_computed_with)
{
	start_small();
	CUdeviceptr a = memory(8 << 20);
	int count = 1 << 20;
	OK(cuMemsetD8_v2(a, 0, 8 << 20));
	add(a, a, a, count, 1);
	EXPECT(!known(a, 4) && !known(a + 4 * (size_t)count - 1, 1) &&
	       known(a + 4 * (size_t)count, 1));
}

/* Nothing happens, least of all a crash. */
TEST(odd_arguments_are_left_alone)
{
	start_small();
	CUdeviceptr a = memory(4096), end = a + (2 << 20),
		    wrong[] = {0, 8, a - 8, end, ~UINT64_C(0) - 7};
	fill(a, 8, 1);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		fill(wrong[i], 8, 5);
		add(wrong[i], a, a, 8, 1);
		add(a + 512, a, wrong[i], 8, 1);
		spoil(wrong[i], 8);
	}
	fill(a + 4088, 8, 5); /* beyond the end */
	EXPECT(!known(a + 512, 1) && !known(a + 4088, 1));
	EXPECT(float_at(a) == 1);
	int counts[] = {0, -1, INT32_MAX, INT32_MIN};
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		float value = 3;
		void *arguments[] = {&counts[i], &value, &a};
		OK(run(kernel(FILL), 8, arguments));
	}
	EXPECT(float_at(a) == 1);
	OK(cuLaunchKernel(kernel(FILL), 1, 1, 1, 128, 1, 1, 0, NULL, NULL, NULL));
	OK(cuMemFree_v2(a));
	add(a, a, a, 8, 1); /* memory that is gone */
}

TEST(another_signature_is_another_kernel)
{
	start_small();
	CUdeviceptr a = memory(512);
	int count = 8;
	float value = 5;
	void *arguments[] = {&count, &value, &a, &a};
	OK(run(kernel(LONG), count, arguments));
	EXPECT(!known(a, 1) && float_at(a) == 0);
}

/* As PyTorch lays them out: int dims; {divisor, magic, shift} sizes[25]; uint32_t strides[25][n].
 */
static void offsets(
    char *to, unsigned tensors, unsigned dims, const uint32_t *sizes, const uint32_t *strides)
{
	memcpy(to, &dims, 4);
	for (unsigned d = 0; d < dims; d++) {
		memcpy(to + 4 + 12 * d, &sizes[d], 4);
		memcpy(to + 304 + 4 * d * tensors, strides + d * tensors, 4 * tensors);
	}
}

TEST(strided_tensors_are_walked)
{
	start_small();
	struct {
		char offsets[608]; /* OffsetCalculator<3> and padding */
		CUdeviceptr data[3];
		int functor;
	} lambda = {.functor = 3}; /* less */
	CUdeviceptr a = memory(4096);
	const float numbers[6] = {1, 5, 2, 4, 3, 3};
	unsigned char less[6] = {9, 9, 9, 9, 9, 9};
	int count = 6;
	void *arguments[] = {&count, &lambda};
	OK(cuMemcpyHtoD_v2(a, numbers, sizeof(numbers)));
	OK(cuMemcpyHtoD_v2(a + 512, less, sizeof(less)));
	/* [3][2] < [2][3] transposed; the result is contiguous */
	offsets(
	    lambda.offsets, 3, 2, (const uint32_t[]){2, 3}, (const uint32_t[]){1, 4, 12, 2, 8, 4});
	lambda.data[0] = a + 512;
	lambda.data[1] = lambda.data[2] = a;
	OK(run(kernel(LESS), count, arguments));
	OK(cuMemcpyDtoH_v2(less, a + 512, sizeof(less)));
	const unsigned char right[6] = {0, 0, 1, 0, 0, 0}; /* 1<1 5<4 2<5 4<3 3<2 3<3 */
	EXPECT(memcmp(less, right, sizeof(right)) == 0);
	spoil(a + 4, 1); /* 5: compared in elements 1 and 2 */
	OK(run(kernel(LESS), count, arguments));
	EXPECT(!known(a + 512, 1));
	offsets(
	    lambda.offsets, 3, 2, (const uint32_t[]){2, 4}, (const uint32_t[]){1, 4, 12, 2, 8, 4});
	OK(run(kernel(LESS), count, arguments)); /* sizes that are not the count */
}

struct index_lambda {
	char offsets[608];
	CUdeviceptr out, in;
	size_t indices;
	CUdeviceptr index[25];
	int64_t size[25], stride[25];
	char functor;
};

TEST(reading_by_index)
{
	start_small();
	static struct index_lambda lambda;
	CUdeviceptr a = memory(4096);
	const float numbers[4] = {10, 11, 12, 13};
	int64_t index[3] = {2, -1, 0}, count = 3;
	float out[3];
	void *arguments[] = {&count, &lambda};
	OK(cuMemcpyHtoD_v2(a, numbers, sizeof(numbers)));
	OK(cuMemcpyHtoD_v2(a + 1024, index, sizeof(index)));
	offsets(lambda.offsets, 3, 1, (const uint32_t[]){3}, (const uint32_t[]){4, 0, 8});
	lambda.out = a + 2048;
	lambda.in = a;
	lambda.indices = 1;
	lambda.index[0] = a + 1024;
	lambda.size[0] = 4;
	lambda.stride[0] = 4;
	OK(run(kernel(INDEX), (int)count, arguments));
	OK(cuMemcpyDtoH_v2(out, a + 2048, sizeof(out)));
	EXPECT(out[0] == 12 && out[1] == 13 && out[2] == 10);
	index[0] = 4; /* out of bounds: the device would stop here */
	OK(cuMemcpyHtoD_v2(a + 1024, index, sizeof(index)));
	OK(run(kernel(INDEX), (int)count, arguments));
	lambda.indices = 1000;
	OK(run(kernel(INDEX), (int)count, arguments));
	/* strides that lead around all of 64 bits */
	index[0] = 0;
	OK(cuMemcpyHtoD_v2(a + 1024, index, sizeof(index)));
	index[0] = INT64_C(1) << 31;
	OK(cuMemcpyHtoD_v2(a + 1536, index, sizeof(index)));
	lambda.indices = 4;
	for (int i = 0; i < 4; i++) {
		lambda.index[i] = i ? a + 1024 : a + 1536;
		lambda.size[i] = (INT64_C(1) << 31) + 1;
		lambda.stride[i] = INT64_C(1) << 31;
	}
	OK(run(kernel(INDEX), (int)count, arguments));
	OK(cuMemcpyDtoH_v2(out, a + 2048, sizeof(out)));
}

TEST(reading_by_more_indices_than_are_computed)
{
	start_small();
	static struct index_lambda lambda;
	int64_t count = 40000;
	CUdeviceptr a = memory((size_t)count * 12);
	void *arguments[] = {&count, &lambda};
	OK(cuMemsetD8_v2(a, 0, (size_t)count * 12));
	offsets(lambda.offsets, 3, 1, (const uint32_t[]){40000}, (const uint32_t[]){4, 0, 8});
	lambda.out = a + (CUdeviceptr)count * 8;
	lambda.in = a;
	lambda.indices = 1;
	lambda.index[0] = a;
	lambda.size[0] = 4;
	lambda.stride[0] = 4;
	EXPECT(known(lambda.out, 65536));
	OK(run(kernel(INDEX), (int)count, arguments));
	EXPECT(!known(lambda.out, 4) && !known(lambda.out + (CUdeviceptr)count * 4 - 4, 4));
	EXPECT(known(lambda.out - 4, 4));
}

TEST(graphs_keep_what_is_computed)
{
	start_small();
	CUdeviceptr a = memory(4096);
	CUstream stream;
	CUgraph graph;
	CUgraphExec exec;
	CUfunction function = kernel(ADD);
	CUdeviceptr data[] = {a, a, a + 512};
	int count = 4;
	float alpha = 1;
	void *arguments[] = {&count, &alpha, data};
	fill(a, 4, 1);
	fill(a + 512, 4, 1);
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	OK(cuLaunchKernel(function, 1, 1, 1, 128, 1, 1, 0, stream, arguments, NULL));
	OK(cuStreamEndCapture(stream, &graph));
	memset(arguments, 0, sizeof(arguments));
	EXPECT(float_at(a) == 1);
	OK(cuGraphInstantiateWithFlags(&exec, graph, 0));
	OK(cuGraphDestroy(graph));
	for (int i = 0; i < 3; i++)
		OK(cuGraphLaunch(exec, stream));
	OK(cuStreamSynchronize(stream));
	EXPECT(float_at(a) == 4);
	OK(cuGraphExecDestroy(exec));
}

static void handed_out(CUdeviceptr at, size_t bytes)
{
	void (*clear)(void *, size_t) =
	    (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "gpushim_dryrun_clear");
	REQUIRE(clear != NULL);
	clear((void *)(uintptr_t)at, bytes);
}

static const char *what_is_told(const char *state)
{
	static char said[4096];
	FILE *file = tmpfile();
	int (*tell)(const char *, int) =
	    (int (*)(const char *, int))dlsym(RTLD_DEFAULT, "gpushim_dryrun_tell");
	REQUIRE(tell && file);
	tell(state, fileno(file));
	rewind(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = 0;
	fclose(file);
	return said;
}

TEST(reads_of_what_nobody_computed_are_counted)
{
	const char *state = new_state();
	start_small();
	CUdeviceptr a = memory(65536);
	fill(a, 4, 1);
	float_at(a);
	EXPECT_EQ(reads_of(state, "\"some_reduction\""), -1);
	handed_out(a + 512, 512);
	OK(launch(kernel("some_reduction"), NULL));
	EXPECT_EQ(reads_of(state, "\"some_reduction\""), -1);
	float_at(a + 512);
	float_at(a + 512);
	EXPECT_EQ(reads_of(state, "\"some_reduction\""), 2);
	add(a + 1024, a, a + 512, 4, 1); /* passed on to what was made of it */
	OK(cuMemcpyDtoD_v2(a + 2048, a + 1024, 16));
	float_at(a + 2048);
	EXPECT_EQ(reads_of(state, "\"some_reduction\""), 3);
	EXPECT_EQ(reads_of(state, "null"), -1);
	float_at(a + 32768);
	EXPECT_EQ(reads_of(state, "null"), 1);
	handed_out(a + 4096, 512);
	OK(launch(kernel(LOSS), NULL));
	float_at(a + 4096);
	EXPECT_EQ(reads_of(state, "\"nll_loss_forward_reduce_cuda_kernel_1d\""), 1);
	const char *said = what_is_told(state);
	EXPECT(strstr(said, "some_reduction (3 times)\n") && strstr(said, "others (1 time)\n"));
	EXPECT(!strstr(said, "FillFunctor"));
	unlink(state);
}
