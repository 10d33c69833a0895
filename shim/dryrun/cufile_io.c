/* SPDX-License-Identifier: Apache-2.0 */
/* cuFile: reads and writes answer a byte count, so their refusal is -1 with errno. */
#include <errno.h>
#include <stddef.h>
#include <sys/types.h>

#include "gd_export.h"
#include "unprovided.h"

GD_EXPORT ssize_t cuFileRead(void *file, void *to, size_t bytes, off_t from, off_t at);
GD_EXPORT ssize_t cuFileWrite(void *file, const void *from, size_t bytes, off_t to, off_t at);

ssize_t cuFileRead(void *file, void *to, size_t bytes, off_t from, off_t at)
{
	gd_unprovided(__func__);
	errno = ENOTSUP;
	return -1;
}

ssize_t cuFileWrite(void *file, const void *from, size_t bytes, off_t to, off_t at)
{
	gd_unprovided(__func__);
	errno = ENOTSUP;
	return -1;
}
