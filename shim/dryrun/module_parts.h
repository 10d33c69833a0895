/* SPDX-License-Identifier: Apache-2.0 */
/* What modules.c and libraries.c share.  But for the last two, gd_modules_lock is held. */
#ifndef GD_MODULE_PARTS_H
#define GD_MODULE_PARTS_H

#include <pthread.h>

#include "shim/dryrun/modules.h"

extern pthread_mutex_t gd_modules_lock; /* the memory and host memory locks nest in it */

/** @param image  taken over without a library, else borrowed from it @return NULL without memory */
struct gd_module *gd_module_new(
    struct gd_context *context, const struct gd_image *image, struct gd_library *library);

/** Unload a module: its functions and variables end. */
void gd_module_delete(struct gd_module *module);

/** @return function of that name, made when needed; NULL when the image has none */
struct gd_function *gd_module_function(
    struct gd_module *module, const char *name, struct gd_kernel *kernel);

/** Address and size of a variable, made when needed. @return CUDA_ERROR_NOT_FOUND */
CUresult gd_module_variable(struct gd_module *module, const char *name, bool managed,
    CUdeviceptr *address_out, size_t *bytes_out);

/** Count the kernels of an image. @return CUDA_ERROR_NOT_SUPPORTED for an unreadable one */
CUresult gd_module_count(const struct gd_image *image, unsigned *count_out);

/** Read a file. @return malloced bytes with a zero behind, or NULL */
void *gd_image_file(const char *path, size_t *bytes_out);

#endif
