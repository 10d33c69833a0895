/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity records of the stand-in CUPTI, made from what the driver shows.
 *
 * An operation comes when it is enqueued, with the times that the clock gives it.  Its record waits
 * here until it has ended and goes into a buffer then, at the next thing that happens.  What a call
 * did besides (a wait, an allocation) is written at once.  Threads: any.
 */
#ifndef GD_CUPTI_RECORDS_H
#define GD_CUPTI_RECORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "call_watch.h"
#include "operations.h"

/** What the driver's observer and watcher call. */
void gd_records_operation(const struct gd_operation *operation, void *user);
void gd_records_notice(const struct gd_notice *notice);

/**
 * Write the records of what has ended; those that another thread is writing are written too then.
 * Not from a callback of the client for buffers, which may be part of that.
 *
 * @param all  also of what still runs, without times: start and end are 0
 */
void gd_records_settle(bool all);

/** Drop what waits. */
void gd_records_reset(void);

/** Kernels carry when they were enqueued, or not. */
void gd_records_latency(bool on);

/** Write what an activity of CUPTI itself cost, by the client's clock. */
void gd_records_overhead(uint64_t start, uint64_t end);

#endif
