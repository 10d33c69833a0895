/* SPDX-License-Identifier: Apache-2.0 */
/* Ids that a program attaches to the calls of a thread: a stack for each kind, of any depth. */
#ifndef GD_CUPTI_EXTERNAL_H
#define GD_CUPTI_EXTERNAL_H

#include <stdint.h>

/** Write a record for each kind with an id on this thread, in front of a call's own record. */
void gd_external_record(uint32_t correlation);

#endif
