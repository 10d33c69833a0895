/* SPDX-License-Identifier: Apache-2.0 */
/* What the wrappers of driver functions write, with functions of our own behind them. */
#include "shim/recorders.h"

#include "formats/journal.h"
#include "shim/hook_macros.h"
#include "shim/hooks.h"
#include "shim/names.h"
#include "tests/test.h"

#define ALL_CLASSES \
	(GS_CLASS_MEMORY | GS_CLASS_COPIES | GS_CLASS_KERNELS | GS_CLASS_API | GS_CLASS_ALWAYS)

static CUresult status; /* what the functions answer */

#define H(since, class, use, recorder, fn, ...) \
	static CUresult fake_##fn(GS_PARAMS(__VA_ARGS__)) \
	{ \
		return status; \
	}
GS_HOOKS(H)
#undef H

static const struct {
	const char *recorder;
	void *fake;
} rows[GS_HOOK_COUNT] = {
#define H(since, class, use, recorder, fn, ...) \
	[GS_HOOK_##fn] = {#recorder, (void *)fake_##fn},
    GS_HOOKS(H)
#undef H
};

/* A recording that nobody writes to disk. */
static void start(void)
{
	char path[64];
	struct gf_error error;
	uint64_t id[2] = {1, 2};
	snprintf(path, sizeof(path), "/tmp/gpushim-recorders-%d", (int)getpid());
	unlink(path);
	REQUIRE(gf_journal_create(&gs_journal, path, 8, 8, id, &error) == GF_OK);
	unlink(path);
	gs_names_reset();
	REQUIRE(gs_producer_begin() && gs_thread_attach());
	for (unsigned hook = 1; hook < GS_HOOK_COUNT; hook++)
		*gs_hook_rows[hook].real = rows[hook].fake;
	gs_producer_switch(ALL_CLASSES);
	status = CUDA_SUCCESS;
}

static uint64_t field(const void *record, const char *name)
{
	const struct gf_record_type *type = gf_record_type(GF_HEAD_TAG(*(const uint32_t *)record));
	uint64_t value = 0;
	REQUIRE(type);
	unsigned index = gf_column_index(type, name);
	REQUIRE(index < type->column_count);
	memcpy(&value, (const char *)record + type->columns[index].offset, type->columns[index].bytes);
	return value;
}

/* The next call's first record will be here. */
static const char *next_record(void)
{
	return gs_tls.thread->cursor;
}

/* Calls a wrapper with its own types. */
#define WRAPPER(fn) ((__typeof__(&fake_##fn))gs_hook_rows[GS_HOOK_##fn].wrapper)
#define RECORD_OF(record, fn, ...) \
	const char *record = next_record(); \
	EXPECT_EQ(WRAPPER(fn)(__VA_ARGS__), status); \
	REQUIRE(next_record() > record); \
	EXPECT_EQ(field(record, "api"), GS_HOOK_##fn)

/* Nothing is told of calls whose description is missing, or that found no function. */
static bool may_be_silent(const char *recorder)
{
	static const char *const silent[] = {"copy_2d", "copy_3d", "copy_batch", "launch_ex",
	    "launch_many", "module_function", "library_kernel", "kernel_function"};
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++)
		if (strncmp(recorder, silent[i], strlen(silent[i])) == 0)
			return true;
	return false;
}

TEST(every_failed_call_is_told_with_its_status)
{
	typedef CUresult any(uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t,
	    uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t, uintptr_t);
	start();
	status = 999;
	for (unsigned hook = 1; hook < GS_HOOK_COUNT; hook++) {
		if (strncmp(gs_hook_rows[hook].name, "cuIpcOpen", 9) == 0)
			continue; /* a struct by value: not to be called by that type */
		const char *record = next_record();
		EXPECT_EQ(((any *)gs_hook_rows[hook].wrapper)(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0), 999);
		if (next_record() == record) {
			if (!may_be_silent(rows[hook].recorder))
				printf("# %s\n", gs_hook_rows[hook].name);
			EXPECT(may_be_silent(rows[hook].recorder));
			continue;
		}
		EXPECT_EQ(field(record, "api"), hook);
		EXPECT_EQ(field(record, "status"), 999);
	}
	EXPECT_EQ(gs_journal.header->lost[GF_LOST_NO_CHUNK], 0);
}

TEST(ipc_handles)
{
	CUdeviceptr address = 0x1000;
	CUipcMemHandle memory = {{0}};
	CUevent event = (CUevent)0x20;
	CUipcEventHandle handle = {{0}};
	start();
	RECORD_OF(opened, cuIpcOpenMemHandle_v2, &address, memory, 0);
	EXPECT_EQ(field(opened, "kind"), GF_MEMORY_IPC_OPEN);
	EXPECT_EQ(field(opened, "address"), 0x1000);
	RECORD_OF(created, cuIpcOpenEventHandle, &event, handle);
	EXPECT_EQ(field(created, "kind"), GF_EVENT_CREATE);
	EXPECT_EQ(field(created, "object"), 0x20);
}

TEST(copies_by_struct)
{
	CUDA_MEMCPY2D flat = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = (void *)0x100000010,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = 0x200000020, .WidthInBytes = 1u << 20,
	    .Height = 1u << 13};
	CUDA_MEMCPY3D deep = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = (CUarray)0x30,
	    .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = (void *)0x40, .WidthInBytes = 10,
	    .Height = 20, .Depth = 30};
	CUstream stream = (CUstream)0x50;
	start();
	RECORD_OF(two, cuMemcpy2D_v2, &flat);
	EXPECT_EQ(field(two, "source"), 0x100000010);
	EXPECT_EQ(field(two, "target"), 0x200000020);
	EXPECT_EQ(field(two, "bytes"), UINT64_C(1) << 33);
	EXPECT_EQ(field(two, "flags"), 0);
	RECORD_OF(three, cuMemcpy3DAsync_v2_ptsz, &deep, stream);
	EXPECT_EQ(field(three, "source"), 0x30);
	EXPECT_EQ(field(three, "target"), 0x40);
	EXPECT_EQ(field(three, "bytes"), 6000);
	EXPECT_EQ(field(three, "stream"), 0x50);
	EXPECT_EQ(field(three, "flags"), GF_FLAG_ASYNC | GF_FLAG_PER_THREAD);
}

TEST(copies_by_struct_of_the_first_api)
{
	CUDA_MEMCPY2D_v1 flat = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = 0x10,
	    .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = (void *)0x100000020,
	    .WidthInBytes = 1u << 20, .Height = 1u << 13};
	CUDA_MEMCPY3D_v1 deep = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = (void *)0x30,
	    .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = (CUarray)0x40, .WidthInBytes = 1u << 12,
	    .Height = 1u << 12, .Depth = 1u << 12};
	CUstream stream = (CUstream)0x50;
	start();
	RECORD_OF(two, cuMemcpy2D, &flat);
	EXPECT_EQ(field(two, "source"), 0x10);
	EXPECT_EQ(field(two, "target"), 0x100000020);
	EXPECT_EQ(field(two, "bytes"), UINT64_C(1) << 33); /* more than its 32 bits */
	RECORD_OF(unaligned, cuMemcpy2DUnaligned, &flat);
	EXPECT_EQ(field(unaligned, "bytes"), UINT64_C(1) << 33);
	RECORD_OF(two_async, cuMemcpy2DAsync, &flat, stream);
	EXPECT_EQ(field(two_async, "stream"), 0x50);
	RECORD_OF(three, cuMemcpy3D, &deep);
	EXPECT_EQ(field(three, "source"), 0x30);
	EXPECT_EQ(field(three, "target"), 0x40);
	EXPECT_EQ(field(three, "bytes"), UINT64_C(1) << 36);
	RECORD_OF(three_async, cuMemcpy3DAsync, &deep, stream);
	EXPECT_EQ(field(three_async, "flags"), GF_FLAG_ASYNC);
}

TEST(memory_of_the_first_api)
{
	CUdeviceptr_v1 address = 0x1000;
	unsigned pitch = 512;
	CUarray array = (CUarray)0x2000;
	CUDA_ARRAY_DESCRIPTOR_v1 flat = {100, 10, 0x20, 4};
	CUDA_ARRAY3D_DESCRIPTOR_v1 deep = {100, 10, 5, 0x01, 2, 0};
	start();
	RECORD_OF(pitched, cuMemAllocPitch, &address, &pitch, 500, 10, 4);
	EXPECT_EQ(field(pitched, "address"), 0x1000);
	EXPECT_EQ(field(pitched, "size"), 5120);
	EXPECT_EQ(field(pitched, "handle"), 512);
	RECORD_OF(two, cuArrayCreate, &array, &flat);
	EXPECT_EQ(field(two, "handle"), 0x2000);
	EXPECT_EQ(field(two, "size"), 100 * 10 * 4 * 4);
	RECORD_OF(three, cuArray3DCreate, &array, &deep);
	EXPECT_EQ(field(three, "size"), 100 * 10 * 5 * 2);
	status = CUDA_ERROR_OUT_OF_MEMORY;
	RECORD_OF(failed, cuMemAllocPitch, &address, &pitch, 500, 10, 4);
	EXPECT_EQ(field(failed, "address"), 0);
	EXPECT_EQ(field(failed, "size"), 5000);
	EXPECT_EQ(field(failed, "status"), CUDA_ERROR_OUT_OF_MEMORY);
}

TEST(nodes_of_graphs)
{
	CUgraph graph = (CUgraph)0x10;
	CUgraphNode node = (CUgraphNode)0x20;
	CUgraphExec executable = (CUgraphExec)0x30;
	CUDA_MEM_ALLOC_NODE_PARAMS memory = {.bytesize = 4096, .dptr = 0x7000};
	start();
	RECORD_OF(kernel, cuGraphAddKernelNode_v2, &node, graph, NULL, 0, NULL);
	EXPECT_EQ(field(kernel, "object"), 0x10);
	EXPECT_EQ(field(kernel, "value"), 0x20);
	RECORD_OF(any, cuGraphAddNode_v2, &node, graph, NULL, NULL, 0, NULL);
	EXPECT_EQ(field(any, "value"), 0x20);
	RECORD_OF(alloc, cuGraphAddMemAllocNode, &node, graph, NULL, 0, &memory);
	EXPECT_EQ(field(alloc, "object"), 0x7000);
	EXPECT_EQ(field(alloc, "value"), 4096);
	RECORD_OF(freed, cuGraphAddMemFreeNode, &node, graph, NULL, 0, 0x7000);
	EXPECT_EQ(field(freed, "object"), 0x7000);
	RECORD_OF(changed, cuGraphExecMemcpyNodeSetParams, executable, node, NULL, NULL);
	EXPECT_EQ(field(changed, "kind"), GF_GRAPH_UPDATE);
	EXPECT_EQ(field(changed, "executable"), 0x30);
	status = 1;
	RECORD_OF(failed, cuGraphAddMemAllocNode, &node, graph, NULL, 0, &memory);
	EXPECT_EQ(field(failed, "object"), 0);
	EXPECT_EQ(field(failed, "value"), 4096);
}

TEST(entries_of_a_batch)
{
	CUdeviceptr to[2] = {0x10, 0x20}, from[2] = {0x30, 0x40};
	size_t bytes[2] = {100, 200};
	start();
	RECORD_OF(first, cuMemcpyBatchAsync_v2, to, from, bytes, 2, NULL, NULL, 0, NULL);
	const char *second = first + sizeof(struct gf_copy);
	REQUIRE(next_record() == second + sizeof(struct gf_copy));
	EXPECT_EQ(field(first, "bytes"), 100);
	EXPECT_EQ(field(second, "source"), 0x40);
	EXPECT_EQ(field(second, "target"), 0x20);
	EXPECT_EQ(field(second, "bytes"), 200);
	EXPECT_EQ(field(second, "flags"), GF_FLAG_ASYNC | GF_FLAG_BATCH_ENTRY);
}

/* What is called from inside a call is not told. */
static CUresult fake_nested(CUdeviceptr *out, size_t bytes)
{
	return WRAPPER(cuMemFree_v2)(0x99);
}

TEST(calls_inside_of_calls)
{
	CUdeviceptr address = 0;
	start();
	*gs_hook_rows[GS_HOOK_cuMemAlloc_v2].real = (void *)fake_nested;
	RECORD_OF(outer, cuMemAlloc_v2, &address, 100);
	EXPECT(next_record() == outer + sizeof(struct gf_memory));
}

TEST(classes_that_are_off)
{
	start();
	gs_producer_switch(GS_CLASS_MEMORY | GS_CLASS_ALWAYS);
	const char *record = next_record();
	EXPECT_EQ(WRAPPER(cuCtxSynchronize)(), CUDA_SUCCESS);
	EXPECT_EQ(WRAPPER(cuCtxSetCurrent)(NULL), CUDA_SUCCESS); /* seen, not told */
	EXPECT(next_record() == record);
	EXPECT_EQ(WRAPPER(cuMemFree_v2)(1), CUDA_SUCCESS);
	EXPECT(next_record() > record);
}
