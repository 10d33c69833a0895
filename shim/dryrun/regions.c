/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define OPEN (PROT_READ | PROT_WRITE)

static char *map(void *at, uint64_t bytes, int rights, int kind, int file)
{
	int flags = kind | MAP_NORESERVE | (file < 0 ? MAP_ANONYMOUS : 0) | (at ? MAP_FIXED : 0);
	void *start = mmap(at, bytes, rights, flags, file, 0);
	return start == MAP_FAILED ? NULL : start;
}

static uint64_t limit_of(int resource)
{
	struct rlimit limit;
	if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 ||
	    limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	return limit.rlim_cur;
}

/* Where overcommitting is forbidden only a file counts by its pages.  Growing one beyond the limit
 * of files would end the program by a signal. */
static char *map_file(uint64_t bytes)
{
	char *start = NULL;
	int file =
	    bytes <= limit_of(RLIMIT_FSIZE) ? memfd_create("gpushim-dryrun", MFD_CLOEXEC) : -1;
	if (file < 0)
		return NULL;
	if (ftruncate(file, (off_t)bytes) == 0)
		start = map(NULL, bytes, OPEN, MAP_SHARED, file);
	close(file);
	return start;
}

bool gd_region_reserve(uint64_t bytes, struct gd_region *region_out)
{
	char *start = map(NULL, bytes, PROT_NONE, MAP_PRIVATE, -1);
	if (start)
		*region_out = (struct gd_region){start, bytes, false};
	return start != NULL;
}

bool gd_region_new(uint64_t bytes, struct gd_region *region_out)
{
	char *start = map(NULL, bytes, OPEN, MAP_PRIVATE, -1);
	bool shared = !start;
	if (!start)
		start = map(NULL, bytes, OPEN, MAP_SHARED, -1);
	if (!start)
		start = map_file(bytes);
	if (start)
		*region_out = (struct gd_region){start, bytes, shared};
	return start != NULL;
}

bool gd_region_renew(const struct gd_region *region, void *at, uint64_t bytes)
{
	return map(at, bytes, OPEN, region->shared ? MAP_SHARED : MAP_PRIVATE, -1) != NULL;
}

void gd_region_end(const struct gd_region *region)
{
	munmap(region->start, region->bytes);
}

static uint64_t read_number(const char *path)
{
	FILE *file = fopen(path, "re");
	uint64_t number = 0;
	if (!file)
		return 0;
	if (fscanf(file, "%" SCNu64, &number) != 1)
		number = 0;
	fclose(file);
	return number;
}

uint64_t gd_region_room(void)
{
	uint64_t limit = limit_of(RLIMIT_AS), used;
	if (limit == UINT64_MAX)
		return UINT64_MAX;
	used = read_number("/proc/self/statm") * (uint64_t)sysconf(_SC_PAGESIZE);
	return limit > used ? limit - used : 0;
}

void gd_region_say_why(uint64_t bytes)
{
	uint64_t room = gd_region_room();
	double needed_gib = (double)bytes / (1 << 30);
	if (room < bytes)
		fprintf(stderr,
		    "gpushim dryrun: no room for device memory: ulimit -v leaves %.1f GiB of "
		    "address space, "
		    "%.1f GiB are needed; a smaller device needs less\n",
		    (double)room / (1 << 30), needed_gib);
	else if (read_number("/proc/sys/vm/overcommit_memory") == 2 &&
		 bytes > limit_of(RLIMIT_FSIZE))
		fprintf(stderr,
		    "gpushim dryrun: no room for device memory: vm.overcommit_memory=2 asks for a "
		    "file of "
		    "%.1f GiB in memory, which ulimit -f forbids\n",
		    needed_gib);
	else
		fprintf(stderr,
		    "gpushim dryrun: no room for device memory: the kernel refuses %.1f GiB of "
		    "address "
		    "space\n",
		    needed_gib);
}
