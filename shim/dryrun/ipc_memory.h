/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory that several processes use: it lies in a file from the first export on, and whoever
 * imports it maps the same file.  Charged is only the process that allocated it.  Threads: any.
 */
#ifndef GD_IPC_MEMORY_H
#define GD_IPC_MEMORY_H

#include <stdbool.h>

struct gd_block;

/** A block of memory ends: take it out of its file, if it lies in one. */
void gd_ipc_memory_ends(struct gd_block *block);

/** @return whether cuIpcGetMemHandle takes addresses of a block */
bool gd_ipc_memory_capable(const struct gd_block *block);

#endif
