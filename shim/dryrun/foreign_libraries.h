/* SPDX-License-Identifier: Apache-2.0 */
/* Is every NVIDIA library of this process one of the stand-in's? */
#ifndef GD_FOREIGN_LIBRARIES_H
#define GD_FOREIGN_LIBRARIES_H

#include <stdbool.h>

/**
 * Look through /proc/self/maps for NVIDIA libraries from another folder than that of this library.
 *
 * @return whether there is one; it was named on stderr
 */
bool gd_foreign_libraries_found(void);

#endif
