/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper thread: creates the files, keeps free chunks ahead of need, turns full chunks into
 * frames of the trace, and ends the recording.
 *
 * It is the only thread that writes to files or waits.  All signals are blocked in it.  The loader's
 * lock, which hooks may hold (in constructors), it takes only once it is ready: whatever hooks wait
 * for after that they give up in a second.  It is never joined: exit waits a bounded time for its
 * last frame and leaves the rest to the journal.
 */
#ifndef GS_FLUSHER_H
#define GS_FLUSHER_H

#include <stdbool.h>

/**
 * Start the helper thread and wait until it records (or says that it cannot), a few seconds at most.
 *
 * Threads: the one that holds GS_PHASE_STARTING.
 */
bool gs_flusher_start(void);

/** End the recording: everything into the trace, END mark, journal removed.  Bounded wait. */
void gs_flusher_stop(void);

/**
 * End the recording where nothing may be waited for: the journal stays, and says that this is the end.
 * Does nothing in a child that shares the recorded process's memory.
 */
void gs_flusher_leave(void);

/** In the fork handler of a child: close the parent's files, whose numbers are still the same. */
void gs_flusher_close_inherited(void);

/** In a fork child: the helper is not here; its files are the parent's. */
void gs_flusher_forget(void);

#endif
