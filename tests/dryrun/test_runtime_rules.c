/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of the runtime: devices, errors, memory, streams, events.  Compiled once per CUDA major. */
#include "tests/dryrun/runtime_test.h"

static void use_device(void)
{
	if (!getenv("GPUSHIM_TEST_REAL"))
		setenv("GPUSHIM_DRYRUN_DEVICE", "name=Test GPU;total=1073741824;cc=8.0;sm=108", 1);
	OK(cudaFree(NULL));
}

RULE(last_error, "cudaGetLastError: tells the last error once, cudaPeekAtLastError leaves it")
{
	use_device();
	EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
	EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
	EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
	EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

RULE(error_words, "cudaGetErrorName: names codes, and says when it does not know one")
{
	EXPECT_STR(cudaGetErrorName(cudaErrorMemoryAllocation), "cudaErrorMemoryAllocation");
	EXPECT_STR(cudaGetErrorString(cudaSuccess), "no error");
	EXPECT(strstr(cudaGetErrorName((cudaError_t)123456), "unrecognized"));
}

RULE(devices, "cudaGetDevice: device 0 until another is chosen")
{
	int device = -1, count = 0;
	use_device();
	OK(cudaGetDevice(&device));
	EXPECT_EQ(device, 0);
	OK(cudaGetDeviceCount(&count));
	EXPECT(count >= 1);
	EXPECT_EQ(cudaSetDevice(count), cudaErrorInvalidDevice);
	OK(cudaGetDevice(&device));
	EXPECT_EQ(device, 0);
}

RULE(allocations,
    "cudaMalloc: too much is cudaErrorMemoryAllocation; cudaFree: NULL is nothing to free")
{
	void *memory = NULL;
	use_device();
	EXPECT_EQ(cudaMalloc(&memory, (size_t)1 << 50), cudaErrorMemoryAllocation);
	EXPECT_EQ(cudaMalloc(NULL, 16), cudaErrorInvalidValue);
	OK(cudaFree(NULL));
	OK(cudaMalloc(&memory, 16));
	OK(cudaFree(memory));
	EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
}

RULE(pinned, "cudaHostAlloc: known flags; cudaFreeHost: NULL is nothing to free")
{
	void *memory = NULL;
	use_device();
	EXPECT_EQ(cudaHostAlloc(&memory, 4096, 0x100), cudaErrorInvalidValue);
	OK(cudaHostAlloc(&memory, 4096, cudaHostAllocPortable));
	OK(cudaFreeHost(memory));
	OK(cudaFreeHost(NULL));
}

RULE(directions, "cudaMemcpy: cudaMemcpyDefault infers the direction, an unknown one is refused")
{
	char in[8] = "letters", out[8] = "";
	void *device;
	use_device();
	OK(cudaMalloc(&device, 8));
	OK(cudaMemcpy(device, in, 8, cudaMemcpyDefault));
	OK(cudaMemcpy(out, device, 8, cudaMemcpyDeviceToHost));
	EXPECT_STR(out, in);
	EXPECT_EQ(
	    cudaMemcpy(out, device, 8, (enum cudaMemcpyKind)99), cudaErrorInvalidMemcpyDirection);
	OK(cudaFree(device));
}

RULE(pointers,
    "cudaPointerGetAttributes: memory that CUDA does not know is unregistered, and no error")
{
	struct cudaPointerAttributes attributes;
	void *device;
	int own;
	use_device();
	OK(cudaMalloc(&device, 8));
	OK(cudaPointerGetAttributes(&attributes, device));
	EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
	EXPECT(attributes.device == 0 && attributes.devicePointer == device);
	OK(cudaPointerGetAttributes(&attributes, &own));
	EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
	OK(cudaFree(device));
}

RULE(queries, "cudaStreamQuery, cudaEventQuery: success without work")
{
	cudaStream_t stream;
	cudaEvent_t event;
	use_device();
	EXPECT_EQ(cudaStreamCreateWithFlags(&stream, 0x80), cudaErrorInvalidValue);
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaStreamQuery(stream));
	OK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	OK(cudaEventQuery(event));
	OK(cudaEventDestroy(event));
	OK(cudaStreamDestroy(stream));
}

RULE(captured,
    "cudaStreamBeginCapture: not on the legacy stream; cudaStreamEndCapture gives the graph")
{
	cudaStream_t stream;
	cudaGraph_t graph = NULL;
	use_device();
	EXPECT_EQ(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeRelaxed),
	    cudaErrorStreamCaptureUnsupported);
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaStreamEndCapture(stream, &graph));
	EXPECT(graph != NULL);
	OK(cudaGraphDestroy(graph));
}

RULE(kernels, "cudaLaunchKernel: what is no kernel is cudaErrorInvalidDeviceFunction")
{
	const dim3 one = {1, 1, 1};
	static char nothing;
	use_device();
	EXPECT_EQ(
	    cudaLaunchKernel(&nothing, one, one, NULL, 0, NULL), cudaErrorInvalidDeviceFunction);
}
