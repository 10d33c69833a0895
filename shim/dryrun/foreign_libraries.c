/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/foreign_libraries.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/dryrun/vendor_names.h"

/* Whether a file name is lib + one of the names + ".so" or "_", or the name a wheel gave to it. */
static bool of_vendor(const char *file)
{
	static const char *const names[] = {
#define VENDOR_NAME(name) "lib" name,
	    GD_VENDOR_NAMES(VENDOR_NAME)
#undef VENDOR_NAME
	};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);
		if (strncmp(file, names[i], length) == 0 &&
		    (strncmp(file + length, ".so", 3) == 0 || file[length] == '_' ||
			gd_renamed_length(file) == length))
			return true;
	}
	return false;
}

/* Folder of this library without links, with a slash behind; empty when it cannot be told. */
static void own_folder(char *out)
{
	Dl_info info;
	out[0] = 0;
	if (!dladdr((void *)(uintptr_t)gd_foreign_libraries_found, &info) ||
	    !realpath(info.dli_fname, out))
		return;
	char *slash = strrchr(out, '/');
	if (slash)
		slash[1] = 0;
}

bool gd_foreign_libraries_found(void)
{
	char folder[PATH_MAX], line[PATH_MAX + 256], last[PATH_MAX] = "";
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");
	own_folder(folder);
	while (maps && folder[0] && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/'), *slash = strrchr(line, '/');
		if (!path || !of_vendor(slash + 1))
			continue;
		path[strcspn(path, "\n")] = 0;
		if (strncmp(path, folder, strlen(folder)) == 0 || strcmp(path, last) == 0)
			continue;
		snprintf(last, sizeof(last), "%s", path);
		fprintf(stderr, "gpushim dryrun: %s is loaded beside the stand-in GPU\n", path);
		found = true;
	}
	if (maps)
		fclose(maps);
	if (found)
		fprintf(stderr,
		    "gpushim dryrun: refusing to start: only libraries from %s may answer\n",
		    folder);
	return found;
}
