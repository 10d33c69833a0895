/* SPDX-License-Identifier: Apache-2.0 */
/* Memory and events that several processes use; rules of cuIpc* and of shareable handles. */
#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#include "tests/dryrun/driver_test.h"

static int peer; /* socket to the other process */

static void say(const void *data, size_t bytes)
{
	REQUIRE(write(peer, data, bytes) == (ssize_t)bytes);
}

static void hear(void *data, size_t bytes)
{
	REQUIRE(recv(peer, data, bytes, MSG_WAITALL) == (ssize_t)bytes);
}

/* Both processes have come so far. */
static void meet(void)
{
	char byte = 0;
	say(&byte, 1);
	hear(&byte, 1);
}

static pid_t other_process;

/* Two processes of one run, each with the device: `first` in a child, `second` here. */
static void both(void (*first)(void), void (*second)(void))
{
	const char *state = new_state();
	int sockets[2], status;
	REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
	fflush(stdout);
	other_process = fork();
	peer = sockets[other_process == 0];
	close(sockets[other_process != 0]);
	start_small();
	if (other_process == 0) {
		first();
		fflush(stdout);
		exit(test_failures != 0);
	}
	second();
	close(peer);
	REQUIRE(waitpid(other_process, &status, 0) == other_process);
	EXPECT_EQ(status, 0);
	unlink(state);
}

static uint64_t left(void)
{
	size_t bytes;
	OK(cuMemGetInfo_v2(&bytes, NULL));
	return bytes;
}

static uint32_t word_at(CUdeviceptr address)
{
	uint32_t word = 0xdeadbeef;
	OK(cuMemcpyDtoH_v2(&word, address, sizeof(word)));
	return word;
}

static void export_memory(void)
{
	CUipcMemHandle handle, again;
	CUdeviceptr a;
	OK(cuMemAlloc_v2(&a, 5 * MIB));
	OK(cuMemsetD32_v2(a + 4 * MIB, 0x1234, 16)); /* before it is exported */
	OK(cuIpcGetMemHandle(&handle, a));
	OK(cuIpcGetMemHandle(&again, a)); /* may be called several times */
	EXPECT(memcmp(&handle, &again, sizeof(handle)) == 0);
	EXPECT_EQ(word_at(a + 4 * MIB), 0x1234);
	say(&handle, sizeof(handle));
	meet();
	EXPECT_EQ(word_at(a + MIB), 0x77); /* what the other stored */
	OK(cuMemsetD32_v2(a + 4 * MIB, 0x5678, 1));
	OK(cuMemsetD8_v2(a + MIB, 0, MIB));
	meet();
	meet();
	OK(cuMemFree_v2(a)); /* closed there */
	EXPECT_EQ(left(), GIB);
	OK(cuMemAlloc_v2(&a, 5 * MIB));
	EXPECT_EQ(word_at(a + 4 * MIB), 0);
	OK(cuIpcGetMemHandle(&again, a)); /* new memory, new handle */
	EXPECT(memcmp(&handle, &again, sizeof(handle)) != 0);
	meet();
}

static void import_memory(void)
{
	CUipcMemHandle handle;
	CUdeviceptr a, b;
	hear(&handle, sizeof(handle));
	EXPECT_EQ(cuIpcOpenMemHandle_v2(&a, handle, 8), CUDA_ERROR_INVALID_VALUE);
	OK(cuIpcOpenMemHandle_v2(&a, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	EXPECT_EQ(left(), GIB - 5 * MIB); /* counted once */
	EXPECT_EQ(word_at(a + 4 * MIB), 0x1234);
	EXPECT_EQ(word_at(a), 0);
	OK(cuMemsetD32_v2(a + MIB, 0x77, 4));
	meet();
	meet();
	EXPECT_EQ(word_at(a + 4 * MIB), 0x5678);
	EXPECT_EQ(word_at(a + MIB), 0);
	OK(cuIpcOpenMemHandle_v2(&b, handle, 1)); /* the same pointer, counted */
	EXPECT_EQ(b, a);
	EXPECT_EQ(cuMemFree_v2(a), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuIpcGetMemHandle(&handle, a), CUDA_ERROR_INVALID_VALUE);
	OK(cuIpcCloseMemHandle(a));
	EXPECT_EQ(word_at(a + 4 * MIB), 0x5678);
	OK(cuIpcCloseMemHandle(a));
	EXPECT_EQ(cuIpcCloseMemHandle(a), CUDA_ERROR_INVALID_VALUE);
	OK(cuMemAlloc_v2(&b, 5 * MIB)); /* no byte of the other is left in these addresses */
	EXPECT_EQ(word_at(b + 4 * MIB), 0);
	OK(cuMemFree_v2(b));
	meet();
	meet();
}

TEST(memory_is_shared_with_another_process)
{
	both(export_memory, import_memory);
}

TEST(only_allocations_of_another_process_are_opened)
{
	CUipcMemHandle handle, invented;
	CUmemoryPool pool;
	CUdeviceptr a, b;
	start_small();
	OK(cuMemAlloc_v2(&a, MIB));
	EXPECT_EQ(cuIpcGetMemHandle(NULL, a), CUDA_ERROR_INVALID_VALUE);
	EXPECT_EQ(cuIpcGetMemHandle(&handle, (CUdeviceptr)(uintptr_t)&a), CUDA_ERROR_INVALID_VALUE);
	OK(cuIpcGetMemHandle(&handle, a));
	EXPECT_EQ(cuIpcOpenMemHandle_v2(&b, handle, 1), CUDA_ERROR_INVALID_CONTEXT);
	memset(&invented, 0x5a, sizeof(invented));
	EXPECT_EQ(cuIpcOpenMemHandle_v2(&b, invented, 1), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(cuIpcCloseMemHandle(a), CUDA_ERROR_INVALID_VALUE);
	OK(cuDeviceGetDefaultMemPool(&pool, 0));
	OK(cuMemAllocFromPoolAsync(&b, MIB, pool, NULL));
	EXPECT_EQ(cuIpcGetMemHandle(&handle, b), CUDA_ERROR_INVALID_VALUE);
}

static void export_and_die(void)
{
	CUipcMemHandle handle;
	CUdeviceptr a;
	OK(cuMemAlloc_v2(&a, 5 * MIB));
	OK(cuMemsetD32_v2(a, 99, 4));
	OK(cuIpcGetMemHandle(&handle, a));
	say(&handle, sizeof(handle));
	meet();
}

static void outlive(void)
{
	CUipcMemHandle handle;
	CUdeviceptr a, b;
	char byte;
	hear(&handle, sizeof(handle));
	OK(cuIpcOpenMemHandle_v2(&a, handle, 1));
	meet();
	EXPECT_EQ(recv(peer, &byte, 1, 0), 0); /* it ends */
	REQUIRE(waitid(P_PID, (id_t)other_process, NULL, WEXITED | WNOWAIT) == 0);
	EXPECT_EQ(word_at(a), 99);
	OK(cuIpcCloseMemHandle(a));
	EXPECT_EQ(cuIpcOpenMemHandle_v2(&b, handle, 1), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(left(), GIB);
}

TEST(a_handle_ends_with_its_process)
{
	both(export_and_die, outlive);
}

static CUmemAllocationProp shareable(void)
{
	return (CUmemAllocationProp){.type = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
	    .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
}

static CUdeviceptr map_all(CUmemGenericAllocationHandle handle)
{
	CUmemAccessDesc access = {
	    .location = shareable().location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUdeviceptr at;
	OK(cuMemAddressReserve(&at, 4 * MIB, 0, 0, 0));
	OK(cuMemMap(at, 4 * MIB, 0, handle, 0));
	OK(cuMemSetAccess(at, 4 * MIB, &access, 1));
	return at;
}

static void send_file(int file)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = sizeof(control)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);
	*header = (struct cmsghdr){CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS};
	memcpy(CMSG_DATA(header), &file, sizeof(file));
	REQUIRE(sendmsg(peer, &message, 0) == 1);
}

static int receive_file(void)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = {&byte, 1};
	struct msghdr message = {.msg_iov = &part,
	    .msg_iovlen = 1,
	    .msg_control = control,
	    .msg_controllen = sizeof(control)};
	int file;
	REQUIRE(recvmsg(peer, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
	memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(file));
	return file;
}

static void export_physical(void)
{
	CUmemAllocationProp properties = shareable(), told;
	CUmemGenericAllocationHandle handle, own;
	int file;
	OK(cuMemCreate(&handle, 4 * MIB, &properties, 0));
	OK(cuMemGetAllocationPropertiesFromHandle(&told, handle));
	EXPECT_EQ(told.requestedHandleTypes, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
	CUdeviceptr at = map_all(handle);
	OK(cuMemsetD32_v2(at + 3 * MIB, 5, 4));
	OK(cuMemExportToShareableHandle(
	    &file, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	send_file(file);
	close(file); /* the memory does not mind */
	meet();
	EXPECT_EQ(word_at(at + 2 * MIB), 6);
	properties.requestedHandleTypes = 0;
	OK(cuMemCreate(&own, 2 * MIB, &properties, 0)); /* not made to be exported */
	EXPECT_EQ(
	    cuMemExportToShareableHandle(&file, own, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0),
	    CUDA_ERROR_INVALID_VALUE);
}

static void import_physical(void)
{
	CUmemGenericAllocationHandle handle;
	int file = receive_file();
	void *shareable_handle = (void *)(intptr_t)file, *wrong = (void *)(intptr_t)peer;
	EXPECT_EQ(cuMemImportFromShareableHandle(
		      &handle, wrong, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
	    CUDA_ERROR_INVALID_VALUE);
	OK(cuMemImportFromShareableHandle(
	    &handle, shareable_handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	close(file);
	EXPECT_EQ(left(), GIB - 4 * MIB);
	CUdeviceptr at = map_all(handle);
	EXPECT_EQ(word_at(at + 3 * MIB), 5);
	OK(cuMemsetD32_v2(at + 2 * MIB, 6, 4));
	meet();
	OK(cuMemRelease(handle));
	OK(cuMemUnmap(at, 4 * MIB));
	OK(cuMemAddressFree(at, 4 * MIB));
}

TEST(created_memory_is_shared_by_a_file_descriptor)
{
	both(export_physical, import_physical);
}

static int gate[2];

static void CUDA_CB wait_at_gate(void *user)
{
	char byte;
	while (read(gate[0], &byte, 1) < 0 && errno == EINTR)
		;
}

static void export_event(void)
{
	CUevent plain, event;
	CUipcEventHandle handle;
	CUstream stream;
	REQUIRE(pipe(gate) == 0);
	OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
	EXPECT_EQ(cuIpcGetEventHandle(&handle, plain), CUDA_ERROR_INVALID_VALUE);
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
	OK(cuLaunchHostFunc(stream, wait_at_gate, NULL));
	OK(cuEventRecord(event, stream));
	OK(cuIpcGetEventHandle(&handle, event));
	say(&handle, sizeof(handle));
	meet(); /* not ready there */
	REQUIRE(write(gate[1], "x", 1) == 1);
	meet(); /* synchronized there */
	EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

static void import_event(void)
{
	CUipcEventHandle handle, invented;
	CUevent event;
	CUstream stream;
	float time;
	hear(&handle, sizeof(handle));
	memset(&invented, 0x5a, sizeof(invented));
	EXPECT_EQ(cuIpcOpenEventHandle(&event, invented), CUDA_ERROR_INVALID_HANDLE);
	OK(cuIpcOpenEventHandle(&event, handle));
	EXPECT_EQ(cuEventElapsedTime(&time, event, event), CUDA_ERROR_INVALID_HANDLE);
	EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
	meet();
	OK(cuEventSynchronize(event));
	EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
	OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	OK(cuStreamWaitEvent(stream, event, 0));
	OK(cuEventRecord(event, stream)); /* as a local one */
	OK(cuStreamSynchronize(stream));
	OK(cuEventDestroy_v2(event));
	meet();
}

TEST(an_event_of_another_process_is_waited_for)
{
	both(export_event, import_event);
}
