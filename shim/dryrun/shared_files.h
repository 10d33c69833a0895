/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files in memory that processes of one user hand to each other.
 *
 * A file has no path: whoever holds its ticket opens it in the process that made it, so that it
 * ends with the last process that uses it, and a ticket ends with its process.  The name of the
 * file repeats the ticket, so that an old or invented one opens nothing.  Threads: any.
 */
#ifndef GD_SHARED_FILES_H
#define GD_SHARED_FILES_H

#include <stdbool.h>
#include <stdint.h>

enum gd_file_kind { GD_FILE_MEMORY = 1, GD_FILE_EVENT, GD_FILE_RANKS };

struct gd_file_ticket {
	uint64_t magic;
	uint32_t kind;
	int32_t pid;
	int32_t file;	 /* its number in that process */
	uint32_t device; /* as the budget counts them; 0 where there is none */
	uint64_t id;	 /* of the object in that process */
	uint64_t bytes;	 /* of the object; the file may be longer */
};

/**
 * Make a file of zeros.
 *
 * @param ticket      kind, device, id and bytes are given, the rest is filled in
 * @param file_bytes  its length
 * @return descriptor, closed on exec; -1 without room
 */
int gd_file_new(struct gd_file_ticket *ticket, uint64_t file_bytes);

/** @return descriptor of the file that a ticket names, -1 when there is none */
int gd_file_open(const struct gd_file_ticket *ticket);

/** Read the ticket of a descriptor of this process. @return false when it is no such file */
bool gd_file_ticket(int file, struct gd_file_ticket *ticket_out);

#endif
