/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lines of Python code from the tables that the interpreter keeps in its code objects.
 */
#ifndef GA_PYTHON_LINES_H
#define GA_PYTHON_LINES_H

#include <stddef.h>
#include <stdint.h>

/**
 * Line of an instruction, as the interpreter itself would tell it (frame.f_lineno).
 *
 * @param form         enum gf_line_form
 * @param table, bytes the code object's table; may be damaged
 * @param first_line   of the code object
 * @param lasti        byte offset of the instruction; below 0: the frame has not begun
 * @return the line, 0 if the instruction has none or the table does not reach it
 *
 * Sources: Objects/lnotab_notes.txt (3.8, 3.10), Objects/locations.md (3.11) of CPython.
 */
uint32_t ga_python_line(
    unsigned form, const unsigned char *table, size_t bytes, uint32_t first_line, int32_t lasti);

#endif
