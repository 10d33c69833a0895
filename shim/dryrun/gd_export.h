/* SPDX-License-Identifier: Apache-2.0 */
/* What a stand-in library shows to the process; everything else is compiled hidden. */
#ifndef GD_EXPORT_H
#define GD_EXPORT_H

#define GD_EXPORT __attribute__((visibility("default")))

#endif
