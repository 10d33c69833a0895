/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about process, machine, Python, PyTorch and devices, written as TEXT records of kind
 * PROPERTY: a name, a zero byte, a value.  A fact that is not known is not written.
 *
 * Threads: the helper thread.
 */
#ifndef GS_PROPERTIES_H
#define GS_PROPERTIES_H

#include "shim/line.h"
#include "shim/output.h"
#include "shim/producer.h"

/** Append one property to this thread's chunk. */
void gs_property(struct gs_thread *thread, const char *name, const char *value);

/** What is known at once; no loader lock, no CUDA. */
void gs_properties_early(struct gs_thread *thread, const struct gs_output *output);

/** Where the driver is met: what has to be asked of the loader.  Threads: any. */
void gs_properties_prepare(void);

/**
 * What asks the driver, and of Python and PyTorch what was prepared; no loader lock.  Soon after
 * the first event: a process may end at once, in a way that leaves only what is in the journal.
 */
void gs_properties_known(struct gs_thread *thread);

/** What is missing still and may have to ask the loader; a notice of what stays unknown. */
void gs_properties_late(struct gs_thread *thread);

/** Rank of this process as a launcher set it in the environment, NULL if none did. */
const char *gs_rank(void);

/** Short name of the program: for Python that of its script (train.py gives train). */
void gs_program_name(struct gs_line *line);

/**
 * The same from a command line.
 *
 * @param arguments, length  arguments, each with a zero byte at its end
 */
void gs_program_name_from(struct gs_line *line, const char *arguments, size_t length);

#endif
