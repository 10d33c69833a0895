/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/file_read.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static int temporary_file(void)
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

static ssize_t write_all(int fd, const char *from, size_t bytes)
{
	size_t done = 0;
	while (done < bytes) {
		ssize_t put = write(fd, from + done, bytes - done);
		if (put < 0 && errno != EINTR)
			return -1;
		done += put > 0 ? (size_t)put : 0;
	}
	return (ssize_t)done;
}

enum gf_status gf_spool(int from, int *fd_out, struct gf_error *error)
{
	int cause, fd = temporary_file();
	char *buffer = malloc(1 << 16);
	if (fd < 0 || !buffer)
		goto failed;
	for (;;) {
		ssize_t got = read(from, buffer, 1 << 16);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0 || (got > 0 && write_all(fd, buffer, (size_t)got) < 0))
			goto failed;
		if (got == 0)
			break;
	}
	free(buffer);
	*fd_out = fd;
	return GF_OK;
failed:
	cause = errno;
	free(buffer);
	if (fd >= 0)
		close(fd);
	return gf_fail(error, cause == ENOSPC ? GF_NO_SPACE : GF_IO, UINT64_MAX,
	    "cannot copy the input to a temporary file: %s (errno %d); set TMPDIR to a folder "
	    "with room",
	    gf_errno_words(cause), cause);
}
