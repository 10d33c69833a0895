/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading of files by position, and standard input as a file.  Files are read, never mapped: one
 * that gets shorter meanwhile must be an error, not a SIGBUS.
 */
#ifndef GF_FILE_READ_H
#define GF_FILE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "formats/status.h"

/**
 * Read bytes at an offset.
 *
 * @return bytes read; fewer than asked for at the end of the file or after an error (errno)
 */
size_t gf_read_at(int fd, void *to, size_t bytes, uint64_t offset);

/**
 * Copy everything from a descriptor into an unlinked temporary file.
 *
 * @param fd_out  set on success: the file, for the caller to close
 * @return GF_OK, GF_IO, GF_NO_SPACE
 */
enum gf_status gf_spool(int from, int *fd_out, struct gf_error *error);

#endif
