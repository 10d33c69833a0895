/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/call_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int log_file = -1;

/* Copy path with each %p replaced by the process id; false when it does not fit. */
static bool expand(char *out, size_t size, const char *path)
{
	size_t used = 0;
	while (*path) {
		int n;
		if (path[0] == '%' && path[1] == 'p') {
			n = snprintf(out + used, size - used, "%d", (int)getpid());
			path += 2;
		} else {
			n = snprintf(out + used, size - used, "%c", *path++);
		}
		if (n < 0 || (size_t)n >= size - used)
			return false;
		used += (size_t)n;
	}
	return true;
}

bool gd_call_log_open(const char *path)
{
	char name[4096];
	if (!path || !*path)
		return false;
	if (!expand(name, sizeof(name), path)) {
		fprintf(stderr, "gpushim dryrun: call log: path too long\n");
		return false;
	}
	log_file = open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (log_file < 0)
		fprintf(stderr, "gpushim dryrun: call log %s: %s\n", name, strerror(errno));
	return log_file >= 0;
}

void gd_call_log_write(const char *name, int result)
{
	char line[160];
	int length = snprintf(line, sizeof(line), "%s %d\n", name, result);
	if (length > 0 && write(log_file, line, (size_t)length) < 0)
		return; /* a full disk must not disturb the program */
}
