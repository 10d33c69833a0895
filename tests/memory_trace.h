/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Short words for traces of memory events: each call appends one record, times go up by 1000 ticks.
 * One trace at a time.
 */
#ifndef MEMORY_TRACE_H
#define MEMORY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/trace_builder.h"

#define MT_MIB (UINT64_C(1) << 20)

/** Begin a trace with clock (1 tick = 1 ns), start mark and the properties of a small program. */
struct trace_builder *mt_begin(const char *path);

/** End it with an end mark. */
void mt_end(void);

/** Thread, device, extra flags and stack of what follows; mt_begin() sets 1, 0, 0, 0. */
void mt_thread(uint32_t thread_id);
void mt_device(unsigned device);
void mt_flags(uint32_t flags);
void mt_stack(uint32_t stack_id);

/** Time of the next record. */
uint64_t mt_now(void);
/** Let time pass. */
void mt_wait(uint64_t ticks);

/** A block with PyTorch's totals after it; size < 0 gives it back. */
void mt_block(uint64_t address, int64_t size, uint64_t allocated, uint64_t reserved);

/** A block whose totals the helper keeps itself: allocated follows, reserved as mt_reserved(). */
void mt_alloc(uint64_t address, uint64_t size);
void mt_free(uint64_t address, uint64_t size);
void mt_reserved(uint64_t reserved);

/** Bytes that the program asked for by the blocks that follow; 0: not recorded. */
void mt_requested(uint64_t bytes);

/** PyTorch's id of the stream of those blocks; recorded where the request is. */
void mt_stream(uint64_t id);

/** A call of the driver; status 0 or a CUDA error. */
void mt_driver(unsigned kind, uint64_t address, uint64_t size, uint64_t handle, unsigned status);

/** cuMemGetInfo and PyTorch's out-of-memory report. */
void mt_mem_info(uint64_t free_bytes, uint64_t total_bytes);
void mt_oom(uint64_t size, uint64_t allocated, uint64_t reserved);

/** torch.cuda.set_per_process_memory_fraction(); in units of 1 / GF_FRACTION_ONE. */
void mt_fraction(uint64_t fraction);

/** Other events. */
void mt_copy(uint64_t bytes, unsigned status);
void mt_memset(uint64_t bytes, unsigned status);
void mt_launch(unsigned status);
void mt_graph(unsigned kind);
void mt_sync(unsigned kind);

#endif
