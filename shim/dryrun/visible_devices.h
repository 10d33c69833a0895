/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The devices that this process may see.
 *
 * CUDA_VISIBLE_DEVICES lists them by number or by the beginning of GPU-<uuid>; the list ends at the
 * first entry that is no device, or one named before.  The driver's device numbers count the
 * visible ones; budget, counts, identity and PCI address belong to the device itself (gd_physical).
 */
#ifndef GD_VISIBLE_DEVICES_H
#define GD_VISIBLE_DEVICES_H

extern unsigned gd_visible_count; /* constant after gd_visible_start */

/** Read the environment after the device table; once. */
void gd_visible_start(void);

#endif
