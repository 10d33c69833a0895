/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of call stacks as people read them.  C++ names are shortened: no parameters, template
 * arguments as <...>; JSON has them whole.
 *
 * Threads: any, no shared state.
 */
#ifndef GA_FRAME_TEXT_H
#define GA_FRAME_TEXT_H

#include "analyzer/stacks.h"

/** A frame in short, "function (file.py:12)".  free() it. */
char *ga_frame_text(const struct ga_frame *frame);

/**
 * The same with the whole path of a source file; libraries keep their short names.
 *
 * @param columns   most columns of a native frame: its function is cut, its library stays; Python
 *                  frames are never cut
 * @param ellipsis  for what was cut off, one column or three
 * @return free() it
 */
char *ga_frame_line(const struct ga_frame *frame, unsigned columns, const char *ellipsis);

#endif
