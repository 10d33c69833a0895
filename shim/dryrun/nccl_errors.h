/* SPDX-License-Identifier: Apache-2.0 */
/* How a function of the stand-in NCCL says what is wrong. */
#ifndef GD_NCCL_ERRORS_H
#define GD_NCCL_ERRORS_H

/**
 * Keep the words for ncclGetLastError; with NCCL_DEBUG they also go to stderr.
 *
 * @param status  what the function is going to answer
 * @param form    as of printf
 * @return status
 *
 * Threads: any.
 */
int gd_nccl_fail(int status, const char *form, ...) __attribute__((format(printf, 2, 3)));

#endif
