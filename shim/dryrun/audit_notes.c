/* SPDX-License-Identifier: Apache-2.0 */
#include "audit_notes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 8192

/* A line of its own: nothing that would end it or a word of it. */
static void make_plain(char *text, size_t length)
{
	for (size_t i = 0; i < length; i++) {
		if ((unsigned char)text[i] < ' ')
			text[i] = ' ';
	}
}

/* One write a line: processes of a run share the file. */
static void append(const char *path, const char *line, size_t length)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	if (fd < 0)
		return;
	ssize_t written = write(fd, line, length);
	(void)written; /* else the explanation lacks a line */
	close(fd);
}

static void note_program(const char *path)
{
	static int told; /* pid that has been told about: a forked child is another process */
	char line[LINE_BYTES];
	int fd, head;
	ssize_t length;

	if (told == (int)getpid())
		return;
	told = (int)getpid();
	head = snprintf(line, sizeof(line), "%d\tprogram\t", told);
	fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	length = fd < 0 ? 0 : read(fd, line + head, sizeof(line) - (size_t)head - 2);
	if (fd >= 0)
		close(fd);
	if (length <= 0)
		return;
	make_plain(line + head, (size_t)length);
	length += head;
	line[length - 1] = '\n'; /* in place of the last argument's end */
	append(path, line, (size_t)length);
}

void gd_audit_note_words(const char *kind, const char *const *words)
{
	const char *path = getenv("GPUSHIM_DRYRUN_EXPLAIN");
	char line[LINE_BYTES];
	size_t length;

	if (!path || !*path)
		return;
	note_program(path);
	length = (size_t)snprintf(line, sizeof(line), "%d\t%s", (int)getpid(), kind);
	for (; *words; words++) {
		size_t bytes = strlen(*words);

		if (bytes > sizeof(line) - length - 2)
			return;
		line[length++] = '\t';
		memcpy(line + length, *words, bytes);
		make_plain(line + length, bytes);
		length += bytes;
	}
	line[length++] = '\n';
	append(path, line, length);
}
