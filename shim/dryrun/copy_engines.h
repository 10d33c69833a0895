/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copy engines of the simulated clock: a device has one for each direction of its link to the
 * host, which does one copy at a time.  A copy takes the first time at which its engine is idle for
 * long enough, also in front of copies that were enqueued before and start later.
 * Threads: any; a lock of each engine, in which nothing nests.
 */
#ifndef GD_COPY_ENGINES_H
#define GD_COPY_ENGINES_H

#include <stdint.h>

enum gd_copy_engine { GD_TO_DEVICE, GD_FROM_DEVICE, GD_COPY_ENGINES };

/**
 * Take an engine for a copy.
 *
 * @param device       below GD_MAX_DEVICES
 * @param from_ns      the copy can start then
 * @param duration_ns  how long it takes
 * @return when it starts
 */
uint64_t gd_copy_engine_take(
    unsigned device, enum gd_copy_engine engine, uint64_t from_ns, uint64_t duration_ns);

#endif
