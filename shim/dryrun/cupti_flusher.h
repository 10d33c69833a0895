/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that hands records over from time to time.  Threads: any. */
#ifndef GD_CUPTI_FLUSHER_H
#define GD_CUPTI_FLUSHER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Write the records of ended work every so often, which hands back the buffers that this fills.
 *
 * @param milliseconds  0 ends it; the thread is not waited for
 * @return false when no thread can be made
 */
bool gd_flusher_set_period(uint32_t milliseconds);

#endif
