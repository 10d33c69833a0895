/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/log.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/status.h"
#include "shim/calm.h"
#include "shim/line.h"
#include "shim/settings.h"

static uint32_t gs_log_count;
static uint32_t gs_log_file_told; /* that GPUSHIM_LOG_FILE cannot be opened */

/* What standard error was at the start: the program may close it and get its number for a file. */
static struct gs_stderr {
	bool open;
	dev_t device;
	ino_t inode;
} gs_stderr;

void gs_log_remember(void)
{
	struct stat s;
	gs_stderr.open = fstat(STDERR_FILENO, &s) == 0;
	if (gs_stderr.open) {
		gs_stderr.device = s.st_dev;
		gs_stderr.inode = s.st_ino;
	}
}

static bool gs_stderr_ours(void)
{
	struct stat s;
	if (!gs_stderr.open || fstat(STDERR_FILENO, &s) != 0)
		return false;
	return s.st_dev == gs_stderr.device && s.st_ino == gs_stderr.inode;
}

/*
 * write() to a pipe without a reader raises SIGPIPE, one beyond the file size limit SIGXFSZ; both
 * would end the program.  They go to the writing thread, so they are held back around the call and
 * one that we caused is taken away again.
 */
static void gs_write_quietly(int fd, const char *bytes, size_t count)
{
	sigset_t ours, before, pending;
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigpending(&pending);
	struct pollfd room = {.fd = fd, .events = POLLOUT};
	if (poll(&room, 1, 0) != 1)
		return; /* a pipe that is full, and that nobody may ever read: the program comes
			   first */
	if (pthread_sigmask(SIG_BLOCK, &ours, &before) != 0)
		return;
	ssize_t written = write(fd, bytes, count);
	if (written < 0 && (errno == EPIPE || errno == EFBIG)) {
		int sign = errno == EPIPE ? SIGPIPE : SIGXFSZ;
		if (!sigismember(&pending, sign)) {
			struct timespec now = {0};
			sigset_t one;
			sigemptyset(&one);
			sigaddset(&one, sign);
			sigtimedwait(&one, NULL, &now);
		}
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* GPUSHIM_LOG_FILE, -1 if none is asked for or it cannot be opened. */
static int gs_log_file_open(const char *path)
{
	/* Of a pipe that nobody reads, opening would wait for the reader. */
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	return path[0] ? open(path, flags, 0644) : -1;
}

static void gs_log_file_failed(const char *path, int cause)
{
	char buffer[512];
	struct gs_line line;
	if (__atomic_exchange_n(&gs_log_file_told, 1, __ATOMIC_RELAXED))
		return;
	gs_line_start(&line, buffer, sizeof(buffer) - 1);
	gs_line_format(&line, "gpushim: cannot open GPUSHIM_LOG_FILE=%s: %s; messages go here",
	    path, gf_errno_words(cause));
	buffer[line.length++] = '\n';
	gs_write_quietly(STDERR_FILENO, buffer, line.length);
}

static void gs_log_write(const char *bytes, size_t count)
{
	const char *path = gs_settings_text(GS_SETTING_log_file);
	int fd = gs_log_file_open(path), cause = errno;
	if (fd >= 0) {
		gs_write_quietly(fd, bytes, count);
		close(fd);
		return;
	}
	bool unread = path[0] && cause == ENXIO; /* a pipe is a good place, but nobody is there */
	if (unread || !gs_stderr_ours())
		return;
	if (path[0])
		gs_log_file_failed(path, cause);
	gs_write_quietly(STDERR_FILENO, bytes, count);
}

void gs_log(enum gs_log_level level, const char *format, ...)
{
	if (level > gs_settings_number(GS_SETTING_log))
		return;
	uint32_t count = __atomic_add_fetch(&gs_log_count, 1, __ATOMIC_RELAXED);
	if (count > GS_LOG_LINES)
		return;
	struct gs_calm before = gs_calm_begin();
	char buffer[1024];
	struct gs_line line;
	gs_line_start(&line, buffer, sizeof(buffer) - 1);
	gs_line_text(&line, "gpushim: ");
	va_list list;
	va_start(list, format);
	gs_line_format_list(&line, format, list);
	va_end(list);
	if (count == GS_LOG_LINES)
		gs_line_text(&line, " (further messages are not shown)");
	buffer[line.length++] = '\n';
	gs_log_write(buffer, line.length);
	gs_calm_end(before);
}
