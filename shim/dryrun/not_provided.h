/* SPDX-License-Identifier: Apache-2.0 */
/* What a driver function without a body does.  Threads: any. */
#ifndef GD_NOT_PROVIDED_H
#define GD_NOT_PROVIDED_H

/**
 * Note the call in the shared state and in the call log.
 *
 * @param name  of the function; a literal
 * @return CUDA_ERROR_NOT_SUPPORTED, or CUDA_ERROR_NOT_INITIALIZED before cuInit
 */
int gd_not_provided(const char *name);

/** The same for a feature that the device lacks: the call is no gap and is not noted. */
int gd_refused(const char *name);

#endif
