/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which release of PyTorch this process has loaded: some kernels of the same name take other
 * arguments in other releases.
 */
#ifndef GD_TORCH_RELEASE_H
#define GD_TORCH_RELEASE_H

#define GD_TORCH(major, minor) ((major)*1000U + (minor))

/**
 * @return GD_TORCH(2, 6) for 2.6.1; 0 when there is none or it cannot be told
 *
 * Reads files once it has found one.  Threads: any.
 */
unsigned gd_torch_release(void);

#endif
