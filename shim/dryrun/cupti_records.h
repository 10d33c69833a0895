/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Activity records of the stand-in CUPTI, made from the operations that the driver shows.
 *
 * The driver's observer gives each operation as it is enqueued.  It becomes a device record, one
 * record of the runtime call that enqueued it (its correlation id is new for each operation), and
 * one record for each external id that the thread has pushed.  Records wait here, with times of
 * CLOCK_MONOTONIC, and get the client's clock when they are handed over: that clock (PyTorch gives
 * the processor's counter) can be converted only between two readings of both.
 *
 * All records have room for the longest layout of any release, so a client that was built for newer
 * structs than the headers here reads zeros and not the next record.
 */
#ifndef GD_CUPTI_RECORDS_H
#define GD_CUPTI_RECORDS_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gd_export.h"
#include "unprovided.h"

#define GD_RECORD_BYTES 256
#define GD_MAX_KINDS 128

/**
 * Switch a kind of record on or off; with the first kind of device records the driver is observed.
 *
 * @return false for a kind that does not exist
 */
bool gd_records_enable(unsigned kind, bool on);

/** Forget all settings and records. */
void gd_records_reset(void);

/** Who gives buffers and takes them back. */
void gd_records_set_client(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);

/** The client's clock; NULL means CLOCK_REALTIME. */
void gd_records_set_clock(CUpti_TimestampCallbackFunc clock);

/** Now, by the client's clock. */
uint64_t gd_records_now(void);

/**
 * Hand over all records whose operations have ended.
 *
 * @param all  also those that still run
 *
 * Threads: any; the client's callbacks are called without a lock.
 */
void gd_records_flush(bool all);

/** External ids of the calling thread, a stack for each kind; at most 16 deep. */
bool gd_records_push(CUpti_ExternalCorrelationKind kind, uint64_t id);
bool gd_records_pop(CUpti_ExternalCorrelationKind kind, uint64_t *id_out);

#endif
