/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#define PIECE_BYTES 65536u

size_t gf_read_at(int fd, void *to, size_t bytes, uint64_t offset)
{
	size_t done = 0;
	while (done < bytes) {
		ssize_t got = pread(fd, (char *)to + done, bytes - done, (off_t)(offset + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	return done;
}

bool gf_write_at(int fd, const void *from, size_t bytes, uint64_t offset)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	    offset + bytes > limit.rlim_cur) {
		errno = EFBIG;
		return false;
	}
	for (size_t done = 0; done < bytes;) {
		ssize_t put =
		    pwrite(fd, (const char *)from + done, bytes - done, (off_t)(offset + done));
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		done += (size_t)put;
	}
	return true;
}

int gf_temporary_file(void)
{
	const char *folder = getenv("TMPDIR");
	char path[4096];
	if (!folder || !*folder)
		folder = "/tmp";
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (fd >= 0)
		return fd;
	/* A file system without unnamed files. */
	if (snprintf(path, sizeof(path), "%s/gpushim-XXXXXX", folder) >= (int)sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	fd = mkostemp(path, O_CLOEXEC);
	if (fd >= 0)
		unlink(path);
	return fd;
}

enum gf_status gf_spool(
    int from, int to, uint64_t at, uint64_t limit, uint64_t *copied_out, struct gf_error *error)
{
	uint64_t copied = 0;
	ssize_t got = 1;
	char *buffer = malloc(PIECE_BYTES);
	if (!buffer)
		return gf_fail(error, GF_NO_MEMORY, UINT64_MAX, "out of memory for a copy");
	while (copied < limit && got > 0) {
		got = read(from, buffer, limit - copied < PIECE_BYTES ? limit - copied : PIECE_BYTES);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0 && gf_write_at(to, buffer, (size_t)got, at + copied))
			copied += (size_t)got;
		else if (got > 0)
			got = -1;
	}
	int cause = errno;
	free(buffer);
	if (got < 0)
		return gf_fail(error, gf_errno_status(cause), UINT64_MAX,
		    "cannot copy the input to a temporary file: %s (errno %d); set TMPDIR to a folder "
		    "with room",
		    gf_errno_words(cause), cause);
	*copied_out = copied;
	return GF_OK;
}
