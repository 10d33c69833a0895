/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers and structs of NCCL's interface, for all releases from 2.14 to 2.30: what was added later
 * stands behind what was there.
 */
#ifndef GD_NCCL_API_H
#define GD_NCCL_API_H

#include <cuda.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

#include "gd_export.h"

#define GD_NCCL_VERSION 23007 /* at least what PyTorch 2.15 was built with */
#define GD_NCCL_ID_BYTES 128
#define GD_NCCL_CONFIG_MAGIC 0xcafebeefu
#define GD_NCCL_SIMULATION_MAGIC 0x74685283u
#define GD_NCCL_NO_COLOR (-1)

struct ncclComm;

/* S(name, number, text) */
#define GD_NCCL_STATUSES(S) \
	S(Success, 0, "no error") \
	S(UnhandledCudaError, 1, "unhandled cuda error (run with NCCL_DEBUG=INFO for details)") \
	S(SystemError, 2, "unhandled system error (run with NCCL_DEBUG=INFO for details)") \
	S(InternalError, 3, "internal error - please report this issue to the NCCL developers") \
	S(InvalidArgument, 4, "invalid argument (run with NCCL_DEBUG=WARN for details)") \
	S(InvalidUsage, 5, "invalid usage (run with NCCL_DEBUG=WARN for details)") \
	S(RemoteError, 6, "remote process exited or there was a network error") \
	S(InProgress, 7, "NCCL operation in progress") \
	S(Timeout, 8, "timeout")

#define GD_NCCL_STATUS_ENUM(name, number, text) GD_NCCL_##name = number,
enum gd_nccl_status { GD_NCCL_STATUSES(GD_NCCL_STATUS_ENUM) };
#undef GD_NCCL_STATUS_ENUM

/* T(name, number, bytes, word in kernel names) */
#define GD_NCCL_TYPES(T) \
	T(Int8, 0, 1, "i8") \
	T(Uint8, 1, 1, "u8") \
	T(Int32, 2, 4, "i32") \
	T(Uint32, 3, 4, "u32") \
	T(Int64, 4, 8, "i64") \
	T(Uint64, 5, 8, "u64") \
	T(Float16, 6, 2, "f16") \
	T(Float32, 7, 4, "f32") \
	T(Float64, 8, 8, "f64") \
	T(Bfloat16, 9, 2, "bf16") \
	T(Float8e4m3, 10, 1, "f8e4m3") \
	T(Float8e5m2, 11, 1, "f8e5m2")

#define GD_NCCL_TYPE_ENUM(name, number, bytes, word) GD_NCCL_##name = number,
enum gd_nccl_type { GD_NCCL_TYPES(GD_NCCL_TYPE_ENUM) GD_NCCL_TYPE_COUNT };
#undef GD_NCCL_TYPE_ENUM

enum gd_nccl_operator {
	GD_NCCL_SUM,
	GD_NCCL_PROD,
	GD_NCCL_MAX,
	GD_NCCL_MIN,
	GD_NCCL_AVG,
	GD_NCCL_BUILT_IN, /* from here on: made by ncclRedOpCreatePreMulSum */
};

struct gd_nccl_id {
	char internal[GD_NCCL_ID_BYTES];
};

/* Later releases append fields; `size` tells how many there are. */
struct gd_nccl_config {
	size_t size;
	unsigned magic, version;
	int blocking;
	int cga_cluster_size, min_ctas, max_ctas;
	const char *net_name;
	int split_share, traffic_class;
	const char *comm_name;
	int collnet_enable, cta_policy, shrink_share;
};

struct gd_nccl_simulation {
	size_t size;
	unsigned magic, version;
	float estimated_time;
};

enum gd_nccl_memory_statistic {
	GD_NCCL_MEMORY_SUSPENDABLE,
	GD_NCCL_MEMORY_SUSPENDED,
	GD_NCCL_MEMORY_PERSISTENT,
	GD_NCCL_MEMORY_TOTAL,
};

/* Everything that is exported, once: F(function, (parameters)). */
#define GD_NCCL_FUNCTIONS(F) \
	F(ncclGetVersion, (int *version)) \
	F(ncclGetUniqueId, (struct gd_nccl_id * id)) \
	F(ncclCommInitRank, (struct ncclComm * *comm, int ranks, struct gd_nccl_id id, int rank)) \
	F(ncclCommInitRankConfig, (struct ncclComm * *comm, int ranks, struct gd_nccl_id id, \
				      int rank, struct gd_nccl_config *config)) \
	F(ncclCommInitRankScalable, (struct ncclComm * *comm, int ranks, int rank, int id_count, \
					struct gd_nccl_id *ids, struct gd_nccl_config *config)) \
	F(ncclCommInitAll, (struct ncclComm * *comms, int count, const int *devices)) \
	F(ncclCommSplit, (struct ncclComm * comm, int color, int key, struct ncclComm **out, \
			     struct gd_nccl_config *config)) \
	F(ncclCommShrink, (struct ncclComm * comm, int *excluded, int count, \
			      struct ncclComm **out, struct gd_nccl_config *config, int flags)) \
	F(ncclCommGetUniqueId, (struct ncclComm * comm, struct gd_nccl_id * id)) \
	F(ncclCommGrow, (struct ncclComm * comm, int ranks, const struct gd_nccl_id *id, int rank, \
			    struct ncclComm **out, struct gd_nccl_config *config)) \
	F(ncclCommFinalize, (struct ncclComm * comm)) \
	F(ncclCommDestroy, (struct ncclComm * comm)) \
	F(ncclCommAbort, (struct ncclComm * comm)) \
	F(ncclCommRevoke, (struct ncclComm * comm, int flags)) \
	F(ncclCommGetAsyncError, (struct ncclComm * comm, int *status)) \
	F(ncclCommCount, (const struct ncclComm *comm, int *count)) \
	F(ncclCommCuDevice, (const struct ncclComm *comm, int *device)) \
	F(ncclCommUserRank, (const struct ncclComm *comm, int *rank)) \
	F(ncclCommRegister, (struct ncclComm * comm, void *buffer, size_t bytes, void **handle)) \
	F(ncclCommDeregister, (struct ncclComm * comm, void *handle)) \
	F(ncclCommSuspend, (struct ncclComm * comm, int flags)) \
	F(ncclCommResume, (struct ncclComm * comm)) \
	F(ncclCommMemStats, (struct ncclComm * comm, int statistic, uint64_t *value)) \
	F(ncclCommWindowRegister, \
	    (struct ncclComm * comm, void *buffer, size_t bytes, void **window, int flags)) \
	F(ncclCommWindowDeregister, (struct ncclComm * comm, void *window)) \
	F(ncclWinGetUserPtr, (struct ncclComm * comm, void *window, void **address)) \
	F(ncclGetPeerDevicePointer, (void *window, size_t offset, int peer, void **address)) \
	F(ncclGetLsaMultimemDevicePointer, (void *window, size_t offset, void **address)) \
	F(ncclDevCommCreate, (struct ncclComm * comm, const void *requirements, void *made)) \
	F(ncclDevCommDestroy, (struct ncclComm * comm, const void *made)) \
	F(ncclPutSignal, \
	    (const void *from, size_t count, int type, int peer, void *window, size_t offset, \
		int signal, int set, unsigned flags, struct ncclComm *comm, CUstream stream)) \
	F(ncclSignal, (int peer, int signal, int set, unsigned flags, struct ncclComm *comm, \
			  CUstream stream)) \
	F(ncclWaitSignal, (int count, const void *waits, struct ncclComm *comm, CUstream stream)) \
	F(ncclMemAlloc, (void **address, size_t bytes)) \
	F(ncclMemFree, (void *address)) \
	F(ncclRedOpCreatePreMulSum, \
	    (int *op, void *scalar, int type, int residence, struct ncclComm *comm)) \
	F(ncclRedOpDestroy, (int op, struct ncclComm *comm)) \
	F(ncclAllReduce, (const void *send, void *receive, size_t count, int type, int op, \
			     struct ncclComm *comm, CUstream stream)) \
	F(ncclBroadcast, (const void *send, void *receive, size_t count, int type, int root, \
			     struct ncclComm *comm, CUstream stream)) \
	F(ncclBcast, (void *buffer, size_t count, int type, int root, struct ncclComm *comm, \
			 CUstream stream)) \
	F(ncclReduce, (const void *send, void *receive, size_t count, int type, int op, int root, \
			  struct ncclComm *comm, CUstream stream)) \
	F(ncclAllGather, (const void *send, void *receive, size_t count, int type, \
			     struct ncclComm *comm, CUstream stream)) \
	F(ncclReduceScatter, (const void *send, void *receive, size_t count, int type, int op, \
				 struct ncclComm *comm, CUstream stream)) \
	F(ncclAlltoAll, (const void *send, void *receive, size_t count, int type, \
			    struct ncclComm *comm, CUstream stream)) \
	F(ncclGather, (const void *send, void *receive, size_t count, int type, int root, \
			  struct ncclComm *comm, CUstream stream)) \
	F(ncclScatter, (const void *send, void *receive, size_t count, int type, int root, \
			   struct ncclComm *comm, CUstream stream)) \
	F(ncclSend, (const void *send, size_t count, int type, int peer, struct ncclComm *comm, \
			CUstream stream)) \
	F(ncclRecv, (void *receive, size_t count, int type, int peer, struct ncclComm *comm, \
			CUstream stream)) \
	F(ncclGroupStart, (void)) \
	F(ncclGroupEnd, (void)) \
	F(ncclGroupSimulateEnd, (struct gd_nccl_simulation * simulation))

#define GD_NCCL_DECLARE(function, parameters) GD_EXPORT int function parameters;
GD_NCCL_FUNCTIONS(GD_NCCL_DECLARE)
#undef GD_NCCL_DECLARE
GD_EXPORT const char *ncclGetErrorString(int status);
GD_EXPORT const char *ncclGetLastError(const struct ncclComm *comm);

#endif
