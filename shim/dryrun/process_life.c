/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/process_life.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

uint64_t gd_process_start_time(int pid)
{
	char path[64], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	int file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return 0;
	ssize_t n = read(file, text, sizeof(text) - 1);
	close(file);
	if (n <= 0)
		return 0;
	text[n] = 0;
	char *at = strrchr(text, ')'); /* the name before may hold anything */
	for (int field = 2; at && field < 22; field++)
		at = strchr(at + 1, ' ');
	if (!at)
		return 0;
	uint64_t ticks = strtoull(at + 1, NULL, 10);
	char *state = strrchr(text, ')');
	return state && state[1] && (state[2] == 'Z' || state[2] == 'X') ? 0 : ticks + 1;
}
