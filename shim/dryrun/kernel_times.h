/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Times of kernels by name, in place of the clock's own: GPUSHIM_DRYRUN_TIMES is a file of lines
 *
 *   DURATION PATTERN
 *
 * as in `250us *gemm*`.  A duration is a number and ns, us, ms or s.  A pattern with * ? or [ is
 * one of fnmatch(3) for the whole name, as the compiler writes it; any other is a part of the name.
 * The first line that fits counts.  What follows a # is a comment.
 */
#ifndef GD_KERNEL_TIMES_H
#define GD_KERNEL_TIMES_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Read the file; once.
 *
 * @param path  NULL or empty for none
 * @return false after saying what is wrong and where
 */
bool gd_kernel_times_read(const char *path);

/**
 * Time of a kernel.
 *
 * @param name     of the function in its module
 * @param time_out its time in nanoseconds, untouched when no line fits
 * @return whether a line fits
 *
 * Threads: any, once the file has been read.
 */
bool gd_kernel_time(const char *name, uint64_t *time_out);

#endif
