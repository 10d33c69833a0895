/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The client's clock, and how times of the device become times of it.
 *
 * The device's times are CLOCK_MONOTONIC.  A client may give a clock of any unit (PyTorch gives the
 * processor's counter).  Both are read together from time to time; between readings a line leads
 * from one to the next, without a jump, so that what does not overlap on the device does not
 * overlap in records.  Threads: any.
 */
#ifndef GD_CUPTI_CLOCK_H
#define GD_CUPTI_CLOCK_H

#include <cupti.h>
#include <stdint.h>

/** Set the client's clock; NULL means CLOCK_REALTIME. */
void gd_clock_set(CUpti_TimestampCallbackFunc clock);

/** @return now, by the client's clock */
uint64_t gd_clock_client_ns(void);

/** @return now, CLOCK_MONOTONIC */
uint64_t gd_clock_device_ns(void);

/** @return a time of the device by the client's clock, exact unless in the future; 0 stays 0 */
uint64_t gd_clock_convert(uint64_t device_ns);

#endif
