/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of c10 that PyTorch's caching allocator calls to report what it does, under every name
 * they have had.  Both are exported by libc10 and called by libc10_cuda through the PLT.
 *
 *   T(shape, id, mangled name)     shape: USAGE or OOM, see torch_hooks.c
 *
 * USAGE  (void *address, int64_t size, total allocated, total reserved, c10::Device)
 * OOM    (size, total allocated, total reserved, c10::Device)
 *
 * Totals were int64_t (l) up to 1.13 and are size_t (m) since; they use the same registers.
 */
#ifndef GS_TORCH_TABLE_H
#define GS_TORCH_TABLE_H

#define GS_TORCH_HOOKS(T) \
	/* 2.0 up to at least 2.15 */ \
	T(USAGE, usage_lmm, "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE") \
	/* 1.10 to 1.13 */ \
	T(USAGE, usage_lll, "_ZN3c1027reportMemoryUsageToProfilerEPvlllNS_6DeviceE") \
	/* 2.1 up to at least 2.15 */ \
	T(OOM, oom_lmm, "_ZN3c1027reportOutOfMemoryToProfilerElmmNS_6DeviceE") \
	/* between 1.13 and 2.6 */ \
	T(OOM, oom_mmm, "_ZN3c1027reportOutOfMemoryToProfilerEmmmNS_6DeviceE") \
	/* 1.12, 1.13 */ \
	T(OOM, oom_lll, "_ZN3c1027reportOutOfMemoryToProfilerElllNS_6DeviceE")

/* std::atomic<CUDAAllocator *>: the allocator in use.  1.13 has a plain pointer of that name. */
#define GS_TORCH_ALLOCATOR "_ZN3c104cuda20CUDACachingAllocator9allocatorE"
/* What typeid says of the native one. */
#define GS_TORCH_NATIVE_TYPE "NativeCachingAllocator"
/* void NativeCachingAllocator::setMemoryFraction(double, DeviceIndex), virtual and in a place that
 * moves between releases; not exported.  The last parameter is an int (i) up to 2.1, a signed char
 * (a) since. */
#define GS_TORCH_FRACTION \
	"_ZN3c104cuda20CUDACachingAllocator6Native22NativeCachingAllocator17setMemoryFractionEd"
/* CUDAStream getCurrentCUDAStream(DeviceIndex): reads thread-local state, takes no lock. */
#define GS_TORCH_STREAM "_ZN3c104cuda20getCurrentCUDAStreamEa"

/* uint64_t at::sequence_number::get_and_increment(): one name in 1.13 up to at least 2.15. */
#define GS_TORCH_NEXT_NUMBER "_ZN2at15sequence_number17get_and_incrementEv"
/* uint64_t at::RecordFunction::currentThreadId(): of the calling thread, from 1; likewise. */
#define GS_TORCH_THREAD "_ZN2at14RecordFunction15currentThreadIdEv"
/* void Engine::evaluate_function(shared_ptr<GraphTask> &, Node *, InputBuffer &,
 * const shared_ptr<ReadyQueue> &): likewise. */
#define GS_TORCH_EVALUATE \
	"_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_" \
	"11InputBufferERKS2_INS0_10ReadyQueueEE"
#define GS_TORCH_NODE_TYPE "_ZTIN5torch8autograd4NodeE"

#endif
