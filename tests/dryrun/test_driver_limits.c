/* SPDX-License-Identifier: Apache-2.0 */
/* The stand-in driver where the process may not have what it likes: ulimit -d, -v, -f. */
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "tests/dryrun/driver_test.h"

/* Sanitizers need more address space than any limit here allows. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITS_WORK false
#else
#define LIMITS_WORK true
#endif

static void limit(int resource, uint64_t bytes)
{
	struct rlimit to = {bytes, bytes};
	if (!LIMITS_WORK)
		exit(77);
	REQUIRE(setrlimit((__rlimit_resource_t)resource, &to) == 0);
}

static void start_large(void)
{
	start("name=Large GPU;total=85899345920;cc=8.0;sm=108"); /* 80 GiB */
}

static uint64_t address_space_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;
	REQUIRE(file && fscanf(file, "%llu", &pages) == 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint64_t resident_bytes(void)
{
	FILE *file = fopen("/proc/self/statm", "re");
	unsigned long long pages = 0;
	REQUIRE(file && fscanf(file, "%*u %llu", &pages) == 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static uint32_t word_at(CUdeviceptr address)
{
	uint32_t word = 77;
	OK(cuMemcpyDtoH_v2(&word, address, 4));
	return word;
}

/* What was stored is read, what was cleared is zero and costs nothing. */
static void use_memory(void)
{
	static char text[MIB], back[MIB];
	void (*clear)(void *, size_t);
	CUdeviceptr large, a;
	*(void **)&clear = dlsym(RTLD_DEFAULT, "gpushim_dryrun_clear");
	REQUIRE(clear);
	OK(cuMemAlloc_v2(&large, 70 * GIB));
	OK(cuMemAlloc_v2(&a, 32 * MIB));
	uint64_t before = resident_bytes();
	for (uint64_t i = 0; i < 32; i++) {
		memset(text, (int)i + 1, sizeof(text));
		OK(cuMemcpyHtoD_v2(a + i * MIB, text, sizeof(text)));
	}
	OK(cuMemcpyDtoH_v2(back, a + 31 * MIB, sizeof(back)));
	EXPECT(memcmp(text, back, sizeof(text)) == 0);
	EXPECT_EQ(word_at(a + 16 * MIB), 0x11111111);
	OK(cuMemsetD32_v2(large + 69 * GIB, 5, 4));
	EXPECT_EQ(word_at(large + 69 * GIB), 5);
	EXPECT(resident_bytes() - before > 30 * MIB);
	clear((void *)(uintptr_t)a, 32 * MIB);
	EXPECT(resident_bytes() - before < 4 * MIB);
	EXPECT_EQ(word_at(a + 16 * MIB), 0);
	OK(cuMemFree_v2(large));
	OK(cuMemFree_v2(a));
}

/* Memory that was exported and is used again is as good as new. */
static void export_memory(void)
{
	CUipcMemHandle handle;
	CUdeviceptr a;
	OK(cuMemAlloc_v2(&a, 4 * MIB));
	OK(cuMemsetD32_v2(a + 3 * MIB, 1, 4));
	OK(cuIpcGetMemHandle(&handle, a));
	EXPECT_EQ(word_at(a + 3 * MIB), 1);
	OK(cuMemFree_v2(a));
	OK(cuMemAlloc_v2(&a, 4 * MIB));
	EXPECT_EQ(word_at(a), 0);
	EXPECT_EQ(word_at(a + 3 * MIB), 0);
	OK(cuMemsetD32_v2(a + 3 * MIB, 2, 1));
	EXPECT_EQ(word_at(a + 3 * MIB), 2);
	OK(cuMemFree_v2(a));
}

TEST(without_limits)
{
	start_large();
	use_memory();
	export_memory();
}

TEST(little_data)
{
	limit(RLIMIT_DATA, 256 * MIB);
	EXPECT(mmap(NULL, GIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		   -1, 0) == MAP_FAILED); /* the limit works */
	start_large();
	use_memory();
	export_memory();
}

TEST(little_data_and_small_files)
{
	limit(RLIMIT_FSIZE, MIB);
	limit(RLIMIT_DATA, 256 * MIB);
	start_large();
	use_memory();
}

/* The program keeps half of what the limit leaves. */
TEST(little_address_space)
{
	limit(RLIMIT_AS, 400 * GIB);
	start_large();
	use_memory();
	EXPECT(address_space_bytes() < 220 * GIB);
}

static FILE *errors; /* what stderr gets meanwhile */
static int old_stderr;

static void listen_to_errors(void)
{
	errors = tmpfile();
	old_stderr = dup(2);
	REQUIRE(errors && old_stderr >= 0 && dup2(fileno(errors), 2) == 2);
}

static const char *what_was_said(void)
{
	static char said[4096];
	REQUIRE(dup2(old_stderr, 2) == 2);
	rewind(errors);
	said[fread(said, 1, sizeof(said) - 1, errors)] = 0;
	return said;
}

TEST(hardly_enough_address_space)
{
	CUdeviceptr at;
	limit(RLIMIT_AS, 180 * GIB);
	start_large();
	use_memory();
	listen_to_errors();
	EXPECT_EQ(cuMemAddressReserve(&at, 90 * GIB, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(strstr(what_was_said(), "no gap of 90.0 GiB among the 81.0 GiB"));
}

TEST(too_little_address_space)
{
	limit(RLIMIT_AS, 100 * GIB);
	uint64_t before = address_space_bytes();
	listen_to_errors();
	setenv("GPUSHIM_DRYRUN_DEVICE", "name=Large GPU;total=85899345920;cc=8.0;sm=108", 1);
	EXPECT_EQ(cuInit(0), CUDA_ERROR_OPERATING_SYSTEM);
	const char *said = what_was_said();
	EXPECT(strstr(said, "ulimit -v leaves"));
	EXPECT(strstr(said, "172.5 GiB are needed"));
	EXPECT(address_space_bytes() - before < 64 * MIB); /* nothing is left behind */
	EXPECT_EQ(cuInit(0), CUDA_ERROR_OPERATING_SYSTEM);
}
