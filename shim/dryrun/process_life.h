/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a process that shares something with this one is still there. */
#ifndef GD_PROCESS_LIFE_H
#define GD_PROCESS_LIFE_H

#include <stdint.h>

/**
 * @return when the process began, in clock ticks since boot and never 0; 0 when it is gone, a
 * zombie included.  A number that another process got later differs.  Threads: any
 */
uint64_t gd_process_start_time(int pid);

#endif
