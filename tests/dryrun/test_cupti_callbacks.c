/* SPDX-License-Identifier: Apache-2.0 */
/* The subscriber of the stand-in CUPTI: who it is, when it is called, what it is told. */
#include "tests/dryrun/cupti_test.h"

static CUpti_SubscriberHandle handle;
static struct {
	unsigned domain, call, site, correlation, result;
	char kernel[32];
	CUcontext context;
} calls[64];
static unsigned call_count, carried;
static bool finalize_at_exit;

static void CUPTIAPI called(
    void *user, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *pointer)
{
	const CUpti_CallbackData *data = pointer;

	REQUIRE(user == &carried && call_count < 64);
	calls[call_count].domain = domain;
	calls[call_count].call = id;
	if (domain == CUPTI_CB_DOMAIN_RESOURCE || domain == CUPTI_CB_DOMAIN_SYNCHRONIZE) {
		calls[call_count++].context = ((const CUpti_ResourceData *)pointer)->context;
		return;
	}
	calls[call_count].site = data->callbackSite;
	calls[call_count].correlation = data->correlationId;
	calls[call_count].context = data->context;
	if (data->symbolName)
		snprintf(calls[call_count].kernel, 32, "%s", data->symbolName);
	if (data->callbackSite == CUPTI_API_ENTER) {
		*data->correlationData = 4711;
	} else {
		carried += *data->correlationData == 4711;
		calls[call_count].result = *(uint32_t *)data->functionReturnValue;
		if (finalize_at_exit && id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel)
			CUPTI(cuptiFinalize());
	}
	call_count++;
}

static void subscribe(const char *clock)
{
	start(clock);
	CUPTI(cuptiSubscribe(&handle, called, &carried));
}

#define LAUNCH CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000

TEST(one_subscriber_at_a_time)
{
	CUpti_SubscriberHandle other;
	const char *text;

	subscribe("instant");
	CUptiResult result = cuptiSubscribe(&other, called, NULL);
	EXPECT_EQ(result, CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	CUPTI(cuptiGetResultString(result, &text));
	EXPECT_STR(text, "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED");
	EXPECT_EQ(cuptiGetResultString((CUptiResult)4000, &text), CUPTI_ERROR_INVALID_PARAMETER);
	EXPECT_EQ(cuptiEnableCallback(1, NULL, CUPTI_CB_DOMAIN_RUNTIME_API, LAUNCH),
	    CUPTI_ERROR_INVALID_PARAMETER);
	CUPTI(cuptiUnsubscribe(handle));
	EXPECT_EQ(cuptiUnsubscribe(handle), CUPTI_ERROR_INVALID_PARAMETER);
	CUPTI(cuptiSubscribe(&other, called, NULL));
}

TEST(calls_on_the_way_in_and_out)
{
	uint32_t enabled;

	subscribe("instant");
	CUPTI(cuptiEnableCallback(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API, LAUNCH));
	CUPTI(cuptiGetCallbackState(&enabled, handle, CUPTI_CB_DOMAIN_RUNTIME_API, LAUNCH));
	EXPECT_EQ(enabled, 1);
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	OK(launch(NULL));
	OK(cudaDeviceSynchronize());
	flush();
	EXPECT_EQ(call_count, 2);
	EXPECT_EQ(calls[0].site, CUPTI_API_ENTER);
	EXPECT_EQ(calls[1].site, CUPTI_API_EXIT);
	EXPECT_EQ(calls[0].call, LAUNCH);
	EXPECT_EQ(calls[0].correlation, calls[1].correlation);
	EXPECT_STR(calls[1].kernel, "nothing");
	EXPECT(calls[0].context != NULL);
	EXPECT_EQ(carried, 1);
	CUpti_ActivityKernel7 *k = nth(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, 0);
	EXPECT_EQ(k->correlationId, calls[0].correlation);
	CUPTI(cuptiUnsubscribe(handle));
	OK(launch(NULL));
	EXPECT_EQ(call_count, 2);
}

TEST(driver_calls_inside_share_the_number)
{
	subscribe("instant");
	CUPTI(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_RUNTIME_API));
	CUPTI(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
	OK(launch(NULL));
	unsigned last = call_count - 1, first_call = calls[0].correlation;
	REQUIRE(call_count >= 4 && call_count % 2 == 0);
	EXPECT_EQ(calls[0].domain, CUPTI_CB_DOMAIN_RUNTIME_API);
	EXPECT_EQ(calls[last].domain, CUPTI_CB_DOMAIN_RUNTIME_API);
	EXPECT_EQ(calls[last - 1].call, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel);
	for (unsigned i = 1; i <= last; i++) {
		EXPECT_EQ(calls[i].domain == CUPTI_CB_DOMAIN_DRIVER_API, i < last);
		EXPECT_EQ(calls[i].correlation, first_call);
	}
	dim3 none = {0, 0, 0};
	EXPECT_EQ(cudaLaunchKernel((const void *)kernel, none, none, NULL, 0, NULL),
	    cudaErrorInvalidValue);
	EXPECT_EQ(calls[call_count - 1].result, cudaErrorInvalidValue);
	EXPECT(calls[call_count - 1].correlation != first_call);
}

TEST(resources_and_waits)
{
	cudaStream_t stream;
	CUcontext context;

	subscribe("instant");
	CUPTI(cuptiEnableAllDomains(1, handle));
	CUPTI(cuptiEnableDomain(0, handle, CUPTI_CB_DOMAIN_RUNTIME_API));
	CUPTI(cuptiEnableDomain(0, handle, CUPTI_CB_DOMAIN_DRIVER_API));
	OK(cudaStreamCreate(&stream));
	OK(cudaStreamSynchronize(stream));
	OK(cudaDeviceSynchronize());
	OK(cudaStreamDestroy(stream));
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	OK(cuDevicePrimaryCtxRelease(1));
	const unsigned expected[][2] = {
	    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_CREATED},
	    {CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED},
	    {CUPTI_CB_DOMAIN_SYNCHRONIZE, CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED},
	    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING},
	    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_CREATED},
	    {CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING},
	};
	REQUIRE(call_count == 6);
	for (unsigned i = 0; i < 6; i++) {
		EXPECT_EQ(calls[i].domain, expected[i][0]);
		EXPECT_EQ(calls[i].call, expected[i][1]);
		EXPECT((calls[i].context == context) == (i >= 4));
	}
}

/* What NVIDIA recommends, and what PyTorch does. */
TEST(the_end_from_a_callback)
{
	subscribe("instant");
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL));
	CUPTI(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_RUNTIME));
	CUPTI(cuptiEnableDomain(1, handle, CUPTI_CB_DOMAIN_DRIVER_API));
	OK(launch(NULL));
	finalize_at_exit = true;
	OK(launch(NULL));
	EXPECT_EQ(count(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 2);
	EXPECT_EQ(buffers_back, buffers_given);
	unsigned before = call_count;
	OK(launch(NULL));
	EXPECT_EQ(call_count, before);
	CUPTI(cuptiSubscribe(&handle, called, &carried));
}

TEST(names_of_calls)
{
	const char *name;
	uint32_t version;

	CUPTI(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, LAUNCH, &name));
	EXPECT_STR(name, "cudaLaunchKernel_v7000");
	CUPTI(cuptiGetCallbackName(
	    CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuMemAlloc_v2, &name));
	EXPECT_STR(name, "cuMemAlloc_v2");
	EXPECT_EQ(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 2000, &name),
	    CUPTI_ERROR_INVALID_PARAMETER);
	EXPECT_EQ(cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, 9, NULL),
	    CUPTI_ERROR_INVALID_PARAMETER);
	CUPTI(cuptiGetVersion(&version));
	EXPECT_EQ(version, CUDART_VERSION >= 13000 ? 130202 : CUDART_VERSION >= 12000 ? 22 : 17);
}

TEST(numbers_of_devices)
{
	CUcontext context;
	uint32_t device = 9;
	int support = 0;

	start("instant");
	OK(cuDevicePrimaryCtxRetain(&context, 1));
	CUPTI(cuptiGetDeviceId(context, &device));
	EXPECT_EQ(device, 1);
	CUPTI(cuptiGetDeviceId(NULL, &device));
	EXPECT_EQ(device, 0);
	CUPTI(cuptiDeviceSupported(0, &support));
	EXPECT_EQ(support, 1);
	EXPECT_EQ(cuptiDeviceSupported(7, &support), CUPTI_ERROR_INVALID_DEVICE);
	EXPECT_EQ(
	    cuptiGetStreamId(context, (CUstream)&context, &device), CUPTI_ERROR_INVALID_STREAM);
}
