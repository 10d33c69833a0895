/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that a library keeps open inside a program that does not know of it.
 *
 * The program may close every descriptor (daemons do) and get our number for a file of its own.
 * So the number is high, where new files do not get to, and whose it is gets checked before use.
 */
#ifndef GF_HELD_FILE_H
#define GF_HELD_FILE_H

#include <stdbool.h>
#include <stdint.h>

struct gf_held_file {
	int fd; /* -1: none */
	uint64_t device, inode;
};

#define GF_HELD_NONE {-1, 0, 0}

/**
 * Hold an open file, at once under a number that small programs do not get to.
 *
 * @param held  out
 * @param fd    owned by `held` from now on; -1 gives none
 */
void gf_held_take(struct gf_held_file *held, int fd);

/** Move to a high number for good.  May take 20 ms: not where the program waits for us. */
void gf_held_raise(struct gf_held_file *held);

/** Whether the descriptor still is this file.  Async-signal-safe. */
bool gf_held_ours(const struct gf_held_file *held);

/**
 * Make sure that the descriptor is this file: if the program has closed it, open it again.
 *
 * @param path   where the file was created
 * @param flags  of open()
 * @return 0, or an errno; then there is no descriptor that may be used
 */
int gf_held_regain(struct gf_held_file *held, const char *path, int flags);

/** Close the descriptor unless it has become somebody else's.  Async-signal-safe. */
void gf_held_close(struct gf_held_file *held);

#endif
