/* SPDX-License-Identifier: Apache-2.0 */
/* Which libraries are NVIDIA's, and where their stand-ins lie.  Parts of audit.c's door. */
#ifndef GD_AUDIT_NAMES_H
#define GD_AUDIT_NAMES_H

#include <stdbool.h>

/** @return whether a file name is that of one of NVIDIA's device libraries */
bool gd_audit_is_vendor(const char *file);

/**
 * Where the stand-in of a library lies.
 *
 * @param file  a file name such as libcublas.so.13
 * @return its path, valid until the next call; NULL when there is none
 *
 * Threads: under the dynamic linker's lock.
 */
char *gd_audit_stand_in(const char *file);

#endif
