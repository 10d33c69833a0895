/* SPDX-License-Identifier: Apache-2.0 */
#include "formats/held_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kernel has room for 64 descriptors from the start.  To make more it waits for a quiet moment of
 * all processors, some 20 ms, if the process has threads. */
#define GF_NEAR_NUMBER 48
#define GF_HIGH_NUMBER 1000 /* below FD_SETSIZE, and the kernel's table stays small */
#define GF_ROOM_ABOVE 8

/* The descriptor under a number from `wanted` up, or a little below the limit, or as it is. */
static int gf_move_up(int fd, int wanted)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 &&
	    limit.rlim_cur <= (rlim_t)(wanted + GF_ROOM_ABOVE))
		wanted = limit.rlim_cur > 2 * GF_ROOM_ABOVE ? (int)limit.rlim_cur - GF_ROOM_ABOVE : 0;
	int higher = fd < wanted ? fcntl(fd, F_DUPFD_CLOEXEC, wanted) : -1;
	if (higher < 0)
		return fd;
	close(fd);
	return higher;
}

void gf_held_take(struct gf_held_file *held, int fd)
{
	struct stat s;
	*held = (struct gf_held_file)GF_HELD_NONE;
	if (fd < 0 || fstat(fd, &s) != 0)
		return;
	held->fd = gf_move_up(fd, GF_NEAR_NUMBER);
	held->device = s.st_dev;
	held->inode = s.st_ino;
}

void gf_held_raise(struct gf_held_file *held)
{
	if (gf_held_ours(held))
		held->fd = gf_move_up(held->fd, GF_HIGH_NUMBER);
}

bool gf_held_ours(const struct gf_held_file *held)
{
	struct stat s;
	return held->fd >= 0 && fstat(held->fd, &s) == 0 && s.st_dev == held->device &&
	    s.st_ino == held->inode;
}

int gf_held_regain(struct gf_held_file *held, const char *path, int flags)
{
	if (gf_held_ours(held))
		return 0;
	struct gf_held_file again;
	int fd = open(path, flags | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW | O_NONBLOCK);
	int cause = fd < 0 ? errno : 0;
	gf_held_take(&again, fd);
	bool same = again.device == held->device && again.inode == held->inode;
	if (cause || !same) {
		gf_held_close(&again);
		held->fd = -1;
		return cause ? cause : EBADF; /* renamed or removed, and another is there now */
	}
	*held = again;
	gf_held_raise(held);
	return 0;
}

void gf_held_close(struct gf_held_file *held)
{
	if (gf_held_ours(held))
		close(held->fd);
	held->fd = -1;
}
