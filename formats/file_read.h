/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing of files by position, and pipes as files.  Files are read, never mapped: one
 * that gets shorter meanwhile must be an error, not a SIGBUS.
 */
#ifndef GF_FILE_READ_H
#define GF_FILE_READ_H

#include <stdbool.h>
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
 * Write all bytes at an offset.  Passing the limit on file sizes is an error, not a SIGXFSZ.
 *
 * @return false after an error (errno); some bytes may have been written
 */
bool gf_write_at(int fd, const void *from, size_t bytes, uint64_t offset);

/** Make an unlinked file in the folder for temporary files.  @return descriptor, -1 (errno) */
int gf_temporary_file(void);

/**
 * Copy from a pipe or another descriptor that has no positions.
 *
 * @param to, at      file and offset to copy to
 * @param limit       bytes to copy at most
 * @param copied_out  set on success; fewer than the limit: the input has ended
 * @return GF_OK, GF_IO, GF_NO_SPACE, GF_NO_MEMORY
 */
enum gf_status gf_spool(int from, int to, uint64_t at, uint64_t limit, uint64_t *copied_out,
    struct gf_error *error);

#endif
