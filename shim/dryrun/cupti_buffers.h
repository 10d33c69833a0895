/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's buffers: asked for, filled, handed back.
 *
 * A buffer is asked for when a record needs it.  With per-thread buffers what a thread does goes
 * into a buffer of the thread, device records into one of the process.  A full
 * buffer is handed back at once, by whoever filled it, and all in the order in which they became
 * full; the client's callbacks are never called under a lock or by two threads at a time for
 * completion. Without a buffer (the client refuses, gives less than a record's room, or one that is
 * not aligned to 8) a record is dropped and counted.  Threads: any.
 */
#ifndef GD_CUPTI_BUFFERS_H
#define GD_CUPTI_BUFFERS_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>

#define GD_BUFFERS_PER_THREAD (CUDA_VERSION >= 13000) /* unless the client asks for it */

/** Who gives buffers and takes them; what an earlier client's hold goes back to it. */
void gd_buffers_set_client(
    CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete);

/** @return whether there is a client */
bool gd_buffers_ready(void);

/** A buffer for each thread, or one for all. */
void gd_buffers_per_thread(bool on);

/** Does the client clear buffers before it gives them? Otherwise they are cleared here. */
void gd_buffers_cleared(bool by_client);

/**
 * Write a record.
 *
 * @param of_thread  something that the calling thread did, not the device
 * @param record     its kind gives its length (cupti_layout.h); copied
 */
void gd_buffers_append(bool of_thread, const void *record);

/**
 * Hand back every buffer that holds records and wait until the client has them all; not from a
 * callback of the client.
 *
 * @param empty  empty buffers too
 */
void gd_buffers_flush(bool empty);

/** @return whether this thread is in a callback of the client: it must not wait for buffers */
bool gd_buffers_in_client(void);

/** @return records dropped since the last question */
size_t gd_buffers_take_dropped(void);

#endif
