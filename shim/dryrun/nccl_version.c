/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The version: the one that the caller's PyTorch was built with.  Its wheel names it as a
 * requirement, "nvidia-nccl-cu13==2.30.7", in the METADATA beside its folder.
 */
#include <dlfcn.h>
#include <glob.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "nccl_api.h"
#include "nccl_errors.h"

#define GD_INSIDE "/torch/lib/"

static int version = GD_NCCL_VERSION;

static bool read_requirement(const char *line)
{
	const char *name = strstr(line, "nvidia-nccl-cu");
	const char *numbers = name ? strstr(name, "==") : NULL;
	unsigned major, minor, patch;

	if (!name || strncmp(line, "Requires-Dist:", 14) != 0 || !numbers ||
	    sscanf(numbers, "==%3u.%3u.%3u", &major, &minor, &patch) != 3)
		return false;
	version = (int)(major * 10000 + minor * 100 + patch);
	return true;
}

static void read_metadata(const char *path)
{
	char line[512];
	FILE *file = fopen(path, "re");

	while (file && fgets(line, sizeof(line), file) && !read_requirement(line))
		;
	if (file)
		fclose(file);
}

static void find_version(void *caller)
{
	char pattern[4096];
	Dl_info info;
	const char *inside;
	glob_t found;

	if (!dladdr(caller, &info) || !(inside = strstr(info.dli_fname, GD_INSIDE)) ||
	    (size_t)snprintf(pattern, sizeof(pattern), "%.*s/torch-*.dist-info/METADATA",
		(int)(inside - info.dli_fname), info.dli_fname) >= sizeof(pattern))
		return;
	if (glob(pattern, 0, NULL, &found) != 0)
		return;
	read_metadata(found.gl_pathv[0]);
	globfree(&found);
}

int ncclGetVersion(int *version_out)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static bool looked;

	if (!version_out)
		return gd_nccl_fail(GD_NCCL_InvalidArgument, "ncclGetVersion: version is NULL");
	pthread_mutex_lock(&lock);
	if (!looked)
		find_version(__builtin_return_address(0));
	looked = true;
	*version_out = version;
	pthread_mutex_unlock(&lock);
	return GD_NCCL_Success;
}
