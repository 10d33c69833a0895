/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the tests of the driver begin with.  Each test is a process of its own.
 *
 * TEST(name) is about the stand-in, whose device `start` describes.  RULE(name, "function:
 * sentence") is about a sentence of NVIDIA's documentation: it begins with `use_device` and holds
 * on a real driver as well: `make check-gpu` runs the rules on the machine's own
 * (GPUSHIM_TEST_REAL=1).
 */
#ifndef DRIVER_TEST_H
#define DRIVER_TEST_H

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

#include "tests/test.h"

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* The smallest kernels that a program may bring: PTX text. */
static const char kernels_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
				  ".visible .entry nothing() { ret; }\n"
				  ".visible .entry other(.param .u64 p) { ret; }\n";

/* Everything answers success, or the test ends. */
#define OK(call) \
	do { \
		CUresult ok_ = (call); \
		if (ok_ != CUDA_SUCCESS) { \
			printf("# %s:%d: %s answers %d\n", __FILE__, __LINE__, #call, (int)ok_); \
			exit(1); \
		} \
	} while (0)

#define RULE(id, words) TEST_CALLED(id, words, true)

static __attribute__((unused)) bool on_real_driver(void)
{
	return getenv("GPUSHIM_TEST_REAL") != NULL;
}

static __attribute__((unused)) CUcontext start(const char *facts)
{
	CUcontext context;
	setenv("GPUSHIM_DRYRUN_DEVICE", facts, 1);
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	return context;
}

/* A device of 1 GiB without a reserve. */
static __attribute__((unused)) CUcontext start_small(void)
{
	return start("name=Test GPU;total=1073741824;cc=8.0;sm=108");
}

/* For a rule: the first device, whichever it is, and its primary context. */
static __attribute__((unused)) CUcontext use_device(void)
{
	CUcontext context;
	if (!on_real_driver())
		return start_small();
	OK(cuInit(0));
	OK(cuDevicePrimaryCtxRetain(&context, 0));
	OK(cuCtxSetCurrent(context));
	return context;
}

static __attribute__((unused)) CUfunction load_kernel(const char *name)
{
	CUmodule module;
	CUfunction function;
	OK(cuModuleLoadData(&module, kernels_ptx));
	OK(cuModuleGetFunction(&function, module, name));
	return function;
}

static __attribute__((unused)) CUresult launch(CUfunction function, CUstream stream)
{
	return cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
}

/* A state file of this test's own, removed by the caller. */
static __attribute__((unused)) const char *new_state(void)
{
	static char path[] = "/tmp/gpushim-driver-test-XXXXXX";
	int file = mkstemp(path);
	REQUIRE(file >= 0);
	close(file);
	setenv("GPUSHIM_DRYRUN_SHARED", path, 1);
	return path;
}

#endif
