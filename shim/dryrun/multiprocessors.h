/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The multiprocessors of the simulated clock: kernels of different streams share them.  A kernel
 * takes a share of the device for all of its time and starts when that much is free, also in front
 * of kernels that were launched before and start later.  Only kernels of the same or a higher
 * priority are in its way; those that run already are not slowed by it. Threads: any; a lock of
 * each device, in which nothing nests.
 */
#ifndef GD_MULTIPROCESSORS_H
#define GD_MULTIPROCESSORS_H

#include <stdint.h>

#define GD_WHOLE_DEVICE 1024u

/**
 * Take a share of a device for a kernel.
 *
 * @param device       below GD_MAX_DEVICES
 * @param priority     of its stream, 0 the least and below 0 higher, clamped to the range of
 * streams
 * @param share        of GD_WHOLE_DEVICE, at most that
 * @param from_ns      the kernel can start then
 * @param duration_ns  how long it takes
 * @return when it starts
 */
uint64_t gd_multiprocessors_take(
    unsigned device, int priority, uint32_t share, uint64_t from_ns, uint64_t duration_ns);

#endif
