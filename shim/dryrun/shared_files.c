/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/dryrun/shared_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define MAGIC UINT64_C(0x31454c4946594447) /* "GDYFILE1" */
#define NAME_BYTES 128
#define NAME_FORMAT "gpushim-dryrun:%" PRIu32 ":%" PRId32 ":%" PRIu32 ":%" PRIu64 ":%" PRIu64
#define LINK_PREFIX "/memfd:"

static void name_of(const struct gd_file_ticket *ticket, char name[NAME_BYTES])
{
	snprintf(name, NAME_BYTES, NAME_FORMAT, ticket->kind, ticket->pid, ticket->device,
	    ticket->id, ticket->bytes);
}

/* Growing a file beyond the limit would end the program by a signal. */
static bool allowed(uint64_t bytes)
{
	struct rlimit limit;
	return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
	       bytes <= limit.rlim_cur;
}

int gd_file_new(struct gd_file_ticket *ticket, uint64_t file_bytes)
{
	char name[NAME_BYTES];
	ticket->magic = MAGIC;
	ticket->pid = (int32_t)getpid();
	name_of(ticket, name);
	int file = allowed(file_bytes) ? memfd_create(name, MFD_CLOEXEC) : -1;
	if (file >= 0 && ftruncate(file, (off_t)file_bytes) != 0) {
		close(file);
		file = -1;
	}
	ticket->file = file;
	return file;
}

bool gd_file_ticket(int file, struct gd_file_ticket *ticket_out)
{
	char path[64], link[NAME_BYTES + 32];
	struct gd_file_ticket ticket = {.magic = MAGIC, .file = file};
	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	ssize_t length = readlink(path, link, sizeof(link) - 1);
	if (length < 0)
		return false;
	link[length] = 0;
	if (sscanf(link, LINK_PREFIX NAME_FORMAT, &ticket.kind, &ticket.pid, &ticket.device,
		&ticket.id, &ticket.bytes) != 5)
		return false;
	*ticket_out = ticket;
	return true;
}

int gd_file_open(const struct gd_file_ticket *ticket)
{
	char path[64];
	struct gd_file_ticket found;
	if (ticket->magic != MAGIC || ticket->pid <= 0 || ticket->file < 0)
		return -1;
	snprintf(path, sizeof(path), "/proc/%" PRId32 "/fd/%" PRId32, ticket->pid, ticket->file);
	int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return -1;
	if (gd_file_ticket(file, &found) && found.kind == ticket->kind &&
	    found.pid == ticket->pid && found.device == ticket->device && found.id == ticket->id &&
	    found.bytes == ticket->bytes)
		return file;
	close(file);
	return -1;
}
