/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Layouts of activity records, by the release that each library stands for: 11.7, 12.4, 13.2.
 *
 * Records are filled through the newest structs that the headers of the major have.  A later struct
 * only adds fields at the end, so what headers lack (GD_*_BYTES is larger then) is zeros, and
 * GD_KERNEL_PRIORITY.  Where the headers are of that very release the sizes are checked.
 */
#ifndef GD_CUPTI_LAYOUT_H
#define GD_CUPTI_LAYOUT_H

#include <cupti.h>
#include <stddef.h>
#include <stdint.h>

#if CUDA_VERSION >= 13000
#define GD_CUPTI_VERSION 130202
#define GD_LAYOUT_CHECKED (CUPTI_API_VERSION >= 130200 && CUPTI_API_VERSION < 130300)
#define GD_KERNEL CUpti_ActivityKernel10
#define GD_KERNEL_BYTES 224 /* Kernel11 */
#define GD_KERNEL_PRIORITY 216
#define GD_MEMCPY CUpti_ActivityMemcpy6
#define GD_MEMCPY_BYTES 96
#define GD_MEMORY2 CUpti_ActivityMemory4
#define GD_MEMORY2_BYTES 128
#define GD_POOL CUpti_ActivityMemoryPool3
#define GD_POOL_BYTES 80
#define GD_SYNCHRONIZATION CUpti_ActivitySynchronization2
#define GD_SYNCHRONIZATION_BYTES 56
#define GD_OVERHEAD CUpti_ActivityOverhead3
#define GD_OVERHEAD_BYTES 56
#define GD_GRAPH_TRACE CUpti_ActivityGraphTrace2
#define GD_GRAPH_TRACE_BYTES 56
#define GD_EVENT CUpti_ActivityCudaEvent2
#define GD_EVENT_BYTES 56
#define GD_CONTEXT CUpti_ActivityContext3
#define GD_CONTEXT_BYTES 40 /* Context4 */
#elif CUDA_VERSION >= 12000
#define GD_CUPTI_VERSION 22
#define GD_LAYOUT_CHECKED (CUPTI_API_VERSION == 22)
#define GD_KERNEL CUpti_ActivityKernel9
#define GD_KERNEL_BYTES 208
#define GD_MEMCPY CUpti_ActivityMemcpy5
#define GD_MEMCPY_BYTES 88
#define GD_MEMORY2 CUpti_ActivityMemory3
#define GD_MEMORY2_BYTES 120
#define GD_POOL CUpti_ActivityMemoryPool2
#define GD_POOL_BYTES 72
#define GD_SYNCHRONIZATION CUpti_ActivitySynchronization
#define GD_SYNCHRONIZATION_BYTES 40
#define GD_OVERHEAD CUpti_ActivityOverhead3
#define GD_OVERHEAD_BYTES 56
#define GD_GRAPH_TRACE CUpti_ActivityGraphTrace2
#define GD_GRAPH_TRACE_BYTES 56
#define GD_EVENT CUpti_ActivityCudaEvent
#define GD_EVENT_BYTES 24
#define GD_CONTEXT CUpti_ActivityContext2
#define GD_CONTEXT_BYTES 24
#else
#define GD_CUPTI_VERSION 17
#define GD_LAYOUT_CHECKED (CUPTI_API_VERSION == 17 || CUPTI_API_VERSION == 18)
#define GD_KERNEL CUpti_ActivityKernel7
#define GD_KERNEL_BYTES 176
#define GD_MEMCPY CUpti_ActivityMemcpy5
#define GD_MEMCPY_BYTES 88
#define GD_MEMORY2 CUpti_ActivityMemory3
#define GD_MEMORY2_BYTES 120
#define GD_POOL CUpti_ActivityMemoryPool2
#define GD_POOL_BYTES 72
#define GD_SYNCHRONIZATION CUpti_ActivitySynchronization
#define GD_SYNCHRONIZATION_BYTES 40
#define GD_OVERHEAD CUpti_ActivityOverhead
#define GD_OVERHEAD_BYTES 40
#define GD_GRAPH_TRACE CUpti_ActivityGraphTrace
#define GD_GRAPH_TRACE_BYTES 48
#define GD_EVENT CUpti_ActivityCudaEvent
#define GD_EVENT_BYTES 24
#define GD_CONTEXT CUpti_ActivityContext
#define GD_CONTEXT_BYTES 16
#endif

/* L(kind, member, struct of the headers, bytes in this release).  MEMORY is one record for the
 * whole life of an allocation. */
#define GD_LAYOUTS(L) \
	L(MEMCPY, copy, GD_MEMCPY, GD_MEMCPY_BYTES) \
	L(MEMSET, memset, CUpti_ActivityMemset4, 88) \
	L(KERNEL, kernel_alone, GD_KERNEL, GD_KERNEL_BYTES) \
	L(DRIVER, driver, CUpti_ActivityAPI, 40) \
	L(RUNTIME, call, CUpti_ActivityAPI, 40) \
	L(CONTEXT, context, GD_CONTEXT, GD_CONTEXT_BYTES) \
	L(CONCURRENT_KERNEL, kernel, GD_KERNEL, GD_KERNEL_BYTES) \
	L(OVERHEAD, overhead, GD_OVERHEAD, GD_OVERHEAD_BYTES) \
	L(MEMCPY2, peer_copy, CUpti_ActivityMemcpyPtoP4, 96) \
	L(CUDA_EVENT, event, GD_EVENT, GD_EVENT_BYTES) \
	L(STREAM, stream, CUpti_ActivityStream, 24) \
	L(SYNCHRONIZATION, synchronization, GD_SYNCHRONIZATION, GD_SYNCHRONIZATION_BYTES) \
	L(EXTERNAL_CORRELATION, external, CUpti_ActivityExternalCorrelation, 24) \
	L(MEMORY, memory, CUpti_ActivityMemory, 80) \
	L(MEMORY2, memory2, GD_MEMORY2, GD_MEMORY2_BYTES) \
	L(MEMORY_POOL, pool, GD_POOL, GD_POOL_BYTES) \
	L(GRAPH_TRACE, graph_trace, GD_GRAPH_TRACE, GD_GRAPH_TRACE_BYTES)

#define GD_RECORD_ROOM 256  /* at least the longest */
#define GD_UNKNOWN_BYTES 64 /* of a kind that the fault script invents */
#define GD_RECORD_ALIGNMENT 8

union gd_record {
	CUpti_Activity any;
#define GD_MEMBER(kind, member, type, bytes) type member;
	GD_LAYOUTS(GD_MEMBER)
#undef GD_MEMBER
	char room[GD_RECORD_ROOM];
};

#define GD_CHECK_LAYOUT(kind, member, type, bytes) \
	_Static_assert((bytes) % GD_RECORD_ALIGNMENT == 0 && (bytes) <= GD_RECORD_ROOM && \
			   sizeof(type) <= (bytes), \
	    "layout of " #kind);
GD_LAYOUTS(GD_CHECK_LAYOUT)
#undef GD_CHECK_LAYOUT

#if GD_LAYOUT_CHECKED
#if CUDA_VERSION >= 13000 /* the two that older headers of the major lack */
_Static_assert(sizeof(CUpti_ActivityKernel11) == GD_KERNEL_BYTES, "Kernel11");
_Static_assert(offsetof(CUpti_ActivityKernel11, priority) == GD_KERNEL_PRIORITY, "Kernel11");
_Static_assert(sizeof(CUpti_ActivityContext4) == GD_CONTEXT_BYTES, "Context4");
#else
_Static_assert(sizeof(GD_KERNEL) == GD_KERNEL_BYTES, "kernel");
_Static_assert(sizeof(GD_CONTEXT) == GD_CONTEXT_BYTES, "context");
#endif
_Static_assert(sizeof(GD_MEMCPY) == GD_MEMCPY_BYTES, "memcpy");
_Static_assert(sizeof(GD_MEMORY2) == GD_MEMORY2_BYTES, "memory");
_Static_assert(sizeof(GD_POOL) == GD_POOL_BYTES, "memory pool");
_Static_assert(sizeof(GD_SYNCHRONIZATION) == GD_SYNCHRONIZATION_BYTES, "synchronization");
_Static_assert(sizeof(GD_OVERHEAD) == GD_OVERHEAD_BYTES, "overhead");
_Static_assert(sizeof(GD_GRAPH_TRACE) == GD_GRAPH_TRACE_BYTES, "graph trace");
_Static_assert(sizeof(GD_EVENT) == GD_EVENT_BYTES, "event");
#endif

/** @return bytes of a record of that kind; GD_UNKNOWN_BYTES for a kind that has no layout here */
static inline size_t gd_record_bytes(uint32_t kind)
{
	switch (kind) {
#define GD_BYTES(kind, member, type, bytes) \
	case CUPTI_ACTIVITY_KIND_##kind: \
		return bytes;
		GD_LAYOUTS(GD_BYTES)
#undef GD_BYTES
	default:
		return GD_UNKNOWN_BYTES;
	}
}

#endif
