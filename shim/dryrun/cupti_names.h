/* SPDX-License-Identifier: Apache-2.0 */
/* Names in records, kept for ever: clients look at them after the module is gone. */
#ifndef GD_CUPTI_NAMES_H
#define GD_CUPTI_NAMES_H

/** @return a copy of the text that stays; "" without memory.  Threads: any. */
const char *gd_name_keep(const char *text);

#endif
