/* SPDX-License-Identifier: Apache-2.0 */
#include "shim/log.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <time.h>
#include <unistd.h>

#include "shim/calm.h"
#include "shim/line.h"
#include "shim/settings.h"

static uint32_t gs_log_count;

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

	const char *path = gs_settings_text(GS_SETTING_log_file);
	/* Of a pipe that nobody reads, opening would wait for the reader. */
	const int flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = path[0] ? open(path, flags, 0644) : STDERR_FILENO;
	if (fd >= 0)
		gs_write_quietly(fd, buffer, line.length);
	if (path[0] && fd >= 0)
		close(fd);
	gs_calm_end(before);
}
