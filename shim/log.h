/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages to standard error or GPUSHIM_LOG_FILE, one write() a line, at most GS_LOG_LINES in the
 * life of a process.  Never standard output, nor what the program has put in the place of standard
 * error; no malloc, no lock; errno is kept, a closed pipe or a full disk raises no signal in the
 * program, and what would have to wait for a reader is dropped.
 *
 * Threads: any.  Not for the hot path: a message is system calls.
 */
#ifndef GS_LOG_H
#define GS_LOG_H

#define GS_LOG_LINES 100

/* The order of the choices of GPUSHIM_LOG. */
enum gs_log_level { GS_LOG_ERROR, GS_LOG_WARN, GS_LOG_INFO, GS_LOG_DEBUG };

/**
 * Remember what standard error is; without it nothing is written there.
 *
 * Threads: one, the constructor.
 */
void gs_log_remember(void);

/** Say something, if GPUSHIM_LOG asks for it; formats of gs_line_format, no newline at the end. */
void gs_log(enum gs_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
