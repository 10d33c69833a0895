/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/torch_release.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* .../torch/lib/libtorch_cuda.so has .../torch/version.py beside its folder.  Asking the dynamic
 * linker instead would take its lock, which the caller's caller may hold. */
static bool find_version_file(char *path_out)
{
	static const char library[] = "/lib/libtorch_cuda", file[] = "/version.py";
	char line[PATH_MAX + 256];
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	while (maps && !found && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/'), *end = strstr(line, library);
		if (!path || !end || end < path || end - path + sizeof(file) > PATH_MAX)
			continue;
		memcpy(path_out, path, (size_t)(end - path));
		memcpy(path_out + (end - path), file, sizeof(file));
		found = true;
	}
	if (maps)
		fclose(maps);
	return found;
}

static unsigned read_release(const char *path)
{
	char line[256];
	unsigned major, minor, release = 0;
	FILE *file = fopen(path, "re");
	while (file && !release && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "__version__ = '%3u.%3u.", &major, &minor) == 2)
			release = GD_TORCH(major, minor);
	}
	if (file)
		fclose(file);
	return release;
}

unsigned gd_torch_release(void)
{
	static unsigned known; /* atomic */
	unsigned release = __atomic_load_n(&known, __ATOMIC_RELAXED);
	char path[PATH_MAX];
	if (!release && find_version_file(path)) {
		release = read_release(path);
		__atomic_store_n(&known, release, __ATOMIC_RELAXED);
	}
	return release;
}
