/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a library and prints the file that was mapped; exit 3 when there is none.  usage:
 * open_library NAME */
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct link_map *map;
	void *handle = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;

	if (!handle || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
		return 3;
	puts(map->l_name);
	return 0;
}
