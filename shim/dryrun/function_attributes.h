/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of functions, for CUfunction and CUkernel alike.  Threads: any. */
#ifndef GD_FUNCTION_ATTRIBUTES_H
#define GD_FUNCTION_ATTRIBUTES_H

#include "shim/dryrun/modules.h"

/** @return CUDA_ERROR_INVALID_VALUE for an attribute that does not exist or a NULL output */
CUresult gd_function_attribute(
    const struct gd_function *function, CUfunction_attribute attribute, int *value_out);

/** Where a parameter of a kernel lies. @return CUDA_ERROR_NOT_SUPPORTED for an unreadable image */
CUresult gd_function_parameter(const struct gd_image *image, const char *name, size_t index,
    size_t *offset_out, size_t *bytes_out);

/** @return CUDA_ERROR_INVALID_VALUE for one that cannot be set, or not to that */
CUresult gd_function_set_attribute(
    struct gd_function *function, CUfunction_attribute attribute, int value);

#endif
